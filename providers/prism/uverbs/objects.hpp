/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verbs objects of the kernel's device: libibverbs's structure first, our members behind it. A create call
 * allocates them, its destroy call frees them; these calls are the C boundary.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <rdma/ib_user_verbs.h>

#include "../verbs/conversions.hpp"
#include "../verbs/posting.hpp"
#include "base/spin_lock.hpp"
#include "counters.hpp"
#include "private_abi.h"
#include "send_ring.hpp"
#include "shared_queue.hpp"

namespace prism::uverbs
{

/** Context. libibverbs zeroes and frees it in its own way, so a member with a constructor is held by a pointer. */
struct ContextHandle {
	verbs_context base;
	prism_abi_alloc_ucontext_resp device;
	Counters *counters;
};

struct CompletionQueueObject {
	/** Drops the entries that a destroyed queue pair left behind. */
	void purge(std::uint32_t qpn);

	verbs_cq base{};
	SpinLock lock; /* held from ibv_start_poll to ibv_end_poll */
	SharedQueue queue;
	std::uint32_t next = 0; /* index of the next entry */
	const ib_uverbs_wc *current = nullptr;
};

/** The receive queue of a queue pair or an SRQ. */
struct ReceiveRing {
	/** Posts; returns 0 or an errno. @p exact: true if the number of sges must be max_sge, not at most that. */
	int post(const ibv_recv_wr &wr, bool exact = false);
	int map(int cmd_fd, const prism_abi_mmap &where);

	SpinLock lock;
	SharedQueue queue;
	std::uint32_t max_sge = 0;
	std::uint64_t posted = 0;
};

struct SrqObject {
	verbs_srq base{};
	ReceiveRing ring;
	bool free_list = false;
	Mapping reports; /* struct prism_abi_free_list */
	std::uint32_t next_report = 0;
};

struct QpObject : PostingState<SendRequest> {
	/** Makes the module look into the queues. Returns 0 or an errno. */
	int ring_doorbell();

	SpinLock send_lock; /* held from ibv_wr_start to ibv_wr_complete */
	SendRing sends;
	ReceiveRing receives;
	bool prism = false;
	bool signal_all = false;
	std::uint64_t peer_features = 0;
	std::uint32_t mtu = 0; /* bytes */
	std::uint32_t max_rd_atomic = 0;
};

struct AddressHandle {
	ibv_ah base{};
	std::uint32_t number = 0;
};

inline const prism_abi_alloc_ucontext_resp &device_of(ibv_context *context)
{
	return to_handle<ContextHandle>(context).device;
}

/** Bit of prism_abi_alloc_ucontext_resp.send_opcodes; the uapi header of older kernels does not name it. */
inline constexpr std::uint32_t opcode_atomic_write = 15;

inline bool has_atomic_write(ibv_context *context)
{
	return device_of(context).send_opcodes & (1u << opcode_atomic_write);
}

/* Implemented beside their objects; context.cpp puts them into the table of verbs. */
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
ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr);
int destroy_ah(ibv_ah *ah);

ibv_cq *create_cq(ibv_context *context, int cqe, ibv_comp_channel *channel, int vector);
ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr);
int poll_cq(ibv_cq *cq, int count, ibv_wc *wc);
int resize_cq(ibv_cq *cq, int cqe);
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
int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad);
int post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad);
void set_send_ops(QpObject &qp);

verbs_context *alloc_context(ibv_device *device, int cmd_fd, void *private_data);
void free_context(ibv_context *context);

} // namespace prism::uverbs
