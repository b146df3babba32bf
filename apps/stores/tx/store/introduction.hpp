/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The data that shards of PRISM-TX and their clients exchange behind the Hello when they connect. */
#pragma once

#include <prism/connection.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "service/control.hpp"
#include "service/hello.hpp"
#include "tx/store/requests.hpp"

namespace prism::tx
{

/* Messages on control channels, beside those of apps::ControlKind */

/** To shard 0: value is another shard's signature of the identity that the next message has; no answer. */
constexpr apps::ControlKind proof_message = message_of(apps::Application::tx, 0);
/**
 * To shard 0: value is the identity of another shard. Shard 0 answers 0, ESTALE if that shard had another identity, or
 * EACCES if it has not signed this one.
 */
constexpr apps::ControlKind shard_message = message_of(apps::Application::tx, 1);
/**
 * To shard 0: value is the new identity of another shard that has come back empty. Shard 0 answers 0, or EACCES as
 * above.
 */
constexpr apps::ControlKind adopt_message = message_of(apps::Application::tx, 2);
/**
 * From a shard: the client with this number has died, resolve what it has prepared here. From the client that was
 * asked: done.
 */
constexpr apps::ControlKind orphans_message = question_of(apps::Application::tx, 0);

/** The region of a shard's connection record. */
constexpr std::uint32_t shard_region = 1;

/**
 * Introduction of a shard or a client: 80 bytes in network order: store 8, identity 8, cells 8, secret 16, client 4,
 * incarnation 4, clients 4, lanes 4, shard 2, shards 2, numbered 1, as in the paper 1, used 1, reserved 1, signature 8,
 * reserved 8.
 *
 * A client connects to shard 0 first. Shard 0 gives it a number that no other client has, an incarnation that no client
 * ever had, and a ticket: its signature of both. The client passes all three to the other shards, with the identity of
 * that shard 0, which names their store. They sign their own identities for shard 0.
 */
struct Introduction {
	static constexpr std::size_t size = 80;

	std::uint64_t store = 0;    /**< identity of shard 0; 0 from a client that has not met it yet */
	std::uint64_t identity = 0; /**< of one life of a shard: random, with its number in the lowest 16 bits */
	std::uint32_t client = 0;   /**< the client's number */
	std::uint32_t incarnation = 0;
	std::uint16_t shard = 0; /**< from a client: the shard that it wants */
	std::uint16_t shards = 0;
	ShardGeometry geometry;
	StoreView view;    /* its secret and kind */
	bool used = false; /**< from a shard: the number was another client's, whose log must be cleared first */
	std::uint64_t signature = 0; /**< of shard 0 and of clients: the ticket; of other shards: the proof of life */

	[[nodiscard]] std::vector<std::byte> serialize() const;

	/** Parses the introduction of a peer that is not trusted; @p who names it in messages. Errors: EBADMSG. */
	static Result<Introduction> parse(const ConnectionRecord &record, const std::string &who);
};

/** Returns the view of the shard that @p record describes, with the introduction @p theirs. Errors: EBADMSG. */
Result<ShardView> view_of(const ConnectionRecord &record, const Introduction &theirs, const std::string &who);

} // namespace prism::tx
