/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* From what libibverbs hands to a provider to what stands around it. */
#pragma once

#include <cerrno>
#include <cstddef>

#include "rdma_core_abi.h"

namespace prism
{

/** Our objects begin with libibverbs's, at offset 0. */
template <typename Object, typename Base>
Object *to_object(Base *base)
{
	return reinterpret_cast<Object *>(base);
}

/** The structure that begins with the verbs_context of @p context. */
template <typename Handle>
Handle &to_handle(ibv_context *context)
{
	return *reinterpret_cast<Handle *>(reinterpret_cast<char *>(context) - offsetof(verbs_context, context));
}

/** How a verb that returns an object fails. */
template <typename T>
T *fail(int error)
{
	errno = error;
	return nullptr;
}

} // namespace prism
