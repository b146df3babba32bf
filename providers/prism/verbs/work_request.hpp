/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A send work request between the application and a device, and the part of posting that concerns PRISM requests alone.
 * Everything is inline: it is the data path of both devices.
 */
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <infiniband/verbs.h>

#include "../prismdv.h"
#include "capability.hpp"

extern "C" {
#include "prism_wire.h"
}

namespace prism
{

/** A struct ibv_sge with defaults. */
struct Sge {
	std::uint64_t addr = 0;
	std::uint32_t length = 0;
	std::uint32_t lkey = 0;
};

enum class SendKind : std::uint8_t {
	send,
	write,
	read,
	atomic,
	prism,
	bind_window,
	local_invalidate,
	atomic_write,
};

/** Field that follows the last packet's headers. */
enum class Tail : std::uint8_t {
	none,
	immediate,
	invalidate
};

struct WindowBinding {
	std::uint32_t key;
	std::uint32_t new_key; /* of which the low byte counts */
	std::uint32_t region_key;
	std::uint32_t access;
	std::uint64_t va;
	std::uint64_t length;
	std::uint32_t qpn; /* 0: window of type 1 */
};

/**
 * The application's request. The device's own request adds the members that it needs to execute it.
 *
 * Members that only some kinds have are written when the kind is set: clearing them for every request would cost more
 * than all the rest.
 */
struct WorkRequest {
	WorkRequest() {} // NOLINT(modernize-use-equals-default): that one zeroes everything

