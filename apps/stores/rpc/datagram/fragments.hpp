/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages in datagrams. A message is cut into fragments of equal size but for the last; each datagram has a prefix of
 * 24 bytes, little-endian, and a fragment:
 *
 *  offset  bytes  what
 *  0       8      token: that of the client's introduction, in requests and responses
 *  8       4      slot of the call
 *  12      4      seq of the call, as frames have it
 *  16      4      bytes of the message
 *  20      4      offset of the fragment
 *
 * A fragment has as many bytes as the smaller MTU of both sides leaves. Sans-I/O.
 */
#pragma once

#include <prism/queue_pair.hpp>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace prism::rpc::datagram
{

struct Prefix {
	std::uint64_t token = 0;
	std::uint32_t slot = 0;
	std::uint32_t seq = 0;
	std::uint32_t size = 0;
	std::uint32_t offset = 0;
};
constexpr std::size_t prefix_size = sizeof(Prefix);
static_assert(prefix_size == 24);

/** Returns the bytes of a fragment between sides with these MTUs. */
constexpr std::uint32_t fragment_size(ibv_mtu one, ibv_mtu other) noexcept
{
	return (128u << std::min(one, other)) - static_cast<std::uint32_t>(prefix_size);
}
/** Least bytes of a fragment between any two sides. */
constexpr std::uint32_t least_fragment = fragment_size(IBV_MTU_256, IBV_MTU_256);

/** Rules for cutting messages of up to @p longest bytes. */
struct Cut {
	std::uint32_t fragment = 0; /**< bytes */
	std::uint32_t longest = 0;  /**< bytes of a message */

	/** Returns the fragments of a message of @p size bytes: 1 at least. */
	[[nodiscard]] std::uint32_t count(std::uint32_t size) const noexcept
	{
		return std::max((size + fragment - 1) / fragment, std::uint32_t{1});
	}
	[[nodiscard]] std::uint32_t most() const noexcept { return count(longest); }
	/** Bytes of a datagram, and of all datagrams of the longest message. */
	[[nodiscard]] std::size_t datagram() const noexcept { return prefix_size + fragment; }
	[[nodiscard]] std::size_t bytes() const noexcept { return most() * datagram(); }
	/** Returns the bytes of datagram @p index of a message of @p size bytes. */
	[[nodiscard]] std::uint32_t length(std::uint32_t index, std::uint32_t size) const noexcept
	{
		return static_cast<std::uint32_t>(prefix_size) + std::min(fragment, size - index * fragment);
	}

	/** Writes the datagrams of @p message one behind the other to @p to, which has room for bytes(). */
	void write(std::byte *to, Prefix prefix, std::span<const std::byte> message) const noexcept
	{
		prefix.size = static_cast<std::uint32_t>(message.size());
		for (std::uint32_t index = 0; index < count(prefix.size); index++, to += datagram()) {
			prefix.offset = index * fragment;
			std::memcpy(to, &prefix, prefix_size);
			const std::size_t part = length(index, prefix.size) - prefix_size;
			if (part)
				std::memcpy(to + prefix_size, message.data() + prefix.offset, part);
		}
	}

	/** Returns the message of @p size bytes that write() has cut. */
	[[nodiscard]] std::vector<std::byte> read(const std::byte *from, std::uint32_t size) const
	{
		std::vector<std::byte> message(size);
		for (std::uint32_t index = 0; size && index < count(size); index++) {
			const std::size_t part = length(index, size) - prefix_size;
			std::memcpy(&message[index * fragment], from + index * datagram() + prefix_size, part);
		}
		return message;
	}
};

/** Builder of a message from its datagrams, which come in any order, some of them more than once. */
class Assembly
{
public:
	explicit Assembly(const Cut &cut) : cut_(cut), bytes_(cut.longest) {}

	/** Begins the message of call @p seq. */
	void expect(std::uint32_t seq) noexcept
	{
		seq_ = seq;
		missing_ = 0;
		begun_ = false;
		there_.reset();
	}
	[[nodiscard]] std::uint32_t seq() const noexcept { return seq_; }

	/**
	 * Adds @p payload, which came with @p prefix, both from a peer that is not trusted. Returns true if that
	 * completes the message.
	 */
	bool add(const Prefix &prefix, std::span<const std::byte> payload) noexcept
	{
		if (prefix.seq != seq_ || prefix.size > cut_.longest || prefix.offset % cut_.fragment)
			return false;
		const std::uint32_t index = prefix.offset / cut_.fragment;
		if (index >= cut_.count(prefix.size) || (begun_ && prefix.size != size_) ||
			payload.size() != cut_.length(index, prefix.size) - prefix_size)
			return false;
		if (!begun_) {
			begun_ = true;
			size_ = prefix.size;
			missing_ = cut_.count(size_);
		}
		if (there_[index])
			return false;
		there_[index] = true;
		if (!payload.empty())
			std::memcpy(bytes_.data() + prefix.offset, payload.data(), payload.size());
		return --missing_ == 0;
	}
	/** Returns the message. Only when it is whole. */
	[[nodiscard]] std::span<const std::byte> message() const noexcept { return {bytes_.data(), size_}; }

private:
	Cut cut_;
	std::vector<std::byte> bytes_;
	std::uint32_t seq_ = 0;
	std::uint32_t size_ = 0;
	std::uint32_t missing_ = 0; /* fragments */
	bool begun_ = false;
	std::bitset<512> there_; /* 65,536 bytes in the smallest fragments, and more */
};

} // namespace prism::rpc::datagram
