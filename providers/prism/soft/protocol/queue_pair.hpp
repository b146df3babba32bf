/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue pair of type RC, UC or UD: what both halves of the protocol keep. No behaviour here. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <infiniband/verbs.h>

#include "../../capability.hpp"
#include "../../work_request.hpp"
#include "../net/packet.hpp"
#include "completion_queue.hpp"
#include "path.hpp"
#include "receive_queue.hpp"
#include "running_requests.hpp"
#include "standard_wire.hpp"

extern "C" {
#include "prism_exec.h"
}

namespace prism::soft
{

using prism::SendKind;
using prism::Tail;

/** Whom a datagram goes to. A copy: the address handle may be destroyed before the datagram leaves. */
struct Destination {
	Destination() {} // NOLINT(modernize-use-equals-default): written when the address is set, and only then
	Address peer;
	unsigned source; /* index of our own address in the GID table */
	std::uint32_t qpn;
	std::uint32_t qkey;
};

/** A send work request in its slot of the send queue. */
struct SendRequest : WorkRequest {
	bool started = false;  /* has PSNs */
	bool unmapped = false; /* its local memory was not there */
	bool done = false;     /* a local operation that waits for its turn to complete */
	bool latched = false;  /* PRISM READ: resolution and read_length are those of its first packet */
	std::uint32_t first_psn = 0;
	std::uint32_t psns = 0;
	std::uint32_t sent = 0;   /* PSNs asked for since the last rewind, from the first */
	std::uint32_t acked = 0;  /* PSNs answered, from the first; of a PRISM READ those of the latched resolution */
	std::uint32_t flight = 0; /* payload bytes under way for it, in either direction */
	std::uint32_t slots = 0;  /* of max_rd_atomic that it holds */
	std::uint32_t resolution = 0;
	std::uint32_t read_length = 0;
	std::uint32_t reached = 0; /* PRISM READ: the most packets that one resolution has brought so far */
	bool addressed = false;
	Destination to; /* of a datagram, if addressed */
};

/** The ring of send work requests. A slot's sges, inline data and CAS operands lie in an arena beside it. */
class SendQueue
{
public:
	SendQueue(std::uint32_t max_wr, std::uint32_t max_sge, std::uint32_t max_inline, bool prism);

	[[nodiscard]] std::uint32_t room() const { return max_wr - (tail - head); }
	[[nodiscard]] bool empty() const { return tail == head; }
	/** Nothing is under way: what waits has not begun. */
	[[nodiscard]] bool idle() { return empty() || !at(head).started; }
	SendRequest &at(std::uint32_t index) { return slots_[index & mask_]; }

	/** The slot's sges, or inline bytes. */
	std::span<Sge> sges(const SendRequest &wr);
	std::span<std::byte> inline_bytes(const SendRequest &wr);
	std::uint8_t *operands(const SendRequest &wr);

	const std::uint32_t max_wr;
	const std::uint32_t max_sge;
	const std::uint32_t max_inline;
	std::uint32_t head = 0;   /* oldest not completed */
	std::uint32_t cursor = 0; /* next to transmit */
	std::uint32_t tail = 0;   /* next to post */

private:
	std::byte *data(const SendRequest &wr);

