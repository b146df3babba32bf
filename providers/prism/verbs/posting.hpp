/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Posting, in both styles: lists of work requests, and the builders of ibv_qp_ex and prismdv_qp_ex. All devices share
 * it. What differs between them is a @p Device with these static members:
 *
 *   Object             a queue pair, derived from PostingState<Request>
 *   Request            a slot of its send queue, derived from WorkRequest
 *   max_message        bytes
 *   has_atomic_write   ibv_wr_atomic_write() is there, for queue pairs that may_write_atomically(object)
 *   hold(object)       a lock, for posting a list of work requests and for the two ends of a batch
 *   suspend(object, lock)   at the end of ibv_wr_start(): nobody else posts until resume(), whether or not by the lock
 *   resume(object)     the lock again
 *   queue(object)      max_sge, max_inline, tail, room(), at(), sges(), inline_bytes(), operands()
 *   may_post(object)   by the state of the queue pair
 *   rules(object)      PostingRules
 *   set_address(object, request, ibv_send_wr)   whom a SEND of an unconnected queue pair goes to
 *   submit(object, begin, lock)   let the device have the requests from index begin to the new tail: 0 or errno
 */
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <span>

#include "conversions.hpp"
#include "qp_mark.hpp"
#include "work_request.hpp"

namespace prism
{

/** The common first part of a queue pair object. */
template <typename Request>
struct PostingState {
	/** Handle that prismdv_qp_ex_from_ibv_qp_ex() returns. */
	struct DvHandle {
		prismdv_qp_ex base{};
		PostingState *owner = nullptr;
	};

	verbs_qp base{};
	DvHandle dv;
	bool has_send_ops = false;

	/* Slots being posted: from the queue's tail to next. The device does not see them yet. */
	std::uint32_t next = 0;
	std::uint32_t room = 0; /* slots left */

	/* A batch between ibv_wr_start and ibv_wr_complete */
	PostingRules batch_rules{};
	int batch_error = 0;
	Request *building = nullptr;
};

template <typename Device>
class Posting
{
	using Object = typename Device::Object;
	using Request = typename Device::Request;
	using State = PostingState<Request>;

	static Object &self(ibv_qp_ex *qp) { return *to_object<Object>(qp); }

	static Object &self(prismdv_qp_ex *dv)
	{
		return static_cast<Object &>(*reinterpret_cast<typename State::DvHandle *>(dv)->owner);
	}

	/* Filling a slot */

	static void begin(Object &object)
	{
		object.next = Device::queue(object).tail;
		object.room = Device::queue(object).room();
	}

	/** Hands the slots filled since begin() to the device. */
	template <typename Lock>
	static int submit(Object &object, Lock &lock)
	{
		auto &queue = Device::queue(object);
		const std::uint32_t first = queue.tail;
		queue.tail = object.next;
		return Device::submit(object, first, lock);
	}

	/** Returns the slot after the last one filled, cleared; nullptr if the queue is full. The slot counts once next
	 * is advanced.
	 */
	static Request *next_slot(Object &object)
	{
		if (!object.room)
			return nullptr;
		Request &wr = Device::queue(object).at(object.next);
		/* Construct in place: an assignment would build a temporary first, and std::construct_at() zero all
		 * of it. */
		::new (static_cast<void *>(&wr)) Request;
		return &wr;
	}

	static void fill(Object &object)
	{
		object.next++;
		object.room--;
	}

	static int set_sges(Object &object, Request &wr, const ibv_sge *list, std::size_t count)
	{
		auto &queue = Device::queue(object);
		if (count > queue.max_sge)
			return EINVAL;
		std::uint64_t total = 0;
		wr.num_sge = static_cast<std::uint32_t>(count);
		const std::span<Sge> sges = queue.sges(wr);
		for (std::size_t i = 0; i < count; i++) {
			sges[i] = {list[i].addr, list[i].length, list[i].lkey};
			total += list[i].length;
		}
		if (total > Device::max_message)
			return EINVAL;
		wr.length = static_cast<std::uint32_t>(total);
		return 0;
	}

