/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "operations.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "conversions.hpp"
#include "real_verbs.hpp"

namespace prism
{

namespace
{

using Table = OperationTable::Table;
using Lookup = OperationTable::Lookup;

/* Refusals, the same as libibverbs's own ------------------------------------------------------------------------- */

void *no_object()
{
	errno = EOPNOTSUPP;
	return nullptr;
}

int no_result()
{
	return EOPNOTSUPP;
}

int no_descriptor()
{
	errno = EOPNOTSUPP;
	return -1;
}

int no_promise()
{
	return 0;
}

void nothing() {}

/** Refusal for an operation of a release that is newer than this library. Most new operations create something, and
 * return null on failure.
 */
void *unknown_operation()
{
	static constinit std::atomic_flag told;
	if (!told.test_and_set())
		std::fputs("libprism: this libibverbs asks for an operation that this libprism does not know: refused. "
			   "A newer libprism may have it.\n",
			stderr);
	return no_object();
}

template <typename Function>
void *address_of(Function *function)
{
	return reinterpret_cast<void *>(function);
}

/* A context that only notes which operation is called ------------------------------------------------------------ */

std::size_t reached; /* set by the probing thread, which holds a lock */

template <std::size_t place>
void *note()
{
	reached = place;
	return nullptr;
}

template <std::size_t... places>
Table notes(std::index_sequence<places...>)
{
	return {address_of(note<places>)...};
}

struct Descriptors {
	~Descriptors()
	{
		for (const int each : ends)
			if (each >= 0)
				close(each);
	}
	std::array<int, 2> ends{-1, -1};
};

/** Objects of a device that consist only of their public beginnings. */
struct Probe {
	std::array<std::byte, 8192> memory{}; /* of the context */
	verbs_context *base = nullptr;        /* in it */
	Table table = notes(std::make_index_sequence<OperationTable::max_size>());
	verbs_device_ops device_ops{};
	verbs_device device{};
	ibv_pd pd{};
	verbs_mr mr{};
	verbs_cq cq{};
	verbs_qp qp{};
	verbs_srq srq{};
	ibv_ah ah{};
	ibv_dm dm{};
	ibv_comp_channel channel{};
	std::array<void *, 64> object{};    /* of a kind unknown to these headers: its context comes first ... */
	std::array<void *, 64> of_domain{}; /* ... or its domain comes somewhere in it */
	std::array<void *, 128> zeros{};
	Descriptors pipe;

