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
#include "gam/node/allocator.hpp"
#include "gam/node/waiting.hpp"

namespace prism::gam
{

class Node;

/** Types of messages outside the coherence protocol: between homes and nodes that allocate. */
enum class HomeMessage : std::uint8_t {
	malloc = 0x80, /**< counter: bytes; flags: log2 of the alignment */
	malloced,      /**< counter: the address; or error */
	free,          /**< counter: the address */
	freed,         /**< error */
	available,     /**< counter: bytes that the sender has free */
};
constexpr bool is_home_message(std::uint8_t type) noexcept
{
	return type >= 0x80;
}

/** A malloc or free that a thread waits for. Stays valid until `done`. */
struct HomeRequest {
	HomeMessage type = HomeMessage::malloc;
	std::uint64_t counter = 0;  /**< as in the message */
	std::uint8_t alignment = 0; /**< log2 */
	NodeId to = no_node;
	std::uint32_t losses = any_losses; /**< as in Access */
	/* The answer */
	int error = 0; /**< ENOMEM, EINVAL (not allocated, or already freed), EHOSTUNREACH */
	std::uint64_t result = 0;
	std::atomic<bool> done{false};
};

/**
 * The node's role as the home of its memory, apart from coherence: it allocates and frees for all nodes, and tells them
 * how much is free. Memory is zeroed through the protocol before it is handed out, as a freed block may still be in a
 * cache. A piece in a locked block is passed over: the requester may hold that lock, or something that its holder waits
 * for. Any thread.
 */
class Home
{
public:
	Home(Node &node, std::uint64_t bytes);

	/** Restores an allocation from before a restart. Call before any request. Returns false if it is impossible. */
	bool restore(Address at, std::uint64_t bytes) { return allocator_.restore(at.offset(), bytes); }
	/** Records that blocks below @p number may not be zero. Call before any request. */
	void set_used_below(std::uint64_t number) { allocator_.set_used_below(number); }

	/** Begins @p request, at this node or another. */
	void begin(HomeRequest &request);
	void heard(NodeId from, const Message &message);
	/** Ends all requests that wait for @p node. */
	void lost(NodeId node);
	/**
	 * Continues zeroing, and tells other nodes how much is free. Returns false if there was nothing to do. One
	 * thread at a time.
	 */
	bool poll();

	[[nodiscard]] bool is_allocated(Address block) const noexcept
	{
		return allocator_.is_allocated(block.block_number());
	}
	[[nodiscard]] std::uint64_t available() const noexcept;
	[[nodiscard]] std::uint64_t available(NodeId node) const noexcept
	{
		return node < max_nodes ? others_[node].load(std::memory_order_relaxed) : 0;
	}

private:
	using Clock = std::chrono::steady_clock;

	/* A piece that is zeroed for a requester. These wait in line: one block is zeroed at a time. */
	struct Zeroing {
		Allocator::Piece piece;
		std::uint64_t done = 0; /* bytes */
		NodeId asker = no_node; /* no_node: it has died */
		std::uint64_t request = 0;
		std::uint64_t bytes = 0; /* as requested */
		unsigned alignment = 0;
		std::deque<Allocator::Piece> passed_over = {}; /* pieces with a locked block */
		std::optional<Clock::time_point> until = {};   /* deadline, once only such pieces were found */
	};

	void send(std::uint64_t number, const HomeRequest &request);
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
	void end_first(Zeroing &first, int error);
	bool tell_available();

	Node &node_;
	Allocator allocator_;
	std::array<std::atomic<std::uint64_t>, max_nodes> others_{};
	std::mutex logging_; /* keeps allocations and frees in the order of the log */
	std::mutex lock_;
	std::unordered_map<std::uint64_t, HomeRequest *> requests_; /* requests of this node, by number */
	std::uint64_t next_request_ = 1;
	std::deque<Zeroing> zeroing_;

	/* For the thread that polls */
	Awaited zero_; /* the one write under way */
	std::array<std::byte, block_size> nothing_{};
	std::uint64_t told_ = 0;    /* free bytes that were announced last */
	std::uint64_t told_to_ = 0; /* members that were told, a bit set */
};

} // namespace prism::gam
