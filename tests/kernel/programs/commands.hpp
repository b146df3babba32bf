/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands to the kernel by write(), bypassing libibverbs and the provider. */
#pragma once

#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace prism::conformance
{

/** Answer to a command: the standard part, ours behind it. */
using Answer = std::array<std::uint32_t, 64>;
/** Words behind the fixed part of a command. */
using Rest = std::vector<std::uint32_t>;

template <typename Part>
void append_part(std::vector<std::uint32_t> &words, const Part &part)
{
	const std::size_t at = words.size();
	words.resize(at + sizeof(part) / 4); /* a command may end with an array of unknown length */
	std::memcpy(words.data() + at, &part, sizeof(part));
}

inline int submit_words(int fd, const std::vector<std::uint32_t> &words)
{
	return write(fd, words.data(), words.size() * 4) < 0 ? errno : 0;
}

/** Sends a command by write(). Returns 0 or errno. */
template <typename Command>
int command(int fd, unsigned number, Command body, const Rest &rest = {}, Answer *answer = nullptr)
{
	Answer unread{};
	Answer &to = answer ? *answer : unread;
	ib_uverbs_cmd_hdr header{};
	header.command = number;
	header.in_words = static_cast<std::uint16_t>((sizeof(header) + sizeof(body)) / 4 + rest.size());
	if constexpr (requires { body.response; }) {
		body.response = reinterpret_cast<std::uintptr_t>(to.data());
		header.out_words = static_cast<std::uint16_t>(to.size());
	}
	std::vector<std::uint32_t> words;
	append_part(words, header);
	append_part(words, body);
	words.insert(words.end(), rest.begin(), rest.end());
	return submit_words(fd, words);
}

} // namespace prism::conformance
