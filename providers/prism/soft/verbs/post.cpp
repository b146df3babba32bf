/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting, in both styles: lists of work requests, and the builders of ibv_qp_ex and prismdv_qp_ex. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "objects.hpp"

namespace prism::soft
{

namespace
{

QpObject &self(ibv_qp_ex *qp)
{
	return *to_object<QpObject>(qp);
}

QpObject &self(prismdv_qp_ex *dv)
{
	return *reinterpret_cast<DvHandle *>(dv)->object;
}

/* Filling a slot ------------------------------------------------------------------------------------------------ */

/** The slot behind the last one posted or built, cleared; nullptr if the queue is full. */
SendRequest *next_slot(QueuePair &qp, std::uint32_t at)
{
	if (at - qp.sq.head == qp.sq.max_wr)
		return nullptr;
	SendRequest &wr = qp.sq.at(at);
	/* In place: an assignment would build it elsewhere first. */
	std::construct_at(&wr);
	return &wr;
}

int set_sges(QueuePair &qp, SendRequest &wr, const ibv_sge *list, std::size_t count)
{
	if (count > qp.sq.max_sge)
		return EINVAL;
	std::uint64_t total = 0;
	wr.num_sge = static_cast<std::uint32_t>(count);
	const std::span<Sge> sges = qp.sq.sges(wr);
	for (std::size_t i = 0; i < count; i++) {
		sges[i] = {list[i].addr, list[i].length, list[i].lkey};
		total += list[i].length;
	}
	if (total > max_message)
		return EINVAL;
	wr.length = static_cast<std::uint32_t>(total);
	return 0;
}

const void *address_of(const ibv_data_buf &buffer)
{
	return buffer.addr;
}

const void *address_of(const ibv_sge &sge)
{
	return reinterpret_cast<const void *>(sge.addr);
}

/** Copies now: the caller's buffers are free again when posting returns. */
template <typename Piece>
int set_inline(QueuePair &qp, SendRequest &wr, const Piece *list, std::size_t count)
{
	std::size_t total = 0;
	for (std::size_t i = 0; i < count; i++)
		total += list[i].length;
	if (total > qp.sq.max_inline)
		return EINVAL;
	wr.inline_data = true;
	wr.length = static_cast<std::uint32_t>(total);
	std::byte *to = qp.sq.inline_bytes(wr).data();
	for (std::size_t i = 0; i < count; i++) {
		if (list[i].length)
			std::memcpy(to, address_of(list[i]), list[i].length);
		to += list[i].length;
	}
	return 0;
}

void set_flags(const QueuePair &qp, SendRequest &wr, unsigned flags)
{
	wr.signaled = qp.sq_signal_all || (flags & IBV_SEND_SIGNALED);
	wr.solicited = flags & IBV_SEND_SOLICITED;
	wr.fence = flags & IBV_SEND_FENCE;
}

void set_kind(SendRequest &wr, SendKind kind, ibv_wc_opcode opcode)
{
	wr.kind = kind;
	wr.wc_opcode = opcode;
}

void set_target(SendRequest &wr, std::uint32_t rkey, std::uint64_t remote_addr)
{
	wr.rkey = rkey;
	wr.remote_addr = remote_addr;
}

void set_tail(SendRequest &wr, Tail tail, std::uint32_t value)
{
	wr.tail = tail;
	wr.immediate = value;
}

void set_atomic(SendRequest &wr, bool fetch_add, std::uint64_t compare_add, std::uint64_t swap)
{
	set_kind(wr, SendKind::atomic, fetch_add ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP);
	wr.fetch_add = fetch_add;
	wr.compare_add = compare_add;
	wr.swap = swap;
}

void set_bind(
	const QueuePair &qp, SendRequest &wr, std::uint32_t key, std::uint32_t new_key, const ibv_mw_bind_info &info)
{
	set_kind(wr, SendKind::bind_window, IBV_WC_BIND_MW);
	wr.binding = {key, new_key, info.mr ? info.mr->lkey : 0, info.mw_access_flags, info.addr, info.length, qp.qpn};
}

/* PRISM --------------------------------------------------------------------------------------------------------- */

u8 wire_flags(std::uint32_t flags)
{
	return static_cast<u8>(
		(flags & PRISMDV_WR_INDIRECT ? PRISM_FLAG_T : 0) | (flags & PRISMDV_WR_BOUNDED ? PRISM_FLAG_B : 0) |
		(flags & PRISMDV_WR_CONDITIONAL ? PRISM_FLAG_C : 0) | (flags & PRISMDV_WR_REDIRECT ? PRISM_FLAG_R : 0) |
		(flags & PRISMDV_WR_DATA_INDIRECT ? PRISM_FLAG_D : 0));
}

std::uint64_t needed_features(const prism_request &request)
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

int set_operands(QueuePair &qp, SendRequest &wr, const prismdv_cas &cas)
{
	if (cas.reserved || (cas.flags & ~PRISMDV_CAS_COMPARE_DATA) || cas.length > PRISM_MAX_CAS)
		return EINVAL;
	const std::uint32_t n = cas.length;
	wr.prism.cas_mode = cas.mode;
	wr.prism.cas_flags = cas.flags;
	wr.prism.cas_size = static_cast<u8>(n);
	wr.compare_given = cas.compare;
	wr.swap_given = cas.swap;
	std::uint8_t *to = qp.sq.operands(wr);
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

ibv_wc_opcode completion_opcode(u8 op)
{
	static constexpr ibv_wc_opcode opcodes[] = {
		IBV_WC_RDMA_READ, IBV_WC_RDMA_WRITE, IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD};
	return opcodes[op];
}

void begin_prism(SendRequest &wr, prism_op op, std::uint32_t rkey, std::uint64_t remote_addr)
{
	set_kind(wr, SendKind::prism, completion_opcode(static_cast<u8>(op)));
	wr.prism.op = static_cast<u8>(op);
	wr.prism.first = wr.prism.last = true;
	wr.prism.rkey = rkey;
	wr.prism.va = remote_addr;
}

void set_aux(SendRequest &wr, std::uint32_t rkey, std::uint64_t addr, std::uint32_t length)
{
	wr.prism.aux_rkey = rkey;
	wr.prism.aux_va = addr;
	wr.prism.length = length;
}

/** With D the swap operand comes from aux, and the compare operand if it is asked for. */
bool operands_given(const SendRequest &wr)
{
	const bool data = wr.prism.flags & PRISM_FLAG_D;
	return (wr.swap_given || data) &&
	       (wr.compare_given || (data && (wr.prism.cas_flags & PRISMDV_CAS_COMPARE_DATA)));
}

/** What D leaves unused goes out as zeros: the caller may have pointed at anything. */
void clear_unused_operands(QueuePair &qp, const SendRequest &wr)
{
	if (!(wr.prism.flags & PRISM_FLAG_D))
		return;
	std::uint8_t *compare = qp.sq.operands(wr);
	const std::size_t n = wr.prism.cas_size;
	if (wr.prism.cas_flags & PRISMDV_CAS_COMPARE_DATA)
		std::memset(compare, 0, n);
	std::memset(compare + n, 0, n);
}

/** Everything about a PRISM request that can be wrong whoever the peer is; fixes its total length. */
int check_prism(const QueuePair &qp, SendRequest &wr)
{
	prism_request &request = wr.prism;
	const bool redirected = request.flags & PRISM_FLAG_R, loads = request.flags & PRISM_FLAG_D;
	const std::uint64_t needed = needed_features(request) | peer_declared;
	if (!qp.prism || (qp.peer_features & needed) != needed)
		return EOPNOTSUPP;
	const std::uint32_t aux_length = request.length;
	const bool aux_moves = (request.op == PRISM_READ && redirected) || (request.op == PRISM_WRITE && loads);
	if (aux_moves ? wr.length != 0 : aux_length != 0)
		return EINVAL;
	if (wr.inline_data && (request.op == PRISM_READ || request.op == PRISM_CAS))
		return EINVAL;
	if (request.op == PRISM_CAS && (!operands_given(wr) || (wr.length && wr.length != request.cas_size)))
		return EINVAL;
	if (wr.result.length && (request.op != PRISM_ALLOCATE || wr.result.length != sizeof(std::uint64_t)))
		return EINVAL;
	if (!aux_moves && request.op != PRISM_CAS)
		request.length = wr.length;
	return prism_request_check(&request, qp.attr.mtu, max_indirect_read) ? EINVAL : 0;
}

/* Lists of work requests ---------------------------------------------------------------------------------------- */

int set_data(QueuePair &qp, SendRequest &wr, const ibv_send_wr &from)
{
	if (from.num_sge < 0 || static_cast<std::uint32_t>(from.num_sge) > qp.sq.max_sge)
		return EINVAL;
	const auto count = static_cast<std::size_t>(from.num_sge);
	if (!(from.send_flags & IBV_SEND_INLINE))
		return set_sges(qp, wr, from.sg_list, count);
	return set_inline(qp, wr, from.sg_list, count);
}

/** The field may hold a value that is none of ibv_wr_opcode's own: C++ may not load it as that enumeration. */
unsigned opcode_of(const ibv_send_wr &wr)
{
	unsigned opcode;
	static_assert(sizeof(opcode) == sizeof(wr.opcode));
	std::memcpy(&opcode, &wr.opcode, sizeof(opcode));
	return opcode;
}

int translate_prism(QueuePair &qp, SendRequest &wr, const ibv_send_wr &base)
{
	const auto &from = reinterpret_cast<const prismdv_send_wr &>(base);
	constexpr std::uint32_t known = PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED | PRISMDV_WR_CONDITIONAL |
					PRISMDV_WR_REDIRECT | PRISMDV_WR_DATA_INDIRECT;
	if (!qp.prism)
		return EOPNOTSUPP;
	if (from.comp_mask || (from.flags & ~known))
		return EINVAL;
	begin_prism(wr, static_cast<prism_op>(opcode_of(base) - PRISMDV_WR_READ), base.wr.rdma.rkey,
		base.wr.rdma.remote_addr);
	wr.prism.flags = wire_flags(from.flags);
	if (wr.prism.op == PRISM_ALLOCATE) {
		set_target(wr, 0, 0);
		wr.prism.va = 0;
		wr.prism.rkey = 0;
	}
	if (from.flags & (PRISMDV_WR_REDIRECT | PRISMDV_WR_DATA_INDIRECT))
		set_aux(wr, from.aux.rkey, from.aux.addr, from.aux.length);
	if (wr.prism.op == PRISM_CAS)
		return set_operands(qp, wr, from.cas);
	if (wr.prism.op == PRISM_ALLOCATE) {
		wr.prism.free_list = from.allocate.free_list & PRISM_QPN_MASK;
		wr.prism.tag = from.allocate.tag;
		wr.result = {from.allocate.result.addr, from.allocate.result.length, from.allocate.result.lkey};
	}
	return 0;
}

int translate_atomic(SendRequest &wr, const ibv_send_wr &from)
{
	set_target(wr, from.wr.atomic.rkey, from.wr.atomic.remote_addr);
	set_atomic(wr, opcode_of(from) == IBV_WR_ATOMIC_FETCH_AND_ADD, from.wr.atomic.compare_add, from.wr.atomic.swap);
	return 0;
}

int translate_opcode(QueuePair &qp, SendRequest &wr, const ibv_send_wr &from)
{
	switch (opcode_of(from)) {
	case IBV_WR_SEND_WITH_IMM:
		set_tail(wr, Tail::immediate, from.imm_data);
		[[fallthrough]];
	case IBV_WR_SEND:
		set_kind(wr, SendKind::send, IBV_WC_SEND);
		return 0;
	case IBV_WR_SEND_WITH_INV:
		set_kind(wr, SendKind::send, IBV_WC_SEND);
		set_tail(wr, Tail::invalidate, from.invalidate_rkey);
		return 0;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		set_tail(wr, Tail::immediate, from.imm_data);
		[[fallthrough]];
	case IBV_WR_RDMA_WRITE:
		set_kind(wr, SendKind::write, IBV_WC_RDMA_WRITE);
		set_target(wr, from.wr.rdma.rkey, from.wr.rdma.remote_addr);
		return 0;
	case IBV_WR_RDMA_READ:
		set_kind(wr, SendKind::read, IBV_WC_RDMA_READ);
		set_target(wr, from.wr.rdma.rkey, from.wr.rdma.remote_addr);
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return translate_atomic(wr, from);
	case IBV_WR_LOCAL_INV:
		set_kind(wr, SendKind::local_invalidate, IBV_WC_LOCAL_INV);
		wr.immediate = from.invalidate_rkey;
		return 0;
	case IBV_WR_BIND_MW:
		set_bind(qp, wr, from.bind_mw.mw->rkey, from.bind_mw.rkey, from.bind_mw.bind_info);
		return 0;
	case PRISMDV_WR_READ:
	case PRISMDV_WR_WRITE:
	case PRISMDV_WR_CAS:
	case PRISMDV_WR_ALLOCATE:
		return translate_prism(qp, wr, from);
	default:
		return EOPNOTSUPP;
	}
}

/** What every request must satisfy, however it was built. */
int check_request(QueuePair &qp, SendRequest &wr)
{
	const bool data = wr.kind != SendKind::bind_window && wr.kind != SendKind::local_invalidate;
	const bool slot = wr.kind == SendKind::read || wr.kind == SendKind::atomic || wr.kind == SendKind::prism;
	if (slot && !qp.attr.max_rd_atomic && qp.state != IBV_QPS_ERR)
		return EINVAL;
	if (wr.inline_data && (wr.kind == SendKind::read || wr.kind == SendKind::atomic))
		return EINVAL;
	if (wr.kind == SendKind::atomic && wr.length != sizeof(std::uint64_t))
		return EINVAL;
	if (!data)
		wr.num_sge = 0;
	if (wr.kind != SendKind::prism)
		return 0;
	const int error = check_prism(qp, wr);
	if (!error && wr.prism.op == PRISM_CAS)
		clear_unused_operands(qp, wr);
	return error;
}

int translate(QueuePair &qp, SendRequest &wr, const ibv_send_wr &from)
{
	wr.wr_id = from.wr_id;
	set_flags(qp, wr, from.send_flags);
	if (const int error = translate_opcode(qp, wr, from))
		return error;
	if (const int error = set_data(qp, wr, from))
		return error;
	return check_request(qp, wr);
}

bool may_post_send(const QueuePair &qp)
{
	return qp.state == IBV_QPS_RTS || qp.state == IBV_QPS_SQD || qp.state == IBV_QPS_SQE || qp.state == IBV_QPS_ERR;
}

/** Let the protocol have what has been put behind the old tail. */
void ring_doorbell(QpObject &object)
{
	QueuePair &qp = *object.qp;
	Engine &engine = object.context.engine();
	if (qp.state == IBV_QPS_ERR)
		engine.flush(qp);
	else
		engine.posted(qp);
	object.context.transmit();
}

/* Builders ------------------------------------------------------------------------------------------------------ */

/** A fresh slot for the builder that is being called; nullptr after an error in this batch. */
SendRequest *build(QpObject &object)
{
	QueuePair &qp = *object.qp;
	ibv_qp_ex &ex = object.base.qp_ex;
	object.building = nullptr;
	if (object.batch_error)
		return nullptr;
	SendRequest *wr = next_slot(qp, qp.sq.tail);
	if (!wr) {
		object.batch_error = ENOMEM;
		return nullptr;
	}
	wr->wr_id = ex.wr_id;
	set_flags(qp, *wr, ex.wr_flags);
	qp.sq.tail++;
	return object.building = wr;
}

SendRequest *build(ibv_qp_ex *ex)
{
	return build(self(ex));
}

void wr_start(ibv_qp_ex *ex)
{
	QpObject &object = self(ex);
	object.context.lock.lock();
	object.batch_begin = object.qp->sq.tail;
	object.batch_error = may_post_send(*object.qp) ? 0 : EINVAL;
	object.building = nullptr;
}

void drop_batch(QpObject &object)
{
	object.qp->sq.tail = object.batch_begin;
	object.building = nullptr;
}

int wr_complete(ibv_qp_ex *ex)
{
	QpObject &object = self(ex);
	std::lock_guard guard(object.context.lock, std::adopt_lock);
	QueuePair &qp = *object.qp;
	int error = object.batch_error;
	for (std::uint32_t i = object.batch_begin; !error && i != qp.sq.tail; i++)
		error = check_request(qp, qp.sq.at(i));
	if (error)
		drop_batch(object);
	else
		ring_doorbell(object);
	return error;
}

void wr_abort(ibv_qp_ex *ex)
{
	QpObject &object = self(ex);
	std::lock_guard guard(object.context.lock, std::adopt_lock);
	drop_batch(object);
}

void note_error(QpObject &object, int error)
{
	if (error && !object.batch_error)
		object.batch_error = error;
}

void wr_send_tail(ibv_qp_ex *ex, Tail tail, std::uint32_t value)
{
	SendRequest *wr = build(ex);
	if (!wr)
		return;
	set_kind(*wr, SendKind::send, IBV_WC_SEND);
	set_tail(*wr, tail, value);
}

void wr_write_tail(ibv_qp_ex *ex, std::uint32_t rkey, std::uint64_t addr, Tail tail, std::uint32_t value)
{
	SendRequest *wr = build(ex);
	if (!wr)
		return;
	set_kind(*wr, SendKind::write, IBV_WC_RDMA_WRITE);
	set_target(*wr, rkey, addr);
	set_tail(*wr, tail, value);
}

void wr_atomic(ibv_qp_ex *ex, std::uint32_t rkey, std::uint64_t addr, bool fetch_add, std::uint64_t compare_add,
	std::uint64_t swap)
{
	SendRequest *wr = build(ex);
	if (!wr)
		return;
	set_target(*wr, rkey, addr);
	set_atomic(*wr, fetch_add, compare_add, swap);
}

void set_standard_builders(ibv_qp_ex &ex)
{
	ex.wr_send = [](ibv_qp_ex *qp) { wr_send_tail(qp, Tail::none, 0); };
	ex.wr_send_imm = [](ibv_qp_ex *qp, __be32 imm) { wr_send_tail(qp, Tail::immediate, imm); };
	ex.wr_send_inv = [](ibv_qp_ex *qp, std::uint32_t rkey) { wr_send_tail(qp, Tail::invalidate, rkey); };
	ex.wr_rdma_write = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr) {
		wr_write_tail(qp, rkey, addr, Tail::none, 0);
	};
	ex.wr_rdma_write_imm = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr, __be32 imm) {
		wr_write_tail(qp, rkey, addr, Tail::immediate, imm);
	};
	ex.wr_rdma_read = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr) {
		SendRequest *wr = build(qp);
		if (!wr)
			return;
		set_kind(*wr, SendKind::read, IBV_WC_RDMA_READ);
		set_target(*wr, rkey, addr);
	};
	ex.wr_atomic_cmp_swp = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr, std::uint64_t compare,
				       std::uint64_t swap) { wr_atomic(qp, rkey, addr, false, compare, swap); };
	ex.wr_atomic_fetch_add = [](ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr, std::uint64_t add) {
		wr_atomic(qp, rkey, addr, true, add, 0);
	};
	ex.wr_local_inv = [](ibv_qp_ex *qp, std::uint32_t rkey) {
		SendRequest *wr = build(qp);
		if (!wr)
			return;
		set_kind(*wr, SendKind::local_invalidate, IBV_WC_LOCAL_INV);
		wr->immediate = rkey;
	};
	ex.wr_bind_mw = [](ibv_qp_ex *qp, ibv_mw *mw, std::uint32_t rkey, const ibv_mw_bind_info *info) {
		SendRequest *wr = build(qp);
		if (wr)
			set_bind(*self(qp).qp, *wr, mw->rkey, rkey, *info);
	};
}

