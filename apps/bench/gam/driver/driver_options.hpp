/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/command_line.hpp"

namespace prism::gam
{

constexpr std::uint16_t default_master_port = 18660; /**< port of prism-gam-master */

/** The user's options for how a driver of workloads joins a global memory. */
struct DriverOptions {
	unsigned nodes = 1;                /**< nodes in a process of the driver */
	double cache = 15;                 /**< percent of the store that each of them caches, at least 128 KiB */
	std::string address = "127.0.0.1"; /**< address at which other nodes reach them */

	static constexpr unsigned most_nodes = 32;

	void add_to(cli::CommandLine &app)
	{
		app.add_option("--nodes", nodes, "gam: nodes that a process is; its clients have them by turns")
			.check(cli::Range(1U, most_nodes))
			.capture_default_str();
		app.add_option("--cache", cache, "gam: percent of the store that a node caches, at least 128 KiB")
			.check(cli::Range(0.0, 100.0))
			.capture_default_str();
		app.add_option("--node-address", address, "gam: where other nodes reach this host")
			.capture_default_str();
	}

	/** Returns one of the options that was given; empty: none. */
	[[nodiscard]] static std::string_view given(const cli::CommandLine &app)
	{
		for (const char *option : {"--nodes", "--cache", "--node-address"}) {
			if (app.count(option))
				return option;
		}
		return {};
	}
};

} // namespace prism::gam
