/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device of a home in plain memory: executes chains of CAS, READ and ALLOCATE one request at a time, so that others
 * may come in between. Follows docs/semantics.md as far as the protocols of GAM use it; the rest is a fault.
 */
#pragma once

#include <prism/chain.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

namespace prism::gam::simulated
{

/** A request of a chain, as the builders of a queue pair receive it. */
struct Request {
	enum class Kind : std::uint8_t {
		read,
		cas,
		allocate,
		unknown
	};

	Kind kind = Kind::unknown;
	prism::RemoteAddress target, aux;
	std::uint32_t flags = 0, free_list = 0, tag = 0;
	prism::LocalSlice local, result;
	std::uint32_t cas_length = 0;
	std::array<std::byte, 32> compare{}, swap{}, compare_mask{}, swap_mask{};
};

/** A recorder of the requests that chains post. One at a time in a thread. */
class Recorder
{
public:
	static std::vector<Request> requests_of(const prism::Chain &chain)
	{
		Recorder recorder;
		if (chain.post(&recorder.qp_, &recorder.prism_, 0))
			return {};
		return recorder.requests_;
	}

private:
	Recorder()
	{
		current_ = this;
		qp_.wr_start = [](ibv_qp_ex *) {};
		qp_.wr_complete = [](ibv_qp_ex *) { return 0; };
		qp_.wr_set_sge = [](ibv_qp_ex *, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
			last().local = {address, length, lkey};
		};
		qp_.wr_set_sge_list = [](ibv_qp_ex *, std::size_t, const ibv_sge *) {};
		prism_.wr_read = [](prismdv_qp_ex *, std::uint32_t rkey, std::uint64_t address) {
			add(Request::Kind::read).target = {address, rkey};
		};
		prism_.wr_cas = [](prismdv_qp_ex *, std::uint32_t rkey, std::uint64_t address,
					const prismdv_cas *operands) {
			Request &request = add(Request::Kind::cas);
			request.target = {address, rkey};
			request.cas_length = operands->length;
			std::memcpy(request.compare.data(), operands->compare, operands->length);
			std::memcpy(request.swap.data(), operands->swap, operands->length);
			std::memcpy(request.compare_mask.data(), operands->compare_mask, operands->length);
			std::memcpy(request.swap_mask.data(), operands->swap_mask, operands->length);
		};
		prism_.wr_allocate = [](prismdv_qp_ex *, std::uint32_t free_list, std::uint32_t tag) {
			Request &request = add(Request::Kind::allocate);
			request.free_list = free_list;
			request.tag = tag;
		};
		prism_.wr_set_flags = [](prismdv_qp_ex *, std::uint32_t flags) { last().flags |= flags; };
		prism_.wr_set_aux = [](prismdv_qp_ex *, std::uint32_t flags, std::uint32_t rkey, std::uint64_t address,
					    std::uint32_t) {
			last().flags |= flags;
			last().aux = {address, rkey};
		};
		prism_.wr_set_result = [](prismdv_qp_ex *, std::uint32_t lkey, std::uint64_t address) {
			last().result = {address, sizeof(std::uint64_t), lkey};
		};
	}

	static Request &add(Request::Kind kind)
	{
		current_->requests_.emplace_back().kind = kind;
		return last();
	}
	static Request &last() { return current_->requests_.back(); }

	static inline thread_local Recorder *current_ = nullptr;
	ibv_qp_ex qp_{};
	prismdv_qp_ex prism_{};
	std::vector<Request> requests_;
};

/** The responder's state of a queue pair. */
struct Responder {
	bool succeeded = true;
	bool failed = false; /**< a fault, or the peer was cut off: nothing more is executed */
};

/** The answer to a request, for the requester's memory. */
struct Answer {
	bool failed = false;
	std::uint32_t status = PRISMDV_STATUS_OK;
	std::vector<std::byte> bytes;
	prism::LocalSlice into;

	void deliver() const
	{
		if (!bytes.empty())
			std::memcpy(reinterpret_cast<void *>(into.address), bytes.data(), bytes.size());
	}
};

class OneSidedMemory
{
public:
	static constexpr std::uint32_t free_list = 7;

	/** Constructs a device whose addresses are those of @p bytes. */
	OneSidedMemory(std::span<std::byte> bytes, std::uint32_t rkey) : bytes_(bytes), rkey_(rkey) {}

	[[nodiscard]] prism::RemoteRegion region() const
	{
		return {reinterpret_cast<std::uint64_t>(bytes_.data()), bytes_.size(), rkey_};
	}

