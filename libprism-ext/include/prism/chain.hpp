/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Chains: several operations in one doorbell, each of which may depend on the one before.
 *
 *     Chain{}.allocate(list, payload).redirect(scratch)
 *            .cas(slot, Cas::equal(old_address, 0)).data_indirect(scratch).conditional()
 *            .post(qp, wr_id);
 *
 * A chain is a value on the stack: building and posting it neither allocates nor throws. Modifiers act on the last
 * operation. A mistake (a modifier that the operation does not take, too many operations) is remembered and answered by
 * post(), before anything reaches the queue pair.
 */
#pragma once

#include <prism/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace prism
{

class QueuePair;

/** Comparison of a CAS: the operand MODE the target. */
enum class CasMode : std::uint8_t {
	equal = PRISMDV_CAS_EQ,
	greater = PRISMDV_CAS_GT, /**< operand greater than target */
	less = PRISMDV_CAS_LT,
};

/** Operands of a compare-and-swap, copied into this value: 8, 16 or 32 bytes each, in memory order. */
struct Cas {
	using Operand = std::array<std::byte, 32>;

	CasMode mode = CasMode::equal;
	bool compare_from_data = false; /**< with data_indirect(): the loaded bytes are the compare operand too */
	std::uint16_t length = 8;
	Operand compare{};
	Operand swap{};
	Operand compare_mask = ones();
	Operand swap_mask = ones();

	/** Makes a CAS of 8-byte words in host order; they are stored as the little-endian words that devices
	 * compare. */
	PRISM_EXPORT static Cas word(CasMode mode, std::uint64_t compare, std::uint64_t swap) noexcept;
	static Cas equal(std::uint64_t compare, std::uint64_t swap) noexcept
	{
		return word(CasMode::equal, compare, swap);
	}

	/** Makes a CAS of the bytes of two objects of 8, 16 or 32 bytes. */
	template <typename T>
	static Cas bytes(CasMode mode, const T &compare, const T &swap) noexcept
	{
		static_assert(std::is_trivially_copyable_v<T>);
		static_assert(sizeof(T) == 8 || sizeof(T) == 16 || sizeof(T) == 32, "a CAS has 8, 16 or 32 bytes");
		Cas cas;
		cas.mode = mode;
		cas.length = sizeof(T);
		std::memcpy(cas.compare.data(), &compare, sizeof(T));
		std::memcpy(cas.swap.data(), &swap, sizeof(T));
		return cas;
	}

	/** Compares only @p count bytes from @p offset on (masks out all others). Out of range: compares nothing. */
	Cas &compare_only(std::size_t offset, std::size_t count) noexcept
	{
		compare_mask = range(offset, count);
		return *this;
	}

	/** Swaps only @p count bytes from @p offset on. */
	Cas &swap_only(std::size_t offset, std::size_t count) noexcept
	{
		swap_mask = range(offset, count);
		return *this;
	}

	Cas &use_data_as_compare() noexcept
	{
		compare_from_data = true;
		return *this;
	}

private:
	static constexpr Operand ones() noexcept
	{
		Operand mask{};
		mask.fill(std::byte{0xff});
		return mask;
	}
	static Operand range(std::size_t offset, std::size_t count) noexcept
	{
		Operand mask{};
		for (std::size_t i = offset; i < mask.size() && i - offset < count; i++)
			mask[i] = std::byte{0xff};
		return mask;
	}
};

/** Up to Chain::capacity operations, posted together. Not thread-safe. */
class PRISM_EXPORT Chain
{
public:
	static constexpr std::size_t capacity = 8;

	Chain() noexcept : count_(0), mistake_(0), mistaken_step_(0) {}

	/* Operations ------------------------------------------------------------------------------------------------
	 */

	/** READ into @p into. */
	Chain &read(RemoteAddress target, LocalSlice into) noexcept;
	/** READ of @p length bytes whose result goes elsewhere: redirect() must follow. */
	Chain &read(RemoteAddress target, std::uint32_t length) noexcept;

	/** WRITE of @p data. */
	Chain &write(RemoteAddress target, LocalSlice data) noexcept;
	/** WRITE of bytes that are copied when the chain is posted; at most QueuePair::max_inline_data(). */
	Chain &write(RemoteAddress target, std::span<const std::byte> data) noexcept;
	/** WRITE of @p length bytes that come from elsewhere: data_indirect() must follow. */
	Chain &write(RemoteAddress target, std::uint32_t length) noexcept;

	/** Compare-and-swap; the old bytes go to @p old_bytes (length 0: not wanted). */
	Chain &cas(RemoteAddress target, const Cas &operands, LocalSlice old_bytes = {}) noexcept;

	/** ALLOCATE from the peer's @p free_list and write @p payload at the start of the buffer. */
	Chain &allocate(std::uint32_t free_list, LocalSlice payload) noexcept;
	/** Does the same with bytes that are copied when the chain is posted. */
	Chain &allocate(std::uint32_t free_list, std::span<const std::byte> payload) noexcept;

	/** Standard verbs, which need no PRISM at the peer. They set the chain state to success. */
	Chain &rdma_read(RemoteAddress target, LocalSlice into) noexcept;
	Chain &rdma_write(RemoteAddress target, LocalSlice data) noexcept;
	Chain &rdma_write(RemoteAddress target, std::span<const std::byte> data) noexcept;
	/**
	 * CMP_AND_SWP of the 8 bytes at @p target, which is aligned to 8; the old value goes to @p old_value, 8 bytes
	 * in host order. Always a success: the old value tells if it was swapped.
	 */
	Chain &rdma_cas(RemoteAddress target, std::uint64_t compare, std::uint64_t swap, LocalSlice old_value) noexcept;

	/* Modifiers of the last operation ---------------------------------------------------------------------------
	 */

	/** T: the target holds a pointer to the real target. */
	Chain &indirect() noexcept;
	/** T and B: the target holds a prismdv_bounded_ptr, whose bound limits the length. */
	Chain &indirect_bounded() noexcept;
	/** C: run only if the previous request on the queue pair succeeded. */
	Chain &conditional() noexcept;
	/** R: the result (bytes of a READ, address of an ALLOCATE) goes to @p place at the peer. */
	Chain &redirect(RemoteAddress place) noexcept;
	/** R and B, for ALLOCATE: a prismdv_bounded_ptr { address, payload length, @p tag } goes to @p place. */
	Chain &redirect_bounded(RemoteAddress place, std::uint32_t tag = 0) noexcept;
	/** D: the data (of a CAS: the swap operand) comes from @p place at the peer. */
	Chain &data_indirect(RemoteAddress place) noexcept;
	/** ALLOCATE: the address also comes here, 8 bytes in host order, 0 if there was no buffer. */
	Chain &result(LocalSlice place) noexcept;
	/** Signals this operation as well, with an id of its own. The last operation is always signalled. */
	Chain &signal(std::uint64_t wr_id) noexcept;

	/* Posting -----------------------------------------------------------------------------------------------------
	 */

	/**
	 * Posts all operations with one doorbell. The last one is signalled with @p wr_id, which error completions of
	 * the unsignalled ones carry as well. All operands and inline bytes have been copied on return; registered
	 * local memory must stay until the completion. The chain is unchanged and can be posted again. Returns 0, or
	 * with nothing posted: error(), EINVAL (the device refused an operand, length or alignment), ENOMEM (send queue
	 * full), EOPNOTSUPP (the peer is not known to speak PRISM).
	 */
	int post(const QueuePair &qp, std::uint64_t wr_id) const noexcept;

	/** Does the same on bare builders; @p prism may be null if all operations are standard ones. */
	int post(ibv_qp_ex *qp, prismdv_qp_ex *prism, std::uint64_t wr_id) const noexcept;

	/** A chain, and the id of its completion. */
	struct Posting {
		const Chain *chain;
		std::uint64_t wr_id;
	};
	/** Posts several chains in their order, still with one doorbell: all of them, or on an error none. */
	static int post(const QueuePair &qp, std::span<const Posting> postings) noexcept;
	static int post(ibv_qp_ex *qp, prismdv_qp_ex *prism, std::span<const Posting> postings) noexcept;

	[[nodiscard]] std::size_t size() const noexcept { return count_; }

	/** Returns 0, or the errno of post(): EINVAL (illegal modifier, operand or nothing to post), E2BIG (over
	 * capacity).
	 */
	[[nodiscard]] int error() const noexcept;
	/** Index of the first operation that was built wrong; meaningful if error() is not 0. */
	[[nodiscard]] std::size_t bad_step() const noexcept;

private:
	enum class Kind : std::uint8_t {
		read,
		write,
		cas,
		allocate,
		rdma_read,
		rdma_write,
		rdma_cas
	};

	/* No member has an initializer: an empty chain costs nothing; open() sets the members that a step uses. */
	struct Step {
		Kind kind;
		bool signalled;
		bool is_inline;
		bool wants_result;
		std::uint32_t flags; /* enum prismdv_wr_flags */
		std::uint32_t free_list;
		std::uint32_t tag;
		std::uint32_t bytes; /* to move, when they are not local */
		std::uint64_t wr_id;
		RemoteAddress target;
		RemoteAddress aux;
		LocalSlice local;
		LocalSlice result;
		std::uint64_t compare; /* of a standard CMP_AND_SWP, like swap */
		std::uint64_t swap;
		Cas operands;
	};
	union Slot {
		Slot() noexcept {}
		Step step;
	};
	static_assert(std::is_trivially_destructible_v<Step> && std::is_trivially_copyable_v<Step>);

	Step *open(Kind kind, RemoteAddress target) noexcept;
	Chain &modify(std::uint32_t flags) noexcept;
	Step *last_step() noexcept;
	void set_inline(Step &step, std::span<const std::byte> data) noexcept;
	void refuse(int error_code, std::size_t step) noexcept;
	static bool consistent(const Step &step) noexcept;
	static bool is_standard(Kind kind) noexcept;
	[[nodiscard]] bool needs_prism() const noexcept;
	void post_steps(ibv_qp_ex *qp, prismdv_qp_ex *prism, std::uint64_t wr_id) const noexcept;
	static void post_step(ibv_qp_ex *qp, prismdv_qp_ex *prism, const Step &step) noexcept;
	static void post_modifiers(prismdv_qp_ex *prism, const Step &step) noexcept;
	static void post_cas(prismdv_qp_ex *prism, const Step &step) noexcept;
	static void post_data(ibv_qp_ex *qp, const Step &step) noexcept;

	std::array<Slot, capacity> slots_;
	std::uint32_t count_;
	int mistake_;
	std::size_t mistaken_step_;
};

} // namespace prism
