/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/data/table.hpp"

#include "base/random.hpp"
#include "service/key_hash.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace prism::gam
{

using apps::Operation;
using apps::Outcome;
using dht::Bucket;
using dht::Catalogue;
using dht::Entry;
using dht::RecordHeader;

namespace
{

/* A longer chain is invalid: a node has overwritten it. */
constexpr unsigned longest_chain = 1U << 16;

constexpr Entry free_entry;

constexpr std::uint32_t never = UINT32_MAX;

template <typename T>
std::span<std::byte> bytes_of(T &value) noexcept
{
	return std::as_writable_bytes(std::span(&value, 1));
}

template <typename T>
std::span<const std::byte> bytes_of(const T &value) noexcept
{
	return std::as_bytes(std::span(&value, 1));
}

/** Returns the outcome of a change that has ended with @p error. A write for which there was no room was not begun. */
Outcome outcome_of(int error) noexcept
{
	if (error == ENOBUFS || error == ENOMEM)
		return Outcome::failed;
	return error ? Outcome::unknown : Outcome::ok;
}

void end(Operation &operation, Outcome outcome, int error) noexcept
{
	operation.outcome = outcome;
	operation.error = error;
}

} // namespace

Table::Table(Session &session, Address address, const Catalogue &catalogue, const TableCare &care)
	: session_(session), address_(address), catalogue_(catalogue), care_(care),
	  record_(std::make_unique_for_overwrite<std::byte[]>(Entry::most_bytes))
{
	losses_.fill(never);
}

/* Set-up ---------------------------------------------------------------------------------------------------------- */

Result<Table> Table::create(Session &session, const TableOptions &options)
{
	if (options.buckets == 0 || options.buckets > Catalogue::most_buckets)
		return make_error(EINVAL, "a hash table has 1 to 2^24 buckets on each node");
	if (options.nodes.size() > max_nodes)
		return make_error(EINVAL, "a hash table is on at most 64 nodes");
	const Session::Bound bound(session, session.node().losses());
	Catalogue catalogue;
	catalogue.magic = Catalogue::valid_magic;
	catalogue.mark = random_number();
	catalogue.seed = options.seed;
	catalogue.buckets = options.buckets;
	catalogue.records_beside_buckets = options.nodes.empty() ? 0 : 1;
	int error = 0;
	for (const NodeId node : options.nodes.empty() ? session.node().members() : options.nodes) {
		Address &array = catalogue.array[catalogue.arrays];
		error = session.malloc(std::size_t{options.buckets} * sizeof(Bucket) + sizeof(catalogue.mark), array,
			Placement::near(Address(node, 0)), block_size);
		if (error)
			break;
		catalogue.arrays++;
	}
	Address address;
	if (!error)
		error = session.malloc(sizeof(catalogue), address,
			options.nodes.empty() ? Placement::local() : Placement::near(catalogue.array.front()));
	for (std::uint32_t i = 0; i < catalogue.arrays && !error; i++)
		error = session.write(catalogue.end_of(catalogue.array[i]), bytes_of(std::as_const(catalogue.mark)));
	for (std::uint32_t i = 0; i < catalogue.arrays && !error; i++)
		error = session.write_back(catalogue.end_of(catalogue.array[i]), sizeof(catalogue.mark));
	if (!error)
		error = session.write(address, bytes_of(std::as_const(catalogue)));
	if (!error)
		error = session.write_back(address, sizeof(catalogue));
	if (!error)
		return Table(session, address, catalogue, {});
	for (std::uint32_t i = 0; i < catalogue.arrays; i++)
		(void)session.free(catalogue.array[i]);
	if (!address.is_null())
		(void)session.free(address);
	return make_error(
		error, "cannot make a hash table", error == ENOMEM ? "lend more memory, or take fewer buckets" : "");
}

Result<Table> Table::open(Session &session, Address catalogue, const TableCare &care)
{
	Catalogue read;
	if (const int error = session.read(catalogue, bytes_of(read)))
		return make_error(error, "cannot read the catalogue of a hash table");
	if (!read.is_valid())
		return make_error(EPROTO, "there is no hash table at this address");
	return Table(session, catalogue, read, care);
}

bool Table::is_whole() noexcept
{
	return std::ranges::all_of(std::span(catalogue_.array).first(catalogue_.arrays),
		[&](Address array) { return look_at_array(array) == 0; });
}

/** Returns 0 if the buckets at @p array are this table's; EHOSTUNREACH if that node has something else there. */
int Table::look_at_array(Address array) noexcept
{
	std::uint64_t mark = 0;
	const int error = session_.read(catalogue_.end_of(array), bytes_of(mark));
	return error == EFAULT || (!error && mark != catalogue_.mark) ? EHOSTUNREACH : error;
}

/**
 * Checks that the node of @p at is the one with which the table was made, or has none of its buckets. Costs little
 * unless that node was lost. Returns 0 or an error of the global memory: EHOSTUNREACH (another node has its number).
 */
int Table::check_home(Address at) noexcept
{
	const NodeId home = at.home();
	const std::uint32_t losses = session_.node().losses();
	if (home >= max_nodes || (losses_[home] != never && !session_.node().was_lost(home, losses_[home])))
		return 0;
	for (const Address array : std::span(catalogue_.array).first(catalogue_.arrays)) {
		const int error = array.home() == home ? look_at_array(array) : 0;
		if (error)
			return error;
	}
	losses_[home] = losses;
	return 0;
}

/* Operations ------------------------------------------------------------------------------------------------------- */

/*
 * Binds the session: what an operation has found on a node, locked or made there counts as long as that node is not
 * lost.
 */
void Table::run(Operation &operation) noexcept
{
	const Session::Bound bound(session_, session_.node().losses());
	switch (operation.kind) {
	case apps::OperationKind::get:
		return get(operation);
	case apps::OperationKind::put:
		return put(operation, true);
	case apps::OperationKind::erase:
		return erase(operation);
	}
}

void Table::insert(Operation &operation) noexcept
{
	const Session::Bound bound(session_, session_.node().losses());
	put(operation, false);
}

void Table::get(Operation &operation) noexcept
{
	const std::uint64_t hash = hash_of(operation.key);
	const Address bucket = bucket_of(hash);
	if (const int error = lock(bucket, false))
		return end(operation, Outcome::failed, error);
	Search found;
	int error = search(operation.key, hash, Wanted::pair, found);
	if (const int late = unlock(bucket); !error)
		error = late;
	if (!error && found.entry.is_free())
		error = found.error;
	if (error)
		return end(operation, Outcome::failed, error);
	if (found.entry.is_free())
		return end(operation, Outcome::not_found, 0);
	const std::size_t before = sizeof(RecordHeader) + operation.key.size();
	operation.length = static_cast<std::uint32_t>(found.entry.bytes() - before);
	if (const std::size_t copied = std::min<std::size_t>(operation.length, operation.result.size()))
		std::memcpy(operation.result.data(), record_.get() + before, copied);
	end(operation, Outcome::ok, 0);
}

void Table::put(Operation &operation, bool replaces) noexcept
{
	const std::uint64_t hash = hash_of(operation.key);
	const Address bucket = bucket_of(hash);
	if (const int error = lock(bucket, true))
		return end(operation, Outcome::failed, error);
	Change change;
	Outcome outcome = Outcome::failed;
	Search found;
	int error = search(operation.key, hash, Wanted::key, found);
	if (!error && !replaces)
		error = found.entry.is_free() ? found.error : EEXIST;
	if (!error)
		outcome = put_into(found, operation, hash, change, error);
	const int late = finish(bucket, change, outcome);
	end(operation, outcome, error ? error : late);
}

Outcome Table::put_into(
	const Search &found, const Operation &operation, std::uint64_t hash, Change &change, int &error) noexcept
{
	const std::span<const std::byte> record = compose(operation);
	if (changes_in_place(found.entry, record.size())) {
		error = session_.write(found.entry.record(), record);
		return outcome_of(error);
	}
	Entry entry;
	error = make_record(record, hash, entry);
	if (error == ENOMEM) {
		error = 0;
		return Outcome::full;
	}
	if (error)
		return Outcome::failed;
	const Outcome outcome = install(found, entry, change.at, error);
	change.superfluous = outcome == Outcome::ok ? found.entry.record() : entry.record();
	return outcome;
}

/**
 * Releases the bucket's lock, and frees the superfluous record. The unlock fences, so the next holder of the lock sees
 * the entry. Returns the error if @p outcome has become one.
 */
int Table::finish(Address bucket, const Change &change, Outcome &outcome) noexcept
{
	int error = unlock(bucket);
	if (!error && outcome == Outcome::ok && !change.at.is_null())
		error = write_back(change.at, 1);
	if (error && outcome == Outcome::ok)
		outcome = Outcome::unknown;
	if (error && outcome == Outcome::not_found)
		outcome = Outcome::failed;
	if (!change.superfluous.is_null() && outcome != Outcome::unknown)
		(void)session_.free(change.superfluous);
	return apps::has_failed(outcome) ? error : 0;
}

void Table::erase(Operation &operation) noexcept
{
	const std::uint64_t hash = hash_of(operation.key);
	const Address bucket = bucket_of(hash);
	if (const int error = lock(bucket, true))
		return end(operation, Outcome::failed, error);
	Change change;
	Outcome outcome = Outcome::failed;
	Search found;
	int error = search(operation.key, hash, Wanted::key, found);
	if (!error) {
		change.at = found.entry.is_free() ? found.bad : found.at;
		outcome = change.at.is_null() ? Outcome::not_found : Outcome::ok;
	}
	if (outcome == Outcome::ok) {
		error = session_.write(change.at, bytes_of(free_entry));
		outcome = outcome_of(error);
	}
	if (outcome == Outcome::ok)
		change.superfluous = found.entry.record();
	const int late = finish(bucket, change, outcome);
	end(operation, outcome, error ? error : late);
}

/* Records ---------------------------------------------------------------------------------------------------------- */

std::span<const std::byte> Table::compose(const Operation &operation) noexcept
{
	const RecordHeader header{record_mark(), static_cast<std::uint32_t>(operation.key.size()),
		static_cast<std::uint32_t>(operation.value.size())};
	std::byte *end = record_.get();
	const auto put = [&end](std::span<const std::byte> bytes) {
		if (!bytes.empty())
			std::memcpy(end, bytes.data(), bytes.size());
		end += bytes.size();
	};
	put(bytes_of(header));
	put(operation.key);
	put(operation.value);
	return {record_.get(), end};
}

int Table::make_record(std::span<const std::byte> record, std::uint64_t hash, Entry &entry) noexcept
{
	Address address;
	if (const int error = session_.malloc(record.size(), address, place_of(hash)))
		return error;
	entry = Entry(hash, static_cast<std::uint32_t>(record.size()), address);
	int error = session_.write(address, record);
	if (!error)
		error = write_back(address, record.size());
	if (error)
		(void)session_.free(address);
	return error;
}

/**
 * Returns true if a record of @p bytes can replace that of @p entry in place: within one block, which is written whole
 * or not at all, even if a node dies. Of two blocks, one may be lost.
 */
bool Table::changes_in_place(const Entry &entry, std::size_t bytes) noexcept
{
	return !entry.is_free() && entry.bytes() == bytes &&
	       entry.record().value / block_size == (entry.record().value + bytes - 1) / block_size;
}

/** Writes the bytes back, so that they survive this node's death. */
int Table::write_back(Address at, std::size_t bytes) noexcept
{
	return care_.writes_back ? session_.write_back(at, bytes) : 0;
}

/** Compares the key of @p entry with @p key. Checks what it reads, as other nodes have written it. */
int Table::compare(
	const Entry &entry, std::span<const std::byte> key, std::uint64_t hash, Wanted wanted, bool &same) noexcept
{
	same = false;
	const std::size_t least = sizeof(RecordHeader) + key.size();
	if (entry.bytes() < least)
		return 0;
	const std::size_t bytes = wanted == Wanted::pair ? entry.bytes() : least;
	if (const int error = session_.read(entry.record(), {record_.get(), bytes}))
		return error;
	RecordHeader header;
	std::memcpy(&header, record_.get(), sizeof(header));
	if (header.mark != record_mark() ||
		std::uint64_t{header.key_bytes} + header.value_bytes != entry.bytes() - sizeof(header))
		return EBADMSG;
	same = !care_.compares_keys ||
	       (header.key_bytes == key.size() &&
		       (key.empty() || std::memcmp(record_.get() + sizeof(header), key.data(), key.size()) == 0));
	return same ? 0 : look_at_key(entry, header.key_bytes, hash);
}

/** Checks a record of another key: that must have the tag and the bucket of @p hash, as the entry says. */
int Table::look_at_key(const Entry &entry, std::uint32_t key_bytes, std::uint64_t hash) noexcept
{
	const std::span<std::byte> key(record_.get(), key_bytes);
	if (key_bytes > entry.bytes() - sizeof(RecordHeader))
		return EBADMSG;
	if (const int error = key.empty() ? 0 : session_.read(entry.record() + sizeof(RecordHeader), key))
		return error;
	const std::uint64_t other = hash_of(key);
	return entry.may_be(other) && bucket_of(other) == bucket_of(hash) ? 0 : EBADMSG;
}

/* Buckets ---------------------------------------------------------------------------------------------------------- */

std::uint64_t Table::hash_of(std::span<const std::byte> key) const noexcept
{
	return apps::hash_key(key, catalogue_.seed);
}

Address Table::bucket_of(std::uint64_t hash) const noexcept
{
	const std::uint64_t number = apps::reduce(hash, std::uint64_t{catalogue_.arrays} * catalogue_.buckets);
	return catalogue_.array[number / catalogue_.buckets] + number % catalogue_.buckets * sizeof(Bucket);
}

Placement Table::place_of(std::uint64_t hash) const noexcept
{
	return catalogue_.records_beside_buckets ? Placement::near(bucket_of(hash)) : Placement::local();
}

Placement Table::place_of(std::span<const std::byte> key) const noexcept
{
	return place_of(hash_of(key));
}

int Table::lock(Address bucket, bool exclusive) noexcept
{
	if (const int error = check_home(bucket))
		return error;
	if (!care_.locks)
		return session_.mfence();
	return exclusive ? session_.wlock(bucket, sizeof(Bucket)) : session_.rlock(bucket, sizeof(Bucket));
}

int Table::unlock(Address bucket) noexcept
{
	return care_.locks ? session_.unlock(bucket, sizeof(Bucket)) : session_.mfence();
}

int Table::search(std::span<const std::byte> key, std::uint64_t hash, Wanted wanted, Search &found) noexcept
{
	Bucket bucket;
	Address at = bucket_of(hash);
	for (unsigned length = 0; !at.is_null(); length++) {
		if (length == longest_chain || at.value % sizeof(Bucket))
			return EBADMSG;
		if (const int error = session_.read(at, bytes_of(bucket)))
			return error;
		if (const int error = look_at(bucket, at, key, hash, wanted, found))
			return error;
		if (!found.entry.is_free())
			return 0;
		found.last = std::exchange(at, bucket.overflow);
	}
	return 0;
}

int Table::look_at(const Bucket &bucket, Address at, std::span<const std::byte> key, std::uint64_t hash, Wanted wanted,
	Search &found) noexcept
{
	for (const Entry &entry : bucket.entries) {
		const auto offset = static_cast<std::uint64_t>(
			reinterpret_cast<const std::byte *>(&entry) - reinterpret_cast<const std::byte *>(&bucket));
		bool same = false;
		if (entry.is_free() && found.at.is_null())
			found.at = at + offset;
		if (!entry.may_be(hash))
			continue;
		const int error = compare(entry, key, hash, wanted, same);
		if (error && error != EBADMSG && error != EFAULT)
			return error;
		if (error && found.bad.is_null()) {
			found.bad = at + offset;
			found.error = error;
		}
		if (same) {
			found.entry = entry;
			found.at = at + offset;
			return 0;
		}
	}
	return 0;
}

/** Adds the record to the chain. @p at: the address that changes for that. */
Outcome Table::install(const Search &found, const Entry &entry, Address &at, int &error) noexcept
{
	at = found.entry.is_free() && !found.bad.is_null() ? found.bad : found.at;
	if (!at.is_null()) {
		error = session_.write(at, bytes_of(entry));
		return outcome_of(error);
	}
	Address fresh;
	error = session_.malloc(sizeof(Bucket), fresh, Placement::near(found.last), sizeof(Bucket));
	if (error == ENOMEM) {
		error = 0;
		return Outcome::full;
	}
	if (error)
		return Outcome::failed;
	Bucket bucket;
	bucket.entries.front() = entry;
	error = session_.write(fresh, bytes_of(std::as_const(bucket)));
	if (!error)
		error = write_back(fresh, sizeof(bucket));
	Outcome outcome = Outcome::failed; /* as nothing names the bucket yet */
	if (!error) {
		at = found.last + offsetof(Bucket, overflow);
		error = session_.write(at, bytes_of(std::as_const(fresh)));
		outcome = outcome_of(error);
	}
	if (outcome == Outcome::failed)
		(void)session_.free(fresh);
	return outcome;
}

} // namespace prism::gam
