/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The server's end of a connection whose lanes lock objects by calls. A request's detail is the number of its lane,
 * below the number of calls at once that the client has announced; a response's is its LockResult.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rpc/call_handler.hpp"
#include "rpc/protocol/header.hpp"
#include "tx/transaction/key_set.hpp"
#include "tx_calls/body.hpp"
#include "tx_calls/lock_result.hpp"

namespace prism::tx
{

inline constexpr const char *too_short = "shorter than what the header announces";
inline constexpr const char *too_long = "longer than what the header announces";

/** Counter of a server's sessions. Each session adds to it, from its own thread. */
class Counter
{
public:
	void add(std::uint64_t number = 1) noexcept { value_.fetch_add(number, std::memory_order_relaxed); }
	[[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
	std::atomic<std::uint64_t> value_{0};
};

struct LockCounters {
	Counter conflicts; /* calls that were refused */
	Counter abandoned; /* locks released because their connection ended */
};

/** A connection and its lanes' locks in a @p Table, which has a `void release(const Lock &)`. */
template <typename Table, typename Lock>
class LaneSession : public rpc::CallSession
{
public:
	LaneSession(Table &table, LockCounters &counters, std::uint32_t lanes)
		: table_(table), lock_counters_(counters), lanes_(lanes)
	{
		for (Locks &locks : lanes_)
			locks.reserve(max_transaction_keys);
	}

	~LaneSession() override
	{
		for (Locks &locks : lanes_) {
			lock_counters_.abandoned.add(locks.size());
			release(locks);
		}
	}

	const char *handle(
		std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept final
	{
		rpc::MessageHeader header;
		if (const char *wrong = header.parse_request(request))
			return wrong;
		if (header.detail >= lanes_.size())
			return "a lane beyond what was announced";
		Request call{header.call, header.size, BodyReader(request.subspan(rpc::message_header_size)),
			lanes_[header.detail]};
		Answer answer{LockResult::ok, 0, BodyWriter(response.data() + rpc::message_header_size)};
		if (const char *wrong = execute(call, answer))
			return wrong;
		if (!call.body.empty())
			return too_long;
		rpc::MessageHeader{header.call, static_cast<std::uint16_t>(answer.result), answer.items, header.id}
			.serialize_response(response.data());
		size = static_cast<std::uint32_t>(rpc::message_header_size + answer.body.size());
		return nullptr;
	}

protected:
	using Locks = std::vector<Lock>;
	struct Request {
		std::uint8_t call;
		std::uint32_t items; /* as the client says, not checked */
		BodyReader body;
		Locks &locks; /* of its lane */
	};
	struct Answer {
		LockResult result;
		std::uint32_t items;
		BodyWriter body;
	};

	/**
	 * Executes a call and reads all of the request. Returns null, or what is wrong with it: then the connection
	 * ends.
	 */
	virtual const char *execute(Request &request, Answer &answer) noexcept = 0;

	void release(Locks &locks) noexcept
	{
		for (const Lock &lock : locks)
			table_.release(lock);
		locks.clear();
	}

	/** Releases all that the lane holds, and reduces the answer to @p result. */
	void refuse(Locks &locks, Answer &answer, LockResult result) noexcept
	{
		lock_counters_.conflicts.add();
		release(locks);
		answer = {result, 0, BodyWriter(answer.body.start())};
	}

	Table &table_;

private:
	LockCounters &lock_counters_;
	std::vector<Locks> lanes_;
};

} // namespace prism::tx
