/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "gam/one_sided/entry.hpp"

namespace prism::gam::latch
{

/**
 * The nodes that have asked for a block: all readers are served at once, writers one after the other. Each node is in
 * it at most once.
 */
class Requests
{
public:
	[[nodiscard]] bool empty() const noexcept { return !readers_ && !count_; }
	[[nodiscard]] std::uint64_t readers() const noexcept { return readers_; }
	[[nodiscard]] std::uint64_t all() const noexcept
	{
		std::uint64_t set = readers_;
		for (std::size_t i = 0; i < count_; i++)
			set |= bit(writers_[i]);
		return set;
	}
	[[nodiscard]] NodeId first_writer() const noexcept { return count_ ? writers_[0] : no_node; }
	[[nodiscard]] bool has_writer(NodeId node) const noexcept
	{
		return std::find(writers_.begin(), end(), node) != end();
	}

	/** Adds @p node, which must not be in it. */
	void add(NodeId node, bool exclusive) noexcept
	{
		if (exclusive)
			writers_[count_++] = static_cast<std::uint8_t>(node);
		else
			readers_ |= bit(node);
	}
	void put_back(NodeId first_writer, std::uint64_t readers) noexcept
	{
		readers_ |= readers;
		if (first_writer == no_node)
			return;
		std::copy_backward(writers_.begin(), writers_.begin() + count_, writers_.begin() + count_ + 1);
		writers_[0] = static_cast<std::uint8_t>(first_writer);
		count_++;
	}
	void remove(NodeId node) noexcept
	{
		if (node < max_nodes)
			readers_ &= ~bit(node);
		count_ = static_cast<std::uint8_t>(
			std::remove(writers_.begin(), writers_.begin() + count_, node) - writers_.begin());
	}
	void remove_readers() noexcept { readers_ = 0; }
	void clear() noexcept { *this = {}; }

private:
	[[nodiscard]] const std::uint8_t *end() const noexcept { return writers_.data() + count_; }

	std::uint64_t readers_ = 0;
	std::array<std::uint8_t, max_nodes> writers_{};
	std::uint8_t count_ = 0;
};

} // namespace prism::gam::latch
