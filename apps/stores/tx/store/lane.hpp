/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the parts of a transaction have in common: the lane that it runs on, and the client of that. */
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

/** Where the lanes of a client get registered memory from when they need more. */
class RegisteredMemory
{
public:
	virtual ~RegisteredMemory() = default;
	/**
	 * Takes @p bytes, cleared and aligned to 64, under @p lkey; they stay until this object is gone. 0, ENOMEM
	 * (also if the machine has no more), or what the device says.
	 */
	virtual int take(std::size_t bytes, std::byte *&memory, std::uint32_t &lkey) noexcept = 0;
};

/** What all lanes of a client have in common. Outlives them. */
struct ClientState {
	StoreView store;
	std::uint32_t incarnation = 0;
	LogicalClock clock;
	/** How long a prepared writer may block this client before it resolves the writer's transaction. */
	Time patience = std::chrono::milliseconds(10);
	std::uint64_t serial = 0;                /**< of the commits begun so far */
	std::vector<std::uint32_t> spare_places; /**< in the logs: of no lane */
	std::vector<std::uint32_t> left_places;  /**< likewise, with something in them: to be cleared */
	RegisteredMemory *memory = nullptr;      /**< not null once there are lanes */
};

/** What was done, by one lane. */
struct TransactionFigures {
	std::uint64_t one_chain = 0; /**< committed in one chain, a round trip */
	std::uint64_t prepared = 0;  /**< committed, prepared before */
	std::uint64_t read_only = 0; /**< committed, without a change */
	std::uint64_t resolved = 0;  /**< transactions of others that were ended */
	std::uint64_t found_out = 0; /**< whose outcome a later connection has told */
	std::uint64_t no_buffer = 0; /**< attempts that found none */
	std::uint64_t requests = 0;  /**< PRISM requests posted */
};

/** A lane: where its requests go, and what it remembers from one transaction to the next. One thread. */
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
		bool met = true; /**< by the last attempt too */
	};

	void post(Request &request) noexcept
	{
		figures.requests += request.chain.size();
		requests.post(request);
		retired |= leaves_traces && request.completion.failed();
	}

	/** Writer @p who blocks @p cell of @p shard, from now on if this was not known already. */
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

	/** An attempt is over. Returns the writers that have blocked cells for too long. Forgets these, and those that
	 * block no more. */
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
	std::uint32_t place; /**< in the logs of all shards; no_place: it waits for one */
	const std::uint32_t lkey;

	std::vector<Blocker> blockers;
	/** So many commits to come read cells beside objects. */
	unsigned careful = 0;
	bool again = false; /**< the attempt before met others: this one validates before it stages */
	/** So many transactions of one cell to come are expected to write nothing: the cell is read with the object. */
	unsigned reads_alone = 0;
	bool leaves_traces = false; /**< what is posted now prepares or installs something */
	bool retired = false; /**< what it has left on a shard needs its log: the next commit takes another place */
	std::uint32_t round_trips = 0; /**< of the attempt */
	TransactionFigures figures;
};

} // namespace prism::tx
