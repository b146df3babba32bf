/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Free lists: the server's side of ALLOCATE.
 *
 * The device hands out buffers without telling the server, but it has counters, and hands out in the order of posting.
 * From these BufferLedger derives the state of each buffer, so that a buffer that is freed twice can be refused, and
 * unreachable buffers can be found.
 */
#pragma once

#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace prism
{

/** Verdict on a reported address. */
enum class Verdict : std::uint8_t {
	released,      /**< taken back */
	outside,       /**< not in this list's buffers */
	misaligned,    /**< not the start of a buffer */
	not_allocated, /**< not handed out now: freed twice, or never handed out */
	undecided,     /**< not known yet; ask again after observe() */
};

/** Returns its name, such as "not_allocated". Never null. */
PRISM_EXPORT const char *to_string(Verdict verdict) noexcept;

/**
 * Holder of each buffer. Pure bookkeeping: no device, no memory access. Not thread-safe.
 *
 * A buffer is with the owner, or listed. A listed one has the sequence number of its posting, and has been handed out
 * exactly if that number is below the device's consumed count. Buffers that the device took back from unfinished
 * ALLOCATEs are in the list a second time at unknown places, so the consumed count is only known between two bounds,
 * which meet again when the list has been empty once.
 */
class PRISM_EXPORT BufferLedger
{
public:
	BufferLedger(std::uint64_t base, std::uint32_t buffer_size, std::uint32_t count);

	[[nodiscard]] std::uint64_t address_of(std::uint32_t index) const noexcept
	{
		return base_address_ + std::uint64_t{index} * size_;
	}
	[[nodiscard]] std::uint32_t buffers() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }

	/** Notes that buffer @p index was posted, after all earlier ones. */
	void posted(std::uint32_t index) noexcept;
	/** Takes over the device's counters. They never go back: an older snapshot is ignored. */
	void observe(const prismdv_free_list_attr &counters) noexcept;
	/** Notes that the device removed the bad entry of @p address: it is with the owner and stays there. */
	void rejected(std::uint64_t address) noexcept;

	/** Judges @p address, which a client gives back. On released, buffer @p index is with the owner, to be
	 * posted again. */
	Verdict release(std::uint64_t address, std::uint32_t &index) noexcept;

	/** Notes that the owner itself popped @p address. False if that is impossible. */
	bool taken_by_owner(std::uint64_t address, std::uint32_t &index) noexcept;

	/**
	 * Returns true if the state of every buffer is known: the consumed count is exact, and no buffer that the
	 * device took back is still in its list, where this ledger cannot tell it from one that is handed out.
	 */
	[[nodiscard]] bool exact() const noexcept
	{
		return surely_consumed_ == perhaps_consumed_ && taken_back_ == reclaimed_;
	}

	/* Recovery: mark, spare what is live, collect the rest. */

	/** Makes the buffers that are handed out now the candidates. */
	void mark();
	/** Spares the live buffer that @p address points into. False if it is outside. */
	bool spare(std::uint64_t address) noexcept;
	/** Takes back candidates that were neither spared nor released since mark(); appends them to @p leaked. */
	void collect(std::vector<std::uint32_t> &leaked);

private:
	enum class Holder : std::uint64_t {
		owner,
		listed,
		rejected
	};
	/* One for each buffer, so its size matters. 2^61 postings take longer than any device lives. */
	struct Entry {
		std::uint64_t sequence : 61 = 0;
		Holder holder : 2 = Holder::owner;
		std::uint64_t live : 1 = 0;
	};
	static_assert(sizeof(Entry) == 8);

	Verdict locate(std::uint64_t address, std::uint32_t &index) const noexcept;

	std::uint64_t base_address_;
	std::uint32_t size_;
	std::vector<Entry> entries_;
	std::uint64_t next_sequence_ = 0;
	std::uint64_t surely_consumed_ = 0;  /* sequence numbers below have surely left the list */
	std::uint64_t perhaps_consumed_ = 0; /* sequence numbers from here on have surely not */
	std::uint64_t taken_back_ = 0;       /* reclaimed buffers that have surely been handed out again */
	std::uint64_t reclaimed_ = 0;        /* by the device, as of the last observe() */
	std::uint64_t marked_ = 0;           /* candidates are listed below this */
};

