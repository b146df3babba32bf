/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages between this node and its peers: one queue pair for each two nodes, one shared receive queue for all.
 *
 * Progress. The thread that calls poll() receives the messages: threads that wait do so, and a thread of the node
 * (Node::serve()), which naps. Messages are sent by flush(), at the latest at the end of a poll().
 *
 * A pair is made once for two lives (Meeting), and ends once: by cut_off(), by an error of the device, or because the
 * peer breaks the rules. The last two are no death, which only the membership knows of. Events::broken() reports them.
 * If the peer then lives on (the membership still has it when a lease and its margin are over), the two cannot work
 * together any more, and one of them has to leave.
 */
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gam/membership/view.hpp"
#include "gam/transport/network.hpp"
#include "gam/transport/pair.hpp"
#include "rpc/device/call_device.hpp"
#include "rpc/server/receive_pool.hpp"
#include "service/log.hpp"

namespace prism::gam
{

struct PeerOptions {
	PairSizes sizes;
	std::uint32_t max_peers = max_nodes - 1; /**< peers that receive buffers are allocated for */
	std::uint32_t other_completions = 0;     /**< room for completions of the device's other queue pairs */
	apps::LogSink log;
};

struct PeerStats {
	std::uint64_t messages_sent = 0;
	std::uint64_t messages_heard = 0;
	std::uint64_t frames_sent = 0; /**< SENDs, including acknowledgements */
	std::uint64_t frames_heard = 0;
	std::uint64_t bad_frames = 0; /**< pairs ended because the peer broke the rules */
	std::uint64_t broken = 0;     /**< pairs ended by the device */
	std::uint64_t refused = 0;    /**< messages that were not sent: no pair, or a full backlog */
};

/** The device resources for peers. */
struct PeerDevice {
	std::unique_ptr<rpc::ReceivePool> pool;
	std::unique_ptr<rpc::CallDevice> device; /**< its ports with shared receives use this pool */

	/** Creates them on libibverbs. Errors: those of VerbsReceivePool::create() and CompletionQueue::create(). */
	static Result<PeerDevice> create(const ProtectionDomain &pd, const PeerOptions &options);
};

/** The network of pairs. Thread-safe: any thread may poll; one does at a time, while others return at once. */
class Peers final : public Network
{
public:
	/** Called inside poll(); may send(), but may not poll() or cut_off(). */
	class Events
	{
	public:
		virtual ~Events() = default;
		/**
		 * Reports that the pair to @p node has ended by itself. @p error: EPROTO (the peer broke the rules),
		 * EIO (the device).
		 */
		virtual void broken(NodeId /*node*/, int /*error*/) noexcept {}
		/** Reports a completion of a queue pair of the device that is not to a peer. */
		virtual void completed(const Completion & /*completion*/) {}
	};

	/** @p events outlives this object. */
	Peers(PeerDevice device, const PeerOptions &options, Events &events);
	~Peers() override;
	Peers(const Peers &) = delete;
	Peers &operator=(const Peers &) = delete;

	/*
	 * Network; the listener may send(), but may not poll() or cut_off(). It may hear of a node before the
	 * membership has reported it
	 */
	/**
	 * Sends @p message; drops and counts it if there is no pair. A peer whose backlog (PairSizes::backlog) is full
	 * loses its pair, as dropping one of several messages would be worse.
	 */
	void send(NodeId to, const Message &message) noexcept override;
	[[nodiscard]] bool has_room(NodeId to) noexcept override;
	void flush() noexcept override;
	/** Polls, and flushes too. Returns the number of completions. */
	std::size_t poll(Network::Listener &listener) noexcept override;
	void leave_alone() noexcept override { device_.device->leave_alone(); }

	/** Sends like send(), but ends no pair. Returns 0, ENOTCONN (no pair), ENOBUFS (the backlog is full). */
	int try_send(NodeId to, const Message &message) noexcept;

	/**
	 * Ends the pair to @p node. When this returns, no further message of it is delivered. Do not call inside
	 * poll().
	 */
	void cut_off(NodeId node) noexcept;
	/** Returns true if there is a pair to @p life that has not ended. */
	[[nodiscard]] bool connected(const NodeLife &life) noexcept;

