/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/model/network.hpp"

#include <utility>

namespace prism::rpc::model
{

namespace
{

constexpr std::uint32_t mtu = 2048;
constexpr std::uint32_t packet_headers = 26; /* LRH, BTH, ICRC and VCRC */
constexpr std::uint32_t request_header = 16; /* RETH, or its equivalent in ALLOCATE and indirect READs */
constexpr std::uint32_t response_header = 4; /* AETH */

} // namespace

Network::Network(Events &events, const Hardware &hardware, unsigned nodes, unsigned threads)
	: events_(events), nodes_(nodes), bytes_a_us_(hardware.gigabits * 1e3 / 8), one_way_(hardware.one_way),
	  serve_time_(1 / hardware.in_bound), take_time_(1 / hardware.out_bound)
{
	const unsigned contending = threads > hardware.uncontended ? threads - hardware.uncontended : 0;
	for (Node &node : nodes_)
		node.issue_time = (1 + hardware.contention * contending) / hardware.out_bound;
	nodes_[0].issue_time = 1 / hardware.out_bound;
}

std::uint64_t Network::frames(std::uint32_t payload, std::uint32_t extra) noexcept
{
	const std::uint32_t packets = payload ? (payload + mtu - 1) / mtu : 1;
	return std::uint64_t{payload} + extra + std::uint64_t{packets} * packet_headers;
}

void Network::then(Time when, Stage stage, Operation *operation)
{
	events_.at(when, [this, stage, operation] { (this->*stage)(operation); });
}

void Network::issue(Operation operation)
{
	if (unused_.empty())
		unused_.push_back(&operations_.emplace_back());
	Operation *kept = unused_.back();
	unused_.pop_back();
	*kept = std::move(operation);
	Node &from = nodes_[kept->from];
	from.traffic.out_bound++;
	then(from.out.serve(events_.now(), from.issue_time), &Network::issued, kept);
}

void Network::issued(Operation *operation)
{
	Node &from = nodes_[operation->from];
	const std::uint64_t bytes = frames(operation->bytes, request_header);
	from.traffic.bytes += bytes;
	then(from.transmit.serve(events_.now(), on_link(bytes)) + one_way_, &Network::sent, operation);
}

/* The last byte has left its sender some time ago: only simultaneous traffic of others can still delay it. */
void Network::sent(Operation *operation)
{
	Node &to = nodes_[operation->to];
	const std::uint64_t bytes = frames(operation->bytes, request_header);
	to.traffic.bytes += bytes;
	const Time last_byte = to.receive.serve(events_.now() - on_link(bytes), on_link(bytes));
	then(last_byte, &Network::arrived, operation);
}

void Network::arrived(Operation *operation)
{
	Node &to = nodes_[operation->to];
	to.traffic.in_bound++;
	then(to.in.serve(events_.now(), operation->two_sided ? take_time_ : serve_time_), &Network::served, operation);
}

void Network::served(Operation *operation)
{
	Node &to = nodes_[operation->to];
	operation->bytes = operation->at_target();
	const std::uint64_t bytes = frames(operation->bytes, response_header);
	to.traffic.bytes += bytes;
	then(to.transmit.serve(events_.now(), on_link(bytes)) + one_way_, &Network::responded, operation);
}

void Network::responded(Operation *operation)
{
	Node &from = nodes_[operation->from];
	const std::uint64_t bytes = frames(operation->bytes, response_header);
	from.traffic.bytes += bytes;
	then(from.receive.serve(events_.now() - on_link(bytes), on_link(bytes)), &Network::received, operation);
}

void Network::received(Operation *operation)
{
	const std::function<void()> completed = std::move(operation->completed);
	unused_.push_back(operation);
	completed();
}

} // namespace prism::rpc::model
