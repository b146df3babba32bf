/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "history.hpp"

namespace simulation
{

/** Calls @p find if @p history is not linearizable. @p place: name for one of its keys, such as "block". */
void check_linearizable(const std::vector<prism::test::Operation> &history, const char *place,
	const std::function<void(const std::string &)> &find);
inline void check_linearizable(
	const History &history, const char *place, const std::function<void(const std::string &)> &find)
{
	check_linearizable(history.operations(), place, find);
}

/** Records a GET by client @p client after all other operations: it finds @p value, or nothing. */
void record_last_get(History &history, std::uint32_t client, std::uint64_t key, prism::test::Value value);

} // namespace simulation
