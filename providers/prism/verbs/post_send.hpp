/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Lists of work requests, as ibv_post_send() takes them, and ibv_bind_mw(). */
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "conversions.hpp"
#include "posting.hpp"

namespace prism
{

/** Verbs of @p Device, which posting.hpp describes. */
template <typename Device>
class PostSend
{
	using Object = typename Device::Object;
	using Request = typename Device::Request;
	using Slots = SendSlots<Device>;

	static int set_data(Object &object, Request &wr, const ibv_send_wr &from)
	{
		if (from.num_sge < 0 || static_cast<std::uint32_t>(from.num_sge) > Device::queue(object).max_sge)
			return EINVAL;
		const auto count = static_cast<std::size_t>(from.num_sge);
		/* The word of an atomic write is part of the request, inline or not. */
		if (wr.kind == SendKind::atomic_write)
			return Slots::set_inline(object, wr, from.sg_list, count, sizeof(std::uint64_t));
		if (!(from.send_flags & IBV_SEND_INLINE))
			return Slots::set_sges(object, wr, from.sg_list, count);
		return Slots::set_inline(object, wr, from.sg_list, count);
	}

	/** Returns the opcode as a number: it may be no value of ibv_wr_opcode, which C++ may not load as that
	 * enumeration. */
	static unsigned opcode_of(const ibv_send_wr &wr)
	{
		unsigned opcode;
		static_assert(sizeof(opcode) == sizeof(wr.opcode));
		std::memcpy(&opcode, &wr.opcode, sizeof(opcode));
		return opcode;
	}

	static int translate_prism(Object &object, const PostingRules &rules, Request &wr, const ibv_send_wr &base)
	{
		const auto &from = reinterpret_cast<const prismdv_send_wr &>(base);
		if (!rules.prism)
			return EOPNOTSUPP;
		if (from.comp_mask || (from.flags & ~known_wr_flags))
			return EINVAL;
		begin_prism(wr, static_cast<prism_op>(opcode_of(base) - PRISMDV_WR_READ), base.wr.rdma.rkey,
			base.wr.rdma.remote_addr);
		wr.prism.flags = wire_flags(from.flags);
		if (wr.prism.op == PRISM_ALLOCATE) {
			wr.prism.va = 0;
			wr.prism.rkey = 0;
		}
		if (from.flags & (PRISMDV_WR_REDIRECT | PRISMDV_WR_DATA_INDIRECT))
			set_aux(wr, from.aux.rkey, from.aux.addr, from.aux.length);
		if (wr.prism.op == PRISM_CAS)
			return set_operands(wr, Device::queue(object).operands(wr), from.cas);
		if (wr.prism.op == PRISM_ALLOCATE) {
			set_free_list(wr, from.allocate.free_list, from.allocate.tag);
			const ibv_sge &result = from.allocate.result;
			wr.result = {result.addr, result.length, result.lkey};
		}
		return 0;
	}

	static int translate_atomic(Request &wr, const ibv_send_wr &from)
	{
		set_target(wr, from.wr.atomic.rkey, from.wr.atomic.remote_addr);
		set_atomic(wr, opcode_of(from) == IBV_WR_ATOMIC_FETCH_AND_ADD, from.wr.atomic.compare_add,
			from.wr.atomic.swap);
		return 0;
	}

	static int translate_atomic_write(Object &object, Request &wr, const ibv_send_wr &from)
	{
		if (!Device::may_write_atomically(object))
			return EOPNOTSUPP;
		set_kind(wr, SendKind::atomic_write, IBV_WC_ATOMIC_WRITE);
		set_target(wr, from.wr.rdma.rkey, from.wr.rdma.remote_addr);
		return 0;
	}

	static int translate_send(Object &object, Request &wr, const ibv_send_wr &from)
	{
		set_kind(wr, SendKind::send, IBV_WC_SEND);
		Device::set_address(object, wr, from);
		return 0;
	}

