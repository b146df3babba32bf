/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gam/recovery/logged_blocks.hpp"
#include "gam/recovery/message.hpp"

namespace prism::gam
{

/** A line that a node has of a block of another. */
struct HeldLine {
	bool dirty = false;
	std::uint64_t counter = 0;
	std::span<const std::byte> data; /**< valid until something happens to the line */
};

/**
 * What a node says to a home that comes back: which lines it has, and what its log knows. Sans-I/O: questions go in,
 * answers come out. One thread at a time.
 *
 * Before the first answer the node has ended all that was under way to that home, and dropped what of it was in
 * transit. Until recovered() it asks the home for nothing and evicts no dirty line of it.
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
		/** The line is not valid: it is gone without a message. */
		virtual void drop(Address block) = 0;
		/** What this node's log knows of blocks of @p home. */
		virtual std::unique_ptr<LoggedBlocks> logged(NodeId home) = 0;
		/** @p home is back, and can be asked. */
		virtual void recovered(NodeId home) = 0;
	};

	/** @p node outlives it. */
	explicit Witness(Node &node) noexcept : node_(node) {}

	/** @p from, a home, has sent @p message: one that is_recovery_message(). Whether a rule allows it. */
	bool hear(NodeId from, const Message &message);
	/** @p home has died, again. */
	void lost(NodeId home);

private:
	/* What is said to one home */
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
	std::vector<Statement> statements_; /* one for each home that is coming back: few */
};

} // namespace prism::gam
