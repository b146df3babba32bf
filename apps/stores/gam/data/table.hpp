/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/store_client.hpp"
#include "gam/api/session.hpp"
#include "gam/data/table_layout.hpp"

namespace prism::gam
{

struct TableOptions {
	/** Buckets on each node, at most 2^24. A bucket holds ten pairs; further ones go to overflow buckets. */
	std::uint32_t buckets = 1024;
	std::uint64_t seed = 0x67616d2d6b657973; /**< seed of the keys' hash */
	/**
	 * Nodes that have all of the table, so that other users may leave: a record is on the node of its bucket.
	 * Empty: all present nodes have buckets, and a record is on the node that has written it.
	 */
	std::vector<NodeId> nodes = {};
};

/** The precautions of a thread. Control runs of tests leave one out, and a checker has to detect that. */
struct TableCare {
	bool compares_keys = true; /**< false: equal tags count as equal keys */
	bool locks = true;         /**< false: buckets are read and written without their lock */
	bool writes_back = true;   /**< false: a record is freed, or an entry refers to it, before the homes know */
};

/**
 * One thread's handle on a hash table in the global memory (VLDB '18, section 6), from keys to values, both of any
 * bytes.
 *
 * The lock of a bucket's block protects its whole chain, and the lifetime of the records that the chain refers to: Get
 * holds it for reading while it reads the record, Put and Erase for writing while they change the chain or a record. So
 * the blocks of a record need no lock. A record is freed after the writer that removed its entry has released the lock:
 * then no reader that has seen the entry can be left. Put overwrites a record of the same length if it is in one block,
 * which is written whole or not at all, even if a node dies; otherwise it makes a new record. Four buckets share a
 * block and a lock. A thread holds one of these locks at a time, and waits for no other meanwhile.
 *
 * If a node dies, its writes revert to what the homes have, for each block separately. So a record is at its home
 * before an entry refers to it, and a changed entry is at its home before its old record is freed: whatever reverts, an
 * entry refers to a record of its key.
 *
 * A node that has got the number of a dead one with buckets is told from it: accesses go on to fail with EHOSTUNREACH.
 * If it has the number of one with records alone, these are EBADMSG as soon as it has something else there.
 *
 * Data that other nodes may have overwritten is checked: a record whose key does not belong into the entry's bucket is
 * EBADMSG, not another key's. Put and Erase replace such an entry; insert() does not.
 *
 * Operations are linearizable. One thread at a time, that of the session.
 */
class Table
{
public:
	/**
	 * Makes an empty table. Errors: EINVAL (options), those of Session::malloc(); memory allocated before the error
	 * is freed.
	 */
	static Result<Table> create(Session &session, const TableOptions &options = {});
	/** Opens the table with the catalogue() of another handle, on any node. Errors: EPROTO (there is none). */
	static Result<Table> open(Session &session, Address catalogue, const TableCare &care = {});

	[[nodiscard]] Address catalogue() const noexcept { return address_; }
	/** Returns the random number that no other table has. */
	[[nodiscard]] std::uint64_t mark() const noexcept { return catalogue_.mark; }
	[[nodiscard]] Session &session() noexcept { return session_; }
	/**
	 * Returns true if all nodes with buckets are present, with these buckets: a node that has got the number of a
	 * dead one may have those of another table at the same addresses.
	 */
	[[nodiscard]] bool is_whole() noexcept;

	/** Returns true if a record can hold such a pair; start() of a client refuses only the others. */
	[[nodiscard]] static bool possible(std::size_t key_bytes, std::size_t value_bytes) noexcept
	{
		return key_bytes <= max_pair_bytes && value_bytes <= max_pair_bytes - key_bytes;
	}
	/** Most bytes of key and value together. */
	static constexpr std::size_t max_pair_bytes = dht::Entry::most_bytes - sizeof(dht::RecordHeader);

	/**
	 * Runs @p operation, whose key and value are possible(), and fills in its results. Outcome::full: there is no
	 * room for a new record on its node, or for an overflow bucket on the bucket's home. Outcome::unknown: an error
	 * occurred after the bucket had been written.
	 */
	void run(apps::Operation &operation) noexcept;
	/**
	 * Runs a PUT likewise, but fails with EEXIST if the key exists, and with the error of a bad entry that may be
	 * the key's.
	 */
	void insert(apps::Operation &operation) noexcept;

	/** Returns the place of a new record of @p key, and of data that belongs to it. */
	[[nodiscard]] Placement place_of(std::span<const std::byte> key) const noexcept;

private:
	/** The result of a search along a chain. */
	struct Search {
		dht::Entry entry; /* entry of the key; free: not found */
		Address at;       /* address of that entry, or of the first free one; null: all are taken */
		Address last;     /* last bucket of the chain */
		Address bad;      /* first entry that may be the key's, but has no valid record */
		int error = 0;    /* error of the bad entry */
	};
	enum class Wanted : std::uint8_t {
		key,
		pair, /* record_ has the whole record afterwards */
	};

	/** Work left after a change of the chain. */
	struct Change {
		Address at;          /* address of the changed entry or bucket pointer; null: none has changed */
		Address superfluous; /* record that no entry refers to any more, or null */
	};

	Table(Session &session, Address address, const dht::Catalogue &catalogue, const TableCare &care);

	[[nodiscard]] std::uint32_t record_mark() const noexcept { return static_cast<std::uint32_t>(catalogue_.mark); }
	int look_at_array(Address array) noexcept;
	int check_home(Address at) noexcept;
	void get(apps::Operation &operation) noexcept;
	void put(apps::Operation &operation, bool replaces) noexcept;
	void erase(apps::Operation &operation) noexcept;

	[[nodiscard]] std::uint64_t hash_of(std::span<const std::byte> key) const noexcept;
	[[nodiscard]] Address bucket_of(std::uint64_t hash) const noexcept;
	[[nodiscard]] Placement place_of(std::uint64_t hash) const noexcept;
	int lock(Address bucket, bool exclusive) noexcept;
	int unlock(Address bucket) noexcept;
	int search(std::span<const std::byte> key, std::uint64_t hash, Wanted wanted, Search &found) noexcept;
	int look_at(const dht::Bucket &bucket, Address at, std::span<const std::byte> key, std::uint64_t hash,
		Wanted wanted, Search &found) noexcept;
	int compare(const dht::Entry &entry, std::span<const std::byte> key, std::uint64_t hash, Wanted wanted,
		bool &same) noexcept;
	int look_at_key(const dht::Entry &entry, std::uint32_t key_bytes, std::uint64_t hash) noexcept;
	apps::Outcome put_into(const Search &found, const apps::Operation &operation, std::uint64_t hash,
		Change &change, int &error) noexcept;
	int finish(Address bucket, const Change &change, apps::Outcome &outcome) noexcept;
	int write_back(Address at, std::size_t bytes) noexcept;
	/** Composes the record of a pair in record_. */
	std::span<const std::byte> compose(const apps::Operation &operation) noexcept;
	int make_record(std::span<const std::byte> record, std::uint64_t hash, dht::Entry &entry) noexcept;
	static bool changes_in_place(const dht::Entry &entry, std::size_t bytes) noexcept;
	apps::Outcome install(const Search &found, const dht::Entry &entry, Address &at, int &error) noexcept;

	Session &session_;
	Address address_;
	dht::Catalogue catalogue_;
	TableCare care_;
	std::array<std::uint32_t, max_nodes> losses_; /* Node::losses() when the array there was looked at */
	std::unique_ptr<std::byte[]> record_;         /* record being read or made; untouched pages cost nothing */
};

} // namespace prism::gam
