/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace prism::kv
{

/**
 * The versions that a client may give to its objects. The server leases each version once, to one client. Versions that
 * a client has not used when it disconnects or dies are never used. The low half of a version is a slot's tag. A tag
 * must not recur while a client remembers the slot's former contents. So leases begin small and grow with their use: a
 * client that changes one object costs first_lease of the 2^32 tags.
 */
class LeasedVersions
{
public:
	static constexpr std::uint64_t first_lease = 64; /**< comes with the introduction */
	static constexpr std::uint64_t largest_lease = std::uint64_t{1} << 16;

	/** Returns true if a client may ask for @p count versions at once. */
	[[nodiscard]] static bool may_be(std::uint64_t count) noexcept { return count && count <= largest_lease; }

	LeasedVersions() = default;
	/** Begins with the lease from the introduction. */
	explicit LeasedVersions(std::uint64_t first) noexcept : next_(first), left_(first_lease) {}

	/** Returns true if no version can be taken before another lease arrives. */
	[[nodiscard]] bool empty() const noexcept { return !left_ && !spare_size_; }

	/**
	 * Returns the number of versions that the caller must request from the server now; 0: there are enough, or a
	 * request is under way.
	 */
	[[nodiscard]] std::uint64_t ask() noexcept
	{
		if (asked_ || spare_size_ || left_ > size_ / 2)
			return 0;
		return asked_ = std::min(growth * size_, largest_lease);
	}

	/** Adds the lease that ask() requested; @p first is its first version. Returns false if none was requested. */
	bool add(std::uint64_t first) noexcept
	{
		if (!asked_)
			return false;
		spare_ = first;
		spare_size_ = std::exchange(asked_, 0);
		return true;
	}

	/** Takes a version. Only if not empty(). */
	std::uint64_t take() noexcept
	{
		if (!left_) {
			next_ = spare_;
			left_ = size_ = std::exchange(spare_size_, 0);
		}
		left_--;
		return next_++;
	}

private:
	static constexpr std::uint64_t growth = 4;

	std::uint64_t next_ = 0;
	std::uint64_t left_ = 0;
	std::uint64_t size_ = first_lease; /* size of the lease of next_ */
	std::uint64_t spare_ = 0;          /* first of another lease */
	std::uint64_t spare_size_ = 0;
	std::uint64_t asked_ = 0; /* size of the requested lease */
};

} // namespace prism::kv
