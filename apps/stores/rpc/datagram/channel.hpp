/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls by unreliable datagrams, at the server. One queue pair serves all clients of a worker. The server keeps the
 * last response of each slot: a request that comes again is answered with it, and not executed.
 */
#pragma once

#include "rpc/datagram/fragments.hpp"
#include "rpc/datagram/socket.hpp"
#include "rpc/protocol/frame.hpp"
#include "rpc/server/channel.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

namespace prism::rpc::datagram
{

class DatagramTransport;

class DatagramChannel final : public Channel
{
public:
	DatagramChannel(DatagramTransport &transport, std::uint64_t token, Address peer, Buffer responses,
		const Cut &requests, const Cut &responses_cut, std::uint32_t calls);
	~DatagramChannel() override;

	[[nodiscard]] std::uint32_t number() const noexcept override { return static_cast<std::uint32_t>(token_); }
	/** Does nothing: the client's address is known since open(), so the client need not wait for the server. */
	Result<void> connect(const Endpoint & /*peer*/) override { return {}; }
	void take(const Completion &completion, Calls &calls) noexcept override;
	[[nodiscard]] bool busy() const noexcept override { return sending_ != 0; }
	void keep(KeptResponses &kept) const override;
	void close() noexcept override {}

private:
	struct Slot {
		explicit Slot(const Cut &cut) : request(cut) { request.expect(first_seq); }

		Assembly request;
		std::uint32_t answered = seq_before(first_seq); /* the call whose response is kept */
		std::uint32_t size = 0;                         /* of that response */
		std::uint32_t sending = 0;                      /* its datagrams that the device still has to send */
	};

	void take_datagram(const Prefix &prefix, std::span<const std::byte> payload, Calls &calls) noexcept;
	void execute(std::uint32_t index, Calls &calls) noexcept;
	void respond(std::uint32_t index, Calls &calls) noexcept;

	DatagramTransport &transport_;
	const std::uint64_t token_;
	const Address peer_;
	Buffer responses_;
	const Cut request_cut_;
	const Cut response_cut_;
	std::vector<Slot> slots_;
	std::uint64_t sending_ = 0;
};

class DatagramTransport final : public Transport
{
public:
	/** Most datagrams that the device still has to send. */
	static constexpr std::uint32_t most_sends = 4096;

	/** @p receives: most datagrams that have come and were not looked at yet; further ones are lost. */
	static Result<std::unique_ptr<DatagramTransport>> create(const ProtectionDomain &pd, const CompletionQueue &cq,
		const ChannelSizes &sizes, std::uint32_t receives);

	Result<std::unique_ptr<Channel>> open(
		const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine) override;
	[[nodiscard]] std::uint32_t channel_of(const Completion &completion) const noexcept override;
	void discard(const Completion &completion) noexcept override;
	void end_turn() noexcept override;

private:
	friend class DatagramChannel;
	/** Memory of a channel that is gone, kept while the device may send from it. */
	struct Remains {
		Buffer memory;
		std::uint64_t posted; /* sends, up to the channel's last */
	};

	DatagramTransport(ProtectionDomain pd, Socket socket, Buffer receives, const ChannelSizes &sizes,
		std::size_t receive_size);
	[[nodiscard]] std::span<const std::byte> datagram(const Completion &completion) const noexcept;
	void recycle(std::uint64_t buffer) noexcept;
	/** Returns true if there is room for all of @p count sends: a message is posted as a whole or not at all. */
	[[nodiscard]] bool has_room(std::uint32_t count) const noexcept;

	ProtectionDomain pd_;
	Buffer receives_; /* declared first: freed only after the queue pair is gone */
	Socket socket_;
	const ChannelSizes sizes_;
	const std::size_t receive_size_;
	std::vector<std::byte> scratch_; /* for a response */
	std::uint64_t posted_ = 0;       /* sends so far, which complete in their order */
	std::uint64_t completed_ = 0;
	std::deque<Remains> remains_;
	std::mutex names_lock_;
	std::set<std::uint32_t> names_; /* of channels */
};

} // namespace prism::rpc::datagram
