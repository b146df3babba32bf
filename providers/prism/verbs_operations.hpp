/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The operations of a context, and where programs and libibverbs look for them.
 *
 * Inline functions of <infiniband/verbs.h> call some by the public struct verbs_context. All others are called by
 * functions that libibverbs exports, and these look into a table behind verbs_context::priv, whose layout is
 * libibverbs's own and differs between its releases. So it is asked: each function is called once, for a context whose
 * table holds nothing but functions that note which of them was called. That needs no symbol that is not public, and
 * works with releases that are newer than this library.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "rdma_core_abi.h"

namespace prism
{

/** What a device can do. Null: it cannot, and who tries gets EOPNOTSUPP. */
struct Operations {
	/* Called by functions of libibverbs */
	ibv_pd *(*alloc_pd)(ibv_context *context);
	void (*async_event)(ibv_context *context, ibv_async_event *event);
	int (*attach_mcast)(ibv_qp *qp, const ibv_gid *gid, std::uint16_t lid);
	void (*cq_event)(ibv_cq *cq);
	ibv_ah *(*create_ah)(ibv_pd *pd, ibv_ah_attr *attr);
	ibv_cq *(*create_cq)(ibv_context *context, int cqe, ibv_comp_channel *channel, int comp_vector);
	ibv_cq_ex *(*create_cq_ex)(ibv_context *context, ibv_cq_init_attr_ex *attr);
	ibv_qp *(*create_qp)(ibv_pd *pd, ibv_qp_init_attr *attr);
	ibv_srq *(*create_srq)(ibv_pd *pd, ibv_srq_init_attr *attr);
	int (*dealloc_pd)(ibv_pd *pd);
	int (*dereg_mr)(verbs_mr *mr);
	int (*destroy_ah)(ibv_ah *ah);
	int (*destroy_cq)(ibv_cq *cq);
	int (*destroy_qp)(ibv_qp *qp);
	int (*destroy_srq)(ibv_srq *srq);
	int (*detach_mcast)(ibv_qp *qp, const ibv_gid *gid, std::uint16_t lid);
	void (*free_context)(ibv_context *context);
	int (*modify_qp)(ibv_qp *qp, ibv_qp_attr *attr, int mask);
	int (*modify_srq)(ibv_srq *srq, ibv_srq_attr *attr, int mask);
	int (*query_port)(ibv_context *context, std::uint8_t port, ibv_port_attr *attr);
	int (*query_qp)(ibv_qp *qp, ibv_qp_attr *attr, int mask, ibv_qp_init_attr *init_attr);
	int (*query_srq)(ibv_srq *srq, ibv_srq_attr *attr);
	ibv_mr *(*reg_mr)(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova, int access);
	int (*rereg_mr)(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, std::size_t length, int access);
	int (*resize_cq)(ibv_cq *cq, int cqe);

	/* Called by inline functions; query_device_ex by a function, too */
	decltype(verbs_context::advise_mr) advise_mr;
	decltype(verbs_context::alloc_dm) alloc_dm;
	decltype(ibv_context_ops::alloc_mw) alloc_mw;
	decltype(ibv_context_ops::bind_mw) bind_mw;
	decltype(verbs_context::create_qp_ex) create_qp_ex;
	decltype(verbs_context::create_srq_ex) create_srq_ex;
	decltype(ibv_context_ops::dealloc_mw) dealloc_mw;
	decltype(verbs_context::free_dm) free_dm;
	decltype(verbs_context::get_srq_num) get_srq_num;
	decltype(ibv_context_ops::poll_cq) poll_cq;
	decltype(ibv_context_ops::post_recv) post_recv;
	decltype(ibv_context_ops::post_send) post_send;
	decltype(ibv_context_ops::post_srq_recv) post_srq_recv;
	decltype(verbs_context::query_device_ex) query_device_ex;
	decltype(verbs_context::reg_dm_mr) reg_dm_mr;
	decltype(ibv_context_ops::req_notify_cq) req_notify_cq;
};

/** The table behind verbs_context::priv, as one library has it. */
class OperationTable
{
public:
	/** In pointers; more than any release has. */
	static constexpr std::size_t max_size = 256;
	using Table = std::array<void *, max_size>;

	/** How a function of libibverbs is found by its name: null if there is none. */
	using Lookup = void *(*)(const char *function);

	/**
	 * Of the library that is loaded; asks once. The caller holds a lock, and over forks, too. Null, with errno set,
	 * if there is no descriptor left to ask with (EMFILE, ENFILE), or if its table is like none that is known
	 * (EOPNOTSUPP): the standard error says more then.
	 */
	static const OperationTable *loaded();

	/** Of the library that @p lookup looks into. If it cannot be told, @p why is not empty afterwards. */
	OperationTable(Lookup lookup, std::string &why);

	/**
	 * Makes @p context, of which nothing is set yet, one that libibverbs takes for its own, with @p table behind
	 * it, and every operation refused. Device, descriptors and mutex are the caller's.
	 */
	void make(verbs_context &context, Table &table) const;
	/** The operations that @p operations has, in a context that was made by make() or by libibverbs. */
	void set(verbs_context &context, const Operations &operations) const;
	/** What ibv_open_device() wants of a device for @p context: a pointer to where the library's verbs_context
	 * begins. */
	[[nodiscard]] verbs_context *beginning_of(ibv_context *context) const
	{
		return reinterpret_cast<verbs_context *>(reinterpret_cast<std::byte *>(context) - offset_);
	}

	static constexpr std::size_t npos = max_size; /* of an operation that this library does not have */
	/** Newer headers have more members before those that verbs_context has here: there must be room for as many. */
	static constexpr std::size_t newer_members = 64;

private:
	static constexpr std::size_t max_operations = 64;
	std::array<std::size_t, max_operations> places_{}; /* in the table, by the operation's number */
	std::ptrdiff_t offset_ = 0;                        /* of the public context in the library's verbs_context */
	verbs_context opened_{};                           /* what ibv_open_device() itself sets */
};

} // namespace prism
