/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of prism-tx-bench: the flags of prism-ycsb where it has one for the purpose. */
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/command_line.hpp"
#include "bench/tx/run.hpp"
#include "bench/tx/systems.hpp"
#include "bench/tx/workloads/smallbank.hpp"
#include "bench/tx/workloads/tpcc.hpp"
#include "bench/tx/workloads/ycsb_t.hpp"

namespace prism::tx
{

struct Parameters {
	std::string system;
	SystemOptions connection;
	RunOptions run;
	YcsbTOptions ycsb_t;
	SmallBankOptions smallbank;
	TpccOptions tpcc;
	std::shared_ptr<const Workload> workload;
	std::string json_file; /**< empty: none */
};

/** Reads the command line; one of @p systems must be named. */
[[nodiscard]] std::variant<Parameters, cli::EarlyExit> parse_parameters(
	const Systems &systems, int argc, const char *const *argv);

} // namespace prism::tx
