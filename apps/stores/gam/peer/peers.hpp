/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages between this node and its peers: one queue pair for each two nodes, one shared receive queue for all.
 *
 * Progress. Messages are heard by whoever calls poll(): threads that wait for something do so, and beside them a thread
 * of the node (Node::serve()), which naps. What is sent goes out at flush(), at the latest at the end of a poll().
 *
 * A pair is made once for two lives (Meeting), and ends once: by cut_off(), because the device gives it up, or because
 * the peer breaks the rules. The last two are no death: only the membership knows of that. Events::broken() tells.
 * If the peer then lives on (the membership still has it when a lease and its margin are over), the two cannot work
 * together any more, and one of them has to leave.
 */
#pragma once

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

#include "gam/coherence/network.hpp"
#include "gam/peer/pair.hpp"
#include "gam/peer/view.hpp"
#include "rpc/device/call_device.hpp"
#include "rpc/server/receive_pool.hpp"
#include "service/log.hpp"

namespace prism::gam
{

struct PeerOptions {
	PairSizes sizes;
	std::uint32_t max_peers = max_nodes - 1; /**< receive buffers are there for so many */
	std::uint32_t other_completions = 0;     /**< room for those of other queue pairs of the device */
	apps::LogSink log;
};

struct PeerStats {
	std::uint64_t messages_sent = 0;
	std::uint64_t messages_heard = 0;
	std::uint64_t frames_sent = 0; /**< SENDs: acknowledgements among them */
	std::uint64_t frames_heard = 0;
	std::uint64_t bad_frames = 0; /**< pairs that have ended because the peer broke the rules */
	std::uint64_t broken = 0;     /**< pairs that the device gave up */
	std::uint64_t refused = 0;    /**< messages that were not sent: no pair, or too much waits for it */
};

/** What peers are reached by. */
struct PeerDevice {
	std::unique_ptr<rpc::ReceivePool> pool;
	std::unique_ptr<rpc::CallDevice> device; /**< its ports with shared receives take these from the pool */

	/** Of libibverbs. Errors: those of VerbsReceivePool::create() and CompletionQueue::create(). */
	static Result<PeerDevice> create(const ProtectionDomain &pd, const PeerOptions &options);
};

/** Thread-safe: any thread may poll, and of several that do one is inside, while the others return at once. */
class Peers final : public Network
{
public:
	/** Called inside of poll(); may send(), but neither poll() nor cut_off(). */
	class Events
	{
	public:
		virtual ~Events() = default;
		/** The pair to @p node has ended by itself. @p error: EPROTO (it broke the rules), EIO (the device). */
		virtual void broken(NodeId /*node*/, int /*error*/) {}
		/** A completion of another queue pair of the device than those to peers. */
		virtual void completed(const Completion & /*completion*/) {}
	};

	/** @p events outlives this object. */
	Peers(PeerDevice device, const PeerOptions &options, Events &events);
	~Peers() override;
	Peers(const Peers &) = delete;
	Peers &operator=(const Peers &) = delete;

	/* Network; the listener may send(), but neither poll() nor cut_off(); it may hear of a node before the
	 * membership has told of it */
	/**
	 * What is for a node without a pair is dropped, and counted. A peer that does not take what waits for it
	 * already (PairSizes::backlog) loses its pair: to drop one message of several would be worse.
	 */
	void send(NodeId to, const Message &message) noexcept override;
	void flush() noexcept override;
	/** Flushes, too. How many completions there were. */
	std::size_t poll(Network::Listener &listener) noexcept override;
	void leave_alone() noexcept override { device_.device->leave_alone(); }

	/** As send(), but no pair is lost. 0, ENOTCONN (no pair), ENOBUFS (too much waits). */
	int try_send(NodeId to, const Message &message) noexcept;

	/** Ends the pair to @p node. When this returns, nothing more is heard from it. Not inside of poll(). */
	void cut_off(NodeId node) noexcept;
	/** There is a pair to @p life, and it has not ended. */
	[[nodiscard]] bool connected(const NodeLife &life) noexcept;

	[[nodiscard]] PeerStats stats() noexcept;
	[[nodiscard]] const PeerOptions &options() const noexcept { return options_; }
	/** Of what others cause. */
	[[nodiscard]] apps::LimitedLog &log() noexcept { return log_; }
	/** For queue pairs of other uses, whose completions Events::completed() gets. */
	[[nodiscard]] rpc::CallDevice &device() noexcept { return *device_.device; }

	/** Whom the pair to @p node is to, whether it has ended or not. */
	[[nodiscard]] std::optional<NodeLife> peer(NodeId node) noexcept;

	/* For Meeting and simulations */
	enum class Begin : std::uint8_t {
		open,
		held, /**< hears, and sends from release() on, because the peer cannot hear before */
	};
	/** A queue pair for add(), with its endpoint. Errors: those of CallDevice::open(). */
	Result<std::unique_ptr<rpc::Port>> open();
	/**
	 * From now on @p port, which is connected, is the pair to @p peer. Errors: EEXIST (there is one to this node),
	 * ENOMEM.
	 */
	Result<void> add(const NodeLife &peer, std::unique_ptr<rpc::Port> port, Begin begin);
	/** The pair to @p peer, which was held, sends. */
	void release(const NodeLife &peer) noexcept;
	/** Cuts off @p peer, and no other life of its number. */
	void drop(const NodeLife &peer) noexcept;

private:
	/** The place of a node. */
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
	std::atomic<std::uint64_t> marked_{0}; /* places with something to post, as bits */
	std::atomic<std::uint64_t> failed_{0}; /* places whose pair cannot be posted to, as bits */
	std::atomic<std::uint64_t> messages_sent_{0};
	std::atomic<std::uint64_t> refused_{0};
	std::atomic<std::uint64_t> frames_sent_{0};

	/* Under this lock, which is taken before that of a place */
	std::mutex progress_;
	std::unordered_map<std::uint32_t, std::shared_ptr<Pair>> pairs_; /* by number of the queue pair */
	std::vector<std::uint32_t> used_;                                /* receive buffers */
	std::uint64_t heard_from_ = 0;                                   /* in this turn, as bits */
	std::vector<Grave> graves_;                                      /* ended, whose completions may still come */
	PeerStats counts_;
};

} // namespace prism::gam