void set_data_setters(ibv_qp_ex &ex)
{
	ex.wr_set_sge = [](ibv_qp_ex *qp, std::uint32_t lkey, std::uint64_t addr, std::uint32_t length) {
		QpObject &object = self(qp);
		const ibv_sge sge{addr, length, lkey};
		if (object.building)
			note_error(object, set_sges(*object.qp, *object.building, &sge, 1));
	};
	ex.wr_set_sge_list = [](ibv_qp_ex *qp, std::size_t count, const ibv_sge *list) {
		QpObject &object = self(qp);
		if (object.building)
			note_error(object, set_sges(*object.qp, *object.building, list, count));
	};
	ex.wr_set_inline_data = [](ibv_qp_ex *qp, void *addr, std::size_t length) {
		QpObject &object = self(qp);
		const ibv_data_buf buffer{addr, length};
		if (object.building)
			note_error(object, set_inline(*object.qp, *object.building, &buffer, 1));
	};
	ex.wr_set_inline_data_list = [](ibv_qp_ex *qp, std::size_t count, const ibv_data_buf *list) {
		QpObject &object = self(qp);
		if (object.building)
			note_error(object, set_inline(*object.qp, *object.building, list, count));
	};
}

SendRequest *build_prism(prismdv_qp_ex *dv, prism_op op, std::uint32_t rkey, std::uint64_t addr)
{
	SendRequest *wr = build(self(dv));
	if (wr)
		begin_prism(*wr, op, rkey, addr);
	return wr;
}

