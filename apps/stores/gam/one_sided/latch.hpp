/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * GAM's latch protocol: the entry of a block is memory of its home. A node changes it by one CAS, and reads the block
 * in the same chain. Only nodes that have the block exchange messages. The home's processor gets only reports of free
 * buffers. tests/models/gam_latch.pml is the model.
 *
 * A line is 512 bytes, 128 beside them in registered memory, and a record of its own. A node reaches itself as a home
 * in the same way, through a queue pair to itself.
 *
 * A READ goes straight into the line, which is invalid, so that nobody looks at it, until the chain has completed. A
 * line is not written while it is written back. So nothing is copied.
 *
 * Peers can write to entries as they like: a hostile member can keep, change or destroy any block. Messages are
 * checked: one that no rule allows is counted as refused and changes nothing. An impossible entry ends the accesses to
 * that block with EPROTO. If its pointer leads out of the home's memory, the device ends the queue pair; a new one
 * follows soon, and all else that was under way is posted again. A member that takes a block and never answers has to
 * be declared dead.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/assertion.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/one_sided/homes.hpp"
#include "gam/one_sided/line.hpp"
#include "gam/one_sided/messages.hpp"
#include "gam/one_sided/region.hpp"
#include "gam/one_sided/rules.hpp"

namespace prism::gam
{

namespace latch
{

/** Registered memory for lines and slots, both zeroed; it outlives Latch and all chains under way. */
struct WorkingMemory {
	static constexpr std::size_t bytes_of_line = block_size + slot_size;

	std::span<std::byte> bytes; /**< bytes_of_line for each line */
	std::uint64_t address = 0;  /**< address of the first byte, for the device */
	std::uint32_t lkey = 0;

	[[nodiscard]] std::size_t lines() const noexcept { return bytes.size() / bytes_of_line; }
};

struct Options {
	NodeId self = 0;
	WorkingMemory memory;
	Region *region = nullptr; /**< memory that this node lends, for lend() and sweep(); null: none */
	std::size_t shards = 1;   /**< number of objects of the node */
	std::size_t shard = 0;    /**< number of this one */
	unsigned patience = 4;    /**< times that a node is turned away before it makes itself `waiter` */
	Time rest =
		std::chrono::microseconds(50); /**< delay before another look at an entry while another node is next */
	Rules rules;
};

} // namespace latch

/** Call it, and completed(), as Coherence requires. A completion belongs to shard_of(block_of(token)). */
class Latch final : public Coherence
{
public:
	/** @p host, @p homes and the memory that @p options name outlive it. */
	Latch(const latch::Options &options, Host &host, latch::Homes &homes);

	bool start(Access &access) override;
	[[nodiscard]] bool read_beside(Address from, std::span<std::byte> into) noexcept override
	{
		return cache_.read(from, into);
	}
	[[nodiscard]] bool write_beside(Address to, std::span<const std::byte> bytes) noexcept override
	{
		return cache_.write(to, bytes);
	}
	void hear(NodeId from, const Message &message) override;
	void joined(NodeId /*node*/) override {} /* swept() came before */
	/** Begins the first phase of a death. When has_let_go() returns true, this node has confirmed it. */
	void lost(NodeId node) override;
	Time on_time(Time now) override;
	void flush() override;
	[[nodiscard]] bool is_flushed() const override { return at_rest(); }
	[[nodiscard]] bool at_rest() const override;
	[[nodiscard]] const CoherenceStats &stats() const override { return stats_; }

	/** Handles the outcome of the chain that was posted with @p token. */
	void completed(std::uint64_t token, const latch::Outcome &outcome);
	/** Returns the block of the chain with @p token. */
	[[nodiscard]] static Address block_of(std::uint64_t token) noexcept { return Address(token).block(); }

	/**
	 * Writes back the block of @p at if it is dirty here, and keeps it, for the policy `durable`. at_rest() tells
	 * when that is done.
	 */
	void install(Address at);
	/** Lends @p block: at once if its entry names no node, otherwise by a CAS. */
	bool lend(Address block) override;
	/**
	 * Withdraws @p block: requests end with EFAULT, unless something is allocated there again. Nodes that have it
	 * are told, and give it up when it is not locked there.
	 */
	void withdraw(Address block) override { change(block); }

