/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a replica that has lost its memory is brought back, whatever carries it: docs/prism-rs.md, "Replicas that come
 * back".
 */
#pragma once

#include <cstdint>
#include <optional>

#include "rs/volume/introduction.hpp"
#include "rs/volume/session.hpp"

namespace prism::rs
{

/** What a repair needs of the program around it. */
class RepairClient
{
public:
	virtual ~RepairClient() = default;

	/** An epoch after the newest; nothing: there is none. */
	[[nodiscard]] virtual std::optional<std::uint64_t> new_epoch() noexcept = 0;

	/** Says @p message to @p replica: answered by RepairProtocol::hear(), unless the connection ends before. */
	virtual void tell(unsigned replica, const apps::ControlMessage &message) noexcept = 0;
	/** Begins to copy @p block: ended by RepairProtocol::copied(). False: as many as can be are under way. */
	virtual bool copy(std::uint64_t block) noexcept = 0;
};

struct RepairRules {
	unsigned replica = 0; /**< that is repaired */
	unsigned replicas = 3;
	std::uint64_t blocks = 0;
	std::uint64_t client = 0; /**< the repair's number among others: random, not 0 */
	/** How often it says that it goes on: several times in a RepairTurn's lease. */
	Time says_so = std::chrono::milliseconds(500);
	/** How long it waits for its turn if nothing shows that another replica is being repaired. */
	Time patience = std::chrono::seconds(5);
	/** How often it may begin all over again, as others begin newer epochs. */
	unsigned most_attempts = 8;
};

/** One repair of one replica. One thread calls its functions. */
class RepairProtocol
{
public:
	enum class State : std::uint8_t {
		waiting,   /* for a quorum of others that serve, and its turn */
		spreading, /* its epoch among them */
		telling,   /* it to the replica */
		copying,
		ending, /* the replica is to serve */
		ended,
		failed, /* see error() */
	};

	/** @p session: of a client whose protocol copies blocks to the replica (ProtocolOptions). */
	RepairProtocol(const RepairRules &rules, VolumeSession &session, RepairClient &client)
		: rules_(rules), session_(session), client_(client)
	{
	}

	/** Goes on with what can be gone on with now. Whoever calls it calls it again soon. */
	void poll() noexcept;
	/** @p replica has answered. */
	void hear(unsigned replica, const apps::ControlMessage &answer) noexcept;
	/** A block has been copied, or not: @p error is an errno. */
	void copied(int error) noexcept;
	/** It cannot go on, for want of the connection to its replica: @p error. */
	void give_up(int error) noexcept;

	[[nodiscard]] State state() const noexcept { return state_; }
	[[nodiscard]] bool over() const noexcept { return state_ == State::ended || state_ == State::failed; }
	/**
	 * Why it failed: EOVERFLOW (the volume has had all epochs), EAGAIN (others began newer epochs again and again),
	 * EPERM (another repair of the replica has taken its place), what copied() or give_up() was told.
	 */
	[[nodiscard]] int error() const noexcept { return error_; }
	/** It waits for replicas, which may not be there; if not, for other repairs or for operations, which end. */
	[[nodiscard]] bool waits_for_replicas() const noexcept;
	/** How often it has begun again, as somebody had begun a newer epoch. */
	[[nodiscard]] unsigned interruptions() const noexcept { return attempts_; }
	/** Blocks copied so far, in this attempt. */
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
	std::uint64_t epoch_ = 0; /* that it has chosen; 0: none */
	unsigned attempts_ = 0;
	unsigned unanswered_ = 0;         /* messages to its replica, other than that it goes on */
	std::optional<Time> said_so_;     /* last */
	std::optional<Time> waits_since_; /* for its turn */
	bool has_turn_ = false;
	std::uint64_t next_ = 0, done_ = 0; /* blocks */
	std::uint64_t under_way_ = 0;       /* copies */
	std::uint64_t outdated_ = 0;        /* of them: of an earlier epoch */
};

} // namespace prism::rs
