/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace prism::kv
{

/**
 * The versions that a client may give to its objects. The server leases each of them once, to one client: those that a
 * client has not used when it goes, however it goes, are nobody's. The low half of a version is a slot's tag and must
 * not recur while somebody holds the slot as it was, so leases begin small and grow with their use: a client that
 * changes one object costs first_lease of the 2^32 tags.
 */
class LeasedVersions
{
public:
	static constexpr std::uint64_t first_lease = 64; /**< comes with the introduction */
	static constexpr std::uint64_t largest_lease = std::uint64_t{1} << 16;

	/** Whether a client may ask for @p count versions at once. */
	[[nodiscard]] static bool may_be(std::uint64_t count) noexcept { return count && count <= largest_lease; }

	LeasedVersions() = default;
	/** Begins with the lease that the introduction has told. */
	explicit LeasedVersions(std::uint64_t first) noexcept : next_(first), left_(first_lease) {}

	/** Nothing can be taken before another lease has come. */
	[[nodiscard]] bool empty() const noexcept { return !left_ && !spare_size_; }

	/** How many to ask the server for, which is done now; 0: there are enough, or more are on their way. */
	[[nodiscard]] std::uint64_t ask() noexcept
	{
		if (asked_ || spare_size_ || left_ > size_ / 2)
			return 0;
		return asked_ = std::min(growth * size_, largest_lease);
	}

	/** The lease has come that ask() asked for; @p first is its first version. False: none was asked for. */
	bool add(std::uint64_t first) noexcept
	{
		if (!asked_)
			return false;
		spare_ = first;
		spare_size_ = std::exchange(asked_, 0);
		return true;
	}

	/** Only if not empty(). */
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
	std::uint64_t size_ = first_lease; /* of the lease that next_ is of */
	std::uint64_t spare_ = 0;          /* first of another lease */
	std::uint64_t spare_size_ = 0;
	std::uint64_t asked_ = 0; /* size of the lease that is on its way */
};

} // namespace prism::kv
