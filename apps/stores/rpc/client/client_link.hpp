/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The client's side of a connection to a server of calls. It has a number of slots, each with at most one call at a
 * time. Of a call it knows only the id in the header (header.hpp). A class for each way derives from this one and
 * carries requests and responses. Any error breaks the link for good.
 */
#pragma once

#include "base/recent_clock.hpp"
#include "rpc/protocol/header.hpp"
#include "rpc/protocol/introduction.hpp"
#include "rpc/way.hpp"
#include "service/hello.hpp"

#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prism::rpc
{

/** Options for fetching responses from the server's memory. */
struct FetchOptions {
	/** fetch: bytes of a call's first READ, the frame of 16 included: F of the paper. */
	std::uint32_t first_read = 256;
	std::uint32_t retries = 5;    /**< fetch: R of the paper: more failed READs make a call a slow one */
	std::uint32_t slow_calls = 2; /**< fetch: K of the paper: slow calls in a row that switch to replies, or back */
	bool hybrid = true;           /**< fetch: may switch to replies, for which the server WRITEs to this side */
	bool paced = true;            /**< the first READ waits as long as the server is expected to take */
};

struct ClientOptions {
	Way way = Way::two_sided;                                      /**< way of the server */
	std::uint32_t depth = 1;                                       /**< operations under way at once */
	std::uint32_t readers = 0;                                     /**< two-sided: further slots, for READs alone */
	std::uint32_t worker = Introduction::any_worker;               /**< worker that is to execute the calls */
	std::chrono::milliseconds timeout = std::chrono::seconds(5);   /**< of the set-up */
	std::chrono::milliseconds patience = std::chrono::seconds(10); /**< with operations under way and no answer */
	/** Time that the caller waits for one call: see Listener::on_expired(). 0: as long as the link is whole. */
	std::chrono::milliseconds call_limit{0};
	FetchOptions fetch;
	ClientId again{}; /**< id of a client that comes back, for resume(); zeros: a new one */
	bool resumable =
		false; /**< the server keeps the last responses for a client that comes back: ClientLink::resume() */
};

/** Counters of a link. */
struct LinkCounters {
	std::uint64_t calls = 0;           /**< calls begun */
	std::uint64_t fetches = 0;         /**< READs for responses */
	std::uint64_t failed_fetches = 0;  /**< fetches that found no response, or a torn one */
	std::uint64_t second_fetches = 0;  /**< fetches for the rest of a response */
	std::uint64_t switches = 0;        /**< between fetching and replies */
	std::uint64_t refused = 0;         /**< requests for which the server had no buffer, and that were sent again */
	std::uint64_t retransmissions = 0; /**< of datagrams */
};

/** Sizes of the memory of a link's slots. */
struct SlotSizes {
	std::size_t request = 0;  /**< bytes of the longest request, at most max_message_size */
	std::size_t response = 0; /**< likewise */
	std::size_t read = 0;     /**< two-sided: bytes of the longest READ of a slot; 0: there are none */
};

/** A link. Not thread-safe. The data path neither allocates nor throws. */
class ClientLink
{
public:
	/** Receiver of ended operations, from within poll(). It may begin the next step of the slot there. */
	class Listener
	{
	public:
		virtual ~Listener() = default;
		/**
		 * Takes the response to the call of @p slot, at least a header, from a server that is not trusted; it
		 * is valid until this returns.
		 */
		virtual void on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept = 0;
		/** Takes the bytes of the READ of @p slot. */
		virtual void on_read(std::uint32_t /*slot*/) noexcept {}
		/**
		 * Called when the time of the call of @p slot is over and it is abandoned: it may have been executed or
		 * not.
		 */
		virtual void on_expired(std::uint32_t /*slot*/) noexcept {}
		/**
		 * Called when @p slot, whose call was abandoned, has nothing under way any more: its response came too
		 * late.
		 */
		virtual void on_released(std::uint32_t /*slot*/) noexcept {}
	};

	/** Checks the server's @p record and the @p hello in it, and returns the sizes that slots need. */
	using Measure = std::function<Result<SlotSizes>(const ConnectionRecord &record, const apps::Hello &hello)>;

	/**
	 * Connects to a store of the kind and version of @p wanted. Errors: EINVAL (depth), EPROTONOSUPPORT (another
	 * kind of store, or another way), ETIMEDOUT, ECONNREFUSED and others of set-up, those of @p measure.
	 */
	static Result<std::unique_ptr<ClientLink>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure);
	/**
	 * Connects again, in place of @p lost, which is broken, with its options. Calls that were under way continue
	 * over the new link: each is executed at most once in all, and its response is that of this one execution.
	 * Errors: ESTALE (the server does not know this client any more: nobody knows which calls were executed),
	 * EINVAL (@p lost is not ClientOptions::resumable, or not broken), those of connect().
	 */
	static Result<std::unique_ptr<ClientLink>> resume(const Context &context, const std::string &host,
		std::uint16_t port, const apps::Hello &wanted, const Measure &measure, const ClientLink &lost);
	virtual ~ClientLink() = default;
	ClientLink(const ClientLink &) = delete;
	ClientLink &operator=(const ClientLink &) = delete;

	[[nodiscard]] const apps::Hello &server() const noexcept { return limits_; }
	[[nodiscard]] const ConnectionRecord &record() const noexcept { return peer_; }
	[[nodiscard]] std::uint32_t depth() const noexcept { return settings_.depth; }
	[[nodiscard]] const LinkCounters &counters() const noexcept { return counters_; }
	/** Returns 0, or the errno that broke the link. Then nothing is under way any more. */
	[[nodiscard]] int broken() const noexcept { return failure_; }

	/** Returns the memory for the request of @p slot, one of the first depth() slots. */
	[[nodiscard]] std::span<std::byte> request(std::uint32_t slot) const noexcept
	{
		return requests_.subspan(slot * request_stride_, sizes_.request);
	}
	/**
	 * Begins a call with the first @p size bytes of request(slot), into which the link writes the id. The slot must
	 * have nothing under way.
	 */
	void call(std::uint32_t slot, std::size_t size) noexcept;
	/**
	 * Abandons the call of @p slot: nobody waits for it any more. The slot stays in use until the response has
	 * come: the memory of the request and of the response is not used again before.
	 */
	void abandon(std::uint32_t slot) noexcept { calls_[slot].abandoned = calls_[slot].under_way; }

	/**
	 * Posts the operations that were begun and takes those that have ended. Does not wait. Operations begun
	 * meanwhile are posted by the next poll(), or by flush().
	 */
	void poll(Listener &listener) noexcept;
	/** Posts the operations that were begun and that the send queue has room for. */
	virtual void flush() noexcept = 0;

	/** Breaks the link: the peer violates the protocol, or the listener cannot continue. */
	void break_off(int error) noexcept;

	/** The parts of a link after both sides have introduced themselves. */
	struct Parts {
		ClientOptions settings;
		SlotSizes sizes;
		std::string who; /**< for messages: "the server at ..." */
		apps::Hello server;
		ConnectionRecord peer;
		std::optional<TcpRendezvous> rendezvous; /**< none in simulations */
		Deadline deadline;                       /**< of the set-up */
		Introduction me;
	};
	/** Continues the calls of @p lost, which this link replaces. For resume(). */
	void take_over(const ClientLink &lost) noexcept;

protected:
	using Clock = std::chrono::steady_clock;

	/** The server that a client connects to, and its own introduction. */
	struct Target {
		const Context &context;
		const std::string &host;
		std::uint16_t port;
		const apps::Hello &wanted;
		const ClientOptions &options;
		const Measure &measure;
	};

	static Result<void> check(const ClientOptions &options);
	/** Exchanges the introductions; the queue pairs are not connected yet. */
	static Result<Parts> meet(const Target &server, const Endpoint &mine);

	explicit ClientLink(Parts parts);

	/** Sets the memory of requests: @p stride bytes for each slot. */
	void place_requests(std::span<std::byte> memory, std::size_t stride) noexcept
	{
		requests_ = memory;
		request_stride_ = stride;
	}
	[[nodiscard]] const ClientOptions &settings() const noexcept { return settings_; }
	[[nodiscard]] const SlotSizes &sizes() const noexcept { return sizes_; }
	[[nodiscard]] std::uint64_t token() const noexcept { return me_.token; }
	/** Tells the server that this side is ready, and waits until the server is. */
	Result<void> enter(Deadline deadline) { return rendezvous_ ? rendezvous_->barrier(deadline) : Result<void>(); }

	/** Returns the slot of the call that @p response answers, or nothing: then the link is broken. */
	std::optional<std::uint32_t> slot_of(std::span<const std::byte> response) noexcept;
	/** Hands @p response to the listener. @p slot: the result of slot_of(). */
	void deliver(std::uint32_t slot, std::span<const std::byte> response, Listener &listener) noexcept;
	/** Counts an operation other than a call as under way; ended() ends it. */
	void began() noexcept { active_++; }
	void ended() noexcept
	{
		active_--;
		answered_ = true;
	}
	[[nodiscard]] std::uint32_t active() const noexcept { return active_; }
	[[nodiscard]] bool calling(std::uint32_t slot) const noexcept { return calls_[slot].under_way; }

	LinkCounters counters_;

	/** Begins to send the request of @p slot, of @p size bytes. */
	virtual void send(std::uint32_t slot, std::uint32_t size) noexcept = 0;
	/** Takes completions, and posts what can be posted. */
	virtual void drive(Listener &listener) noexcept = 0;
	/** Makes sure that nothing is under way any more. */
	virtual void stop() noexcept = 0;
	[[nodiscard]] virtual Clock::time_point now() const noexcept { return RecentClock::now(); }

private:
	struct Call {
		std::uint32_t generation = 0;
		std::uint32_t size = 0; /* of the request */
		bool under_way = false;
		bool interrupted = false; /* true if it was under way when the link broke */
		bool abandoned = false;
		Clock::time_point began; /* set if there is a limit */
	};

	void expire(Listener &listener) noexcept;
	void watch() noexcept;

	ClientOptions settings_;
	SlotSizes sizes_;
	apps::Hello limits_;
	ConnectionRecord peer_;
	Introduction me_;
	std::optional<TcpRendezvous> rendezvous_;
	std::span<std::byte> requests_;
	std::size_t request_stride_ = 0;
	std::vector<Call> calls_;
	std::uint32_t active_ = 0; /* calls and READs */
	int failure_ = 0;
	bool answered_ = false; /* true if something has ended since watch() */
	unsigned polls_ = 0;    /* polls since the last look at the clock for expired calls */
	unsigned quiet_polls_ = 0;
	Clock::time_point quiet_since_;
	bool quiet_ = false;
};

} // namespace prism::rpc
