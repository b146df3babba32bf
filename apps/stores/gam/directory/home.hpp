/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The home's part: the directory, and the accesses of the home's threads, which use the memory without a line.
 *
 * A block is unshared or shared (the memory has its value), dirty (a node owns it), or in transit on behalf of one
 * access. Others wait in the block's queue, local and remote alike.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gam/cache/lock.hpp"
#include "gam/directory/context.hpp"
#include "gam/directory/request.hpp"

namespace prism::gam::directory
{

enum class HomeState : std::uint8_t {
	shared,      /**< or unshared: no sharers */
	dirty,       /**< `owner` has it alone */
	to_shared,   /**< `owner` is to send the value */
	to_unshared, /**< `owner` is to send the value and to drop it, or to hand it over */
	to_alone,    /**< sharers are to drop it */
};

/** Of each block of the home. */
struct Entry {
	std::uint64_t sharers = 0; /**< a bit each */
	NodeId owner = no_node;
	HomeState state = HomeState::shared;
	std::uint64_t has_record : 1 = 0;
	std::uint64_t is_unlogged : 1 = 0; /**< the memory has a value that is in nobody's log */
	std::uint64_t waits : 1 = 0;       /**< for a dead node, which alone has the value: EOWNERDEAD */
	std::uint64_t term : 37 = 0;       /**< of the ownership: rises when the block is given away and returns */
};
static_assert(sizeof(Entry) == 16);

/** What has become of a block, when its home is back. */
struct Restored {
	std::uint64_t term = 0;
	NodeId owner = no_node;          /**< or nobody: the memory has the value */
	std::uint64_t sharers = 0;       /**< a bit each */
	bool waits = false;              /**< for a node that is not here: accesses end with EOWNERDEAD */
	bool is_logged = false;          /**< the value is in the home's own log */
	std::span<const std::byte> data; /**< block_size bytes, or none */
};

class Home
{
public:
	/**
	 * Blocks @p shard, @p shard + @p shards, ... of @p memory. @p requests: of each peer that may wait.
	 * @p through_home: Options::through_home.
	 */
	Home(Context &context, std::span<std::byte> memory, std::size_t shards, std::size_t shard, std::size_t requests,
		bool through_home);

	/** An access of a thread of this node. */
	void start(Access &access);
	/** Whether a rule allows that. */
	bool hear(NodeId from, const Message &message);
	void lost(NodeId node);
	/** Of a block that is not in use. False: no such block here. */
	bool restore(Address block, const Restored &restored);
	/** Calls @p visit with the block, term and bytes of each block that waits for @p owner since lost(). */
	void for_each_orphan(NodeId owner,
		const std::function<void(Address, std::uint64_t, std::span<const std::byte, block_size>)> &visit);
	/** @p owner will not come back: what waits for it has the value that the memory has. */
	void give_up(NodeId owner);
	/** What the memory has is in a log. */
	void log_all();
	[[nodiscard]] bool at_rest() const noexcept;
	/** Null: no such block here. */
	[[nodiscard]] const Entry *entry(Address block) const noexcept;
	[[nodiscard]] const std::byte *bytes(Address block) const noexcept { return &memory_[block.offset()]; }

private:
	/* Of a block that is in transit, locked or waited for */
	struct Record {
		BlockLock lock;
		AccessQueue waiting;
		Access *asking = nullptr;  /* in transit: on whose behalf; null if that node has died */
		std::uint64_t askers = 0;  /* nodes with a request that waits */
		std::uint64_t awaited = 0; /* nodes that are to acknowledge */
		bool refused = false;      /* one of them has it locked */
		bool left = false;         /* the owner has evicted the block meanwhile */
		bool again = false;        /* the owner's answer does not reach the requester */
	};
	/* A block while it is worked at */
	struct Block {
		Address address;
		std::size_t index;
		Entry &entry;
		std::byte *bytes;
	};

	[[nodiscard]] bool is_mine(Address block) const noexcept;
	[[nodiscard]] Block block_at(Address address) noexcept;
	[[nodiscard]] Record &record(const Block &block);
	[[nodiscard]] Record *find_record(const Block &block) noexcept;

	void arrive(const Block &block, Access &access);
	static void wait(Record &record, Access &access);
	static Access &stop_waiting(Record &record);
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

	/** The owner sends what it has to who asks. */
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
};

} // namespace prism::gam::directory
