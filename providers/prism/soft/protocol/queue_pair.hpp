/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue pair of type RC, UC or UD: the state of both halves of the protocol, without behaviour. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <infiniband/verbs.h>

#include "../../verbs/capability.hpp"
#include "../../verbs/work_request.hpp"
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

/** Destination of a datagram. A copy: the address handle may be destroyed before the datagram leaves. */
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
	bool unmapped = false; /* its local memory was unmapped */
	bool done = false;     /* a local operation that waits for its turn to complete */
	bool latched = false;  /* PRISM READ: resolution and read_length are those of its first packet */
	std::uint32_t first_psn = 0;
	std::uint32_t psns = 0;
	std::uint32_t sent = 0;   /* PSNs sent or requested since the last rewind, from the first */
	std::uint32_t acked = 0;  /* PSNs answered, from the first; of a PRISM READ those of the latched resolution */
	std::uint32_t flight = 0; /* payload bytes under way for it, in either direction */
	std::uint32_t slots = 0;  /* slots of max_rd_atomic that it holds */
	std::uint32_t resolution = 0;
	std::uint32_t read_length = 0;
	std::uint32_t reached = 0; /* PRISM READ: the most packets that one resolution has brought */
	bool addressed = false;
	Destination to; /* of a datagram, if addressed */
};

/** Ring of send work requests. A slot's sges, inline data and CAS operands lie in an arena beside it. */
class SendQueue
{
public:
	SendQueue(std::uint32_t max_wr, std::uint32_t max_sge, std::uint32_t max_inline, bool prism);

	[[nodiscard]] std::uint32_t room() const { return max_wr - (tail - head); }
	[[nodiscard]] bool empty() const { return tail == head; }
	/** Returns true if nothing is under way: waiting requests have not begun. */
	[[nodiscard]] bool idle() { return empty() || !at(head).started; }
	SendRequest &at(std::uint32_t index) { return slots_[index & mask_]; }

	/** Return the slot's sges, inline bytes or operands. */
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

/** Attributes set by ibv_modify_qp, in the units of the protocol. */
struct QpAttributes {
	std::uint32_t mtu = 1024; /* bytes */
	std::uint32_t dest_qpn = 0;
	Address peer;
	std::uint16_t peer_port = 0; /* source port of a peer on this host; 0: any, as for other hosts */
	unsigned source = 0;         /* index of our own address in the GID table */
	bool peer_is_ours = false;   /* runs this implementation: on loopback there is no other */
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
	Time waited = 0;                          /* in vain for a sign of the peer, since the last progress */
	std::uint64_t answers_seen = 0;           /* of the path, when the timer began or was extended */
	std::uint8_t extensions = 0;              /* of the timer, in a row */
	bool rewound = false; /* since unacked last moved: further signs of the same loss are stale */
	bool heard = false;   /* the packet being received is a sign of the peer */
	PathShare share;
	Time wait_until = 0; /* sends nothing until then: the peer is not ready, or has had a burst */
	Time burst_began = 0;
	std::uint32_t burst_packets = 0; /* UC and UD: since then */
	std::uint32_t burst_bytes = 0;

