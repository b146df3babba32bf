/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <string>

#include <prism/result.hpp>

namespace kv_test
{

/** Options of a process that uses the store and records its operations. */
struct HistoryClientOptions {
	std::uint16_t port = 0;
	std::uint32_t number = 0; /* unique in the run */
	std::uint32_t depth = 1;
	std::uint32_t keys = 16;
	std::uint64_t operations = 1000;
	bool survives = false; /* goes on after operations that failed with their connection */
	std::string file;
};

/**
 * Runs until the operations are done, or the process is killed. Errors: EILSEQ (a GET returned a value that nobody has
 * stored), those of PrismClient::connect().
 */
prism::Result<void> run_history_client(const HistoryClientOptions &options);

} // namespace kv_test
