/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The module copies and checks a receive: sums, cursors and later changes in the ring do not count. */
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

constexpr std::uint32_t room = 100, too_much = 200; /* bytes of a sge, and of a message that is too long for it */
constexpr std::uint32_t sges = 4;

/** A queue pair that receives from another one into a ring that is written by hand. */
class Receiver
{
public:
	explicit Receiver(const Device &device)
		: device_(device), memory_(device.pd(), 4096), peers_cq_(create_cq(device)), cq_(create_cq(device))
	{
		QpLimits limits;
		limits.prism = false;
		limits.sge = sges;
		peer_ = create_qp(device, device.pd(), peers_cq_.get(), limits);
		Finder finder;
		qp_ = create_qp(device, device.pd(), cq_.get(), limits);
		ring_ = finder.take_queue(Kind::sends, Kind::receives);
		path_.source = path_.destination = device.some_gid(false);
	}

	/** Writes a receive of @p count sges of @p room bytes, all else as it should be */
	prism_abi_recv *write(std::uint32_t count)
	{
		connect_both(device_, qp_.get(), peer_.get(), path_);
		auto *entry = reinterpret_cast<prism_abi_recv *>(ring_.entry(ring_.header()->producer_index));
		std::memset(entry, 0, sizeof(*entry));
		entry->num_sge = count;
		entry->length = entry->resid = count * room;
		for (std::uint32_t i = 0; i < sges; i++)
			entry->sge[i] = {memory_.va(1024 * i), room, memory_.key()};
		return entry;
	}

	/** Sends a message of @p length bytes; returns the status of its receive. */
	ibv_wc_status receive(std::uint32_t length)
	{
		const std::atomic_ref<std::uint32_t> producer(ring_.header()->producer_index);
		producer = (producer + 1) & ring_.mask;
		std::memset(memory_.data(), 0, memory_.size());
		std::memset(memory_.data() + memory_.size() - length, 1, length);
		ibv_sge data = memory_.sge(memory_.size() - length, length);
		ibv_send_wr wr{}, *bad;
		wr.opcode = IBV_WR_SEND;
		wr.sg_list = &data;
		wr.num_sge = 1;
		wr.send_flags = IBV_SEND_SIGNALED;
		check(ibv_post_send(peer_.get(), &wr, &bad), "ibv_post_send");
		const std::optional<ibv_wc> wc = next_completion(cq_.get());
		if (!wc || !next_completion(peers_cq_.get()))
			throw std::runtime_error("a receive does not complete");
		return wc->status;
	}

	/** Returns true if the bytes of the message are in @p sge from @p offset on. */
	[[nodiscard]] bool landed(std::uint32_t sge, std::uint32_t offset, std::uint32_t length) const
	{
		const std::uint8_t *at = memory_.data() + std::size_t{1024} * sge + offset;
		return std::all_of(at, at + length, [](std::uint8_t byte) { return byte == 1; });
	}

private:
	const Device &device_;
	MemoryRegion memory_;
	Owned<ibv_cq> peers_cq_, cq_;
	Owned<ibv_qp> peer_, qp_;
	Ring ring_;
	Path path_;
};

void expect(bool condition, const char *what)
{
	if (!condition)
		throw std::runtime_error(what);
}

/** Sums and cursors that do not match the sges */
void lies_do_not_count(Receiver &receiver)
{
	/* From now on the module's copy has four sges. */
	receiver.write(sges);
	expect(receiver.receive(too_much) == IBV_WC_SUCCESS, "a receive of four sges");
	expect(receiver.landed(0, 0, room) && receiver.landed(1, 0, too_much - room), "the bytes of two sges");

	receiver.write(1)->length = sges * room;
	expect(receiver.receive(too_much) != IBV_WC_SUCCESS, "a receive is longer than its sges");
	receiver.write(1)->resid = sges * room;
	expect(receiver.receive(too_much) != IBV_WC_SUCCESS, "a receive has more left than its sges");

	prism_abi_recv *entry = receiver.write(sges);
	entry->cur_sge = 2;
	entry->sge_offset = 50;
	expect(receiver.receive(room) == IBV_WC_SUCCESS && receiver.landed(0, 0, room),
		"a receive does not begin at its beginning");
}

/** One sge and far too many in turns: the first is too short for the message, and the others are refused. */
void changes_do_not_count(Receiver &receiver)
{
	for (unsigned i = 0; i < 100; i++) {
		prism_abi_recv *entry = receiver.write(1);
		entry->length = entry->resid = sges * room;
		const std::jthread changer([entry](const std::stop_token &stop) {
			const std::atomic_ref<std::uint32_t> count(entry->num_sge);
			for (std::uint32_t n = 0; !stop.stop_requested(); n++)
				count.store(n % 2 ? 200 : 1, std::memory_order_relaxed);
		});
		expect(receiver.receive(too_much) != IBV_WC_SUCCESS, "a receive has other sges than were checked");
	}
}

} // namespace

void receives_are_checked(const Device &device)
{
	Receiver receiver(device);
	lies_do_not_count(receiver);
	changes_do_not_count(receiver);
}

} // namespace prism::hostile
