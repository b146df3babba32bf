/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Opening and closing a context, and the table of its verbs. */
#include <algorithm>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "device.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

const verbs_context_ops &context_ops()
{
	static const verbs_context_ops ops = [] {
		verbs_context_ops table{};
		table.alloc_dm = alloc_dm;
		table.alloc_mw = alloc_mw;
		table.alloc_pd = alloc_pd;
		table.attach_mcast = attach_mcast;
		table.bind_mw = bind_mw;
		table.create_ah = create_ah;
		table.create_cq = create_cq;
		table.create_cq_ex = create_cq_ex;
		table.create_qp = create_qp;
		table.create_qp_ex = create_qp_ex;
		table.create_srq = create_srq;
		table.create_srq_ex = create_srq_ex;
		table.dealloc_mw = dealloc_mw;
		table.dealloc_pd = dealloc_pd;
		table.dereg_mr = dereg_mr;
		table.destroy_ah = destroy_ah;
		table.destroy_cq = destroy_cq;
		table.destroy_qp = destroy_qp;
		table.destroy_srq = destroy_srq;
		table.detach_mcast = detach_mcast;
		table.free_context = free_context;
		table.free_dm = free_dm;
		table.get_srq_num = get_srq_num;
		table.modify_qp = modify_qp;
		table.modify_srq = modify_srq;
		table.poll_cq = poll_cq;
		table.post_recv = post_recv;
		table.post_send = post_send;
		table.post_srq_recv = post_srq_recv;
		table.query_device_ex = query_device;
		table.query_port = query_port;
		table.query_qp = query_qp;
		table.query_srq = query_srq;
		table.reg_dm_mr = reg_dm_mr;
		table.reg_mr = reg_mr;
		table.req_notify_cq = req_notify_cq;
		table.rereg_mr = rereg_mr;
		table.resize_cq = resize_cq;
		return table;
	}();
	return ops;
}

void set_event_handlers(Context &context)
{
	context.on_qp_event = [&context](QueuePair &qp, ibv_event_type type) {
		auto *object = static_cast<QpObject *>(qp.owner);
		object->async_events++;
		context.post_async(reinterpret_cast<std::uintptr_t>(&object->base.qp), type);
	};
	context.on_cq_event = [&context](CompletionQueue &cq, ibv_event_type type) {
		auto *object = static_cast<CompletionQueueObject *>(cq.owner);
		object->async_events++;
		context.post_async(reinterpret_cast<std::uintptr_t>(&object->base.cq), type);
	};
	context.on_srq_event = [&context](SharedReceiveQueue &srq, ibv_event_type type) {
		auto *object = static_cast<SrqObject *>(srq.owner);
		object->async_events++;
		context.post_async(reinterpret_cast<std::uintptr_t>(&object->base.srq), type);
	};
}

/** libibverbs knows no way to tell why an open failed, so the reason goes where its own warnings go. */
void explain(const char *device, const std::string &error)
{
	std::fprintf(stderr, "prism: cannot open %s: %s\n", device, error.c_str());
}

} // namespace

verbs_context *alloc_context(ibv_device *device, int, void *private_data)
{
	const auto *attr = static_cast<const prismdv_context_attr *>(private_data);
	const auto progress = attr ? static_cast<prismdv_progress_mode>(attr->progress) : PRISMDV_PROGRESS_DEFAULT;
	std::string error;
	std::unique_ptr<Context> context =
		Context::open(reinterpret_cast<const Device *>(device)->interface, progress, error);
	if (!context) {
		const int reason = errno ? errno : ENODEV;
		explain(device->name, error);
		errno = reason;
		return nullptr;
	}
	/*
	 * No command is ever sent, but programs duplicate this descriptor, and hand it on to be told that importing is
	 * not supported.
	 */
	FileDescriptor commands(eventfd(0, EFD_CLOEXEC));
	if (!commands)
		return nullptr;
	/* The number that the kernel module's devices will have does not matter here: no kernel call is made. */
	auto *handle = static_cast<ContextHandle *>(
		_verbs_init_and_alloc_context(device, commands.get(), sizeof(ContextHandle), nullptr, 0));
	if (!handle)
		return nullptr;
	static_cast<void>(commands.release()); /* libibverbs closes it */
	set_event_handlers(*context);
	handle->base.context.async_fd = context->take_async_fd();
	handle->base.context.num_comp_vectors = 1;
	handle->context = context.release();
	verbs_set_ops(&handle->base, &context_ops());
	return &handle->base;
}

void free_context(ibv_context *context)
{
	auto &handle = to_handle<ContextHandle>(context);
	std::unique_ptr<Context> owned(handle.context);
	owned.reset();
	verbs_uninit_context(&handle.base);
	std::free(&handle);
}

bool resolve_path(const ibv_ah_attr &attr, const std::vector<Address> &gids, Address &peer, unsigned &source)
{
	if (!attr.is_global || attr.grh.sgid_index >= gids.size())
		return false;
	std::copy_n(attr.grh.dgid.raw, peer.gid.size(), peer.gid.begin());
	source = attr.grh.sgid_index;
	return peer != Address{} && gids[source].is_ipv4() == peer.is_ipv4();
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
