/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>

#include "client.hpp"
#include "random.hpp"

namespace rs_sim
{

/** The conversation of a repair with its replica, which is not lost as long as the connection is there. */
class RepairTalk
{
public:
	virtual ~RepairTalk() = default;
	/** Each is answered some time by Repair::hear(). */
	virtual void tell_epoch(std::uint64_t epoch) = 0;
	virtual void tell_serve(std::uint64_t epoch) = 0;
};

struct RepairOptions {
	std::uint64_t blocks = 0;
	unsigned quorum = 0;
	Flaw flaw = Flaw::none;
};

/** Brings a replica back that has lost its memory: docs/prism-rs.md, "Replicas that come back". */
class Repair
{
public:
	enum class State : std::uint8_t {
		asking,    /* for the epochs of a quorum of serving replicas */
		spreading, /* a larger one among them */
		telling,   /* it to the replica */
		copying,
		ending,
		ended,
		lost, /* the replica, or its patience with this repair */
	};

	/** @p client is that of the repair, and repairs @p replica. */
	Repair(Client &client, unsigned replica, const RepairOptions &options, prism::test::Random &random,
		RepairTalk &talk);

	/** Goes on with what can be gone on with now. */
	void poll();
	/** The replica's answer. */
	void hear(int error);
	/** The replica has refused it. */
	void give_up() noexcept { state_ = State::lost; }
	/** The client's one lane is idle. */
	void copied();
	[[nodiscard]] State state() const noexcept { return state_; }
	[[nodiscard]] bool over() const noexcept { return state_ == State::ended || state_ == State::lost; }

private:
	[[nodiscard]] unsigned serving(std::uint64_t epoch) const;
	void choose();
	void copy();

	Client &client_;
	const unsigned replica_;
	const RepairOptions options_;
	prism::test::Random &random_;
	RepairTalk &talk_;
	State state_ = State::asking;
	std::uint64_t chosen_ = 0; /* epoch */
	bool waits_ = false;       /* for an answer of the replica, or a block */
	bool again_ = false;       /* what it waits for is of an epoch that was given up */
	std::uint64_t next_ = 0;   /* block */
	prism::apps::Operation operation_;
};

} // namespace rs_sim
