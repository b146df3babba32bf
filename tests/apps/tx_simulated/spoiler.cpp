/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "spoiler.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "tx/store/layout.hpp"

namespace tx_sim
{

namespace
{

using prism::tx::Cell;
using prism::tx::Decision;
using prism::tx::Version;

constexpr std::size_t operand = 32;
constexpr std::array<std::uint8_t, operand> no_bytes{};

/* State of all pairs: one thread runs a simulation. */
struct Spoiler {
	Flaw flaw = Flaw::none;
	prismdv_qp_ex prism{};
	decltype(ibv_qp_ex::wr_set_sge) set_sge = nullptr;
	bool ends = false;           /* the request being built is a decision or an install */
	std::uint64_t read_from = 0; /* address if it is a READ, so far without flags */
	std::vector<CellRead> cell_reads;
};
thread_local Spoiler spoiler;

/* Returns the number of bytes that a CAS compares or swaps, which must be the first ones */
std::size_t bytes_of(const void *mask)
{
	const std::span bytes(static_cast<const std::uint8_t *>(mask), operand);
	return static_cast<std::size_t>(std::ranges::count(bytes, 0xff));
}

bool is_install(const prismdv_cas &cas)
{
	return bytes_of(cas.compare_mask) == sizeof(Version::committed) && bytes_of(cas.swap_mask) == operand &&
	       std::memcmp(cas.swap, no_bytes.data(), operand) == 0;
}

/* Returns 0 if it is no decision */
std::uint64_t verdict_of(const prismdv_cas &cas)
{
	if (bytes_of(cas.compare_mask) != sizeof(Version::committed) || bytes_of(cas.swap_mask) != operand)
		return 0;
	std::uint64_t verdict = 0;
	std::memcpy(&verdict, static_cast<const std::byte *>(cas.swap) + offsetof(Decision, verdict), sizeof(verdict));
	return verdict;
}

bool is_read_validation(const prismdv_cas &cas)
{
	return bytes_of(cas.compare_mask) == operand && bytes_of(cas.swap_mask) == sizeof(Version::committed) &&
	       *static_cast<const std::uint8_t *>(cas.swap_mask) == 0xff;
}

void build_cas(prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t address, const prismdv_cas *cas)
{
	prismdv_cas changed = *cas;
	const std::uint64_t verdict = cas->length == operand ? verdict_of(*cas) : 0;
	const bool install = cas->length == operand && is_install(*cas);
	spoiler.ends = install || verdict == Decision::committed;
	const bool compares_nothing = spoiler.flaw == Flaw::blind_install && install;
	const bool does_nothing =
		(spoiler.flaw == Flaw::undecided_help && verdict == Decision::aborted) ||
		(spoiler.flaw == Flaw::unvalidated_reads && cas->length == operand && is_read_validation(*cas));
	if (compares_nothing || does_nothing) {
		changed.mode = PRISMDV_CAS_EQ;
		changed.compare_mask = no_bytes.data();
	}
	if (does_nothing)
		changed.swap_mask = no_bytes.data();
	spoiler.prism.wr_cas(qp, rkey, address, &changed);
}

void build_read(prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t address)
{
	spoiler.ends = false;
	spoiler.read_from = address;
	spoiler.prism.wr_read(qp, rkey, address);
}

void build_write(prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t address)
{
	spoiler.ends = false;
	spoiler.prism.wr_write(qp, rkey, address);
}

void build_allocate(prismdv_qp_ex *qp, std::uint32_t list, std::uint32_t tag)
{
	spoiler.ends = false;
	spoiler.prism.wr_allocate(qp, list, tag);
}

void build_flags(prismdv_qp_ex *qp, std::uint32_t flags)
{
	spoiler.read_from = 0;
	if (spoiler.flaw == Flaw::unconditional && spoiler.ends)
		flags &= ~std::uint32_t{PRISMDV_WR_CONDITIONAL};
	spoiler.prism.wr_set_flags(qp, flags);
}

void build_sge(ibv_qp_ex *qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length)
{
	const std::uint64_t from = std::exchange(spoiler.read_from, 0);
	if (from && length == sizeof(Cell))
		spoiler.cell_reads.push_back({qp->wr_id, from, address});
	spoiler.set_sge(qp, lkey, address, length);
}

} // namespace

void spoil(simulation::Pair &pair, Flaw flaw)
{
	spoiler.flaw = flaw;
	spoiler.prism = pair.prism_builders();
	spoiler.set_sge = pair.verbs_builders().wr_set_sge;
	prismdv_qp_ex &builders = pair.prism_builders();
	builders.wr_cas = build_cas;
	builders.wr_read = build_read;
	builders.wr_write = build_write;
	builders.wr_allocate = build_allocate;
	builders.wr_set_flags = build_flags;
	pair.verbs_builders().wr_set_sge = build_sge;
}

std::vector<CellRead> take_cell_reads()
{
	return std::exchange(spoiler.cell_reads, {});
}

} // namespace tx_sim
