/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel flushes what was posted. A user that goes on posting must not keep it there. */
#include <algorithm>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

/** The queue is full again whenever the kernel has taken a receive; @p taken counts them. */
void keep_full(const Ring &ring, std::atomic<std::uint64_t> &taken, const std::stop_token &stop)
{
	const std::atomic_ref<std::uint32_t> producer(ring.header()->producer_index);
	const std::atomic_ref<std::uint32_t> consumer(ring.header()->consumer_index);
	std::uint32_t seen = consumer;
	while (!stop.stop_requested()) {
		const std::uint32_t now = consumer;
		producer = (now - 1) & ring.mask;
		taken += (now - seen) & ring.mask;
		seen = now;
	}
}

} // namespace

void flushes_end(const Device &device)
{
	const Owned<ibv_cq> cq = create_cq(device, 16);
	Finder finder;
	QpLimits limits;
	limits.recv_wr = 1000; /* it takes a processor a moment to get through */
	const Owned<ibv_qp> qp = create_qp(device, device.pd(), cq.get(), limits);
	const Ring receives = finder.take_queue(Kind::prism_sends, Kind::receives);
	Path path;
	path.source = path.destination = device.some_gid(false);
	std::atomic<std::uint64_t> taken{0};
	const std::jthread poster([&](const std::stop_token &stop) { keep_full(receives, taken, stop); });
	std::uint64_t most = 0;
	for (unsigned i = 0; i < 50; i++) {
		connect(device, qp.get(), path);
		const std::uint64_t before = taken;
		check(set_state(qp.get(), IBV_QPS_RESET), "to RESET");
		most = std::max(most, taken - before);
	}
	/* A reset looks once or twice at what is there. */
	if (most > std::uint64_t{receives.mask} * 4)
		throw std::runtime_error(
			fmt::format("a reset flushes {} receives of a queue of {}", most, receives.mask));
}

} // namespace prism::hostile
