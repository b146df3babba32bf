/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/traffic.hpp"

#include <fmt/format.h>

namespace prism::bench
{

namespace
{

double each(std::uint64_t count, std::uint64_t requests)
{
	return static_cast<double>(count) / static_cast<double>(requests);
}

} // namespace

const std::array<std::pair<const char *, std::uint64_t Traffic::*>, 6> Traffic::counters{{
	{"tx_packets", &Traffic::tx_packets},
	{"tx_trains", &Traffic::tx_trains},
	{"rx_packets", &Traffic::rx_packets},
	{"rx_trains", &Traffic::rx_trains},
	{"tx_bytes", &Traffic::tx_bytes},
	{"rx_bytes", &Traffic::rx_bytes},
}};

Traffic &Traffic::operator+=(const Traffic &other) noexcept
{
	for (const auto &[name, member] : counters)
		this->*member += other.*member;
	return *this;
}

Traffic Traffic::since(const Traffic &before) const noexcept
{
	Traffic difference;
	for (const auto &[name, member] : counters)
		difference.*member = this->*member - before.*member;
	return difference;
}

nlohmann::json Traffic::to_json() const
{
	nlohmann::json object;
	for (const auto &[name, member] : counters)
		object[name] = this->*member;
	return object;
}

Traffic Traffic::from_json(const nlohmann::json &json)
{
	Traffic traffic;
	for (const auto &[name, member] : counters)
		json.at(name).get_to(traffic.*member);
	return traffic;
}

nlohmann::json traffic_to_json(const Traffic &traffic, std::uint64_t requests)
{
	nlohmann::json object;
	if (traffic.empty() || requests == 0)
		return object;
	for (const auto &[name, member] : Traffic::counters)
		object[name] = each(traffic.*member, requests);
	return object;
}

void print_traffic(std::FILE *out, const Traffic &traffic, std::uint64_t requests, std::string_view unit)
{
	if (traffic.empty() || requests == 0)
		return;
	fmt::print(out,
		" a {}: {:.2f} packets sent in {:.2f} trains, {:.2f} received in {:.2f}; bytes: {:.0f} and {:.0f}\n",
		unit, each(traffic.tx_packets, requests), each(traffic.tx_trains, requests),
		each(traffic.rx_packets, requests), each(traffic.rx_trains, requests), each(traffic.tx_bytes, requests),
		each(traffic.rx_bytes, requests));
}

} // namespace prism::bench
