/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Opening and closing a context, and its operations. */
#include <algorithm>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "base/c_boundary.hpp"
#include "device.hpp"
#include "gid.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

const Operations &operations()
{
	static constexpr Operations ops = [] {
		Operations table{};
		table.alloc_dm = Boundary<alloc_dm>::call;
		table.alloc_mw = Boundary<alloc_mw>::call;
		table.alloc_pd = Boundary<alloc_pd>::call;
		table.async_event = [](ibv_context *context, ibv_async_event *) {
			guarded([context] { to_context(context).refill_async(); });
		};
		table.attach_mcast = Boundary<attach_mcast>::call;
		table.bind_mw = Boundary<bind_mw>::call;
		table.cq_event = Boundary<cq_event>::call;
		table.create_ah = Boundary<create_ah>::call;
		table.create_cq = Boundary<create_cq>::call;
		table.create_cq_ex = Boundary<create_cq_ex>::call;
		table.create_qp = Boundary<create_qp>::call;
		table.create_qp_ex = Boundary<create_qp_ex>::call;
		table.create_srq = Boundary<create_srq>::call;
		table.create_srq_ex = Boundary<create_srq_ex>::call;
		table.dealloc_mw = Boundary<dealloc_mw>::call;
		table.dealloc_pd = Boundary<dealloc_pd>::call;
		table.dereg_mr = Boundary<dereg_mr>::call;
		table.destroy_ah = Boundary<destroy_ah>::call;
		table.destroy_cq = Boundary<destroy_cq>::call;
		table.destroy_qp = Boundary<destroy_qp>::call;
		table.destroy_srq = Boundary<destroy_srq>::call;
		table.detach_mcast = Boundary<detach_mcast>::call;
		table.free_context = Boundary<free_context>::call;
		table.free_dm = Boundary<free_dm>::call;
		table.get_srq_num = Boundary<get_srq_num>::call;
		table.modify_qp = Boundary<modify_qp>::call;
		table.modify_srq = Boundary<modify_srq>::call;
		table.poll_cq = poll_cq;
		table.post_recv = Boundary<post_recv>::call_often;
		table.post_send = Boundary<post_send>::call_often;
		table.post_srq_recv = Boundary<post_srq_recv>::call_often;
		table.query_device_ex = Boundary<query_device>::call;
		table.query_port = Boundary<query_port>::call;
		table.query_qp = Boundary<query_qp>::call;
		table.query_srq = Boundary<query_srq>::call;
		table.reg_dm_mr = Boundary<reg_dm_mr>::call;
		table.reg_mr = Boundary<reg_mr>::call;
		table.req_notify_cq = Boundary<req_notify_cq>::call;
		table.rereg_mr = Boundary<rereg_mr>::call;
		table.resize_cq = Boundary<resize_cq>::call;
		return table;
	}();
	return ops;
}

/** Reports the reason for a failed open on the standard error, like libibverbs's own warnings, as libibverbs cannot
 * pass it on. */
void explain(const char *device, const std::string &error)
{
	std::fprintf(stderr, "prism: cannot open %s: %s\n", device, error.c_str());
}

} // namespace

ibv_context *open_context(ibv_device *device, const prismdv_context_attr &attr)
{
	const std::lock_guard guard(setup_lock());
	const OperationTable *library = OperationTable::loaded();
	if (!library) {
		const int reason = errno;
		explain(device->name, std::strerror(reason));
		return fail<ibv_context>(reason);
	}
	auto handle = std::make_unique<ContextHandle>();
	std::string error;
	handle->context = Context::open(reinterpret_cast<const Device *>(device)->interface, attr, error);
	if (!handle->context) {
		const int reason = errno ? errno : ENODEV;
		explain(device->name, error);
		return fail<ibv_context>(reason);
	}
	/*
	 * No command is ever sent, but programs duplicate this descriptor, and hand it on to be told that importing is
	 * not supported. An epoll descriptor, as libibverbs takes a successful write for an answered command.
	 */
	FileDescriptor commands(::epoll_create1(EPOLL_CLOEXEC));
	FileDescriptor events(handle->context->take_async_fd());
	if (!commands || !events) {
		handle.reset(); /* this changes errno */
		explain(device->name, "no descriptors left");
		return fail<ibv_context>(EMFILE);
	}
	library->make(handle->base, handle->table);
	library->set(handle->base, operations());
	ibv_context &context = handle->base.context;
	context.device = device;
	hold_device(device);
	context.cmd_fd = commands.release();
	context.async_fd = events.release();
	context.num_comp_vectors = 1;
	pthread_mutex_init(&context.mutex, nullptr);
	return &handle.release()->base.context;
}

verbs_context *alloc_context(ibv_device *device, int, void *)
{
	ibv_context *const context = open_context(device, {});
	const std::lock_guard guard(setup_lock());
	return context ? OperationTable::loaded()->beginning_of(context) : nullptr;
}

void free_context(ibv_context *context)
{
	const std::unique_ptr<ContextHandle> handle(&to_context_handle(context));
	if (!handle->context->stop()) /* its thread runs until the process ends */
		static_cast<void>(handle->context.release());
	handle->context.reset();
	::close(context->cmd_fd);
	::close(context->async_fd);
	pthread_mutex_destroy(&context->mutex);
	put_device(context->device);
}

bool resolve_path(const ibv_ah_attr &attr, const GidTable &gids, Address &peer, unsigned &source)
{
	const auto gid = gids.find(attr.grh.sgid_index);
	if (!attr.is_global || !gid)
		return false;
	peer = from_gid(attr.grh.dgid);
	source = gid->source;
	return peer != Address{} && gid->address.is_ipv4() == peer.is_ipv4();
}

ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr)
{
	auto ah = std::make_unique<AddressHandle>();
	if (!known_in(pd->context, pd) || attr->port_num != 1 ||
		!resolve_path(*attr, to_context(pd->context).gids(), ah->peer, ah->source))
		return fail<ibv_ah>(EINVAL);
	ah->place = to_context(pd->context).quotas.ahs.take();
	if (!ah->place)
		return fail<ibv_ah>(ENOMEM);
	ah->handle = ah->base.handle = to_context(pd->context).take_handle();
	ah->base.context = pd->context;
	ah->base.pd = pd;
	ah->pd = to_object<ProtectionDomain>(pd);
	ah->pd->users++;
	return &ah.release()->base;
}

int destroy_ah(ibv_ah *base)
{
	if (!known_in(base->context, base))
		return EINVAL;
	std::unique_ptr<AddressHandle> ah(to_object<AddressHandle>(base));
	ah->pd->users--;
	return 0;
}

} // namespace prism::soft
