/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ABDLOCK: multi-writer ABD over plain READ, WRITE and CMP_AND_SWP, which cannot change a tag and a block at once: a
 * lock for each block and replica stands in for that (the rival of PRISM-RS in SOSP '21).
 *
 * Round trips, one after another, when nobody else wants the block:
 *
 *               GET                       PUT
 *   plain       lock, read, unlock    3   lock, read, write, unlock    4    as in the paper: each step is waited for
 *   pipelined   lock+read             1   lock+read, write+unlock      2    the best that these verbs allow
 *
 * Pipelined, requests joined by + leave with one doorbell and are executed in their order. The result of a READ counts
 * only if the CMP_AND_SWP before it took the lock. A GET posts its unlock when its value is known, and does not wait
 * for it: no result depends on it, and if it is lost, the lease ends the lock. But the unlock is the lane's request
 * to that replica. If the lane's next operation needs it, it begins there when the unlock has ended. A GET whose
 * replicas disagree writes back, in both variants: one more round trip.
 *
 * Contention: a client tries for f+1 locks at once, beginning with the replica that the block's number selects. While
 * all replicas are available, all clients use the same quorum for a block, and a GET has nothing to write back. Where a
 * lock is taken, the client tries a replica that it has not asked yet. So of two clients of three replicas one always
 * wins, even if both begin at once. A client that cannot get f+1 locks releases those it has, because waiting with a
 * lock held would be a deadlock. It tries again after a random time whose bound doubles with each attempt.
 *
 * Holders that die: a lock names its holder and the number of the lock, so an unchanged word means the same lock. A
 * client that sees a word unchanged for longer than the lease takes the lock over by CMP_AND_SWP from exactly that
 * word. An attempt must post its last WRITE within half of the lease, counted from before its first CMP_AND_SWP.
 * Otherwise it gives up and starts over. A PUT then keeps its tag, because some replicas may have it already.
 *
 * Torn blocks: if the checksum is wrong, the holder died while it wrote the block. A torn block does not count as an
 * answer to a GET. If it counted as never written, it would hide the previous write, and the GET could return an older
 * one. The GET asks more replicas instead, and overwrites the torn block with the newest whole one. A PUT needs only
 * the tag, which is that of the torn write or of the previous one.
 *
 * A remaining hazard: nothing at the replica ties a WRITE to the lock. This is the price of locks over one-sided
 * verbs. A WRITE that was posted in time may be executed more than half of a lease later, because its packet was
 * delayed or sent again, or because its thread lost the core between reading the clock and the doorbell. It may then
 * overwrite what the next holder has written. The unlock finds another word and the operation is repeated, but other
 * clients may have read meanwhile.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <unordered_map>
#include <vector>

#include "abdlock/layout.hpp"
#include "rs/volume/quorum.hpp"

namespace prism::rs
{

struct LockOptions {
	unsigned replicas = 3;
	std::uint32_t block_size = 512;
	bool pipelined = false;
	Time lease = std::chrono::milliseconds(20);
	/** Bounds of the random time between attempts: it doubles from the first of these to the second. */
	Time shortest_wait = std::chrono::microseconds(2);
	Time longest_wait = std::chrono::microseconds(200);
	/** Time without an answer after which another replica is asked for its lock. */
	Time patience = std::chrono::milliseconds(5);
};

/**
 * The protocol of one client's operations: a key is the number of a block, 8 bytes in host order; a value is a whole
 * block.
 */
class LockProtocol final : public VolumeProtocol
{
public:
	using Outcome = apps::Outcome;

	/** @p client: the number of this incarnation, random and not 0. */
	LockProtocol(const LockOptions &options, std::uint64_t client, VolumeSession &session);

	/**
	 * Runs a GET or PUT. Errors of Outcome::failed: EHOSTUNREACH (no quorum, or no locks of one, before the lane's
	 * deadline), EOVERFLOW (the block's counter is at its end), EIO (GET: the block is torn at so many replicas
	 * that no quorum has it whole; a PUT repairs it). A PUT whose WRITE was sent to a replica is Outcome::unknown.
	 */
	apps::Task<Outcome> run(Lane &lane) override;
	void request_ended(Lane &lane, unsigned replica) noexcept override;

private:
	using Replicas = std::uint32_t; /* a bit for each */

	enum class Step : std::uint8_t {
		lock,
		read,
		write,
		unlock,
	};

	/** A lane's knowledge of its block's lock at one replica. */
	struct Hold {
		Step step = Step::lock; /* the last one asked for */
		Time asked_at{};
		bool held = false;
		bool refused = false;      /* in this attempt, another client had it */
		bool lost = false;         /* in this attempt, another client had it when it was to be released */
		std::uint64_t block = 0;   /* block of the lock, perhaps of an operation that has ended */
		std::uint64_t word = 0;    /* word that this lane has put there, or tried to */
		std::uint64_t compare = 0; /* word that it expected there */
		std::uint64_t seen = 0;    /* in this operation: another holder's word, and since when */
		Time seen_since{};
	};

	/** The operation of one lane. */
	struct Work {
		std::vector<Hold> holds; /* by replica */
		std::uint64_t block = 0;
		Tag tag;             /* of a PUT, once it is chosen: the same in all attempts */
		unsigned needed = 0; /* locks */
		std::uint64_t word = 0;
		Replicas locked = 0;
		Time limit{}; /* of the attempt: nothing is posted under its locks afterwards */
	};

	apps::Task<int> attempt(Lane &lane, Work &work);
	apps::Task<int> lock(Lane &lane, Work &work);
	apps::Task<int> exchange(Lane &lane, Work &work, Replicas whom, Step step);
	Outcome end(Lane &lane, Work &work, int error) noexcept;

	Work &work_of(const Lane &lane);
	void begin_operation(const Lane &lane, Work &work) noexcept;
	void begin_attempt(Lane &lane, Work &work) noexcept;
	void release(Lane &lane, Work &work) noexcept;
	void ask_for_locks(Lane &lane, Work &work) noexcept;
	[[nodiscard]] bool is_awaited(const Lane &lane, const Work &work, unsigned replica) const noexcept;
	[[nodiscard]] unsigned within_reach(const Lane &lane, const Work &work) const noexcept;
	[[nodiscard]] Time next_look(const Lane &lane, const Work &work) const noexcept;
	bool ask(Lane &lane, Work &work, unsigned replica, Step step) noexcept;
	void build(const Lane &lane, ReplicaRequest &request, Hold &hold, const ReplicaView &view) const noexcept;
	void add_read(const Lane &lane, ReplicaRequest &request, RemoteAddress record) const noexcept;
	[[nodiscard]] RemoteAddress record(const ReplicaView &view, std::uint64_t block) const noexcept;

	int plan_get(Lane &lane, Work &work, Replicas &stale) noexcept;
	int plan_put(Lane &lane, Work &work, Replicas &stale) noexcept;
	[[nodiscard]] Tag newest_used(const Work &work) const noexcept;
	void hand_over(const Lane &lane, const Version &version, std::span<const std::byte> block) const noexcept;

	[[nodiscard]] Replicas held(const Lane &lane, const Work &work) const noexcept;
	[[nodiscard]] Time wait_after(unsigned attempts) noexcept;
	[[nodiscard]] unsigned quorum() const noexcept { return options_.replicas / 2 + 1; }

	const LockOptions options_;
	const std::uint64_t client_;
	const std::uint32_t holder_;
	const Time patience_; /* short enough for an attempt to turn to another replica */
	VolumeSession &session_;
	std::uint32_t sequence_ = 0; /* of attempts */
	std::minstd_rand random_;
	std::deque<Work> works_; /* by lane */
	/* Tags of PUTs with an unknown outcome, which must not be used again. */
	std::unordered_map<std::uint64_t, Tag> used_;
};

} // namespace prism::rs