	/* The second phase of a death: */
	/** Returns true if nothing under way here can give a block to @p dead. Call after lost(). */
	[[nodiscard]] bool has_let_go(NodeId dead);
	/**
	 * Removes @p dead, as a home, from all entries, once all live nodes have let go of it. is_sweeping() returns
	 * true until that is done.
	 */
	void sweep(NodeId dead);
	[[nodiscard]] bool is_sweeping() const noexcept { return !sweeps_.empty() || chores_under_way_; }
	/** Reports that all homes have swept, so the number of @p dead may be reused. */
	void swept(NodeId dead);

	/**
	 * Returns the number of buffers that were replaced and reported to their homes: the only cost to a home's
	 * processor.
	 */
	[[nodiscard]] std::uint64_t freed_buffers() const noexcept { return freed_; }

	/* For tests */
	/** Returns the state of @p block. Sets @p data to its bytes if they may be read. */
	[[nodiscard]] latch::State state(Address block, const std::byte **data = nullptr) noexcept;

private:
	using Line = latch::Line;
	using Phase = latch::Phase;
	using State = latch::State;
	/** The verdict on an access is an errno value to end it with, or one of these. */
	static constexpr int held_back = -1; /* wait: for a lock, or for nodes that have waited longer */
	static constexpr int acquire = -2;   /* acquire the block first */
	/* Kinds of tokens, in the lower bits of the block's address */
	static constexpr std::uint64_t chore_token = 1;
	static constexpr std::uint64_t change_token = 2; /* a chore of change() */
	static constexpr std::size_t max_chores = 16;    /* under way */
	static constexpr std::size_t max_evictions = 16;

	struct Sweep {
		NodeId dead;
		std::uint64_t next; /* next block to check */
	};

	/* latch.cpp: accesses, and the next step of a line */
	[[nodiscard]] bool may_hit(const Line &line, const Access &access) const noexcept;
	[[nodiscard]] bool must_not_wait(const Line &line, const Access &access) const noexcept;
	[[nodiscard]] int verdict(const Line &line, const Access &access) const noexcept;
	bool enqueue(Line *line, Access &access);
	int perform(Line &line, Access &access);
	void unlock(Line &line, Access &access);
	void finish(Access &access, int error);
	void fail(Line &line, int error);
	void run(Line &line);
	[[nodiscard]] Access *take_ready(Line &line, int &error);
	void settle(Line &line);
	void open_if_dirty(Line &line) noexcept;
	void release(Line &line);
	void set_state(Line &line, State state) noexcept;
	void set_phase(Line &line, Phase phase) noexcept;
	void rest(Line &line);
	void fill_room();
	void end_overdue(Time now);
	void trim();
	[[nodiscard]] bool evict_oldest();
	[[nodiscard]] Line *make_room(Address block);
	void evict(Line &line);
	[[nodiscard]] bool is_dead(NodeId node) const noexcept { return node < max_nodes && (dead_ & bit(node)); }
	[[nodiscard]] Time retry(Time now);

	/* chains.cpp: chains and their outcomes */
	[[nodiscard]] latch::Slot &slot(const Line &line) const noexcept;
	[[nodiscard]] LocalSlice slice(const void *place, std::uint32_t bytes) const noexcept;
	bool post(Line &line, const Chain &chain, Phase phase);
	void begin(Line &line);
	void fetch(Line &line, const latch::HomeMemory &home);
	void claim(Line &line, const latch::HomeMemory &home);
	void peek(Line &line, const latch::HomeMemory &home);
	void wait(Line &line, const latch::HomeMemory &home);
	void reread(Line &line, const latch::Entry &found);
	void undo(Line &line);
	void ended(Line &line, const latch::Outcome &outcome);
	void failed(Line &line, const latch::Outcome &outcome);
	void go_on(Line &line);
	void fetched(Line &line, const latch::Outcome &outcome);
	void peeked(Line &line, const latch::Outcome &outcome);
	void claimed(Line &line, const latch::Outcome &outcome);
	void has_reread(Line &line, const latch::Outcome &outcome);
	void undone(Line &line, const latch::Outcome &outcome);
	void missed(Line &line);
	void ask(Line &line, NodeId writer);
	static void complete_data(Line &line, const latch::Outcome &outcome) noexcept;
	void not_lent(Line &line);
	void use_once(Line &line);
	void broken(Line &line, int error);

