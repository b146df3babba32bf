/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "gam/coherence/access.hpp"
#include "gam/coherence/message.hpp"
#include "gam/memory/allocator.hpp"
#include "gam/memory/waiting.hpp"

namespace prism::gam
{

class Node;

/** Types of messages that are not the protocol's: what homes and those who allocate tell each other. */
enum class HomeMessage : std::uint8_t {
	malloc = 0x80, /**< counter: bytes; flags: log2 of the alignment */
	malloced,      /**< counter: the address, or error */
	free,          /**< counter: the address */
	freed,         /**< error */
	available,     /**< counter: bytes that the sender has free */
};
constexpr bool is_home_message(std::uint8_t type) noexcept
{
	return type >= 0x80;
}

/** A Malloc or Free that somebody waits for. Stays until `done`. */
struct HomeRequest {
	HomeMessage type = HomeMessage::malloc;
	std::uint64_t counter = 0;  /**< as in the message */
	std::uint8_t alignment = 0; /**< log2 */
	NodeId to = no_node;
	/* The answer */
	int error = 0; /**< ENOMEM, EINVAL (not allocated, or freed already), EHOSTUNREACH */
	std::uint64_t result = 0;
	std::atomic<bool> done{false};
};

/**
 * What a node does as the home of its memory beside coherence: it allocates and frees for all nodes, and tells them how
 * much it has left. Memory is zeroed through the protocol before it is handed out, as a block that was freed may still
 * be in somebody's cache. A piece of a block that somebody has locked is passed over: who asks may hold that lock, or
 * have what its holder waits for. Any thread.
 */
class Home
{
public:
	Home(Node &node, std::uint64_t bytes);

	/** Before anybody asks: what an earlier life had allocated. False: that cannot be. */
	bool restore(Address at, std::uint64_t bytes) { return allocator_.restore(at.offset(), bytes); }
	/** ... and its blocks below @p number may be other than zero. */
	void set_used_below(std::uint64_t number) { allocator_.set_used_below(number); }

	/** Begins @p request, here or at another node. */
	void begin(HomeRequest &request);
	void heard(NodeId from, const Message &message);
	/** What waits for @p node ends. */
	void lost(NodeId node);
	/** Goes on with what is being zeroed, and tells others what is available. False: nothing to do. One thread. */
	bool poll();

	[[nodiscard]] bool is_allocated(Address block) const noexcept
	{
		return allocator_.is_allocated(block.block_number());
	}
	[[nodiscard]] std::uint64_t available() const noexcept { return allocator_.available(); }
	[[nodiscard]] std::uint64_t available(NodeId node) const noexcept
	{
		return node < max_nodes ? others_[node].load(std::memory_order_relaxed) : 0;
	}

private:
	using Clock = std::chrono::steady_clock;

	/* Pieces of a node that asks wait in line behind each other: one block is zeroed at a time. */
	struct Zeroing {
		Allocator::Piece piece;
		std::uint64_t done = 0; /* bytes */
		NodeId asker = no_node;
		std::uint64_t request = 0;
		std::uint64_t bytes = 0; /* as asked for */
		unsigned alignment = 0;
		std::deque<Allocator::Piece> passed_over = {}; /* somebody has a block of theirs locked */
		std::optional<Clock::time_point> until = {};   /* of who has found nothing but such pieces */
	};

	void serve(NodeId asker, HomeMessage type, std::uint64_t request, std::uint64_t counter, unsigned alignment);
	void allocate(NodeId asker, std::uint64_t request, std::uint64_t bytes, unsigned alignment);
	void free(NodeId asker, std::uint64_t request, Address address);
	std::optional<Allocator::Piece> take(std::uint64_t bytes, unsigned alignment, int &error);
	int give_back(Address address);
	int log(std::uint64_t offset, std::uint64_t bytes);
	bool lend(const Allocator::Piece &piece);
	void withdraw(Address first, std::uint64_t bytes);
	void answer(NodeId asker, std::uint64_t request, HomeMessage type, std::uint64_t result, int error);
	void finish(NodeId from, std::uint64_t request, std::uint64_t result, int error);
	bool zero();
	bool put_off(Zeroing &zeroing, int &error);
	void end_first(int error);
	bool tell_available();

	Node &node_;
	Allocator allocator_;
	std::array<std::atomic<std::uint64_t>, max_nodes> others_{};
	std::mutex logging_; /* pieces are given and taken in the order of the log */
	std::mutex lock_;
	std::unordered_map<std::uint64_t, HomeRequest *> requests_; /* of this node, by number */
	std::uint64_t next_request_ = 1;
	std::deque<Zeroing> zeroing_;

	/* Of the thread that polls */
	Awaited zero_; /* one is on its way at a time */
	std::array<std::byte, block_size> nothing_{};
	std::uint64_t told_ = 0;    /* bytes that were available */
	std::uint64_t told_to_ = 0; /* bit set of members */
};

} // namespace prism::gam
