/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Workload of a store's clients: the YCSB core workloads (Cooper et al., SoCC '10), the choice of records, and the
 * contents of keys and values. A seed repeats a workload exactly, on every platform.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string_view>

namespace prism::bench
{

/** Uniform 64-bit numbers; the same from the same seed everywhere. */
using Random = std::mt19937_64;

/** Returns the generator of stream number @p stream under @p seed: streams of one seed are independent. */
[[nodiscard]] Random make_random(std::uint64_t seed, std::uint64_t stream);

enum class Request : std::uint8_t {
	read,
	update,
	insert,
	read_modify_write, /**< GET, then PUT of the same key, measured as one */
};
inline constexpr std::size_t request_kinds = 4;

/** Returns a name such as "read-modify-write". */
[[nodiscard]] std::string_view name_of(Request request);

enum class Distribution : std::uint8_t {
	uniform,
	zipfian, /**< scrambled: the popular records lie anywhere */
	latest,  /**< Zipfian, the newest record being the most popular */
};

[[nodiscard]] std::string_view name_of(Distribution distribution);

/** Shares of the kinds of requests; they sum up to 1. */
struct Mix {
	char name = 'C';
	std::array<double, request_kinds> share{};         /**< by Request */
	Distribution distribution = Distribution::zipfian; /**< the one that YCSB combines it with */

	/** Draws a kind. */
	[[nodiscard]] Request next(Random &random) const noexcept;
};

/**
 * Returns YCSB's mix @p letter, of either case: A, B, C, D or F, or one with more updates: P, 95%, or W, nothing else.
 * There is no E, as no store here has scans.
 */
[[nodiscard]] std::optional<Mix> find_mix(char letter);
/** Returns the mix R: share @p reads, from 0 to 1, of reads, the rest updates. */
[[nodiscard]] constexpr Mix mix_of_reads(double reads) noexcept
{
	return {'R', {reads, 1 - reads, 0, 0}, Distribution::zipfian};
}

/**
 * Generator of ranks 1..n with P(k) proportional to k^-theta, in constant time and memory: rejection-inversion
 * (Hoermann, Derflinger 1996), which needs no sum over all n, so that n may grow with every insert.
 */
class Zipf
{
public:
	/** @param n at least 1. @param theta above 0. */
	Zipf(std::uint64_t n, double theta);

	[[nodiscard]] std::uint64_t next(Random &random) const noexcept;

	/** Changes @p n, at least 1. */
	void resize(std::uint64_t n) noexcept;

	[[nodiscard]] std::uint64_t size() const noexcept { return ranks_; }

private:
	[[nodiscard]] double density(double x) const noexcept;
	[[nodiscard]] double area(double x) const noexcept;
	[[nodiscard]] double area_inverse(double y) const noexcept;

	double exponent_;
	std::uint64_t ranks_;
	double area_first_;
	double area_last_ = 0;
	double shortcut_;
};

/** Picks the records that requests go to. One for each thread. */
class KeyChooser
{
public:
	/** @param records their number, at least 1. @param theta of the Zipf distributions. */
	KeyChooser(Distribution distribution, std::uint64_t records, double theta);

	/** Returns one of the records 0 .. @p records - 1. @p records never shrinks from call to call. */
	[[nodiscard]] std::uint64_t next(Random &random, std::uint64_t records) noexcept;

private:
	Distribution kind_;
	std::uint64_t initial_; /* scrambling uses it, so the popular records stay the same while others are inserted */
	Zipf zipf_;
};

/** Maps 0 .. 2^bits - 1 by a bijection that looks random. @param bits 1 to 64. */
[[nodiscard]] std::uint64_t permute(std::uint64_t value, unsigned bits) noexcept;

/** Maps 0 .. n - 1 by a bijection that looks random. */
[[nodiscard]] std::uint64_t scramble(std::uint64_t value, std::uint64_t n) noexcept;

inline constexpr std::size_t largest_key = 250; /**< longest key of memcached */

/** Returns the number of different keys of @p size bytes, at most 2^48. */
[[nodiscard]] std::uint64_t most_records(std::size_t size) noexcept;

/**
 * Fills @p key with the key of @p record: letters, digits, '-' and '_', so that text protocols take it as well. Keys of
 * different records below most_records() differ.
 */
void fill_key(std::uint64_t record, std::span<std::byte> key) noexcept;

/**
 * Fills @p value with version @p version of the value of @p record. Values below 16 bytes hold 8 bits of the version;
 * a value of 1 byte holds nothing else and cannot be told from another record's.
 */
void fill_value(std::uint64_t record, std::uint64_t version, std::span<std::byte> value) noexcept;

/** Returns the version of @p value if it is whole and a value of @p record, nothing otherwise. */
[[nodiscard]] std::optional<std::uint64_t> version_of(std::uint64_t record, std::span<const std::byte> value) noexcept;

/**
 * The existing records, for any number of threads and processes (it may lie in shared memory). Inserts take the next
 * number; readers pick only records below which every insert has ended.
 */
class RecordCounter
{
public:
	/** @param initial number of loaded records. */
	explicit RecordCounter(std::uint64_t initial) noexcept : taken_(initial), ended_(initial) {}

	/** Returns the number of a new record. The caller calls finish() when its insert has ended, well or not. */
	[[nodiscard]] std::uint64_t take() noexcept { return taken_.fetch_add(1, std::memory_order_relaxed); }

	/** @param record from take(). */
	void finish(std::uint64_t record) noexcept;

	/** Returns the number below which all records have been inserted. */
	[[nodiscard]] std::uint64_t readable() const noexcept { return ended_.load(std::memory_order_acquire); }

private:
	/* More than are under way at once. Otherwise the readable number stops growing: reads remain correct. */
	static constexpr std::size_t window = 1 << 16;
	static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it works across processes");

	std::atomic<std::uint64_t> taken_;
	std::atomic<std::uint64_t> ended_;
	std::array<std::atomic<std::uint64_t>, window> finished_{}; /* record + 1 at record % window */
};

} // namespace prism::bench