	static int translate_opcode(Object &object, const PostingRules &rules, Request &wr, const ibv_send_wr &from)
	{
		switch (opcode_of(from)) {
		case IBV_WR_SEND_WITH_IMM:
			set_tail(wr, Tail::immediate, from.imm_data);
			[[fallthrough]];
		case IBV_WR_SEND:
			return translate_send(object, wr, from);
		case IBV_WR_SEND_WITH_INV:
			set_kind(wr, SendKind::send, IBV_WC_SEND);
			set_tail(wr, Tail::invalidate, from.invalidate_rkey);
			return 0;
		case IBV_WR_RDMA_WRITE_WITH_IMM:
			set_tail(wr, Tail::immediate, from.imm_data);
			[[fallthrough]];
		case IBV_WR_RDMA_WRITE:
			set_kind(wr, SendKind::write, IBV_WC_RDMA_WRITE);
			set_target(wr, from.wr.rdma.rkey, from.wr.rdma.remote_addr);
			return 0;
		case IBV_WR_RDMA_READ:
			set_kind(wr, SendKind::read, IBV_WC_RDMA_READ);
			set_target(wr, from.wr.rdma.rkey, from.wr.rdma.remote_addr);
			return 0;
		case IBV_WR_ATOMIC_CMP_AND_SWP:
		case IBV_WR_ATOMIC_FETCH_AND_ADD:
			return translate_atomic(wr, from);
		case IBV_WR_ATOMIC_WRITE:
			return translate_atomic_write(object, wr, from);
		case IBV_WR_LOCAL_INV:
			set_kind(wr, SendKind::local_invalidate, IBV_WC_LOCAL_INV);
			wr.immediate = from.invalidate_rkey;
			return 0;
		case IBV_WR_BIND_MW:
			if (!are_of_one_context(object.base.qp, *from.bind_mw.mw, from.bind_mw.bind_info))
				return EINVAL;
			set_bind(wr, rules.qpn, *from.bind_mw.mw, from.bind_mw.rkey, from.bind_mw.bind_info);
			return 0;
		case PRISMDV_WR_READ:
		case PRISMDV_WR_WRITE:
		case PRISMDV_WR_CAS:
		case PRISMDV_WR_ALLOCATE:
			return translate_prism(object, rules, wr, from);
		default:
			return EOPNOTSUPP;
		}
	}

	static int translate(Object &object, const PostingRules &rules, Request &wr, const ibv_send_wr &from)
	{
		wr.wr_id = from.wr_id;
		set_flags(rules, wr, from.send_flags);
		if (const int error = translate_opcode(object, rules, wr, from))
			return error;
		if (const int error = set_data(object, wr, from))
			return error;
		return check_request(rules, Device::queue(object), wr);
	}

	/** Makes the checks of ibv_bind_mw() itself; posting such a request would end the connection. */
	static int check_bind(const Object &object, const ibv_mw &mw, const ibv_mw_bind_info &info)
	{
		if (!are_of_one_context(object.base.qp, mw, info))
			return EINVAL;
		if (mw.type != IBV_MW_TYPE_1 || (info.mw_access_flags & IBV_ACCESS_ZERO_BASED))
			return EINVAL;
		if (!info.mr)
			return info.addr || info.length ? EINVAL : 0;
		return info.mr->pd == mw.pd ? 0 : EPERM;
	}

public:
	static int post_send(ibv_qp *base, ibv_send_wr *wr, ibv_send_wr **bad)
	{
		auto &object = *to_object<Object>(base);
		auto lock = Device::hold(object);
		ibv_send_wr *const first = wr;
		Slots::begin(object);
		const PostingRules rules = Device::rules(object);
		int error = Device::may_post(object) ? 0 : EINVAL;
		for (; wr && !error; wr = wr->next) {
			Request *slot = Slots::next_slot(object);
			error = slot ? translate(object, rules, *slot, *wr) : ENOMEM;
			if (error)
				break;
			Slots::fill(object);
		}
		if (error)
			*bad = wr;
		const int refused = Slots::submit(object, lock);
		if (!refused || error)
			return error;
		*bad = first;
		return refused;
	}

	static int bind_mw(ibv_qp *base, ibv_mw *mw, ibv_mw_bind *bind)
	{
		auto &object = *to_object<Object>(base);
		if (const int error = check_bind(object, *mw, bind->bind_info))
			return error;
		const std::uint32_t new_key = (mw->rkey & ~0xffu) | ((mw->rkey + 1) & 0xff);
		auto lock = Device::hold(object);
		if (!Device::may_post(object))
			return EINVAL;
		Slots::begin(object);
		Request *wr = Slots::next_slot(object);
		if (!wr)
			return ENOMEM;
		wr->wr_id = bind->wr_id;
		set_flags(Device::rules(object), *wr, bind->send_flags);
		set_bind(*wr, 0, *mw, new_key, bind->bind_info);
		Slots::fill(object);
		mw->rkey = new_key;
		return Slots::submit(object, lock);
	}
};

} // namespace prism
