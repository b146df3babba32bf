/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A node's membership of a cluster: its number, its lease, the other members. A MasterChannel reaches the master: a
 * process reached by TCP, or the members by turns over etcd.
 */
#pragma once

#include <prism/result.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <nlohmann/json_fwd.hpp>

#include "gam/coherence/coherence.hpp"
#include "gam/membership/view.hpp"

namespace prism::gam
{

/** A channel to the master. */
class MasterChannel
{
public:
	virtual ~MasterChannel() = default;
	/**
	 * Asks the master @p question (master_desk.hpp) and returns its answer. Waits no longer for it than @p longest,
	 * nor than the channel's own patience. One call at a time. Errors: those of the master; ETIMEDOUT,
	 * ECONNREFUSED, ECONNRESET (it is unreachable, and may have received the question), EBADMSG.
	 */
	virtual Result<nlohmann::json> ask(const nlohmann::json &question, Time longest) = 0;
	/**
	 * Returns the longest pause between renewals. A node renews eight times in a lease, and at least this often, so
	 * that it learns of changes soon.
	 */
	[[nodiscard]] virtual Time longest_pause() const noexcept { return std::chrono::milliseconds(100); }
	/** Makes all questions, now and later, end within a second, with any error. Any thread. */
	virtual void cancel() noexcept {}
};

/** The master's answer to a node that joins. */
struct Admission {
	NodeLife life;
	std::uint64_t cluster = 0;
	Time lease{};                  /**< length of a lease */
	std::uint64_t log_cluster = 0; /**< cluster of its log, if it keeps one */
};

/** Thread-safe. */
class Membership
{
public:
	/**
	 * The node. Called by the membership's thread, the first time inside join(), and inside expect(). Its functions
	 * must return soon, and may call swept().
	 */
	class Listener
	{
	public:
		virtual ~Listener() = default;
		/** Reports that the members have changed, with the new epoch's view. Epochs may be skipped. */
		virtual void changed(const Admission &me, const View &view) = 0;
		/**
		 * Reports that this node was declared dead, or that its master has forgotten it (@p why: ESTALE), or
		 * that it has given up. lease_until() is already over. The last call: the node ends, and may join again
		 * as another.
		 */
		virtual void expelled(const Error &why) = 0;
	};

	explicit Membership(std::unique_ptr<MasterChannel> channel);
	/** Does not leave: to the others, a node destroyed without leave() has crashed. */
	~Membership();
	/** Call before the destructor: then no call waits for the master any more. */
	void cancel() noexcept { channel_->cancel(); }
	Membership(const Membership &) = delete;
	Membership &operator=(const Membership &) = delete;

	/**
	 * Joins as @p me, once; @p listener outlives this object. The node must already listen: others connect as soon
	 * as they hear of it. May be called again after an error. Errors: EALREADY, those of Master::join() and
	 * MasterChannel::ask().
	 */
	Result<Admission> join(const Newcomer &me, Listener &listener);
	/** Reports that this node is connected to all members. Errors: ESTALE, those of MasterChannel::ask(). */
	Result<void> serving();
	/**
	 * Ends the membership; the listener is not called any more. It is no error if the master cannot be reached
	 * within a second or two: to the others, this node dies when its lease is over. Errors: ESTALE.
	 */
	Result<void> leave();
	/**
	 * Gives up the membership for @p why: this node stops renewing, so the others find out. When this returns, the
	 * membership has ended, the listener was told, now or before, and no call waits for the master any more. Call
	 * after join(), not inside the listener.
	 */
	void give_up(const Error &why);
	/** See Master::give_up(). Errors: as serving(), EINVAL. */
	Result<void> give_up_node(NodeId dead);
	/**
	 * See Master::expect(). When this returns, the listener was told of the nodes that are away for it. Errors: as
	 * serving(), EINVAL.
	 */
	Result<void> expect(std::uint64_t nodes);
	/**
	 * See Master::swept(). If the master cannot be reached, a later renewal tells it; otherwise the number of @p
	 * dead would stay in use. Errors: as serving(), EINVAL.
	 */
	Result<void> swept(NodeId dead, std::uint64_t epoch);

	/* A store of small values, by which members find each other's data */
	static constexpr std::size_t longest_key = 128;
	static constexpr std::size_t longest_value = 4096;
	static constexpr auto shortest_question = std::chrono::milliseconds(100);
	/** Stores @p value under @p key. Errors: EINVAL (empty, too long), ENOSPC, as serving(). */
	Result<void> put(const std::string &key, const std::string &value);
	/**
	 * Waits until a member has put @p key, and returns its value. The master has until @p timeout to answer, at
	 * least shortest_question. Errors: ETIMEDOUT, as put().
	 */
	Result<std::string> get(const std::string &key, std::chrono::milliseconds timeout);

	/**
	 * Returns the end of the lease: this node may use its cache while now() is before it. A relaxed load: what was
	 * read before it was read under the lease.
	 */
	[[nodiscard]] Time lease_until() const noexcept { return Time(until_.load(std::memory_order_relaxed)); }
	/** Returns why the last renewal failed; empty: it did not. */
	[[nodiscard]] std::string renewal_failure();
	/** Returns the time since the machine was started, including sleep. */
	[[nodiscard]] static Time now() noexcept;

private:
	static constexpr Time any_time = std::chrono::hours(24 * 365); /* longer than any channel's patience */

	Result<nlohmann::json> ask(nlohmann::json question, Time longest = any_time);
	Result<std::optional<std::string>> find(const std::string &key, Time longest);
	Result<void> tell(nlohmann::json message);
	Result<void> take_lease(const nlohmann::json &answer, Time asked);
	void take_view(const nlohmann::json &answer);
	Result<void> take_renewal(const nlohmann::json &answer, Time asked);
	Result<void> enter();
	void renew();
	void tell_swept();
	void run(const std::stop_token &stop);

	std::unique_ptr<MasterChannel> channel_;
	std::timed_mutex channel_lock_;
	std::atomic<Time::rep> until_{0};
	std::mutex end_lock_;           /* held while the listener is called */
	std::atomic<bool> over_{false}; /* has left, or was expelled */
	std::mutex view_lock_;          /* held while the listener is told of a view */
	std::atomic<std::uint64_t> epoch_{0};
	Listener *listener_ = nullptr;
	std::optional<Admission> me_; /* set before the thread starts */
	std::mutex swept_lock_;
	std::map<NodeId, std::uint64_t> not_told_; /* swept, but not told: the epoch, by dead node */
	std::mutex failure_lock_;
	std::string failure_; /* of the last renewal */
	std::mutex sleep_lock_;
	std::condition_variable_any wake_;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::gam
