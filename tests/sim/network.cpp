/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "network.hpp"

#include <algorithm>

#include "net/icrc.hpp"

namespace prism::test
{

/** Runs the same check as on a socket: a packet that it rejects is gone. */
bool Network::survives_corruption(std::size_t from, std::size_t to, std::vector<std::uint8_t> &bytes)
{
	const soft::IcrcFlow flow{nodes_[from]->address, nodes_[to]->address, 4791, 4791};
	const std::uint32_t icrc = soft::icrc(flow, bytes, 0);
	const std::size_t size = bytes.size();
	bytes.resize(size + soft::icrc_size);
	soft::store_icrc(bytes.data() + size, icrc);
	const std::uint64_t flips = random_.between(1, 8);
	for (std::uint64_t i = 0; i < flips; i++)
		bytes[random_.below(bytes.size())] ^= static_cast<std::uint8_t>(1u << random_.below(8));
	const bool good = soft::check_icrc(flow, bytes) == soft::IcrcVerdict::exact;
	bytes.resize(size);
	return good;
}

void Network::send(std::size_t from, const Packet &packet, soft::Time now)
{
	std::size_t to = 0;
	while (nodes_[to]->address != packet.to)
		to++;
	sent++;
	const int copies = random_.chance(faults_.duplicate) ? 2 : 1;
	for (int i = 0; i < copies; i++) {
		if (random_.chance(faults_.loss)) {
			lost++;
			continue;
		}
		std::vector<std::uint8_t> bytes = packet.bytes;
		if (random_.chance(faults_.corrupt) && !survives_corruption(from, to, bytes)) {
			bad_icrc++;
			continue;
		}
		soft::Time &last = last_arrival_[{from, to}];
		soft::Time at = std::max(last, now + delays_.latency + random_.below(delays_.jitter));
		if (i || random_.chance(faults_.reorder))
			at += random_.below(delays_.longest_detour);
		else
			last = at;
		flying_.push({at, numbers_++, from, to, std::move(bytes)});
	}
}

void Network::collect(soft::Time now)
{
	for (std::size_t i = 0; i < nodes_.size(); i++) {
		Outbox &outbox = nodes_[i]->outbox;
		for (std::size_t j = 0; j < outbox.size(); j++)
			send(i, outbox.at(j), now);
		outbox.clear();
	}
}

void Network::deliver(soft::Time now)
{
	while (!flying_.empty() && flying_.top().at <= now) {
		Flight flight = flying_.top();
		flying_.pop();
		Node &node = *nodes_[flight.to];
		if (!shim_ || shim_(node, flight.bytes))
			node.engine.receive({nodes_[flight.from]->address, {}}, flight.bytes, now);
	}
}

} // namespace prism::test
