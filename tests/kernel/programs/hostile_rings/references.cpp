/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Destruction must not wait for a reference that is never dropped. rxe waits 50 s for the last reference, warns, and
 * then frees the object although it is still referenced.
 */
#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

constexpr std::chrono::seconds at_once{5};

Path loopback(const Device &device)
{
	Path path;
	path.source = path.destination = device.some_gid(false);
	return path;
}

void expect_at_once(Clock::time_point begin, const char *what)
{
	if (Clock::now() - begin > at_once)
		throw std::runtime_error(fmt::format("{}: it took {} s", what,
			std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count()));
}

/** A window of type 2 that is bound belongs to its queue pair, and is unbound with it. */
void windows(const Device &device)
{
	const MemoryRegion memory(device.pd(), 4096, every_right | IBV_ACCESS_MW_BIND);
	const Owned<ibv_cq> cq = create_cq(device);
	const Owned<ibv_mw> window(made(ibv_alloc_mw(device.pd(), IBV_MW_TYPE_2), "ibv_alloc_mw"));
	QpLimits limits;
	limits.prism = false;
	const Owned<ibv_qp> other = create_qp(device, device.pd(), cq.get(), limits);
	ibv_qp *qp = create_qp(device, device.pd(), cq.get(), limits).release();
	connect_both(device, qp, other.get(), loopback(device));
	ibv_send_wr wr{}, *bad;
	wr.opcode = IBV_WR_BIND_MW;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.bind_mw = {
		window.get(), ibv_inc_rkey(window->rkey), {memory.mr(), memory.va(), 4096, IBV_ACCESS_REMOTE_READ}};
	check(ibv_post_send(qp, &wr, &bad), "IBV_WR_BIND_MW");
	const std::optional<ibv_wc> wc = next_completion(cq.get());
	if (!wc || wc->status != IBV_WC_SUCCESS)
		throw std::runtime_error("a window is not bound");
	const Clock::time_point begin = Clock::now();
	check(ibv_destroy_qp(qp), "ibv_destroy_qp");
	expect_at_once(begin, "a queue pair with a bound window is destroyed");
}

/** A WRITE with immediate data whose completion does not fit leaves its region alone. */
void overflows(const Device &device)
{
	MemoryRegion target(device.pd(), 4096);
	const MemoryRegion source(device.pd(), 4096);
	const Owned<ibv_cq> cq = create_cq(device), small = create_cq(device, 1);
	QpLimits limits;
	limits.prism = false;
	limits.recv_wr = limits.send_wr = static_cast<std::uint32_t>(small->cqe) + 8;
	const Owned<ibv_qp> a = create_qp(device, device.pd(), cq.get(), limits),
			    b = create_qp(device, device.pd(), small.get(), limits);
	connect_both(device, a.get(), b.get(), loopback(device));
	ibv_sge sge = source.sge(0, 64);
	for (int i = 0; i < small->cqe + 4; i++) {
		ibv_recv_wr receive{}, *bad_receive;
		check(ibv_post_recv(b.get(), &receive, &bad_receive), "ibv_post_recv");
	}
	for (int i = 0; i < small->cqe + 4; i++) {
		ibv_send_wr wr{}, *bad;
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.wr.rdma = {target.va(), target.key()};
		check(ibv_post_send(a.get(), &wr, &bad), "ibv_post_send");
	}
	if (!wait_until([&] { return state_of(b.get()) == IBV_QPS_ERR; }))
		throw std::runtime_error("a completion queue does not overflow");
	const Clock::time_point begin = Clock::now();
	target.deregister();
	expect_at_once(begin, "a region is deregistered after a completion queue was full");
	device.take_events();
}

} // namespace

void nothing_is_waited_for_in_vain(const Device &device)
{
	windows(device);
	overflows(device);
}

} // namespace prism::hostile
