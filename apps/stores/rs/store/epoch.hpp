/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Epochs, and what a replica does with those that its peers bring, independent of the transport: replicas and the
 * simulator run it. docs/prism-rs.md, "Replicas that come back", says what epochs are for.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace prism::rs
{

/** An epoch is a counter, and behind it so many random bits, in which two repairs that begin at once differ. */
constexpr unsigned epoch_random_bits = 24;

constexpr std::uint64_t epoch_counter(std::uint64_t epoch) noexcept
{
	return epoch >> epoch_random_bits;
}

/** The epoch of a volume that is new. */
constexpr std::uint64_t first_epoch = std::uint64_t{1} << epoch_random_bits;
/** The largest counter of an epoch. */
constexpr std::uint64_t last_epoch_counter = epoch_counter(~std::uint64_t{0});
/**
 * How far one client can raise the counter of a replica at a time: by as many repairs as a replica may have missed. One
 * that has missed more gets there in several connections, while a peer that brings the largest epoch there is needs
 * 2^36 of them to use all epochs up.
 */
constexpr std::uint64_t longest_epoch_step = 16;

/** An epoch after @p epoch, with 24 of the bits of @p random; nothing: there is none. */
std::optional<std::uint64_t> next_epoch(std::uint64_t epoch, std::uint64_t random) noexcept;

/** A repair that says nothing for this time is taken for dead. */
constexpr std::chrono::nanoseconds repair_lease = std::chrono::seconds(2);

/**
 * Whose turn it is, among repairs of different replicas: a replica that serves gives it to one at a time, so that none
 * begins an epoch while another one copies. One thread.
 */
class RepairTurn
{
public:
	explicit RepairTurn(std::chrono::nanoseconds lease) noexcept : lease_(lease) {}

	/** Repair @p client wants the turn, or keeps it; @p now is of any clock. 0, or EBUSY: another one has it. */
	int take(std::uint64_t client, std::chrono::nanoseconds now) noexcept;
	/** Repair @p client has ended. */
	void give_back(std::uint64_t client) noexcept;

private:
	const std::chrono::nanoseconds lease_;
	std::uint64_t holder_ = 0; /* 0: nobody */
	std::chrono::nanoseconds until_{};
};

/**
 * The epoch of one replica, whether it serves, and who repairs it. One thread calls its functions, but the getters and
 * serve_as_founder(), which any may call. Times are of any clock.
 */
class EpochState
{
public:
	/** What somebody's epoch is answered with. */
	struct Answer {
		int error = 0;      /**< errno: it is refused */
		bool drops = false; /**< all connections end first, but the one that repairs the replica */
	};

	/** @p serves: nothing was ever written to the volume. If not, the replica has lost its memory. */
	explicit EpochState(bool serves, std::chrono::nanoseconds lease = repair_lease) noexcept
		: serving_(serves), epoch_(serves ? first_epoch : 0), lease_(lease)
	{
	}

	/** The replica's answers to reads count. */
	[[nodiscard]] bool serving() const noexcept { return serving_; }
	/** 0: none yet. */
	[[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

	/** The volume is founded. */
	void serve_as_founder() noexcept;

	/**
	 * A client connects that knows @p epoch. If the replica serves and that is newer, it becomes the replica's, as
	 * far as one step goes. Error: ENOTRECOVERABLE (it has lost its memory, and so its epoch: it cannot tell newer
	 * ones from older, and takes one from its repair only).
	 */
	Answer client_connects(std::uint64_t epoch) noexcept;

	/**
	 * A repair connects, as connection @p number. It takes the place of an earlier one whose connection is closed
	 * (not @p is_open), or that has said nothing for the lease. Errors: EALREADY (the replica serves), EBUSY
	 * (another repair is under way).
	 */
	Answer repair_connects(std::uint32_t number, bool is_open, std::chrono::nanoseconds now) noexcept;
	/** Connection @p number says that it goes on with its repair. 0, or EPERM: it does not repair this replica. */
	int repair_goes_on(std::uint32_t number, std::chrono::nanoseconds now) noexcept;
	/** The number of the latest repair's connection; 0: there was none. */
	[[nodiscard]] std::uint32_t repairer() const noexcept { return repairer_; }

	/** Connection @p number begins the repair's @p epoch. Errors: EPERM (it does not repair this replica),
	 * EOVERFLOW (no epoch, or none that another could follow). */
	Answer begin_epoch(std::uint32_t number, std::uint64_t epoch) noexcept;
	/** Whether connection @p number can end its repair, of @p epoch. Errors: EPERM, ESTALE (of another epoch). */
	[[nodiscard]] int check_end(std::uint32_t number, std::uint64_t epoch) const noexcept;
	/** The repair has ended: the replica serves. Connections but the repair's end. */
	void end_repair() noexcept { serving_ = true; }

private:
	std::atomic<bool> serving_;
	std::atomic<std::uint64_t> epoch_;
	const std::chrono::nanoseconds lease_;
	std::uint32_t repairer_ = 0;
	std::chrono::nanoseconds heard_{}; /* of it, last */
};

} // namespace prism::rs
