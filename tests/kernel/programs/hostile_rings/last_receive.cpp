/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The event for the last receive is raised once: each event is kernel memory until it is read. */
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

void last_receive_is_told_once(const Device &device)
{
	const Owned<ibv_cq> cq = create_cq(device);
	const Owned<ibv_srq> srq = create_srq(device, device.pd(), 4, false);
	QpLimits limits;
	limits.prism = false;
	limits.srq = srq.get();
	Finder finder;
	const Owned<ibv_qp> qp = create_qp(device, device.pd(), cq.get(), limits);
	const Ring sends = finder.take(Kind::sends, Kind::sends).at(0);
	Path path;
	path.source = path.destination = device.some_gid(false);
	path.qpn = qp->qp_num;
	connect(device, qp.get(), path);
	device.take_events();
	check(set_state(qp.get(), IBV_QPS_ERR), "to ERROR");
	for (unsigned i = 0; i < 50; i++) {
		prism_abi_send send{};
		send.opcode = IB_UVERBS_WR_RDMA_WRITE;
		send.flags = IBV_SEND_SIGNALED;
		const std::atomic_ref<std::uint32_t> producer(sends.header()->producer_index);
		std::memcpy(sends.entry(producer), &send, sizeof(send));
		producer = (producer + 1) & sends.mask;
		ring_doorbell(qp.get());
		if (!next_completion(cq.get()))
			throw std::runtime_error("a request is not flushed");
	}
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	const std::vector<ibv_event_type> events = device.take_events();
	const auto told = std::count(events.begin(), events.end(), IBV_EVENT_QP_LAST_WQE_REACHED);
	if (told != 1)
		throw std::runtime_error(fmt::format("the last receive is told {} times", told));
}

} // namespace prism::hostile
