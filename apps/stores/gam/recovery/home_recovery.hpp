/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "gam/recovery/logged_blocks.hpp"
#include "gam/recovery/message.hpp"
#include "gam/recovery/verdict.hpp"

namespace prism::gam
{

/**
 * A home that comes back learns what has become of its blocks: from its log, and from the nodes that there are.
 * Sans-I/O: answers go in, questions and results come out. One thread at a time. What nodes say is hostile until
 * checked: a liar can have its own values taken for blocks that it has owned, and no others.
 */
class HomeRecovery
{
public:
	class Home
	{
	public:
		virtual ~Home() = default;
		virtual void send(NodeId to, const Message &message) = 0;
		/**
		 * What has become of @p block. @p value: of verdicts own, taken and lost; it belongs into the memory,
		 * and, if it was somebody else's, as a value of the term verdict.next into the log before others can
		 * see it. A block may be told of again when a node that it waits for has returned or is given up.
		 * Blocks of which nothing is told have never been used: zeros.
		 */
		virtual void settled(
			Address block, const Verdict &verdict, std::span<const std::byte, block_size> value) = 0;
	};

	/** Which blocks it is about. */
	enum class Scope : std::uint8_t {
		all,    /**< the home had died: of all others it knows nothing */
		logged, /**< it lives; these are orphans: their owner has died. Their value in `log` is what the memory
			   has */
	};
	/** Fetches under way at each node, at most. */
	static constexpr std::size_t window = 16;

	/**
	 * @param recovery   the incarnation of this life of the home
	 * @param blocks     how many it lends
	 * @param scope      which of them it is about
	 * @param log        what its log knows of them
	 * @param home       outlives it
	 */
	HomeRecovery(NodeId self, std::uint64_t recovery, std::uint64_t blocks, Scope scope,
		std::unique_ptr<LoggedBlocks> log, Home &home);

	/** Asks @p nodes, a bit set: those that there are. */
	void begin(std::uint64_t nodes);
	/** Whether a rule allows @p message, one that is_recovery_message(). */
	bool hear(NodeId from, const Message &message);
	/** @p node has died: what it has not said is not known. */
	void lost(NodeId node);
	/** @p node, which had died, is here with its log. */
	void returned(NodeId node);
	/** @p node will not return: what waits for it is lost, and the newest value that there is is taken. */
	void give_up(NodeId node);

	/** All blocks are settled, though some may wait for nodes that are not here; others have been told. */
	[[nodiscard]] bool is_done() const noexcept { return done_; }
	/** ... and none waits, so there is nothing more to be learnt. */
	[[nodiscard]] bool is_over() const noexcept { return done_ && !waiting_ && !unsettled_; }
	/** Blocks that wait for a node. */
	[[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
	/** Blocks that entries are missing of, perhaps, in the home's own log. */
	[[nodiscard]] std::size_t doubtful() const noexcept { return doubtful_; }
	/** Messages that no rule allows. */
	[[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

private:
	struct Block {
		Evidence evidence;
		Verdict verdict;
		bool settled = false;
		bool fetching = false;
	};
	struct Asked {
		std::uint64_t from = 0;            /* block number, of the last question */
		std::size_t fetching = 0;          /* answers that are awaited */
		std::vector<std::uint64_t> to_ask; /* blocks whose value is here, still to be fetched */
	};

	void doubt();
	void ask(NodeId node, std::uint64_t from);
	bool have(NodeId from, const Message &message);
	bool value(NodeId from, const Message &message);
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
	std::array<Asked, max_nodes> asked_;
	Witnesses witnesses_;
	std::uint64_t awaited_ = 0; /* nodes that are to say more */
	std::uint64_t told_ = 0;    /* nodes that were asked, and are here */
	std::size_t doubtful_ = 0;
	std::size_t unsettled_ = 0;
	std::size_t waiting_ = 0;
	std::uint64_t refused_ = 0;
	bool judging_ = false; /* all have said what they have */
	bool done_ = false;
};

} // namespace prism::gam
