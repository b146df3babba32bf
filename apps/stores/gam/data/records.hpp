/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gam/api/session.hpp"
#include "gam/data/known_records.hpp"
#include "gam/data/table.hpp"

namespace prism::gam
{

struct RecordsOptions {
	std::uint32_t max_value_size = 492; /**< bytes, at most longest_value; see Records::bytes_for() */
	TableOptions index;                 /**< its nodes hold the records, too */
};

/**
 * One thread's handle on the records of a transactional store in the global memory. A record has the value of one key.
 * It begins with a block of its own, whose lock protects all blocks of this record, and no other record.
 *
 * Each key that was ever read or written has one record, at one address, for good: so absent keys have locks too, and
 * no address becomes stale. Erasing a key leaves its record, empty; the records of absent keys cost memory. A hash
 * table is the index.
 */
class Records
{
public:
	/** Makes a store without records. Errors: EINVAL (options), those of Table::create(). */
	static Result<Records> create(Session &session, const RecordsOptions &options = {});
	/** Opens the store with the catalogue() of another handle, on any node. Errors: EPROTO (there is none). */
	static Result<Records> open(Session &session, Address catalogue);

	[[nodiscard]] Address catalogue() const noexcept { return address_; }
	[[nodiscard]] std::size_t max_value_size() const noexcept { return max_value_size_; }
	/** Returns true if all nodes that have a part of the index are present. */
	[[nodiscard]] bool is_whole() noexcept { return index_.is_whole(); }

	/** The beginning of a record; the value follows. A new record is all zeros. */
	struct Header {
		std::uint32_t version = 0; /**< counts the commits that changed it; may begin anew */
		std::uint32_t mark = 0;    /**< mark_of() the key; 0: nothing was written yet */
		std::uint32_t bytes = 0;   /**< bytes of the value */
		std::uint32_t check = 0;   /**< check_of() of the value; 0: the key is absent */
		std::uint32_t tail = 0;    /**< 0 or 1: which place has what of the value the first block has not */
	};
	/**
	 * Returns the bytes of a record for values of at most @p max_value_size: a block, and for values that do not
	 * fit into it two places for the rest, of which one has the value and the other takes the next.
	 */
	[[nodiscard]] static std::size_t bytes_for(std::size_t max_value_size) noexcept;
	/**
	 * Returns the checksum of a value, never 0. It detects a value of several blocks, some of which were lost with
	 * the node that wrote them.
	 */
	[[nodiscard]] static std::uint32_t check_of(std::span<const std::byte> value) noexcept;

	/** Returns what tells a key's record from those of other keys and stores, never 0. */
	[[nodiscard]] std::uint32_t mark_of(std::span<const std::byte> key) const noexcept;

	/**
	 * Finds the record of @p key, at most max_key_size bytes, and stores its address in @p record; makes a new one
	 * where the index says. Returns 0, ENOSPC (no memory for a new one), or an error of the global memory.
	 */
	int find(std::span<const std::byte> key, Address &record) noexcept;
	static constexpr std::size_t max_key_size = 1024;
	static constexpr std::uint32_t longest_value = 1U << 18;

	/* For the holder of the record's lock. They return 0 or an error of the global memory. */

	/** Reads the header. EBADMSG: it is invalid, or of another key than that with @p mark. */
	int read(Address record, std::uint32_t mark, Header &header) noexcept;
	/** Reads the value; @p value is as long as @p header says. EBADMSG: a part of it is lost. */
	int read_value(Address record, const Header &header, std::span<std::byte> value) noexcept;
	/**
	 * Writes what the first block does not take of @p value into the place @p tail, which is not that of the
	 * record's value: until write() it has the old one. To be settled.
	 */
	int write_tail(Address record, std::uint32_t tail, std::span<const std::byte> value) noexcept;
	/**
	 * Writes the first block, which names the tail: the record has the new value, whole. Call when write_tail() has
	 * settled without an error, or with one that is_of_log(). To be fenced, as all writes. Needs no line, as the
	 * lock has one.
	 */
	int write(Address record, const Header &header, std::span<const std::byte> value) noexcept;

private:
	Records(Session &session, Table index, Address address, std::uint32_t max_value_size);

	int find_in_index(std::span<const std::byte> key, Address &record) noexcept;
	int look_up(std::span<const std::byte> key, Address &record) noexcept;
	int add(std::span<const std::byte> key, Address &record) noexcept;
	[[nodiscard]] Address tail_of(Address record, std::uint32_t tail) const noexcept;

	Session &session_;
	Table index_;
	KnownRecords known_;
	Address address_;
	std::uint32_t max_value_size_;
};

} // namespace prism::gam