	/** Returns true if the peer may be gone: one packet at a time is sent to find out. */
	[[nodiscard]] bool silent() const { return waited != 0; }
};

/** Memory that a READ with data reads, after following its pointer; a standard READ has no number. */
struct Resolution {
	std::uint32_t number = 0;
	std::uint32_t rkey = 0;
	std::uint64_t va = 0;
	std::uint32_t length = 0;
	std::uint64_t handed_out = 0; /* buffers of the free lists handed out when last known good */
};

/** The answer to an executed request, kept for its duplicates. */
struct SavedResponse {
	std::uint32_t psn = 0; /* PSN of the response */
	bool valid = false;
	bool atomic = false;    /* standard atomic: response.value is the old word */
	bool word = false;      /* atomic write: there is no old value to answer */
	bool reads = false;     /* a PRISM READ with data and status OK: read is sent again */
	bool followed = false;  /* a conditional request has run because this READ succeeded */
	std::uint32_t psns = 1; /* of a READ with data, from psn on */
	Resolution read;
	prism_response response{};
};

/** A READ whose response packets are being sent. */
struct ReadStream {
	bool active = false;
	bool prism = false;
	bool duplicate = false; /* repeated: a fault then is no error of this QP */
	bool resumed = false;   /* continues an earlier resolution: valid until a buffer in it is handed out */
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
	std::uint64_t va = 0; /* WRITE: address of the next byte */
	std::uint32_t rkey = 0;
	std::uint32_t remaining = 0;
	std::uint32_t received = 0;
};

/** Request packet held until the READ before it is answered. */
struct HeldPacket {
	std::vector<std::uint8_t> bytes;
	bool counts; /* the first packet of a READ, atomic or PRISM request, and no duplicate */
	bool excess; /* exceeds max_dest_rd_atomic */
};

/** An answer that is sent before the next packet. */
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
	std::optional<LateAnswer> late; /* waits like the acknowledgement, which is then pending */
	bool chain_ok = true;
	std::uint32_t resolution = 0;
	std::uint32_t next_saved = 0;
	std::vector<SavedResponse> saved; /* max_dest_rd_atomic of them */
	IncomingMessage message;
	prism_message prism{};
	ReadStream stream;
	std::list<HeldPacket> held; /* a list, as an empty one takes no memory: a reset must not fail */
	std::size_t held_bytes = 0;
	std::uint32_t held_requests = 0; /* those with counts among them */
	std::uint32_t held_psn = 0;      /* PSN of the next packet to hold */
	bool held_gap = false;           /* a packet before held_lost came and is not held */
	std::uint32_t held_lost = 0;
	std::list<std::vector<std::uint8_t>> put_off; /* repeated READ requests that wait for their turn */
	bool excess = false;                          /* true if the packet being executed is in excess */
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

	/** Returns the number of packets from the oldest without an answer to the last requested one, responses
	 * included. */
	std::int32_t packets_under_way();

	const std::uint32_t qpn;
	const ibv_qp_type type;
	const std::uint32_t pd;
	const bool prism; /* created by prismdv_create_qp */
	ibv_qp_state state = IBV_QPS_RESET;
	bool sq_signal_all = false;
	std::uint64_t peer_features = 0; /* 0: the peer has not been declared capable */
	bool heard_bundle = false;       /* the peer thus takes bundled answers, whatever was declared */
	CompletionQueue *send_cq = nullptr;
	CompletionQueue *recv_cq = nullptr;
	SharedReceiveQueue *srq = nullptr;
	void *owner = nullptr; /* the verbs object */

	QpAttributes attr;
	SendQueue sq;
	ReceiveQueue rq;
	RequesterState req;
	std::shared_ptr<Path> path; /* shared with others; set once it has sent */
	ResponderState resp;
	std::vector<Sge> receive_sges; /* of the receive being filled; copied, as an SRQ may reuse its slot */

	/* Node for the engine's list of streams. It is here while the queue pair answers no READ, so that starting
	 * to answer allocates nothing. */
	std::list<QueuePair *> place;

	/** Returns true if packets to the peer may travel in a bundle with this opcode (W.12.3). */
	[[nodiscard]] bool bundles(std::uint8_t opcode) const
	{
		return (peer_features & peer_bundles) || (heard_bundle && opcode == PRISM_OP_BUNDLE_RESPONSE);
	}

	/** Returns true in SQD when all requests that had begun are complete (IBTA 10.3.1.4). */
	bool drained() { return state == IBV_QPS_SQD && sq.idle(); }

	Time deadline = 0;           /* retransmission or RNR timer; 0: none */
	Time queued_deadline = 0;    /* deadline that the engine's heap holds for it */
	bool notify_drained = false; /* an event is due once it is drained */
	bool dirty = false;          /* in the engine's list of QPs with something to send */
};

} // namespace prism::soft
