/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace prism::gam
{

/** The number of a node, from 0: its index among the members. */
using NodeId = std::uint16_t;
constexpr NodeId no_node = 0xffff;
/** Most nodes at one time: an entry has one bit for each. */
constexpr std::size_t max_nodes = 64;

/** Returns the set of one node, which must be below max_nodes. */
constexpr std::uint64_t bit(NodeId node) noexcept
{
	return std::uint64_t{1} << node;
}

/** Calls @p visit with each node of @p set, in ascending order. */
template <typename Visit>
void for_each_node(std::uint64_t set, const Visit &visit)
{
	for (; set; set &= set - 1)
		visit(static_cast<NodeId>(std::countr_zero(set)));
}

/** The unit of coherence, in bytes. */
constexpr std::size_t block_size = 512;

/** Returns the bytes that an object of @p bytes takes in blocks of its own. */
constexpr std::uint64_t in_blocks(std::uint64_t bytes) noexcept
{
	return (bytes + block_size - 1) / block_size * block_size;
}

/**
 * The global address of a byte. The upper 16 bits are its home node, the lower 48 the offset in that node's memory. The
 * null address is offset 0 of node 0, which is never allocated.
 */
struct Address {
	static constexpr unsigned offset_bits = 48;

	std::uint64_t value = 0;

	constexpr Address() noexcept = default;
	constexpr explicit Address(std::uint64_t number) noexcept : value(number) {}
	constexpr Address(NodeId node, std::uint64_t offset) noexcept
		: value((std::uint64_t{node} << offset_bits) | (offset & ((std::uint64_t{1} << offset_bits) - 1)))
	{
	}

	[[nodiscard]] constexpr NodeId home() const noexcept { return static_cast<NodeId>(value >> offset_bits); }
	[[nodiscard]] constexpr std::uint64_t offset() const noexcept
	{
		return value & ((std::uint64_t{1} << offset_bits) - 1);
	}
	/** Returns the first address of its block. */
	[[nodiscard]] constexpr Address block() const noexcept
	{
		return Address(value & ~std::uint64_t{block_size - 1});
	}
	[[nodiscard]] constexpr std::size_t in_block() const noexcept { return value % block_size; }
	/** Returns the number of its block at its home. */
	[[nodiscard]] constexpr std::uint64_t block_number() const noexcept { return offset() / block_size; }
	[[nodiscard]] constexpr bool is_null() const noexcept { return value == 0; }

	friend constexpr Address operator+(Address address, std::uint64_t bytes) noexcept
	{
		return Address(address.value + bytes);
	}
	friend constexpr auto operator<=>(Address, Address) noexcept = default;
};

} // namespace prism::gam

template <>
struct std::hash<prism::gam::Address> {
	std::size_t operator()(prism::gam::Address address) const noexcept
	{
		return (address.value / prism::gam::block_size) * 0x9e3779b97f4a7c15;
	}
};
