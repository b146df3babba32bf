/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The cache of a node: lines of 512 bytes, in one piece of memory that its owner registers. Lines are found by the
 * address of their block, and are kept in the order of their last use.
 *
 * The paper has ten lists and picks one at random, so that threads seldom contend for one. Here a node has several
 * objects of class Coherence, each with its own cache and one thread at a time, so each has one list.
 *
 * A line with which nothing is under way can be shown and opened. Then any thread may read or write it, concurrently
 * with the thread that has the cache. A read writes to nothing that other threads look at, and a write to nothing but
 * the line; otherwise two processors that use different lines would wait for each other. Such an access counts as a
 * use, but the list learns of it only when it looks for the least recently used line.
 */
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/unordered_set.hpp>

#include "base/cpu_relax.hpp"
#include "gam/coherence/address.hpp"
#include "gam/coherence/words.hpp"

namespace prism::gam
{

namespace cache_detail
{
using Chained = boost::intrusive::unordered_set_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;
using Linked = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;
} // namespace cache_detail

template <typename Line>
class Cache;

/**
 * A line as the cache knows it; a protocol derives its own line from this. Aligned so that no two lines share a line of
 * the processor's cache. The list hook comes first: then hook and line have the same address, and no null check is
 * needed to convert one into the other, as Boost does and compilers warn of.
 */
class alignas(64) CacheLine : public cache_detail::Linked, public cache_detail::Chained
{
public:
	[[nodiscard]] Address block() const noexcept { return block_.load(std::memory_order_relaxed); }
	/** Returns its block_size bytes. While the line is shown, use them only inside Cache::use(). */
	[[nodiscard]] std::byte *data() const noexcept { return data_; }
	/** For the thread that has the cache. */
	[[nodiscard]] bool is_shown() const noexcept { return !(turn_.load(std::memory_order_relaxed) & hidden); }
	[[nodiscard]] bool is_open() const noexcept { return !(turn_.load(std::memory_order_relaxed) & closed); }

private:
	template <typename Line>
	friend class Cache;

	/* Flags of a turn. The bits above them count: if the turn is unchanged, so are the bytes. */
	static constexpr std::uint32_t hidden = 1; /* from read() */
	static constexpr std::uint32_t closed = 2; /* to write() */
	static constexpr std::uint32_t taken = 4;  /* a thread uses the bytes, briefly */
	static constexpr std::uint32_t next = 8;

	/**
	 * Sets @p flags in @p turn, which must not be taken. Returns false if the turn has changed. Acquires: later
	 * accesses come after all earlier turns.
	 */
	[[nodiscard]] bool try_turn(std::uint32_t turn, std::uint32_t flags) noexcept
	{
		return turn_.compare_exchange_strong(
			turn, turn | flags, std::memory_order_acquire, std::memory_order_relaxed);
	}
	/** Begins the next turn, with the flags of @p turn. Releases: earlier stores are visible first. */
	void next_turn(std::uint32_t turn) noexcept { turn_.store(turn + next, std::memory_order_release); }

	std::atomic<Address> block_{Address()};
	std::byte *data_ = nullptr;
	std::atomic<std::uint32_t> turn_{hidden | closed};
	std::atomic<bool> used_{false}; /* by read() or write() since this was last checked */
	bool pinned_ = false;
};

/**
 * A cache of lines. Only the constructor allocates memory. One thread at a time may use it, except for read() and
 * write().
 */
template <typename Line>
class Cache
{
public:
	/** @param memory outlives the cache; it has one line for each block_size bytes of it */
	explicit Cache(std::span<std::byte> memory)
		: lines_(memory.size() / block_size), buckets_(std::bit_ceil(2 * lines_.size() + 1)),
		  shown_(buckets_.size()), by_block_({buckets_.data(), buckets_.size()})
	{
		for (std::size_t i = 0; i < lines_.size(); i++) {
			lines_[i].data_ = &memory[i * block_size];
			free_.push_back(lines_[i]);
		}
	}
	Cache(const Cache &) = delete;
	Cache &operator=(const Cache &) = delete;
	~Cache()
	{
		by_block_.clear();
		free_.clear();
		by_use_.clear();
	}

