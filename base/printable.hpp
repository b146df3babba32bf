/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prism::apps
{

/** Returns the bytes of the UTF-8 character that @p text begins with; 0 if it begins with none (RFC 3629). */
[[nodiscard]] inline std::size_t utf8_size(std::string_view text)
{
	const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
	const unsigned first = byte(0), second = byte(1);
	if (first < 0x80)
		return text.empty() ? 0 : 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	for (std::size_t i = 1; i < size; i++)
		if ((byte(i) & 0xc0) != 0x80)
			return 0;
	const bool is_overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
	const bool is_surrogate = first == 0xed && second >= 0xa0, is_beyond = first == 0xf4 && second >= 0x90;
	return is_overlong || is_surrogate || is_beyond ? 0 : size;
}

/** Returns true for a character that ends a line, or changes the order in which others are shown (UAX #9). */
[[nodiscard]] inline bool is_of_layout(std::string_view character)
{
	const auto byte = [character](std::size_t i) { return static_cast<unsigned char>(character[i]); };
	if (character.size() == 2)
		return byte(0) == 0xd8 && byte(1) == 0x9c; /* U+061C */
	if (character.size() != 3 || byte(0) != 0xe2)
		return false;
	const unsigned last = byte(2);
	if (byte(1) == 0x80)
		return last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae); /* U+200E, U+2028 to U+202E */
	return byte(1) == 0x81 && last >= 0xa6 && last <= 0xa9;                        /* U+2066 to U+2069 */
}

/** Appends a backslash, x and the two digits of @p character. */
inline void append_escaped(std::string &text, char character)
{
	constexpr std::string_view digits = "0123456789abcdef";
	const auto byte = static_cast<unsigned char>(character);
	text += "\\x";
	text += digits[byte / 16];
	text += digits[byte % 16];
}

/**
 * Returns a peer's or a user's text for a log or a terminal, which must not obey it: control characters are escaped,
 * those that turn the direction of text, and bytes that are no UTF-8; new lines too unless they are to be kept.
 */
[[nodiscard]] inline std::string printable(std::string_view said, bool keeps_lines = false)
{
	std::string text;
	while (!said.empty()) {
		const auto byte = static_cast<unsigned char>(said[0]);
		const std::size_t size = utf8_size(said);
		const bool is_control = byte < ' ' || byte == 0x7f ||
					(size == 2 && byte == 0xc2 && static_cast<unsigned char>(said[1]) < 0xa0);
		if (size && !is_of_layout(said.substr(0, size)) && (!is_control || (keeps_lines && byte == '\n'))) {
			text += said.substr(0, size);
			said.remove_prefix(size);
			continue;
		}
		append_escaped(text, said[0]);
		said.remove_prefix(1);
	}
	return text;
}

} // namespace prism::apps
