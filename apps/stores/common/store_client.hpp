/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface of all key-value stores, used by the workload driver, the checks and the shell tool. Each measured
 * system implements StoreClient, in its own best mode.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::apps
{

/**
 * Kinds of operations that each store has. Operation of one store alone: a function of its client, or a field of
 * Operation that others may ignore. All but `get` change something.
 */
enum class OperationKind : std::uint8_t {
	get,
	put, /**< store, whether the key is there or not */
	erase,
};

enum class Outcome : std::uint8_t {
	ok,
	not_found, /**< GET, ERASE: no such key */
	full,      /**< PUT: no slot or no buffer for it; nothing was changed */
	failed,    /**< see Operation::error; nothing was changed, unless the store says otherwise */
	/**
	 * PUT, ERASE: done once or not at all; see Operation::error. Only a GET can tell; of a replicated volume, one
	 * that returns the new value.
	 */
	unknown,
};
constexpr std::size_t outcome_count = 5;

/** Returns true for a failure; Operation::error gives its cause. */
constexpr bool has_failed(Outcome outcome) noexcept
{
	return outcome == Outcome::failed || outcome == Outcome::unknown;
}

/** Returns the outcome of an operation whose connection was lost when it may have changed something. */
constexpr Outcome outcome_of_loss(OperationKind kind) noexcept
{
	return kind == OperationKind::get ? Outcome::failed : Outcome::unknown;
}

/** One operation under way. It and the memory of its spans must stay valid until poll() returns it. */
struct Operation {
	OperationKind kind = OperationKind::get;
	std::span<const std::byte> key;
	std::span<const std::byte> value; /**< PUT: the value to store */
	std::span<std::byte> result;      /**< GET: room for the value */
	void *context = nullptr;          /**< the caller's */

	/* Filled in by the client */
	Outcome outcome = Outcome::ok;
	/**
	 * errno value of Outcome::failed and Outcome::unknown. ENOTCONN is used with failed only: there is no
	 * connection, and nothing was done. With unknown it is the error that ended the connection.
	 */
	int error = 0;
	std::uint32_t length = 0;      /**< GET: bytes of the value; only as many as result has room for were copied */
	std::uint32_t round_trips = 0; /**< round trips of the network, one after another */
};

/** One connection to a store (or one to each shard). One thread at a time. The data path neither allocates nor throws.
 */
class StoreClient
{
public:
	virtual ~StoreClient() = default;

	/** Returns how many operations may be under way at once. */
	[[nodiscard]] virtual std::size_t depth() const noexcept = 0;

	/**
	 * Begins @p operation. Returns 0, EAGAIN (depth() are under way: poll), EINVAL (a key or value of a forbidden
	 * size), or ENOTCONN (there is no connection).
	 */
	virtual int start(Operation &operation) noexcept = 0;

	/**
	 * Drives the operations under way, without waiting, and returns those that have ended: at most
	 * completed.size(). Operations on one key that are under way at once may take effect in any order.
	 */
	virtual std::size_t poll(std::span<Operation *> completed) noexcept = 0;

	/** Returns true if the client has failed for ever: each new operation fails at once. */
	[[nodiscard]] virtual bool has_ended() const noexcept { return false; }
};

} // namespace prism::apps
