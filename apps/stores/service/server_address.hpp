/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string>

#include <prism/result.hpp>

namespace prism::apps
{

/** Address that a server listens on. */
struct ServerAddress {
	std::string host;
	std::uint16_t port = 0;

	/** Parses "HOST:PORT" or "[IPv6]:PORT", or a host alone with @p default_port. Errors: EINVAL. */
	static Result<ServerAddress> parse(const std::string &text, std::uint16_t default_port);

	/** Returns "HOST:PORT" or "[IPv6]:PORT". */
	[[nodiscard]] std::string text() const;
};

/** Returns what is wrong with @p text as the place of a server; empty if nothing is. For options. */
[[nodiscard]] std::string check_server(const std::string &text);

} // namespace prism::apps
