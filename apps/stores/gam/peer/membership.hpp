/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A node's membership of a cluster: its number, its lease, the others. Who the master is, a MasterChannel knows: a
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
#include "gam/peer/view.hpp"

namespace prism::gam
{

/** The way to the master. */
class MasterChannel
{
public:
	virtual ~MasterChannel() = default;
	/**
	 * What the master answers to @p question (master_desk.hpp). One call at a time. Errors: those of the master;
	 * ETIMEDOUT, ECONNREFUSED, ECONNRESET (it is not there, and may have heard the question), EBADMSG.
	 */
	virtual Result<nlohmann::json> ask(const nlohmann::json &question) = 0;
	/** A node renews eight times in a lease, and at least after such a time, so that it hears of changes soon. */
	[[nodiscard]] virtual Time longest_pause() const noexcept { return std::chrono::milliseconds(100); }
	/** Any thread: whatever is asked, now and later, ends within a second, with any error. */
	virtual void cancel() noexcept {}
};

/** What a node gets when it joins. */
struct Admission {
	NodeLife life;
	std::uint64_t cluster = 0;
	Time lease{};                  /**< how long a lease is */
	std::uint64_t log_cluster = 0; /**< what its log is of, if it keeps one */
};

/** Thread-safe. */
class Membership
{
public:
	/**
	 * The node. Called by the membership's thread, and the first time inside of join(). Its functions return soon,
	 * and may call swept().
	 */
	class Listener
	{
	public:
		virtual ~Listener() = default;
		/** The members have changed: the new epoch's. Epochs may be skipped. */
		virtual void changed(const Admission &me, const View &view) = 0;
		/**
		 * This node was declared dead, or its master has forgotten it (@p why: ESTALE), or it has given up.
		 * lease_until() is over already. Nothing more is told: the node ends, and may join again as another.
		 */
		virtual void expelled(const Error &why) = 0;
	};

	explicit Membership(std::unique_ptr<MasterChannel> channel);
	/** Does not leave: to the others a node that is destroyed without leave() is one that has crashed. */
	~Membership();
	/** Before that: no call waits for the master any more. */
	void cancel() noexcept { channel_->cancel(); }
	Membership(const Membership &) = delete;
	Membership &operator=(const Membership &) = delete;

	/**
	 * Joins as @p me, once; @p listener outlives this object. Listens already: others connect as soon as they hear
	 * of it. After an error it may be called again. Errors: EALREADY, those of Master::join() and
	 * MasterChannel::ask().
	 */
	Result<Admission> join(const Newcomer &me, Listener &listener);
	/** This node is connected to all members. Errors: ESTALE, those of MasterChannel::ask(). */
	Result<void> serving();
	/**
	 * Ends the membership; the listener hears nothing more. A master that cannot be reached within a second or two
	 * is not told, which is no error: to the others this node dies when its lease is over. Errors: ESTALE.
	 */
	Result<void> leave();
	/**
	 * This node holds itself for dead, for @p why: it renews no more, so the others find out. When this returns,
	 * the membership has ended, and the listener was told, now or before. Not inside of the listener. After join().
	 */
	void give_up(const Error &why);
	/** See Master::give_up(). Errors: as serving(), EINVAL. */
	Result<void> give_up_node(NodeId dead);
	/**
	 * See Master::swept(). If the master cannot be reached, it is told with a later renewal: else the number of
	 * @p dead would stay in use. Errors: as serving(), EINVAL.
	 */
	Result<void> swept(NodeId dead, std::uint64_t epoch);

	/* A store of small values, for members to find each other's */
	static constexpr std::size_t longest_key = 128;
	static constexpr std::size_t longest_value = 4096;
	/** Errors: EINVAL (too long), ENOSPC, as serving(). */
	Result<void> put(const std::string &key, const std::string &value);
	/** The value of @p key, or nothing. Errors: as put(). */
	Result<std::optional<std::string>> find(const std::string &key);
	/** Waits until somebody has put it. Errors: ETIMEDOUT, as put(). */
	Result<std::string> get(const std::string &key, std::chrono::milliseconds timeout);

	/**
	 * What this node has cached may be used while now() is before this. A load, without order: what was read before
	 * the look was read under the lease.
	 */
	[[nodiscard]] Time lease_until() const noexcept { return Time(until_.load(std::memory_order_relaxed)); }
	/** Since the machine was started, with the time that it slept. */
	[[nodiscard]] static Time now() noexcept;

private:
	Result<nlohmann::json> ask(nlohmann::json question);
	Result<void> tell(nlohmann::json message);
	Result<void> take_lease(const nlohmann::json &answer, Time asked);
	void take_view(const nlohmann::json &answer);
	void renew();
	void tell_swept();
	void run(const std::stop_token &stop);

	std::unique_ptr<MasterChannel> channel_;
	std::mutex channel_lock_;
	std::atomic<Time::rep> until_{0};
	std::mutex end_lock_;           /* while the listener is told */
	std::atomic<bool> over_{false}; /* has left, or was expelled */
	std::atomic<std::uint64_t> epoch_{0};
	Listener *listener_ = nullptr;
	std::optional<Admission> me_; /* set before the thread starts */
	std::mutex swept_lock_;
	std::map<NodeId, std::uint64_t> not_told_; /* swept: by the dead, the epoch */
	std::mutex sleep_lock_;
	std::condition_variable_any wake_;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::gam