	/** Returns the line of @p block, or null. Does not change the order of use: see touch(). */
	[[nodiscard]] Line *find(Address block) noexcept
	{
		const auto found = by_block_.find(block);
		return found == by_block_.end() ? nullptr : &*found;
	}

	/**
	 * Takes a free line for @p block, which has none. The line is pinned, as its data is still to come. Returns
	 * null if no line is free.
	 */
	[[nodiscard]] Line *take(Address block) noexcept
	{
		if (free_.empty())
			return nullptr;
		Line &line = free_.front();
		free_.pop_front();
		line.block_.store(block, std::memory_order_release);
		line.pinned_ = true;
		by_block_.insert(line);
		used_++;
		return &line;
	}

	/** Frees the line. The protocol resets its own members. */
	void release(Line &line) noexcept
	{
		hide(line);
		pin(line);
		line.pinned_ = false;
		by_block_.erase(by_block_.iterator_to(line));
		free_.push_front(line);
		used_--;
	}

	/** Protects the line from eviction, as it is locked or in transit. Idempotent. */
	void pin(Line &line) noexcept
	{
		if (!line.pinned_)
			by_use_.erase(by_use_.iterator_to(line));
		line.pinned_ = true;
	}

	/** Allows the eviction of the line, after all others. */
	void unpin(Line &line) noexcept
	{
		if (line.pinned_)
			by_use_.push_front(line);
		line.pinned_ = false;
	}

	/** Marks the line as the most recently used. */
	void touch(Line &line) noexcept
	{
		if (!line.pinned_ && &by_use_.front() != &line)
			by_use_.splice(by_use_.begin(), by_use_, by_use_.iterator_to(line));
		if (line.is_shown())
			place_of(line.block()).store(&line, std::memory_order_release);
	}

	/**
	 * Returns the least recently used line that is not pinned, or null. A line that a concurrent read() or write()
	 * has used counts as used now.
	 */
	[[nodiscard]] Line *least_recently_used() noexcept
	{
		for (std::size_t looked = 0; looked < used_ && !by_use_.empty(); looked++) {
			Line &line = by_use_.back();
			if (!line.used_.load(std::memory_order_relaxed))
				return &line;
			line.used_.store(false, std::memory_order_relaxed);
			by_use_.splice(by_use_.begin(), by_use_, by_use_.iterator_to(line));
		}
		return by_use_.empty() ? nullptr : &by_use_.back();
	}

	/** Lets read() use the line until it is hidden. Idempotent. */
	void show(Line &line) noexcept
	{
		if (line.is_shown())
			return;
		line.next_turn(line.turn_.load(std::memory_order_relaxed) & ~CacheLine::hidden);
		place_of(line.block()).store(&line, std::memory_order_release);
	}

	/** Lets write() use the line too, if it is shown, until it is hidden. */
	void open(Line &line) noexcept
	{
		if (line.is_shown() && !line.is_open())
			line.next_turn(line.turn_.load(std::memory_order_relaxed) & ~CacheLine::closed);
	}

	/**
	 * Hides the line: waits for a write() under way; any other unfinished read() or write() fails. Call before any
	 * node is told that the line is invalid, or what it contains.
	 */
	void hide(Line &line) noexcept
	{
		if (line.is_shown())
			(void)take(line, CacheLine::hidden | CacheLine::closed);
	}

	/** Calls @p use(), which may read the bytes of the line, or change them by store_words(). */
	template <typename Use>
	void use(Line &line, const Use &use) noexcept
	{
		if (!line.is_shown())
			return use();
		const std::uint32_t turn = take(line, CacheLine::taken);
		use();
		line.next_turn(turn);
	}

	/**
	 * Copies the bytes at @p from, within one block. Any thread, concurrently with all others. Returns false if the
	 * block has no shown line, or if other threads keep changing it; then ask the thread that has the cache.
	 */
	[[nodiscard]] bool read(Address from, std::span<std::byte> into) noexcept
	{
		return beside(from, CacheLine::hidden, [&](Line &line, std::uint32_t turn) {
			load_words(into.data(), line.data_ + from.in_block(), into.size());
			return line.turn_.load(std::memory_order_relaxed) == turn;
		});
	}

