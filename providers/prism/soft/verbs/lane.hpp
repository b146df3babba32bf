/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A lane of a device context: a carrier, a protocol and the thread that drives them. One lock serialises the protocol;
 * completions are taken from their queues without it.
 */
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "../net/port.hpp"
#include "../protocol/engine.hpp"
#include "base/clock.hpp"
#include "counter_page.hpp"
#include "lane_lock.hpp"

namespace prism::soft
{

/** Members of a context that its lanes share; outlive them. */
struct SharedByLanes {
	EventListener &listener; /* called with a lane's lock held */
	MemoryTable &memory;
	SharedQueues &queues;
	const std::atomic<unsigned> &count; /* of the lanes */
};

class Lane
{
public:
	struct Options {
		std::string interface;
		bool with_rings;
		bool takes_management;
		bool threaded; /* has an engine thread as soon as peers may send requests */
	};

	/** Opens the first lane of a context. Null on failure, with the reason in @p error. */
	static std::unique_ptr<Lane> open(const Options &options, const SharedByLanes &shared, std::string &error);
	/**
	 * Opens a lane beside @p first, with the same addresses; on loopback it has an IPv4 address of its own instead
	 * of that of @p first. Serialise with add(). Takes the lock of @p first.
	 * @return null if that is not possible
	 */
	static std::unique_ptr<Lane> open_beside(Lane &first, const SharedByLanes &shared);
	~Lane();
	/** Call in a child made by fork(), which has none of the engine threads. */
	static void forget_threads();

	/**
	 * Ends the thread, before destruction. False if it cannot be woken, as the program has closed our descriptors:
	 * then the lane must not be destroyed.
	 */
	[[nodiscard]] bool stop();

	/** Serialises all use of @ref engine. */
	LaneLock lock;
	Engine &engine() { return *engine_; }
	[[nodiscard]] const UdpPort &udp() const { return port_->udp(); }
	[[nodiscard]] const LocalCounters &local_counters() const { return counters_->local(); }

	/** Publishes the lane's identity and counters. Call once, before other threads know the lane. */
	void publish_counters();

	/** Receives, executes, answers and sends. Called by the application's thread when it looks for completions. */
	void poll();
	/** Returns true if the calling thread is the last that has polled, posted or connected here. */
	[[nodiscard]] bool is_used_by_caller() const
	{
		return user_.load(std::memory_order_relaxed) == ::pthread_self();
	}
	/** Returns true now and then in a lane that is polled: look if another one is_left_alone() by then. */
	[[nodiscard]] bool may_help(Time at);
	/** Returns true if nobody drives the lane, as its threads wait for a processor or are busy. */
	[[nodiscard]] bool is_left_alone(Time at) const;
	/** As poll(), for a thread that does not look for completions here. */
	void help(Time at);
	/** Sends what may be sent now. Call after posting, with the lock held. */
	void transmit();
	/**
	 * Takes in what has arrived, before the program ends a queue pair's work. Call with the lock held. A peer that
	 * acknowledges and then disconnects by another socket has thus acknowledged.
	 */
	void catch_up();
	/** Makes the engine thread take over: the application is about to sleep. */
	void hand_over();
	/** Sends what is still to be sent, unless the lane stays in use: the process or the lane ends. */
	void take_leave();

	/** Attach UD queue pairs to multicast groups, as ibv_attach_mcast(3). Return 0 or errno; the lock must be
	 * free. */
	int attach(QueuePair &qp, const Address &group);
	int detach(QueuePair &qp, const Address &group);
	/** Returns the groups that it is in. */
	[[nodiscard]] std::vector<Address> groups();
	/** Starts the engine thread, unless it runs, or progress is inline and nobody must be answered in time. */
	void start_thread(bool needed = false);

	/*
	 * Addresses. All of these take the lock, and the caller serialises them, so that lanes have the same ones.
	 */
	/** As UdpPort::addresses(). */
	[[nodiscard]] std::vector<Address> addresses();
	/** Returns the index of the address with this gid_name(); -1 if there is none. */
	[[nodiscard]] int source_of(const Address &name);
	/** As Port::add(). */
	int add(const Address &address);
	/** Adds the addresses that @p first has got, so that the indices agree. False if one cannot be bound. */
	[[nodiscard]] bool follow(Lane &first);

private:
	Lane(bool threaded, const SharedByLanes &shared, std::unique_ptr<CounterPage> counters,
		std::unique_ptr<Port> port);
	[[nodiscard]] std::uint32_t first_qpn() const;
	[[nodiscard]] std::vector<PageAddress> page_addresses() const;
	void wake_thread();
	void note_user();
	void note_poll(Time at);
	void receive_waiting(Time at);
	void receive_before_timers(Time at);
	void advance(Time at, Engine::Again again = Engine::Again::maybe);
	bool drive(Time reading, int max_trains, bool looked_after);
	/** Returns the time for the engine's next call: threads' readings of the clock differ, but it must not go back.
	 */
	Time in_order(Time reading)
	{
		const Time at = std::max(latest_.load(std::memory_order_relaxed), reading);
		latest_.store(at, std::memory_order_relaxed);
		return at;
	}
	[[nodiscard]] bool looked_after() const { return running_ && !asleep_; }
	void await_company(Time at);
	void run();
	bool park(Time at, Time &patience);
	bool sleep();
	bool wait_for_work();

	std::unique_ptr<CounterPage> counters_; /* outlives the users of the counters */
	std::unique_ptr<Port> port_;
	std::unique_ptr<Engine> engine_;
	const std::atomic<unsigned> &lanes_; /* of the context */
	const bool threaded_;

	std::atomic<Time> latest_{0};         /* that the engine has seen; changes with the lock held */
	std::atomic<Time> may_help_{0};       /* when the threads of this lane look at others again */
	std::atomic<Time> last_poll_{0};      /* last time that the application drove the engine itself */
	std::atomic<std::uint32_t> polls_{0}; /* number of times without a pause before that */
	std::atomic<bool> stop_{false};
	std::atomic<bool> parked_{false};
	std::atomic<bool> running_{false};
	std::atomic<bool> asleep_{false}; /* set with the lock held: packets, a deadline and wake_ end it */
	Time sleeps_until_ = 0;           /* that deadline; 0: none */
	FileDescriptor wake_;
	std::thread thread_;
	std::once_flag started_;
	const pid_t owner_; /* a child made by fork() has no engine thread, and its parent's sockets */
	/* Others look at it often, and it changes seldom: on a cache line of its own. */
	alignas(64) std::atomic<pthread_t> user_{};
};

} // namespace prism::soft
