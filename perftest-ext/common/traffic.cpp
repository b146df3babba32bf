/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "common/traffic.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <infiniband/prismdv.h>

namespace prism::perftest
{

Traffic Traffic::read(ibv_context *context)
{
	Traffic traffic;
	const ssize_t count = prismdv_query_counters(context, nullptr, 0);
	std::vector<prismdv_counter> counters(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
	if (prismdv_query_counters(context, counters.data(), counters.size()) < 0)
		return traffic;
	for (const prismdv_counter &counter : counters)
		for (std::size_t i = 0; i < names.size(); i++)
			if (std::string_view(names[i]) == counter.name)
				traffic.values_[i] = counter.value;
	return traffic;
}

void Traffic::add(const Traffic &before, const Traffic &after)
{
	for (std::size_t i = 0; i < names.size(); i++)
		if (before.values_[i] && after.values_[i])
			values_[i] = values_[i].value_or(0) + (*after.values_[i] - *before.values_[i]);
}

nlohmann::json Traffic::to_json(std::uint64_t jobs) const
{
	nlohmann::json object;
	for (std::size_t i = 0; i < names.size() && jobs; i++)
		if (values_[i])
			object[names[i]] = static_cast<double>(*values_[i]) / static_cast<double>(jobs);
	return object;
}

std::string Traffic::to_text(std::uint64_t jobs) const
{
	if (!jobs || !of("tx_packets") || !of("rx_packets"))
		return {};
	const auto count = static_cast<double>(jobs);
	return fmt::format("a job: {}, {}", direction("tx_", "sent", count), direction("rx_", "received", count));
}

std::optional<std::uint64_t> Traffic::of(std::string_view name) const
{
	const auto *found = std::find(names.begin(), names.end(), name);
	return found == names.end() ? std::nullopt : values_[static_cast<std::size_t>(found - names.begin())];
}

std::string Traffic::direction(const std::string &prefix, const char *verb, double jobs) const
{
	std::string text =
		fmt::format("{:.2f} packets", static_cast<double>(of(prefix + "packets").value_or(0)) / jobs);
	if (const auto bytes = of(prefix + "bytes"))
		text += fmt::format(" of {:.0f} bytes", static_cast<double>(*bytes) / jobs);
	text += fmt::format(" {}", verb);
	if (const auto trains = of(prefix + "trains"); trains.value_or(0))
		text += fmt::format(" in {:.2f} trains", static_cast<double>(*trains) / jobs);
	return text;
}

} // namespace prism::perftest
