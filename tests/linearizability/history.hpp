/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Histories of operations on a key-value store: what was called, when, and the result.
 *
 * Each thread of each process records into a file of its own, which outlives the process however it ends; one tool
 * reads them all. See README.md.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <prism/result.hpp>

namespace prism::test
{

/** Nanoseconds of CLOCK_MONOTONIC, or of any other clock that all recorders of a history share. */
using Timestamp = std::uint64_t;

/** The response time of an operation that has not responded. */
constexpr Timestamp never = std::numeric_limits<Timestamp>::max();

/** Value of a key. Every put of a history must have a value of its own. */
using Value = std::uint64_t;

/** The key has no value. */
constexpr Value absent = 0;

enum class Kind : std::uint8_t {
	none = 0, /**< an unused place in a file */
	get = 1,
	put = 2,
	erase = 3,
	conditional_put = 4,   /**< put if the key still holds `expected` */
	conditional_erase = 5, /**< erase if the key still holds `expected` */
	clear = 6,             /**< whatever the key held, the store has lost it, as when it restarts empty */
};

enum class Outcome : std::uint8_t {
	unknown = 0,   /**< took effect at any time after its invocation, or never will */
	ok = 1,        /**< done; a get found a value */
	not_found = 2, /**< get and erase: the key was absent */
	mismatch = 3,  /**< conditional: the key did not hold `expected` */
	no_effect = 4, /**< known not to have happened, such as a put into a full table */
};

/** One operation, and also the record of a file, little-endian. */
struct Operation {
	std::uint64_t key = 0; /**< the key, or a hash of it that tells it from all others */
	Timestamp invoked = 0;
	Timestamp responded = never;
	Value value = absent;    /**< the value of a put, or the result of a get */
	Value expected = absent; /**< conditional operations */
	std::uint32_t client = 0;
	Kind kind = Kind::none;
	Outcome outcome = Outcome::unknown;
	std::uint16_t reserved = 0;

	bool operator==(const Operation &) const = default;
};
static_assert(sizeof(Operation) == 48);

/** Returns the time now, by CLOCK_MONOTONIC. */
[[nodiscard]] Timestamp now() noexcept;

/** Returns "client 3 [1000, 2000] put 17 -> ok". */
[[nodiscard]] std::string describe(const Operation &operation);

/**
 * Records the operations of one thread into a file.
 *
 * begin() stores an operation before it is started, end() completes its record in place; both are a few stores to
 * mapped memory. If the process dies, the kernel still has all of them, and an operation without its end() reads as
 * one of unknown outcome. Not thread-safe: one writer for each thread.
 */
class HistoryWriter
{
public:
	/** Names an operation between begin() and end(). */
	using Handle = std::size_t;

	/** Returned by begin() if the file is full. */
	static constexpr Handle none = std::numeric_limits<Handle>::max();

	/**
	 * Creates @p path, or replaces it. A reader meanwhile finds the previous contents.
	 * @param capacity operations that fit; the file is sparse, unused ones cost nothing
	 * @return the writer, or an error of the system
	 */
	static Result<HistoryWriter> create(const std::filesystem::path &path, std::size_t capacity);

	HistoryWriter(HistoryWriter &&other) noexcept;
	HistoryWriter &operator=(HistoryWriter &&other) noexcept;
	HistoryWriter(const HistoryWriter &) = delete;
	HistoryWriter &operator=(const HistoryWriter &) = delete;

	/** Cuts the file to the recorded length. */
	~HistoryWriter();

	/**
	 * Call immediately before an operation is started.
	 * @param operation kind, key, client, and value and expected as far as they are known; the invocation time is
	 * set here unless it is given
	 * @return for end(), or none if the capacity is used up
	 */
	Handle begin(const Operation &operation) noexcept;

	/**
	 * Call as soon as its result is known; never for an operation whose outcome stays unknown.
	 * @param value what a get returned; not looked at for other kinds
	 * @param at the response time, by default now()
	 */
	void end(Handle handle, Outcome outcome, Value value = absent, Timestamp at = never) noexcept;

private:
	HistoryWriter(int descriptor, void *mapping, std::size_t capacity) noexcept;
	void close() noexcept;

	int descriptor_ = -1;
	void *mapping_ = nullptr;
	std::size_t capacity_ = 0;
	std::size_t used_ = 0;
};

/**
 * Reads one file, also that of a process which died or is still writing.
 * @return its operations in the order of begin(), or why the file is not a history
 */
Result<std::vector<Operation>> read_history(const std::filesystem::path &path);

/** Reads and joins several files. Errors: those of read_history(). */
Result<std::vector<Operation>> read_histories(const std::vector<std::filesystem::path> &files);

/** Returns the files "*.history" of @p folder. A process that was killed before its first operation has none. */
std::vector<std::filesystem::path> histories_in(const std::filesystem::path &folder);

/** Writes a whole history to @p path. */
Result<void> write_history(const std::filesystem::path &path, const std::vector<Operation> &history);

} // namespace prism::test
