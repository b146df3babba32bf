/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The builders of ibv_qp_ex: a batch of requests between ibv_wr_start() and ibv_wr_complete(). */
#pragma once

#include <cerrno>
#include <cstdint>

#include "conversions.hpp"
#include "posting.hpp"
#include "qp_mark.hpp"

namespace prism
{

/** Builders of @p Device, which posting.hpp describes. */
template <typename Device>
class QpExBuilders
{
	using Object = typename Device::Object;
	using Request = typename Device::Request;
	using Slots = SendSlots<Device>;

	static Object &self(ibv_qp_ex *qp) { return *to_object<Object>(qp); }

	static Request *build(ibv_qp_ex *ex) { return build(self(ex)); }

	static void wr_start(ibv_qp_ex *ex)
	{
		Object &object = self(ex);
		auto lock = Device::hold(object);
		Slots::begin(object);
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
		return Slots::submit(object, lock);
	}

	static void wr_abort(ibv_qp_ex *ex)
	{
		Object &object = self(ex);
		[[maybe_unused]] const auto lock = Device::resume(object);
		object.building = nullptr;
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
		note_error(object, Slots::set_inline(object, *wr, &buffer, 1, sizeof(std::uint64_t)));
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
			if (wr && !are_of_one_context(object.base.qp, *mw, *info))
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
				note_error(object, Slots::set_sges(object, *object.building, &sge, 1));
		};
		ex.wr_set_sge_list = [](ibv_qp_ex *qp, std::size_t count, const ibv_sge *list) {
			Object &object = self(qp);
			if (object.building)
				note_error(object, Slots::set_sges(object, *object.building, list, count));
		};
		ex.wr_set_inline_data = [](ibv_qp_ex *qp, void *addr, std::size_t length) {
			Object &object = self(qp);
			const ibv_data_buf buffer{addr, length};
			if (object.building)
				note_error(object, Slots::set_inline(object, *object.building, &buffer, 1));
		};
		ex.wr_set_inline_data_list = [](ibv_qp_ex *qp, std::size_t count, const ibv_data_buf *list) {
			Object &object = self(qp);
			if (object.building)
				note_error(object, Slots::set_inline(object, *object.building, list, count));
		};
	}

public:
	/** Returns a new slot for the builder that is being called; nullptr after an error in this batch. */
	static Request *build(Object &object)
	{
		ibv_qp_ex &ex = object.base.qp_ex;
		object.building = nullptr;
		if (object.batch_error)
			return nullptr;
		Request *wr = Slots::next_slot(object);
		if (!wr) {
			object.batch_error = ENOMEM;
			return nullptr;
		}
		wr->wr_id = ex.wr_id;
		set_flags(object.batch_rules, *wr, ex.wr_flags);
		Slots::fill(object);
		return object.building = wr;
	}

	static void note_error(Object &object, int error)
	{
		if (error && !object.batch_error)
			object.batch_error = error;
	}

	/** Fills in the builders, for IBV_QP_INIT_ATTR_SEND_OPS_FLAGS. Call only if can_mark_extended(). */
	static void install(Object &object)
	{
		ibv_qp_ex &ex = object.base.qp_ex;
		ex.wr_start = wr_start;
		ex.wr_complete = wr_complete;
		ex.wr_abort = wr_abort;
		set_standard_builders(ex);
		set_data_setters(ex);
		mark_extended(object.base);
		object.has_send_ops = true;
	}
};

} // namespace prism
