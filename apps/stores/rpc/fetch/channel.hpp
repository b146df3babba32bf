/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls whose requests the client WRITEs into the server's memory, at the server: RFP. Responses stay in the server's
 * memory for the client to READ; the server WRITEs one to the client only if it is asked to.
 */
#pragma once

#include "rpc/fetch/layout.hpp"
#include "rpc/server/channel.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace prism::rpc::fetch
{

/** State that channels of one worker share for the call in execution. */
struct Scratch {
	explicit Scratch(const CallDevice &of) : device(of) {}

	const CallDevice &device;
	std::vector<std::byte> request;
	std::vector<std::byte> response;
	std::chrono::nanoseconds torn_limit{}; /* see ServerOptions */
};

class FetchChannel final : public Channel
{
public:
	FetchChannel(
		std::unique_ptr<Port> port, Memory requests, Memory responses, Scratch &scratch, const Layout &layout);

	[[nodiscard]] std::uint32_t number() const noexcept override { return port_->number(); }
	Result<void> connect(const Endpoint &peer) override { return port_->connect(peer); }
	void take(const Completion &completion, Calls &calls) noexcept override;
	bool look(Calls &calls) noexcept override;
	void post(Calls &calls) noexcept override;
	[[nodiscard]] bool busy() const noexcept override { return posted_ != done_ || !owed_.empty(); }
	void keep(KeptResponses &kept) const override;
	void close() noexcept override;

private:
	struct Slot {
		std::uint32_t seq = seq_before(first_seq); /* of the last executed call */
		/* Set while a request was seen that is not whole. */
		std::optional<CallDevice::Clock::time_point> torn_since;
	};

	bool look_at(std::uint32_t call, Calls &calls) noexcept;
	bool load_request(std::uint32_t call, const Frame &frame, Calls &calls) noexcept;
	void execute(std::uint32_t call, const Frame &request, Calls &calls) noexcept;
	void publish(std::uint32_t call, Frame frame, std::span<const std::byte> response) noexcept;
	[[nodiscard]] bool wants_reply(std::uint32_t call, const Frame &request) const noexcept;
	bool load_registration(Calls &calls) noexcept;

	Memory requests_; /* declared first, as responses_: freed only after the queue pair is gone */
	Memory responses_;
	std::unique_ptr<Port> port_;
	Scratch &scratch_;
	const Layout layout_;
	std::vector<Slot> slots_;
	RemoteAddress landing_; /* address of the client's landing memory; rkey and address 0: not known yet */
	bool registered_ = false;
	std::vector<std::uint32_t> owed_;        /* calls whose replies are not posted yet */
	std::vector<std::uint32_t> reply_sizes_; /* of frame and response, by call */
	std::uint64_t posted_ = 0;
	std::uint64_t done_ = 0;
};

class FetchTransport final : public Transport
{
public:
	FetchTransport(CallDevice &device, const ChannelSizes &sizes, unsigned access_flags,
		std::chrono::nanoseconds torn_limit);

	Result<std::unique_ptr<Channel>> open(
		const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine) override;
	void discard(const Completion & /*completion*/) noexcept override {}
	[[nodiscard]] bool looks() const noexcept override { return true; }

private:
	CallDevice &device_;
	const ChannelSizes sizes_;
	const unsigned access_;
	Scratch scratch_;
};

} // namespace prism::rpc::fetch
