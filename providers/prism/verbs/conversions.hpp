/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Conversions from the structures of libibverbs to the provider's objects around them. */
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "rdma_core_abi.h"

namespace prism
{

/** Converts to our object, which begins with libibverbs's at offset 0. */
template <typename Object, typename Base>
Object *to_object(Base *base)
{
	return reinterpret_cast<Object *>(base);
}

/** Returns the structure whose member base is the verbs_context of @p context. */
template <typename Handle>
Handle &to_handle(ibv_context *context)
{
	static_assert(std::is_standard_layout_v<Handle>, "offsetof needs that");
	return *reinterpret_cast<Handle *>(
		reinterpret_cast<char *>(context) - offsetof(verbs_context, context) - offsetof(Handle, base));
}

/** Sets errno and returns null, for a verb that returns an object. */
template <typename T>
T *fail(int error)
{
	errno = error;
	return nullptr;
}

/** Returns the builders that queue pairs of this type may have (ibv_qp_create_send_ops_flags). */
inline std::uint64_t send_ops_of(ibv_qp_type type, bool atomic_write)
{
	constexpr std::uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	constexpr std::uint64_t connected = sends | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
					    IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	constexpr std::uint64_t reliable = connected | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
					   IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV;
	switch (type) {
	case IBV_QPT_UD:
		return sends;
	case IBV_QPT_UC:
		return connected;
	case IBV_QPT_RC:
		return reliable | (atomic_write ? std::uint64_t{IBV_QP_EX_WITH_ATOMIC_WRITE} : 0u);
	default:
		return 0;
	}
}

/** Implements ibv_create_qp() by @p create, which takes an ibv_qp_init_attr_ex and stores the granted capacities in
 * it. */
template <typename Create>
ibv_qp *create_plain_qp(ibv_pd *pd, ibv_qp_init_attr *attr, Create create)
{
	ibv_qp_init_attr_ex extended{};
	std::memcpy(&extended, attr, sizeof(*attr)); /* ibv_qp_init_attr_ex begins with it */
	extended.comp_mask = IBV_QP_INIT_ATTR_PD;
	extended.pd = pd;
	ibv_qp *qp = create(pd->context, &extended);
	if (qp)
		attr->cap = extended.cap;
	return qp;
}

/** Implements ibv_create_srq() in the same way. */
template <typename Create>
ibv_srq *create_plain_srq(ibv_pd *pd, ibv_srq_init_attr *attr, Create create)
{
	ibv_srq_init_attr_ex extended{};
	extended.srq_context = attr->srq_context;
	extended.attr = attr->attr;
	extended.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	extended.pd = pd;
	ibv_srq *srq = create(pd->context, &extended);
	if (srq)
		attr->attr = extended.attr;
	return srq;
}

} // namespace prism
