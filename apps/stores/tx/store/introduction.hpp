/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What shards of PRISM-TX and their clients tell each other behind the Hello when they connect. */
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

/* On control channels, beside those of apps::ControlKind */

/** To shard 0: value is what another has signed of the identity that the next message has; no answer. */
constexpr apps::ControlKind proof_message = message_of(apps::Application::tx, 0);
/** To shard 0: value is the identity of another; shard 0: 0, ESTALE if it had another, EACCES if that was not signed.
 */
constexpr apps::ControlKind shard_message = message_of(apps::Application::tx, 1);
/** To shard 0: value is the new identity of another that has come back empty; shard 0: 0, or EACCES likewise */
constexpr apps::ControlKind adopt_message = message_of(apps::Application::tx, 2);
/** Shard: the client of the value's number has died, resolve what it has prepared here; client that was asked: done.
 */
constexpr apps::ControlKind orphans_message = question_of(apps::Application::tx, 0);

/** The region of a shard's connection record. */
constexpr std::uint32_t shard_region = 1;

/**
 * 80 bytes in network order: store 8, identity 8, cells 8, secret 16, client 4, incarnation 4, clients 4, lanes 4,
 * shard 2, shards 2, numbered 1, as in the paper 1, used 1, reserved 1, signature 8, reserved 8.
 *
 * A client meets shard 0 first, which gives it a number that no other client has, an incarnation that none ever had,
 * and a ticket: what shard 0 signs of both. The client tells all three to the others, and which store they are of: the
 * identity of that shard 0. They sign their own identities for shard 0.
 */
struct Introduction {
	static constexpr std::size_t size = 80;

	std::uint64_t store = 0;    /**< identity of shard 0; of a client that has met none yet: 0 */
	std::uint64_t identity = 0; /**< of a shard, of one life of it: random, with its number in the lowest 16 bits */
	std::uint32_t client = 0;   /**< the client's number */
	std::uint32_t incarnation = 0;
	std::uint16_t shard = 0; /**< of a client: which it wants */
	std::uint16_t shards = 0;
	ShardGeometry geometry;
	StoreView view;    /* its secret and kind */
	bool used = false; /**< of a shard: the client's number was another's, whose log is to be cleared first */
	std::uint64_t signature = 0; /**< of shard 0 and of clients: the ticket; of other shards: the proof of life */

	[[nodiscard]] std::vector<std::byte> serialize() const;

	/** From a peer that is not trusted; @p who names it in messages. Errors: EBADMSG. */
	static Result<Introduction> parse(const ConnectionRecord &record, const std::string &who);
};

/** The shard that @p record describes, which has introduced itself as @p theirs. Errors: EBADMSG. */
Result<ShardView> view_of(const ConnectionRecord &record, const Introduction &theirs, const std::string &who);

} // namespace prism::tx
