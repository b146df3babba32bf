// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Encoding, decoding and checking of PRISM packets: docs/wire-protocol.md. */
#include "prism_wire.h"

void prism_bth_encode(u8 *packet, const struct prism_bth *bth)
{
	packet[0] = bth->opcode;
	packet[1] = (bth->solicited ? PRISM_BTH_SE : 0) | PRISM_BTH_MIG | (bth->pad & 3) << 4;
	packet[2] = PRISM_DEFAULT_PKEY >> 8;
	packet[3] = PRISM_DEFAULT_PKEY & 0xff;
	put_unaligned_be32(bth->qpn & PRISM_QPN_MASK, packet + 4);
	put_unaligned_be32(bth->psn & PRISM_PSN_MASK, packet + 8);
	packet[8] = (bth->ack_req ? PRISM_BTH_ACK_REQ : 0) | (bth->flags & PRISM_FLAG_MASK);
}

void prism_bth_decode(const u8 *packet, struct prism_bth *bth)
{
	bth->opcode = packet[0];
	bth->solicited = packet[1] & PRISM_BTH_SE;
	bth->pad = packet[1] >> 4 & 3;
	bth->qpn = get_unaligned_be32(packet + 4) & PRISM_QPN_MASK;
	bth->ack_req = packet[8] & PRISM_BTH_ACK_REQ;
	bth->flags = packet[8] & PRISM_FLAG_MASK;
	bth->psn = get_unaligned_be32(packet + 8) & PRISM_PSN_MASK;
}

bool prism_opcode_is_request(u8 opcode)
{
	return opcode >= PRISM_OP_READ_REQUEST && opcode <= PRISM_OP_ALLOCATE_ONLY;
}

bool prism_opcode_is_response(u8 opcode)
{
	return opcode >= PRISM_OP_READ_RESPONSE_FIRST && opcode <= PRISM_OP_RESPONSE;
}

bool prism_flags_legal(enum prism_op op, u8 flags)
{
	static const u8 takes[] = {
		[PRISM_READ] = PRISM_FLAG_T | PRISM_FLAG_B | PRISM_FLAG_C | PRISM_FLAG_R,
		[PRISM_WRITE] = PRISM_FLAG_T | PRISM_FLAG_B | PRISM_FLAG_C | PRISM_FLAG_D,
		[PRISM_CAS] = PRISM_FLAG_T | PRISM_FLAG_C | PRISM_FLAG_D,
		[PRISM_ALLOCATE] = PRISM_FLAG_B | PRISM_FLAG_C | PRISM_FLAG_R,
	};
	const u8 bounds = op == PRISM_ALLOCATE ? PRISM_FLAG_R : PRISM_FLAG_T;

	if (flags & ~takes[op])
		return false;
	return !(flags & PRISM_FLAG_B) || (flags & bounds);
}

static enum prism_reject check_cas(const struct prism_request *req)
{
	if (req->cas_size != 8 && req->cas_size != 16 && req->cas_size != 32)
		return PRISM_BAD_OPERAND;
	if (req->cas_mode > PRISM_CAS_LT)
		return PRISM_BAD_OPERAND;
	if ((req->cas_flags & PRISM_CAS_COMPARE_DATA) && !(req->flags & PRISM_FLAG_D))
		return PRISM_BAD_OPERAND;
	return PRISM_ACCEPT;
}

static enum prism_reject check_alignment(const struct prism_request *req)
{
	const u32 pointer = req->flags & PRISM_FLAG_B ? 16 : 8;
	u32 align = 1;

	if (req->flags & PRISM_FLAG_T)
		align = pointer;
	else if (req->op == PRISM_CAS)
		align = req->cas_size;
	if (req->va & (align - 1))
		return PRISM_BAD_ALIGNMENT;
	if (req->op == PRISM_ALLOCATE && (req->flags & PRISM_FLAG_R) && (req->aux_va & (pointer - 1)))
		return PRISM_BAD_ALIGNMENT;
	return PRISM_ACCEPT;
}

