/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The agreement of the nodes of the latch protocol after a death. The dead node's name must be out of all entries
 * before its number is reused:
 *
 *     1. Each live node lets go: nothing under way there gives a block to the dead node. It tells all others.
 *     2. When all have let go, each node sweeps the entries of its own blocks, and tells all others.
 *     3. When all have swept, it is over.
 *
 * The live nodes are those of the newest view: nodes that die meanwhile are no longer waited for, and nodes that join
 * are told again (met()). Sans-I/O. One thread at a time.
 */
#pragma once

#include <cstdint>
#include <map>

#include "gam/membership/view.hpp"

namespace prism::gam
{

class Farewells
{
public:
	enum class Word : std::uint8_t {
		let_go,
		swept
	};

	/** The node. Called only from inside step() and met(). */
	class Host
	{
	public:
		virtual ~Host() = default;
		virtual void tell(NodeId to, Word word, std::uint64_t incarnation) = 0;
		[[nodiscard]] virtual bool has_let_go(NodeId dead) = 0;
		virtual void sweep(NodeId dead) = 0;
		[[nodiscard]] virtual bool is_sweeping(NodeId dead) = 0;
		/** Reports that all live nodes have swept. */
		virtual void over(NodeId dead) = 0;
	};

	/** @p host outlives this object. */
	explicit Farewells(NodeId self, Host &host) : self_(self), host_(host) {}

	/** Adopts @p view. The node must know of all its deaths, and be cut off from the dead. */
	void adopt(const View &view);
	/** Returns true if adopt() has already reported its death. */
	[[nodiscard]] bool knows(const NodeLife &life) const;
	/**
	 * Handles @p word of @p from about the node that had @p incarnation. Hostile until checked: impossible ones are
	 * ignored.
	 */
	void hear(NodeId from, Word word, std::uint64_t incarnation);
	/** Reports that @p node can be reached from now on: tells it what the others know already. */
	void met(NodeId node);
	/** Takes the next steps. Call it now and then while is_waiting(). */
	void step();
	/** Returns true if a number is not free yet. */
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
		Stage stage = Stage::heard_of; /* only others know of the death so far */
		std::uint64_t let_go = 0;      /* nodes that have said so, bit sets */
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