	Answer execute(const Request &request, Responder &responder)
	{
		Answer answer;
		if (responder.failed) {
			answer.failed = true;
			return answer;
		}
		answer.into = request.kind == Request::Kind::allocate ? request.result : request.local;
		if ((request.flags & PRISMDV_WR_CONDITIONAL) && !responder.succeeded)
			answer.status = PRISMDV_STATUS_SKIPPED;
		else if (!act(request, answer))
			answer.failed = responder.failed = true;
		if (request.kind == Request::Kind::allocate && answer.status != PRISMDV_STATUS_OK)
			answer.bytes.assign(sizeof(std::uint64_t), std::byte{0});
		responder.succeeded = answer.status == PRISMDV_STATUS_OK;
		return answer;
	}

	std::deque<std::uint64_t> free; /**< buffers in the free list */

private:
	[[nodiscard]] std::byte *at(prism::RemoteAddress place, std::size_t length) const
	{
		const bool inside = place.rkey == rkey_ && region().contains(place.address, length);
		return inside ? reinterpret_cast<std::byte *>(place.address) : nullptr;
	}

	/** Executes @p request. Returns false for a fault. */
	bool act(const Request &request, Answer &answer)
	{
		switch (request.kind) {
		case Request::Kind::read:
			return read(request, answer);
		case Request::Kind::cas:
			return cas(request, answer);
		case Request::Kind::allocate:
			return allocate(request, answer);
		default:
			return false;
		}
	}

	bool read(const Request &request, Answer &answer)
	{
		if ((request.flags & ~std::uint32_t{PRISMDV_WR_CONDITIONAL}) !=
			(PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED))
			return false;
		prismdv_bounded_ptr pointer;
		const std::byte *const place = at(request.target, sizeof(pointer));
		if (!place)
			return false;
		std::memcpy(&pointer, place, sizeof(pointer));
		if (!pointer.ptr) {
			answer.status = PRISMDV_STATUS_NULL_POINTER;
			return true;
		}
		const std::uint32_t length = std::min(request.local.length, pointer.bound);
		const std::byte *const target = at({pointer.ptr, request.target.rkey}, length);
		if (target)
			answer.bytes.assign(target, target + length);
		return target != nullptr;
	}

	bool cas(const Request &request, Answer &answer)
	{
		std::array<std::byte, 32> swap = request.swap;
		std::byte *const target = at(request.target, request.cas_length);
		if (!target || request.target.address % request.cas_length)
			return false;
		if (request.flags & PRISMDV_WR_DATA_INDIRECT) {
			const std::byte *const data = at(request.aux, request.cas_length);
			if (!data)
				return false;
			std::memcpy(swap.data(), data, request.cas_length);
		}
		const std::vector<std::byte> old(target, target + request.cas_length);
		bool holds = true;
		for (std::size_t i = 0; i < request.cas_length; i++)
			holds &= ((old[i] ^ request.compare[i]) & request.compare_mask[i]) == std::byte{0};
		for (std::size_t i = 0; holds && i < request.cas_length; i++)
			target[i] = (old[i] & ~request.swap_mask[i]) | (swap[i] & request.swap_mask[i]);
		answer.status = holds ? PRISMDV_STATUS_OK : PRISMDV_STATUS_CAS_MISS;
		if (request.local.length)
			answer.bytes = old;
		return true;
	}

	bool allocate(const Request &request, Answer &answer)
	{
		std::byte *const aux = at(request.aux, sizeof(prismdv_bounded_ptr));
		if (request.free_list != free_list || !aux || request.aux.address % sizeof(prismdv_bounded_ptr))
			return false;
		if (free.empty()) {
			answer.status = PRISMDV_STATUS_NO_BUFFER;
			return true;
		}
		const std::uint64_t buffer = free.front();
		free.pop_front();
		std::memcpy(reinterpret_cast<void *>(buffer), reinterpret_cast<const void *>(request.local.address),
			request.local.length);
		const prismdv_bounded_ptr pointer{buffer, request.local.length, request.tag};
		std::memcpy(aux, &pointer, sizeof(pointer));
		answer.bytes.resize(sizeof(buffer));
		std::memcpy(answer.bytes.data(), &buffer, sizeof(buffer));
		return true;
	}

	std::span<std::byte> bytes_;
	std::uint32_t rkey_;
};

} // namespace prism::gam::simulated