/** The request under construction, if it is one that PRISM setters apply to. */
SendRequest *building_prism(QpObject &object)
{
	SendRequest *wr = object.building;
	if (wr && wr->kind != SendKind::prism) {
		note_error(object, EINVAL);
		return nullptr;
	}
	return wr;
}

void wr_cas(prismdv_qp_ex *dv, std::uint32_t rkey, std::uint64_t addr, const prismdv_cas *cas)
{
	QpObject &object = self(dv);
	SendRequest *wr = build_prism(dv, PRISM_CAS, rkey, addr);
	if (wr)
		note_error(object, set_operands(*object.qp, *wr, *cas));
}

void set_prism_builders(prismdv_qp_ex &dv)
{
	dv.wr_read = [](prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr) {
		build_prism(qp, PRISM_READ, rkey, addr);
	};
	dv.wr_write = [](prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t addr) {
		build_prism(qp, PRISM_WRITE, rkey, addr);
	};
	dv.wr_cas = wr_cas;
	dv.wr_allocate = [](prismdv_qp_ex *qp, std::uint32_t free_list, std::uint32_t tag) {
		SendRequest *wr = build_prism(qp, PRISM_ALLOCATE, 0, 0);
		if (!wr)
			return;
		wr->prism.free_list = free_list & PRISM_QPN_MASK;
		wr->prism.tag = tag;
	};
	dv.wr_set_flags = [](prismdv_qp_ex *qp, std::uint32_t flags) {
		if (SendRequest *wr = building_prism(self(qp)))
			wr->prism.flags |= wire_flags(flags);
	};
	dv.wr_set_aux = [](prismdv_qp_ex *qp, std::uint32_t flags, std::uint32_t rkey, std::uint64_t addr,
				std::uint32_t length) {
		SendRequest *wr = building_prism(self(qp));
		if (!wr)
			return;
		wr->prism.flags |= wire_flags(flags);
		set_aux(*wr, rkey, addr, length);
	};
	dv.wr_set_result = [](prismdv_qp_ex *qp, std::uint32_t lkey, std::uint64_t addr) {
		if (SendRequest *wr = building_prism(self(qp)))
			wr->result = {addr, sizeof(std::uint64_t), lkey};
	};
}

} // namespace