static bool length_legal(const struct prism_request *req, u32 mtu, u32 max_indirect)
{
	if (req->op == PRISM_READ)
		return req->length <= max_indirect;
	if (req->op != PRISM_WRITE)
		return true;
	/* No resolved pointer is held while waiting for a peer, so an indirect target takes a single packet. */
	if (req->flags & PRISM_FLAG_T)
		return req->length <= mtu;
	return !(req->flags & PRISM_FLAG_D) || req->length <= max_indirect;
}

static enum prism_reject check_range(const struct prism_request *req, u32 mtu, u32 max_indirect)
{
	return length_legal(req, mtu, max_indirect) ? check_alignment(req) : PRISM_BAD_FORMAT;
}

enum prism_reject prism_request_check(const struct prism_request *req, u32 mtu, u32 max_indirect)
{
	enum prism_reject reject = PRISM_ACCEPT;

	if (!prism_flags_legal(req->op, req->flags))
		return PRISM_BAD_FLAGS;
	if (req->op == PRISM_CAS)
		reject = check_cas(req);
	return reject ? reject : check_range(req, mtu, max_indirect);
}

static bool has_aux(const struct prism_request *req)
{
	return req->flags & (req->op == PRISM_READ || req->op == PRISM_ALLOCATE ? PRISM_FLAG_R : PRISM_FLAG_D);
}

u32 prism_request_header_size(const struct prism_request *req)
{
	static const u8 base[] = {
		[PRISM_READ] = PRISM_RETH_SIZE,
		[PRISM_WRITE] = PRISM_RETH_SIZE,
		[PRISM_CAS] = PRISM_CASETH_SIZE,
		[PRISM_ALLOCATE] = PRISM_ALETH_SIZE,
	};

	if (!req->first)
		return PRISM_BTH_SIZE;
	return PRISM_BTH_SIZE + base[req->op] + (has_aux(req) ? PRISM_AUXETH_SIZE : 0) +
	       (req->op == PRISM_CAS ? 4 * req->cas_size : 0);
}

static u8 *encode_target(u8 *p, const struct prism_request *req)
{
	put_unaligned_be64(req->va, p);
	put_unaligned_be32(req->rkey, p + 8);
	if (req->op == PRISM_CAS) {
		p[12] = req->cas_mode;
		p[13] = req->cas_flags;
		p[14] = req->cas_size;
		p[15] = 0;
	} else {
		put_unaligned_be32(req->length, p + 12);
	}
	return p + PRISM_RETH_SIZE;
}

static u8 *encode_allocate(u8 *p, const struct prism_request *req)
{
	put_unaligned_be32(req->free_list & PRISM_QPN_MASK, p);
	put_unaligned_be32(req->length, p + 4);
	put_unaligned_be32(req->tag, p + 8);
	return p + PRISM_ALETH_SIZE;
}

void prism_request_encode(u8 *packet, const struct prism_request *req)
{
	u8 *p = packet + PRISM_BTH_SIZE;

	if (!req->first)
		return;
	p = req->op == PRISM_ALLOCATE ? encode_allocate(p, req) : encode_target(p, req);
	if (has_aux(req)) {
		put_unaligned_be64(req->aux_va, p);
		put_unaligned_be32(req->aux_rkey, p + 8);
		p += PRISM_AUXETH_SIZE;
	}
	if (req->op == PRISM_CAS)
		memcpy(p, req->operands, 4 * req->cas_size);
}