	std::uint64_t wr_id = 0;
	SendKind kind = SendKind::send;
	ibv_wc_opcode wc_opcode = IBV_WC_SEND;
	Tail tail = Tail::none;
	bool signaled = false;
	bool solicited = false;
	bool fence = false;
	bool inline_data = false;
	bool fetch_add = false;
	bool compare_given = false; /* PRISM CAS: the operands that the application gave */
	bool swap_given = false;
	std::uint32_t immediate = 0; /* network order; with Tail::invalidate the rkey in host order */
	std::uint32_t rkey = 0;
	std::uint64_t remote_addr = 0;
	std::uint64_t compare_add = 0;
	std::uint64_t swap = 0;
	std::uint32_t length = 0; /* of the local data */
	std::uint32_t num_sge = 0;
	Sge result;            /* ALLOCATE: where its address goes */
	prism_request prism;   /* kind prism; the operands lie where the send queue says */
	WindowBinding binding; /* kind bind_window */
};

/** Rules of a queue pair for its requests. */
struct PostingRules {
	bool prism;                  /* created by prismdv_create_qp */
	bool signal_all;             /* every request completes visibly */
	bool slots_optional;         /* READs and atomics need no slots: they are flushed, or the QP's type has none */
	std::uint64_t peer_features; /* with peer_declared; 0: not declared */
	std::uint32_t mtu;           /* bytes */
	std::uint32_t max_rd_atomic;
	std::uint32_t qpn;
	ibv_qp_type type;
};

/* Every request ------------------------------------------------------------------------------------------------- */

inline void set_kind(WorkRequest &wr, SendKind kind, ibv_wc_opcode opcode)
{
	wr.kind = kind;
	wr.wc_opcode = opcode;
}

inline void set_target(WorkRequest &wr, std::uint32_t rkey, std::uint64_t remote_addr)
{
	wr.rkey = rkey;
	wr.remote_addr = remote_addr;
}

inline void set_tail(WorkRequest &wr, Tail tail, std::uint32_t value)
{
	wr.tail = tail;
	wr.immediate = value;
}

inline void set_flags(const PostingRules &rules, WorkRequest &wr, unsigned flags)
{
	wr.signaled = rules.signal_all || (flags & IBV_SEND_SIGNALED);
	wr.solicited = flags & IBV_SEND_SOLICITED;
	wr.fence = flags & IBV_SEND_FENCE;
}

inline void set_atomic(WorkRequest &wr, bool fetch_add, std::uint64_t compare_add, std::uint64_t swap)
{
	set_kind(wr, SendKind::atomic, fetch_add ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP);
	wr.fetch_add = fetch_add;
	wr.compare_add = compare_add;
	wr.swap = swap;
}

/** Returns true if all belong to one context. Each context numbers its objects by itself: the numbers of another
 * context's windows and regions would name some of ours. */
inline bool are_of_one_context(const ibv_qp &qp, const ibv_mw &mw, const ibv_mw_bind_info &info)
{
	return mw.context == qp.context && (!info.mr || info.mr->context == qp.context);
}

/** Sets a bind request. A window of type 2 belongs to @p qpn; one of type 1 (owner 0) serves every queue pair of its
 * domain. */
inline void set_bind(
	WorkRequest &wr, std::uint32_t qpn, const ibv_mw &mw, std::uint32_t new_key, const ibv_mw_bind_info &info)
{
	set_kind(wr, SendKind::bind_window, IBV_WC_BIND_MW);
	const std::uint32_t owner = mw.type == IBV_MW_TYPE_2 ? qpn : 0;
	const std::uint32_t region = info.mr ? info.mr->lkey : 0;
	wr.binding = {mw.rkey, new_key, region, info.mw_access_flags, info.addr, info.length, owner};
}

/* PRISM --------------------------------------------------------------------------------------------------------- */

inline constexpr std::uint32_t known_wr_flags = PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED | PRISMDV_WR_CONDITIONAL |
						PRISMDV_WR_REDIRECT | PRISMDV_WR_DATA_INDIRECT;

inline u8 wire_flags(std::uint32_t flags)
{
	return static_cast<u8>(
		(flags & PRISMDV_WR_INDIRECT ? PRISM_FLAG_T : 0) | (flags & PRISMDV_WR_BOUNDED ? PRISM_FLAG_B : 0) |
		(flags & PRISMDV_WR_CONDITIONAL ? PRISM_FLAG_C : 0) | (flags & PRISMDV_WR_REDIRECT ? PRISM_FLAG_R : 0) |
		(flags & PRISMDV_WR_DATA_INDIRECT ? PRISM_FLAG_D : 0));
}

inline std::uint64_t needed_features(const prism_request &request)
{
	const u8 flags = request.flags;
	return (flags & PRISM_FLAG_T ? std::uint64_t{PRISMDV_FEATURE_INDIRECT} : 0u) |
	       (flags & PRISM_FLAG_B ? std::uint64_t{PRISMDV_FEATURE_BOUNDED} : 0u) |
	       (flags & PRISM_FLAG_D ? std::uint64_t{PRISMDV_FEATURE_DATA_INDIRECT} : 0u) |
	       (flags & PRISM_FLAG_C ? std::uint64_t{PRISMDV_FEATURE_CONDITIONAL} : 0u) |
	       (flags & PRISM_FLAG_R ? std::uint64_t{PRISMDV_FEATURE_REDIRECT} : 0u) |
	       (request.op == PRISM_CAS ? std::uint64_t{PRISMDV_FEATURE_CAS} : 0u) |
	       (request.op == PRISM_ALLOCATE ? std::uint64_t{PRISMDV_FEATURE_ALLOCATE} : 0u);
}

inline ibv_wc_opcode completion_opcode(u8 op)
{
	constexpr ibv_wc_opcode opcodes[] = {IBV_WC_RDMA_READ, IBV_WC_RDMA_WRITE, IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD};
	return opcodes[op];
}

inline void begin_prism(WorkRequest &wr, prism_op op, std::uint32_t rkey, std::uint64_t remote_addr)
{
	set_kind(wr, SendKind::prism, completion_opcode(static_cast<u8>(op)));
	wr.prism = {};
	wr.prism.op = static_cast<u8>(op);
	wr.prism.first = wr.prism.last = true;
	wr.prism.rkey = rkey;
	wr.prism.va = remote_addr;
}

inline void set_aux(WorkRequest &wr, std::uint32_t rkey, std::uint64_t addr, std::uint32_t length)
{
	wr.prism.aux_rkey = rkey;
	wr.prism.aux_va = addr;
	wr.prism.length = length;
}

inline void set_free_list(WorkRequest &wr, std::uint32_t free_list, std::uint32_t tag)
{
	wr.prism.free_list = free_list & PRISM_QPN_MASK;
	wr.prism.tag = tag;
}

/** Copies the operands to @p operands, which has room for 4 * PRISM_MAX_CAS bytes. */
inline int set_operands(WorkRequest &wr, std::uint8_t *operands, const prismdv_cas &cas)
{
	if (cas.reserved || (cas.flags & ~PRISMDV_CAS_COMPARE_DATA) || cas.length > PRISM_MAX_CAS)
		return EINVAL;
	const std::uint32_t n = cas.length;
	wr.prism.cas_mode = cas.mode;
	wr.prism.cas_flags = cas.flags;
	wr.prism.cas_size = static_cast<u8>(n);
	wr.compare_given = cas.compare;
	wr.swap_given = cas.swap;
	std::uint8_t *to = operands;
	const auto put = [&to, n](const void *bytes, std::uint8_t otherwise) {
		if (bytes)
			std::memcpy(to, bytes, n);
		else
			std::memset(to, otherwise, n);
		to += n;
	};
	put(cas.compare, 0);
	put(cas.swap, 0);
	put(cas.compare_mask, 0xff);
	put(cas.swap_mask, 0xff);
	return 0;
}

/** Returns true if all operands are there. With D the swap operand comes from aux, and the compare operand if
 * requested. */
inline bool operands_given(const WorkRequest &wr)
{
	const bool data = wr.prism.flags & PRISM_FLAG_D;
	return (wr.swap_given || data) &&
	       (wr.compare_given || (data && (wr.prism.cas_flags & PRISMDV_CAS_COMPARE_DATA)));
}

/** Zeroes operands that D leaves unused: the caller's pointers to them may be invalid. */
inline void clear_unused_operands(const WorkRequest &wr, std::uint8_t *operands)
{
	if (!(wr.prism.flags & PRISM_FLAG_D))
		return;
	const std::size_t n = wr.prism.cas_size;
	if (wr.prism.cas_flags & PRISMDV_CAS_COMPARE_DATA)
		std::memset(operands, 0, n);
	std::memset(operands + n, 0, n);
}

/** Returns true for READ with R and WRITE with D: they move no data of the requester, so the length is that of aux. */
inline bool moves_aux(const prism_request &request)
{
	return (request.op == PRISM_READ && (request.flags & PRISM_FLAG_R)) ||
	       (request.op == PRISM_WRITE && (request.flags & PRISM_FLAG_D));
}

/**
 * Checks all of a PRISM request that does not depend on the peer, and sets its total length. The limits of this device
 * as a responder do not matter: the peer would refuse a longer READ with a NAK, which ends the connection.
 */
inline int check_prism(const PostingRules &rules, WorkRequest &wr)
{
	prism_request &request = wr.prism;
	const std::uint64_t needed = needed_features(request) | peer_declared;
	if (!rules.prism || (rules.peer_features & needed) != needed)
		return EOPNOTSUPP;
	const bool aux_moves = moves_aux(request);
	if (aux_moves ? wr.length != 0 : request.length != 0)
		return EINVAL;
	if (wr.inline_data && (request.op == PRISM_READ || request.op == PRISM_CAS))
		return EINVAL;
	if (request.op == PRISM_CAS && (!operands_given(wr) || (wr.length && wr.length != request.cas_size)))
		return EINVAL;
	if (wr.result.length && (request.op != PRISM_ALLOCATE || wr.result.length != sizeof(std::uint64_t)))
		return EINVAL;
	if (!aux_moves && request.op != PRISM_CAS)
		request.length = wr.length;
	return prism_request_check(&request, rules.mtu, version_max_read) ? EINVAL : 0;
}

/** Returns true if a queue pair of this type has such requests (IBTA table 39). */
inline bool has_request(ibv_qp_type type, const WorkRequest &wr)
{
	if (type == IBV_QPT_RC)
		return true;
	if (wr.tail == Tail::invalidate)
		return false;
	if (wr.kind == SendKind::send)
		return true;
	return type == IBV_QPT_UC && (wr.kind == SendKind::write || wr.kind == SendKind::bind_window ||
					     wr.kind == SendKind::local_invalidate);
}

/** Returns true for a request that is answered by data or a status, not by an acknowledgement alone: it takes one of
 * max_rd_atomic slots. */
inline bool needs_response(const WorkRequest &wr)
{
	return wr.kind == SendKind::read || wr.kind == SendKind::atomic || wr.kind == SendKind::atomic_write ||
	       wr.kind == SendKind::prism;
}

/** Checks any request, however it was built. @p queue finds its operands. */
template <typename Queue, typename Request>
int check_request(const PostingRules &rules, Queue &queue, Request &wr)
{
	if (!has_request(rules.type, wr))
		return EINVAL;
	const bool data = wr.kind != SendKind::bind_window && wr.kind != SendKind::local_invalidate;
	const bool word = wr.kind == SendKind::atomic || wr.kind == SendKind::atomic_write;
	if (needs_response(wr) && !rules.max_rd_atomic && !rules.slots_optional)
		return EINVAL;
	if (wr.inline_data && (wr.kind == SendKind::read || wr.kind == SendKind::atomic))
		return EINVAL;
	if (word && wr.length != sizeof(std::uint64_t))
		return EINVAL;
	if (!data)
		wr.num_sge = 0;
	if (wr.kind != SendKind::prism)
		return 0;
	const int error = check_prism(rules, wr);
	if (!error && wr.prism.op == PRISM_CAS)
		clear_unused_operands(wr, queue.operands(wr));
	return error;
}

} // namespace prism
