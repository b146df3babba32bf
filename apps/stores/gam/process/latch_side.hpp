/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the latch protocol needs of a node in a process beside messages: memory that others reach, a queue pair to each
 * of them, and what all agree on when one has died.
 *
 * It stands between the node and its network: messages of its own it keeps, and all others only come through when both
 * ends of the second queue pair are connected. Two nodes offer each other an endpoint and the memory that they lend,
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

#include "gam/latch/latch.hpp"
#include "gam/latch/verbs_homes.hpp"
#include "gam/memory/node.hpp"
#include "gam/peer/peers.hpp"
#include "gam/process/farewells.hpp"

namespace prism::gam
{

/** Thread-safe, but for make(). */
class LatchSide final : public Network,
			private Network::Listener,
			private latch::VerbsHomes::Sink,
			private Farewells::Host
{
public:
	/** Nothing of @p dead is left in this node; the epoch is of the view that all have agreed in. May wait. */
	using Swept = std::function<void(NodeId dead, std::uint64_t epoch)>;
	/** The queue pair to @p life has ended by itself; or (@p is_broken is false) there is another in its place. */
	using Broken = std::function<void(const NodeLife &life, bool is_broken)>;
	/** PRISM requests that may be under way to each home. */
	static constexpr std::uint32_t requests = 256;
	/** So often two nodes make another queue pair in place of one that has ended: each costs memory. */
	static constexpr unsigned most_attempts = 256;

	/** @p peers outlives this object. @p lines: that are cached. Errors: those of VerbsHomes::create(). */
	static Result<std::unique_ptr<LatchSide>> create(
		Peers &peers, const NodeOptions &options, std::size_t lines, Swept swept, Broken broken);
	~LatchSide() override;
	LatchSide(const LatchSide &) = delete;
	LatchSide &operator=(const LatchSide &) = delete;

	/** For Node::MakeCoherence. */
	std::unique_ptr<Coherence> make(Coherence::Host &host, std::size_t shard);
	/** Nothing is polled before. @p node outlives all but stop(). */
	void start(Node &node);
	/** The node ends. */
	void stop();

	/** After Peers has cut off the dead of @p view. */
	void adopt(const View &view);
	/** This node is no member any more: to it, all others are dead. After Peers has cut off all. */
	void end_all();
	/** Both ends have said that they are connected. */
	[[nodiscard]] bool is_there(const NodeLife &life);
	/** Waits until all live members are there. Errors: ETIMEDOUT (which one is not). */
	Result<void> wait(std::chrono::milliseconds timeout);
	/** Of the device of Peers. */
	void completed(const Completion &completion) { (void)homes_->take(completion); }

	/* Network */
	void send(NodeId to, const Message &message) noexcept override { peers_.send(to, message); }
	void flush() noexcept override { peers_.flush(); }
	std::size_t poll(Network::Listener &listener) noexcept override;
	void leave_alone() noexcept override { peers_.leave_alone(); }

private:
	/** The second queue pair to one life of another node. */
	struct Link {
		std::uint64_t incarnation = 0;   /* 0: none */
		std::unique_ptr<rpc::Port> port; /* offered, and not connected yet */
		std::uint32_t number = 0;        /* of its queue pair */
		bool connected = false;
		bool ready = false;    /* the other end is connected */
		unsigned attempts = 0; /* to make another one in place of one that has ended */
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

	void hear_own(NodeId from, const Message &message);
	void hear_offer(NodeId from, const Message &message);
	void hear_freed(const Message &message);
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
	/* Before the locks of shards, behind that of poll() */
	std::mutex lock_;
	std::condition_variable_any changed_;
	View view_;
	std::array<Link, max_nodes> links_;
	unsigned own_attempts_ = 0; /* Link::attempts of the queue pair to itself */
	Farewells farewells_;
	std::vector<NodeId> over_;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::gam
