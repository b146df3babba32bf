/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Values of histories. The first word is the value's name in the history: it is unique and says how many words the
 * value has. Each further word follows from the name and its own place, so a mix of several values, a shifted or a
 * truncated one is recognized.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace simulation
{

inline constexpr std::size_t most_words = (1 << 17) - 1;

/** Returns the name of value number @p count of client @p client, with 1 to most_words words. At most 2047 clients. */
constexpr std::uint64_t name_of_value(std::uint32_t client, std::uint64_t count, std::size_t words) noexcept
{
	return (std::uint64_t{client} + 1) << 53 | std::uint64_t{words} << 36 | count;
}

/** Returns word @p place, which is not 0, of the value @p name. */
constexpr std::uint64_t word_of_value(std::uint64_t name, std::size_t place) noexcept
{
	std::uint64_t word = name ^ (place * 0x9e37'79b9'7f4a'7c15);
	word = (word ^ word >> 32) * 0xd6e8'feb8'6659'fd93;
	return word ^ word >> 32;
}

/** Fills @p words, whose number @p name gives. */
inline void fill_value(std::uint64_t name, std::span<std::uint64_t> words) noexcept
{
	for (std::size_t place = 0; place < words.size(); place++)
		words[place] = place ? word_of_value(name, place) : name;
}

/** Returns true if @p bytes are one complete value. */
inline bool is_whole(std::span<const std::byte> bytes) noexcept
{
	std::uint64_t name = 0;
	if (bytes.size() < sizeof(name))
		return false;
	std::memcpy(&name, bytes.data(), sizeof(name));
	if (bytes.size() != (name >> 36 & most_words) * sizeof(name))
		return false;
	for (std::size_t place = 1; place < bytes.size() / sizeof(name); place++) {
		std::uint64_t word = 0;
		std::memcpy(&word, bytes.data() + place * sizeof(word), sizeof(word));
		if (word != word_of_value(name, place))
			return false;
	}
	return true;
}

} // namespace simulation
