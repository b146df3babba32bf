/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/store_client.hpp"
#include "gam/dht/layout.hpp"
#include "gam/memory/session.hpp"

namespace prism::gam
{

struct TableOptions {
	/** On each node, at most 2^24. Ten pairs fit into one; more go to overflow buckets behind it. */
	std::uint32_t buckets = 1024;
	std::uint64_t seed = 0x67616d2d6b657973; /**< of the keys' hash */
	/**
	 * That have all of the table, so that whoever uses it may leave: a record is where its bucket is. Empty: all
	 * nodes that are there have buckets, and a record is on the node that has written it.
	 */
	std::vector<NodeId> nodes = {};
};

/** What a thread does to be right. The controls of tests leave one out, and a checker has to find that. */
struct TableCare {
	bool compares_keys = true; /**< false: equal tags count as equal keys */
	bool locks = true;         /**< false: buckets are read and written without their lock */
	bool writes_back = true;   /**< false: a record is freed, or named, before the homes know */
};

/**
 * One thread's handle on a hash table in the global memory (VLDB '18, section 6), from keys to values of any bytes.
 *
 * The lock of a bucket's block is that of its whole chain and of the lives of the records that the chain names: Get
 * holds it for reading while it reads the record, Put and Erase hold it for writing while they change the chain or a
 * record. So a record's own blocks need no lock; and it is freed after the writer who took its entry away has given the
 * lock back, when no reader can be left that has seen the entry. Put writes over a record of the same length if that is
 * in one block, which is written whole or not at all, even if a node dies; else it makes a new one. Four buckets share
 * a block, and a lock. A thread holds one of these locks at a time, and waits for no other meanwhile.
 *
 * If a node dies, what it has written goes back to what the homes have, each block for itself. So a record is at its
 * home before an entry names it, and the entry that named another is at its home, changed, before that one is freed:
 * whatever goes back, an entry names a record of its key.
 *
 * What other nodes have written over is not believed: a record whose key does not belong into the entry's bucket is
 * EBADMSG, not another key's. Put and Erase replace such an entry; insert() does not.
 *
 * Operations are linearizable. One thread at a time, the session's.
 */
class Table
{
public:
	/**
	 * Makes an empty table. Errors: EINVAL (options), those of Session::malloc(); what was allocated before is
	 * freed.
	 */
	static Result<Table> create(Session &session, const TableOptions &options = {});
	/** Opens the table that catalogue() of another handle, on any node, names. Errors: EPROTO (there is none). */
	static Result<Table> open(Session &session, Address catalogue, const TableCare &care = {});

	[[nodiscard]] Address catalogue() const noexcept { return address_; }
	[[nodiscard]] Session &session() noexcept { return session_; }
	/** Whether all nodes that have buckets are there, with them. */
	[[nodiscard]] bool is_whole() noexcept;

	/** Whether such a pair has a record: all that start() of a client has to refuse. */
	[[nodiscard]] static bool possible(std::size_t key_bytes, std::size_t value_bytes) noexcept
	{
		return key_bytes <= max_pair_bytes && value_bytes <= max_pair_bytes - key_bytes;
	}
	/** Of key and value together. */
	static constexpr std::size_t max_pair_bytes = dht::Entry::most_bytes - sizeof(dht::RecordHeader);

	/**
	 * Does @p operation, whose key and value are possible(), and fills in what a client does. Outcome::full: the
	 * node of new records has no room for one, or the bucket's home has none for an overflow bucket.
	 * Outcome::unknown: an error was met when the bucket had been written already.
	 */
	void run(apps::Operation &operation) noexcept;
	/** Likewise, a PUT. Fails with EEXIST if the key is there, and with what is wrong with an entry that may be
	 * its. */
	void insert(apps::Operation &operation) noexcept;

	/** Where the record of @p key has to lie when it is new, and what belongs to it. */
	[[nodiscard]] Placement place_of(std::span<const std::byte> key) const noexcept;

private:
	/** What a walk along a chain has found. */
	struct Search {
		dht::Entry entry; /* of the key; free: it is not there */
		Address at;       /* of that entry, or of the first free one; null: all are taken */
		Address last;     /* bucket of the chain */
		Address bad;      /* the first entry that may be the key's, and names what is no record of it */
		int error = 0;    /* what is wrong with that */
	};
	enum class Wanted : std::uint8_t {
		key,
		pair, /* record_ is the whole record afterwards */
	};

	/** What is left to do behind a change. */
	struct Change {
		Address at;          /* of the entry, or of what names its bucket; null: no entry has changed */
		Address superfluous; /* the record that no entry names afterwards, or null */
	};

	Table(Session &session, Address address, const dht::Catalogue &catalogue, const TableCare &care);

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
	/** The record of a pair, in record_. */
	std::span<const std::byte> compose(const apps::Operation &operation) noexcept;
	int make_record(std::span<const std::byte> record, std::uint64_t hash, dht::Entry &entry) noexcept;
	static bool changes_in_place(const dht::Entry &entry, std::size_t bytes) noexcept;
	apps::Outcome install(const Search &found, const dht::Entry &entry, Address &at, int &error) noexcept;

	Session &session_;
	Address address_;
	dht::Catalogue catalogue_;
	TableCare care_;
	std::unique_ptr<std::byte[]> record_; /* that is being read or made: pages that nobody touches cost nothing */
};

} // namespace prism::gam
