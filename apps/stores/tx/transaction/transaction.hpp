/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface of all transactional stores, which the workloads, the checks and the tools use. A transaction is a
 * coroutine over a Transaction; a client runs it, again after each conflict.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "common/task.hpp"
#include "common/waiting.hpp"

namespace prism::tx
{

using Bytes = std::span<const std::byte>;
using apps::Time;

enum class Outcome : std::uint8_t {
	committed,
	rolled_back, /**< by its body; Job::error is what the body returned */
	conflict,    /**< conflicts, until the attempts or the time were used up; nothing was changed */
	failed,      /**< see Job::error; nothing was changed */
	unknown,     /**< see Job::error; all of its changes are made, or will be, or none */
};

/** The place of a transaction in the order of all: the clock first. All zero: its system has none. */
struct Stamp {
	std::uint64_t clock = 0;
	std::uint64_t writer = 0;
};

/**
 * One attempt of a transaction, as its body sees it. Changes are kept until the commit. A body reads only values that
 * committed transactions have written. But only the commit checks that these values are consistent with each other: a
 * body must tolerate inconsistent values and terminate.
 */
class Transaction
{
public:
	virtual ~Transaction() = default;

	/**
	 * Reads those of @p keys that are not known yet, all at once. Returns 0; EAGAIN if it is already certain that
	 * this attempt cannot commit: return EAGAIN then; E2BIG if it is too much for one transaction; EINVAL for a key
	 * of a forbidden size, or one that this store cannot have; otherwise the store's error.
	 */
	virtual apps::Task<int> fetch(std::span<const Bytes> keys) = 0;
	apps::Task<int> fetch(Bytes key) { co_return co_await fetch(std::span(&key, 1)); }

	/**
	 * Returns the value of @p key, which was fetched or written; nothing if the key is absent. Valid until its next
	 * change.
	 */
	[[nodiscard]] virtual std::optional<Bytes> value(Bytes key) const noexcept = 0;

	/**
	 * Changes the value at the commit. Copies both arguments. Returns 0, E2BIG, EINVAL or ENOMEM: as fetch(), or
	 * for a value that is too long.
	 */
	virtual int write(Bytes key, Bytes value) noexcept = 0;
	virtual int erase(Bytes key) noexcept = 0;
	/** Writes; returns EEXIST if @p key, which was fetched before, has a value. */
	int insert(Bytes key, Bytes value) noexcept { return this->value(key) ? EEXIST : write(key, value); }

	/* For the client that runs it -------------------------------------------------------------------------------
	 */

	/** Forgets everything, and waits until the previous attempt has finished its work. */
	virtual apps::Task<void> begin() = 0;
	/**
	 * Makes all changes, or none. Returns any outcome but rolled_back; after Outcome::conflict call begin() again.
	 */
	virtual apps::Task<Outcome> commit() = 0;
	/** Ends the attempt without any change. */
	virtual apps::Task<void> roll_back() = 0;
	/** Drops what is kept for another attempt: there is none. */
	virtual void forget() noexcept {}
	/** Returns the errno with which commit() failed. */
	[[nodiscard]] virtual int error() const noexcept = 0;
	/** Returns the stamp of the transaction that commit() has committed, or may have. */
	[[nodiscard]] virtual Stamp stamp() const noexcept { return {}; }
	/** Returns the number of sequential round trips since begin(). */
	[[nodiscard]] virtual std::uint32_t round_trips() const noexcept = 0;
};

/** Reads and changes keys. Returns 0: commit; EAGAIN, from fetch(): run again; any other errno: roll back. */
using Body = std::function<apps::Task<int>(Transaction &)>;

/** A transaction with its body and outcome. Its memory stays until TransactionClient::poll() hands it back. */
struct Job {
	Body body;
	/**
	 * Most attempts, of those that conflict. 0: as many as the client's timeout has room for; 1: the body runs
	 * once, even if a connection is lost.
	 */
	unsigned max_attempts = 0;
	void *context = nullptr; /**< the caller's */

	/* Filled in by the client */
	Outcome outcome = Outcome::committed;
	int error = 0;
	unsigned attempts = 0;
	std::uint32_t round_trips = 0; /**< of the last attempt */
	Stamp stamp;
};

} // namespace prism::tx
