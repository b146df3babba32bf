/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The builders of prismdv_qp_ex: PRISM requests in the batches of ibv_qp_ex. */
#pragma once

#include <cerrno>
#include <cstdint>

#include "qp_ex_builders.hpp"

namespace prism
{

/** Builders of @p Device, which posting.hpp describes. */
template <typename Device>
class PrismBuilders
{
	using Object = typename Device::Object;
	using Request = typename Device::Request;
	using Builders = QpExBuilders<Device>;

	static Object &self(prismdv_qp_ex *dv)
	{
		using Handle = typename PostingState<Request>::DvHandle;
		return static_cast<Object &>(*reinterpret_cast<Handle *>(dv)->owner);
	}

	static Request *build_prism(prismdv_qp_ex *dv, prism_op op, std::uint32_t rkey, std::uint64_t addr)
	{
		Request *wr = Builders::build(self(dv));
		if (wr)
			begin_prism(*wr, op, rkey, addr);
		return wr;
	}

	/** Returns the request under construction, if PRISM setters apply to it. */
	static Request *building_prism(Object &object)
	{
		Request *wr = object.building;
		if (wr && wr->kind != SendKind::prism) {
			Builders::note_error(object, EINVAL);
			return nullptr;
		}
		return wr;
	}

	/** Adds @p flags to the request under construction and returns it. */
	static Request *add_flags(Object &object, std::uint32_t flags)
	{
		Request *wr = building_prism(object);
		if (!wr)
			return nullptr;
		if (flags & ~known_wr_flags)
			Builders::note_error(object, EINVAL);
		wr->prism.flags |= wire_flags(flags);
		return wr;
	}

	static void wr_cas(prismdv_qp_ex *dv, std::uint32_t rkey, std::uint64_t addr, const prismdv_cas *cas)
	{
		Object &object = self(dv);
		Request *wr = build_prism(dv, PRISM_CAS, rkey, addr);
		if (wr)
			Builders::note_error(object, set_operands(*wr, Device::queue(object).operands(*wr), *cas));
	}

public:
	/** Fills in the builders, which add to the batches of the queue pair's QpExBuilders. */
	static void install(Object &object)
	{
		object.dv.owner = &object;
		prismdv_qp_ex &dv = object.dv.base;
		dv.wr_read = [](prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr) {
			build_prism(qp, PRISM_READ, rkey, addr);
		};
		dv.wr_write = [](prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr) {
			build_prism(qp, PRISM_WRITE, rkey, addr);
		};
		dv.wr_cas = wr_cas;
		dv.wr_allocate = [](prismdv_qp_ex *qp, std::uint32_t free_list, std::uint32_t tag) {
			if (Request *wr = build_prism(qp, PRISM_ALLOCATE, 0, 0))
				set_free_list(*wr, free_list, tag);
		};
		dv.wr_set_flags = [](prismdv_qp_ex *qp, std::uint32_t flags) { add_flags(self(qp), flags); };
		dv.wr_set_aux = [](prismdv_qp_ex *qp, std::uint32_t flags, std::uint32_t rkey, std::uint64_t addr,
					std::uint32_t length) {
			if (Request *wr = add_flags(self(qp), flags))
				set_aux(*wr, rkey, addr, length);
		};
		dv.wr_set_result = [](prismdv_qp_ex *qp, std::uint32_t lkey, std::uint64_t addr) {
			if (Request *wr = building_prism(self(qp)))
				wr->result = {addr, sizeof(std::uint64_t), lkey};
		};
	}
};

} // namespace prism