/* Which operation, and which place in the message, an opcode stands for */
static const struct {
	u8 op;
	bool first;
	bool last;
} requests[] = {
	[PRISM_OP_READ_REQUEST - PRISM_OP_READ_REQUEST] = { PRISM_READ, true, true },
	[PRISM_OP_WRITE_FIRST - PRISM_OP_READ_REQUEST] = { PRISM_WRITE, true, false },
	[PRISM_OP_WRITE_MIDDLE - PRISM_OP_READ_REQUEST] = { PRISM_WRITE, false, false },
	[PRISM_OP_WRITE_LAST - PRISM_OP_READ_REQUEST] = { PRISM_WRITE, false, true },
	[PRISM_OP_WRITE_ONLY - PRISM_OP_READ_REQUEST] = { PRISM_WRITE, true, true },
	[PRISM_OP_CAS - PRISM_OP_READ_REQUEST] = { PRISM_CAS, true, true },
	[PRISM_OP_ALLOCATE_FIRST - PRISM_OP_READ_REQUEST] = { PRISM_ALLOCATE, true, false },
	[PRISM_OP_ALLOCATE_MIDDLE - PRISM_OP_READ_REQUEST] = { PRISM_ALLOCATE, false, false },
	[PRISM_OP_ALLOCATE_LAST - PRISM_OP_READ_REQUEST] = { PRISM_ALLOCATE, false, true },
	[PRISM_OP_ALLOCATE_ONLY - PRISM_OP_READ_REQUEST] = { PRISM_ALLOCATE, true, true },
};

u8 prism_request_opcode(const struct prism_request *req)
{
	/* For each operation of several packets the order is FIRST, MIDDLE, LAST, ONLY. */
	const u8 place = req->first ? (req->last ? 3 : 0) : (req->last ? 2 : 1);

	switch (req->op) {
	case PRISM_READ:
		return PRISM_OP_READ_REQUEST;
	case PRISM_CAS:
		return PRISM_OP_CAS;
	case PRISM_WRITE:
		return PRISM_OP_WRITE_FIRST + place;
	default:
		return PRISM_OP_ALLOCATE_FIRST + place;
	}
}

static const u8 *decode_target(const u8 *p, struct prism_request *req)
{
	req->va = get_unaligned_be64(p);
	req->rkey = get_unaligned_be32(p + 8);
	if (req->op == PRISM_CAS) {
		req->cas_mode = p[12];
		req->cas_flags = p[13] & PRISM_CAS_COMPARE_DATA;
		req->cas_size = p[14];
	} else {
		req->length = get_unaligned_be32(p + 12);
	}
	return p + PRISM_RETH_SIZE;
}

static const u8 *decode_allocate(const u8 *p, struct prism_request *req)
{
	req->free_list = get_unaligned_be32(p) & PRISM_QPN_MASK;
	req->length = get_unaligned_be32(p + 4);
	req->tag = get_unaligned_be32(p + 8);
	return p + PRISM_ALETH_SIZE;
}

static void decode_parameters(const u8 *packet, struct prism_request *req)
{
	const u8 *p = packet + PRISM_BTH_SIZE;

	p = req->op == PRISM_ALLOCATE ? decode_allocate(p, req) : decode_target(p, req);
	if (has_aux(req)) {
		req->aux_va = get_unaligned_be64(p);
		req->aux_rkey = get_unaligned_be32(p + 8);
		p += PRISM_AUXETH_SIZE;
	}
	req->operands = p;
}

static bool payload_legal(const struct prism_request *req, u32 mtu)
{
	const u32 n = req->payload_length;

	if (req->op == PRISM_READ || req->op == PRISM_CAS || (req->flags & PRISM_FLAG_D))
		return n == 0 && req->first && req->last;
	if (req->op == PRISM_WRITE && (req->flags & PRISM_FLAG_T) && !(req->first && req->last))
		return false;
	if (!req->last)
		return n == mtu;
	if (n > mtu)
		return false;
	return req->first ? n == req->length : n > 0;
}

enum prism_reject prism_request_decode(const u8 *packet, u32 size, u32 mtu, u32 max_indirect,
				       struct prism_request *req)
{
	enum prism_reject reject;
	struct prism_bth bth;
	u32 header;

