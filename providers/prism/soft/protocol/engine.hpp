/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The protocol of one device context, sans I/O: packets and a clock go in, packets and completions come out. It owns
 * the key table and knows the queue pairs and shared receive queues, which belong to the verbs objects above it.
 *
 * The caller serialises every call (the context's lock), except for those of CompletionQueue.
 */
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
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

/** Asynchronous events, from within the engine's calls. */
class EventListener
{
public:
	virtual ~EventListener() = default;
	virtual void qp_event(QueuePair &qp, ibv_event_type type) = 0;
	virtual void cq_event(CompletionQueue &cq, ibv_event_type type) = 0;
	virtual void srq_event(SharedReceiveQueue &srq, ibv_event_type type) = 0;
	/** A management datagram (IBTA 13.4) of mad_size bytes has come. */
	virtual void management(const Route &, std::span<const std::uint8_t>) {}
};

/** The longest READ through a pointer and the longest copy on the responder's side, in bytes. */
inline constexpr std::uint32_t max_indirect_read = 1 << 20; /* as a responder */
/** READ, atomic and PRISM requests in flight a QP, in each direction. */
inline constexpr std::uint32_t max_outstanding = 128;
/** Bad free-list entries that one ALLOCATE removes before it answers NO_BUFFER. */
inline constexpr std::uint32_t max_free_list_tries = 8;
/** The longest message (ibv_port_attr.max_msg_sz): at the smallest MTU its PSNs fit a quarter of the circle. */
inline constexpr std::uint32_t max_message = 1u << 30;

/** What engines of one process may have in common; outlives them. Null: each has its own. */
struct SharedByEngines {
	ProtocolCounters *counters = nullptr;
	RequestEpochs *epochs = nullptr;
	std::uint32_t receive_room =
		4 << 20; /* bytes that a peer's socket takes in, as far as one can tell from ours */
};

class Engine : public PacketHandler
{
public:
	Engine(PacketSink &sink, EventListener &listener, std::uint32_t first_qpn, std::uint32_t qp_count,
		const SharedByEngines &shared = {});
	~Engine() override;

	/* Packets and time */
	void receive(const Route &route, std::span<const std::uint8_t> packet, Time now) override;
	/** An ACK behind requests (W.6.3): programs hear of their SEND before of the message that answers it. */
	[[nodiscard]] bool last_overtakes(std::span<const std::uint8_t> train, std::size_t segment) const override;
	/** Whether the caller will soon call progress() again, whatever happens. */
	enum class Again {
		maybe,
		surely
	};

	/**
	 * After a batch of packets or posts: timers, everything that may be sent, pending acknowledgements.
	 * @param again if surely, acknowledgements of messages that the application is about to see may wait for the
	 * next call, to travel in one datagram with its answer. A shorter packet fits a train only as its last, so it
	 * stands behind the answer there, and the receiver has to let it overtake; other implementations do not.
	 */
	void progress(Time now, Again again = Again::maybe);
	/**
	 * The peer says that more requests follow at once. Answers may wait a moment for theirs, to leave as one train.
	 */
	[[nodiscard]] bool expects_more() const { return expects_more_ && answers_ < company; }
	/** When progress() is next needed without a packet; 0: not at all. */
	[[nodiscard]] Time next_deadline() const;

	/* Objects */
	MemoryTable memory;
	ProtocolCounters &counters;
	/** The highest version of the wire protocol that it speaks. Set before the first queue pair. */
	std::uint32_t protocol_version = PRISM_PROTOCOL_VERSION;

	/** Before the first queue pair: give out numbers in an order that nobody can guess. Else they count up. */
	void shuffle_qpns(std::uint64_t seed);
	/** A number for a new QP, 0 if all are taken; give it back with remove_qp(). */
	std::uint32_t take_qpn();
	void add_qp(QueuePair &qp);
	void remove_qp(QueuePair &qp);
	QueuePair *find_qp(std::uint32_t qpn);
	/** @p qp is a member of the group from now on, until remove_member() or remove_qp(). False if it is already. */
	bool add_member(QueuePair &qp, const Address &group);
	bool remove_member(QueuePair &qp, const Address &group);
	[[nodiscard]] bool in_a_group(const QueuePair &qp) const;
	std::uint32_t take_srqn();
	void add_srq(SharedReceiveQueue &srq);
	void remove_srq(SharedReceiveQueue &srq);
	SharedReceiveQueue *find_srq(std::uint32_t number);

	/** To RESET: both halves forget everything; unfinished work vanishes without completions (IBTA 10.3.1.1). */
	void reset_qp(QueuePair &qp);
	/** So many answers are kept for duplicates (max_dest_rd_atomic): of those that there are the latest. */
	static void keep_answers(QueuePair &qp, std::uint32_t count);
	/** To ERROR: everything posted completes as flushed. */
	void fail_qp(QueuePair &qp);
	/** The event of a QP in SQD, if it is due. */
	void report_drained(QueuePair &qp);
	/** Complete as flushed what is in the queues of a QP in ERROR. */
	void flush(QueuePair &qp);

	/** A management datagram to QP 1 of @p peer, from our address @p source; leaves with the next progress(). */
	void send_management(unsigned source, const Address &peer, std::span<const std::uint8_t, mad_size> mad);

	/** A send work request has been put at sq.tail - 1: it goes out with the next progress(). */
	void posted(QueuePair &qp) { mark_dirty(qp); }
	/** A receive has been posted to a free list. */
	int post_free_list(SharedReceiveQueue &srq, std::uint64_t wr_id, const Sge &entry);
	/** The event of @p srq, if its limit is armed and it has fewer entries. */
	void report_limit(SharedReceiveQueue &srq);
	/** Entries of @p srq that an ALLOCATE could get now. */
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
	/** Whoever stands in line on @p path sends, as far as there is room now. */
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
	void receive_answer(QueuePair &qp, const prism_bth &bth, std::span<const std::uint8_t> packet, Time now);
	void receive_management(const Route &route, const prism_bth &bth, std::span<const std::uint8_t> packet);

	/* Grace periods (S.7) */
	[[nodiscard]] RequestEpoch oldest_stream() const;
	void advance(SharedReceiveQueue &srq);
	/** The application's memory, behind a key that allows it; false, and counted, if it has been unmapped. */
	[[nodiscard]] bool load(void *to, const void *from, std::size_t length);
	[[nodiscard]] bool store(void *to, const void *from, std::size_t length);
	[[nodiscard]] bool intact(bool done);
	prism_pop pop_buffer(const QueuePair &qp, std::uint32_t number, std::uint32_t length, prism_buffer &buffer);
	/** Where an entry lies, if it may be used so; null: nowhere. */
	[[nodiscard]] const std::uint8_t *memory_of(
		const SharedReceiveQueue &srq, const Sge &entry, std::uint32_t rights) const;
	void reject(SharedReceiveQueue &srq, std::uint64_t wr_id, const Sge &entry);
	void give_back(const prism_buffer &buffer);

	[[no_unique_address]] SerialCalls calls_;
	ProtocolCounters own_counters_;             /* unless they are shared */
	std::unique_ptr<RequestEpochs> own_epochs_; /* likewise */
	Bundler sink_;
	EventListener &listener_;
	const std::uint32_t first_qpn_;
	std::vector<QueuePair *> qps_;
	std::vector<std::uint16_t> qpn_order_; /* in which the numbers are given out */
	std::uint32_t next_qpn_ = 0;
	std::unordered_map<std::uint32_t, SharedReceiveQueue *> srqs_;
	std::uint32_t next_srqn_ = 1;
	struct Member {
		Address group;
		QueuePair *qp;
		bool operator==(const Member &) const = default;
	};
	std::vector<Member> members_; /* few */
	std::vector<QueuePair *> dirty_;
	const std::uint32_t receive_room_;
	std::map<Address, std::weak_ptr<Path>> paths_;
	/* READ responses are sent in turn, so many bytes in each round of receive() and progress(). */
	static constexpr std::int32_t read_room = 256 << 10;
	std::int32_t read_room_ = read_room;
	std::list<QueuePair *> streams_; /* the next first; of places that the queue pairs bring along */
	static constexpr std::size_t max_timers_a_qp = 4;
	std::vector<Timer> timers_; /* a heap, the earliest first */
	/* Answers that fill a good part of a train are worth sending at once. */
	static constexpr std::uint32_t company = 16;
	bool expects_more_ = false;
	bool unbundles_ = false;    /* what is being received is an entry */
	std::uint32_t answers_ = 0; /* since the last progress() */
	RunningRequests running_;
	std::uint32_t gsi_psn_ = 0;
};

} // namespace prism::soft
