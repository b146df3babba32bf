/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Thread of a node: random accesses, and checks of the values that it must see. */
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
	double write_backs = 0;  /* percent of the accesses under no lock */
	bool writes_back = true; /* false: it believes that the home has all values, and writes nothing back */
};

/** Block, and how often its home's number was given to another node. */
using LifeOfBlock = std::pair<Address, unsigned>;

/** Holders of all locks, as all threads of all nodes see them. */
class Locks
{
public:
	/** Adds a holder. Returns false if the lock must not be granted. */
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

/** State shared by all threads. */
struct Shared {
	std::mt19937_64 random;
	simulation::History history;
	Locks locks;
	std::uint64_t last_value = 0; /* unique for each write */
	bool somebody_died = false;
	std::uint64_t ended = 0; /* operations */
	std::uint64_t busy = 0;  /* tries that were refused */
	std::function<void(const std::string &)> find;
	std::map<NodeId, unsigned> lives; /* how often a number was given to another node */
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

	/** Begins an access at @p node, if one is due. */
	void act(Coherence &node);
	/** Ends one of its accesses; Access::context is the thread. */
	static void ended(Access &access);
	/** Ends with its node, and its locks too. */
	void die();
	[[nodiscard]] bool is_done() const noexcept { return left_ == 0 && under_way_ == 0 && stage_ == Stage::none; }

private:
	/* Steps of work under a lock: read, write if the lock allows it, read again */
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
		std::vector<std::uint64_t> written; /* by a write-back: values that the home has when it has ended */
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
	std::map<Address, std::uint64_t> seen_;                 /* last values read */
	std::map<Address, std::vector<std::uint64_t>> written_; /* values written to each block since its write-back */
	Stage stage_ = Stage::none;
	bool alone_ = false;         /* write lock, else read lock */
	Address locked_;             /* word that is locked */
	LifeOfBlock lock_;           /* lock that is held */
	std::uint64_t expected_ = 0; /* value of the word under the lock */
};

} // namespace gam_sim
