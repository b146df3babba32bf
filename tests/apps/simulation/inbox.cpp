/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "inbox.hpp"

#include <array>
#include <span>

namespace simulation
{

namespace
{
/* Most reports that may wait, and most that are handled at a time, as in Reclaimer::poll() */
constexpr std::uint32_t report_slots = 64;
constexpr std::size_t reports_a_poll = 16;
} // namespace

Inbox::Inbox(test::Node &node)
	: node_(node), slots_(report_slots),
	  key_(node.engine.memory.add_region(reinterpret_cast<std::uint8_t *>(slots_.data()),
		  reinterpret_cast<std::uintptr_t>(slots_.data()), slots_.size() * sizeof(slots_[0]),
		  soft::access_local_write, domain)),
	  queue_(node.engine.take_srqn(), domain, report_slots, 1, false), arrived_(2 * report_slots, [] {})
{
	node_.engine.add_srq(queue_);
	for (std::uint32_t slot = 0; slot < report_slots; slot++)
		post_slot(slot);
}

Inbox::~Inbox()
{
	node_.engine.remove_srq(queue_);
	node_.engine.memory.remove(key_);
}

void Inbox::serve(test::Endpoint &endpoint) noexcept
{
	endpoint.qp.srq = &queue_;
	endpoint.qp.recv_cq = &arrived_;
}

void Inbox::post_slot(std::uint64_t slot)
{
	const soft::Sge place{reinterpret_cast<std::uintptr_t>(slots_[slot].data()), prism::FreeReport::max_size, key_};
	queue_.queue.post(slot, {&place, 1});
}

std::size_t Inbox::take(const std::function<void(const prism::FreeReport *)> &judge)
{
	std::array<ibv_wc, reports_a_poll> arrived;
	const int got = arrived_.poll(static_cast<int>(arrived.size()), arrived.data());
	if (got <= 0)
		return 0;
	for (const ibv_wc &wc : std::span(arrived).first(static_cast<std::size_t>(got))) {
		prism::FreeReport report;
		if (wc.status == IBV_WC_SUCCESS)
			judge(report.parse(std::span(slots_[wc.wr_id]).first(wc.byte_len)) ? &report : nullptr);
		post_slot(wc.wr_id);
	}
	return static_cast<std::size_t>(got);
}

} // namespace simulation
