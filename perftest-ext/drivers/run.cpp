/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "drivers/run.hpp"

namespace prism::perftest
{

namespace
{

using nlohmann::json;

json to_json(const Row &row)
{
	json object = std::visit([&](const auto &result) { return to_json(row.size, result); }, row.result);
	object["contestant"] = row.name;
	object["label"] = row.label;
	object["round_trips"] = row.round_trips;
	object["empty_list_retries"] = row.empty_list;
	object["traffic"] = row.traffic.to_json(row.counted_jobs);
	return object;
}

LatencyResult latency_from(const json &object)
{
	return {
		.iterations = object.at("n_iterations").get<std::uint64_t>(),
		.min = object.at("t_min").get<double>(),
		.max = object.at("t_max").get<double>(),
		.typical = object.at("t_typical").get<double>(),
		.avg = object.at("t_avg").get<double>(),
		.stdev = object.at("t_stdev").get<double>(),
		.p99 = object.at("percentile_99").get<double>(),
		.p99_9 = object.at("percentile_99.9").get<double>(),
	};
}

BandwidthResult bandwidth_from(const json &object)
{
	return {
		.iterations = object.at("n_iterations").get<std::uint64_t>(),
		.peak = object.at("BW_peak").get<double>(),
		.average = object.at("BW_average").get<double>(),
		.msg_rate = object.at("MsgRate").get<double>(),
	};
}

Bytes as_bytes(const std::string &text)
{
	return {text.begin(), text.end()};
}

Row row_from(const json &object)
{
	Row row;
	row.size = object.at("MsgSize").get<std::size_t>();
	row.name = printable(as_bytes(object.at("contestant").get<std::string>()));
	row.label = printable(as_bytes(object.at("label").get<std::string>()));
	row.round_trips = object.at("round_trips").get<unsigned>();
	row.empty_list = object.at("empty_list_retries").get<std::uint64_t>();
	if (object.contains("t_min"))
		row.result = latency_from(object);
	else
		row.result = bandwidth_from(object);
	return row;
}

bool is_latency(const Row &row)
{
	return std::holds_alternative<LatencyResult>(row.result);
}

} // namespace

double Row::figure() const
{
	if (const auto *latency = std::get_if<LatencyResult>(&result))
		return latency->typical;
	return std::get<BandwidthResult>(result).msg_rate;
}

std::vector<Ratio> ratios(const std::vector<Row> &rows)
{
	std::vector<Ratio> list;
	for (std::size_t i = 1; i < rows.size(); i++) {
		const double first = rows.front().figure();
		const double other = rows[i].figure();
		if (first <= 0 || other <= 0)
			continue;
		list.push_back({rows[i].name, is_latency(rows[i]) ? other / first : first / other});
	}
	return list;
}

json to_json(const std::vector<Row> &rows)
{
	json list = json::array();
	for (const Row &row : rows)
		list.push_back(to_json(row));
	for (const Ratio &ratio : ratios(rows))
		list.front()["times_faster_than"][ratio.name] = ratio.times;
	return list;
}

std::optional<std::vector<Row>> rows_from_json(const std::string &text)
{
	constexpr std::size_t most_rows = 256;
	const json list = json::parse(text, nullptr, false);
	if (!list.is_array() || list.size() > most_rows)
		return {};
	try {
		std::vector<Row> rows;
		for (const json &object : list)
			rows.push_back(row_from(object));
		return rows;
	} catch (const json::exception &) {
		return {};
	}
}

} // namespace prism::perftest
