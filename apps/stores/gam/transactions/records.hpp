/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include "gam/dht/table.hpp"
#include "gam/memory/session.hpp"
#include "gam/transactions/known_records.hpp"

namespace prism::gam
{

struct RecordsOptions {
	std::uint32_t max_value_size =
		496;        /**< bytes, at most longest_value; each record has room for so many, in blocks */
	TableOptions index; /**< its nodes have the records, too */
};

/**
 * One thread's handle on the records of a transactional store in the global memory. A record has the value of one key.
 * It begins with a block of its own, whose lock is the record's: for all of its blocks, and against no other record.
 *
 * Each key that anybody has asked for or written has one record, at one address, for good: so that the lock of a key
 * that is absent is there as well, and no address goes stale. Erasing a key leaves its record, empty; the records of
 * absent keys cost memory. A hash table is the index.
 */
class Records
{
public:
	/** Makes a store without records. Errors: EINVAL (options), those of Table::create(). */
	static Result<Records> create(Session &session, const RecordsOptions &options = {});
	/** Opens the store that catalogue() of another handle, on any node, names. Errors: EPROTO (there is none). */
	static Result<Records> open(Session &session, Address catalogue);

	[[nodiscard]] Address catalogue() const noexcept { return address_; }
	[[nodiscard]] std::size_t max_value_size() const noexcept { return max_value_size_; }
	/** Whether all nodes that have a part of the index are there. */
	[[nodiscard]] bool is_whole() noexcept { return index_.is_whole(); }

	/** What a record begins with; the value follows. Of a new record all is zero. */
	struct Header {
		std::uint64_t version = 0; /**< counts the commits that changed it */
		std::uint32_t bytes = 0;   /**< of the value */
		std::uint32_t check = 0;   /**< check_of() the value; 0: the key is absent */
	};
	/**
	 * Never 0. Tells the value of several blocks, of which one was lost with the node that wrote it and another was
	 * not, from any that was written.
	 */
	[[nodiscard]] static std::uint32_t check_of(std::span<const std::byte> value) noexcept;

	/**
	 * The record of @p key, at most max_key_size bytes, in @p record; a new one lies where the index says. 0,
	 * ENOSPC (there is no memory for a new one), or what the global memory has failed with.
	 */
	int find(std::span<const std::byte> key, Address &record) noexcept;
	static constexpr std::size_t max_key_size = 1024;
	static constexpr std::uint32_t longest_value = 1U << 18;

	/* For whoever holds the record's lock. They return 0 or what the global memory has failed with. */

	/** EBADMSG: nobody writes such a header. */
	int read(Address record, Header &header) noexcept;
	/** @p value: as long as @p header says. EBADMSG: a part of it is lost. */
	int read_value(Address record, const Header &header, std::span<std::byte> value) noexcept;
	/** Both, what is in one block at once; to be fenced, as all writes. */
	int write(Address record, const Header &header, std::span<const std::byte> value) noexcept;

private:
	Records(Session &session, Table index, Address address, std::uint32_t max_value_size) noexcept;

	int find_in_index(std::span<const std::byte> key, Address &record) noexcept;
	int look_up(std::span<const std::byte> key, Address &record) noexcept;
	int add(std::span<const std::byte> key, Address &record) noexcept;

	Session &session_;
	Table index_;
	KnownRecords known_;
	Address address_;
	std::uint32_t max_value_size_;
};

} // namespace prism::gam
