/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls by SEND, whose responses the client READs, many at once; at the server. */
#pragma once

#include "rpc/server/channel.hpp"
#include "rpc/server/incoming.hpp"
#include "rpc/server/server_time.hpp"
#include "rpc/window/layout.hpp"
#include "rpc/window/ring.hpp"
#include "rpc/window/stream.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>

namespace prism::rpc::window
{

class WindowChannel final : public Channel
{
public:
	WindowChannel(const CallDevice &device, std::unique_ptr<Port> port, Ring ring, Receives &receives,
		std::size_t response_size, std::uint32_t calls);

	[[nodiscard]] std::uint32_t number() const noexcept override { return port_->number(); }
	Result<void> connect(const Endpoint &peer) override;
	void take(const Completion &completion, Calls &calls) noexcept override;
	[[nodiscard]] bool busy() const noexcept override { return !incoming_.empty(); }
	void keep(KeptResponses &kept) const override;
	void close() noexcept override;

private:
	[[nodiscard]] bool has_room() const noexcept { return stream_.has_room(record_size(response_size_)); }
	bool hear(std::span<const std::byte> request, Calls &calls) noexcept;
	void execute(std::span<const std::byte> request, Calls &calls) noexcept;
	void open_epoch() noexcept;

	const CallDevice &device_;
	Ring ring_; /* declared first: freed only after the queue pair is gone */
	std::unique_ptr<Port> port_;
	Receives &receives_;
	const std::size_t response_size_;
	Incoming incoming_;
	ServedStream stream_;
	ServerTime time_;
	std::uint32_t next_ = first_seq;    /* seq of the next response */
	std::deque<std::uint64_t> records_; /* positions of the records that are not free */
};

class WindowTransport final : public Transport
{
public:
	/** The pool's buffers must have room for prefix_size bytes more than the longest request. */
	WindowTransport(CallDevice &device, ReceivePool &pool, const ChannelSizes &sizes, unsigned access_flags)
		: device_(device), receives_(pool), sizes_(sizes), access_(access_flags | access::remote_read)
	{
	}

	Result<std::unique_ptr<Channel>> open(
		const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine) override;
	void discard(const Completion &completion) noexcept override;
	void end_turn() noexcept override { (void)receives_.flush(); }

private:
	CallDevice &device_;
	Receives receives_;
	const ChannelSizes sizes_;
	const unsigned access_;
};

} // namespace prism::rpc::window
