/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Handler of packets that come back to the requester: acknowledgements, NAKs and responses (IBTA 9.7.5.2,
 * docs/wire-protocol.md). */
#pragma once

#include "requester.hpp"

namespace prism::soft
{

class Completer
{
public:
	Completer(Engine &engine, QueuePair &qp) : engine_(engine), qp_(qp), requester_(engine, qp) {}

	/** Handles one packet that is not a request; everything in it is hostile until checked. */
	void receive(const prism_bth &bth, std::span<const std::uint8_t> packet, Time now);

private:
	void acknowledge(const prism_bth &bth, std::span<const std::uint8_t> packet, Time now);
	void nak(std::uint8_t syndrome, std::uint32_t psn);
	void atomic_response(const prism_bth &bth, std::span<const std::uint8_t> packet);
	void read_response(const prism_bth &bth, std::uint16_t flags, std::span<const std::uint8_t> packet);
	void prism_read_response(const prism_bth &bth, std::span<const std::uint8_t> packet);
	void prism_short_response(const prism_bth &bth, std::span<const std::uint8_t> packet);

	bool acknowledge_before(std::uint32_t psn);
	void acknowledge_message(SendRequest &wr, std::uint32_t packets);
	SendRequest *answered(std::uint32_t psn);
	[[nodiscard]] bool head_is_followed();
	[[nodiscard]] bool may_begin(const SendRequest &wr, std::uint32_t resolution);
	void finish_read(std::uint32_t resolution, std::uint32_t length);
	bool latch(SendRequest &wr, const prism_bth &bth, std::uint32_t resolution, std::uint32_t length);
	void finish_prism(SendRequest &wr, const prism_response &response);
	bool deliver(SendRequest &wr, std::uint32_t offset, const std::uint8_t *data, std::uint32_t length);
	void loss();
	void drop() { engine_.counters.rx_response_dropped++; }

	Engine &engine_;
	QueuePair &qp_;
	Requester requester_;
};

} // namespace prism::soft
