/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The operations of a context, and the places where programs and libibverbs look for them.
 *
 * Inline functions of <infiniband/verbs.h> call some by the public struct verbs_context. All others are called by
 * functions that libibverbs exports, and these look into a table behind verbs_context::priv, whose layout is
 * libibverbs's own and differs between its releases. So the library is probed: each function is called once, for a
 * context whose table holds only functions that note which of them was called. That needs public symbols alone, and
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

/** Operations of a device. Null: not supported, so a call fails with EOPNOTSUPP. */
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

/** Layout of the table behind verbs_context::priv in one library. */
class OperationTable
{
public:
	/** Size of a table in pointers; more than any release has. */
	static constexpr std::size_t max_size = 256;
	using Table = std::array<void *, max_size>;

	/** Finds a function of libibverbs by its name; null if there is none. */
	using Lookup = void *(*)(const char *function);

	/**
	 * Returns the layout of the loaded library; probes once. The caller holds a lock, and keeps forks out too. Null
	 * with errno if there is no descriptor left to probe with (EMFILE, ENFILE), or if the table is unlike all known
	 * ones (EOPNOTSUPP): the standard error then says more.
	 */
	static const OperationTable *loaded();

	/** Probes the library that @p lookup looks into. On failure @p why is not empty afterwards. */
	OperationTable(Lookup lookup, std::string &why);

	/**
	 * Initialises @p context, of which nothing is set yet, so that libibverbs takes it for its own: with @p table
	 * behind it, and every operation refused. The caller sets device, descriptors and mutex.
	 */
	void make(verbs_context &context, Table &table) const;
	/** Stores the operations that @p operations has into a context that was made by make() or by libibverbs. */
	void set(verbs_context &context, const Operations &operations) const;
	/** Returns the pointer that ibv_open_device() wants from a device for @p context: to the beginning of the
	 * library's verbs_context. */
	[[nodiscard]] verbs_context *beginning_of(ibv_context *context) const
	{
		return reinterpret_cast<verbs_context *>(reinterpret_cast<std::byte *>(context) - offset_);
	}

	static constexpr std::size_t npos = max_size; /* place of an operation that this library does not have */
	/** Room for members that newer headers have before those that verbs_context has here. */
	static constexpr std::size_t newer_members = 64;

private:
	static constexpr std::size_t max_operations = 64;
	std::array<std::size_t, max_operations> places_{}; /* in the table, by operation number */
	std::ptrdiff_t offset_ = 0;                        /* of the public context in the library's verbs_context */
	verbs_context opened_{};                           /* the members that ibv_open_device() itself sets */
};

} // namespace prism
