/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <string>
#include <string_view>

namespace prism::apps
{

/**
 * Returns a peer's text for a log or a terminal, which must not obey it: control characters are escaped, and new lines
 * too unless they are to be kept.
 */
[[nodiscard]] inline std::string printable(std::string_view said, bool keeps_lines = false)
{
	constexpr std::string_view digits = "0123456789abcdef";
	std::string text;
	for (std::size_t i = 0; i < said.size(); i++) {
		const auto byte = static_cast<unsigned char>(said[i]);
		/* U+0080 to U+009F are control characters, too: in UTF-8 this byte, and one of a range */
		const bool begins_control =
			byte == 0xc2 && i + 1 < said.size() && static_cast<unsigned char>(said[i + 1]) < 0xa0;
		const bool is_kept = keeps_lines && byte == '\n';
		if ((byte < ' ' && !is_kept) || byte == 0x7f || begins_control) {
			text += "\\x";
			text += digits[byte / 16];
			text += digits[byte % 16];
		} else {
			text += said[i];
		}
	}
	return text;
}

} // namespace prism::apps
