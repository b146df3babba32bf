/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The home's part: the directory, and accesses of the home's own threads, which use the memory without a line.
 *
 * A block is unshared or shared (the memory has its value), dirty (a node owns it), or in transit on behalf of one
 * access. Other accesses, local and remote, wait in the block's queue, also until all nodes that have to be sent
 * something have room for it: an answer is longer than a request, and more than a peer has taken would end the
 * connection.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gam/coherence/lock.hpp"
#include "gam/directory/context.hpp"
#include "gam/directory/postponed.hpp"
#include "gam/directory/request.hpp"

namespace prism::gam::directory
{

enum class HomeState : std::uint8_t {
	shared,      /**< or unshared: no sharers */
	dirty,       /**< `owner` has it alone */
	to_shared,   /**< waits for `owner` to send the value */
	to_unshared, /**< waits for `owner` to send and drop the value, or to hand it over */
	to_alone,    /**< waits for sharers to drop it */
};

/** The directory entry of a block of the home. */
struct Entry {
	std::uint64_t sharers = 0; /**< a bit each */
	NodeId owner = no_node;
	HomeState state = HomeState::shared;
	std::uint64_t has_record : 1 = 0;
	std::uint64_t is_unlogged : 1 = 0; /**< the memory has a value that is in no log */
	std::uint64_t waits : 1 = 0;       /**< waits for a dead node, the only one that has the value: EOWNERDEAD */
	std::uint64_t term : 37 = 0;       /**< term of the ownership; see block_log.hpp */
};
static_assert(sizeof(Entry) == 16);

[[nodiscard]] constexpr bool is_in_transit(const Entry &entry) noexcept
{
	return entry.state != HomeState::shared && entry.state != HomeState::dirty;
}

/** The state of a block after its home has recovered. */
struct Restored {
	std::uint64_t term = 0;
	NodeId owner = no_node;          /**< no_node: the memory has the value */
	std::uint64_t sharers = 0;       /**< a bit each */
	bool waits = false;              /**< waits for an absent node: accesses end with EOWNERDEAD */
	bool is_logged = false;          /**< the value is in the home's own log */
	std::span<const std::byte> data; /**< block_size bytes, or none */
};

class Home
{
public:
	/**
	 * Manages blocks @p shard, @p shard + @p shards, ... of @p memory. @p requests: most waiting requests of each
	 * peer. @p through_home: Options::through_home.
	 */
	Home(Context &context, std::span<std::byte> memory, std::size_t shards, std::size_t shard, std::size_t requests,
		bool through_home);

	/** Starts an access of a thread of this node. */
	void start(Access &access);
	/** Handles @p message. Returns false if no rule allows it. */
	bool hear(NodeId from, const Message &message);
	void lost(NodeId node);
	/** Goes on with blocks that waited for a node to have room. */
	void resume();
	[[nodiscard]] bool waits_for_room() const noexcept { return !postponed_.empty(); }
	/** Restores a block that is not in use. Returns false if it is not a block of this object, or is in use. */
	bool restore(Address block, const Restored &restored);
	/** Calls @p visit with the block, term and bytes of each block that waits for @p owner since lost(). */
	void for_each_orphan(NodeId owner,
		const std::function<void(Address, std::uint64_t, std::span<const std::byte, block_size>)> &visit);
	/** Gives up on @p owner, which will not return: blocks that wait for it keep the value in memory. */
	void give_up(NodeId owner);
	/** Logs all values in memory that are in no log. */
	void log_all();
	[[nodiscard]] bool at_rest() const noexcept;
	/** Returns the entry of @p block, or null if it is not a block of this object. */
	[[nodiscard]] const Entry *entry(Address block) const noexcept;
	[[nodiscard]] const std::byte *bytes(Address block) const noexcept { return &memory_[block.offset()]; }

private:
	/* The record of a block that is in transit, locked or waited for */
	struct Record {
		BlockLock lock;
		AccessQueue waiting;
		Access *asking = nullptr;  /* in transit: on behalf of this access; null if its node has died */
		std::uint64_t askers = 0;  /* nodes with a waiting request */
		std::uint64_t awaited = 0; /* nodes that have not acknowledged yet */
		bool refused = false;      /* true if one of them has it locked */
		bool left = false;         /* true if the owner has evicted the block meanwhile */
		bool again = false;        /* true if the owner's answer does not reach the requester */
		Postponed::Turn turn;      /* linked while the first access waits for a node to have room */
	};
	/* A block while it is in use */
	struct Block {
		Address address;
		std::size_t index;
		Entry &entry;
		std::byte *bytes;
	};

	[[nodiscard]] bool is_mine(Address block) const noexcept;
	[[nodiscard]] Block block_at(Address address) noexcept;
	template <typename Visit>
	void for_each_block(const Visit &visit)
	{
		for (std::size_t index = 0; index < entries_.size(); index++)
			visit(block_at({context_.self(), (index * shards_ + shard_) * block_size}));
	}
	[[nodiscard]] Record &record(const Block &block);
	[[nodiscard]] int make_record(const Block &block) noexcept;
	[[nodiscard]] Record *find_record(const Block &block) noexcept;

	void arrive(const Block &block, Access &access);
	static void wait(Record &record, Access &access);
	static void wait_as_next(Record &record, Access &access);
	static Access &stop_waiting(Record &record);
	[[nodiscard]] static std::uint64_t targets(const Block &block, const Access &access) noexcept;
	[[nodiscard]] bool has_room(const Block &block, Record &record, const Access &access);
	void serve(const Block &block, Record &record, Access &access);
	void serve_dirty(const Block &block, Record &record, Access &access);
	void invalidate(const Block &block, Record &record, Access &access, std::uint64_t targets);
	void finish(const Block &block, Access &access);
	void finish_local(const Block &block, Access &access);
	void finish_uncached(const Block &block, Request &request);
	void give(const Block &block, Request &request);
	void refuse(const Block &block, Access &access, int error);
	int wrote(const Block &block, const Access &access);
	int log_before_it_leaves(const Block &block);
	void begin_own_term(const Block &block, bool is_unlogged);
	void begin_own_term_after(const Block &block, NodeId owner);
	void begin_term_of(const Block &block, NodeId owner);
	void settle(const Block &block);

	bool request(NodeId from, const Message &message);
	[[nodiscard]] bool may_ask(NodeId from, const Block &block) noexcept;
	void forget_again(NodeId from, const Block &block);
	static bool read_operation(Request &request, const Message &message);
	bool ask_again(NodeId from, const Message &message);
	bool evict_dirty(NodeId from, const Block &block, const Message &message);
	bool acknowledged(NodeId from, const Block &block, bool locked);
	bool fetched(NodeId from, const Block &block, const Message &message);
	bool transferred(NodeId from, const Block &block);
	bool refused_by_owner(const Block &block, Record &record);
	void all_acknowledged(const Block &block, Record &record);

	void lost_sharer(const Block &block, NodeId node);
	void lost_owner(const Block &block);
	void wait_for_owner(const Block &block);
	void lost_asker(const Block &block, NodeId node);

	/** Returns true if the owner sends its value directly to the requester. */
	[[nodiscard]] bool is_forwarded(const Access &access) const noexcept;
	[[nodiscard]] Message about(const Block &block, const Access &access) const noexcept;

	Context &context_;
	const std::span<std::byte> memory_;
	const std::size_t shards_;
	const std::size_t shard_;
	const bool through_home_;
	std::vector<Entry> entries_;
	std::unordered_map<std::size_t, Record> records_; /* by index of the entry */
	Requests requests_;
	Postponed postponed_;
};

} // namespace prism::gam::directory
