/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stat/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace prism::stat
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr double bytes_a_megabyte = 1e6;

std::string who(const Source &source)
{
	return source.kernel ? "kernel" : fmt::format("{}/{}", source.pid, source.command);
}

/* Returns "-" for the kernel's devices, which do not count bytes. */
std::string megabytes(const Interval &interval, const char *counter)
{
	return interval.source().kernel ? "-" : fmt::format("{:.1f}", interval.rate(counter) / bytes_a_megabyte);
}

std::string heading(const Source &source)
{
	if (source.kernel)
		return fmt::format("{} (kernel)\n", source.device);
	const std::string local = source.local_peers.empty() ? std::string()
							     : fmt::format("    in memory with slots {}\n",
								       fmt::join(source.local_peers, ", "));
	return fmt::format("{} of {}: slot {}, QPNs 0x{:06x} to 0x{:06x}\n    at {}\n{}", source.device, who(source),
		source.slot, source.first_qpn, source.last_qpn, fmt::join(source.addresses, ", "), local);
}

Json describe(const Source &source)
{
	Json object{{"device", source.device}, {"kernel", source.kernel}};
	if (!source.kernel) {
		object["pid"] = source.pid;
		object["command"] = source.command;
		object["slot"] = source.slot;
		object["first_qpn"] = source.first_qpn;
		object["last_qpn"] = source.last_qpn;
		object["addresses"] = source.addresses;
		object["local_peers"] = source.local_peers;
	}
	Json &counters = object["counters"] = Json::object();
	Json &gauges = object["gauges"] = Json::object();
	for (const Count &count : source.counts)
		(count.gauge ? gauges : counters)[count.name] = count.value;
	return object;
}

} // namespace

std::string titles()
{
	return fmt::format("{:<15} {:<22} {:>4} {:>9} {:>8} {:>9} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}", "device",
		"process", "QPs", "rx/s", "rx MB/s", "tx/s", "tx MB/s", "READ/s", "WRITE/s", "CAS/s", "ALLOC/s",
		"again/s", "lost/s");
}

std::string row(const Interval &interval)
{
	const Source &source = interval.source();
	return fmt::format("{:<15} {:<22} {:>4} {:>9.0f} {:>8} {:>9.0f} {:>8} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} "
			   "{:>7.0f} {:>7.0f}",
		source.device, who(source), source.kernel ? "-" : fmt::to_string(source.count("qps")),
		interval.rate("rx_packets"), megabytes(interval, "rx_bytes"), interval.rate("tx_packets"),
		megabytes(interval, "tx_bytes"), interval.rate("prism_reads"), interval.rate("prism_writes"),
		interval.rate("prism_cas"), interval.rate("prism_allocates"), interval.rate("retransmits"),
		interval.trouble());
}

std::string moving(const Interval &interval)
{
	std::string text = heading(interval.source());
	for (const auto &[name, rate] : interval.rates())
		if (rate > 0)
			text += fmt::format(
				"    {:<26} {:>20} {:>14.1f}/s\n", name, interval.source().count(name), rate);
	return text;
}

std::string totals(const Source &source, bool zeros)
{
	std::string text = heading(source);
	for (const Count &count : source.counts)
		if (zeros || count.value > 0 || count.gauge)
			text += fmt::format("    {:<26} {:>20}\n", count.name, count.value);
	return text;
}

std::string json(const Snapshot &snapshot, const std::vector<Interval> &intervals)
{
	Json sources = Json::array();
	for (std::size_t i = 0; i < snapshot.sources.size(); i++) {
		sources.push_back(describe(snapshot.sources[i]));
		if (i >= intervals.size())
			continue;
		Json &rates = sources.back()["rates"] = Json::object();
		for (const auto &[name, rate] : intervals[i].rates())
			rates[std::string(name)] = rate;
	}
	return Json{{"time", snapshot.time}, {"sources", std::move(sources)}, {"hidden_processes", snapshot.hidden},
		{"refused", snapshot.refused}}
		.dump();
}

} // namespace prism::stat
