/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "linearizable.hpp"

#include <fmt/core.h>

#include "../../linearizability/checker.hpp"

namespace simulation
{

void check_linearizable(const std::vector<prism::test::Operation> &history, const char *place,
	const std::function<void(const std::string &)> &find)
{
	const prism::test::CheckReport report = prism::test::check(history);
	if (report.verdict == prism::test::Verdict::linearizable)
		return;
	std::string text = fmt::format("the history is {}", prism::test::name_of(report.verdict));
	if (!report.findings.empty())
		text += "; " + prism::test::describe(report.findings.front(), place);
	find(text);
}

void record_last_get(History &history, std::uint32_t client, std::uint64_t key, prism::test::Value value)
{
	prism::test::Operation operation;
	operation.key = key;
	operation.client = client;
	operation.kind = prism::test::Kind::get;
	const std::size_t record = history.begin(operation);
	const bool absent = value == prism::test::absent;
	history.end(record, absent ? prism::test::Outcome::not_found : prism::test::Outcome::ok, value);
}

} // namespace simulation
