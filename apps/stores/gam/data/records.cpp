/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/data/records.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "service/key_hash.hpp"
#include "service/self_verifying.hpp"
#include "tx/transaction/key_set.hpp"

namespace prism::gam
{

namespace
{

/** Bytes of a value that fit into the record's first block. */
constexpr std::size_t beside_header = block_size - sizeof(Records::Header);

/** The data from which any node opens the store. Never changed. */
struct Catalogue {
	static constexpr std::uint64_t valid_magic = 0x54'58'4d'41'47'03; /* GAMTX, version 3 */

	std::uint64_t magic = 0;
	Address index;
	std::uint64_t max_value_size = 0;
};

template <typename T>
std::span<const std::byte> bytes_of(const T &value) noexcept
{
	return std::as_bytes(std::span(&value, 1));
}

template <typename T>
std::span<std::byte> room_of(T &value) noexcept
{
	return std::as_writable_bytes(std::span(&value, 1));
}

} // namespace

Records::Records(Session &session, Table index, Address address, std::uint32_t max_value_size)
	: session_(session), index_(std::move(index)), address_(address), max_value_size_(max_value_size)
{
}

Result<Records> Records::create(Session &session, const RecordsOptions &options)
{
	if (options.max_value_size == 0 || options.max_value_size > longest_value)
		return make_error(EINVAL, "the values of a transactional store have 1 to 2^18 bytes");
	const Session::Bound bound(session, session.node().losses());
	const std::vector<NodeId> &nodes = options.index.nodes;
	Address address;
	if (const int error = session.malloc(sizeof(Catalogue), address,
		    nodes.empty() ? Placement::local() : Placement::near(Address(nodes.front(), 0))))
		return make_error(error, "cannot make a transactional store");
	Result<Table> index = Table::create(session, options.index);
	if (!index) {
		(void)session.free(address);
		return index.error();
	}
	const Catalogue catalogue{Catalogue::valid_magic, index->catalogue(), options.max_value_size};
	int error = session.write(address, bytes_of(catalogue));
	if (!error)
		error = session.write_back(address, sizeof(catalogue));
	if (error)
		return make_error(error, "cannot make a transactional store");
	return Records(session, *std::move(index), address, options.max_value_size);
}

Result<Records> Records::open(Session &session, Address catalogue)
{
	Catalogue read;
	if (const int error = session.read(catalogue, room_of(read)))
		return make_error(error, "cannot read the catalogue of a transactional store");
	if (read.magic != Catalogue::valid_magic || read.max_value_size == 0 || read.max_value_size > longest_value)
		return make_error(EPROTO, "there is no transactional store at this address");
	Result<Table> index = Table::open(session, read.index);
	if (!index)
		return index.error();
	return Records(session, *std::move(index), catalogue, static_cast<std::uint32_t>(read.max_value_size));
}

int Records::find(std::span<const std::byte> key, Address &record) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, tx::hash_seed);
	const KnownRecords::Known known = known_.find(key, hash);
	record = known.record;
	if (!record.is_null() && !session_.node().was_lost(record.home(), known.losses))
		return 0;
	const std::uint32_t losses = session_.node().losses();
	const Session::Bound bound(session_, losses);
	const int error = find_in_index(key, record);
	if (!error)
		known_.keep(key, hash, {record, losses});
	return error;
}

/*
 * Finds the record of @p key, or adds it. The first to add it wins: the others have lost a record that nobody has seen.
 */
int Records::find_in_index(std::span<const std::byte> key, Address &record) noexcept
{
	int error = look_up(key, record);
	if (error != ENOENT)
		return error;
	error = add(key, record);
	return error == EEXIST ? look_up(key, record) : error;
}

int Records::look_up(std::span<const std::byte> key, Address &record) noexcept
{
	apps::Operation get;
	get.key = key;
	get.result = room_of(record);
	index_.run(get);
	if (get.outcome == apps::Outcome::not_found)
		return ENOENT;
	if (get.outcome != apps::Outcome::ok)
		return get.error;
	return get.length == sizeof(record) && !record.is_null() && record.value % block_size == 0 ? 0 : EBADMSG;
}

int Records::add(std::span<const std::byte> key, Address &record) noexcept
{
	Address fresh;
	if (const int error = session_.malloc(bytes_for(max_value_size_), fresh, index_.place_of(key), block_size))
		return error == ENOMEM ? ENOSPC : error;
	apps::Operation put;
	put.kind = apps::OperationKind::put;
	put.key = key;
	put.value = bytes_of(fresh);
	index_.insert(put);
	if (put.outcome == apps::Outcome::ok) {
		record = fresh;
		return 0;
	}
	if (put.outcome != apps::Outcome::unknown)
		(void)session_.free(fresh);
	return put.outcome == apps::Outcome::full ? ENOSPC : put.error;
}

std::uint32_t Records::mark_of(std::span<const std::byte> key) const noexcept
{
	const std::uint64_t hash = apps::hash_key(key, index_.mark());
	return static_cast<std::uint32_t>(hash ^ hash >> 32) | 1U;
}

/* A log that was restored from a copy may have given a record away again that the index still knows. */
int Records::read(Address record, std::uint32_t mark, Header &header) noexcept
{
	if (const int error = session_.read(record, room_of(header)))
		return error;
	const bool is_others = header.mark && header.mark != mark;
	return is_others || header.bytes > max_value_size_ || header.tail > 1 ? EBADMSG : 0;
}

std::uint32_t Records::check_of(std::span<const std::byte> value) noexcept
{
	if (value.size() <= beside_header)
		return 1;
	const std::uint64_t crc = apps::crc64(value);
	return static_cast<std::uint32_t>(crc ^ crc >> 32) | 1U;
}

std::size_t Records::bytes_for(std::size_t max_value_size) noexcept
{
	if (max_value_size <= beside_header)
		return sizeof(Header) + max_value_size;
	return block_size + 2 * in_blocks(max_value_size - beside_header);
}

Address Records::tail_of(Address record, std::uint32_t tail) const noexcept
{
	return record + block_size + (tail ? in_blocks(max_value_size_ - beside_header) : 0);
}

int Records::read_value(Address record, const Header &header, std::span<std::byte> value) noexcept
{
	const std::size_t beside = std::min(value.size(), beside_header);
	int error = value.empty() ? 0 : session_.read(record + sizeof(Header), value.first(beside));
	if (!error && beside < value.size())
		error = session_.read(tail_of(record, header.tail), value.subspan(beside));
	if (error)
		return error;
	return header.check && header.check != check_of(value) ? EBADMSG : 0;
}

/*
 * The lock keeps the first block here, but not those behind it: if their home fails now, or the cache has no line, some
 * may take the change and others not. So they are of the place that has no value, and the first block comes last.
 */
int Records::write_tail(Address record, std::uint32_t tail, std::span<const std::byte> value) noexcept
{
	return value.size() > beside_header ? session_.write(tail_of(record, tail), value.subspan(beside_header)) : 0;
}

int Records::write(Address record, const Header &header, std::span<const std::byte> value) noexcept
{
	std::array<std::byte, block_size> first;
	const std::size_t beside = std::min(value.size(), beside_header);
	std::memcpy(first.data(), &header, sizeof(header));
	std::copy_n(value.begin(), beside, first.begin() + sizeof(header));
	return session_.write(record, std::span(first).first(sizeof(header) + beside));
}

} // namespace prism::gam
