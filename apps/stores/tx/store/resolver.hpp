/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <map>

#include "tx/store/requests.hpp"

namespace prism::tx
{

/** 0, or what it means for a transaction that @p completion has failed. */
int errno_of(const Completion &completion) noexcept;

/** The CAS that ends an aborted transaction on a cell: its version is as late as @p timestamp, the object stays. */
Cas bump(const Timestamp &timestamp) noexcept;
/** The CAS that installs what a log entry has: the data is loaded from there. */
Cas install(const Timestamp &timestamp) noexcept;
/** The CAS that decides about @p timestamp, unless that is decided already. */
Cas decide(const Timestamp &timestamp, std::uint64_t verdict) noexcept;

/** Registered memory of a resolver: where its answers go. */
struct ResolverMemory {
	LogPlace place; /* that an entry is looked for in */
	LogPlace log;   /* that is cleared */
	Cell cell;
	Decision decision;
	Announcement cleared;
};

/** What the surviving shards say of a transaction whose decision was lost with its shard. */
struct Doubt {
	bool open = false;      /**< a cell is prepared, and nothing was done to it */
	bool installed = false; /**< it was committed: a cell has what it wrote */
	bool unclear = false;   /**< a cell was ended, one way or the other */
};
using Doubts = std::map<Timestamp, Doubt>;

/** Ends what others have begun, and left. One at a time. */
class Resolver
{
public:
	/** @p number: of its request. */
	Resolver(Carrier &carrier, Requests &requests, ResolverMemory &memory, std::uint32_t lkey,
		std::uint16_t number) noexcept
		: carrier_(carrier), requests_(requests), memory_(memory), lkey_(lkey)
	{
		request_.number = number;
	}

	/**
	 * Resolves transaction @p who, which has prepared @p cell of @p shard: aborts it unless it has been decided,
	 * then installs or bumps the cell as decided. 0, or errno: EHOSTUNREACH (the shard, or
	 * the one that has the decision, is gone), EBADMSG (a timestamp that cannot be).
	 */
	apps::Task<int> resolve(Timestamp who, std::size_t shard, std::uint64_t cell);

	/**
	 * Decides that transaction @p who is aborted, unless that is decided already. @p verdict: of Decision; 0: the
	 * transaction is over, with all that it has left. 0 or errno, as above.
	 */
	apps::Task<int> decide_aborted(Timestamp who, std::uint64_t &verdict);
	/**
	 * Ends transaction @p who, whose only write is to @p cell of @p shard, if it has not ended. Of its own requests
	 * there none is executed any more. @p erases: it leaves no object. @p verdict: of Decision; 0: the cell was
	 * written since, and nothing tells. 0 or errno, as above.
	 */
	apps::Task<int> conclude(
		Timestamp who, std::size_t shard, std::uint64_t cell, bool erases, std::uint64_t &verdict);
	/**
	 * Ends what an earlier client has left in the log @p place of @p shard, and clears it. @p clock learns of all
	 * timestamps there, @p cleared whether there were any. 0 or errno, as above.
	 */
	apps::Task<int> clear(std::size_t shard, std::uint32_t place, LogicalClock &clock, bool &cleared);
	/**
	 * Ends what a client that may be alive has prepared on @p shard, as far as the log @p place lists it. Clears
	 * nothing. 0 or errno, as above.
	 */
	apps::Task<int> end_place(std::size_t shard, std::uint32_t place);
	/**
	 * Sets @p found if the log @p place of @p shard lists what was to be decided on a shard that there is no
	 * connection to. 0 or errno, as above.
	 */
	apps::Task<int> look_for_lost_home(std::size_t shard, std::uint32_t place, bool &found);
	/** Adds to @p doubts what the logs of @p shard list that was to be decided on shard @p home. 0 or errno. */
	apps::Task<int> survey(std::size_t shard, std::size_t home, Doubts &doubts);
	/**
	 * Decides on shard @p home, which has come back empty, what @p doubts has open: committed if it is installed
	 * anywhere. 0 or errno; ENOTRECOVERABLE: nothing tells how one of them was decided.
	 */
	apps::Task<int> settle(std::size_t home, const Doubts &doubts);

	/** The same as clear() for all @p places of a client, from @p first on. */
	apps::Task<int> clear_all(
		std::size_t shard, std::uint32_t first, std::uint32_t places, LogicalClock &clock, bool &cleared);

	[[nodiscard]] Request &request() noexcept { return request_; }

private:
	apps::Task<int> post(Request &request);
	apps::Task<int> read_log(std::size_t shard, std::uint32_t place);
	apps::Task<int> end_entry(std::size_t shard, const LogEntry &entry);
	apps::Task<int> survey_entry(std::size_t shard, const LogEntry &entry, Doubts &doubts);
	apps::Task<int> clear_entry(
		std::size_t shard, std::uint32_t place, std::uint32_t number, const LogEntry &entry);
	apps::Task<int> install_from_log(Timestamp who, std::size_t shard, std::uint64_t cell);

	template <typename T>
	[[nodiscard]] LocalSlice slice(const T &part) const noexcept
	{
		return {reinterpret_cast<std::uintptr_t>(&part), sizeof(part), lkey_};
	}

	Carrier &carrier_;
	Requests &requests_;
	ResolverMemory &memory_;
	const std::uint32_t lkey_;
	Request request_;
};

} // namespace prism::tx
