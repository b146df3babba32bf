/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verbs objects of the userspace device: libibverbs's structure first, our members behind it. A create call
 * allocates them, its destroy call frees them; these calls are the C boundary.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <pthread.h>

#include "../../verbs/conversions.hpp"
#include "../../verbs/operations.hpp"
#include "../../verbs/posting.hpp"
#include "../../verbs/rdma_core_abi.h"
#include "context.hpp"

namespace prism::soft
{

/** An ibv_device that names an interface. */
struct Device {
	verbs_device base;
	char interface[IBV_SYSFS_NAME_MAX];
	__be64 guid;
};

/** Tables of a context that libibverbs knows, with room around for the members that only some releases have. */
struct ContextTables {
	std::array<void *, OperationTable::newer_members> newer{};
	verbs_context base{};
	OperationTable::Table table{};
};

/** The C side of a context. */
struct ContextHandle : ContextTables {
	std::unique_ptr<Context> context;
};

struct ProtectionDomain {
	ibv_pd base{};
	Place place;
	std::uint32_t number = 0;
	std::atomic<std::uint32_t> users{0};
};

/** A path from one of our addresses to a peer's. */
struct AddressHandle {
	ibv_ah base{};
	Place place;
	std::uint32_t handle = 0;
	ProtectionDomain *pd = nullptr;
	Address peer;
	unsigned source = 0; /* index into the GID table */
};

struct DeviceMemory;

struct MemoryRegion {
	verbs_mr base{};
	Place place;
	std::uint32_t key = 0; /* the true key: the program may change lkey and rkey */
	ProtectionDomain *pd = nullptr;
	DeviceMemory *dm = nullptr; /* the device memory that it is a part of, or null */
};

struct MemoryWindow {
	ibv_mw base{};
	Place place;
	std::uint32_t index = 0; /* in the key table */
	ProtectionDomain *pd = nullptr;
};

struct FreeMemory {
	void operator()(void *memory) const { std::free(memory); }
};

struct DeviceMemory {
	verbs_dm base{};
	std::uint32_t handle = 0;
	std::unique_ptr<std::uint8_t, FreeMemory> memory;
	std::size_t length = 0;
	std::atomic<std::uint32_t> regions{0};
};

struct CompletionQueueObject {
	CompletionQueueObject(Context &owner, std::uint32_t capacity)
		: context(owner), queue(capacity, [this] { notify(); })
	{
	}
	void notify();
	/** Lets the queue pairs that complete here make progress. */
	void drive() { context.poll(lanes.load(std::memory_order_acquire)); }

	verbs_cq base{};
	Place place;
	Context &context;
	const std::uint32_t handle = context.take_handle();
	CompletionQueue queue;
	std::optional<unsigned> home;        /* lane of its queue pairs; the context's */
	std::atomic<std::uint32_t> lanes{0}; /* mask of the lanes of all that complete here */
	std::atomic<std::uint32_t> users{0};
	std::atomic<std::uint32_t> events{0}; /* completion events posted */
	std::atomic<std::uint32_t> async_events{0};
	bool single_threaded = false;
	SpinLock poller;  /* held from ibv_start_poll to ibv_end_poll, */
	ibv_wc current{}; /* for the polling thread */
};

struct SrqObject {
	SrqObject(Context &owner, ProtectionDomain &domain, std::uint32_t number, std::uint32_t max_wr,
		std::uint32_t max_sge, bool free_list)
		: context(owner), pd(domain), queue(number, domain.number, max_wr, max_sge, free_list)
	{
	}

	verbs_srq base{};
	Place place;
	Context &context;
	ProtectionDomain &pd;
	SharedReceiveQueue queue;
	std::atomic<std::uint32_t> users{0};
	std::atomic<std::uint32_t> async_events{0};
};

struct QpObject : PostingState<SendRequest> {
	QpObject(Context &owner, Lane &chosen, ProtectionDomain &domain) : context(owner), lane(chosen), pd(domain) {}

