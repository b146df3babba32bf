/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls by SEND and RECV, at the server. */
#pragma once

#include "rpc/server/channel.hpp"
#include "rpc/server/incoming.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace prism::rpc
{

/**
 * Channel with a ring of responses: requests are answered in their order, and the sends of a queue pair complete in
 * theirs.
 */
class TwoSidedChannel final : public Channel
{
public:
	TwoSidedChannel(std::unique_ptr<Port> port, Memory memory, Receives &receives, const ChannelSizes &sizes,
		std::uint32_t calls);

	[[nodiscard]] std::uint32_t number() const noexcept override { return port_->number(); }
	Result<void> connect(const Endpoint &peer) override { return port_->connect(peer); }
	void take(const Completion &completion, Calls &calls) noexcept override;
	void post(Calls &calls) noexcept override;
	[[nodiscard]] bool busy() const noexcept override { return done_ != built_ || !incoming_.empty(); }
	void keep(KeptResponses &kept) const override;
	void close() noexcept override;

private:
	[[nodiscard]] bool has_room() const noexcept { return built_ - done_ < requests_.size(); }
	void take_request(const Completion &completion, Calls &calls) noexcept;
	void execute(std::span<const std::byte> request, Calls &calls) noexcept;

	Memory responses_; /* declared first: freed only after the queue pair is gone */
	std::unique_ptr<Port> port_;
	Receives &receives_;
	std::size_t response_size_;
	Incoming incoming_;
	std::vector<ibv_send_wr> requests_; /* the ring */
	std::vector<ibv_sge> pieces_;
	std::uint64_t built_ = 0;  /* responses so far */
	std::uint64_t posted_ = 0; /* of these, given to the device */
	std::uint64_t done_ = 0;   /* of these, complete */
};

class TwoSidedTransport final : public Transport
{
public:
	/** @p access_flags: of the queue pairs, clients' direct accesses. */
	TwoSidedTransport(CallDevice &device, ReceivePool &pool, const ChannelSizes &sizes, unsigned access_flags)
		: device_(device), receives_(pool), sizes_(sizes), access_(access_flags)
	{
	}

	Result<std::unique_ptr<Channel>> open(
		const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine) override;
	void discard(const Completion &completion) noexcept override;
	void end_turn() noexcept override;

private:
	CallDevice &device_;
	Receives receives_;
	const ChannelSizes sizes_;
	const unsigned access_;
};

} // namespace prism::rpc
