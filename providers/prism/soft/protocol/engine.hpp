/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The protocol of a device context, or of some of its queue pairs, sans I/O: it is given packets and the time, and
 * produces packets and completions. It knows the queue pairs and shared receive queues, which belong to the verbs
 * objects above it.
 *
 * The caller serialises every call (the lane's lock), except for those of CompletionQueue. Of engines that share a key
 * table and shared receive queues it lets none be in a call while it changes the table, or the list of queues. Windows
 * are bound by requests, too: engines that share them are serialised together.
 */
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <infiniband/verbs.h>

#include "../net/packet.hpp"
#include "base/assertion.hpp"
#include "bundler.hpp"
#include "counters.hpp"
#include "memory.hpp"
#include "queue_pair.hpp"
#include "running_requests.hpp"

namespace prism::soft
{

/** Receiver of asynchronous events, called from within the engine's calls. */
class EventListener
{
public:
	virtual ~EventListener() = default;
	virtual void qp_event(QueuePair &qp, ibv_event_type type) = 0;
	virtual void cq_event(CompletionQueue &cq, ibv_event_type type) = 0;
	virtual void srq_event(SharedReceiveQueue &srq, ibv_event_type type) = 0;
	/** Handles a management datagram (IBTA 13.4) of mad_size bytes. False if it is lost. */
	virtual bool management(const Route &, std::span<const std::uint8_t>) { return true; }
};

/** Bytes of the longest READ through a pointer and of the longest copy on the responder's side. */
inline constexpr std::uint32_t max_indirect_read = 1 << 20; /* as a responder */
/** Most READ, atomic and PRISM requests in flight for a QP, in each direction. */
inline constexpr std::uint32_t max_outstanding = 128;
/** Most bad free-list entries that one ALLOCATE removes before it answers NO_BUFFER. */
inline constexpr std::uint32_t max_free_list_tries = 8;
/** Bytes of the longest message (ibv_port_attr.max_msg_sz): at the smallest MTU its PSNs fit a quarter of the
 * circle. */
inline constexpr std::uint32_t max_message = 1u << 30;

/** Members that engines of one process may share; outlive them. Null: each has its own. */
struct SharedByEngines {
	ProtocolCounters *counters = nullptr;
	RequestEpochs *epochs = nullptr;
	std::uint32_t receive_room = 4 << 20; /* bytes that a peer's socket accepts, estimated from ours */
	MemoryTable *memory = nullptr;        /* of the context */
	SharedQueues *queues = nullptr;       /* likewise */
};

class Engine : public PacketHandler
{
public:
	Engine(PacketSink &sink, EventListener &listener, std::uint32_t first_qpn, std::uint32_t qp_count,
		const SharedByEngines &shared = {});
	~Engine() override;

	/* Packets and time */
	void receive(const Route &route, std::span<const std::uint8_t> packet, Time now) override;
	/** Lets an ACK overtake the requests before it (W.6.3): programs get the completion of their SEND before the
	 * message that answers it. */
	[[nodiscard]] bool last_overtakes(std::span<const std::uint8_t> train, std::size_t segment) const override;
	/** Tells progress() if the caller will soon call it again in any case. */
	enum class Again {
		maybe,
		surely
	};

	/**
	 * Runs timers, and sends everything that may be sent and pending acknowledgements. Call after a batch of
	 * packets or posts.
	 * @param again if surely, acknowledgements of messages that the application is about to see may wait for the
	 * next call, to travel in one datagram with its answer. A shorter packet fits a train only as its last, so it
	 * stands behind the answer there, and the receiver must let it overtake; other implementations do not.
	 */
	void progress(Time now, Again again = Again::maybe);
	/** As progress(), but runs no timers: what has arrived, and is not received yet, may end them. */
	void answer(Time now, Again again = Again::maybe);
	/**
	 * Returns true if the peer says that more requests follow at once: answers may wait briefly, to leave as one
	 * train.
	 */
	[[nodiscard]] bool expects_more() const { return expects_more_ && answers_ < company; }
	/** Returns the time when progress() is next needed without a packet; 0: never. */
	[[nodiscard]] Time next_deadline() const;
	/** Returns true if progress() would find that an answer is overdue: take what has arrived first. */
	[[nodiscard]] bool timer_is_due(Time now) const { return !timers_.empty() && timers_.front().deadline <= now; }

	/* Objects */
	MemoryTable &memory;
	ProtocolCounters &counters;
	/** Highest version of the wire protocol that the engine speaks. Set before the first queue pair. */
	std::uint32_t protocol_version = PRISM_PROTOCOL_VERSION;
	/** True if a thread drives the engine: most messages of UC and UD may wait until a path is prepared. */
	bool has_thread = false;
	/** False if packets that leave as a train may arrive one by one, in that order. */
	bool trains_arrive_whole = true;

	/** Makes QPNs unpredictable; else they count up. Call before the first queue pair. */
	void shuffle_qpns(std::uint64_t seed);
	/** Returns a number for a new QP, 0 if all are taken; give it back with remove_qp(). */
	std::uint32_t take_qpn();
	void add_qp(QueuePair &qp);
	void remove_qp(QueuePair &qp);
	QueuePair *find_qp(std::uint32_t qpn);
	/** Adds @p qp to the group, until remove_member() or remove_qp(). Returns false if it is a member already. */
	bool add_member(QueuePair &qp, const Address &group);
	bool remove_member(QueuePair &qp, const Address &group);
	[[nodiscard]] bool in_a_group(const QueuePair &qp) const;
	std::uint32_t take_srqn();
	void add_srq(SharedReceiveQueue &srq);
	void remove_srq(SharedReceiveQueue &srq);
	SharedReceiveQueue *find_srq(std::uint32_t number);

	/** Changes the QP to RESET: both halves forget everything; unfinished work vanishes without completions
	 * (IBTA 10.3.1.1). */
	void reset_qp(QueuePair &qp);
	/** Sets the number of answers kept for duplicates (max_dest_rd_atomic); keeps the latest ones. */
	static void keep_answers(QueuePair &qp, std::uint32_t count);
	/** Changes the QP to ERROR: everything posted completes as flushed. */
	void fail_qp(QueuePair &qp);
	/** Reports that a QP in SQD is drained, if the event is due. */
	void report_drained(QueuePair &qp);
	/** Completes the queued requests of a QP in ERROR as flushed. */
	void flush(QueuePair &qp);

	/** Sends a management datagram to QP 1 of @p peer, from our address @p source; leaves with the next
	 * progress(). */
	void send_management(unsigned source, const Address &peer, std::span<const std::uint8_t, mad_size> mad);

	/** Takes the send work request that has been put at sq.tail - 1: it is sent by the next progress(). */
	void posted(QueuePair &qp) { mark_dirty(qp); }
	/** Posts a receive to a free list, whose lock the caller holds. */
	int post_free_list(SharedReceiveQueue &srq, std::uint64_t wr_id, const Sge &entry);
	/** Sets the limit of @p srq; its event is due at once if there are fewer entries already. */
	void set_limit(SharedReceiveQueue &srq, std::uint32_t limit);
	/** Returns the number of entries of @p srq that an ALLOCATE could get now. */
	std::uint32_t allocatable(SharedReceiveQueue &srq);

private:
	friend class Requester;
	friend class Completer;
	friend class Responder;
	friend class TargetMemory;

	struct Timer {
		Time deadline;
		std::uint32_t qpn;
		bool operator>(const Timer &other) const { return deadline > other.deadline; }
	};

	void mark_dirty(QueuePair &qp);
	void join_path(QueuePair &qp);
	void leave_path(QueuePair &qp);
	/** Lets queue pairs in line on @p path send, as far as there is room now. */
	void wake_next(Path &path);
	void arm_timer(QueuePair &qp, Time deadline);
	void push_timer(const Timer &timer);
	void forget_overtaken_timers();
	void run_timers(Time now);
	void run_streams(Time now);
	[[nodiscard]] bool travels_in_trains(const QueuePair &qp);
	void complete(CompletionQueue &cq, const ibv_wc &wc, bool solicited);
	[[nodiscard]] bool understands(const QueuePair &qp, std::uint8_t opcode) const;
	bool accepts(QueuePair *qp, const Route &route, const prism_bth &bth);
	[[nodiscard]] static bool comes_from_peer(const QueuePair &qp, const Route &route);
	[[nodiscard]] static std::uint16_t opcode_flags(const QueuePair &qp, std::uint8_t opcode);
	void receive_for_group(const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet);
	void receive_bundle(QueuePair &qp, const Route &route, const prism_bth &bth,
		std::span<const std::uint8_t> packet, Time now);
	void receive_one(QueuePair &qp, const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet,
		Time now);
	void finish_answers(QueuePair &qp, Time now);
	void receive_management(const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet);

	/* Grace periods (S.7) */
	[[nodiscard]] RequestEpoch oldest_stream() const;
	void advance(SharedReceiveQueue &srq);
	prism_pop take_buffer(SharedReceiveQueue &srq, std::uint32_t length, prism_buffer &buffer);
	/** Access the application's memory behind a key that allows it. False, and counted, if it has been unmapped. */
	[[nodiscard]] bool load(void *to, const void *from, std::size_t length);
	[[nodiscard]] bool store(void *to, const void *from, std::size_t length);
	[[nodiscard]] bool intact(bool done);
	prism_pop pop_buffer(const QueuePair &qp, std::uint32_t number, std::uint32_t length, prism_buffer &buffer);
	/** Returns the address of an entry if it may be used so, else null. */
	[[nodiscard]] const std::uint8_t *memory_of(
		const SharedReceiveQueue &srq, const Sge &entry, std::uint32_t rights) const;
	void reject(SharedReceiveQueue &srq, std::uint64_t wr_id, const Sge &entry);
	void give_back(const prism_buffer &buffer);

	[[no_unique_address]] SerialCalls calls_;
	MemoryTable own_memory_;                    /* unless it is shared, */
	SharedQueues own_queues_;                   /* likewise */
	ProtocolCounters own_counters_;             /* likewise */
	std::unique_ptr<RequestEpochs> own_epochs_; /* likewise */
	Bundler sink_;
	EventListener &listener_;
	const std::uint32_t first_qpn_;
	std::vector<QueuePair *> qps_;
	std::vector<std::uint16_t> qpn_order_; /* order in which the numbers are given out */
	std::uint32_t next_qpn_ = 0;
	SharedQueues &queues_;
	struct Member {
		Address group;
		QueuePair *qp;
		bool operator==(const Member &) const = default;
	};
	std::vector<Member> members_; /* few */
	std::vector<QueuePair *> dirty_;
	const std::uint32_t receive_room_;
	std::map<Address, std::weak_ptr<Path>> paths_;
	/* READ responses are sent in turn, at most this many bytes in each round of receive() and progress(). */
	static constexpr std::int32_t read_room = 256 << 10;
	std::int32_t read_room_ = read_room;
	std::list<QueuePair *> streams_; /* the next first; its nodes come from the queue pairs' place */
	static constexpr std::size_t max_timers_a_qp = 4;
	std::vector<Timer> timers_; /* a heap, the earliest first */
	/* Number of answers that fill a good part of a train and are worth sending at once. */
	static constexpr std::uint32_t company = 16;
	bool expects_more_ = false;
	bool unbundles_ = false;    /* true while receiving an entry of a bundle */
	std::uint32_t answers_ = 0; /* since the last progress() */
	RunningRequests running_;
	std::uint32_t gsi_psn_ = 0;
};

} // namespace prism::soft
