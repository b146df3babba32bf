/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The lines of a cache: 512 bytes each, in one piece of memory that its owner registers. They are found by the address
 * of their block, and known in the order of their last use.
 *
 * The paper has ten lists, one of them picked at random, so that threads seldom meet at one. Here a node has several
 * objects of class Coherence, each with a cache of its own and one thread at a time: each has one list.
 *
 * A line that nothing is under way with can be shown, and opened. Then any thread reads it, or writes to it, beside the
 * one that has the cache. A read writes to nothing that other threads look at, and a write to nothing but the line:
 * else two processors that use different lines would wait for each other. Such an access is a use too, but the list
 * learns of it only when it looks for the line that was not used.
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
#include "gam/cache/words.hpp"
#include "gam/coherence/address.hpp"

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
 * What the cache knows of a line. A protocol's line is derived from this, and adds its own. It shares no line of a
 * processor's cache with another one. Its place in a list comes first: a line is where that is, so that none has to be
 * told from null on the way from one to the other, as Boost does and compilers then warn of.
 */
class alignas(64) CacheLine : public cache_detail::Linked, public cache_detail::Chained
{
public:
	[[nodiscard]] Address block() const noexcept { return block_.load(std::memory_order_relaxed); }
	/** Its block_size bytes. While it is shown, they are used inside of Cache::use() alone. */
	[[nodiscard]] std::byte *data() const noexcept { return data_; }
	[[nodiscard]] bool is_pinned() const noexcept { return pinned_; }
	/** Asked by who has the cache. */
	[[nodiscard]] bool is_shown() const noexcept { return !(turn_.load(std::memory_order_relaxed) & hidden); }
	[[nodiscard]] bool is_open() const noexcept { return !(turn_.load(std::memory_order_relaxed) & closed); }

private:
	template <typename Line>
	friend class Cache;

	/* Of a turn. The bits above count: the bytes have not changed if the turn is the same as before. */
	static constexpr std::uint32_t hidden = 1; /* to read() */
	static constexpr std::uint32_t closed = 2; /* to write() */
	static constexpr std::uint32_t taken = 4;  /* one thread uses the bytes, for a moment */
	static constexpr std::uint32_t next = 8;

	/** From @p turn, which nobody has taken. False: it is over. What follows comes after all turns before. */
	[[nodiscard]] bool try_turn(std::uint32_t turn, std::uint32_t flags) noexcept
	{
		return turn_.compare_exchange_strong(
			turn, turn | flags, std::memory_order_acquire, std::memory_order_relaxed);
	}
	/** With the flags of @p turn. What comes before is seen before. */
	void next_turn(std::uint32_t turn) noexcept { turn_.store(turn + next, std::memory_order_release); }

	std::atomic<Address> block_{Address()};
	std::byte *data_ = nullptr;
	std::atomic<std::uint32_t> turn_{hidden | closed};
	std::atomic<bool> used_{false}; /* since it was last looked at, by a read() or write() */
	bool pinned_ = false;
};