	std::uint32_t mask_;
	std::size_t stride_;
	std::size_t operands_offset_;
	std::vector<SendRequest> slots_;
	std::vector<std::byte> arena_;
};

/** Attributes set by ibv_modify_qp, in the units that the protocol works in. */
struct QpAttributes {
	std::uint32_t mtu = 1024; /* bytes */
	std::uint32_t dest_qpn = 0;
	Address peer;
	std::uint16_t peer_port = 0; /* from which a peer on this host sends; 0: any, as it is elsewhere */
	unsigned source = 0;         /* index of our own address in the GID table */
	bool peer_is_ours = false;   /* on loopback, where there is no other implementation */
	std::uint32_t access = 0;
	std::uint32_t max_rd_atomic = 0;
	std::uint32_t max_dest_rd_atomic = 0;
	Time ack_timeout = 0; /* ns; 0: wait for ever */
	std::uint8_t retry_count = 0;
	std::uint8_t rnr_retry = 0;
	std::uint8_t min_rnr_timer = 0;
	std::uint32_t qkey = 0; /* UD */
};

struct RequesterState {
	std::uint32_t next_psn = 0;    /* of the next work request to start */
	std::uint32_t unacked = 0;     /* oldest PSN not answered */
	std::uint32_t outstanding = 0; /* READ, atomic and PRISM requests under way */
	std::uint32_t flight = 0;      /* sum of the slots' */
	std::uint32_t unrequested_acks = 0;
	std::uint8_t retries = 0;
	std::uint8_t rnr_retries = 0;
	std::optional<std::uint32_t> newest_read; /* the latest resolution that a PRISM READ has completed with */
	Time waited = 0;                          /* for signs of the peer in vain, since there was progress */
	bool rewound = false; /* since unacked last moved: further signs of the same loss are stale */
	PathShare share;
	Time wait_until = 0; /* sends nothing until then: the peer is not ready, or has had a burst */
	Time burst_began = 0;
	std::uint32_t burst_packets = 0; /* UC and UD: since then */
	std::uint32_t burst_bytes = 0;

	/** The peer may be gone: one packet at a time is sent to find out. */
	[[nodiscard]] bool silent() const { return waited != 0; }
};

/** What a READ with data acts on, once its pointer has been followed; of a standard READ no number. */
struct Resolution {
	std::uint32_t number = 0;
	std::uint32_t rkey = 0;
	std::uint64_t va = 0;
	std::uint32_t length = 0;
	std::uint64_t handed_out = 0; /* buffers of the device's free lists, when it was known to be good */
};

/** The answer to an executed request, kept for its duplicates. */
struct SavedResponse {
	std::uint32_t psn = 0; /* at which the response stands */
	bool valid = false;
	bool atomic = false;    /* standard atomic: response.value is the old word */
	bool word = false;      /* atomic write: nothing but that it was done */
	bool reads = false;     /* a PRISM READ with data and status OK: read is sent again */
	bool followed = false;  /* a conditional request has been executed because this READ succeeded */
	std::uint32_t psns = 1; /* of a READ with data, from psn on */
	Resolution read;
	prism_response response{};
};

/** A READ whose response packets are being sent. */
struct ReadStream {
	bool active = false;
	bool prism = false;
	bool duplicate = false; /* asked for again: a fault then is not an error of this QP */
	bool resumed = false;   /* of what was resolved before: good until a buffer in it is handed out */
	bool waited = false;    /* an older READ has had its turn */
	bool stopped = false;   /* the carrier had no room, */
	Time stopped_at = 0;    /* since then */
	Resolution read;
	std::uint32_t offset = 0; /* of the next packet; not 0 at first if the READ is resumed */
	std::uint32_t first_psn = 0;
	std::uint32_t psns = 0;
	RequestEpoch begun = 0; /* when it began (S.7.3) */
	Time next = 0;          /* when its next burst is due */
	Time interval = 0;      /* between bursts; grows when the peer asks again */
};

/** A standard SEND or WRITE of several packets under way. */
struct IncomingMessage {
	bool active = false;
	bool is_send = false;
	std::uint64_t va = 0; /* WRITE: where the next byte goes */
	std::uint32_t rkey = 0;
	std::uint32_t remaining = 0;
	std::uint32_t received = 0;
};

/** A request packet that waits for the READ before it to be answered. */
struct HeldPacket {
	std::vector<std::uint8_t> bytes;
	bool counts; /* the first packet of a READ, atomic or PRISM request, and no duplicate */
	bool excess; /* with it there are more of these than max_dest_rd_atomic */
};

/** An answer that leaves in front of what is sent next. */
struct LateAnswer {
	std::uint32_t psn = 0;
	prism_response response{};
};

struct ResponderState {
	std::uint32_t expected_psn = 0;
	std::uint32_t msn = 0;
	bool nak_sent = false;          /* PSN sequence error, once until the expected packet comes */
	bool ack_pending = false;       /* coalesced until the batch ends */
	bool ack_may_wait = false;      /* one batch longer: the application has a message to answer */
	std::optional<LateAnswer> late; /* it waits as the acknowledgement does, which is pending then */
	bool chain_ok = true;
	std::uint32_t resolution = 0;
	std::uint32_t next_saved = 0;
	std::vector<SavedResponse> saved; /* max_dest_rd_atomic of them */
	IncomingMessage message;
	prism_message prism{};
	ReadStream stream;
	std::list<HeldPacket> held; /* a list, as an empty one takes no memory: a reset must not fail */
	std::size_t held_bytes = 0;
	std::uint32_t held_requests = 0; /* that count among them */
	std::uint32_t held_psn = 0;      /* the next to hold */
	bool held_gap = false;           /* something up to held_lost has come and is not held */
	std::uint32_t held_lost = 0;
	std::list<std::vector<std::uint8_t>> put_off; /* READ requests that were repeated, until it is their turn */
	bool excess = false;                          /* the packet being executed is */
	std::uint64_t receive_wr_id = 0;
	bool receive_taken = false;
	std::uint32_t source_qpn = 0; /* UD: of the datagram being received */
	std::uint8_t packet_type = 0; /* UD: of the datagram being received */
};

struct QueuePair {
	QueuePair(std::uint32_t number, ibv_qp_type service, std::uint32_t domain, bool prism_capable,
		SendQueue send_queue, ReceiveQueue receive_queue)
		: qpn(number), type(service), pd(domain), prism(prism_capable), sq(std::move(send_queue)),
		  rq(std::move(receive_queue))
	{
	}

