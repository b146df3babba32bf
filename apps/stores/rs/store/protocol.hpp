/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM-RS: multi-writer ABD over PRISM chains (SOSP '21, section 5), over any carrier of requests. docs/prism-rs.md
 * has the assumptions, and why it is linearizable; tests/models/rs.pml checks it.
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
	std::uint64_t client = 0; /**< number of this incarnation, in its tags: never used before or after; not 0 */
	/**
	 * Not 0: no other client writes to the volume, and a PUT guesses its tag, after the first of its block. Larger
	 * than that of every earlier exclusive writer, at most 2^24 - 1: see ExclusiveLock.
	 */
	std::uint32_t exclusive = 0;
	/**
	 * True: writes go to all replicas at once. False: to a quorum, and to the others if one of those fails or is
	 * slow.
	 */
	bool everywhere = false;
	/** If set, each operation on a block copies the version of a quorum of the others to this replica. */
	std::optional<unsigned> repairs;
	/**
	 * Time after which a round asks all replicas, not only as many as must answer. On a busy host that adds load.
	 */
	Time hedge = std::chrono::milliseconds(5);
};

/**
 * The protocol of one client's operations: a key is the number of a block, 8 bytes in host order; a value is a whole
 * block.
 */
class Protocol final : public VolumeProtocol
{
public:
	using Outcome = apps::Outcome;

	Protocol(const ProtocolOptions &options, VolumeSession &session) : options_(options), session_(session) {}

	/**
	 * Runs a GET or PUT. Errors of Outcome::failed: EHOSTUNREACH (no quorum before the lane's deadline), EOVERFLOW
	 * (the block's counter is at its end), ESTALE (exclusive, and another client has written to the volume: nothing
	 * more is written), EBADMSG (a replica's answer is impossible), EINVAL. A PUT that was sent to a replica, and
	 * ends with EHOSTUNREACH or ESTALE, is Outcome::unknown.
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
	/** Effect of a newer version at a replica. */
	enum class Newer : std::uint8_t {
		acknowledges,
		starts_over, /* ends the round: ECANCELED */
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
	/* Tags of PUTs with an unknown outcome, which must not be used again. */
	std::unordered_map<std::uint64_t, Tag> used_;
	std::unordered_map<std::uint64_t, Tag> last_; /* exclusive: tags that this client has installed */
	bool usurped_ = false;                        /* not exclusive any more */
};

} // namespace prism::rs
