/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The protocol of the paper (GAM, VLDB '18, 3 and 4): each block has a home, whose directory says who has copies of it
 * or owns it. A miss is a message to the home, which invalidates, fetches or forwards. docs/prism-gam.md has the table
 * of messages and the rules of races.
 *
 * What it costs: 16 bytes for each block of the home, and 64 for each line, beside the 512 of the line itself. What is
 * in transit, locked or waited for has a record of its own, as long as it is. What peers can make the home keep is
 * bounded: Options::requests of each.
 *
 * A peer that is hostile can do to the blocks that it may ask for what any member can: read and write them, and keep
 * them. What no rule allows is counted as refused and changes nothing.
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
	std::span<std::byte> memory; /**< of this node as a home; what of it is allocated, Host says */
	std::span<std::byte> lines;  /**< block_size bytes for each line of this object's */
	std::size_t limit = 0;       /**< lines in use beyond which others are evicted; 0: all but a few */
	std::size_t shards = 1;      /**< objects of the node */
	std::size_t shard = 0;       /**< which of them this is */
	std::size_t requests = 1024; /**< of each peer that wait here; what is beyond ends with ENOBUFS */
	Rules rules;                 /**< the simulator's */
	BlockLog *log = nullptr;     /**< of the node; outlives the object. Null: nothing is logged */
	/**
	 * The home fetches what an owner has, and then answers from its memory. Else the owner sends it to who asks,
	 * as the paper has it, and the home may never see it: what the dead one had read from others is then lost, too.
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
	[[nodiscard]] bool at_rest() const override { return home_.at_rest() && lines_.at_rest(); }
	[[nodiscard]] const CoherenceStats &stats() const override { return context_.stats(); }

	/* Recovery, apps/stores/gam/recovery. lost() keeps the lines of a dead home that keeps a log, and joined() is
	 * called when that has recovered. */
	/** @p nodes, a bit set, keep logs. Before that: all, if this one does. */
	void set_loggers(std::uint64_t nodes) noexcept { context_.set_loggers(nodes); }
	/** As a home, before anybody uses @p block. False: no such block here, or it is in use. */
	bool restore(Address block, const directory::Restored &restored) { return home_.restore(block, restored); }
	/**
	 * Calls @p visit with the block, state (shared or dirty), term and bytes of each line of @p home. The bytes
	 * stay as they are until the next call of this object.
	 */
	void for_each_line(NodeId home,
		const std::function<void(Address, directory::LineState, std::uint64_t, const std::byte *)> &visit)
	{
		lines_.for_each(home, visit);
	}
	/** The term of the line of @p block, if there is one that may be read: @p data are its bytes, likewise. */
	std::optional<std::uint64_t> term_of_line(Address block, const std::byte *&data) noexcept
	{
		return lines_.term(block, data);
	}
	/** As a home whose log is durable: see directory::Home. */
	void for_each_orphan(NodeId owner,
		const std::function<void(Address, std::uint64_t, std::span<const std::byte, block_size>)> &visit)
	{
		home_.for_each_orphan(owner, visit);
	}
	void give_up(NodeId owner) { home_.give_up(owner); }
	/** As a home: logs all that has been written here since it was last logged. */
	void log_all() { home_.log_all(); }
	/** What @p block's home says is not valid. */
	void drop(Address block)
	{
		const SerialCalls::Call call(calls_);
		lines_.drop(block);
		leave();
	}

	/* For tests: what there is of a block */
	/** Of a block whose home this is, else null. */
	[[nodiscard]] const directory::Entry *entry(Address block) const noexcept;
	/** Of such a block: its bytes. */
	[[nodiscard]] const std::byte *memory(Address block) const noexcept { return home_.bytes(block); }
	/** Of a block of another home. @p data, if it may be read: its bytes. */
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
