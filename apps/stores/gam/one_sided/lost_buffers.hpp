/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A home's search for buffers that nobody can give back: a node that died had taken or replaced them and not reported
 * it, or a chain failed and nobody knows how much of it was executed. All work goes on meanwhile:
 *
 *     1. The home marks the buffers that are handed out. No queue pair of the dead is left.
 *     2. Each node settles: its chains that were under way end, and what they replaced is reported. Now each marked
 *        buffer is in an entry, reported, or lost.
 *     3. The home spares the buffers that its entries name.
 *     4. Each node settles again, as it may have replaced a marked buffer before the home came to that entry.
 *     5. The home collects the marked buffers that are neither spared nor reported.
 *
 * Nodes that join later have no marked buffer that the home has not seen in an entry. Sans-I/O. One thread at a time.
 */
#pragma once

#include <cstdint>

#include "gam/coherence/address.hpp"

namespace prism::gam::latch
{

class LostBuffers
{
public:
	/** The home. Called only from inside step(). */
	class Host
	{
	public:
		virtual ~Host() = default;
		/** Marks the buffers that are handed out. Returns false if that is not known yet. */
		virtual bool mark() = 0;
		/** Spares buffers of some more entries. Returns true after the last. */
		virtual bool spare_some() = 0;
		virtual void collect() = 0;
		/** Returns the nodes, this one included, that can post chains to this home: a bit set. */
		[[nodiscard]] virtual std::uint64_t reachable() = 0;
		/** Asks @p node to settle, and to answer with @p round. */
		virtual void ask(NodeId node, std::uint64_t round) = 0;
	};

	/** @p host outlives this object. */
	explicit LostBuffers(Host &host) : host_(host) {}

	/** Begins a search with the next step(), or another one after that under way. */
	void search() noexcept { is_wanted_ = true; }
	/** Handles the answer of @p from. Others than the one asked for are ignored. */
	void hear(NodeId from, std::uint64_t round) noexcept;
	/** Awaits @p node no longer, as it has died. */
	void forget(NodeId node) noexcept { awaited_ &= ~bit(node); }
	/** Takes the next steps. Call it now and then. */
	void step();
	[[nodiscard]] bool is_searching() const noexcept { return stage_ != Stage::idle; }

private:
	enum class Stage : std::uint8_t {
		idle,
		settling,
		sparing,
		settling_again
	};

	bool advance();
	void ask_all();

	Host &host_;
	Stage stage_ = Stage::idle;
	bool is_wanted_ = false;
	std::uint64_t round_ = 0;
	std::uint64_t awaited_ = 0; /* nodes that have not settled, a bit set */
};

} // namespace prism::gam::latch
