/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * NICs and links. Each node's NIC serves operations of others (in-bound), and issues its own (out-bound), each kind one
 * after the other; a frame takes a link as long as its bytes need. Nothing is lost.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "bench/rpc/model/events.hpp"
#include "bench/rpc/model/parameters.hpp"

namespace prism::rpc::model
{

struct Operation {
	unsigned from = 0;
	unsigned to = 0;
	std::uint32_t bytes = 0; /**< bytes that it carries; a READ carries none */
	bool two_sided = false;
	/** Called at the target, when its NIC has served the operation; returns the bytes of the response. */
	std::function<std::uint32_t()> at_target = [] { return 0U; };
	std::function<void()> completed = [] {};
};

/** Counters of a node, since the beginning. */
struct Traffic {
	std::uint64_t in_bound = 0;
	std::uint64_t out_bound = 0;
	std::uint64_t bytes = 0;
};

class Network
{
public:
	/** @param threads of each node that issue; node 0 is the server, which has no contention */
	Network(Events &events, const Hardware &hardware, unsigned nodes, unsigned threads);

	void issue(Operation operation);
	[[nodiscard]] const Traffic &traffic(unsigned node) const { return nodes_[node].traffic; }

private:
	struct Node {
		Station out, in, transmit, receive;
		Time issue_time = 0;
		Traffic traffic;
	};

	using Stage = void (Network::*)(Operation *);

	void then(Time when, Stage stage, Operation *operation);
	[[nodiscard]] Time on_link(std::uint64_t bytes) const noexcept
	{
		return static_cast<double>(bytes) / bytes_a_us_;
	}
	[[nodiscard]] static std::uint64_t frames(std::uint32_t payload, std::uint32_t extra) noexcept;

	/* The stages of an operation: issued, sent, arrived, served; the same back, without NICs. */
	void issued(Operation *operation);
	void sent(Operation *operation);
	void arrived(Operation *operation);
	void served(Operation *operation);
	void responded(Operation *operation);
	void received(Operation *operation);

	Events &events_;
	std::vector<Node> nodes_;
	std::deque<Operation> operations_; /* never move */
	std::vector<Operation *> unused_;
	double bytes_a_us_;
	Time one_way_;
	Time serve_time_;
	Time take_time_; /* of operations sent with SEND: no asymmetry */
};

} // namespace prism::rpc::model