	/** Packets, those of responses among them, from the oldest without an answer to the last that was asked for. */
	std::int32_t packets_under_way();

	const std::uint32_t qpn;
	const ibv_qp_type type;
	const std::uint32_t pd;
	const bool prism; /* created by prismdv_create_qp */
	ibv_qp_state state = IBV_QPS_RESET;
	bool sq_signal_all = false;
	std::uint64_t peer_features = 0; /* 0: the peer has not been declared capable */
	bool heard_bundle = false;       /* so the peer takes bundled answers, whatever was declared */
	CompletionQueue *send_cq = nullptr;
	CompletionQueue *recv_cq = nullptr;
	SharedReceiveQueue *srq = nullptr;
	void *owner = nullptr; /* the verbs object */

	QpAttributes attr;
	SendQueue sq;
	ReceiveQueue rq;
	RequesterState req;
	std::shared_ptr<Path> path; /* which it has with others, once it has sent */
	ResponderState resp;
	std::vector<Sge> receive_sges; /* of the receive that a SEND is filling: an SRQ's slot may be posted to again */

	/* In the engine's line of READs that are answered; here while this one answers none, so that it needs no memory
	 * then. */
	std::list<QueuePair *> place;

	/** Packets to the peer may travel in a bundle with this opcode (W.12.3). */
	[[nodiscard]] bool bundles(std::uint8_t opcode) const
	{
		return (peer_features & peer_bundles) || (heard_bundle && opcode == PRISM_OP_BUNDLE_RESPONSE);
	}

	/** In SQD: all that had begun is complete (IBTA 10.3.1.4). */
	bool drained() { return state == IBV_QPS_SQD && sq.idle(); }

	Time deadline = 0;           /* retransmission or RNR timer; 0: none */
	Time queued_deadline = 0;    /* what the engine's heap holds for it */
	bool notify_drained = false; /* an event is due once it is drained */
	bool dirty = false;          /* in the engine's list of QPs with something to send */
};

} // namespace prism::soft
