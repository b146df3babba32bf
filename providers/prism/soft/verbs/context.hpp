/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device context of the userspace device: carrier, protocol and the threads that drive them. One lock serialises the
 * protocol; completions are taken from their queues without it.
 */
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <infiniband/verbs.h>

#include "../../prismdv.h"
#include "../net/port.hpp"
#include "../protocol/engine.hpp"
#include "base/clock.hpp"
#include "counter_page.hpp"
#include "events.hpp"
#include "gid_table.hpp"
#include "limits.hpp"
#include "soft_device.h"

namespace prism::soft
{

/** A completion channel of this device; ibv_comp_channel comes first. */
struct CompletionChannel {
	ibv_comp_channel base;
	EventSocket *socket; /* the context's */
};

class Context final : public EventListener
{
public:
	/**
	 * Registers fork handlers: a child finds the lock of all contexts free, and none of its parent's contexts,
	 * whose memory it may not have. Call once, when the library is loaded.
	 */
	static void keep_over_fork();

	/** Opens a context. Null on failure, with the reason in @p error. */
	static std::unique_ptr<Context> open(
		const std::string &interface, const prismdv_context_attr &wanted, std::string &error);
	~Context() override;

	/**
	 * Ends the thread, before destruction. False if it cannot be woken, as the program has closed our descriptors:
	 * then the context must not be destroyed.
	 */
	[[nodiscard]] bool stop();

	/** Serialises all use of @ref engine. */
	std::mutex lock;
	Engine &engine() { return *engine_; }
	[[nodiscard]] const InterfaceInfo &interface() const { return port_->udp().interface(); }
	/** MTU of the interface, when last looked at. */
	[[nodiscard]] unsigned interface_mtu() const { return mtu_; }
	[[nodiscard]] const GidTable &gids() const { return gids_; }
	[[nodiscard]] UdpCounters carrier_counters() const { return port_->udp().counters(); }
	[[nodiscard]] const LocalCounters &local_counters() const { return counters_->local(); }

	/** Receives, executes, answers and sends. Called by the application's thread when it looks for completions. */
	void poll();
	/** Sends what may be sent now. Call after posting, with the lock held. */
	void transmit();
	/**
	 * Takes in what has arrived, before the program ends a queue pair's work. Call with the lock held. A peer that
	 * acknowledges and then disconnects by another socket has thus acknowledged.
	 */
	void catch_up();
	/** Makes the engine thread take over: the application is about to sleep. */
	void hand_over();
	/** Attach UD queue pairs to multicast groups, as ibv_attach_mcast(3). Return 0 or errno; the lock must be
	 * free. */
	int attach(QueuePair &qp, const Address &group);
	int detach(QueuePair &qp, const Address &group);
	/** Starts the engine thread, unless it runs, or progress is inline and nobody must be answered in time. */
	void start_thread(bool needed = false);

	/**
	 * Makes GIDs of addresses that the interface has got since its contexts in this process were opened, and tells
	 * their programs (IBV_EVENT_GID_CHANGE). New queue pairs may have the interface's present MTU. Takes the lock
	 * of each context. Thread-safe.
	 * @param current the interface, as it is now
	 * @return the index of @p wanted, if it has one
	 */
	static std::optional<unsigned> renew_gids(const InterfaceInfo &current, const Address &wanted);

	/** Channels and asynchronous events. */
	ibv_comp_channel *create_channel(ibv_context *context);
	void destroy_channel(CompletionChannel *channel);
	void refill_async() { async_.refill(); }
	unsigned forget_async(int reader, std::uint64_t element) { return async_.forget(reader, element); }
	/** Sends what is still to be sent, for no peer to wait: the process ends and leaves this context open. */
	void take_leave();
	/** Gives the reading end to libibverbs, which closes it. */
	int take_async_fd() { return async_.release_reader(); }

	Quotas quotas;
	/** Returns a handle for an object that has no other number. */
	std::uint32_t take_handle() { return next_handle_++; }

	/* Called by the engine */
	void qp_event(QueuePair &qp, ibv_event_type type) override;
	void cq_event(CompletionQueue &cq, ibv_event_type type) override;
	void srq_event(SharedReceiveQueue &srq, ibv_event_type type) override;
	void management(const Route &route, std::span<const std::uint8_t> mad) override;
	/** Handler for all contexts; see prismdv_soft_gsi_handle(). */
	static std::atomic<prism_soft_gsi_handler> management_handler;

private:
	Context(std::unique_ptr<CounterPage> counters, std::unique_ptr<Port> port, std::uint32_t progress);
	/** As EventSocket::post(). */
	bool post_async(std::uint64_t element, ibv_event_type type);
	template <typename Object>
	void raise(void *owner, ibv_event_type type);
	[[nodiscard]] std::uint32_t first_qpn() const;
	[[nodiscard]] bool has_management() const;
	void publish_counters();
	[[nodiscard]] std::vector<PageAddress> page_addresses() const;
	bool take_in(const std::vector<Address> &numbers, const InterfaceInfo &current);
	void renew(const std::vector<Address> &numbers, const InterfaceInfo &current);
	[[nodiscard]] int source_of(const Address &name) const;
	void wake_thread();
	void note_poll(Time at);
	void receive_waiting(Time at);
	void receive_before_timers(Time at);
	void advance(Time at, Engine::Again again = Engine::Again::maybe);
	bool drive(Time reading, int max_trains, bool looked_after);
	/** Returns the time for the engine's next call: threads' readings of the clock differ, but it must not go back.
	 */
	Time in_order(Time reading) { return latest_ = std::max(latest_, reading); }
	[[nodiscard]] bool looked_after() const { return running_ && !asleep_; }
	void await_company(Time at);
	void run();
	bool park(Time at, Time &patience);
	void sleep();
	void wait_for_work();

	std::unique_ptr<CounterPage> counters_; /* outlives the users of the counters */
	std::unique_ptr<Port> port_;
	std::unique_ptr<Engine> engine_;
	GidTable gids_;
	std::atomic<unsigned> mtu_;
	std::atomic<std::uint32_t> next_handle_{1};
	const bool threaded_;
	EventSocket async_;
	std::mutex channels_lock_;
	std::vector<std::unique_ptr<EventSocket>> channels_;

	Time latest_ = 0;                     /* that the engine has seen; with the lock held */
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
};

} // namespace prism::soft
