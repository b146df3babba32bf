/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One device context of the protocol without sockets: an engine, its memory, and an outbox in place of a carrier. */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/packet.hpp"
#include "protocol/engine.hpp"

namespace prism::test
{

/** A packet from BTH to pad on its way. */
struct Packet {
	soft::Address to;
	std::vector<std::uint8_t> bytes;
};

/** Keeps the packets that an engine sends until they are taken; reuses buffers. */
class Outbox final : public soft::PacketSink
{
public:
	std::uint8_t *begin(const soft::Address &peer, std::size_t size) override;
	void commit() override { size_++; }
	void flush() override
	{
		if (flushes < flushed_at.size())
			flushed_at[flushes++] = size_;
	}
	soft::Room room(unsigned, const soft::Address &, std::uint32_t) override
	{
		return has_room == soft::Room::yes && size_ >= capacity ? soft::Room::no : has_room;
	}
	bool loses(unsigned, const soft::Address &, std::uint32_t, soft::Time) override { return gives_up; }
	bool prepares(std::uint32_t, soft::Time) override { return is_preparing; }

	soft::Room has_room = soft::Room::unknown;
	std::size_t capacity = ~std::size_t{0}; /* packets for which there is room, if there is any */
	bool gives_up = false;
	bool is_preparing = false;
	/* Numbers of packets at each of the first flushes since clear(). Takes no memory, as there may be none. */
	std::array<std::size_t, 8> flushed_at{};
	std::size_t flushes = 0;

	[[nodiscard]] std::size_t size() const { return size_; }
	Packet &at(std::size_t index) { return packets_[index]; }
	void clear()
	{
		size_ = 0;
		flushes = 0;
	}
	/** Forgets all packets but the first @p count. */
	void keep(std::size_t count) { size_ = std::min(size_, count); }

private:
	std::vector<Packet> packets_;
	std::size_t size_ = 0;
};

/** Counts asynchronous events. */
class EventCounter final : public soft::EventListener
{
public:
	void qp_event(soft::QueuePair &, ibv_event_type type) override
	{
		qp_events++;
		last_qp_event = type;
	}
	void cq_event(soft::CompletionQueue &, ibv_event_type) override { cq_events++; }
	void srq_event(soft::SharedReceiveQueue &, ibv_event_type) override { srq_events++; }

	std::uint64_t qp_events = 0;
	std::uint64_t cq_events = 0;
	std::uint64_t srq_events = 0;
	ibv_event_type last_qp_event = IBV_EVENT_CQ_ERR;
};

/** Returns an IPv4 address, 10.0.0.@p host, as a GID. */
soft::Address address_of(std::uint8_t host);

struct Node {
	explicit Node(std::uint8_t host, std::uint32_t first_qpn = 0x100, std::uint32_t qp_count = 64,
		const soft::SharedByEngines &shared = {})
		: address(address_of(host)), engine(outbox, events, first_qpn, qp_count, shared)
	{
	}

	soft::Address address;
	Outbox outbox;
	EventCounter events;
	soft::Engine engine;
};

struct EndpointOptions {
	std::uint32_t pd = 1;
	std::uint32_t max_send_wr = 128;
	std::uint32_t max_recv_wr = 128;
	std::uint32_t max_sge = 4;
	std::uint32_t max_inline = 256;
	std::uint32_t cq_capacity = 1024;
	bool prism = true;
	ibv_qp_type type = IBV_QPT_RC;
};

/** Options of a QP's connection. */
struct ConnectOptions {
	std::uint32_t mtu = 1024;
	std::uint32_t send_psn = 0;
	std::uint32_t recv_psn = 0;
	std::uint32_t access = soft::access_remote_read | soft::access_remote_write | soft::access_remote_atomic;
	std::uint32_t max_rd_atomic = 16;
	soft::Time ack_timeout = 1'000'000;
	std::uint8_t retry_count = 7;
	std::uint8_t rnr_retry = 7;
	std::uint8_t min_rnr_timer = 1;
	bool peer_is_ours = false;
	bool bundles = false; /* the peer has been declared to speak version 2 */
};

/** A QP of a node, with completion queues of its own. */
class Endpoint
{
public:
	Endpoint(Node &node, const EndpointOptions &options);
	~Endpoint();
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	/** Moves it from any state to RTS. */
	void connect(const Endpoint &peer, const ConnectOptions &options)
	{
		connect(peer.node.address, peer.qp.qpn, options);
	}
	void connect(const soft::Address &peer, std::uint32_t qpn, const ConnectOptions &options);

	/** Returns an empty slot of the send queue; fill it, then call post(). nullptr if the queue is full. */
	soft::SendRequest *next();
	/** Posts the slot that next() returned. Sges or inline data go into the queue's arena. */
	void post(soft::SendRequest &request, std::span<const soft::Sge> sges);
	void post_inline(soft::SendRequest &request, std::span<const std::uint8_t> data);
	bool post_receive(std::uint64_t id, std::span<const soft::Sge> sges) { return qp.rq.post(id, sges); }

	Node &node;
	soft::CompletionQueue send_cq;
	soft::CompletionQueue recv_cq;
	soft::QueuePair qp;
};

/** Fills in a PRISM request whose operands are @p operands (four times cas_size bytes, may be empty). */
void set_prism(Endpoint &endpoint, soft::SendRequest &request, const prism_request &fields,
	std::span<const std::uint8_t> operands);

} // namespace prism::test
