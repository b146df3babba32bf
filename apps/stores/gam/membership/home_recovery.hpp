/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gam/membership/logged_blocks.hpp"
#include "gam/membership/recovery_message.hpp"
#include "gam/membership/verdict.hpp"

namespace prism::gam
{

/**
 * The recovery of a home: it learns the state of its blocks from its log and from the other nodes. Sans-I/O: answers go
 * in, questions and results come out. One thread at a time. Messages are hostile until checked: a liar can do no more
 * than by the protocol.
 */
class HomeRecovery
{
public:
	class Home
	{
	public:
		virtual ~Home() = default;
		virtual void send(NodeId to, const Message &message) = 0;
		/** Returns the incarnation of the life that began the home's log; 0: unknown. */
		[[nodiscard]] virtual std::uint64_t since() const = 0;
		/** Returns the incarnation of @p node, which has answered; 0: unknown. */
		[[nodiscard]] virtual std::uint64_t life_of(NodeId node) const = 0;
		/**
		 * Reports the state of @p block. @p value belongs into the memory, of verdict owned in case the owner
		 * dies, but not of verdict waits; if verdict.is_to_log(), it also belongs into the log, before others
		 * can see it. Called again for a block
		 * when a node that it waits for has returned or is given up. Not called for blocks that were never
		 * used: those are zeros.
		 */
		virtual void settled(
			Address block, const Verdict &verdict, std::span<const std::byte, block_size> value) = 0;
	};

	/** The blocks to recover. */
	enum class Scope : std::uint8_t {
		all,    /**< all, as the home had died: it knows nothing of other blocks */
		logged, /**< orphans of a live home: their owner has died. Their value in `log` is that of the memory */
	};
	/** Most fetches under way at each node. */
	static constexpr std::size_t window = 16;

	/**
	 * @param recovery the incarnation of this life of the home
	 * @param blocks number of blocks that it lends
	 * @param scope the blocks to recover
	 * @param log the log's knowledge of them
	 * @param home outlives this object
	 */
	HomeRecovery(NodeId self, std::uint64_t recovery, std::uint64_t blocks, Scope scope,
		std::unique_ptr<LoggedBlocks> log, Home &home);

	/** Asks @p nodes, a bit set: those that are present. */
	void begin(std::uint64_t nodes);
	/** Handles @p message, for which is_recovery_message() is true. Returns false if no rule allows it. */
	bool hear(NodeId from, const Message &message);
	/** Reports that @p node has died: what it has not said stays unknown. */
	void lost(NodeId node);
	/** Reports that @p node, which had died, is here with its log. */
	void returned(NodeId node);
	/**
	 * Gives up on @p node, which will not return: values that it alone had are lost, and the newest known ones are
	 * taken.
	 */
	void give_up(NodeId node);

	/** Returns true if all blocks are settled, though some may wait for absent nodes, and others have been told. */
	[[nodiscard]] bool is_done() const noexcept { return done_; }
	/** Returns true if moreover no block waits, so there is nothing more to learn. */
	[[nodiscard]] bool is_over() const noexcept { return done_ && !waiting_ && !unsettled_; }
	/** Returns the number of blocks that wait for a node. */
	[[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
	/** Returns the number of blocks of which entries may be missing in the home's own log. */
	[[nodiscard]] std::size_t doubtful() const noexcept { return doubtful_; }
	/** Returns the number of messages that no rule allows. */
	[[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
	/**
	 * Returns why the recovery does not go on: EPROTO, an answer that no rule allows; EINVAL, somebody has values
	 * of blocks that this home does not have, though its log does not tell of them.
	 */
	[[nodiscard]] const std::optional<Error> &failure() const noexcept { return failure_; }

private:
	struct Block {
		Evidence evidence;
		Verdict verdict;
		bool settled = false;
		bool fetching = false;
	};
	struct Asked {
		std::uint64_t from = 0;            /* block number of the last question */
		std::size_t fetching = 0;          /* awaited answers */
		std::vector<std::uint64_t> to_ask; /* blocks whose value that node has, still to be fetched */
	};

	void doubt();
	void ask(NodeId node, std::uint64_t from);
	bool have(NodeId from, const Message &message);
	bool value(NodeId from, const Message &message);
	void hear_beyond(NodeId from, const Item &item);
	void fail(const Error &why);
	void judge_all();
	void judge(std::uint64_t number, Block &block);
	void settle(std::uint64_t number, Block &block, std::span<const std::byte, block_size> value);
	void fetch_more(NodeId node);
	void finish_if_done();
	void judge_waiting(NodeId node);
	[[nodiscard]] std::span<const std::byte, block_size> own_value(std::uint64_t number) const;

	const NodeId self_;
	const std::uint64_t recovery_;
	const std::uint64_t blocks_;
	const Scope scope_;
	const std::unique_ptr<LoggedBlocks> log_;
	Home &home_;
	std::map<std::uint64_t, Block> known_; /* by number */
	std::vector<bool> allocated_;          /* by number: by the log */
	std::array<Asked, max_nodes> asked_;
	Witnesses witnesses_;
	std::uint64_t awaited_ = 0; /* nodes that have more to say */
	std::uint64_t told_ = 0;    /* nodes that were asked, and are present */
	std::size_t doubtful_ = 0;
	std::size_t unsettled_ = 0;
	std::size_t waiting_ = 0;
	std::uint64_t refused_ = 0;
	std::uint64_t needed_ = 0; /* if others have values beyond the end: the last one's number, and 1 */
	NodeId needed_by_ = no_node;
	std::optional<Error> failure_;
	bool judging_ = false; /* all nodes have said what they have */
	bool done_ = false;
};

} // namespace prism::gam