	[[nodiscard]] PeerStats stats() noexcept;
	[[nodiscard]] const PeerOptions &options() const noexcept { return options_; }
	/** Returns the log for events that peers cause. */
	[[nodiscard]] apps::LimitedLog &log() noexcept { return log_; }
	/** Returns the device, for other queue pairs, whose completions Events::completed() gets. */
	[[nodiscard]] rpc::CallDevice &device() noexcept { return *device_.device; }

	/** Returns the peer of the pair to @p node, ended or not. */
	[[nodiscard]] std::optional<NodeLife> peer(NodeId node) noexcept;

	/* For Meeting and simulations */
	enum class Begin : std::uint8_t {
		open,
		held, /**< receives at once, but sends only after release(), as the peer cannot receive before */
	};
	/** Opens a queue pair for add(), with its endpoint. Errors: those of CallDevice::open(). */
	Result<std::unique_ptr<rpc::Port>> open();
	/**
	 * Makes pairs opened from now on outlast a peer that stands still for up to @p lease: half a lease longer, as
	 * it may have been silent before. No pair gets a shorter time than usual.
	 */
	void outlast(std::chrono::nanoseconds lease) noexcept
	{
		ack_timeout_ = std::max(usual_timeout, rpc::ack_timeout_for(lease * 3 / 2));
	}
	/** Returns the local ACK timeout of pairs opened now, for the device's other queue pairs. */
	[[nodiscard]] std::uint8_t ack_timeout() const noexcept { return ack_timeout_; }
	/**
	 * Makes @p port, which is connected, the pair to @p peer. Errors: EEXIST (there is one to this node), ENOMEM.
	 */
	Result<void> add(const NodeLife &peer, std::unique_ptr<rpc::Port> port, Begin begin);
	/** Lets the held pair to @p peer send. */
	void release(const NodeLife &peer) noexcept;
	/** Cuts off @p peer, and no other life of its number. */
	void drop(const NodeLife &peer) noexcept;

private:
	static constexpr std::uint8_t usual_timeout = 17; /* 537 ms */
	/** The slot of a node. */
	struct Place {
		std::mutex lock;
		std::shared_ptr<Pair> pair; /* null: none yet */
	};
	struct Grave {
		std::shared_ptr<Pair> pair;
		rpc::CallDevice::Clock::time_point since;
	};

	void take(const Completion &completion, Network::Listener &listener) noexcept;
	void hear(Pair &pair, std::span<const std::byte> frame, Network::Listener &listener) noexcept;
	void deliver(NodeId from, std::uint16_t messages, std::span<const std::byte> bytes,
		Network::Listener &listener) noexcept;
	void lose(Pair &pair, int error, const char *why) noexcept;
	void recycle() noexcept;
	void report() noexcept;
	void bury() noexcept;
	void end(Place &place) noexcept;
	void mark(NodeId node) noexcept { marked_.fetch_or(std::uint64_t{1} << node, std::memory_order_release); }

	PeerDevice device_;
	PeerOptions options_;
	apps::LimitedLog log_{options_.log};
	Events &events_;
	std::array<Place, max_nodes> places_;
	std::atomic<std::uint8_t> ack_timeout_{usual_timeout};
	std::atomic<std::uint64_t> marked_{0}; /* slots with something to post, as bits */
	std::atomic<std::uint64_t> failed_{0}; /* slots whose pair cannot be posted to, as bits */
	std::atomic<std::uint64_t> messages_sent_{0};
	std::atomic<std::uint64_t> refused_{0};
	std::atomic<std::uint64_t> frames_sent_{0};

	/* For all below. Taken before the lock of a slot */
	std::mutex progress_;
	std::unordered_map<std::uint32_t, std::shared_ptr<Pair>> pairs_; /* by number of the queue pair */
	std::vector<std::uint32_t> used_;                                /* receive buffers */
	std::uint64_t heard_from_ = 0;                                   /* nodes received from in this turn, as bits */
	std::vector<Grave> graves_;                                      /* ended pairs; completions may still come */
	PeerStats counts_;
};

} // namespace prism::gam
