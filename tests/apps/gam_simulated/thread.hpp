/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A thread of a node: what it does, at random, and what it must then see. */
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "gam/coherence/coherence.hpp"
#include "simulation/history.hpp"

namespace gam_sim
{

using prism::gam::Access;
using prism::gam::AccessKind;
using prism::gam::Address;
using prism::gam::Coherence;
using prism::gam::NodeId;
using prism::gam::ThreadId;

struct ThreadOptions {
	std::uint64_t operations = 40;
	unsigned homes = 0; /* 0: all nodes */
	unsigned blocks = 2;
	unsigned words = 2;
	double locks = 15; /* percent */
	double tries = 40; /* percent of the locks */
	double uncached = 10;
	double writes = 30;
	double atomics = 20;
	double write_backs = 0;  /* percent of what is under no lock */
	bool writes_back = true; /* false: it believes that the home has it, and does nothing for that */
};

/** A block, and how often its home's number was given to another. */
using LifeOfBlock = std::pair<Address, unsigned>;

/** Who holds the lock of which block: what all threads of all nodes see. */
class Locks
{
public:
	/** Whether that may be. */
	[[nodiscard]] bool take(const LifeOfBlock &block, bool alone)
	{
		Holders &holders = blocks_[block];
		const bool may = !holders.writers && (!alone || !holders.readers);
		(alone ? holders.writers : holders.readers)++;
		return may;
	}
	void give_back(const LifeOfBlock &block, bool alone)
	{
		(alone ? blocks_[block].writers : blocks_[block].readers)--;
	}

private:
	struct Holders {
		unsigned readers = 0;
		unsigned writers = 0;
	};
	std::map<LifeOfBlock, Holders> blocks_;
};

/** What threads share. */
struct Shared {
	std::mt19937_64 random;
	simulation::History history;
	Locks locks;
	std::uint64_t last_value = 0; /* each write has one of its own */
	bool somebody_died = false;
	std::uint64_t ended = 0; /* operations */
	std::uint64_t busy = 0;  /* tries that were refused */
	std::function<void(const std::string &)> find;
	std::map<NodeId, unsigned> lives; /* how often a number was given to another */
	std::set<NodeId> dead;
	std::unordered_set<std::uint64_t> kept; /* values that their writers have written back */

	[[nodiscard]] LifeOfBlock life_of(Address block) const
	{
		const auto found = lives.find(block.home());
		return {block, found == lives.end() ? 0 : found->second};
	}
};

class Thread
{
public:
	Thread(Shared &shared, const ThreadOptions &options, unsigned nodes, ThreadId id);
	Thread(const Thread &) = delete;
	Thread &operator=(const Thread &) = delete;

	/** Begins an access at @p node, if it is time for one. */
	void act(Coherence &node);
	/** One of its accesses has ended: Access::context is the thread. */
	static void ended(Access &access);
	/** Its node has died, and its locks with it. */
	void die();
	[[nodiscard]] bool is_done() const noexcept { return left_ == 0 && under_way_ == 0 && stage_ == Stage::none; }

private:
	/* What it does under a lock: read, write if the lock is for that, read again */
	enum class Stage : std::uint8_t {
		none,
		locking,
		reading,
		writing,
		checking,
		unlocking,
	};
	struct Op : Access {
		std::uint64_t word = 0;
		std::size_t record = 0;
		bool is_used = false;
		std::vector<std::uint64_t> written; /* of a write back: what the home has when it has ended */
	};

	void begin(Coherence &node);
	void begin_write_back(Coherence &node);
	void begin_plain(Coherence &node);
	void begin_lock(Coherence &node);
	void go_on(Coherence &node);
	void start(Coherence &node, Op &op);
	void record(Op &op);
	void end(Op &op);
	void end_recorded(Op &op);
	void end_stage(Op &op);
	[[nodiscard]] Address any_word();
	[[nodiscard]] Op &op(AccessKind kind, Address at);
	[[nodiscard]] bool chance(double percent);

	Shared &shared_;
	const ThreadOptions options_;
	const unsigned nodes_;
	const ThreadId id_;
	std::uint64_t left_;
	unsigned under_way_ = 0;
	std::array<Op, 3> ops_;
	std::map<Address, std::uint64_t> seen_;                 /* what it has read last */
	std::map<Address, std::vector<std::uint64_t>> written_; /* to each block since it was last written back */
	Stage stage_ = Stage::none;
	bool alone_ = false;         /* of the lock */
	Address locked_;             /* a word */
	LifeOfBlock lock_;           /* which is held */
	std::uint64_t expected_ = 0; /* of it, under the lock */
};

} // namespace gam_sim