struct FreeListOptions {
	std::uint32_t buffer_size = 0; /**< bytes, a multiple of 16 */
	std::uint32_t count = 0;       /**< buffers */
	std::uint32_t low_water = 0;   /**< low() is true with fewer available */
	std::size_t table_size = 0;    /**< bytes of zeroed memory before the buffers, see FreeList::table() */
};

struct FreeListStats {
	std::uint64_t released = 0;      /**< buffers taken back from reports */
	std::uint64_t outside = 0;       /**< reports refused: not of this list */
	std::uint64_t misaligned = 0;    /**< reports refused: not the start of a buffer */
	std::uint64_t not_allocated = 0; /**< reports refused: freed twice or never handed out */
	std::uint64_t deferred = 0;      /**< reports that had to wait for the device's counters */
	std::uint64_t rejected = 0;      /**< bad entries that the device removed */
	std::uint64_t recovered = 0;     /**< leaked buffers found by recovery scans */
};

/** Buffers that live data structures point at; filled in by the application during a recovery scan. */
class PRISM_EXPORT LiveSet
{
public:
	/** Marks the buffer that holds @p address as reachable. Addresses outside the list are counted, not an
	 * error. */
	void add(std::uint64_t address) noexcept;

	[[nodiscard]] std::uint64_t live() const noexcept { return inside_; }
	[[nodiscard]] std::uint64_t outside() const noexcept { return elsewhere_; }

private:
	friend class FreeList;
	explicit LiveSet(BufferLedger &buffers) : ledger_(buffers) {}

	BufferLedger &ledger_;
	std::uint64_t inside_ = 0;
	std::uint64_t elsewhere_ = 0;
};

struct Recovery {
	std::uint64_t live = 0;      /**< reachable addresses seen */
	std::uint64_t outside = 0;   /**< addresses seen that are not of this list */
	std::uint64_t recovered = 0; /**< leaked buffers that are in the list again */
};

/** A free list with the memory of its buffers. One thread at a time; the device itself serves it concurrently. */
class PRISM_EXPORT FreeList
{
public:
	FreeList(FreeList &&) = default;
	FreeList &operator=(FreeList &&) = delete; /* members would go in the wrong order */

	/** Allocates the buffers and posts all of them. Errors: EINVAL, ENOMEM, those of prismdv_create_srq(3). */
	static Result<FreeList> create(const ProtectionDomain &pd, const FreeListOptions &options);

	/**
	 * Does the same with buffers that begin at @p offset of @p shared. Several lists may have parts of it: all
	 * memory of a region is accessed with one rkey. table_size must be 0. Errors: as above, ERANGE (the buffers are
	 * not all inside).
	 */
	static Result<FreeList> create(const ProtectionDomain &pd, const FreeListOptions &options,
		std::shared_ptr<const Buffer> shared, std::size_t offset);

	/** Description of the list for clients. */
	[[nodiscard]] FreeListInfo info() const noexcept;
	[[nodiscard]] std::uint32_t number() const noexcept { return srq_number_; }

	/**
	 * The application's memory in the same region: pointers to buffers belong here, since an indirect operation
	 * reaches its pointer and what that points at under one rkey.
	 */
	[[nodiscard]] RemoteRegion table() const noexcept
	{
		return {memory_->region().address(), table_bytes_, memory_->region().rkey()};
	}
	/** Returns the table, then the buffers, as the CPU sees them; or all of the memory that lists share. */
	[[nodiscard]] const Buffer &storage() const noexcept { return *memory_; }
	[[nodiscard]] const FreeListStats &stats() const noexcept { return counted_; }
	[[nodiscard]] ibv_srq *raw() const noexcept { return handle_.get(); }

