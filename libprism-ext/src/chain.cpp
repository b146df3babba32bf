/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/chain.hpp>

#include <prism/queue_pair.hpp>

#include <algorithm>
#include <cerrno>
#include <endian.h>
#include <limits>

namespace prism
{

namespace
{

constexpr std::uint32_t T = PRISMDV_WR_INDIRECT;
constexpr std::uint32_t B = PRISMDV_WR_BOUNDED;
constexpr std::uint32_t C = PRISMDV_WR_CONDITIONAL;
constexpr std::uint32_t R = PRISMDV_WR_REDIRECT;
constexpr std::uint32_t D = PRISMDV_WR_DATA_INDIRECT;

/* Modifiers that each kind of operation takes (docs/semantics.md), in the order of Chain::Kind. */
constexpr std::array<std::uint32_t, 7> legal_flags{T | B | C | R, T | B | C | D, T | C | D, B | C | R, 0, 0, 0};

} // namespace

Cas Cas::word(CasMode mode, std::uint64_t compare, std::uint64_t swap) noexcept
{
	return bytes(mode, htole64(compare), htole64(swap));
}

void Chain::refuse(int error_code, std::size_t step) noexcept
{
	if (mistake_)
		return;
	mistake_ = error_code;
	mistaken_step_ = step;
}

Chain::Step *Chain::open(Kind kind, RemoteAddress target) noexcept
{
	if (count_ == capacity) {
		refuse(E2BIG, count_);
		return nullptr;
	}
	Step *step = &slots_[count_++].step;
	step->kind = kind;
	step->signalled = false;
	step->is_inline = false;
	step->wants_result = false;
	step->flags = 0;
	step->free_list = 0;
	step->tag = 0;
	step->bytes = 0;
	step->wr_id = 0;
	step->target = target;
	step->aux = {};
	step->local = {};
	return step;
}

Chain::Step *Chain::last_step() noexcept
{
	if (count_ == 0) {
		refuse(EINVAL, 0);
		return nullptr;
	}
	return &slots_[count_ - 1].step;
}

void Chain::set_inline(Step &step, std::span<const std::byte> data) noexcept
{
	if (data.size() > std::numeric_limits<std::uint32_t>::max())
		refuse(EINVAL, count_ - 1);
	step.is_inline = true;
	step.local = {reinterpret_cast<std::uint64_t>(data.data()), static_cast<std::uint32_t>(data.size()), 0};
}

Chain &Chain::modify(std::uint32_t flags) noexcept
{
	Step *step = last_step();
	if (!step)
		return *this;
	step->flags |= flags;
	if (step->flags & ~legal_flags[static_cast<std::size_t>(step->kind)])
		refuse(EINVAL, count_ - 1);
	return *this;
}

Chain &Chain::read(RemoteAddress target, LocalSlice into) noexcept
{
	if (Step *step = open(Kind::read, target))
		step->local = into;
	return *this;
}

Chain &Chain::read(RemoteAddress target, std::uint32_t length) noexcept
{
	if (Step *step = open(Kind::read, target))
		step->bytes = length;
	return *this;
}

Chain &Chain::write(RemoteAddress target, LocalSlice data) noexcept
{
	if (Step *step = open(Kind::write, target))
		step->local = data;
	return *this;
}

Chain &Chain::write(RemoteAddress target, std::span<const std::byte> data) noexcept
{
	if (Step *step = open(Kind::write, target))
		set_inline(*step, data);
	return *this;
}

Chain &Chain::write(RemoteAddress target, std::uint32_t length) noexcept
{
	if (Step *step = open(Kind::write, target))
		step->bytes = length;
	return *this;
}

Chain &Chain::cas(RemoteAddress target, const Cas &operands, LocalSlice old_bytes) noexcept
{
	if (Step *step = open(Kind::cas, target)) {
		step->local = old_bytes;
		step->operands = operands;
	}
	return *this;
}

Chain &Chain::allocate(std::uint32_t free_list, LocalSlice payload) noexcept
{
	if (Step *step = open(Kind::allocate, {})) {
		step->free_list = free_list;
		step->local = payload;
	}
	return *this;
}

Chain &Chain::allocate(std::uint32_t free_list, std::span<const std::byte> payload) noexcept
{
	if (Step *step = open(Kind::allocate, {})) {
		step->free_list = free_list;
		set_inline(*step, payload);
	}
	return *this;
}

Chain &Chain::rdma_read(RemoteAddress target, LocalSlice into) noexcept
{
	if (Step *step = open(Kind::rdma_read, target))
		step->local = into;
	return *this;
}

Chain &Chain::rdma_write(RemoteAddress target, LocalSlice data) noexcept
{
	if (Step *step = open(Kind::rdma_write, target))
		step->local = data;
	return *this;
}

Chain &Chain::rdma_write(RemoteAddress target, std::span<const std::byte> data) noexcept
{
	write(target, data);
	if (!mistake_)
		last_step()->kind = Kind::rdma_write;
	return *this;
}

Chain &Chain::rdma_cas(RemoteAddress target, std::uint64_t compare, std::uint64_t swap, LocalSlice old_value) noexcept
{
	Step *step = open(Kind::rdma_cas, target);
	if (!step)
		return *this;
	step->local = old_value;
	step->compare = compare;
	step->swap = swap;
	if (old_value.length != sizeof(compare))
		refuse(EINVAL, count_ - 1);
	return *this;
}

Chain &Chain::indirect() noexcept
{
	return modify(T);
}
Chain &Chain::indirect_bounded() noexcept
{
	return modify(T | B);
}
Chain &Chain::conditional() noexcept
{
	return modify(C);
}

Chain &Chain::redirect(RemoteAddress place) noexcept
{
	if (Step *step = last_step())
		step->aux = place;
	return modify(R);
}

Chain &Chain::redirect_bounded(RemoteAddress place, std::uint32_t tag) noexcept
{
	Step *step = last_step();
	if (!step)
		return *this;
	/* On a READ, B means that the target is bounded. */
	if (step->kind != Kind::allocate)
		refuse(EINVAL, count_ - 1);
	step->aux = place;
	step->tag = tag;
	return modify(R | B);
}

Chain &Chain::data_indirect(RemoteAddress place) noexcept
{
	if (Step *step = last_step())
		step->aux = place;
	return modify(D);
}

Chain &Chain::result(LocalSlice place) noexcept
{
	Step *step = last_step();
	if (!step)
		return *this;
	if (step->kind != Kind::allocate || place.length != sizeof(std::uint64_t))
		refuse(EINVAL, count_ - 1);
	step->wants_result = true;
	step->result = place;
	return *this;
}

Chain &Chain::signal(std::uint64_t wr_id) noexcept
{
	if (Step *step = last_step()) {
		step->signalled = true;
		step->wr_id = wr_id;
	}
	return *this;
}

/* Checks what no single modifier breaks: the length must fit the place of the data, and CAS operands must be
 * complete. */
bool Chain::consistent(const Step &step) noexcept
{
	const std::uint32_t moves = step.kind == Kind::read ? R : step.kind == Kind::write ? D : 0;
	const bool elsewhere = (step.flags & moves) != 0;
	if (elsewhere ? step.local.length != 0 : step.bytes != 0)
		return false;
	return step.kind != Kind::cas || !step.operands.compare_from_data || (step.flags & D);
}

std::size_t Chain::bad_step() const noexcept
{
	for (std::size_t i = 0; i < count_ && !(mistake_ && i == mistaken_step_); i++) {
		if (!consistent(slots_[i].step))
			return i;
	}
	return mistaken_step_;
}

int Chain::error() const noexcept
{
	if (mistake_)
		return mistake_;
	const auto built = std::span(slots_).first(count_);
	const bool sound =
		std::all_of(built.begin(), built.end(), [](const Slot &slot) { return consistent(slot.step); });
	return sound && count_ ? 0 : EINVAL;
}

bool Chain::is_standard(Kind kind) noexcept
{
	return kind == Kind::rdma_read || kind == Kind::rdma_write || kind == Kind::rdma_cas;
}

bool Chain::needs_prism() const noexcept
{
	const auto built = std::span(slots_).first(count_);
	return !std::all_of(built.begin(), built.end(), [](const Slot &slot) { return is_standard(slot.step.kind); });
}

int Chain::post(const QueuePair &qp, std::uint64_t wr_id) const noexcept
{
	return post(qp.builder(), qp.prism_builder(), wr_id);
}

int Chain::post(ibv_qp_ex *qp, prismdv_qp_ex *prism, std::uint64_t wr_id) const noexcept
{
	const Posting posting{this, wr_id};
	return post(qp, prism, std::span(&posting, 1));
}

int Chain::post(const QueuePair &qp, std::span<const Posting> postings) noexcept
{
	return post(qp.builder(), qp.prism_builder(), postings);
}

int Chain::post(ibv_qp_ex *qp, prismdv_qp_ex *prism, std::span<const Posting> postings) noexcept
{
	for (const Posting &posting : postings) {
		if (const int wrong = posting.chain->error())
			return wrong;
		if (!prism && posting.chain->needs_prism())
			return EOPNOTSUPP;
	}
	ibv_wr_start(qp);
	for (const Posting &posting : postings)
		posting.chain->post_steps(qp, prism, posting.wr_id);
	return ibv_wr_complete(qp);
}

void Chain::post_steps(ibv_qp_ex *qp, prismdv_qp_ex *prism, std::uint64_t wr_id) const noexcept
{
	for (std::uint32_t i = 0; i < count_; i++) {
		const Step &step = slots_[i].step;
		const bool last = i + 1 == count_;
		qp->wr_id = step.signalled && !last ? step.wr_id : wr_id;
		qp->wr_flags = step.signalled || last ? IBV_SEND_SIGNALED : 0;
		post_step(qp, prism, step);
	}
}

void Chain::post_step(ibv_qp_ex *qp, prismdv_qp_ex *prism, const Step &step) noexcept
{
	switch (step.kind) {
	case Kind::rdma_read:
		ibv_wr_rdma_read(qp, step.target.rkey, step.target.address);
		break;
	case Kind::rdma_write:
		ibv_wr_rdma_write(qp, step.target.rkey, step.target.address);
		break;
	case Kind::rdma_cas:
		ibv_wr_atomic_cmp_swp(qp, step.target.rkey, step.target.address, step.compare, step.swap);
		break;
	case Kind::read:
		prismdv_wr_read(prism, step.target.rkey, step.target.address);
		break;
	case Kind::write:
		prismdv_wr_write(prism, step.target.rkey, step.target.address);
		break;
	case Kind::cas:
		post_cas(prism, step);
		break;
	case Kind::allocate:
		prismdv_wr_allocate(prism, step.free_list, step.tag);
		break;
	}
	post_modifiers(prism, step);
	post_data(qp, step);
}

void Chain::post_cas(prismdv_qp_ex *prism, const Step &step) noexcept
{
	const Cas &operands = step.operands;
	const prismdv_cas cas{
		.mode = static_cast<std::uint8_t>(operands.mode),
		.flags = static_cast<std::uint8_t>(operands.compare_from_data ? PRISMDV_CAS_COMPARE_DATA : 0),
		.length = operands.length,
		.reserved = 0,
		.compare = operands.compare.data(),
		.swap = operands.swap.data(),
		.compare_mask = operands.compare_mask.data(),
		.swap_mask = operands.swap_mask.data(),
	};
	prismdv_wr_cas(prism, step.target.rkey, step.target.address, &cas);
}

void Chain::post_modifiers(prismdv_qp_ex *prism, const Step &step) noexcept
{
	/* On ALLOCATE, B belongs to the redirect; elsewhere to the target. */
	const std::uint32_t redirect_flags = step.kind == Kind::allocate ? R | B : R;
	const std::uint32_t aux_flags = step.flags & (D | redirect_flags);
	if (const std::uint32_t plain = step.flags & ~aux_flags)
		prism->wr_set_flags(prism, plain);
	if (aux_flags)
		prism->wr_set_aux(prism, aux_flags, step.aux.rkey, step.aux.address, step.bytes);
	if (step.wants_result)
		prismdv_wr_set_result(prism, step.result.lkey, step.result.address);
}

void Chain::post_data(ibv_qp_ex *qp, const Step &step) noexcept
{
	if (step.local.length == 0)
		ibv_wr_set_sge_list(qp, 0, nullptr);
	else if (step.is_inline)
		ibv_wr_set_inline_data(qp, reinterpret_cast<void *>(step.local.address), step.local.length);
	else
		ibv_wr_set_sge(qp, step.local.lkey, step.local.address, step.local.length);
}

} // namespace prism