int post_send(ibv_qp *base, ibv_send_wr *wr, ibv_send_wr **bad)
{
	auto &object = *to_object<QpObject>(base);
	QueuePair &qp = *object.qp;
	std::lock_guard guard(object.context.lock);
	int error = may_post_send(qp) ? 0 : EINVAL;
	for (; wr && !error; wr = wr->next) {
		SendRequest *slot = next_slot(qp, qp.sq.tail);
		error = slot ? translate(qp, *slot, *wr) : ENOMEM;
		if (error)
			break;
		qp.sq.tail++;
	}
	if (error)
		*bad = wr;
	ring_doorbell(object);
	return error;
}

int post_recv(ibv_qp *base, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	auto &object = *to_object<QpObject>(base);
	QueuePair &qp = *object.qp;
	std::lock_guard guard(object.context.lock);
	int error = qp.state == IBV_QPS_RESET || qp.srq ? EINVAL : 0;
	for (; wr && !error; wr = wr->next) {
		const auto count = static_cast<std::uint32_t>(wr->num_sge);
		if (wr->num_sge < 0 || count > qp.rq.max_sge())
			error = EINVAL;
		else if (!qp.rq.post(wr->wr_id, {reinterpret_cast<const Sge *>(wr->sg_list), count}))
			error = ENOMEM;
		if (error)
			break;
	}
	if (error)
		*bad = wr;
	if (qp.state == IBV_QPS_ERR)
		object.context.engine().flush(qp);
	return error;
}

