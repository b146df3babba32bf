/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The lines of a cache: 512 bytes each, in one piece of memory that its owner registers. They are found by the address
 * of their block, and known in the order of their last use.
 *
 * The paper has ten lists, one of them picked at random, so that threads seldom meet at one. Here a node has several
 * objects of class Coherence, each with a cache of its own and one thread at a time: each has one list, which is exact.
 */
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/unordered_set.hpp>

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

/** What the cache knows of a line. A protocol's line is derived from this, and adds its own. */
class CacheLine : public cache_detail::Chained, public cache_detail::Linked
{
public:
	[[nodiscard]] Address block() const noexcept { return block_; }
	/** Its block_size bytes. */
	[[nodiscard]] std::byte *data() const noexcept { return data_; }
	[[nodiscard]] bool is_pinned() const noexcept { return pinned_; }

private:
	template <typename Line>
	friend class Cache;

	Address block_;
	std::byte *data_ = nullptr;
	bool pinned_ = false;
};

/** Nothing in it allocates memory but the constructor. One thread at a time. */
template <typename Line>
class Cache
{
public:
	/** @param memory outlives the cache; it has one line for each block_size bytes of it */
	explicit Cache(std::span<std::byte> memory)
		: lines_(memory.size() / block_size), buckets_(std::bit_ceil(2 * lines_.size() + 1)),
		  by_block_({buckets_.data(), buckets_.size()})
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
		line.block_ = block;
		line.pinned_ = true;
		by_block_.insert(line);
		used_++;
		return &line;
	}

	/** The line is free again. What the protocol keeps in it is the protocol's to reset. */
	void release(Line &line) noexcept
	{
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
	}

	/** Of those that are not pinned, the one that has not been used for longest, or null. */
	[[nodiscard]] Line *least_recently_used() noexcept { return by_use_.empty() ? nullptr : &by_use_.back(); }

	[[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
	[[nodiscard]] std::size_t used() const noexcept { return used_; }
	[[nodiscard]] bool is_full() const noexcept { return free_.empty(); }

	/** Calls @p visit with each line that has a block; it may release that one. */
	template <typename Visit>
	void for_each(Visit visit)
	{
		for (Line &line : lines_) {
			if (find(line.block_) == &line)
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

	std::vector<Line> lines_;
	std::vector<typename ByBlock::bucket_type> buckets_;
	ByBlock by_block_;
	List free_;
	List by_use_; /* the last one first */
	std::size_t used_ = 0;
};

} // namespace prism::gam
