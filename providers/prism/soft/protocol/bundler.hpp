/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Bundler between the protocol and its carrier: it makes successive packets of one queue pair the entries of a bundle
 * (docs/wire-protocol.md W.12). It never waits for more: gathered packets leave before any other packet, and with
 * flush().
 *
 * Bundles save the carrier's cost for each packet. A cheap carrier, which loses nothing and reports its room, gets the
 * first packets of a turn one by one and at once if the peer waits for them: it works on each while we make the next.
 */
#pragma once

#include <array>

#include "../net/packet.hpp"
#include "counters.hpp"
#include "queue_pair.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace prism::soft
{

class Bundler
{
public:
	Bundler(PacketSink &sink, ProtocolCounters &counters) : sink_(sink), counters_(counters) {}

	/** As PacketSink::begin_from(), for a packet that is never an entry. */
	std::uint8_t *begin_from(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size);
	/**
	 * Does the same for a packet of @p qp that begins with @p opcode, which becomes an entry if it may be one.
	 * @param awaited true if the peer has nothing else to do: see above
	 */
	std::uint8_t *begin_for(const QueuePair &qp, std::uint8_t opcode, std::size_t size, bool awaited);
	/** Completes the packet last begun. One that is never completed leaves no trace. */
	void commit();
	void flush();
	/** Returns the carrier's room. At most one bundle is gathered, so it does not count: while it grows the answer
	 * stays. */
	[[nodiscard]] Room room(const QueuePair &qp)
	{
		if (has_room_for_ != &qp) {
			room_ = sink_.room(qp.attr.source, qp.attr.peer, qp.attr.dest_qpn);
			has_room_for_ = room_ == Room::no ? nullptr : &qp;
		}
		return room_;
	}
	/** Returns the carrier for packets that are never entries. */
	[[nodiscard]] PacketSink &carrier() { return sink_; }

private:
	/* Destination of the gathered packets. Copies: a queue pair may end before they leave. */
	struct Flow {
		Address peer;
		unsigned source = 0;
		std::uint32_t qpn = 0;
		std::uint32_t mtu = 0;
	};

	[[nodiscard]] bool goes_at_once(const QueuePair &qp);
	/** Returns the place of the next entry in the bundle. */
	[[nodiscard]] std::uint8_t *end() { return bundle_.data() + size_; }
	void restore();
	[[nodiscard]] bool joins(std::uint32_t psn, std::uint32_t entry_size) const;
	void open(const QueuePair &from);
	void close();
	void emit_packet();
	void emit_bundle();

	PacketSink &sink_;
	ProtocolCounters &counters_;

	static constexpr unsigned most_at_once = 3; /* packets for each turn: a chain */
	unsigned went_at_once_ = 0;
	bool goes_at_once_ = false; /* true if the packet last begun goes at once */

	const QueuePair *has_room_for_ = nullptr; /* room_ is an answer of this turn, and of the bundle that grows */
	Room room_ = Room::unknown;

	/* The packet last begun, if its body lies where the next entry's will. */
	const QueuePair *next_from_ = nullptr;
	std::uint8_t next_opcode_ = 0; /* of bundles that take it */
	std::size_t next_size_ = 0;
	/* The bytes in front of the next entry that its BTH has overwritten. */
	std::array<std::uint8_t, PRISM_ENTRY_OFFSET> overwritten_;

	/* The bundle that grows. */
	const QueuePair *from_ = nullptr; /* only compared: it may end before the bundle leaves */
	Flow flow_;
	std::uint8_t opcode_ = 0;
	std::uint32_t last_psn_ = 0;
	unsigned entries_ = 0;
	std::uint32_t size_ = PRISM_BTH_SIZE;
	/* BTH and size of the first packet, which is sent as it was if it stays alone. */
	std::array<std::uint8_t, PRISM_BTH_SIZE> first_bth_;
	std::uint32_t first_size_ = 0;
	/* Room for a full bundle, and for the packet that does not fit. */
	std::array<std::uint8_t, max_packet_size + max_packet_size> bundle_;
};

} // namespace prism::soft