	if (size < PRISM_BTH_SIZE)
		return PRISM_BAD_FORMAT;
	prism_bth_decode(packet, &bth);
	if (!prism_opcode_is_request(bth.opcode))
		return PRISM_BAD_OPCODE;
	memset(req, 0, sizeof(*req));
	req->op = requests[bth.opcode - PRISM_OP_READ_REQUEST].op;
	req->first = requests[bth.opcode - PRISM_OP_READ_REQUEST].first;
	req->last = requests[bth.opcode - PRISM_OP_READ_REQUEST].last;
	req->flags = bth.flags;
	if (!prism_flags_legal(req->op, req->flags))
		return PRISM_BAD_FLAGS;

	/* The size of a CAS depends on its operand length, which is read only from within the packet. */
	header = prism_request_header_size(req);
	if (size < header)
		return PRISM_BAD_FORMAT;
	if (req->first)
		decode_parameters(packet, req);
	if (req->op == PRISM_CAS) {
		reject = check_cas(req);
		if (reject)
			return reject;
		header = prism_request_header_size(req);
	}
	if (size < header + bth.pad || (size & 3))
		return PRISM_BAD_FORMAT;
	req->payload = packet + header;
	req->payload_length = size - header - bth.pad;
	if (!payload_legal(req, mtu))
		return PRISM_BAD_FORMAT;
	return req->first ? check_range(req, mtu, max_indirect) : PRISM_ACCEPT;
}

u32 prism_request_psns(const struct prism_request *req, u32 mtu)
{
	if (req->op != PRISM_READ || (req->flags & PRISM_FLAG_R) || req->length == 0)
		return 1;
	return (req->length - 1) / mtu + 1;
}

void prism_aeth_encode(u8 *aeth, u8 syndrome, u32 msn)
{
	put_unaligned_be32((u32)syndrome << 24 | (msn & PRISM_PSN_MASK), aeth);
}

void prism_response_encode(u8 *packet, const struct prism_response *response)
{
	u8 *p = packet + PRISM_BTH_SIZE + PRISM_AETH_SIZE;

	put_unaligned_be32((u32)response->status << 24, p);
	put_unaligned_be64(response->value, p + 4);
	memcpy(p + PRISM_RSPETH_SIZE, response->result, PRISM_RESULT_SIZE);
}

bool prism_response_decode(const u8 *packet, u32 size, struct prism_response *response)
{
	const u8 *p = packet + PRISM_BTH_SIZE + PRISM_AETH_SIZE;

	if (size != PRISM_RESPONSE_SIZE)
		return false;
	response->status = p[0];
	response->value = get_unaligned_be64(p + 4);
	memcpy(response->result, p + PRISM_RSPETH_SIZE, PRISM_RESULT_SIZE);
	return response->status <= PRISM_STATUS_SKIPPED;
}

bool prism_length_fits(const struct prism_request *req, u64 length)
{
	return req->flags & PRISM_FLAG_B ? length <= req->length : length == req->length;
}

bool prism_response_fits(const struct prism_request *req, const struct prism_response *response)
{
	const bool moves = req->op == PRISM_READ || req->op == PRISM_WRITE;

	switch (response->status) {
	case PRISM_STATUS_OK:
		if (req->op == PRISM_READ && !(req->flags & PRISM_FLAG_R))
			return false; /* its answer brings data */
		return !moves || prism_length_fits(req, response->value);
	case PRISM_STATUS_CAS_MISS:
		return req->op == PRISM_CAS;
	case PRISM_STATUS_NULL_POINTER:
		return req->flags & PRISM_FLAG_T;
	case PRISM_STATUS_NO_BUFFER:
		return req->op == PRISM_ALLOCATE;
	default:
		return req->flags & PRISM_FLAG_C;
	}
}

u32 prism_response_length(const struct prism_request *req, const struct prism_response *response)
{
	if (response->status != PRISM_STATUS_OK && response->status != PRISM_STATUS_CAS_MISS)
		return 0;
	switch (req->op) {
	case PRISM_CAS:
		return req->cas_size;
	case PRISM_ALLOCATE:
		return sizeof(u64);
	default:
		return response->value;
	}
}