	static const void *address_of(const ibv_data_buf &buffer) { return buffer.addr; }
	static const void *address_of(const ibv_sge &sge) { return reinterpret_cast<const void *>(sge.addr); }

	/** Copies the data now: the caller may reuse its buffers when posting returns. */
	template <typename Piece>
	static int set_inline(Object &object, Request &wr, const Piece *list, std::size_t count, std::size_t max)
	{
		std::size_t total = 0;
		for (std::size_t i = 0; i < count; i++) {
			if (list[i].length > max - total)
				return EINVAL;
			total += list[i].length;
		}
		wr.inline_data = true;
		wr.length = static_cast<std::uint32_t>(total);
		std::byte *to = Device::queue(object).inline_bytes(wr).data();
		for (std::size_t i = 0; i < count; i++) {
			if (list[i].length)
				std::memcpy(to, address_of(list[i]), list[i].length);
			to += list[i].length;
		}
		return 0;
	}

	template <typename Piece>
	static int set_inline(Object &object, Request &wr, const Piece *list, std::size_t count)
	{
		return set_inline(object, wr, list, count, Device::queue(object).max_inline);
	}

	/* Lists of work requests */

	static int set_data(Object &object, Request &wr, const ibv_send_wr &from)
	{
		if (from.num_sge < 0 || static_cast<std::uint32_t>(from.num_sge) > Device::queue(object).max_sge)
			return EINVAL;
		const auto count = static_cast<std::size_t>(from.num_sge);
		/* The word of an atomic write is part of the request, inline or not. */
		if (wr.kind == SendKind::atomic_write)
			return set_inline(object, wr, from.sg_list, count, sizeof(std::uint64_t));
		if (!(from.send_flags & IBV_SEND_INLINE))
			return set_sges(object, wr, from.sg_list, count);
		return set_inline(object, wr, from.sg_list, count);
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

	/** Returns true if all belong to one context. Each context numbers its objects by itself: the numbers of
	 * another context's windows and regions would name some of ours. */
	static bool are_of_one_context(const Object &object, const ibv_mw &mw, const ibv_mw_bind_info &info)
	{
		const ibv_context *const context = object.base.qp.context;
		return mw.context == context && (!info.mr || info.mr->context == context);
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
			if (!are_of_one_context(object, *from.bind_mw.mw, from.bind_mw.bind_info))
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

	/* Builders */

	/** Returns a new slot for the builder that is being called; nullptr after an error in this batch. */
	static Request *build(Object &object)
	{
		ibv_qp_ex &ex = object.base.qp_ex;
		object.building = nullptr;
		if (object.batch_error)
			return nullptr;
		Request *wr = next_slot(object);
		if (!wr) {
			object.batch_error = ENOMEM;
			return nullptr;
		}
		wr->wr_id = ex.wr_id;
		set_flags(object.batch_rules, *wr, ex.wr_flags);
		fill(object);
		return object.building = wr;
	}

	static Request *build(ibv_qp_ex *ex) { return build(self(ex)); }

	static void wr_start(ibv_qp_ex *ex)
	{
		Object &object = self(ex);
		auto lock = Device::hold(object);
		begin(object);
		object.batch_rules = Device::rules(object);
		object.batch_error = Device::may_post(object) ? 0 : EINVAL;
		object.building = nullptr;
		Device::suspend(object, lock);
	}

	/** Checks the batch again: the queue pair may have changed state since wr_start(). */
	static int check_batch(Object &object)
	{
		auto &queue = Device::queue(object);
		const PostingRules rules = Device::rules(object);
		int error = object.batch_error;
		if (!error && !Device::may_post(object))
			error = EINVAL;
		for (std::uint32_t i = queue.tail; !error && i != object.next; i++)
			error = check_request(rules, queue, queue.at(i));
		return error;
	}

	static int wr_complete(ibv_qp_ex *ex)
	{
		Object &object = self(ex);
		auto lock = Device::resume(object);
		object.building = nullptr;
		if (const int error = check_batch(object))
			return error;
		return submit(object, lock);
	}

	static void wr_abort(ibv_qp_ex *ex)
	{
		Object &object = self(ex);
		[[maybe_unused]] const auto lock = Device::resume(object);
		object.building = nullptr;
	}

	static void note_error(Object &object, int error)
	{
		if (error && !object.batch_error)
			object.batch_error = error;
	}

	static void wr_send_tail(ibv_qp_ex *ex, Tail tail, std::uint32_t value)
	{
		Request *wr = build(ex);
		if (!wr)
			return;
		set_kind(*wr, SendKind::send, IBV_WC_SEND);
		set_tail(*wr, tail, value);
	}

	static void wr_write_tail(ibv_qp_ex *ex, std::uint32_t rkey, std::uint64_t addr, Tail tail, std::uint32_t value)
	{
		Request *wr = build(ex);
		if (!wr)
			return;
		set_kind(*wr, SendKind::write, IBV_WC_RDMA_WRITE);
		set_target(*wr, rkey, addr);
		set_tail(*wr, tail, value);
	}

	static void wr_read(ibv_qp_ex *ex, std::uint32_t rkey, std::uint64_t addr)
	{
		Request *wr = build(ex);
		if (!wr)
			return;
		set_kind(*wr, SendKind::read, IBV_WC_RDMA_READ);
		set_target(*wr, rkey, addr);
	}

	static void wr_atomic(ibv_qp_ex *ex, std::uint32_t rkey, std::uint64_t addr, bool fetch_add,
		std::uint64_t compare_add, std::uint64_t swap)
	{
		Request *wr = build(ex);
		if (!wr)
			return;
		set_target(*wr, rkey, addr);
		set_atomic(*wr, fetch_add, compare_add, swap);
	}

	static void wr_atomic_write(ibv_qp_ex *ex, std::uint32_t rkey, std::uint64_t addr, const void *word)
	{
		Object &object = self(ex);
		Request *wr = build(object);
		if (!wr)
			return;
		set_kind(*wr, SendKind::atomic_write, IBV_WC_ATOMIC_WRITE);
		set_target(*wr, rkey, addr);
		const ibv_data_buf buffer{const_cast<void *>(word), sizeof(std::uint64_t)};
		note_error(object, set_inline(object, *wr, &buffer, 1, sizeof(std::uint64_t)));
	}

	static void wr_local_inv(ibv_qp_ex *ex, std::uint32_t rkey)
	{
		Request *wr = build(ex);
		if (!wr)
			return;
		set_kind(*wr, SendKind::local_invalidate, IBV_WC_LOCAL_INV);
		wr->immediate = rkey;
	}

	static void set_standard_builders(ibv_qp_ex &ex)
	{
		ex.wr_send = [](ibv_qp_ex *qp) { wr_send_tail(qp, Tail::none, 0); };
		ex.wr_send_imm = [](ibv_qp_ex *qp, __be32 imm) { wr_send_tail(qp, Tail::immediate, imm); };
		ex.wr_send_inv = [](ibv_qp_ex *qp, std::uint32_t rkey) { wr_send_tail(qp, Tail::invalidate, rkey); };
		ex.wr_rdma_write = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr) {
			wr_write_tail(qp, rkey, addr, Tail::none, 0);
		};
		ex.wr_rdma_write_imm = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr, __be32 imm) {
			wr_write_tail(qp, rkey, addr, Tail::immediate, imm);
		};
		ex.wr_rdma_read = wr_read;
		ex.wr_atomic_cmp_swp = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr, std::uint64_t compare,
					       std::uint64_t swap) { wr_atomic(qp, rkey, addr, false, compare, swap); };
		ex.wr_atomic_fetch_add = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr, std::uint64_t add) {
			wr_atomic(qp, rkey, addr, true, add, 0);
		};
		if constexpr (Device::has_atomic_write)
			ex.wr_atomic_write = wr_atomic_write;
		ex.wr_local_inv = wr_local_inv;
		ex.wr_bind_mw = [](ibv_qp_ex *qp, ibv_mw *mw, std::uint32_t rkey, const ibv_mw_bind_info *info) {
			Object &object = self(qp);
			Request *wr = build(object);
			if (wr && !are_of_one_context(object, *mw, *info))
				note_error(object, EINVAL);
			else if (wr)
				set_bind(*wr, object.batch_rules.qpn, *mw, rkey, *info);
		};
	}

	static void set_data_setters(ibv_qp_ex &ex)
	{
		ex.wr_set_sge = [](ibv_qp_ex *qp, std::uint32_t lkey, std::uint64_t addr, std::uint32_t length) {
			Object &object = self(qp);
			const ibv_sge sge{addr, length, lkey};
			if (object.building)
				note_error(object, set_sges(object, *object.building, &sge, 1));
		};
		ex.wr_set_sge_list = [](ibv_qp_ex *qp, std::size_t count, const ibv_sge *list) {
			Object &object = self(qp);
			if (object.building)
				note_error(object, set_sges(object, *object.building, list, count));
		};
		ex.wr_set_inline_data = [](ibv_qp_ex *qp, void *addr, std::size_t length) {
			Object &object = self(qp);
			const ibv_data_buf buffer{addr, length};
			if (object.building)
				note_error(object, set_inline(object, *object.building, &buffer, 1));
		};
		ex.wr_set_inline_data_list = [](ibv_qp_ex *qp, std::size_t count, const ibv_data_buf *list) {
			Object &object = self(qp);
			if (object.building)
				note_error(object, set_inline(object, *object.building, list, count));
		};
	}

	static Request *build_prism(prismdv_qp_ex *dv, prism_op op, std::uint32_t rkey, std::uint64_t addr)
	{
		Request *wr = build(self(dv));
		if (wr)
			begin_prism(*wr, op, rkey, addr);
		return wr;
	}

	/** Returns the request under construction, if PRISM setters apply to it. */
	static Request *building_prism(Object &object)
	{
		Request *wr = object.building;
		if (wr && wr->kind != SendKind::prism) {
			note_error(object, EINVAL);
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
			note_error(object, EINVAL);
		wr->prism.flags |= wire_flags(flags);
		return wr;
	}

	static void wr_cas(prismdv_qp_ex *dv, std::uint32_t rkey, std::uint64_t addr, const prismdv_cas *cas)
	{
		Object &object = self(dv);
		Request *wr = build_prism(dv, PRISM_CAS, rkey, addr);
		if (wr)
			note_error(object, set_operands(*wr, Device::queue(object).operands(*wr), *cas));
	}

	static void set_prism_builders(prismdv_qp_ex &dv)
	{
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

	/** Makes the checks of ibv_bind_mw() itself; posting such a request would end the connection. */
	static int check_bind(const Object &object, const ibv_mw &mw, const ibv_mw_bind_info &info)
	{
		if (!are_of_one_context(object, mw, info))
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
		begin(object);
		const PostingRules rules = Device::rules(object);
		int error = Device::may_post(object) ? 0 : EINVAL;
		for (; wr && !error; wr = wr->next) {
			Request *slot = next_slot(object);
			error = slot ? translate(object, rules, *slot, *wr) : ENOMEM;
			if (error)
				break;
			fill(object);
		}
		if (error)
			*bad = wr;
		const int refused = submit(object, lock);
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
		begin(object);
		Request *wr = next_slot(object);
		if (!wr)
			return ENOMEM;
		wr->wr_id = bind->wr_id;
		set_flags(Device::rules(object), *wr, bind->send_flags);
		set_bind(*wr, 0, *mw, new_key, bind->bind_info);
		fill(object);
		mw->rkey = new_key;
		return submit(object, lock);
	}

	/** Fills in the builders, for IBV_QP_INIT_ATTR_SEND_OPS_FLAGS. Call only if can_mark_extended(). */
	static void set_send_ops(Object &object)
	{
		ibv_qp_ex &ex = object.base.qp_ex;
		ex.wr_start = wr_start;
		ex.wr_complete = wr_complete;
		ex.wr_abort = wr_abort;
		set_standard_builders(ex);
		set_data_setters(ex);
		object.dv.owner = &object;
		set_prism_builders(object.dv.base);
		mark_extended(object.base);
		object.has_send_ops = true;
	}
};

} // namespace prism
