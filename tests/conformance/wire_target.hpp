/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A queue pair of a kernel device as a responder, and its peer: requests of the reference become packets, and answers
 * are checked against docs/wire-protocol.md byte by byte.
 */
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device_world.hpp"
#include "random.hpp"
#include "wire_peer.hpp"

namespace prism::conformance
{

inline constexpr std::uint32_t peer_qpn = 0x123456;
inline constexpr std::size_t bth_size = 12;

inline std::uint32_t psn_of(const Packet &packet)
{
	return get_unaligned_be32(packet.data() + 8) & PRISM_PSN_MASK;
}
inline void set_psn(Packet &packet, std::uint32_t psn)
{
	put_unaligned_be32(std::uint32_t{packet[8]} << 24 | (psn & PRISM_PSN_MASK), packet.data() + 8);
}
inline void set_qpn(Packet &packet, std::uint32_t qpn)
{
	put_unaligned_be32(std::uint32_t{packet[4]} << 24 | (qpn & PRISM_QPN_MASK), packet.data() + 4);
}

std::string to_hex(const Packet &packet);

/** Returns packets, each of which may be an entry, as one bundle; of any length. */
Packet bundle_of(std::span<const Packet> packets);

/** A request as it is sent, and the PSNs that its answer must match. */
struct Exchange {
	const reference::Request *request = nullptr;
	std::vector<Packet> packets;
	std::uint32_t first_psn = 0, psns = 1;
	std::vector<std::uint32_t> acknowledges; /* PSNs before the last that request one */
	[[nodiscard]] std::uint32_t last_psn() const { return psn_of(packets.back()); }
};

class WireTarget
{
public:
	WireTarget(const Device &device, WirePeer &peer, std::uint32_t mtu);

	/** Sets timeout and retry count of later connections, as in ibv_qp_attr */
	void set_retries(std::uint8_t timeout, std::uint8_t count)
	{
		timeout_ = timeout;
		retries_ = count;
	}
	/** Makes a new connection, whose first PSN is @p psn. */
	void connect(unsigned access, std::uint32_t psn, std::uint8_t dest_rd_atomic = 16);
	[[nodiscard]] ibv_qp *qp() const { return qp_.get(); }
	[[nodiscard]] ibv_cq *cq() const { return cq_.get(); }
	[[nodiscard]] std::uint32_t psn() const { return psn_; }
	[[nodiscard]] std::uint32_t msn() const { return msn_; }
	[[nodiscard]] std::uint32_t mtu() const { return mtu_; }
	/** Advances the numbers, for callers that send packets of their own */
	void advance(std::uint32_t psns, std::uint32_t requests)
	{
		psn_ = (psn_ + psns) & PRISM_PSN_MASK;
		msn_ += requests;
	}

	/** Returns packets of @p request from the next PSN on. */
	Exchange encode(const reference::Request &request, const WireNames &names, test::Random &random);
	/** The same with packets that exist already. */
	Exchange adopt(const reference::Request &request, std::vector<Packet> packets);
	void send(const Exchange &exchange) const;
	/**
	 * Waits for the answer; returns the outcome but for the reason of a fault, and the response packets if wanted.
	 */
	reference::Outcome answer(const Exchange &exchange, std::vector<Packet> *packets = nullptr);
	/** As answer(), for a request sent again: same PSN, any MSN. */
	reference::Outcome answer_again(const Exchange &exchange, std::vector<Packet> *packets = nullptr);

	[[nodiscard]] const std::string &complaint() const { return complaint_; }
	void forgive() { complaint_.clear(); }
	void complain(const std::string &what)
	{
		if (complaint_.empty())
			complaint_ = what;
	}

private:
	struct Answer {
		std::uint8_t opcode;
		std::uint32_t psn;
		Packet packet;
	};

	[[nodiscard]] Packet header(std::uint8_t opcode, bool ack_req, std::uint8_t flags) const;
	void encode_prism(Exchange &exchange, const WireNames &names, test::Random &random);
	void encode_standard(Exchange &exchange, const WireNames &names);
	void append_payload(Exchange &exchange, const std::function<Packet(std::uint32_t, std::uint32_t)> &head);

	Answer next_answer(const Exchange &exchange);
	void check_msn(const Packet &packet, std::uint32_t expected);
	bool is_negative(const Answer &answer, const Exchange &exchange, reference::Outcome &outcome);
	reference::Outcome collect(const Exchange &exchange);
	void read_short(const Exchange &exchange, const Answer &answer, reference::Outcome &outcome);
	void read_data(const Exchange &exchange, Answer answer, reference::Outcome &outcome);
	void read_standard(const Exchange &exchange, Answer answer, reference::Outcome &outcome);

	const Device &device_;
	WirePeer &peer_;
	const std::uint32_t mtu_;
	Owned<ibv_cq> cq_;
	Owned<ibv_qp> qp_;
	std::uint8_t timeout_ = Path{}.timeout, retries_ = Path{}.retry;
	std::uint32_t psn_ = 0, msn_ = 0;
	bool any_msn_ = false;
	std::uint32_t resolution_ = 0;
	bool resolved_ = false;
	std::vector<Packet> *seen_ = nullptr;
	std::string complaint_;
};

} // namespace prism::conformance
