/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The needs of the latch protocol in a node's process beside messages: memory that others reach, a queue pair to each
 * of them, and the agreement after a death.
 *
 * It stands between the node and its network: it handles its own messages, and passes all others on only when both ends
 * of the second queue pair are connected. Two nodes offer each other an endpoint and the memory that they lend,
 * connect, and say so.
 */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "gam/membership/farewells.hpp"
#include "gam/node/node.hpp"
#include "gam/one_sided/latch.hpp"
#include "gam/one_sided/lost_buffers.hpp"
#include "gam/one_sided/verbs_homes.hpp"
#include "gam/transport/peers.hpp"

namespace prism::gam
{

/** The side of the latch protocol. Thread-safe, except for make(). */
class LatchSide final : public Network,
			private Network::Listener,
			private latch::VerbsHomes::Sink,
			private Farewells::Host,
			private latch::LostBuffers::Host
{
public:
	/**
	 * Reports that nothing of @p dead is left in this node; the epoch is that of the view in which all have agreed.
	 * May wait.
	 */
	using Swept = std::function<void(NodeId dead, std::uint64_t epoch)>;
	/**
	 * Reports that the queue pair to @p life has ended by itself; or, if @p is_broken is false, that it was
	 * replaced.
	 */
	using Broken = std::function<void(const NodeLife &life, bool is_broken)>;
	/** Most PRISM requests under way to each home. */
	static constexpr std::uint32_t requests = 256;
	/** Most times that two nodes replace an ended queue pair: each costs memory. */
	static constexpr unsigned most_attempts = 256;

	/** @p peers outlives this object. @p lines: number of cached lines. Errors: those of VerbsHomes::create(). */
	static Result<std::unique_ptr<LatchSide>> create(
		Peers &peers, const NodeOptions &options, std::size_t lines, Swept swept, Broken broken);
	~LatchSide() override;
	LatchSide(const LatchSide &) = delete;
	LatchSide &operator=(const LatchSide &) = delete;

	/** Makes an object for Node::MakeCoherence. */
	std::unique_ptr<Coherence> make(Coherence::Host &host, std::size_t shard);
	/** Sets the node; nothing is polled before. @p node outlives all except stop(). */
	void start(Node &node);
	/** Stops, as the node ends. */
	void stop();

	/** Adopts @p view. Call after Peers has cut off its dead nodes. */
	void adopt(const View &view);
	/** Treats all others as dead, as this node is no longer a member. Call after Peers has cut off all. */
	void end_all();
	/** Returns true if both ends have said that they are connected. */
	[[nodiscard]] bool is_there(const NodeLife &life);
	/** Waits until all live members are connected. Errors: ETIMEDOUT (names a missing one). */
	Result<void> wait(std::chrono::milliseconds timeout);
	/** Handles a completion of the device of Peers. */
	void completed(const Completion &completion) { (void)homes_->take(completion); }

	/* Network */
	void send(NodeId to, const Message &message) noexcept override { peers_.send(to, message); }
	[[nodiscard]] bool has_room(NodeId to) noexcept override { return peers_.has_room(to); }
	void flush() noexcept override { peers_.flush(); }
	std::size_t poll(Network::Listener &listener) noexcept override;
	void leave_alone() noexcept override { peers_.leave_alone(); }

private:
	/** The second queue pair to one life of another node. */
	struct Link {
		std::uint64_t incarnation = 0;   /* 0: none */
		std::unique_ptr<rpc::Port> port; /* offered, not connected yet */
		std::uint32_t number = 0;        /* number of its queue pair */
		bool connected = false;
		bool ready = false;    /* the other end is connected */
		unsigned attempts = 0; /* queue pairs made to replace ended ones */
	};
	/** A home's question whether this node has settled: see LostBuffers. */
	struct Question {
		std::uint64_t round = 0;  /* 0: none */
		std::uint64_t chains = 0; /* number of those that have to end */
	};

	LatchSide(Peers &peers, const NodeOptions &options, Swept swept, Broken broken);

	/* Network::Listener */
	void heard(NodeId from, const Message &message) override;
	/* latch::VerbsHomes::Sink */
	void completed(std::uint64_t token, const latch::Outcome &outcome) override;
	void report(NodeId home, std::span<const std::uint64_t> buffers) override;
	/* Farewells::Host, under the lock */
	void tell(NodeId to, Farewells::Word word, std::uint64_t incarnation) override;
	[[nodiscard]] bool has_let_go(NodeId dead) override;
	void sweep(NodeId dead) override;
	[[nodiscard]] bool is_sweeping(NodeId dead) override;
	void over(NodeId dead) override;
	/* latch::LostBuffers::Host, under the lock */
	bool mark() override { return homes_->mark_buffers(); }
	bool spare_some() override { return homes_->spare_some_buffers(); }
	void collect() override { homes_->collect_buffers(); }
	[[nodiscard]] std::uint64_t reachable() override { return there_.load() | bit(options_.self); }
	void ask(NodeId node, std::uint64_t round) override;

	void hear_own(NodeId from, const Message &message);
	void hear_offer(NodeId from, const Message &message);
	void hear_freed(const Message &message);
	void hear_question(NodeId home, std::uint64_t round);
	[[nodiscard]] bool answer_questions();
	Link *offer(const NodeLife &life);
	void settle(NodeId node, const Link &link);
	[[nodiscard]] const Member *missing() const;
	bool go_on();
	void run(const std::stop_token &stop);
	void forget(NodeId node);
	void look_for_broken();
	bool begin_anew(NodeId node);

	Peers &peers_;
	const NodeOptions options_;
	const Swept swept_;
	const Broken broken_;
	std::unique_ptr<latch::VerbsHomes> homes_;
	std::vector<latch::WorkingMemory> lines_;
	std::vector<Latch *> shards_; /* under the locks of the node's shards */
	std::atomic<Node *> node_{nullptr};
	std::atomic<std::uint64_t> there_{0}; /* bit set */
	Network::Listener *listener_ = nullptr;
	/* Taken before the locks of shards, after that of poll() */
	std::mutex lock_;
	std::condition_variable_any changed_;
	View view_;
	std::array<Link, max_nodes> links_;
	unsigned own_attempts_ = 0; /* Link::attempts of the queue pair to itself */
	Farewells farewells_;
	latch::LostBuffers lost_buffers_;
	std::array<Question, max_nodes> questions_;
	std::vector<NodeId> over_;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::gam
