/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The protocol of the paper (GAM, VLDB '18, 3 and 4): each block has a home, whose directory records who has copies of
 * it or owns it. A miss is a message to the home, which invalidates, fetches or forwards. docs/prism-gam.md has the
 * table of messages and the rules for races.
 *
 * Memory: 16 bytes for each block of the home; for each line 64 beside its 512. A block or line that is in transit,
 * locked or waited for has a record, for that time only. The memory that peers can make the home use is bounded:
 * Options::requests for each.
 *
 * A hostile peer can do to the blocks that it may ask for what any member can: read, write and keep them. A message
 * that no rule allows is counted as refused and changes nothing.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/assertion.hpp"
#include "gam/coherence/block_log.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/directory/context.hpp"
#include "gam/directory/home.hpp"
#include "gam/directory/lines.hpp"
#include "gam/directory/rules.hpp"

namespace prism::gam
{

namespace directory
{

struct Options {
	NodeId self = 0;
	std::span<std::byte> memory; /**< memory of this node as a home; Host says which blocks are allocated */
	std::span<std::byte> lines;  /**< block_size bytes for each line of this object */
	std::size_t limit = 0;       /**< lines in use beyond which others are evicted; 0: all except a few */
	std::size_t shards = 1;      /**< number of objects of the node */
	std::size_t shard = 0;       /**< number of this one */
	std::size_t requests = 1024; /**< most that this node has under way to each home, or each peer here */
	Rules rules;                 /**< switched by the simulator */
	BlockLog *log = nullptr;     /**< log of the node; outlives the object. Null: nothing is logged */
	/**
	 * True if the home fetches an owner's value and answers from its own memory. Otherwise the owner sends it to
	 * the requester, as in the paper, and the home may never see it; then values that a dead node had read from
	 * others are lost too.
	 */
	bool through_home = false;
};

} // namespace directory

class Directory final : public Coherence
{
public:
	/** @p host and the memory that @p options name outlive it. */
	Directory(const directory::Options &options, Host &host);

	bool start(Access &access) override;
	[[nodiscard]] bool read_beside(Address from, std::span<std::byte> into) noexcept override
	{
		return lines_.read_beside(from, into);
	}
	[[nodiscard]] bool write_beside(Address to, std::span<const std::byte> bytes) noexcept override
	{
		return lines_.write_beside(to, bytes);
	}
	void hear(NodeId from, const Message &message) override;
	void joined(NodeId node) override;
	void lost(NodeId node) override;
	Time on_time(Time now) override;
	void flush() override;
	[[nodiscard]] bool is_flushed() const override { return lines_.at_rest(); }
	[[nodiscard]] bool at_rest() const override { return home_.at_rest() && lines_.at_rest(); }
	[[nodiscard]] const CoherenceStats &stats() const override { return context_.stats(); }

	/*
	 * For recovery (apps/stores/gam/membership). lost() keeps the lines of a dead home that keeps a log; joined()
	 * is called when that home has recovered.
	 */
	/** Sets the nodes that keep logs, a bit set. Before this call: all, if this node does. */
	void set_loggers(std::uint64_t nodes) noexcept { context_.set_loggers(nodes); }
	/** Restores @p block as its home, before any use. Returns false if this is not its home, or if it is in use. */
	bool restore(Address block, const directory::Restored &restored) { return home_.restore(block, restored); }
	/**
	 * Calls @p visit with the block, state (shared or dirty), term and bytes of each line of @p home. The bytes
	 * stay unchanged until the next call to this object.
	 */
	void for_each_line(NodeId home,
		const std::function<void(Address, directory::LineState, std::uint64_t, const std::byte *)> &visit)
	{
		lines_.for_each(home, visit);
	}
	/**
	 * Returns the term of the line of @p block, if there is one with a readable value; @p data then points to its
	 * bytes, for as long.
	 */
	std::optional<std::uint64_t> term_of_line(Address block, const std::byte *&data) noexcept
	{
		return lines_.term(block, data);
	}
	/** For a home whose log is durable: see directory::Home. */
	void for_each_orphan(NodeId owner,
		const std::function<void(Address, std::uint64_t, std::span<const std::byte, block_size>)> &visit)
	{
		home_.for_each_orphan(owner, visit);
	}
	void give_up(NodeId owner) { home_.give_up(owner); }
	/** Logs all that was written here since it was last logged. */
	void log_all()
	{
		home_.log_all();
		lines_.log_all();
	}
	/** Drops the line of @p block, which its home says is not valid. */
	void drop(Address block)
	{
		const SerialCalls::Call call(calls_);
		lines_.drop(block);
		leave();
	}

	/* For tests: the state of a block */
	/** Returns the entry of @p block, or null if this node is not its home. */
	[[nodiscard]] const directory::Entry *entry(Address block) const noexcept;
	/** Returns the bytes of a block whose home this is. */
	[[nodiscard]] const std::byte *memory(Address block) const noexcept { return home_.bytes(block); }
	/** Returns the state of the line of a block of another home. Sets @p data to its bytes if they may be read. */
	[[nodiscard]] directory::LineState line(Address block, const std::byte **data = nullptr) noexcept
	{
		return lines_.state(block, data);
	}

private:
	void leave();

	[[no_unique_address]] SerialCalls calls_;
	directory::Context context_;
	directory::Home home_;
	directory::Lines lines_;
	const std::size_t shards_;
	const std::size_t shard_;
};

} // namespace prism::gam
