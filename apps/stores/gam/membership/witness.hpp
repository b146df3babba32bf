/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gam/membership/logged_blocks.hpp"
#include "gam/membership/recovery_message.hpp"

namespace prism::gam
{

/** A node's line of a block of another node. */
struct HeldLine {
	bool dirty = false;
	std::uint64_t counter = 0;
	std::span<const std::byte> data; /**< valid until the line changes */
};

/**
 * A node's statements to a recovering home: the lines that it has, and the knowledge of its log. Sans-I/O: questions go
 * in, answers come out. One thread at a time.
 *
 * Before the first answer, the node must have ended everything under way to that home, and dropped its lines in
 * transit. Until recovered() it asks the home for nothing and evicts none of its dirty lines.
 */
class Witness
{
public:
	class Node
	{
	public:
		virtual ~Node() = default;
		virtual void send(NodeId to, const Message &message) = 0;
		/** Calls @p visit with each line of a block of @p home that is dirty or shared. */
		virtual void for_each_line(
			NodeId home, const std::function<void(Address block, const HeldLine &line)> &visit) = 0;
		[[nodiscard]] virtual std::optional<HeldLine> line(Address block) = 0;
		/** Drops the line, which is not valid, without a message. */
		virtual void drop(Address block) = 0;
		/** Returns the incarnation of the life that began this node's log; without a log, of this life. */
		[[nodiscard]] virtual std::uint64_t since() const = 0;
		/** Returns the knowledge of this node's log about blocks of @p home, whose first life is @p since. */
		virtual std::unique_ptr<LoggedBlocks> logged(NodeId home, std::uint64_t since) = 0;
		/** Reports that @p home has recovered, and can be asked. */
		virtual void recovered(NodeId home) = 0;
	};

	/** @p node outlives it. */
	explicit Witness(Node &node) noexcept : node_(node) {}

	/**
	 * Handles @p message, for which is_recovery_message() is true, of @p from, a home. Returns false if no rule
	 * allows it.
	 */
	bool hear(NodeId from, const Message &message);
	/** Reports that @p home has died again. */
	void lost(NodeId home);

private:
	/* The statement to one home */
	struct Statement {
		NodeId home = no_node;
		std::uint64_t recovery = 0;
		std::vector<Item> items; /* by block */
		std::unique_ptr<LoggedBlocks> logged;
	};

	Statement &make(NodeId home, std::uint64_t recovery);
	[[nodiscard]] Statement *find(NodeId home, std::uint64_t recovery) noexcept;
	void say(const Statement &statement, std::uint64_t from);
	void give(const Statement &statement, const Message &asked);

	Node &node_;
	std::vector<Statement> statements_;            /* one for each recovering home: few */
	std::array<std::uint64_t, max_nodes> since_{}; /* homes' first lives, as they say; 0: unknown */
};

} // namespace prism::gam