	/* serve.cpp: handing a block on */
	[[nodiscard]] bool is_kept(const Line &line) const noexcept;
	[[nodiscard]] bool wants_to_leave(const Line &line) const noexcept;
	void leave(Line &line);
	void post_leave(Line &line, const latch::HomeMemory &home);
	void append_write_back(Line &line, Chain &chain, const latch::HomeMemory &home) const;
	void left(Line &line, const latch::Outcome &outcome);
	void take_back(Line &line) noexcept;
	void has_left(Line &line, const latch::Entry &found);
	void grant(Line &line, const latch::Entry &found);
	void install(Line &line, const latch::HomeMemory &home);
	void installed(Line &line, const latch::Outcome &outcome);
	void has_installed(Line &line, std::uint64_t old_buffer);
	void turn_away(Line &line);
	void give_back(Line &line, std::uint64_t buffer);

	/* hear.cpp: messages */
	void send(NodeId to, latch::Type type, Address block, std::uint8_t flags = 0, std::uint32_t version = 0,
		std::uint64_t sharers = 0, std::span<const std::byte> data = {});
	void hear_request(NodeId from, Line *line, const Message &message);
	void hear_invalidate(NodeId from, Line *line, const Message &message);
	bool hear_answer(NodeId from, Line &line, const Message &message);
	bool hear_grant(Line &line, const Message &message);
	void acknowledge(Line &line, NodeId to);
	void tell(Line &line, std::uint64_t sharers);
	void told(Line &line, NodeId by, bool refuses);
	void told_all(Line &line);
	void own(Line &line);

	/* death.cpp: deaths, and a home's changes to its entries */
	void end_waiting(NodeId home);
	void forget(Line &line, NodeId dead);
	void end_lost(Line &line);
	void do_chores();
	[[nodiscard]] std::uint64_t others_with(Address block) const;
	[[nodiscard]] bool may_tell_withdrawn(Address block) const;
	void change(Address block);
	void changed(Address block);
	void tell_withdrawn(Address block);
	void repeat_chore(std::uint64_t token);
	[[nodiscard]] bool post_chore(std::uint64_t token, const Chain &chain);
	[[nodiscard]] bool sweep_next(Sweep &sweep);

	[[no_unique_address]] SerialCalls calls_;
	const latch::Options options_;
	Host &host_;
	latch::Homes &homes_;
	Cache<Line> cache_;
	const std::size_t limit_; /* lines in use beyond which others are evicted */
	std::vector<Line *> resting_;
	std::vector<Line *> due_;
	AccessQueue room_; /* accesses that wait for a line */
	std::size_t room_count_ = 0;
	Time overdue_ = Time::max(); /* Access::room_until of the first of them */
	bool is_filling_ = false;
	std::size_t evicting_ = 0;
	std::size_t busy_ = 0;    /* lines that are not idle */
	std::size_t pending_ = 0; /* accesses under way */
	Access *starting_ = nullptr;
	std::uint64_t dead_ = 0;                         /* bit set */
	std::deque<Address> changes_;                    /* blocks to be lent or withdrawn */
	std::unordered_map<Address, unsigned> changing_; /* the same, and blocks whose chore is under way */
	std::vector<Sweep> sweeps_;
	std::size_t chores_under_way_ = 0;
	Time now_{};
	std::uint64_t freed_ = 0;
	CoherenceStats stats_;
};

} // namespace prism::gam
