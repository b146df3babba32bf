/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device context of the userspace device: carrier, protocol and whoever drives them. One lock serialises the
 * protocol; completions are taken from their queues without it.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <infiniband/verbs.h>

#include "../../launcher/soft_device.h"
#include "../../prismdv.h"
#include "../net/port.hpp"
#include "../protocol/engine.hpp"
#include "counter_page.hpp"
#include "events.hpp"
#include "gid_table.hpp"
#include "limits.hpp"

namespace prism::soft
{

[[nodiscard]] Time now();

/** A completion channel of this device; ibv_comp_channel comes first. */
struct CompletionChannel {
	ibv_comp_channel base;
	EventSocket *socket; /* the context's */
};

class Context final : public EventListener
{
public:
	/**
	 * A child finds the lock of all contexts free, and none of its parent's contexts: it may not have their memory.
	 * Once, when the library is loaded.
	 */
	static void keep_over_fork();

	/** Null on failure, with the reason in @p error. */
	static std::unique_ptr<Context> open(
		const std::string &interface, const prismdv_context_attr &wanted, std::string &error);
	~Context() override;

	/**
	 * Before the end. False if its thread cannot be waken, as the program has closed our descriptors: then it must
	 * not be destroyed.
	 */
	[[nodiscard]] bool stop();

	/** Serialises everything about @ref engine. */
	std::mutex lock;
	Engine &engine() { return *engine_; }
	[[nodiscard]] const InterfaceInfo &interface() const { return port_->udp().interface(); }
	/** Of the interface, when it was last looked at. */
	[[nodiscard]] unsigned interface_mtu() const { return mtu_; }
	[[nodiscard]] const GidTable &gids() const { return gids_; }
	[[nodiscard]] UdpCounters carrier_counters() const { return port_->udp().counters(); }
	[[nodiscard]] const LocalCounters &local_counters() const { return counters_->local(); }

	/** Called by the application's thread when it looks for completions: receive, execute, answer, send. */
	void poll();
	/** After posting, with the lock held: send what may be sent now. */
	void transmit();
	/**
	 * Before the program ends what a queue pair does, with the lock held: what has arrived comes first. A peer that
	 * acknowledges and then disconnects, by another socket, has acknowledged.
	 */
	void catch_up();
	/** The application is about to sleep: the engine thread must take over. */
	void hand_over();
	/** Multicast groups, for UD queue pairs: ibv_attach_mcast(3). 0 or errno; the lock is free. */
	int attach(QueuePair &qp, const Address &group);
	int detach(QueuePair &qp, const Address &group);
	/** Start the engine thread, unless it runs, or progress is inline and nobody has to be answered in time. */
	void start_thread(bool needed = false);

	/**
	 * Makes GIDs of the addresses that have come to the interface since its contexts in this process were opened,
	 * and tells their programs (IBV_EVENT_GID_CHANGE). Queue pairs to come may have the MTU that it has now. Takes
	 * the lock of each context. Thread-safe.
	 * @param current the interface, as it is now
	 * @return the index of @p wanted, if it has one
	 */
	static std::optional<unsigned> renew_gids(const InterfaceInfo &current, const Address &wanted);

	/** Channels and asynchronous events */
	ibv_comp_channel *create_channel(ibv_context *context);
	void destroy_channel(CompletionChannel *channel);
	/** As EventSocket::post(). */
	bool post_async(std::uint64_t element, ibv_event_type type);
	void refill_async() { async_.refill(); }
	unsigned forget_async(int reader, std::uint64_t element) { return async_.forget(reader, element); }
	/** The process ends and leaves this context open: let no peer wait for what is still to be sent. */
	void take_leave();
	/** Give the reading end to libibverbs, which closes it. */
	int take_async_fd() { return async_.release_reader(); }

	Quotas quotas;
	/** The handles of objects that have no other number. */
	std::uint32_t take_handle() { return next_handle_++; }

	/* Handlers that the verbs objects set; EventListener hands over to them. */
	void qp_event(QueuePair &qp, ibv_event_type type) override;
	void cq_event(CompletionQueue &cq, ibv_event_type type) override;
	void srq_event(SharedReceiveQueue &srq, ibv_event_type type) override;
	std::function<void(QueuePair &, ibv_event_type)> on_qp_event;
	std::function<void(CompletionQueue &, ibv_event_type)> on_cq_event;
	void management(const Route &route, std::span<const std::uint8_t> mad) override;
	std::function<void(SharedReceiveQueue &, ibv_event_type)> on_srq_event;
	/** Of all contexts; prismdv_soft_gsi_handle() */
	static std::atomic<prism_soft_gsi_handler> management_handler;

private:
	Context(std::unique_ptr<CounterPage> counters, std::unique_ptr<Port> port, std::uint32_t progress);
	[[nodiscard]] std::uint32_t first_qpn() const;
	[[nodiscard]] bool has_management() const;
	void publish_counters();
	[[nodiscard]] std::vector<PageAddress> page_addresses() const;
	bool take_in(const std::vector<Address> &numbers, const InterfaceInfo &current);
	void renew(const std::vector<Address> &numbers, const InterfaceInfo &current);
	[[nodiscard]] int source_of(const Address &name) const;
	void note_poll(Time at);
	bool drive(Time at, int max_trains, bool looked_after);
	[[nodiscard]] bool looked_after() const { return running_ && !asleep_; }
	void await_company(Time at);
	void run();
	bool park(Time at, Time &patience);
	void sleep();
	void wait_for_work();

	std::unique_ptr<CounterPage> counters_; /* outlives those who count */
	std::unique_ptr<Port> port_;
	std::unique_ptr<Engine> engine_;
	GidTable gids_;
	std::atomic<unsigned> mtu_;
	std::atomic<std::uint32_t> next_handle_{1};
	const bool threaded_;
	EventSocket async_;
	std::mutex channels_lock_;
	std::vector<std::unique_ptr<EventSocket>> channels_;

	std::atomic<Time> last_poll_{0};      /* when the application last drove the engine itself, */
	std::atomic<std::uint32_t> polls_{0}; /* and how often without a pause before that */
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