	/**
	 * Takes back @p address, which a client frees. A released buffer goes back into the list at the next
	 * post_released(). Undecided ones are kept, and decided by a later refresh(). Call refresh() after a batch of
	 * reports has arrived and before judging it: the counters must be newer than the reports.
	 */
	Verdict release(std::uint64_t address) noexcept;

	/** Reads the device's counters and its rejected entries, and settles waiting reports. Returns 0 or errno. */
	int refresh() noexcept;

	/** Posts released buffers, many in each call. Returns 0 or errno; buffers that could not be posted stay for the
	 * next call.
	 */
	int post_released() noexcept;

	/** Entries available at the last refresh(). */
	[[nodiscard]] std::uint32_t available() const noexcept { return available_entries_; }
	[[nodiscard]] bool low() const noexcept { return available_entries_ < low_water_; }

	/**
	 * Finds buffers that are allocated but unreachable, and posts them again. @p enumerate adds every address that
	 * live data structures hold.
	 *
	 * The caller ensures that the queue pairs of dead clients are destroyed; that live clients hold no buffer that
	 * is not yet reachable, install none during the scan, and have flushed their reports; and that these have been
	 * released here. Errors: EBUSY (the device took buffers back from unfinished ALLOCATEs, so that they cannot be
	 * told from leaked ones: call drain() first), or errno of the device.
	 */
	Result<Recovery> recover(const std::function<void(LiveSet &)> &enumerate);

	/**
	 * Does the same in steps, so that clients can continue. begin_recovery() notes the buffers that are handed out
	 * now. Then all operations of live clients that were under way end, every reachable address is added to live(),
	 * and live clients flush their reports, which are released here. end_recovery() takes back the noted buffers
	 * that are neither reachable nor released. Errors: as above.
	 */
	Result<void> begin_recovery();
	[[nodiscard]] LiveSet live() noexcept { return LiveSet(ledger_); }
	Result<Recovery> end_recovery(const LiveSet &live);

	/**
	 * Empties the list into the owner's hands, by ALLOCATEs on @p self (a queue pair of the same protection domain,
	 * connected to itself, nothing in flight). Afterwards the state of every buffer is known; recover() or
	 * post_released() puts the buffers back. Clients get NO_BUFFER in between. Returns the number of buffers taken.
	 */
	Result<std::uint64_t> drain(QueuePair &self, std::chrono::milliseconds timeout);

private:
	struct Destroy {
		void operator()(ibv_srq *srq) const noexcept { ibv_destroy_srq(srq); }
	};
	using Handle = std::unique_ptr<ibv_srq, Destroy>;
	static constexpr std::size_t batch = 64;

	FreeList(std::shared_ptr<const Buffer> buffers, std::size_t offset, Handle srq, std::uint32_t number,
		const FreeListOptions &options);
	static Result<FreeList> create_over(const ProtectionDomain &pd, const FreeListOptions &options,
		std::shared_ptr<const Buffer> buffers, std::size_t offset);
	int post_batch(std::span<const std::uint32_t> indices, std::size_t &done) noexcept;
	void count_refusal(Verdict verdict) noexcept;
	int take_rejected() noexcept;
	void settle_waiting() noexcept;

	std::shared_ptr<const Buffer> memory_; /* declared first: freed only after the list is gone */
	std::size_t table_bytes_;
	Handle handle_;
	std::uint32_t srq_number_;
	std::uint32_t buffer_size_;
	std::uint32_t low_water_;
	std::uint32_t available_entries_ = 0;
	BufferLedger ledger_;
	std::vector<std::uint32_t> released_; /* indices to post; capacity for all of them */
	std::vector<std::uint64_t> waiting_;  /* undecided addresses; bounded by the number of buffers */
	FreeListStats counted_;
};

} // namespace prism
