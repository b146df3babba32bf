/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A client and a server in memory, on a network that loses the packets that the test selects. */
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "node.hpp"
#include "protocol/standard_wire.hpp"

namespace prism::test
{

/** Options without a timer: losses must be detected in another way. */
inline ConnectOptions without_timer()
{
	ConnectOptions options;
	options.ack_timeout = 0;
	return options;
}

struct Pair {
	static constexpr std::uint64_t va = 0x10'0000;
	static constexpr std::uint32_t rights = soft::access_local_write | soft::access_remote_read |
						soft::access_remote_write | soft::access_remote_atomic;

	explicit Pair(const ConnectOptions &options = {}, std::size_t size = 2 << 20) : memory(size), local(size)
	{
		key = server_node.engine.memory.add_region(memory.data(), va, size, rights, 1);
		local_key = client_node.engine.memory.add_region(local.data(), va, size, rights, 1);
		client.connect(server, options);
		server.connect(client, options);
	}

	/** Posts a request with @p local_length bytes of local memory, from @p at on. */
	void post(prism_request request, std::uint32_t local_length, std::span<const std::uint8_t> operands = {},
		std::uint64_t at = 0)
	{
		soft::SendRequest &wr = *client.next();
		if (!request.rkey)
			request.rkey = key;
		if (!request.aux_rkey)
			request.aux_rkey = key;
		set_prism(client, wr, request, operands);
		const soft::Sge sge{va + at, local_length, local_key};
		client.post(wr, {&sge, local_length ? 1u : 0u});
	}

	/** Posts a swap of one word, whatever its value. */
	void post_cas(std::uint64_t offset, std::uint64_t value, std::uint8_t flags = 0)
	{
		std::uint8_t operands[32] = {};
		put_unaligned_le64(value, operands + 8);
		std::fill_n(operands + 24, 8, 0xff);
		prism_request request{};
		request.op = PRISM_CAS;
		request.flags = flags;
		request.cas_size = 8;
		request.va = va + offset;
		post(request, 0, operands);
	}

	/** Posts a comparison that does not hold. */
	void post_miss(std::uint32_t local_length = 0)
	{
		std::uint8_t operands[32] = {1};
		std::fill_n(operands + 16, 8, 0xff);
		prism_request request{};
		request.op = PRISM_CAS;
		request.cas_size = 8;
		request.va = va + 64;
		post(request, local_length, operands);
	}

	/** Returns a request for craft_request() that is all in one packet. */
	[[nodiscard]] prism_request whole(prism_op op, std::uint32_t length, std::uint8_t flags = 0) const
	{
		prism_request request{};
		request.op = op;
		request.flags = flags;
		request.first = request.last = true;
		request.cas_size = op == PRISM_CAS ? 8 : 0;
		request.va = va;
		request.rkey = key;
		request.length = length;
		return request;
	}

	/** Loses the packet at @p psn on its way to the client, once; @p asked: PSNs that the client sends. */
	void lose_answer_once(std::uint32_t psn, std::vector<std::uint32_t> &asked)
	{
		loses = [psn, &asked, lost = false](bool to_client, const prism_bth &bth) mutable {
			if (!to_client)
				asked.push_back(bth.psn);
			return to_client && bth.psn == psn && !std::exchange(lost, true);
		};
	}

	void post_read(std::uint64_t offset, std::uint32_t length, std::uint8_t flags = 0)
	{
		prism_request request{};
		request.op = PRISM_READ;
		request.flags = flags;
		request.va = va + offset;
		request.length = length;
		post(request, length);
	}

	void post_send(std::uint32_t length)
	{
		soft::SendRequest &wr = *client.next();
		wr.kind = soft::SendKind::send;
		wr.wc_opcode = IBV_WC_SEND;
		const soft::Sge sge{va, length, local_key};
		client.post(wr, {&sge, 1});
	}

	/** Takes the packet from the network that would arrive next. */
	std::vector<std::uint8_t> take_flying()
	{
		const std::vector<std::uint8_t> packet = std::move(flying_.front().bytes);
		flying_.pop();
		return packet;
	}

	/** Hands a packet that is on its way, or a copy of one, to its receiver at once. */
	void deliver(Node &to, const std::vector<std::uint8_t> &packet)
	{
		to.engine.receive({(&to == &server_node ? client_node : server_node).address, {}}, packet, now);
	}

	void step()
	{
		soft::Time next = now + 20'000;
		for (const Node *node : {&server_node, &client_node})
			if (const soft::Time due = node->engine.next_deadline(); due)
				next = std::min(next, due);
		if (!flying_.empty())
			next = std::min(next, flying_.front().at);
		now = std::max(next, now + 1);
		while (!flying_.empty() && flying_.front().at <= now) {
			const Flight flight = std::move(flying_.front());
			flying_.pop();
			deliver(*flight.to, flight.bytes);
		}
		for (Node *node : {&server_node, &client_node})
			node->engine.progress(now);
		send(server_node, client_node);
		send(client_node, server_node);
	}

	/** Runs until @p count more requests of the client have completed, or @p longest has passed. */
	std::vector<ibv_wc> run(std::size_t count, soft::Time longest = 10'000'000'000)
	{
		std::vector<ibv_wc> completed;
		const soft::Time end = now + longest;
		while (completed.size() < count && now < end) {
			step();
			ibv_wc wc;
			while (client.send_cq.poll(1, &wc))
				completed.push_back(wc);
		}
		return completed;
	}

	/** Runs @p steps steps, without expectations. */
	void pass(unsigned steps)
	{
		for (unsigned i = 0; i < steps; i++)
			step();
	}

	/** Called for each packet as it is sent: returns true if it gets lost. */
	std::function<bool(bool to_client, const prism_bth &bth)> loses = [](bool, const prism_bth &) { return false; };

	Node server_node{1}, client_node{2};
	Endpoint server{server_node, {}}, client{client_node, {}};
	std::vector<std::uint8_t> memory, local;
	std::uint32_t key = 0, local_key = 0;
	soft::Time now = 1000;
	std::uint64_t packets = 0;

private:
	struct Flight {
		soft::Time at;
		Node *to;
		std::vector<std::uint8_t> bytes;
	};

	void send(Node &from, Node &to)
	{
		constexpr soft::Time latency = 5000;
		for (std::size_t i = 0; i < from.outbox.size(); i++) {
			prism_bth bth;
			prism_bth_decode(from.outbox.at(i).bytes.data(), &bth);
			packets++;
			if (!loses(&to == &client_node, bth))
				flying_.push({now + latency, &to, from.outbox.at(i).bytes});
		}
		from.outbox.clear();
	}

	std::queue<Flight> flying_;
};

} // namespace prism::test
