/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protocol that repairs a replica that has lost its memory, over any transport: docs/prism-rs.md, "Replicas that come
 * back".
 */
#pragma once

#include <cstdint>
#include <optional>

#include "rs/volume/introduction.hpp"
#include "rs/volume/session.hpp"

namespace prism::rs
{

/** The program around a repair, as the repair needs it. */
class RepairClient
{
public:
	virtual ~RepairClient() = default;

	/** Returns an epoch after the newest; nothing if there is none. */
	[[nodiscard]] virtual std::optional<std::uint64_t> new_epoch() noexcept = 0;

	/** Sends @p message to @p replica: answered by RepairProtocol::hear(), unless the connection ends before. */
	virtual void tell(unsigned replica, const apps::ControlMessage &message) noexcept = 0;
	/**
	 * Begins to copy @p block; RepairProtocol::copied() ends it. Returns false if as many as possible are under
	 * way.
	 */
	virtual bool copy(std::uint64_t block) noexcept = 0;
};

struct RepairRules {
	unsigned replica = 0; /**< the repaired replica */
	unsigned replicas = 3;
	std::uint64_t blocks = 0;
	std::uint64_t client = 0; /**< number of the repair: random, not 0 */
	/** Interval of its messages that it continues: several in a RepairTurn's lease. */
	Time says_so = std::chrono::milliseconds(500);
	/** Time that it waits for its turn if there is no sign that another replica is being repaired. */
	Time patience = std::chrono::seconds(5);
	/** Most times that it begins, as others begin newer epochs. */
	unsigned most_attempts = 8;
};

/** One repair of one replica. One thread calls its functions. */
class RepairProtocol
{
public:
	enum class State : std::uint8_t {
		waiting,   /* for a quorum of others that serve, and for its turn */
		spreading, /* the others get its epoch */
		telling,   /* the repaired replica gets it */
		copying,
		ending, /* the repaired replica is asked to serve */
		ended,
		failed, /* see error() */
	};

	/** @p session: of a client whose protocol copies blocks to the replica (ProtocolOptions). */
	RepairProtocol(const RepairRules &rules, VolumeSession &session, RepairClient &client)
		: rules_(rules), session_(session), client_(client)
	{
	}

	/** Makes progress as far as possible now. The caller calls it again soon. */
	void poll() noexcept;
	/** Takes an answer of @p replica. */
	void hear(unsigned replica, const apps::ControlMessage &answer) noexcept;
	/** Takes the end of a copy of a block: 0, or the errno @p error. */
	void copied(int error) noexcept;
	/** Ends the repair with @p error, as the connection to its replica is lost or refused. */
	void give_up(int error) noexcept;

	[[nodiscard]] State state() const noexcept { return state_; }
	[[nodiscard]] bool over() const noexcept { return state_ == State::ended || state_ == State::failed; }
	/**
	 * Returns the reason of the failure: EOVERFLOW (the volume has used all epochs), EAGAIN (others began newer
	 * epochs again and again), EPERM (another repair of the replica has taken its place), or the error given to
	 * copied() or give_up().
	 */
	[[nodiscard]] int error() const noexcept { return error_; }
	/**
	 * True if it waits for replicas, which may never come; otherwise it waits for other repairs or for operations,
	 * which end.
	 */
	[[nodiscard]] bool waits_for_replicas() const noexcept;
	/** Returns how many times it has begun again, after somebody had begun a newer epoch. */
	[[nodiscard]] unsigned interruptions() const noexcept { return attempts_; }
	/** Returns the number of blocks copied so far, in this attempt. */
	[[nodiscard]] std::uint64_t blocks_copied() const noexcept { return done_; }

private:
	[[nodiscard]] unsigned serving(std::uint64_t epoch) const noexcept;
	[[nodiscard]] bool others_are_repaired() const noexcept;
	[[nodiscard]] std::optional<unsigned> turn_giver() const noexcept;
	[[nodiscard]] unsigned quorum() const noexcept { return rules_.replicas / 2 + 1; }
	void say_that_it_goes_on() noexcept;
	void begin_again() noexcept;
	void wait_for_turn() noexcept;
	void choose_epoch() noexcept;
	void copy() noexcept;
	void tell(apps::ControlKind kind, State next) noexcept;
	void hear_turn(unsigned replica, std::uint64_t error) noexcept;

	const RepairRules rules_;
	VolumeSession &session_;
	RepairClient &client_;
	State state_ = State::waiting;
	int error_ = 0;
	std::uint64_t epoch_ = 0; /* the epoch that it has chosen; 0: none */
	unsigned attempts_ = 0;
	unsigned unanswered_ = 0;         /* messages to its replica, other than that it continues */
	std::optional<Time> said_so_;     /* time of the last message that it continues */
	std::optional<Time> waits_since_; /* time at which the wait for its turn began */
	bool has_turn_ = false;
	std::uint64_t next_ = 0, done_ = 0; /* blocks */
	std::uint64_t under_way_ = 0;       /* copies */
	std::uint64_t outdated_ = 0;        /* copies under way of an earlier epoch */
};

} // namespace prism::rs
