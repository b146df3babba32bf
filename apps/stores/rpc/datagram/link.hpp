/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls by unreliable datagrams, at the client, which sends a request again until its response has come. */
#pragma once

#include "rpc/client/client_link.hpp"
#include "rpc/datagram/fragments.hpp"
#include "rpc/datagram/retransmission.hpp"
#include "rpc/datagram/socket.hpp"
#include "rpc/protocol/frame.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::rpc::datagram
{

class DatagramLink final : public ClientLink
{
public:
	/** See ClientLink::connect(). */
	static Result<std::unique_ptr<DatagramLink>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure);

	void flush() noexcept override;

private:
	using Clock = std::chrono::steady_clock;

	struct Slot {
		explicit Slot(const Cut &cut) : response(cut) {}

		Assembly response;
		std::uint32_t seq = seq_before(first_seq);
		std::uint32_t size = 0;            /* of the request */
		std::uint32_t retransmissions = 0; /* of this call */
		std::uint32_t sending = 0;         /* datagrams that the device still has to send */
		bool due = false;                  /* to be sent as soon as the device sends nothing for the slot */
		Clock::time_point sent;
	};

	DatagramLink(Parts parts, CompletionQueue cq, Socket socket, Address peer, Buffer requests, Buffer datagrams,
		const Cut &requests_cut, const Cut &responses_cut);
	Result<void> finish(Deadline deadline);
	[[nodiscard]] std::size_t receive_size() const noexcept { return Socket::grh_size + response_cut_.datagram(); }
	[[nodiscard]] std::size_t receive_offset(std::uint64_t receive) const noexcept
	{
		return depth() * request_cut_.bytes() + receive * receive_size();
	}
	int post_receive(std::uint64_t receive) noexcept;
	void transmit(std::uint32_t slot) noexcept;
	void take(const Completion &completion, Listener &listener) noexcept;
	void take_datagram(const Completion &completion, Listener &listener) noexcept;
	void go_on() noexcept;

	void send(std::uint32_t slot, std::uint32_t size) noexcept override;
	void drive(Listener &listener) noexcept override;
	void stop() noexcept override;

	Buffer requests_;  /* declared first, as datagrams_: freed only after the queue pair is gone */
	Buffer datagrams_; /* those to send, then those received */
	CompletionQueue cq_;
	Address peer_;
	Socket socket_;
	const Cut request_cut_;
	const Cut response_cut_;
	const std::uint64_t token_;
	RetransmissionTimer timer_;
	std::vector<Slot> slots_;
	unsigned polls_ = 0;
};

} // namespace prism::rpc::datagram
