/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM packets: opcodes, header layouts, encoding and checking.
 * Specification: docs/wire-protocol.md.
 */
#ifndef PRISM_WIRE_H
#define PRISM_WIRE_H

#include "prism_platform.h"

/* Protocol versions: 2 is 1 with bundles (prism_bundle.h) */
#define PRISM_LOWEST_VERSION	1
#define PRISM_PROTOCOL_VERSION	2

/* Base Transport Header (IBTA 9.2) */
#define PRISM_BTH_SIZE		12
#define PRISM_BTH_SE		0x80
#define PRISM_BTH_MIG		0x40
#define PRISM_BTH_ACK_REQ	0x80
#define PRISM_PSN_MASK		0xffffffu
#define PRISM_QPN_MASK		0xffffffu
#define PRISM_DEFAULT_PKEY	0xffff

struct prism_bth {
	u8 opcode;
	u8 pad;
	bool solicited;
	bool ack_req;
	u8 flags;		/* PRISM_FLAG_*, 0 on standard packets */
	u32 qpn;
	u32 psn;
};

/* The five flags, at their places in byte 8 of the BTH */
#define PRISM_FLAG_T		0x40	/* target is indirect */
#define PRISM_FLAG_D		0x20	/* data is indirect */
#define PRISM_FLAG_B		0x10	/* bounded */
#define PRISM_FLAG_C		0x08	/* conditional */
#define PRISM_FLAG_R		0x04	/* redirect */
#define PRISM_FLAG_MASK		0x7c

/* Opcodes in the manufacturer-specific range */
enum prism_opcode {
	PRISM_OP_READ_REQUEST		= 0xc0,
	PRISM_OP_WRITE_FIRST		= 0xc1,
	PRISM_OP_WRITE_MIDDLE		= 0xc2,
	PRISM_OP_WRITE_LAST		= 0xc3,
	PRISM_OP_WRITE_ONLY		= 0xc4,
	PRISM_OP_CAS			= 0xc5,
	PRISM_OP_ALLOCATE_FIRST		= 0xc6,
	PRISM_OP_ALLOCATE_MIDDLE	= 0xc7,
	PRISM_OP_ALLOCATE_LAST		= 0xc8,
	PRISM_OP_ALLOCATE_ONLY		= 0xc9,
	PRISM_OP_BUNDLE			= 0xca,
	PRISM_OP_READ_RESPONSE_FIRST	= 0xd0,
	PRISM_OP_READ_RESPONSE_MIDDLE	= 0xd1,
	PRISM_OP_READ_RESPONSE_LAST	= 0xd2,
	PRISM_OP_READ_RESPONSE_ONLY	= 0xd3,
	PRISM_OP_RESPONSE		= 0xd4,
	PRISM_OP_BUNDLE_RESPONSE	= 0xd5,
};

/* Extended headers */
#define PRISM_RETH_SIZE		16
#define PRISM_AUXETH_SIZE	12
#define PRISM_CASETH_SIZE	16
#define PRISM_ALETH_SIZE	12
#define PRISM_AETH_SIZE		4
#define PRISM_RSPETH_SIZE	12
#define PRISM_RDETH_SIZE	8
#define PRISM_RESULT_SIZE	32
#define PRISM_MAX_CAS		32

/* Sizes of response packets without the ICRC */
#define PRISM_RESPONSE_SIZE	(PRISM_BTH_SIZE + PRISM_AETH_SIZE + PRISM_RSPETH_SIZE + PRISM_RESULT_SIZE)
#define PRISM_READ_RESPONSE_HEADER (PRISM_BTH_SIZE + PRISM_AETH_SIZE + PRISM_RDETH_SIZE)

/* The largest request header: BTH, CASETH, AUXETH and four operands of 32 bytes */
#define PRISM_MAX_REQUEST_HEADER \
	(PRISM_BTH_SIZE + PRISM_CASETH_SIZE + PRISM_AUXETH_SIZE + 4 * PRISM_MAX_CAS)

#define PRISM_CAS_COMPARE_DATA	0x01	/* CASETH flag: the compare operand comes from aux too */

