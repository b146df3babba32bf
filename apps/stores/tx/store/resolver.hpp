/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <map>

#include "tx/store/requests.hpp"

namespace prism::tx
{

/** Returns 0, or the errno that a transaction gets from @p completion. */
int errno_of(const Completion &completion) noexcept;

/**
 * Returns the CAS that ends an aborted transaction on a cell: it raises the version to @p timestamp and leaves the
 * object.
 */
Cas bump(const Timestamp &timestamp) noexcept;
/** Returns the CAS that installs the version of a log entry: the data is loaded from there. */
Cas install(const Timestamp &timestamp) noexcept;
/** Returns the CAS that decides about @p timestamp, unless that is decided already. */
Cas decide(const Timestamp &timestamp, std::uint64_t verdict) noexcept;

/** Registered memory for the answers to a resolver. */
struct ResolverMemory {
	LogPlace place; /* the place that is searched for an entry */
	LogPlace log;   /* the place that is cleared */
	Cell cell;
	Decision decision;
	Announcement cleared;
};

/** State, on the surviving shards, of a transaction whose decision was lost with its shard. */
struct Doubt {
	bool open = false;      /**< a cell is prepared, and nothing was done to it */
	bool installed = false; /**< it was committed: a cell has what it wrote */
	bool unclear = false;   /**< a cell was ended, one way or the other */
};
using Doubts = std::map<Timestamp, Doubt>;

/** Ends transactions that others have begun and left. One at a time. */
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
	 * then installs or bumps the cell as decided. Returns 0, or errno: EHOSTUNREACH (the shard, or the one that has
	 * the decision, is gone), EBADMSG (an impossible timestamp).
	 */
	apps::Task<int> resolve(Timestamp who, std::size_t shard, std::uint64_t cell);

	/**
	 * Decides that transaction @p who is aborted, unless it is decided already. @p verdict: of Decision; 0: the
	 * transaction is over, and nothing of it is left. Returns 0 or errno, as above.
	 */
	apps::Task<int> decide_aborted(Timestamp who, std::uint64_t &verdict);
	/**
	 * Ends transaction @p who, whose only write is to @p cell of @p shard, if it has not ended. Its own requests
	 * there must not be executed any more. @p erases: it leaves no object. @p verdict: of Decision; 0: the cell was
	 * written since, and the outcome is unknown. Returns 0 or errno, as above.
	 */
	apps::Task<int> conclude(
		Timestamp who, std::size_t shard, std::uint64_t cell, bool erases, std::uint64_t &verdict);
	/**
	 * Ends what an earlier client has left in the log @p place of @p shard, and clears it. @p clock observes all
	 * timestamps there; sets @p cleared if there was anything. Returns 0 or errno, as above.
	 */
	apps::Task<int> clear(std::size_t shard, std::uint32_t place, LogicalClock &clock, bool &cleared);
	/**
	 * Ends what a client that may be alive has prepared on @p shard, as far as the log @p place lists it. Clears
	 * nothing. Returns 0 or errno, as above.
	 */
	apps::Task<int> end_place(std::size_t shard, std::uint32_t place);
	/**
	 * Sets @p found if the log @p place of @p shard lists a transaction that was to be decided on a shard to which
	 * there is no connection. Returns 0 or errno, as above.
	 */
	apps::Task<int> look_for_lost_home(std::size_t shard, std::uint32_t place, bool &found);
	/**
	 * Adds to @p doubts the transactions in the logs of @p shard that were to be decided on shard @p home. Returns
	 * 0 or errno.
	 */
	apps::Task<int> survey(std::size_t shard, std::size_t home, Doubts &doubts);
	/**
	 * Decides the open transactions of @p doubts on shard @p home, which has come back empty: committed if
	 * installed anywhere. Returns 0 or errno; ENOTRECOVERABLE if nothing shows how one of them was decided.
	 */
	apps::Task<int> settle(std::size_t home, const Doubts &doubts);

	/** As clear(), for @p places places of a client, from @p first on. */
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
