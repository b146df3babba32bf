/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls that the client ALLOCATEs into a slot, at the client. The server publishes the response by a bounded pointer in
 * the slot, through which the client READs it: NULL_POINTER means that it is not there yet, OK that these are its
 * bytes.
 */
#pragma once

#include "rpc/client/pace.hpp"
#include "rpc/client/queued_link.hpp"
#include "rpc/protocol/frame.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::rpc::slots
{

class SlotsLink final : public QueuedLink
{
public:
	/** See ClientLink::connect(). Errors of its own: EOPNOTSUPP (a device does not speak PRISM). */
	static Result<std::unique_ptr<SlotsLink>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure);

	static Needs needs(const ClientOptions &options) noexcept { return {.lanes = 3 * options.depth}; }
	/** Errors: EBADMSG (the server does not give the place of calls), those of the device. */
	static Result<std::unique_ptr<SlotsLink>> create(Introduced introduced);
	Result<void> start() override { return connect_port(true); }

private:
	enum class Stage : std::uint8_t {
		idle,
		refused, /* there was no buffer: the request waits to be sent again */
		pause,   /* it waits until a READ is worth its packets */
		reading,
		answered, /* nothing is under way, but the server does not know yet that the response was fetched */
	};
	struct Slot {
		Stage stage = Stage::idle;
		bool refused = false;       /* set if refused while a READ was under way */
		std::uint32_t refusals = 0; /* of this request */
		std::uint32_t seq = seq_before(first_seq);
		std::uint32_t size = 0;   /* bytes of frame and message of the request */
		std::uint32_t failed = 0; /* READs of this call */
		std::uint32_t asked = 0;  /* bytes of the READ under way */
		Clock::time_point sent;
		Clock::time_point next; /* time of the next step */
	};

	SlotsLink(Introduced introduced, std::vector<Memory> memory);
	/**
	 * Lanes of a slot: that of its requests, then of its READs, then of the word that tells the server about a
	 * fetch.
	 */
	[[nodiscard]] std::uint32_t read_lane(std::uint32_t slot) const noexcept { return depth() + slot; }
	[[nodiscard]] std::uint32_t fetched_lane(std::uint32_t slot) const noexcept { return 2 * depth() + slot; }
	[[nodiscard]] std::size_t request_stride() const noexcept;
	[[nodiscard]] std::size_t response_stride() const noexcept;
	[[nodiscard]] std::size_t landing_offset(std::uint32_t slot) const noexcept
	{
		return depth() * request_stride() + slot * response_stride();
	}
	[[nodiscard]] RemoteAddress slot_at(std::uint32_t slot, std::size_t offset) const noexcept;
	void begin_request(std::uint32_t slot) noexcept;
	void begin_read(std::uint32_t slot, std::uint32_t bytes) noexcept;
	void tell_fetched(std::uint32_t slot, std::uint32_t seq) noexcept;
	[[nodiscard]] static Clock::duration retry_time(const Slot &slot) noexcept;
	void retry(std::uint32_t slot, Clock::time_point now) noexcept;
	void wait(std::uint32_t slot, Stage stage, Clock::duration time, Clock::time_point now) noexcept;
	void take_request(std::uint32_t slot, Status status) noexcept;
	void take_read(std::uint32_t slot, const Completion &completion, Listener &listener) noexcept;
	void finish_call(std::uint32_t slot, const Frame &frame, Listener &listener) noexcept;
	void go_on() noexcept;

	void send(std::uint32_t slot, std::uint32_t size) noexcept override;
	bool take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept override;
	void drive(Listener &listener) noexcept override;
	void stop() noexcept override;

	RemoteRegion slots_at_server_;
	std::uint32_t free_list_;
	Pace pace_;
	std::uint32_t usual_ = 0; /* bytes of the longest recent response, with its frame */
	std::vector<Slot> slots_;
	std::vector<std::uint32_t> waiting_; /* slots in a stage that a time ends */
	std::vector<std::uint32_t> looking_; /* the waiting slots of this turn */
	std::vector<std::uint8_t> in_waiting_;
};

} // namespace prism::rpc::slots