int bind_mw(ibv_qp *base, ibv_mw *mw, ibv_mw_bind *bind)
{
	if (mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	const std::uint32_t new_key = (mw->rkey & ~0xffu) | ((mw->rkey + 1) & 0xff);
	auto &object = *to_object<QpObject>(base);
	QueuePair &qp = *object.qp;
	std::lock_guard guard(object.context.lock);
	if (!may_post_send(qp))
		return EINVAL;
	SendRequest *wr = next_slot(qp, qp.sq.tail);
	if (!wr)
		return ENOMEM;
	wr->wr_id = bind->wr_id;
	set_flags(qp, *wr, bind->send_flags);
	set_bind(qp, *wr, mw->rkey, new_key, bind->bind_info);
	wr->binding.qpn = 0; /* a window of type 1 serves every QP of its domain */
	qp.sq.tail++;
	mw->rkey = new_key;
	ring_doorbell(object);
	return 0;
}

void set_send_ops(QpObject &object)
{
	ibv_qp_ex &ex = object.base.qp_ex;
	ex.wr_start = wr_start;
	ex.wr_complete = wr_complete;
	ex.wr_abort = wr_abort;
	set_standard_builders(ex);
	set_data_setters(ex);
	object.dv.object = &object;
	set_prism_builders(object.dv.base);
}

} // namespace prism::soft
