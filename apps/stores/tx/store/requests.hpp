/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The requests of a lane to shards, over any carrier: a client with its queue pairs, or the simulator. */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>
#include <prism/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tx/store/layout.hpp"
#include "tx/transaction/client.hpp"

namespace prism::tx
{

/** Buffers of one size. */
struct SizeClass {
	std::uint32_t free_list = 0;
	std::uint32_t buffer_size = 0; /**< bytes */
};

/** A shard as one of its connections knows it. */
struct ShardView {
	RemoteRegion memory; /**< cells, logs and buffers, under one key */
	ShardGeometry geometry;
	std::vector<SizeClass> classes; /**< by ascending buffer size; never empty */
	std::uint64_t connection = 0;   /**< number, of those of one client */
	bool stopping = false;          /**< its server is stopping: begun commits should end, no others begin */

	[[nodiscard]] RemoteAddress prepared(std::uint64_t cell) const noexcept
	{
		return memory.at(geometry.cell_offset(cell) + offsetof(Cell, prepared));
	}
	[[nodiscard]] RemoteAddress version(std::uint64_t cell) const noexcept
	{
		return memory.at(geometry.cell_offset(cell) + offsetof(Cell, version));
	}
	[[nodiscard]] RemoteAddress place(std::uint32_t place) const noexcept
	{
		return memory.at(geometry.place_offset(place));
	}
	[[nodiscard]] RemoteAddress entry(std::uint32_t place, std::uint32_t number) const noexcept
	{
		return this->place(place) + offsetof(LogPlace, entries) + number * sizeof(LogEntry);
	}
};

/** Settings that all shards of a store share. */
struct StoreView {
	bool numbered = false;    /**< keys are numbers of 8 bytes in host order, and each has a cell of its own */
	bool as_in_paper = false; /**< the paper's commit, which a client's death leaves half done */
	std::array<unsigned char, 16> secret{}; /**< key of the hash that finds cells */
	std::uint32_t max_key_size = 0;         /**< bytes */
	std::uint32_t max_value_size = 0;       /**< bytes */
};

/** A chain for one shard, and its result. */
struct Request {
	std::uint16_t number = 0; /* in its lane; constant */
	bool under_way = false;
	bool continues = false; /* it depends on the request posted before: nothing may come in between */
	std::size_t shard = 0;
	Chain chain;
	Completion completion; /* of the last operation of the chain */

	/** Begins an empty chain in place: assigning one would copy all its room. */
	Chain &begin(std::size_t to, bool depends = false) noexcept
	{
		shard = to;
		continues = depends;
		return *std::construct_at(&chain);
	}
};

/** The connections to the shards, as transactions need them. */
class Carrier
{
public:
	virtual ~Carrier() = default;

	[[nodiscard]] virtual Time now() const noexcept = 0;
	/** Returns the client's clock for timestamps, in ns; it may jump. */
	[[nodiscard]] virtual std::uint64_t clock() const noexcept = 0;

	[[nodiscard]] virtual std::size_t shards() const noexcept = 0;
	/** Returns the view of the connection to @p shard; null if there is no connection any more. */
	[[nodiscard]] virtual const ShardView *view(std::size_t shard) const noexcept = 0;
	/** Returns the geometry of @p shard, also while there is no connection; null if there was none yet. */
	[[nodiscard]] virtual const ShardGeometry *geometry(std::size_t shard) const noexcept
	{
		const ShardView *const connected = view(shard);
		return connected ? &connected->geometry : nullptr;
	}
	/**
	 * True if there is no connection to @p shard, but one is expected soon. Then nothing posted over the last
	 * connection is executed any more.
	 */
	[[nodiscard]] virtual bool may_come_back(std::size_t /*shard*/) const noexcept { return false; }

	/**
	 * Posts @p request of @p lane; when it has ended, Requests::ended() is called. Requests to one shard are
	 * executed in the order of their posting. A request that continues another one of the lane, posted just before,
	 * follows that directly: not even a report of freed buffers comes in between, as that would hide the result of
	 * the other one. Posting may be put off until others can go with it. Returns 0, or an errno if there is no
	 * connection.
	 */
	virtual int post(std::uint32_t lane, Request &request) noexcept = 0;

	/** Notes that the buffer at @p address of @p shard is unreachable and must be reported some time. */
	virtual void release(std::size_t shard, std::uint64_t address) noexcept = 0;

	/** Reports all unreported buffers to @p shard, which has run out of them. */
	virtual void report_now(std::size_t shard) noexcept = 0;
};

/** The requests of a lane that are under way. */
class Requests
{
public:
	Requests(Carrier &carrier, Waiter &waiter, std::uint32_t lane) noexcept
		: carrier_(carrier), waiter_(waiter), lane_(lane)
	{
	}

	void post(Request &request) noexcept
	{
		request.completion = {};
		if (carrier_.post(lane_, request)) {
			request.completion.error = IBV_WC_GENERAL_ERR;
			return;
		}
		request.under_way = true;
		under_way_++;
	}

	/** Ends @p request with @p completion. Returns true if it was the last: then the lane must be resumed. */
	bool ended(Request &request, const Completion &completion) noexcept
	{
		request.under_way = false;
		request.completion = completion;
		return --under_way_ == 0;
	}

	[[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }

	/** co_await: waits until all have ended. */
	[[nodiscard]] Event all_ended() noexcept { return {waiter_, Time::max(), under_way_ == 0}; }

private:
	Carrier &carrier_;
	Waiter &waiter_;
	const std::uint32_t lane_;
	std::size_t under_way_ = 0;
};

} // namespace prism::tx
