/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "cuckoo_table.hpp"

#include "service/key_hash.hpp"

#include <cerrno>
#include <cstring>

namespace prism::kv::pilaf
{

using apps::Outcome;

namespace
{

constexpr unsigned readable = access::local | access::remote_read;

} // namespace

CuckooTable::CuckooTable(Buffer table_memory, Buffer extent_buffer, const CuckooOptions &chosen)
	: options_(chosen), entries_(std::move(table_memory)), extents_(std::move(extent_buffer)),
	  arena_(extents_.length(), chosen.rest), hashes_(chosen.entries)
{
	steps_.reserve(chosen.search_limit + ways);
	Entry empty;
	empty.seal();
	for (std::uint64_t place = 0; place < chosen.entries; place++)
		write(place, empty, 0);
}

Result<std::unique_ptr<CuckooTable>> CuckooTable::create(const ProtectionDomain &pd, const CuckooOptions &options_)
{
	if (options_.entries == 0 || options_.memory == 0 || options_.search_limit == 0)
		return make_error(EINVAL, "a store without room", "give it entries and memory");
	Result<Buffer> table = Buffer::create(pd, options_.entries * sizeof(Entry), readable);
	if (!table)
		return table.error();
	Result<Buffer> extents_ = Buffer::create(pd, options_.memory, readable);
	if (!extents_)
		return extents_.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<CuckooTable>(new CuckooTable(*std::move(table), *std::move(extents_), options_));
}

void CuckooTable::write(std::uint64_t place, const Entry &contents, std::uint64_t hash) noexcept
{
	hashes_[place] = hash;
	apps::publish(&entries_.as<Entry>()[place], &contents, sizeof(contents));
}

const std::byte *CuckooTable::extent(const Entry &of) const noexcept
{
	return extents_.data() + (of.address - extents_.remote().address);
}

std::optional<Entry> CuckooTable::make_extent(std::span<const std::byte> key, std::span<const std::byte> value) noexcept
{
	const std::optional<std::uint64_t> offset = arena_.allocate(key.size() + value.size());
	if (!offset)
		return std::nullopt;
	apps::publish(extents_.data() + *offset, key.data(), key.size());
	apps::publish(extents_.data() + *offset + key.size(), value.data(), value.size());
	Entry made;
	made.address = extents_.remote().address + *offset;
	made.key_size = static_cast<std::uint32_t>(key.size());
	made.value_size = static_cast<std::uint32_t>(value.size());
	made.extent_crc = apps::crc64(value, apps::crc64(key));
	made.seal();
	return made;
}

void CuckooTable::release(const Entry &of) noexcept
{
	arena_.free(of.address - extents_.remote().address, of.extent_size());
}

std::optional<std::uint64_t> CuckooTable::find(std::uint64_t hash, std::span<const std::byte> key) const noexcept
{
	for (const std::uint64_t place : candidates(hash, options_.entries)) {
		const Entry &found = entry(place);
		if (!found.empty() && hashes_[place] == hash && found.key_size == key.size() &&
			std::memcmp(extent(found), key.data(), key.size()) == 0)
			return place;
	}
	return std::nullopt;
}

Outcome CuckooTable::get(std::span<const std::byte> key, std::span<std::byte> into, std::uint32_t &size) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, options_.seed);
	const std::lock_guard guard(lock_);
	const std::optional<std::uint64_t> place = find(hash, key);
	if (!place)
		return Outcome::not_found;
	const Entry &found = entry(*place);
	size = found.value_size;
	if (size)
		std::memcpy(into.data(), extent(found) + found.key_size, size);
	return Outcome::ok;
}

/*
 * Returns true if @p place is on the path to @p step: an entry twice on a path would be moved twice, and the second
 * move would take the wrong one.
 */
bool CuckooTable::on_path(std::uint32_t step, std::uint64_t place) const noexcept
{
	for (std::uint32_t left = steps_[step].length; left-- > 0; step = steps_[step].parent) {
		if (steps_[step].place == place)
			return true;
	}
	return false;
}

/* Searches breadth first, for the fewest moves. Returns the step at an empty place. */
std::optional<std::uint32_t> CuckooTable::search(std::uint64_t hash) noexcept
{
	steps_.clear();
	for (const std::uint64_t place : candidates(hash, options_.entries)) {
		steps_.push_back({place, 0, 1});
		if (entry(place).empty())
			return static_cast<std::uint32_t>(steps_.size() - 1);
	}
	for (std::uint32_t at = 0; at < steps_.size() && steps_.size() < options_.search_limit; at++) {
		for (const std::uint64_t place : candidates(hashes_[steps_[at].place], options_.entries)) {
			if (on_path(at, place))
				continue;
			steps_.push_back({place, at, steps_[at].length + 1});
			if (entry(place).empty())
				return static_cast<std::uint32_t>(steps_.size() - 1);
		}
	}
	return std::nullopt;
}

/*
 * Moves entries, from the empty place backwards, so that no key is missing in between. Returns the place that may be
 * written.
 */
std::uint64_t CuckooTable::make_room(std::uint32_t step) noexcept
{
	while (steps_[step].length > 1) {
		const std::uint32_t parent = steps_[step].parent;
		const std::uint64_t from = steps_[parent].place;
		const Entry moving = entry(from);
		write(steps_[step].place, moving, hashes_[from]);
		moves_++;
		step = parent;
	}
	return steps_[step].place;
}

bool CuckooTable::insert(std::uint64_t hash, const Entry &fresh) noexcept
{
	const std::optional<std::uint32_t> found = search(hash);
	if (!found)
		return false;
	write(make_room(*found), fresh, hash);
	objects_++;
	return true;
}

Outcome CuckooTable::put(std::span<const std::byte> key, std::span<const std::byte> value) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, options_.seed);
	const std::optional<Entry> fresh = make_extent(key, value);
	if (!fresh)
		return Outcome::full;
	Entry unused = *fresh;
	bool stored = true;
	{
		const std::lock_guard guard(lock_);
		if (const std::optional<std::uint64_t> place = find(hash, key)) {
			unused = entry(*place);
			write(*place, *fresh, hash);
		} else {
			stored = insert(hash, *fresh);
			if (stored)
				return Outcome::ok;
		}
	}
	release(unused);
	return stored ? Outcome::ok : Outcome::full;
}

Outcome CuckooTable::erase(std::span<const std::byte> key) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, options_.seed);
	Entry removed;
	{
		const std::lock_guard guard(lock_);
		const std::optional<std::uint64_t> place = find(hash, key);
		if (!place)
			return Outcome::not_found;
		removed = entry(*place);
		Entry empty;
		empty.seal();
		write(*place, empty, 0);
		objects_--;
	}
	release(removed);
	return Outcome::ok;
}

CuckooStats CuckooTable::stats() const noexcept
{
	const std::uint64_t hurried = arena_.hurried();
	const std::lock_guard guard(lock_);
	return {objects_, moves_, hurried};
}

bool CuckooTable::damage(std::span<const std::byte> key, Damage part) noexcept
{
	const std::lock_guard guard(lock_);
	const std::optional<std::uint64_t> place = find(apps::hash_key(key, options_.seed), key);
	if (!place || entry(*place).value_size == 0)
		return false;
	Entry found = entry(*place);
	if (part == Damage::entry) {
		found.crc ^= 1;
		write(*place, found, hashes_[*place]);
		return true;
	}
	const std::uint64_t offset = found.address - extents_.remote().address + found.key_size;
	const std::byte changed = extents_.data()[offset] ^ std::byte{1};
	apps::publish(extents_.data() + offset, &changed, 1);
	return true;
}

} // namespace prism::kv::pilaf
