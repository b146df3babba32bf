/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Input of the stateful fuzzers: records of a control byte, a byte of parameters, a length of two bytes (little-endian)
 * and a packet. The harness repairs fields that a mutation would hardly ever guess: the destination QPN, and, depending
 * on the control byte, the PSN and the keys.
 */
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "node.hpp"

namespace prism::fuzz
{

inline void require(bool condition)
{
	if (!condition)
		std::abort();
}

struct Record {
	std::uint8_t control = 0;
	std::uint8_t parameter = 0;
	std::vector<std::uint8_t> packet;

	/** Returns the PSN, chosen by bits 0..1 of control. */
	[[nodiscard]] std::uint32_t psn(std::uint32_t expected) const
	{
		switch (control & 3) {
		case 0:
		case 1:
			return expected;
		case 2:
			return (expected + parameter - 128) & PRISM_PSN_MASK;
		default:
			return get_unaligned_be32(packet.data() + 8) & PRISM_PSN_MASK;
		}
	}
	/** Bit 2: a key in a header stays as it is; otherwise it is the number of a region. */
	[[nodiscard]] bool raw_keys() const { return control & 4; }
	/** Bits 3..4: time that passes before it. */
	[[nodiscard]] soft::Time delay() const
	{
		static constexpr soft::Time delays[] = {0, 1'000, 100'000, 20'000'000};
		return delays[control >> 3 & 3];
	}
};

class Reader
{
public:
	Reader(const std::uint8_t *data, std::size_t size) : input_(data, size) {}

	/** Reads the next record; returns false at the end of the input. */
	bool next(Record &record)
	{
		if (input_.size() < 4)
			return false;
		record.control = input_[0];
		record.parameter = input_[1];
		const std::size_t length = std::min<std::size_t>({std::size_t{input_[2]} | std::size_t{input_[3]} << 8,
			input_.size() - 4, soft::max_packet_size});
		record.packet.assign(input_.begin() + 4, input_.begin() + 4 + static_cast<std::ptrdiff_t>(length));
		input_ = input_.subspan(4 + length);
		return true;
	}

private:
	std::span<const std::uint8_t> input_;
};

/** Memory between guards that must not change. */
class Guarded
{
public:
	explicit Guarded(std::size_t size, std::uint8_t contents) : size_(size), bytes_(size + 2 * guard, canary)
	{
		std::fill_n(data(), size, contents);
	}

	std::uint8_t *data() { return bytes_.data() + guard; }
	[[nodiscard]] std::size_t size() const { return size_; }
	[[nodiscard]] bool guards_intact() const
	{
		const auto intact = [](std::uint8_t byte) { return byte == canary; };
		return std::all_of(bytes_.begin(), bytes_.begin() + guard, intact) &&
		       std::all_of(bytes_.end() - guard, bytes_.end(), intact);
	}
	[[nodiscard]] bool all(std::uint8_t value) const
	{
		return std::all_of(bytes_.begin() + guard, bytes_.end() - guard,
			[value](std::uint8_t byte) { return byte == value; });
	}

private:
	static constexpr std::ptrdiff_t guard = 4096;
	static constexpr std::uint8_t canary = 0xc5;
	std::size_t size_;
	std::vector<std::uint8_t> bytes_;
};

/** Calls @p visit with the header and the body of each entry of a bundle, as far as lengths lead. */
template <typename Visitor>
void for_each_entry(std::span<std::uint8_t> entries, const Visitor &visit)
{
	while (entries.size() >= 4) {
		const std::size_t length =
			std::min<std::size_t>(std::size_t{entries[2]} << 8 | entries[3], entries.size() - 4);
		visit(entries.data(), entries.subspan(4, length));
		entries = entries.subspan(std::min(entries.size(), 4 + ((length + 3) & ~std::size_t{3})));
	}
}

inline void set_bth(std::vector<std::uint8_t> &packet, std::uint32_t qpn, std::uint32_t psn)
{
	put_unaligned_be32(qpn | std::uint32_t{packet[4]} << 24, packet.data() + 4);
	put_unaligned_be32(psn | std::uint32_t{packet[8]} << 24, packet.data() + 8);
}

} // namespace prism::fuzz
