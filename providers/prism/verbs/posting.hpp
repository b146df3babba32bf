/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Slots of a send queue that are being posted. All devices share this and the styles of posting above it: lists of work
 * requests (post_send.hpp), and the builders of ibv_qp_ex (qp_ex_builders.hpp) and prismdv_qp_ex (prism_builders.hpp).
 * What differs between devices is a @p Device with these static members:
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
#include <new>
#include <span>

#include "rdma_core_abi.h"
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

/** Fills slots behind the tail of a send queue. */
template <typename Device>
class SendSlots
{
	using Object = typename Device::Object;
	using Request = typename Device::Request;

	static const void *address_of(const ibv_data_buf &buffer) { return buffer.addr; }
	static const void *address_of(const ibv_sge &sge) { return reinterpret_cast<const void *>(sge.addr); }

public:
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
};

} // namespace prism
