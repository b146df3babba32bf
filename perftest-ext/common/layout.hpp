/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Layout of the server's one memory region.
 *
 * The client chooses the geometry and both sides compute the same offsets from it, so that the exchange carries one
 * address instead of a table. A job is one place in the client's pipeline; every contestant has a cell for each job,
 * so that jobs in flight, and contestants that take turns, never meet in one word.
 *
 *   header    the cursor that plain verbs allocate with (FETCH_AND_ADD)
 *   cells     contestants x jobs: targets of a job's pointers, comparisons and swaps
 *   scratch   contestants x queue pairs: results that a chain passes from one operation to the next
 *   objects   targets of READs and WRITEs
 *   ring      buffers that plain verbs allocate by the cursor
 *   buffers   buffers of the free list: the first one for each job is installed in its cell, the rest are posted
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/parameters.hpp"

namespace prism::perftest
{

inline constexpr std::uint32_t most_qps = 1024;

/** A cell in memory: everything little-endian, as PRISM defines. */
struct Cell {
	std::uint64_t pointer; /**< with bound and tag a bounded pointer */
	std::uint32_t bound;
	std::uint32_t tag;
	std::uint64_t lock; /**< for plain verbs where an 8-byte CAS does not suffice */
	std::uint64_t reserved;
	std::uint8_t operand[32]; /**< the target of a CAS */
};

static_assert(sizeof(Cell) == 64);

struct Geometry {
	std::uint32_t largest_message = 0;
	std::uint32_t qps = 0;
	std::uint32_t depth = 0; /**< jobs for each QP */
	std::uint32_t contestants = 0;
	std::uint32_t objects = 0;
	std::uint32_t ring = 0;
	std::uint32_t buffers = 0; /**< installed and posted ones; 0: no free list */

	bool operator==(const Geometry &) const = default;

	[[nodiscard]] std::uint32_t jobs() const { return qps * depth; }

	/** Returns the number of buffers that the server posts: those that no cell holds at the start. */
	[[nodiscard]] std::uint32_t posted_buffers() const { return buffers - (buffers ? jobs() : 0); }

	/** Returns an empty text if a server can serve this, else the problem: these numbers come from the network. */
	[[nodiscard]] std::string problem() const;
};

/** Returns the geometry for a run, with @p depth jobs for each QP and at most @p max_free_list entries in the free
 * list. */
[[nodiscard]] Geometry plan_geometry(const Parameters &parameters, std::uint32_t largest_message, std::uint32_t depth,
	std::uint32_t contestants, std::uint32_t max_free_list);

class Layout
{
public:
	explicit Layout(const Geometry &plan_);

	[[nodiscard]] const Geometry &geometry() const { return plan_; }
	[[nodiscard]] std::uint64_t size() const { return end_; }
	[[nodiscard]] std::uint64_t stride() const { return message_stride_; }

	[[nodiscard]] std::uint64_t cursor() const { return 0; }
	[[nodiscard]] std::uint64_t cell(std::uint32_t contestant, std::uint32_t job) const;
	[[nodiscard]] std::uint64_t scratch(std::uint32_t contestant, std::uint32_t qp) const;
	[[nodiscard]] std::uint64_t object(std::uint32_t job) const;
	[[nodiscard]] std::uint64_t ring(std::uint64_t index) const;
	[[nodiscard]] std::uint64_t buffer(std::uint32_t index) const;

	/** Returns the bytes of all scratch areas, for a server that keeps them in device memory. */
	[[nodiscard]] std::uint64_t scratch_size() const;

	/** Returns true if @p offset is the start of a buffer of the free list. */
	[[nodiscard]] bool is_buffer(std::uint64_t offset) const;

private:
	Geometry plan_;
	std::uint64_t message_stride_;
	std::uint64_t cells_;
	std::uint64_t scratches_;
	std::uint64_t objects_;
	std::uint64_t rings_;
	std::uint64_t buffers_;
	std::uint64_t end_;
};

/** Returns the eight bytes that object @p index repeats, never 0 in any byte. */
[[nodiscard]] std::uint64_t object_stamp(std::uint32_t index);

/** Fills @p size bytes with @p stamp, over and over. */
void fill_with_stamp(std::uint8_t *data, std::size_t size, std::uint64_t stamp);

} // namespace prism::perftest
