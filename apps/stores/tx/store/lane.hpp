/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The state that the parts of a transaction share: the lane that it runs on, and the client of that. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "tx/store/requests.hpp"

namespace prism::tx
{

/** Source of more registered memory for the lanes of a client. */
class RegisteredMemory
{
public:
	virtual ~RegisteredMemory() = default;
	/**
	 * Takes @p bytes, cleared and aligned to 64, under @p lkey; they last as long as this object. Returns 0, ENOMEM
	 * (also if the machine has no more), or the device's error.
	 */
	virtual int take(std::size_t bytes, std::byte *&memory, std::uint32_t &lkey) noexcept = 0;
};

/** State that all lanes of a client share. Outlives them. */
struct ClientState {
	StoreView store;
	std::uint32_t incarnation = 0;
	LogicalClock clock;
	/** Time that a prepared writer may block this client before it resolves the writer's transaction. */
	Time patience = std::chrono::milliseconds(10);
	std::uint64_t serial = 0;                /**< number of commits begun so far */
	std::vector<std::uint32_t> spare_places; /**< places in the logs that no lane has */
	std::vector<std::uint32_t> left_places;  /**< likewise, but not empty: to be cleared */
	RegisteredMemory *memory = nullptr;      /**< not null once there are lanes */
};

/** Counters of one lane. */
struct TransactionFigures {
	std::uint64_t one_chain = 0; /**< committed in one chain, a round trip */
	std::uint64_t prepared = 0;  /**< committed after a separate preparation */
	std::uint64_t read_only = 0; /**< committed, without a change */
	std::uint64_t resolved = 0;  /**< transactions of others that this lane has ended */
	std::uint64_t found_out = 0; /**< transactions whose outcome was found out over a later connection */
	std::uint64_t no_buffer = 0; /**< attempts that found no buffer */
	std::uint64_t requests = 0;  /**< PRISM requests posted */
};

/** A lane: the carrier of its requests, and the state that it keeps from one transaction to the next. One thread. */
struct Lane {
	Lane(ClientState &its_client, Carrier &its_carrier, Waiter &its_waiter, std::uint32_t number,
		std::uint32_t place_in_logs, std::uint32_t local_key) noexcept
		: client(its_client), carrier(its_carrier), waiter(its_waiter),
		  requests(its_carrier, its_waiter, number), place(place_in_logs), lkey(local_key)
	{
	}
	Lane(const Lane &) = delete;
	Lane &operator=(const Lane &) = delete;

	/** A prepared writer that attempts have met. */
	struct Blocker {
		Timestamp who;
		std::size_t shard = 0;
		std::uint64_t cell = 0;
		Time since{};
		bool met = true; /**< met by the last attempt too */
	};

	void post(Request &request) noexcept
	{
		figures.requests += request.chain.size();
		requests.post(request);
		retired |= leaves_traces && request.completion.failed();
	}

	/** Notes that writer @p who blocks @p cell of @p shard, from now on if this was not known already. */
	void blocked_by(const Timestamp &who, std::size_t shard, std::uint64_t cell)
	{
		for (Blocker &blocker : blockers) {
			if (blocker.who != who || blocker.cell != cell || blocker.shard != shard)
				continue;
			blocker.met = true;
			return;
		}
		blockers.push_back({who, shard, cell, carrier.now()});
	}

	/**
	 * Ends an attempt. Returns the writers that have blocked cells for too long. Forgets these, and those that no
	 * longer block.
	 */
	std::vector<Blocker> take_overdue()
	{
		const auto is_overdue = [this](const Blocker &blocker) {
			return carrier.now() - blocker.since >= client.patience;
		};
		std::erase_if(blockers, [](const Blocker &blocker) { return !blocker.met; });
		std::vector<Blocker> overdue;
		std::ranges::copy_if(blockers, std::back_inserter(overdue), is_overdue);
		std::erase_if(blockers, is_overdue);
		for (Blocker &blocker : blockers)
			blocker.met = false;
		return overdue;
	}

	template <typename T>
	[[nodiscard]] LocalSlice slice(const T *from, std::size_t length) const noexcept
	{
		return slice(from, length, lkey);
	}
	template <typename T>
	[[nodiscard]] static LocalSlice slice(const T *from, std::size_t length, std::uint32_t key) noexcept
	{
		return {reinterpret_cast<std::uintptr_t>(from), static_cast<std::uint32_t>(length), key};
	}

	ClientState &client;
	Carrier &carrier;
	Waiter &waiter;
	Requests requests;
	static constexpr std::uint32_t no_place = std::numeric_limits<std::uint32_t>::max();
	std::uint32_t place; /**< in the logs of all shards; no_place: the lane waits for one */
	const std::uint32_t lkey;

	std::vector<Blocker> blockers;
	/** Number of commits to come that read cells beside objects. */
	unsigned careful = 0;
	bool again = false; /**< the previous attempt met others: this one validates before it stages */
	/**
	 * Number of transactions of one cell to come that are expected to write nothing: they read the cell with the
	 * object.
	 */
	unsigned reads_alone = 0;
	bool leaves_traces = false;    /**< the requests posted now prepare or install something */
	bool retired = false;          /**< others need the log that it has left: the next commit takes another place */
	std::uint32_t round_trips = 0; /**< of the attempt */
	TransactionFigures figures;
};

} // namespace prism::tx
