/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The server's side of Pilaf's memory: 3-way cuckoo hashing with one entry to a place, as in the paper. Only the server
 * writes. A key that is moved stands at its new place before it leaves the old one.
 */
#pragma once

#include "layout.hpp"

#include "common/store_client.hpp"
#include "service/extent_arena.hpp"

#include <prism/device.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace prism::kv::pilaf
{

struct CuckooOptions {
	std::uint64_t entries = 1 << 20;           /**< places in the table; about 9 of 10 can be used */
	std::size_t memory = std::size_t{1} << 30; /**< bytes for extents */
	std::uint64_t seed = 0x70696c6166;         /**< seed of the hash */
	/** Time that a freed extent keeps its bytes, so that GETs under way seldom find others there. */
	std::chrono::microseconds rest = std::chrono::milliseconds(1);
	/** Places searched for one insertion before the table counts as full. */
	std::uint32_t search_limit = 1024;
};

struct CuckooStats {
	std::uint64_t objects = 0; /**< stored */
	std::uint64_t moves = 0;   /**< entries moved to make room */
	std::uint64_t hurried = 0; /**< extents used again before their rest was over */
};

enum class Damage : std::uint8_t {
	entry,
	extent,
};

/** A cuckoo table. Thread-safe: updates are made under one lock, after the extents that they install were written. */
class CuckooTable
{
public:
	/**
	 * Creates a table and registers its memory in @p pd, for peers to read. Errors: EINVAL (options of 0), those of
	 * Buffer::create().
	 */
	static Result<std::unique_ptr<CuckooTable>> create(const ProtectionDomain &pd, const CuckooOptions &options_);

	/** Execute these calls, with the results of RequestHandler::handle(). */
	apps::Outcome get(std::span<const std::byte> key, std::span<std::byte> into, std::uint32_t &size) noexcept;
	apps::Outcome put(std::span<const std::byte> key, std::span<const std::byte> value) noexcept;
	apps::Outcome erase(std::span<const std::byte> key) noexcept;

	[[nodiscard]] RemoteRegion table() const noexcept { return entries_.remote(); }
	[[nodiscard]] RemoteRegion extent_memory() const noexcept { return extents_.remote(); }
	[[nodiscard]] CuckooStats stats() const noexcept;

	/** For tests: flips one bit without the checksums. Returns false if there is no such key, or no value. */
	bool damage(std::span<const std::byte> key, Damage part) noexcept;

private:
	/* A place in the search for an empty one, and the step whose entry would move there. */
	struct Step {
		std::uint64_t place = 0;
		std::uint32_t parent = 0;
		std::uint32_t length = 0; /* length of the path to here */
	};

	CuckooTable(Buffer table_memory, Buffer extent_buffer, const CuckooOptions &chosen);
	[[nodiscard]] const Entry &entry(std::uint64_t place) const noexcept { return entries_.as<Entry>()[place]; }
	void write(std::uint64_t place, const Entry &contents, std::uint64_t hash) noexcept;
	[[nodiscard]] const std::byte *extent(const Entry &of) const noexcept;
	std::optional<Entry> make_extent(std::span<const std::byte> key, std::span<const std::byte> value) noexcept;
	void release(const Entry &of) noexcept;
	std::optional<std::uint64_t> find(std::uint64_t hash, std::span<const std::byte> key) const noexcept;
	bool insert(std::uint64_t hash, const Entry &fresh) noexcept;
	bool on_path(std::uint32_t step, std::uint64_t place) const noexcept;
	std::optional<std::uint32_t> search(std::uint64_t hash) noexcept;
	std::uint64_t make_room(std::uint32_t step) noexcept;

	const CuckooOptions options_;
	Buffer entries_;
	Buffer extents_;
	apps::ExtentArena arena_;
	mutable std::mutex lock_;
	std::vector<std::uint64_t> hashes_; /* hash of the key at each place */
	std::vector<Step> steps_;
	std::uint64_t objects_ = 0;
	std::uint64_t moves_ = 0;
};

} // namespace prism::kv::pilaf