	Place place;
	Context &context;
	Lane &lane;
	ProtectionDomain &pd;
	std::unique_ptr<QueuePair> qp;
	ibv_qp_init_attr init{};
	ibv_qp_attr attr{};      /* as last modified, for ibv_query_qp */
	bool batch_open = false; /* between ibv_wr_start and ibv_wr_complete, while the lane's lock is free */
	std::atomic<std::uint32_t> async_events{0};
};

/*
 * Return true if an object belongs to @p context and has the handle that its create call gave it. The kernel finds
 * objects by their handles, so programs rely on it to refuse invalid ones and those of another context.
 */
inline bool known_in(const ibv_context *context, const ibv_pd *pd)
{
	return pd && pd->context == context && pd->handle == to_object<const ProtectionDomain>(pd)->number;
}

inline bool known_in(const ibv_context *context, const ibv_mr *mr)
{
	return mr && mr->context == context && mr->handle == to_object<const MemoryRegion>(mr)->key >> 8;
}

inline bool known_in(const ibv_context *context, const ibv_mw *mw)
{
	return mw && mw->context == context && mw->handle == to_object<const MemoryWindow>(mw)->index;
}

inline bool known_in(const ibv_context *context, const ibv_dm *dm)
{
	const auto *object = to_object<const DeviceMemory>(dm);
	return dm && dm->context == context && object->base.handle == object->handle;
}

inline bool known_in(const ibv_context *context, const ibv_ah *ah)
{
	return ah && ah->context == context && ah->handle == to_object<const AddressHandle>(ah)->handle;
}

inline bool known_in(const ibv_context *context, const ibv_cq *cq)
{
	return cq && cq->context == context && cq->handle == to_object<const CompletionQueueObject>(cq)->handle;
}

inline bool known_in(const ibv_context *context, const ibv_srq *srq)
{
	return srq && srq->context == context && srq->handle == to_object<const SrqObject>(srq)->queue.number;
}

inline bool known_in(const ibv_context *context, const ibv_qp *qp)
{
	return qp && qp->context == context && qp->handle == to_object<const QpObject>(qp)->qp->qpn;
}

inline ContextHandle &to_context_handle(ibv_context *context)
{
	return static_cast<ContextHandle &>(to_handle<ContextTables>(context));
}

inline Context &to_context(ibv_context *context)
{
	return *to_context_handle(context).context;
}

/** Waits until the program has acknowledged the asynchronous events of a queue that it destroys; forgets those that it
 * has not read. */
template <typename Object, typename Base>
void await_acknowledgement(Object &object, Base &base)
{
	object.async_events -=
		object.context.forget_async(base.context->async_fd, reinterpret_cast<std::uintptr_t>(&base));
	pthread_mutex_lock(&base.mutex);
	while (base.events_completed != object.async_events)
		pthread_cond_wait(&base.cond, &base.mutex);
	pthread_mutex_unlock(&base.mutex);
}

/* Implemented beside their objects; ops.cpp puts them into the table of verbs. */
int query_device(
	ibv_context *context, const ibv_query_device_ex_input *input, ibv_device_attr_ex *attr, std::size_t size);
int query_port(ibv_context *context, std::uint8_t port, ibv_port_attr *attr);

ibv_pd *alloc_pd(ibv_context *context);
int dealloc_pd(ibv_pd *pd);
ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova, int access);
int rereg_mr(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, std::size_t length, int access);
int dereg_mr(verbs_mr *mr);
ibv_mw *alloc_mw(ibv_pd *pd, ibv_mw_type type);
int dealloc_mw(ibv_mw *mw);
int bind_mw(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind);
ibv_dm *alloc_dm(ibv_context *context, ibv_alloc_dm_attr *attr);
int free_dm(ibv_dm *dm);
ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *dm, std::uint64_t offset, std::size_t length, unsigned access);

ibv_cq *create_cq(ibv_context *context, int cqe, ibv_comp_channel *channel, int vector);
ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr);
int poll_cq(ibv_cq *cq, int count, ibv_wc *wc);
int req_notify_cq(ibv_cq *cq, int solicited_only);
int resize_cq(ibv_cq *cq, int cqe);
/** Notes that libibverbs has read a completion event of @p cq. */
void cq_event(ibv_cq *cq);
int destroy_cq(ibv_cq *cq);

ibv_srq *create_srq(ibv_pd *pd, ibv_srq_init_attr *attr);
ibv_srq *create_srq_ex(ibv_context *context, ibv_srq_init_attr_ex *attr);
ibv_srq *create_shared_queue(ibv_context *context, ibv_srq_init_attr_ex *attr, bool free_list);
int modify_srq(ibv_srq *srq, ibv_srq_attr *attr, int mask);
int query_srq(ibv_srq *srq, ibv_srq_attr *attr);
int destroy_srq(ibv_srq *srq);
int get_srq_num(ibv_srq *srq, std::uint32_t *number);
int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad);

ibv_qp *create_qp(ibv_pd *pd, ibv_qp_init_attr *attr);
ibv_qp *create_qp_ex(ibv_context *context, ibv_qp_init_attr_ex *attr);
ibv_qp *create_queue_pair(ibv_context *context, ibv_qp_init_attr_ex *attr, bool prism);
int modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask);
int query_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask, ibv_qp_init_attr *init);
int destroy_qp(ibv_qp *qp);
int attach_mcast(ibv_qp *qp, const ibv_gid *gid, std::uint16_t lid);
int detach_mcast(ibv_qp *qp, const ibv_gid *gid, std::uint16_t lid);
int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad);
int post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad);
void set_send_ops(QpObject &qp);

/** Returns false if @p attr does not lead from an address of ours to one of the same family. */
bool resolve_path(const ibv_ah_attr &attr, const GidTable &gids, Address &peer, unsigned &source);
ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr);
int destroy_ah(ibv_ah *ah);

/** Opens a context of @p device. */
ibv_context *open_context(ibv_device *device, const prismdv_context_attr &attr);
/** Opens a context for ibv_open_device(). */
verbs_context *alloc_context(ibv_device *device, int cmd_fd, void *private_data);
void free_context(ibv_context *context);

} // namespace prism::soft
