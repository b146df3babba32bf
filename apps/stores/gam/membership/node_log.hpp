/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gam/membership/log_entry.hpp"
#include "gam/membership/log_folder.hpp"
#include "gam/membership/log_scan.hpp"
#include "gam/membership/log_segment.hpp"

namespace prism::gam
{

/** Returns the ID of the machine's present run. */
std::array<std::byte, 16> boot_of_machine() noexcept;

struct LogOptions {
	std::filesystem::path folder; /**< made if necessary */
	std::uint64_t cluster = 0;
	NodeId node = 0;
	std::uint64_t incarnation = 0;                     /**< life of the node */
	std::size_t segment_bytes = std::size_t{16} << 20; /**< at least 4096 */
	std::size_t most_segments = 4096;                  /**< most segments; then ENOSPC */
	std::array<std::byte, 16> boot = boot_of_machine();
	std::function<void()> step; /**< called between any two changes of the folder; for tests */
};

/**
 * The log of a node: segments in a folder, in NVRAM or on a disk. An append is a copy into mapped memory, which
 * outlives the process; after commit() it outlives the machine. Each life of the node begins a segment. Any thread,
 * unless a comment says otherwise.
 */
class NodeLog
{
public:
	/**
	 * Opens the log in the folder, or begins one, and checks all entries: incomplete ones, left by a kill or a
	 * power failure, are cut off; damaged ones are reported by missing(). A full disk is no error here: append()
	 * reports it. Errors: EBUSY (another process has it), EINVAL (the log is of another cluster or node), those of
	 * the file system.
	 */
	static Result<std::unique_ptr<NodeLog>> open(LogOptions options);
	/** Opens the log in @p folder likewise, whatever the options say. */
	static Result<std::unique_ptr<NodeLog>> open(LogOptions options, LogFolder folder);
	NodeLog(const NodeLog &) = delete;
	NodeLog &operator=(const NodeLog &) = delete;

	/**
	 * Appends @p entry; the log sets its sequence and order. Waits for no disk. Errors: ENOSPC, or EIO for every
	 * other cause, when an append or a commit fails for the first time, then EROFS: entries after a gap are worth
	 * nothing.
	 */
	int append(const Entry &entry) noexcept;
	/** Returns the sequence of the last entry. */
	[[nodiscard]] std::uint64_t written() const noexcept { return written_.load(std::memory_order_acquire); }
	/** Returns the sequence of the last entry on the disk. */
	[[nodiscard]] std::uint64_t committed() const noexcept { return committed_.load(std::memory_order_acquire); }
	/** Waits until all entries so far are on the disk. Errors: EIO, ENOSPC; see append(). */
	int commit() noexcept;
	/** Returns the error for which nothing can be appended any more, or 0: one that accesses may end with. */
	[[nodiscard]] int error() const noexcept;
	/** Returns the errno value that was its cause, or 0. */
	[[nodiscard]] int cause() const noexcept { return error_.load(std::memory_order_relaxed); }

	/** Counts a value that a recovery has found lost, until told(): the process may end before it can say so. */
	void note_loss() noexcept;
	/** Returns the losses that were counted, by earlier lives, too, and not told. */
	[[nodiscard]] std::uint64_t untold() const noexcept;
	void told() noexcept;

	/** Calls @p visit with each entry, the oldest first; nothing is compacted meanwhile. */
	Result<void> scan(const VisitEntry &visit);
	/**
	 * Returns the gaps that open() or a later scan has found, or that segment heads record after a compaction. Kept
	 * for good: a home that was away may ask for lost entries.
	 */
	[[nodiscard]] std::vector<Missing> missing() const;
	/** Returns the last gap that was found since open(), or why it cannot be compacted: a sentence, or nothing. */
	[[nodiscard]] std::string trouble() const;

	/**
	 * Makes room: copies the entries of complete segments that recovery may need (see Newest) to the end, then
	 * removes these segments, damaged ones too. May be killed at any time. Returns the bytes of the copies. Errors:
	 * ENOSPC, EIO.
	 */
	Result<std::size_t> compact();
	/** Returns the number of segments. */
	[[nodiscard]] std::size_t segments() const;
	[[nodiscard]] std::size_t segment_bytes() const noexcept { return options_.segment_bytes; }
	/** Returns the incarnation of the life that began the log; 0: unknown. */
	[[nodiscard]] std::uint64_t began() const noexcept { return began_; }

	/** Makes the next segment ahead, so that append() need not. Errors: as append(), but the log goes on. */
	int prepare() noexcept;

private:
	/* A complete segment: the entries from `first` up to `next` */
	struct Closed {
		std::filesystem::path path;
		std::uint64_t first;
		std::uint64_t next;
		bool damaged; /* the head is damaged, so nothing in it can be checked */
	};
	struct Old;

	NodeLog(LogOptions options, LogFolder folder) : options_(std::move(options)), folder_(std::move(folder)) {}

	Result<void> load();
	Result<std::vector<Old>> find_segments();
	Result<void> take(std::vector<Old> &olds);
	[[nodiscard]] std::uint64_t trusted(const std::vector<Old> &olds) const;
	static Result<void> remove_from(std::vector<Old> &olds, std::size_t first);
	void recall_gaps(const std::vector<Old> &olds);
	void recall_words(const std::vector<Old> &olds);
	void note_gaps(SegmentHead &head) const;
	Result<void> cut(std::vector<Old> &olds, std::size_t at, const Scanned &scanned);
	Result<void> settle(std::vector<Old> &olds);
	int begin_segment(bool compacting);
	int append_locked(Entry entry, bool compacting) noexcept;
	int fail(int cause) noexcept;
	void set_failed_word() noexcept;
	Result<void> scan_all(const VisitEntry &visit);
	Result<void> scan_closed(const Closed &closed, const VisitEntry &visit);
	void miss(const std::filesystem::path &path, const Missing &gap);
	Result<std::size_t> copy_newest(const std::vector<Closed> &from);
	int tell_gaps();
	void note_kept(std::uint64_t first) noexcept;
	Result<void> remove(const Closed &closed);
	void step() const
	{
		if (options_.step)
			options_.step();
	}
	[[nodiscard]] std::filesystem::path path_of(std::uint64_t number, const char *ending) const;

	const LogOptions options_;
	const LogFolder folder_;
	std::uint64_t began_ = 0;
	std::mutex maintenance_; /* scans and compactions */
	std::mutex committing_;

	mutable std::mutex lock_; /* for all below */
	std::vector<Missing> missing_;
	bool is_gap_untold_ = false; /* no head has the last of them */
	std::string trouble_;
	std::vector<Closed> closed_;
	std::shared_ptr<Segment> current_;
	std::unique_ptr<Segment> spare_;
	SegmentHead head_; /* head of current_ */
	std::uint64_t seed_ = 0;
	std::size_t end_ = 0;    /* offset of the end of the last entry of current_ */
	std::uint64_t next_ = 1; /* sequence */
	std::uint64_t kept_ = 1; /* as the word */
	std::uint32_t untold_ = 0;
	std::vector<std::shared_ptr<Segment>> uncommitted_; /* complete segments */
	std::atomic<std::uint64_t> written_{0};
	std::atomic<std::uint64_t> committed_{0};
	std::atomic<int> error_{0};
};

} // namespace prism::gam