	/** Returns zeroed memory, for attributes or a result. */
	template <typename T>
	T *any()
	{
		return reinterpret_cast<T *>(zeros.data());
	}
	ibv_context *context() { return &base->context; }
	bool open(Lookup lookup);
	void fill();
	/** Writes the record that the next read of the pipe gets. */
	template <typename Record>
	void say(const Record &record) const
	{
		static_cast<void>(write(pipe.ends[1], &record, sizeof(record)) == ssize_t{sizeof(record)});
	}
};

/** Address of the context that the probe's device returns: in the middle of its memory, so that there is room around
 * it. */
std::byte *handed_over;

/**
 * Opens the probe's device. libibverbs's struct verbs_context grows at its beginning from release to release, and
 * ibv_open_device() turns the pointer to that beginning, which the device returns, into one to the public context
 * behind it.
 */
bool Probe::open(Lookup lookup)
{
	handed_over = memory.data() + memory.size() / 2;
	device_ops.alloc_context = [](ibv_device *, int, void *) {
		return reinterpret_cast<verbs_context *>(handed_over);
	};
	device.ops = &device_ops;
	device.refcount = 1;
	const auto open_device = reinterpret_cast<decltype(&::ibv_open_device)>(lookup("ibv_open_device"));
	auto *const opened = open_device ? reinterpret_cast<std::byte *>(open_device(&device.device)) : nullptr;
	const bool inside = opened >= handed_over && opened + sizeof(ibv_context) <= memory.data() + memory.size();
	if (inside)
		base = reinterpret_cast<verbs_context *>(opened - offsetof(verbs_context, context));
	return inside;
}

void Probe::fill()
{
	base->sz = sizeof(*base);
	base->priv = reinterpret_cast<verbs_ex_private *>(table.data());
	base->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	base->context.device = &device.device;
	base->context.async_fd = channel.fd = pipe.ends[0];
	base->context.cmd_fd = -1;
	channel.context = pd.context = mr.ibv_mr.context = cq.cq.context = qp.qp.context = srq.srq.context =
		ah.context = dm.context = context();
	object[0] = context();
	of_domain.fill(&pd);
}

template <typename Function, typename... Arguments>
void call(void *function, Arguments... arguments)
{
	static_cast<void>(reinterpret_cast<Function *>(function)(arguments...));
}

/* Calls that reach each operation -------------------------------------------------------------------------------- */

void ask_for_async_event(void *function, Probe &probe)
{
	const struct {
		std::uint64_t element;
		std::uint32_t type, reserved;
	} record{1, IBV_EVENT_PORT_ACTIVE, 0};
	probe.say(record);
	ibv_async_event event{};
	call<decltype(::ibv_get_async_event)>(function, probe.context(), &event);
}

void ask_for_cq_event(void *function, Probe &probe)
{
	probe.say(std::uint64_t{reinterpret_cast<std::uintptr_t>(&probe.cq)});
	ibv_cq *cq;
	void *cq_context;
	call<decltype(::ibv_get_cq_event)>(function, &probe.channel, &cq, &cq_context);
}

/** Calls the operation as ibv_open_device() has put it into the context. */
void ask_for_cq_ex(void *, Probe &probe)
{
	if (probe.base->create_cq_ex)
		probe.base->create_cq_ex(probe.context(), probe.any<ibv_cq_init_attr_ex>());
}

void ask_set_ece(void *function, Probe &probe)
{
	ibv_ece some{.vendor_id = 1, .options = 0, .comp_mask = 0};
	call<decltype(::ibv_set_ece)>(function, &probe.qp.qp, &some);
}

/** Type of functions that these headers may not know: they take objects, numbers, and places for results. */
using Newer = void *(void *object, void *any, void *null);

/** One operation: the libibverbs function that calls it, whether every release has that, how to call it, its
 * refusal. */
struct Operation {
	std::string_view name;
	const char *function;
	bool always;
	void (*ask)(void *function, Probe &probe);
	void *refusal;
};

#define ASK(function, ...) [](void *f, Probe &p) { call<decltype(::function)>(f, __VA_ARGS__), static_cast<void>(p); }
#define OLD(name, refusal, function, ...)                                                                              \
	{                                                                                                              \
#name, #function, true, ASK(function, __VA_ARGS__), address_of(refusal)                                \
	}
#define ASK_NEWER(object) [](void *f, Probe &p) { call<Newer>(f, object, p.any<void>(), nullptr); }
#define NEWER(name, refusal, function, object)                                                                         \
	{                                                                                                              \
#name, #function, false, ASK_NEWER(object), address_of(refusal)                                        \
	}

/** Sorted by name, which is the order in every release. Operations that no release before 57 has are called by name
 * alone.
 */
const Operation operations[] = {
	NEWER(alloc_buf, no_object, ibv_alloc_buf, &p.pd),
	NEWER(alloc_dmah, no_object, ibv_alloc_dmah, p.context()),
	OLD(alloc_pd, no_object, ibv_alloc_pd, p.context()),
	{"async_event", "ibv_get_async_event", true, ask_for_async_event, address_of(nothing)},
	OLD(attach_mcast, no_result, ibv_attach_mcast, &p.qp.qp, p.any<ibv_gid>(), std::uint16_t{0}),
	{"cq_event", "ibv_get_cq_event", true, ask_for_cq_event, address_of(nothing)},
	OLD(create_ah, no_object, ibv_create_ah, &p.pd, p.any<ibv_ah_attr>()),
	NEWER(create_comp_cntr, no_object, ibv_create_comp_cntr, p.context()),
	OLD(create_cq, no_object, ibv_create_cq, p.context(), 1, nullptr, nullptr, 0),
	{"create_cq_ex", "ibv_open_device", true, ask_for_cq_ex, address_of(no_object)},
	OLD(create_qp, no_object, ibv_create_qp, &p.pd, p.any<ibv_qp_init_attr>()),
	OLD(create_srq, no_object, ibv_create_srq, &p.pd, p.any<ibv_srq_init_attr>()),
	NEWER(dealloc_dmah, no_result, ibv_dealloc_dmah, p.object.data()),
	OLD(dealloc_pd, no_result, ibv_dealloc_pd, &p.pd),
	OLD(dereg_mr, no_result, ibv_dereg_mr, &p.mr.ibv_mr),
	OLD(destroy_ah, no_result, ibv_destroy_ah, &p.ah),
	NEWER(destroy_comp_cntr, no_result, ibv_destroy_comp_cntr, p.object.data()),
	OLD(destroy_cq, no_result, ibv_destroy_cq, &p.cq.cq),
	OLD(destroy_qp, no_result, ibv_destroy_qp, &p.qp.qp),
	OLD(destroy_srq, no_result, ibv_destroy_srq, &p.srq.srq),
	OLD(detach_mcast, no_result, ibv_detach_mcast, &p.qp.qp, p.any<ibv_gid>(), std::uint16_t{0}),
	NEWER(dm_export_dmabuf_fd, no_descriptor, ibv_dm_export_dmabuf_fd, &p.dm),
	NEWER(free_buf, nothing, ibv_free_buf, p.of_domain.data()),
	OLD(free_context, nothing, ibv_close_device, p.context()),
	OLD(import_dm, no_object, ibv_import_dm, p.context(), 0u),
	OLD(import_mr, no_object, ibv_import_mr, &p.pd, 0u),
	OLD(import_pd, no_object, ibv_import_pd, p.context(), 0u),
	NEWER(inc_comp_cntr, no_result, ibv_inc_comp_cntr, p.object.data()),
	NEWER(inc_err_comp_cntr, no_result, ibv_inc_err_comp_cntr, p.object.data()),
	OLD(modify_qp, no_result, ibv_modify_qp, &p.qp.qp, p.any<ibv_qp_attr>(), 0),
	OLD(modify_srq, no_result, ibv_modify_srq, &p.srq.srq, p.any<ibv_srq_attr>(), 0),
	NEWER(qp_attach_comp_cntr, no_result, ibv_qp_attach_comp_cntr, &p.qp),
	NEWER(query_comp_cntr_caps, no_result, _ibv_query_comp_cntr_caps, p.context()),
	OLD(query_device_ex, no_result, ibv_query_device, p.context(), p.any<ibv_device_attr>()),
	OLD(query_ece, no_result, ibv_query_ece, &p.qp.qp, p.any<ibv_ece>()),
	OLD(query_port, no_result, ibv_query_port, p.context(), std::uint8_t{1}, p.any<_compat_ibv_port_attr>()),
	NEWER(query_port_speed, no_result, ibv_query_port_speed, p.context()),
	OLD(query_qp, no_result, ibv_query_qp, &p.qp.qp, p.any<ibv_qp_attr>(), 0, p.any<ibv_qp_init_attr>()),
	OLD(query_qp_data_in_order, no_promise, ibv_query_qp_data_in_order, &p.qp.qp, IBV_WR_SEND, 0u),
	OLD(query_srq, no_result, ibv_query_srq, &p.srq.srq, p.any<ibv_srq_attr>()),
	NEWER(read_comp_cntr, no_result, ibv_read_comp_cntr, p.object.data()),
	NEWER(read_err_comp_cntr, no_result, ibv_read_err_comp_cntr, p.object.data()),
	OLD(reg_dmabuf_mr, no_object, ibv_reg_dmabuf_mr, &p.pd, 0u, 0u, 0u, -1, 0),
	OLD(reg_mr, no_object, ibv_reg_mr, &p.pd, nullptr, 0u, 0),
	NEWER(reg_mr_ex, no_object, ibv_reg_mr_ex, &p.pd),
	OLD(rereg_mr, no_result, ibv_rereg_mr, &p.mr.ibv_mr, 0, &p.pd, nullptr, 0u, 0),
	OLD(resize_cq, no_result, ibv_resize_cq, &p.cq.cq, 1),
	NEWER(set_comp_cntr, no_result, ibv_set_comp_cntr, p.object.data()),
	{"set_ece", "ibv_set_ece", true, ask_set_ece, address_of(no_result)},
	NEWER(set_err_comp_cntr, no_result, ibv_set_err_comp_cntr, p.object.data()),
	OLD(unimport_dm, nothing, ibv_unimport_dm, &p.dm),
	OLD(unimport_mr, nothing, ibv_unimport_mr, &p.mr.ibv_mr),
	OLD(unimport_pd, nothing, ibv_unimport_pd, &p.pd),
};
#undef NEWER
#undef ASK_NEWER
#undef OLD
#undef ASK

constexpr std::size_t count = std::size(operations);

std::size_t number_of(std::string_view name)
{
	const auto *found = std::ranges::find(operations, name, &Operation::name);
	return static_cast<std::size_t>(found - operations);
}

/** Returns the place in the table of @p probe that @p function looks into. */
std::size_t place_of(const Operation &operation, void *function, Probe &probe)
{
	reached = OperationTable::npos;
	operation.ask(function, probe);
	return reached;
}

} // namespace

OperationTable::OperationTable(Lookup lookup, std::string &why)
{
	static_assert(count <= max_operations);
	const auto probe = std::make_unique<Probe>();
	places_.fill(npos);
	if (pipe2(probe->pipe.ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
		why = std::strerror(errno);
		return;
	}
	if (!probe->open(lookup)) {
		why = "ibv_open_device() of this libibverbs does not open a device without a kernel side";
		return;
	}
	offset_ = reinterpret_cast<std::byte *>(probe->context()) - handed_over;
	opened_ = *probe->base;
	probe->fill();
	std::size_t before = 0;
	for (std::size_t number = 0; number < count; number++) {
		const Operation &operation = operations[number];
		void *const function = lookup(operation.function);
		if (!function && !operation.always)
			continue;
		const std::size_t place = function ? place_of(operation, function, *probe) : npos;
		if (place == npos || (before && place <= before)) {
			why = std::string(operation.function) +
			      "() of this libibverbs does not ask the device as expected";
			return;
		}
		places_[number] = before = place;
	}
}

const OperationTable *OperationTable::loaded()
{
	static constinit std::optional<OperationTable> table;
	if (table)
		return &*table;
	std::string why;
	errno = 0;
	const OperationTable found([](const char *function) { return real_verbs::find(function); }, why);
	if (why.empty())
		return &table.emplace(found);
	if (errno == EMFILE || errno == ENFILE)
		return nullptr;
	std::fprintf(stderr, "libprism: no device can be opened: %s; with rdma-core 44 to 65 that is known to work\n",
		why.c_str());
	errno = EOPNOTSUPP;
	return nullptr;
}

void OperationTable::make(verbs_context &context, Table &table) const
{
	context = opened_;
	context.sz = sizeof(context);
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	context.priv = reinterpret_cast<verbs_ex_private *>(table.data());
	table.fill(nullptr);
	const auto used = [](std::size_t place) { return place != npos; };
	const auto first = std::ranges::find_if(places_, used);
	const std::size_t last = places_[number_of("unimport_pd")];
	std::fill(table.begin() + static_cast<std::ptrdiff_t>(*first),
		table.begin() + static_cast<std::ptrdiff_t>(last), address_of(unknown_operation));
	for (std::size_t number = 0; number < count; number++)
		if (used(places_[number]))
			table[places_[number]] = operations[number].refusal;
}

void OperationTable::set(verbs_context &context, const Operations &ours) const
{
	const auto behind = [&](std::string_view name, auto *function) {
		if (function)
			reinterpret_cast<void **>(context.priv)[places_[number_of(name)]] = address_of(function);
	};
	behind("alloc_pd", ours.alloc_pd);
	behind("async_event", ours.async_event);
	behind("attach_mcast", ours.attach_mcast);
	behind("cq_event", ours.cq_event);
	behind("create_ah", ours.create_ah);
	behind("create_cq", ours.create_cq);
	behind("create_cq_ex", ours.create_cq_ex);
	behind("create_qp", ours.create_qp);
	behind("create_srq", ours.create_srq);
	behind("dealloc_pd", ours.dealloc_pd);
	behind("dereg_mr", ours.dereg_mr);
	behind("destroy_ah", ours.destroy_ah);
	behind("destroy_cq", ours.destroy_cq);
	behind("destroy_qp", ours.destroy_qp);
	behind("destroy_srq", ours.destroy_srq);
	behind("detach_mcast", ours.detach_mcast);
	behind("free_context", ours.free_context);
	behind("modify_qp", ours.modify_qp);
	behind("modify_srq", ours.modify_srq);
	behind("query_device_ex", ours.query_device_ex);
	behind("query_port", ours.query_port);
	behind("query_qp", ours.query_qp);
	behind("query_srq", ours.query_srq);
	behind("reg_mr", ours.reg_mr);
	behind("rereg_mr", ours.rereg_mr);
	behind("resize_cq", ours.resize_cq);

	const auto put = [](auto *&member, auto *function) {
		if (function)
			member = function;
	};
	ibv_context_ops &ops = context.context.ops;
	put(context.advise_mr, ours.advise_mr);
	put(context.alloc_dm, ours.alloc_dm);
	put(ops.alloc_mw, ours.alloc_mw);
	put(ops.bind_mw, ours.bind_mw);
	put(context.create_qp_ex, ours.create_qp_ex);
	put(context.create_srq_ex, ours.create_srq_ex);
	put(ops.dealloc_mw, ours.dealloc_mw);
	put(context.free_dm, ours.free_dm);
	put(context.get_srq_num, ours.get_srq_num);
	put(ops.poll_cq, ours.poll_cq);
	put(ops.post_recv, ours.post_recv);
	put(ops.post_send, ours.post_send);
	put(ops.post_srq_recv, ours.post_srq_recv);
	put(context.query_device_ex, ours.query_device_ex);
	put(context.reg_dm_mr, ours.reg_dm_mr);
	put(ops.req_notify_cq, ours.req_notify_cq);
}

} // namespace prism
