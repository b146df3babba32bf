/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The data that replicas of a volume and their clients exchange behind the Hello when they connect. */
#pragma once

#include <prism/connection.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rs/volume/configuration.hpp"
#include "service/control.hpp"
#include "service/hello.hpp"
#include "service/log.hpp"

namespace prism::rs
{

/* Messages on control channels, beside those of apps::ControlKind */

/** From the repair of a replica: value is its new epoch. Answer: 0 or an errno. */
constexpr apps::ControlKind epoch_message = message_of(apps::Application::rs, 0);
/** The repair has ended, in the epoch of the value. Answer: 0 or an errno. */
constexpr apps::ControlKind serve_message = message_of(apps::Application::rs, 1);

/**
 * The repair whose number is the value continues. Answer: 0 or an errno. Sent to the repaired replica, and to one that
 * serves: RepairTurn.
 */
constexpr apps::ControlKind turn_message = message_of(apps::Application::rs, 2);
/** The repair of that number has ended; no answer. */
constexpr apps::ControlKind turn_ends_message = message_of(apps::Application::rs, 3);

/** Regions of a replica's connection record. */
constexpr std::uint32_t slots_region = 1;
constexpr std::uint32_t scratch_region = 2;

/** A client's purpose in connecting to a replica. */
enum class Purpose : std::uint8_t {
	use = 0,
	repair = 1, /**< repairs it, if no other repair is under way */
	found = 2,  /**< a new replica asks if the volume is new: see Founding */
};

/**
 * Introduction of a client to a replica, or of a replica: 48 bytes in network order: volume 8, epoch 8, blocks 8,
 * client 8, block size 4, replica 2, replicas 2, serving 1, purpose 1, asker 2, reserved 4. The founders follow if
 * there are any, 8 bytes each.
 */
struct Introduction {
	static constexpr std::size_t size = 48;

	std::uint64_t volume = 0;
	std::uint64_t epoch = 0; /**< the newest that the sender knows: docs/prism-rs.md, "Replicas that come back" */
	std::uint64_t blocks = 0;
	/**
	 * Of a client: its incarnation, as in its tags. Of a new replica, also in its answer to another: its own
	 * incarnation.
	 */
	std::uint64_t client = 0;
	std::uint32_t block_size = 0;
	std::uint16_t replica = 0; /**< of a replica: its number; of a client: the number that it wants */
	std::uint16_t replicas = 0;
	bool serving = false;           /**< of a replica: it has lost nothing, so its answers to reads count */
	Purpose purpose = Purpose::use; /**< of a client */
	std::uint16_t asker = 0;        /**< Purpose::found: the number of the replica that asks */
	/**
	 * In the answer to Purpose::found: the incarnations that have founded the volume, by replica; empty: none yet.
	 */
	std::vector<std::uint64_t> founders = {};

	/** Returns the introduction of replica @p replica of @p volume, or of a client that wants it. */
	static Introduction of(const Configuration &volume, std::size_t replica);

	[[nodiscard]] std::vector<std::byte> serialize() const;

	/**
	 * Parses the part of @p record after the Hello, from a peer that is not trusted. @p who names the peer in
	 * messages. Errors: EBADMSG (too short, an unknown purpose, not as many founders as replicas).
	 */
	static Result<Introduction> parse(const ConnectionRecord &record, const std::string &who);

	/**
	 * Checks that volume, sizes and replica are the same as this one's. Errors: EPROTONOSUPPORT; the message has
	 * the difference.
	 */
	[[nodiscard]] Result<void> expect(const Introduction &theirs, const std::string &who) const;
};

/**
 * Returns the introduction of the peer @p who, which has sent @p theirs, to a peer of @p kind with the introduction
 * @p own. Errors: EPROTONOSUPPORT (another kind, volume or replica), EBADMSG.
 */
Result<Introduction> meet(
	const ConnectionRecord &theirs, const apps::StoreKind &kind, const Introduction &own, const std::string &who);

/**
 * Likewise for a client that a replica may let in. A client that has named another volume learns only that, not the
 * number of this one: @p log gets both numbers.
 */
Result<Introduction> meet_client(
	const ConnectionRecord &theirs, const apps::StoreKind &kind, const Introduction &own, const apps::LogSink &log);

} // namespace prism::rs
