/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the nodes of the latch protocol agree on when one has died. Its name must be out of all entries before its
 * number is given to another:
 *
 *     1. Each live node lets go: nothing that it has under way gives a block to the dead one. It tells all others.
 *     2. When all have, each node sweeps the entries that it is the home of, and tells all others.
 *     3. When all have, it is over.
 *
 * All live nodes are those of the newest view: whoever dies meanwhile is not waited for any more, and who joins is told
 * again (met()). Sans-I/O. One thread at a time.
 */
#pragma once

#include <cstdint>
#include <map>

#include "gam/peer/view.hpp"

namespace prism::gam
{

class Farewells
{
public:
	enum class Word : std::uint8_t {
		let_go,
		swept
	};

	/** The node. Nothing of it is called but from inside of step() and met(). */
	class Host
	{
	public:
		virtual ~Host() = default;
		virtual void tell(NodeId to, Word word, std::uint64_t incarnation) = 0;
		[[nodiscard]] virtual bool has_let_go(NodeId dead) = 0;
		virtual void sweep(NodeId dead) = 0;
		[[nodiscard]] virtual bool is_sweeping(NodeId dead) = 0;
		/** All live nodes have swept. */
		virtual void over(NodeId dead) = 0;
	};

	/** @p host outlives this object. */
	explicit Farewells(NodeId self, Host &host) : self_(self), host_(host) {}

	/** The node has heard of all deaths in @p view, and is cut off from the dead. */
	void adopt(const View &view);
	/** adopt() has told of its death already. */
	[[nodiscard]] bool knows(const NodeLife &life) const;
	/** @p from says it of the node that had @p incarnation. Hostile until checked: what cannot be is ignored. */
	void hear(NodeId from, Word word, std::uint64_t incarnation);
	/** @p node can be told something from now on: it hears of what the others know already. */
	void met(NodeId node);
	/** Goes on. To be called now and then while is_waiting(). */
	void step();
	/** A number is not free yet. */
	[[nodiscard]] bool is_waiting() const;

private:
	enum class Stage : std::uint8_t {
		heard_of,
		letting_go,
		agreeing,
		sweeping,
		ending,
		over
	};
	struct Farewell {
		NodeId node = no_node;
		Stage stage = Stage::heard_of; /* only others know of it so far */
		std::uint64_t let_go = 0;      /* who has said so: bit sets */
		std::uint64_t swept = 0;
	};

	[[nodiscard]] bool may_be_heard(NodeId from, std::uint64_t incarnation) const;
	bool advance(std::uint64_t incarnation, Farewell &farewell);
	void tell_all(Word word, std::uint64_t incarnation);

	const NodeId self_;
	Host &host_;
	View view_;
	std::uint64_t live_ = 0;                      /* bit set, without this node */
	std::map<std::uint64_t, Farewell> farewells_; /* by incarnation */
};

} // namespace prism::gam
