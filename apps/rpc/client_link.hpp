/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The client's side of a connection to a store. It has a number of slots, each with at most one call or READ at a time.
 * Of a call it knows only the id in the header (header.hpp). Any error breaks the link for good.
 */
#pragma once

#include "rpc/header.hpp"
#include "service/hello.hpp"

#include <prism/prism.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace prism::rpc
{

struct ClientOptions {
	std::uint32_t depth = 1;                                       /**< operations under way at once */
	std::uint32_t readers = 0;                                     /**< further slots, for READs alone */
	std::chrono::milliseconds timeout = std::chrono::seconds(5);   /**< of the set-up */
	std::chrono::milliseconds patience = std::chrono::seconds(10); /**< with operations under way, and no answer */
};

/** What the slots of a link need. */
struct SlotSizes {
	std::size_t request = 0;  /**< bytes of the longest one, at most max_message_size */
	std::size_t response = 0; /**< likewise */
	std::size_t read = 0;     /**< bytes of the longest READ of a slot; 0: there are none */
};

/** Not thread-safe. The data path neither allocates nor throws. */
class ClientLink
{
public:
	/** Learns what has ended, from within poll(), and may begin the next step of the slot there. */
	class Listener
	{
	public:
		virtual ~Listener() = default;
		/** The response to the call of @p slot, at least a header, from a server that is not trusted; it is
		 * there until this returns. */
		virtual void on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept = 0;
		/** The bytes of the READ of @p slot have come. */
		virtual void on_read(std::uint32_t slot) noexcept = 0;
	};

	/** Looks at what the server says of itself, @p record and in it @p hello, and tells what slots need. */
	using Measure = std::function<Result<SlotSizes>(const ConnectionRecord &record, const apps::Hello &hello)>;

	/**
	 * Connects to a store of the kind and version of @p wanted. Errors: EINVAL (depth), EPROTONOSUPPORT (another
	 * kind of store), ETIMEDOUT, ECONNREFUSED and others of set-up, those of @p measure.
	 */
	static Result<std::unique_ptr<ClientLink>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure);

	[[nodiscard]] const apps::Hello &server() const noexcept { return limits_; }
	[[nodiscard]] const ConnectionRecord &record() const noexcept { return peer_; }
	[[nodiscard]] std::uint32_t depth() const noexcept { return settings_.depth; }
	/** 0, or the errno of what broke the link. Then nothing is under way any more. */
	[[nodiscard]] int broken() const noexcept { return failure_; }

	/** Where the request of @p slot, of the first depth() ones, is written. */
	[[nodiscard]] std::span<std::byte> request(std::uint32_t slot) const noexcept
	{
		return {memory_.data() + request_offset(slot), sizes_.request};
	}
	/** Begins a call, with the first @p size bytes of request(slot), of which the link writes the id; the slot has
	 * nothing under way. */
	void call(std::uint32_t slot, std::size_t size) noexcept;
	/** Begins a READ of @p length bytes into read_memory(slot), of any slot that has nothing under way. */
	void read(std::uint32_t slot, RemoteAddress from, std::uint32_t length) noexcept;
	[[nodiscard]] const std::byte *read_memory(std::uint32_t slot) const noexcept
	{
		return memory_.data() + read_offset(slot);
	}

	/** Posts what was begun, takes what has ended. Does not wait. What is begun meanwhile is posted by the next
	 * one, or by flush(). */
	void poll(Listener &listener) noexcept;
	/** Posts what was begun and finds room in the send queue. */
	void flush() noexcept;

	/** The peer does not keep to the protocol, or the listener cannot go on. */
	void break_off(int error) noexcept;

private:
	enum class State : std::uint8_t {
		idle,
		calling,
		reading,
	};

	static constexpr std::uint64_t not_posted = ~std::uint64_t{0};
	static constexpr std::uint64_t nothing = ~std::uint64_t{0};

	struct Slot {
		State state = State::idle;
		std::uint32_t generation = 0;
		std::uint64_t sequence = not_posted; /* of its work request */
		std::uint64_t early = nothing;       /* receive with a response that came before the send completed */
		std::uint32_t early_length = 0;
		ibv_sge piece{};
		ibv_send_wr request{};
	};

	ClientLink(TcpRendezvous link, ConnectionRecord record, const apps::Hello &hello, const ClientOptions &options,
		const SlotSizes &slot_sizes, CompletionQueue queue, QueuePair pair, Buffer buffer);
	[[nodiscard]] static std::size_t padded(std::size_t bytes) noexcept { return (bytes + 63) / 64 * 64; }
	[[nodiscard]] std::size_t request_offset(std::uint32_t slot) const noexcept { return slot * sizes_.request; }
	[[nodiscard]] std::size_t response_offset(std::uint64_t receive) const noexcept
	{
		return settings_.depth * sizes_.request + receive * sizes_.response;
	}
	[[nodiscard]] std::size_t read_offset(std::uint32_t slot) const noexcept
	{
		return settings_.depth * (sizes_.request + sizes_.response) + slot * sizes_.read;
	}

	Result<void> finish(Deadline deadline);
	int post_receive(std::uint64_t receive) noexcept;
	void group(std::size_t count) noexcept;
	void enqueue(std::uint32_t slot, State state) noexcept;
	void take(const Completion &completion, Listener &listener) noexcept;
	void take_response(std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept;
	void deliver(std::uint32_t slot, std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept;
	void take_sent(std::uint64_t sequence, Listener &listener) noexcept;
	void watch(bool progress) noexcept;

	ClientOptions settings_;
	SlotSizes sizes_; /* padded */
	apps::Hello limits_;
	ConnectionRecord peer_;
	TcpRendezvous rendezvous_;
	Buffer memory_; /* declared first: freed only after the queue pair is gone */
	CompletionQueue cq_;
	QueuePair qp_;
	std::vector<Slot> slots_;
	std::vector<std::uint32_t> begun_; /* a ring of slots whose requests are not posted yet */
	std::uint64_t begun_count_ = 0;
	std::uint64_t posted_ = 0;                /* work requests so far */
	std::uint64_t completed_ = 0;             /* of these, certainly done */
	std::uint32_t queue_size_;                /* of the send queue */
	std::vector<std::uint32_t> slot_of_post_; /* a ring, by sequence number */
	std::uint32_t active_ = 0;                /* slots that are not idle */
	int failure_ = 0;
	unsigned quiet_polls_ = 0;
	std::chrono::steady_clock::time_point quiet_since_;
	bool quiet_ = false;
};

} // namespace prism::rpc
