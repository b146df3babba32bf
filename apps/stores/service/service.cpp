/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service.hpp"

namespace prism::apps
{

void collect_connections(
	std::vector<Metric> &metrics, std::uint64_t accepted, std::uint64_t open, std::uint64_t refused)
{
	const auto add = [&metrics](Metric::Kind kind, const char *name, const char *help, std::uint64_t value) {
		metrics.push_back({kind, name, help, static_cast<double>(value), {}});
	};
	add(Metric::Kind::counter, "prism_connections_accepted_total", "Connections of clients so far", accepted);
	add(Metric::Kind::gauge, "prism_connections_open", "Connections of clients now", open);
	add(Metric::Kind::counter, "prism_connections_refused_total", "Clients that were refused", refused);
}

} // namespace prism::apps