enum prism_op {
	PRISM_READ,
	PRISM_WRITE,
	PRISM_CAS,
	PRISM_ALLOCATE,
};

enum prism_cas_mode {
	PRISM_CAS_EQ,
	PRISM_CAS_GT,
	PRISM_CAS_LT,
};

enum prism_status {
	PRISM_STATUS_OK,
	PRISM_STATUS_CAS_MISS,
	PRISM_STATUS_NULL_POINTER,
	PRISM_STATUS_NO_BUFFER,
	PRISM_STATUS_SKIPPED,
};

/* Reason for refusing a packet before any of it is executed */
enum prism_reject {
	PRISM_ACCEPT,
	PRISM_BAD_OPCODE,
	PRISM_BAD_FORMAT,	/* lengths, or the order of packets */
	PRISM_BAD_FLAGS,
	PRISM_BAD_OPERAND,	/* CAS mode, flags or operand length */
	PRISM_BAD_ALIGNMENT,
};

/* A decoded request packet. Pointers point into the packet. */
struct prism_request {
	u8 op;			/* enum prism_op */
	u8 flags;		/* PRISM_FLAG_* */
	bool first;		/* carries the parameters below */
	bool last;		/* is answered */
	u8 cas_mode;
	u8 cas_flags;
	u8 cas_size;		/* bytes of each operand */
	u32 rkey;
	u64 va;
	u64 aux_va;
	u32 aux_rkey;
	u32 free_list;
	u32 length;		/* total, of all packets of the message */
	u32 tag;
	const u8 *operands;	/* compare, swap, compare mask, swap mask */
	const u8 *payload;
	u32 payload_length;
};

struct prism_response {
	u8 status;		/* enum prism_status */
	u64 value;
	u8 result[PRISM_RESULT_SIZE];
};

void prism_bth_encode(u8 *packet, const struct prism_bth *bth);
void prism_bth_decode(const u8 *packet, struct prism_bth *bth);

/* False for bundles: their entries are requests or responses. */
bool prism_opcode_is_request(u8 opcode);
bool prism_opcode_is_response(u8 opcode);

/* Returns true if @op may carry @flags (docs/semantics.md S.3). */
bool prism_flags_legal(enum prism_op op, u8 flags);

/*
 * Checks the rules of a request that need its headers alone and hold for packets and work requests: flags, operands,
 * lengths, alignment of the addresses that the request itself names. @mtu and @max_indirect are in bytes.
 */
enum prism_reject prism_request_check(const struct prism_request *request, u32 mtu, u32 max_indirect);

/* Returns the bytes of BTH and extended headers (with CAS operands) in front of the payload of this packet. */
u32 prism_request_header_size(const struct prism_request *request);

/* Writes the extended headers behind the BTH; the caller writes the payload. */
void prism_request_encode(u8 *packet, const struct prism_request *request);

/* Returns the opcode for a packet of @request. */
u8 prism_request_opcode(const struct prism_request *request);

/*
 * Decodes and checks one request packet of @size bytes (BTH to pad, no ICRC). The caller checks its position within the
 * message, and everything that needs memory.
 */
enum prism_reject prism_request_decode(const u8 *packet, u32 size, u32 mtu, u32 max_indirect,
				       struct prism_request *request);

/* Returns the PSNs that a request takes: for a data-returning READ those of its response packets, else its own. */
u32 prism_request_psns(const struct prism_request *request, u32 mtu);

void prism_aeth_encode(u8 *aeth, u8 syndrome, u32 msn);

/* Encode and decode the part of PRISM_OP_RESPONSE after BTH and AETH. */
void prism_response_encode(u8 *packet, const struct prism_response *response);
bool prism_response_decode(const u8 *packet, u32 size, struct prism_response *response);

/* Returns true if @request could have ended with this short response. We believe nothing else of a peer. */
bool prism_response_fits(const struct prism_request *request, const struct prism_response *response);

/* Returns true if it could have moved @length bytes. Only a bounded request moves fewer than requested. */
bool prism_length_fits(const struct prism_request *request, u64 length);

/* Returns the length for the completion of @request. */
u32 prism_response_length(const struct prism_request *request, const struct prism_response *response);

#endif /* PRISM_WIRE_H */
