/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The address of a foreign server. */
#pragma once

#include <string>
#include <string_view>

#include "bench/ycsb/systems.hpp"

namespace prism::ycsb
{

struct ForeignAddress {
	std::string host;
	std::uint16_t port = 0;
	std::string unix_path; /**< if not empty, replaces host and port */

	[[nodiscard]] bool is_unix() const noexcept { return !unix_path.empty(); }
	[[nodiscard]] std::string text() const
	{
		return is_unix() ? unix_path : host + " port " + std::to_string(port);
	}
};

/** The host of @p options may be unix:PATH. */
[[nodiscard]] inline ForeignAddress parse_address(const SystemOptions &options)
{
	constexpr std::string_view prefix = "unix:";
	if (options.host.starts_with(prefix))
		return {{}, 0, options.host.substr(prefix.size())};
	return {options.host, options.port, {}};
}

} // namespace prism::ycsb
