/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls whose requests are WRITEs, at the client: RFP (Way::fetch), and the same with replies alone (Way::reply).
 * Sequence number and checksum of a frame show whether the bytes read, or written here, are the whole response to this
 * call.
 */
#pragma once

#include "rpc/client/pace.hpp"
#include "rpc/client/queued_link.hpp"
#include "rpc/fetch/layout.hpp"
#include "rpc/fetch/mode_choice.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::rpc::fetch
{

class FetchLink final : public QueuedLink
{
public:
	/** See ClientLink::connect(). */
	static Result<std::unique_ptr<FetchLink>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure);

	static Needs needs(const ClientOptions &options) noexcept;
	/** Errors: EBADMSG (the server does not give the places of requests and responses), those of the device. */
	static Result<std::unique_ptr<FetchLink>> create(Introduced introduced);
	Result<void> start() override;

private:
	/** The event that the call of a slot waits for. */
	enum class Stage : std::uint8_t {
		idle,
		pause,     /* the time at which a READ is worth its packets */
		first,     /* the first READ of F bytes */
		rest,      /* the READ of the bytes after these */
		switching, /* the READ after the mode word */
		reply,     /* the server's WRITE; there is a READ now and then */
		reply_read,
	};
	struct Slot {
		Stage stage = Stage::idle;
		bool copied = false;   /* the device has its own copy of the request */
		bool switched = false; /* this call asked for a reply after it had been sent */
		std::uint8_t kind = 0; /* of call, as in its header */
		std::uint32_t seq = seq_before(first_seq);
		std::uint32_t failed = 0;   /* READs of this call */
		std::uint32_t expected = 0; /* bytes of the READ under way, from the frame on */
		Clock::time_point look_at;  /* time of the next READ */
		Clock::time_point read_began;
	};

	FetchLink(Introduced introduced, std::vector<Memory> memory, const Layout &layout);
	[[nodiscard]] std::uint32_t read_lane(std::uint32_t slot) const noexcept { return depth() + slot; }
	[[nodiscard]] std::uint32_t mode_lane(std::uint32_t slot) const noexcept { return 2 * depth() + slot; }
	[[nodiscard]] const Memory &requests_memory() const noexcept { return memory(0); }
	[[nodiscard]] const Memory &landing_memory() const noexcept { return memory(1); }
	[[nodiscard]] std::byte *landing(std::uint32_t slot) const noexcept
	{
		return landing_memory().data() + layout_.response_offset(slot);
	}
	[[nodiscard]] RemoteAddress requests_at(std::size_t offset) const noexcept
	{
		return server_requests_.at(offset);
	}
	[[nodiscard]] std::uint32_t registration_lane() const noexcept { return 3 * depth(); }
	void begin_read(std::uint32_t slot, Stage stage, std::uint32_t from, std::uint32_t to) noexcept;
	void begin_write(std::uint32_t lane, RemoteAddress to, LocalSlice from, bool is_inline) noexcept;
	void ask_for_reply(std::uint32_t slot) noexcept;
	void take_read(std::uint32_t slot, Listener &listener) noexcept;
	void fail(std::uint32_t slot) noexcept;
	[[nodiscard]] bool whole(std::uint32_t slot, Frame &frame) noexcept;
	void finish_call(std::uint32_t slot, const Frame &frame, bool by_reply, Listener &listener) noexcept;
	bool look_for_reply(std::uint32_t slot, Listener &listener) noexcept;
	void go_on(Listener &listener) noexcept;

	void send(std::uint32_t slot, std::uint32_t size) noexcept override;
	bool take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept override;
	void drive(Listener &listener) noexcept override;
	Result<void> settle(Deadline deadline) override;
	void stop() noexcept override;

	const Layout layout_;
	RemoteRegion server_requests_;
	RemoteRegion server_responses_;
	Pace pace_;
	std::vector<ModeChoice> choices_; /* by kind of call */
	std::vector<Slot> slots_;
	std::vector<std::uint32_t> waiting_; /* slots in a stage that a time or the server's WRITE ends */
	std::vector<std::uint32_t> looking_; /* the waiting slots of this turn */
	std::vector<std::byte> copy_;        /* copy of the response that is handed over */
};

} // namespace prism::rpc::fetch
