/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM-RS: multi-writer ABD over PRISM chains (SOSP '21, section 5), whatever carries the requests. What it relies on,
 * and why it is linearizable, is in docs/prism-rs.md; tests/models/rs.pml checks it.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "rs/store/layout.hpp"
#include "rs/volume/quorum.hpp"

namespace prism::rs
{

struct ProtocolOptions {
	unsigned replicas = 3;
	std::uint64_t client = 0; /**< this incarnation, in its tags: never used before or after; not 0 */
	/**
	 * Not 0: no other client writes to the volume, and a PUT guesses its tag, after the first of its block. Larger
	 * than that of every exclusive writer before, at most 2^24 - 1: see ExclusiveLock.
	 */
	std::uint32_t exclusive = 0;
	/** Writes go to all replicas at once; if not, to a quorum, and to the others if one of those fails or is slow.
	 */
	bool everywhere = false;
	/** Any operation on a block copies what a quorum of the others has of it to this replica. */
	std::optional<unsigned> repairs;
	/** After which a round asks all replicas, not only as many as must answer: on a busy host that makes it busier.
	 */
	Time hedge = std::chrono::milliseconds(5);
};

/** One client's operations: a key is the number of a block, 8 bytes in host order; a value is a whole block. */
class Protocol final : public VolumeProtocol
{
public:
	using Outcome = apps::Outcome;

	Protocol(const ProtocolOptions &options, VolumeSession &session) : options_(options), session_(session) {}

	/**
	 * GET or PUT. Errors of Outcome::failed: EHOSTUNREACH (no quorum before the lane's deadline), EOVERFLOW (the
	 * block's counter is at its end), ESTALE (exclusive, and another client has written to the volume: nothing more
	 * is written), EBADMSG (a replica's answer cannot be), EINVAL. A PUT that was sent to a replica, and ends with
	 * EHOSTUNREACH or ESTALE, is Outcome::unknown.
	 */
	apps::Task<Outcome> run(Lane &lane) override;
	void request_ended(Lane &lane, unsigned replica) noexcept override;

private:
	apps::Task<Outcome> get(Lane &lane);
	apps::Task<Outcome> put(Lane &lane);
	apps::Task<Outcome> repair(Lane &lane);
	apps::Task<Outcome> put_in_turn(Lane &lane);
	apps::Task<int> read_block_and_tags(Lane &lane);
	apps::Task<int> read_blocks(Lane &lane);
	Verdict judge_block(Lane &lane, const ReplicaRequest &request, unsigned &damaged) const noexcept;
	apps::Task<int> read_tags(Lane &lane, Tag &newest);
	struct Block {
		Tag tag;
		std::span<const std::byte> bytes;
	};
	/** What a replica's having something newer is worth. */
	enum class Newer : std::uint8_t {
		acknowledges,
		starts_over, /* the round is over: ECANCELED */
		usurps,      /* likewise: this client is not the exclusive writer */
	};
	apps::Task<int> install(Lane &lane, Block block, RoundOptions options, Newer newer = Newer::acknowledges);
	static const ReplicaRequest *newest_of(const Lane &lane) noexcept;
	Outcome failed(Lane &lane, int error) noexcept;
	void write_chain(ReplicaRequest &request, const ReplicaView &view, std::uint64_t block, Tag tag) noexcept;
	[[nodiscard]] RoundOptions round_of(bool reads) const noexcept;
	[[nodiscard]] unsigned quorum() const noexcept { return options_.replicas / 2 + 1; }

	const ProtocolOptions options_;
	VolumeSession &session_;
	std::vector<Lane *> putting_; /* PUTs under way, in the order of their beginning */
	/* Of PUTs whose outcome is not known: the tags that they have used must not be used again. */
	std::unordered_map<std::uint64_t, Tag> used_;
	std::unordered_map<std::uint64_t, Tag> last_; /* exclusive: what this client has installed */
	bool usurped_ = false;                        /* exclusive no more */
};

} // namespace prism::rs
