/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What replicas of a volume and their clients tell each other behind the Hello when they connect. */
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

/* On control channels, beside those of apps::ControlKind */

/** Repair of a replica: value is the epoch that it begins with; replica: 0 or an errno. */
constexpr apps::ControlKind epoch_message = message_of(apps::Application::rs, 0);
/** The repair has ended, in the epoch of the value; replica: 0 or an errno. */
constexpr apps::ControlKind serve_message = message_of(apps::Application::rs, 1);

/**
 * A repair, which has the number of the value, goes on; replica: 0 or an errno. To the replica that is repaired, and to
 * one that serves: RepairTurn.
 */
constexpr apps::ControlKind turn_message = message_of(apps::Application::rs, 2);
/** The repair of that number has ended; no answer. */
constexpr apps::ControlKind turn_ends_message = message_of(apps::Application::rs, 3);

/** Regions of a replica's connection record. */
constexpr std::uint32_t slots_region = 1;
constexpr std::uint32_t scratch_region = 2;

/** What a client wants of the replica that it connects to. */
enum class Purpose : std::uint8_t {
	use = 0,
	repair = 1, /**< to repair it, if no other repair is under way */
	found = 2,  /**< a new replica asks whether the volume is new: see Founding */
};

/**
 * Which client connects to which replica, 48 bytes in network order: volume 8, epoch 8, blocks 8, client 8, block size
 * 4, replica 2, replicas 2, serving 1, purpose 1, asker 2, reserved 4. The founders follow if there are any, 8 bytes
 * each.
 */
struct Introduction {
	static constexpr std::size_t size = 48;

	std::uint64_t volume = 0;
	std::uint64_t epoch = 0; /**< the newest that the sender knows: docs/prism-rs.md, "Replicas that come back" */
	std::uint64_t blocks = 0;
	/** Of a client: its incarnation, as in its tags. Of a new replica, and its answer to another: its own. */
	std::uint64_t client = 0;
	std::uint32_t block_size = 0;
	std::uint16_t replica = 0; /**< of a replica: which it is; of a client: which it wants */
	std::uint16_t replicas = 0;
	bool serving = false;           /**< of a replica: it has not forgotten anything, its answers to reads count */
	Purpose purpose = Purpose::use; /**< of a client */
	std::uint16_t asker = 0;        /**< Purpose::found: which replica asks */
	/** Of the answer to Purpose::found: the incarnations that have founded the volume, by replica; empty: none yet.
	 */
	std::vector<std::uint64_t> founders = {};

	/** Of replica @p replica of @p volume, or of a client that wants that one. */
	static Introduction of(const Configuration &volume, std::size_t replica);

	[[nodiscard]] std::vector<std::byte> serialize() const;

	/**
	 * Reads what follows the Hello in @p record, from a peer that is not trusted. @p who names the peer in
	 * messages. Errors: EBADMSG (too short, a purpose that there is not, founders of another number than replicas).
	 */
	static Result<Introduction> parse(const ConnectionRecord &record, const std::string &who);

	/** Insists on the volume, its sizes and the replica of this one. Errors: EPROTONOSUPPORT; the message says what
	 * differs. */
	[[nodiscard]] Result<void> expect(const Introduction &theirs, const std::string &who) const;
};

/**
 * The introduction of the peer @p who, which has sent @p theirs, for one of @p kind that has introduced itself as
 * @p own. Errors: EPROTONOSUPPORT (another kind, volume or replica), EBADMSG.
 */
Result<Introduction> meet(
	const ConnectionRecord &theirs, const apps::StoreKind &kind, const Introduction &own, const std::string &who);

/**
 * Likewise of a client that a replica is to let in. One that has not named this volume is told that it is another, not
 * which: @p log gets both numbers.
 */
Result<Introduction> meet_client(
	const ConnectionRecord &theirs, const apps::StoreKind &kind, const Introduction &own, const apps::LogSink &log);

} // namespace prism::rs