/** Nothing in it allocates memory but the constructor. One thread at a time has it, but for read() and write(). */
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

	/** The line of @p block, or null. Its place in the order of use stays: see touch(). */
	[[nodiscard]] Line *find(Address block) noexcept
	{
		const auto found = by_block_.find(block);
		return found == by_block_.end() ? nullptr : &*found;
	}

	/** A free line, for @p block, which has none: pinned, as what brings the block is under way. Null: none is
	 * free. */
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

	/** The line is free again. What the protocol keeps in it is the protocol's to reset. */
	void release(Line &line) noexcept
	{
		hide(line);
		pin(line);
		line.pinned_ = false;
		by_block_.erase(by_block_.iterator_to(line));
		free_.push_front(line);
		used_--;
	}

	/** Not to be evicted, as it is locked or in transit. Twice is as good as once. */
	void pin(Line &line) noexcept
	{
		if (!line.pinned_)
			by_use_.erase(by_use_.iterator_to(line));
		line.pinned_ = true;
	}

	/** May be evicted, after all others. */
	void unpin(Line &line) noexcept
	{
		if (line.pinned_)
			by_use_.push_front(line);
		line.pinned_ = false;
	}

	/** It has been used. */
	void touch(Line &line) noexcept
	{
		if (!line.pinned_ && &by_use_.front() != &line)
			by_use_.splice(by_use_.begin(), by_use_, by_use_.iterator_to(line));
		if (line.is_shown())
			place_of(line.block()).store(&line, std::memory_order_release);
	}

	/** Of those that are not pinned, the one that has not been used for longest, or null. One that was read or
	 * written beside the list's back counts as used now. */
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

	/** The line can be read by read(), until it is hidden. Twice is as good as once. */
	void show(Line &line) noexcept
	{
		if (line.is_shown())
			return;
		line.next_turn(line.turn_.load(std::memory_order_relaxed) & ~CacheLine::hidden);
		place_of(line.block()).store(&line, std::memory_order_release);
	}

	/** A line that is shown can be written by write(), too, until it is hidden. */
	void open(Line &line) noexcept
	{
		if (line.is_shown() && !line.is_open())
			line.next_turn(line.turn_.load(std::memory_order_relaxed) & ~CacheLine::closed);
	}

	/**
	 * No read() or write() that has not ended finds it; all that have ended have been there before. Before anybody
	 * is told that the line is not valid, or what is in it.
	 */
	void hide(Line &line) noexcept
	{
		if (line.is_shown())
			(void)take(line, CacheLine::hidden | CacheLine::closed);
	}

	/** Calls @p use(), which reads the bytes of the line or changes them by store_words(). */
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
	 * Copies what is at @p from, in one block. Any thread, beside all others. False: the block has no line that is
	 * shown, or others change it all the time; whoever has the cache can tell.
	 */
	[[nodiscard]] bool read(Address from, std::span<std::byte> into) noexcept
	{
		return beside(from, CacheLine::hidden, [&](Line &line, std::uint32_t turn) {
			load_words(into.data(), line.data_ + from.in_block(), into.size());
			return line.turn_.load(std::memory_order_relaxed) == turn;
		});
	}

	/** Likewise copies @p bytes to @p to, if the block has a line that is open. */
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

	/** Calls @p visit with each line that has a block; it may release that one. */
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
		/* The upper half: the lower bits of all blocks of a shard are alike. */
		std::size_t operator()(Address block) const noexcept { return std::hash<Address>{}(block) >> 32; }
	};
	using ByBlock = boost::intrusive::unordered_set<Line, boost::intrusive::key_of_value<BlockOf>,
		boost::intrusive::hash<Hash>, boost::intrusive::power_2_buckets<true>,
		boost::intrusive::constant_time_size<false>>;
	using List = boost::intrusive::list<Line, boost::intrusive::constant_time_size<false>>;

	/** Waits until a write() that is at it has ended: most often for some nanoseconds. The turn that it was. */
	static std::uint32_t take(Line &line, std::uint32_t flags) noexcept
	{
		for (unsigned looked = 1;; looked++) {
			const std::uint32_t turn = line.turn_.load(std::memory_order_relaxed);
			if (!(turn & CacheLine::taken) && line.try_turn(turn, flags))
				return turn;
			pause(looked);
		}
	}
	/** Its thread may have lost its processor. */
	static void pause(unsigned looked) noexcept
	{
		if (looked % looks_before_yielding)
			cpu_relax();
		else
			std::this_thread::yield();
	}

	/**
	 * Calls @p access(line, turn), which answers whether it has been done in that turn, a few times if need be. Not
	 * if the turn has one of @p flags.
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
	/** Of the last one that was shown of the blocks that share it. */
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
	List by_use_; /* the last one first */
	std::size_t used_ = 0;
};

} // namespace prism::gam
