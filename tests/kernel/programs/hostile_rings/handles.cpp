/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Datagrams that name address handles of others, such as those that the kernel's CM makes for each of its messages. */
#include <stdexcept>

#include <fmt/core.h>

#include "random.hpp"
#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

/** Makes and destroys an address handle of our own; returns its number, which the next handles follow. */
std::uint32_t number_of_handle(const Device &device)
{
	Answer answer{};
	check(pass_handle(device, {}, answer), "an address handle");
	return answer[sizeof(ib_uverbs_create_ah_resp) / 4];
}

} // namespace

void name_handles_of_others(const Device &device, unsigned seconds, std::uint64_t seed)
{
	test::Random random(seed);
	const Owned<ibv_cq> cq = create_cq(device);
	QpLimits limits;
	limits.prism = false;
	limits.type = IBV_QPT_UD;
	Finder finder;
	const Owned<ibv_qp> qp = create_qp(device, device.pd(), cq.get(), limits);
	const Ring sends = finder.take_queue(Kind::sends, Kind::sends);
	std::uint64_t named = 0;
	std::uint32_t newest = 0, first = 0;
	const auto others = [&] { return newest - first > named / 32 + 10; }; /* our own are one in 32 */
	const auto deadline = Clock::now() + std::chrono::seconds(seconds);
	/* Others may be slow to begin. */
	const auto patient = deadline + std::chrono::seconds(9 * seconds);
	for (; Clock::now() < deadline || (!others() && Clock::now() < patient); named++) {
		if (named % 32 == 0)
			newest = number_of_handle(device);
		if (!first)
			first = newest;
		set_up_datagrams(qp.get()); /* the one before was refused */
		prism_abi_send send{};
		send.opcode = IB_UVERBS_WR_SEND;
		send.flags = IBV_SEND_SIGNALED;
		send.ud.remote_qpn = 1;
		send.ud.ah_num = newest + static_cast<std::uint32_t>(random.below(8));
		const std::atomic_ref<std::uint32_t> producer(sends.header()->producer_index);
		std::memcpy(sends.entry(producer), &send, sizeof(send));
		producer = (producer + 1) & sends.mask;
		ring_doorbell(qp.get());
		if (!next_completion(cq.get()))
			throw std::runtime_error("a datagram to nobody's address handle does not complete");
	}
	fmt::print("{} datagrams, and {} address handles made meanwhile\n", named, newest - first);
	if (!others())
		throw std::runtime_error("there were no address handles of others");
}

} // namespace prism::hostile
