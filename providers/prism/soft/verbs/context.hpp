/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device context of the userspace device: what its program sees of it. Its lanes (lane.hpp) do the work: each has
 * some of the queue pairs, so that threads with queue pairs in different lanes do not wait for each other. A queue
 * pair's lane is that of its send queue's completion queue.
 *
 * Locks are taken in this order: setup_lock(), that of all open contexts, that for opening lanes, the lanes' by their
 * indices, those of completion queues and shared receive queues.
 */
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "../../prismdv.h"
#include "events.hpp"
#include "gid_table.hpp"
#include "lane.hpp"
#include "limits.hpp"
#include "soft_device.h"

namespace prism::soft
{

/** A completion channel of this device; ibv_comp_channel comes first. */
struct CompletionChannel {
	ibv_comp_channel base;
	EventSocket *socket; /* the context's */
};

struct CompletionQueueObject;

/** Most lanes of a context. */
inline constexpr unsigned max_lanes = 16;

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

	/** Returns the lane that is always there, and has management datagrams. */
	Lane &first() { return *lanes_[0]; }
	/** Returns the lane for a queue pair with these completion queues, and notes that they have queue pairs there.
	 */
	Lane &lane_for(CompletionQueueObject &send_cq, CompletionQueueObject &recv_cq, ibv_qp_type type);
	/** Calls @p visit with each lane. */
	template <typename Visit>
	void for_each_lane(const Visit &visit)
	{
		const unsigned count = lane_count_.load(std::memory_order_acquire);
		for (unsigned i = 0; i < count; i++)
			visit(*lanes_[i]);
	}
	/** Calls @p visit with each lane in @p mask; with the first if there is none. */
	template <typename Visit>
	void for_lanes(std::uint32_t mask, const Visit &visit)
	{
		for (std::uint32_t left = mask ? mask : 1; left; left &= left - 1)
			visit(*lanes_[static_cast<unsigned>(std::countr_zero(left))]);
	}
	/** Polls the lanes in @p mask, for a program that looks for completions there. */
	void poll(std::uint32_t mask)
	{
		/* Lanes with one lock wait for each other's threads: who has the lock drives all of them. */
		mask |= joined_.load(std::memory_order_acquire);
		for_lanes(mask, [](Lane &lane) { lane.poll(); });
		if (lane_count_.load(std::memory_order_relaxed) > 1)
			poll_others(mask);
	}
	/** Lets the engine threads of the lanes in @p mask, and of those that the caller has driven beside them, take
	 * over: the caller is about to sleep. */
	void hand_over(std::uint32_t mask);
	/** As Lane::attach(), for a queue pair of @p lane. ENOSPC for more than max_groups in all lanes together. */
	int attach(Lane &lane, QueuePair &qp, const Address &group);
	/**
	 * Puts all lanes under one lock, for good. For objects that requests change in more than one lane: then this is
	 * as a context with one lane.
	 */
	void join_lanes();

	[[nodiscard]] const InterfaceInfo &interface() const { return lanes_[0]->udp().interface(); }
	/** MTU of the interface, when last looked at. */
	[[nodiscard]] unsigned interface_mtu() const { return mtu_; }
	[[nodiscard]] const GidTable &gids() const { return gids_; }

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
	MemoryTable memory;  /* changes under AllLanes alone, */
	SharedQueues queues; /* likewise */
	/** Returns a handle for an object that has no other number. */
	std::uint32_t take_handle() { return next_handle_++; }

	/* Called by the engine */
	void qp_event(QueuePair &qp, ibv_event_type type) override;
	void cq_event(CompletionQueue &cq, ibv_event_type type) override;
	void srq_event(SharedReceiveQueue &srq, ibv_event_type type) override;
	bool management(const Route &route, std::span<const std::uint8_t> mad) override;
	/** Handler for all contexts; see prismdv_soft_gsi_handle(). */
	static std::atomic<prism_soft_gsi_handler> management_handler;

private:
	friend class AllLanes;

	explicit Context(bool threaded);
	[[nodiscard]] SharedByLanes shared() { return {*this, memory, queues, lane_count_}; }
	void poll_others(std::uint32_t mask);
	void help_others(std::uint32_t mask, Time at);
	[[nodiscard]] bool is_joined() const { return joined_; }
	[[nodiscard]] unsigned next_lane();
	bool open_lane();
	[[nodiscard]] int bind(const Address &name, const InterfaceInfo &current);
	/** As EventSocket::post(). */
	bool post_async(std::uint64_t element, ibv_event_type type);
	template <typename Object>
	void raise(void *owner, ibv_event_type type);
	[[nodiscard]] bool has_management() const;
	bool take_in(const std::vector<Address> &numbers, const InterfaceInfo &current);
	void renew(const std::vector<Address> &numbers, const InterfaceInfo &current);

	GidTable gids_;
	std::atomic<unsigned> mtu_{0};
	std::atomic<std::uint32_t> next_handle_{1};
	EventSocket async_;
	std::mutex channels_lock_;
	std::vector<std::unique_ptr<EventSocket>> channels_;
	const unsigned most_lanes_;
	std::mutex lanes_lock_;                /* for opening and joining lanes, and for their addresses */
	unsigned next_lane_ = 0;               /* turn of the next completion queue */
	Time next_opening_ = 0;                /* of a lane: not before */
	std::atomic<std::uint32_t> joined_{0}; /* mask of the lanes that have joined: all or none */
	std::atomic<unsigned> lane_count_{0};
	std::array<std::unique_ptr<Lane>, max_lanes> lanes_; /* their engines use the members above */
	const pid_t owner_;                                  /* a child made by fork() leaves it alone */
};

/** Holds the locks of all lanes of a context, while it exists: no engine is in a call, and no lane is opened. */
class AllLanes
{
public:
	explicit AllLanes(Context &context);
	~AllLanes();
	AllLanes(const AllLanes &) = delete;
	AllLanes &operator=(const AllLanes &) = delete;

private:
	const std::lock_guard<std::mutex> guard_;
	const std::span<const std::unique_ptr<Lane>> held_; /* one of those that have joined */
};

} // namespace prism::soft