	/** Copies @p bytes to @p to likewise, if the block has an open line. */
	[[nodiscard]] bool write(Address to, std::span<const std::byte> bytes) noexcept
	{
		return beside(to, CacheLine::hidden | CacheLine::closed, [&](Line &line, std::uint32_t turn) {
			if (!line.try_turn(turn, CacheLine::taken))
				return false;
			store_words(line.data_ + to.in_block(), bytes);
			line.next_turn(turn);
			return true;
		});
	}

	[[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
	[[nodiscard]] std::size_t used() const noexcept { return used_; }
	[[nodiscard]] bool is_full() const noexcept { return free_.empty(); }

	/** Calls @p visit with each line that has a block; @p visit may release that line. */
	template <typename Visit>
	void for_each(Visit visit)
	{
		for (Line &line : lines_) {
			if (find(line.block()) == &line)
				visit(line);
		}
	}

private:
	struct BlockOf {
		using type = Address;
		type operator()(const CacheLine &line) const noexcept { return line.block(); }
	};
	struct Hash {
		/* The upper half, as the lower bits are alike for all blocks of a shard. */
		std::size_t operator()(Address block) const noexcept { return std::hash<Address>{}(block) >> 32; }
	};
	using ByBlock = boost::intrusive::unordered_set<Line, boost::intrusive::key_of_value<BlockOf>,
		boost::intrusive::hash<Hash>, boost::intrusive::power_2_buckets<true>,
		boost::intrusive::constant_time_size<false>>;
	using List = boost::intrusive::list<Line, boost::intrusive::constant_time_size<false>>;

	/**
	 * Waits until no write() uses the line, usually some nanoseconds, and sets @p flags. Returns the turn from
	 * before.
	 */
	static std::uint32_t take(Line &line, std::uint32_t flags) noexcept
	{
		for (unsigned looked = 1;; looked++) {
			const std::uint32_t turn = line.turn_.load(std::memory_order_relaxed);
			if (!(turn & CacheLine::taken) && line.try_turn(turn, flags))
				return turn;
			pause(looked);
		}
	}
	/** Pauses, and yields now and then, as the other thread may have lost its processor. */
	static void pause(unsigned looked) noexcept
	{
		if (looked % looks_before_yielding)
			cpu_relax();
		else
			std::this_thread::yield();
	}

	/**
	 * Calls @p access(line, turn), which returns true if it succeeded within that turn; retries a few times.
	 * Returns false if the turn has one of @p flags.
	 */
	template <typename DoAccess>
	[[nodiscard]] bool beside(Address at, std::uint32_t flags, const DoAccess &access) noexcept
	{
		Line *const line = place_of(at.block()).load(std::memory_order_acquire);
		for (unsigned looked = 0; line && looked < looks_before_yielding; looked++) {
			const std::uint32_t turn = line->turn_.load(std::memory_order_acquire);
			if (turn & flags || line->block_.load(std::memory_order_acquire) != at.block())
				return false;
			if (!(turn & CacheLine::taken) && access(*line, turn)) {
				if (!line->used_.load(std::memory_order_relaxed))
					line->used_.store(true, std::memory_order_relaxed);
				return true;
			}
			cpu_relax();
		}
		return false;
	}
	/** Returns the slot of @p block. Blocks may share a slot; it points to the line that was shown last. */
	[[nodiscard]] std::atomic<Line *> &place_of(Address block) noexcept
	{
		return shown_[Hash()(block) & (shown_.size() - 1)];
	}

	static constexpr unsigned looks_before_yielding = 64;

	std::vector<Line> lines_;
	std::vector<typename ByBlock::bucket_type> buckets_;
	std::vector<std::atomic<Line *>> shown_;
	ByBlock by_block_;
	List free_;
	List by_use_; /* most recently used first */
	std::size_t used_ = 0;
};

} // namespace prism::gam
