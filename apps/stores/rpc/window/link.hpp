/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls by SEND, at the client, which READs all ready responses at once. layout.hpp has the protocol. */
#pragma once

#include "rpc/client/pace.hpp"
#include "rpc/client/queued_link.hpp"
#include "rpc/protocol/frame.hpp"
#include "rpc/window/stream.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::rpc::window
{

class WindowLink final : public QueuedLink
{
public:
	/** See ClientLink::connect(). Errors of its own: EOPNOTSUPP (a device does not speak PRISM). */
	static Result<std::unique_ptr<WindowLink>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure);

	static Needs needs(const ClientOptions &options) noexcept { return {.lanes = options.depth + 1}; }
	/** Errors: EBADMSG (the server does not give the place of responses), those of the device. */
	static Result<std::unique_ptr<WindowLink>> create(Introduced introduced);
	Result<void> start() override { return connect_port(true); }

private:
	WindowLink(Introduced introduced, std::vector<Memory> memory);
	[[nodiscard]] std::size_t request_stride() const noexcept;
	[[nodiscard]] std::size_t landing_offset() const noexcept { return depth() * request_stride(); }
	[[nodiscard]] std::uint32_t read_lane() const noexcept { return depth(); }
	void begin_read() noexcept;
	void take_read(const Completion &completion, Listener &listener) noexcept;
	bool take_records(std::uint32_t length, Listener &listener) noexcept;
	void hand_over(const std::byte *record, const Frame &frame, Listener &listener) noexcept;

	void send(std::uint32_t slot, std::uint32_t size) noexcept override;
	bool take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept override;
	void drive(Listener &listener) noexcept override;

	RemoteRegion pointers_;
	Pace pace_;
	ReadStream stream_;
	std::uint32_t next_ = first_seq; /* seq of the next response */
	bool reading_ = false;
	std::uint32_t failed_ = 0;    /* consecutive READs that found nothing new */
	std::uint64_t at_least_ = 0;  /* bytes of the next READ, for a record that was cut off */
	std::uint64_t usual_ = 0;     /* bytes of recent records */
	Clock::time_point look_at_;   /* time of the next READ */
	Clock::time_point last_news_; /* time at which a request was sent or a response came */
};

} // namespace prism::rpc::window
