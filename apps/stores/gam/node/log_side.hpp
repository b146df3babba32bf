/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The parts of a node of the directory protocol beside messages: its log, if it keeps one; the recovery of its blocks
 * from that; and the witness of what it knows to other nodes that recover.
 *
 * It stands between the node and its network. It handles the messages of recovery; the node learns of another one that
 * keeps a log only when that one has recovered. Of two nodes, the new one announces itself (RecoveryMessage::present),
 * and the one with a log answers when it can be asked, perhaps at once.
 */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gam/directory/directory.hpp"
#include "gam/membership/home_recovery.hpp"
#include "gam/membership/log_keeper.hpp"
#include "gam/membership/node_log.hpp"
#include "gam/membership/policy_log.hpp"
#include "gam/membership/witness.hpp"
#include "gam/node/node.hpp"
#include "gam/node/recovery_report.hpp"
#include "gam/transport/peers.hpp"

namespace prism::gam
{

/** The side of the log. Thread-safe, except for make(). */
class LogSide final : public Network, private Network::Listener, private HomeRecovery::Home, private Witness::Node
{
public:
	/** @p peers outlives this object. @p log: null if the node keeps none. */
	LogSide(Peers &peers, const NodeLife &self, std::uint64_t blocks, std::unique_ptr<NodeLog> log, bool durable);
	LogSide(const LogSide &) = delete;
	LogSide &operator=(const LogSide &) = delete;

	/** Returns the log for the node's options. */
	[[nodiscard]] BlockLog *log() noexcept { return policy_ ? &*policy_ : nullptr; }
	/** Makes an object for Node::MakeCoherence; adds the log to @p options. */
	std::unique_ptr<Coherence> make(directory::Options options, Coherence::Host &host, std::size_t shard);
	/**
	 * Sets the node; nothing is polled before. @p node outlives all except stop(). Errors: those of reading the
	 * log.
	 */
	Result<void> start(gam::Node &node);
	/** Returns the nodes whose logs this node may need to recover, a bit set. Call after start(). */
	[[nodiscard]] std::uint64_t owners() const noexcept { return owners_; }
	/** Stops, as the node ends. */
	void stop();

	/** Adopts @p view. Call after Peers has cut off its dead nodes. */
	void adopt(const View &view);
	/** Appends nothing to the log from now on, as this node is no longer a member. Any thread. */
	void seal() noexcept
	{
		if (policy_)
			policy_->seal();
	}
	/** Treats all others as dead, as this node is no longer a member. Call after Peers has cut off all. */
	void end_all();
	/**
	 * Announces this node to all members, which are connected, and recovers. Polls until that is done and all
	 * serving members are present, or @p is_over returns true. Errors: ESTALE (it was over); ETIMEDOUT (a node does
	 * not say that it has recovered); those of HomeRecovery::failure().
	 */
	Result<void> recover(std::chrono::milliseconds timeout, const std::function<bool()> &is_over);
	/** Returns what recovery has found; its losses then count as told, and no later life's report has them. */
	[[nodiscard]] RecoveryReport report();
	/** Returns the errno value for which nothing is logged any more, or 0. */
	[[nodiscard]] int error() const noexcept { return log_ ? log_->cause() : 0; }
	/** Returns NodeLog::trouble(). */
	[[nodiscard]] std::string log_trouble() const { return log_ ? log_->trouble() : std::string(); }
	/**
	 * Waits until all that this node has written as a home, or owns, is in its log and on the disk. Errors: the
	 * log's.
	 */
	Result<void> settle_log();

	/* Network */
	void send(NodeId to, const Message &message) noexcept override { peers_.send(to, message); }
	[[nodiscard]] bool has_room(NodeId to) noexcept override { return peers_.has_room(to); }
	void flush() noexcept override { peers_.flush(); }
	std::size_t poll(Network::Listener &listener) noexcept override;
	void leave_alone() noexcept override { peers_.leave_alone(); }

private:
	/* Network::Listener */
	void heard(NodeId from, const Message &message) override;
	/* HomeRecovery::Home, under the lock; send() is that of the network */
	void settled(Address block, const Verdict &verdict, std::span<const std::byte, block_size> value) override;
	/* Witness::Node, likewise */
	void for_each_line(NodeId home, const std::function<void(Address block, const HeldLine &line)> &visit) override;
	[[nodiscard]] std::optional<HeldLine> line(Address block) override;
	void drop(Address block) override;
	[[nodiscard]] std::uint64_t since() const override { return log_ ? log_->began() : self_.incarnation; }
	[[nodiscard]] std::uint64_t life_of(NodeId node) const override { return lives_[node]; }
	std::unique_ptr<LoggedBlocks> logged(NodeId home, std::uint64_t since) override;
	void recovered(NodeId /*home*/) override {}

	/* Under the lock */
	[[nodiscard]] bool has_log() const noexcept { return log_ != nullptr; }
	[[nodiscard]] bool admits(NodeId from);
	void hear_own(NodeId from, const Message &message);
	void hear_present(NodeId from, const Message &message);
	void set_loggers(std::uint64_t nodes);
	void notice(const NodeLife &life);
	void end_life(NodeId node);
	void forget(NodeId home);
	void welcome(NodeId node);
	void meet(NodeId node);
	void greet(NodeId node);
	void tell_recovered(NodeId node);
	void give_up_the_lost();
	void adopt_orphans(NodeId owner);
	[[nodiscard]] HomeRecovery *recovery_of(NodeId from, const Message &message);
	void finish_if_done();
	void restore_allocations(const LoggedBlocks &logged);
	[[nodiscard]] const Member *missing() const;
	[[nodiscard]] bool is_connected(const Member &member);

	Peers &peers_;
	const NodeLife self_;
	const std::uint64_t blocks_;
	const std::unique_ptr<NodeLog> log_;
	std::optional<PolicyLog> policy_;
	std::uint64_t owners_ = 0;
	std::vector<Directory *> shards_; /* under the locks of the node's shards */
	std::atomic<gam::Node *> node_{nullptr};
	std::atomic<std::uint64_t> there_{0}; /* nodes that can be asked, a bit set */
	std::atomic<bool> recovered_{false};
	Network::Listener *listener_ = nullptr;
	/* Taken before the locks of shards, after that of poll() */
	std::mutex lock_;
	View view_;
	std::array<std::uint64_t, max_nodes> lives_{}; /* incarnations; 0: none */
	std::uint64_t loggers_ = 0;                    /* bit set, as all that follow */
	std::uint64_t greeted_ = 0;
	std::uint64_t asked_ = 0; /* nodes asked by recovery_ */
	std::uint64_t told_ = 0;  /* nodes told that this node has recovered */
	Witness witness_;
	std::unique_ptr<HomeRecovery> recovery_; /* set while it is under way, or blocks wait */
	/* Recoveries of blocks whose owner, the key, died while this node lived, and has returned */
	std::map<NodeId, std::unique_ptr<HomeRecovery>> orphans_;
	std::vector<std::byte> line_; /* result of the last line() */
	RecoveryReport report_;
	std::unique_ptr<LogKeeper> keeper_; /* declared last: its thread uses the log */
};

} // namespace prism::gam
