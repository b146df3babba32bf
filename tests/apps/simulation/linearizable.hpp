/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "history.hpp"

namespace simulation
{

/** Tells @p find if @p history is not linearizable. @p place: what its keys are, "block". */
void check_linearizable(const std::vector<prism::test::Operation> &history, const char *place,
	const std::function<void(const std::string &)> &find);
inline void check_linearizable(
	const History &history, const char *place, const std::function<void(const std::string &)> &find)
{
	check_linearizable(history.operations(), place, find);
}

/** Records a GET of all that is over, by client @p client: it finds @p value, or that nothing is there. */
void record_last_get(History &history, std::uint32_t client, std::uint64_t key, prism::test::Value value);

} // namespace simulation
