/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Epochs, and a replica's reactions to those of its peers, independent of the transport: replicas and the simulator run
 * this. docs/prism-rs.md, "Replicas that come back", has the purpose of epochs.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace prism::rs
{

/** Random bits at the end of an epoch, after its counter: two repairs that begin at once differ in them. */
constexpr unsigned epoch_random_bits = 24;

constexpr std::uint64_t epoch_counter(std::uint64_t epoch) noexcept
{
	return epoch >> epoch_random_bits;
}

/** The epoch of a new volume. */
constexpr std::uint64_t first_epoch = std::uint64_t{1} << epoch_random_bits;
/** The largest counter of an epoch. */
constexpr std::uint64_t last_epoch_counter = epoch_counter(~std::uint64_t{0});
/**
 * Most steps that one client can raise the counter of a replica at a time: the most repairs that a replica may have
 * missed. A replica that has missed more catches up in several connections, while a peer that brings the largest
 * possible epoch needs 2^36 of them to use all epochs up.
 */
constexpr std::uint64_t longest_epoch_step = 16;

/** Returns an epoch after @p epoch, with 24 of the bits of @p random; nothing if there is none. */
std::optional<std::uint64_t> next_epoch(std::uint64_t epoch, std::uint64_t random) noexcept;

/** Time of silence after which a repair is taken for dead. */
constexpr std::chrono::nanoseconds repair_lease = std::chrono::seconds(2);

/**
 * Turns of the repairs of different replicas. A replica that serves gives the turn to one at a time, so that none
 * begins an epoch while another one copies. One thread.
 */
class RepairTurn
{
public:
	explicit RepairTurn(std::chrono::nanoseconds lease) noexcept : lease_(lease) {}

	/**
	 * Takes the turn for repair @p client, or keeps it; @p now is of any clock. Returns 0, or EBUSY if another one
	 * has it.
	 */
	int take(std::uint64_t client, std::chrono::nanoseconds now) noexcept;
	/** Ends the turn of repair @p client. */
	void give_back(std::uint64_t client) noexcept;

private:
	const std::chrono::nanoseconds lease_;
	std::uint64_t holder_ = 0; /* 0: nobody */
	std::chrono::nanoseconds until_{};
};

/**
 * The epoch of one replica, its serving state, and its repair. One thread calls its functions, except the getters and
 * serve_as_founder(), which any thread may call. Times are of any clock.
 */
class EpochState
{
public:
	/** Answer to a peer's epoch. */
	struct Answer {
		int error = 0;      /**< errno: the peer is refused */
		bool drops = false; /**< true if all connections must end first, except that of the replica's repair */
	};

	/** @p serves: true if nothing was ever written to the volume. Otherwise the replica has lost its memory. */
	explicit EpochState(bool serves, std::chrono::nanoseconds lease = repair_lease) noexcept
		: serving_(serves), epoch_(serves ? first_epoch : 0), lease_(lease)
	{
	}

	/** True if the replica's answers to reads count. */
	[[nodiscard]] bool serving() const noexcept { return serving_; }
	/** Returns the epoch; 0 if there is none yet. */
	[[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

	/** Begins to serve, as the volume is founded. */
	void serve_as_founder() noexcept;

	/**
	 * Handles a client that connects and knows @p epoch. If the replica serves and @p epoch is newer, it becomes
	 * the replica's, as far as one step goes. Error: ENOTRECOVERABLE (it has lost its memory, and so its epoch: it
	 * cannot tell newer ones from older, and takes one only from its repair).
	 */
	Answer client_connects(std::uint64_t epoch) noexcept;

	/**
	 * Handles a repair that connects, as connection @p number. It replaces an earlier repair whose connection is
	 * closed (not @p is_open), or that has been silent for the lease. Errors: EALREADY (the replica serves), EBUSY
	 * (another repair is under way).
	 */
	Answer repair_connects(std::uint32_t number, bool is_open, std::chrono::nanoseconds now) noexcept;
	/**
	 * Notes that the repair of connection @p number continues. Returns 0, or EPERM if it does not repair this
	 * replica.
	 */
	int repair_goes_on(std::uint32_t number, std::chrono::nanoseconds now) noexcept;
	/** Returns the number of the latest repair's connection; 0 if there was none. */
	[[nodiscard]] std::uint32_t repairer() const noexcept { return repairer_; }

	/**
	 * Begins the @p epoch of the repair of connection @p number. Errors: EPERM (it does not repair this replica),
	 * EOVERFLOW (no epoch, or one that no other could follow).
	 */
	Answer begin_epoch(std::uint32_t number, std::uint64_t epoch) noexcept;
	/**
	 * Checks that connection @p number can end its repair, of @p epoch. Errors: EPERM, ESTALE (of another epoch).
	 */
	[[nodiscard]] int check_end(std::uint32_t number, std::uint64_t epoch) const noexcept;
	/** Ends the repair: the replica serves. The caller ends all connections but the repair's. */
	void end_repair() noexcept { serving_ = true; }

private:
	std::atomic<bool> serving_;
	std::atomic<std::uint64_t> epoch_;
	const std::chrono::nanoseconds lease_;
	std::uint32_t repairer_ = 0;
	std::chrono::nanoseconds heard_{}; /* time of its last message */
};

} // namespace prism::rs
