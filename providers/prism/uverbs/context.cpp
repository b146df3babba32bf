/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Devices of the module, opening and closing a context, and the table of its verbs. */
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "../verbs/plugin.hpp"
#include "base/c_boundary.hpp"
#include "command.hpp"
#include "device.hpp"
#include "objects.hpp"
#include "responses.hpp"

namespace prism::uverbs
{

namespace
{

const Operations &operations()
{
	static constexpr Operations ops = [] {
		Operations table{};
		table.advise_mr = ibv_cmd_advise_mr;
		table.alloc_mw = Boundary<alloc_mw>::call;
		table.alloc_pd = Boundary<alloc_pd>::call;
		table.attach_mcast = ibv_cmd_attach_mcast;
		table.bind_mw = Boundary<bind_mw>::call;
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
		table.detach_mcast = ibv_cmd_detach_mcast;
		table.free_context = Boundary<free_context>::call;
		table.get_srq_num = Boundary<get_srq_num>::call;
		table.modify_qp = Boundary<modify_qp>::call;
		table.modify_srq = Boundary<modify_srq>::call;
		table.poll_cq = poll_cq;
		table.post_recv = Boundary<post_recv>::call;
		table.post_send = Boundary<post_send>::call;
		table.post_srq_recv = Boundary<post_srq_recv>::call;
		table.query_device_ex = Boundary<query_device>::call;
		table.query_port = Boundary<query_port>::call;
		table.query_qp = Boundary<query_qp>::call;
		table.query_srq = Boundary<query_srq>::call;
		table.reg_mr = Boundary<reg_mr>::call;
		table.req_notify_cq = ibv_cmd_req_notify_cq;
		table.rereg_mr = Boundary<rereg_mr>::call;
		table.resize_cq = Boundary<resize_cq>::call;
		return table;
	}();
	return ops;
}

/** Returns 0 or an errno. */
int get_context(ContextHandle &handle)
{
	Command<ib_uverbs_get_context> cmd;
	Response<ib_uverbs_get_context_resp, prism_abi_alloc_ucontext_resp> resp;
#if PRISM_PRIVATE_ABI >= 57
	const int error = ibv_cmd_get_context(&handle.base, cmd, cmd.size, nullptr, resp, resp.size);
#else
	const int error = ibv_cmd_get_context(&handle.base, cmd, cmd.size, resp, resp.size);
#endif
	if (error)
		return error;
	handle.device = resp.driver;
	const bool known = handle.device.abi_version == PRISM_ABI_VERSION &&
			   handle.device.protocol_version >= PRISM_LOWEST_VERSION &&
			   handle.device.protocol_version <= PRISM_PROTOCOL_VERSION && understood(handle.device);
	return known ? 0 : EPROTONOSUPPORT;
}

/* Devices ------------------------------------------------------------------------------------------------------- */

verbs_device *alloc_device(verbs_sysfs_dev *)
{
	auto device = std::make_unique<verbs_device>();
	*device = {};
	return device.release();
}

void uninit_device(verbs_device *device)
{
	std::unique_ptr<verbs_device> owned(device);
}

const verbs_match_ent match_table[] = {VERBS_DRIVER_ID(PRISM_ABI_DRIVER_ID), {}};

} // namespace

const verbs_device_ops device_ops = {
	.name = "prism",
	.match_min_abi_version = PRISM_ABI_VERSION,
	.match_max_abi_version = PRISM_ABI_VERSION,
	.match_table = match_table,
	.static_providers = nullptr,
	.match_device = nullptr,
	.alloc_context = Boundary<alloc_context>::call,
	.import_context = nullptr,
	.alloc_device = Boundary<alloc_device>::call,
	.uninit_device = uninit_device,
};

bool is_uverbs(const ibv_device *device)
{
	return reinterpret_cast<const verbs_device *>(device)->ops == &device_ops;
}

verbs_context *alloc_context(ibv_device *device, int cmd_fd, void *)
{
	auto counters = std::make_unique<Counters>(device->ibdev_path);
	auto *handle = static_cast<ContextHandle *>(
		_verbs_init_and_alloc_context(device, cmd_fd, sizeof(ContextHandle), nullptr, PRISM_ABI_DRIVER_ID));
	if (!handle)
		return nullptr;
	int error = get_context(*handle);
	if (!error)
		error = prismdv_plugin_set_operations(&handle->base, &operations());
	if (error) {
		verbs_uninit_context(&handle->base);
		std::free(handle);
		return fail<verbs_context>(error);
	}
	handle->counters = counters.release();
	return &handle->base;
}

void free_context(ibv_context *context)
{
	auto &handle = to_handle<ContextHandle>(context);
	std::unique_ptr<Counters> owned(handle.counters);
	verbs_uninit_context(&handle.base);
	std::free(&handle);
}

int query_device(
	ibv_context *context, const ibv_query_device_ex_input *input, ibv_device_attr_ex *attr, std::size_t size)
{
	ib_uverbs_ex_query_device_resp resp{};
	std::size_t resp_size = sizeof(resp);
	if (const int error = ibv_cmd_query_device_any(context, input, attr, size, &resp, &resp_size))
		return error;
	const std::uint64_t version = resp.base.fw_ver;
	std::snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		static_cast<unsigned>(version >> 32 & 0xffff), static_cast<unsigned>(version >> 16 & 0xffff),
		static_cast<unsigned>(version & 0xffff));
	return 0;
}

int query_port(ibv_context *context, std::uint8_t port, ibv_port_attr *attr)
{
	Command<ib_uverbs_query_port> cmd;
	return ibv_cmd_query_port(context, port, attr, cmd, cmd.size);
}

} // namespace prism::uverbs
