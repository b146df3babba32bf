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
	: options(chosen), entries(std::move(table_memory)), extents(std::move(extent_buffer)),
	  arena(extents.length(), chosen.rest), hashes(chosen.entries)
{
	steps.reserve(chosen.search_limit + ways);
	Entry empty;
	empty.seal();
	for (std::uint64_t place = 0; place < chosen.entries; place++)
		write(place, empty, 0);
}

Result<std::unique_ptr<CuckooTable>> CuckooTable::create(const ProtectionDomain &pd, const CuckooOptions &options)
{
	if (options.entries == 0 || options.memory == 0 || options.search_limit == 0)
		return make_error(EINVAL, "a store without room", "give it entries and memory");
	Result<Buffer> table = Buffer::create(pd, options.entries * sizeof(Entry), readable);
	if (!table)
		return table.error();
	Result<Buffer> extents = Buffer::create(pd, options.memory, readable);
	if (!extents)
		return extents.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<CuckooTable>(new CuckooTable(*std::move(table), *std::move(extents), options));
}

void CuckooTable::write(std::uint64_t place, const Entry &contents, std::uint64_t hash) noexcept
{
	hashes[place] = hash;
	apps::publish(&entries.as<Entry>()[place], &contents, sizeof(contents));
}

const std::byte *CuckooTable::extent(const Entry &of) const noexcept
{
	return extents.data() + (of.address - extents.remote().address);
}

std::optional<Entry> CuckooTable::make_extent(std::span<const std::byte> key, std::span<const std::byte> value) noexcept
{
	const std::optional<std::uint64_t> offset = arena.allocate(key.size() + value.size());
	if (!offset)
		return std::nullopt;
	apps::publish(extents.data() + *offset, key.data(), key.size());
	apps::publish(extents.data() + *offset + key.size(), value.data(), value.size());
	Entry made;
	made.address = extents.remote().address + *offset;
	made.key_size = static_cast<std::uint32_t>(key.size());
	made.value_size = static_cast<std::uint32_t>(value.size());
	made.extent_crc = apps::crc64(value, apps::crc64(key));
	made.seal();
	return made;
}

void CuckooTable::release(const Entry &of) noexcept
{
	arena.free(of.address - extents.remote().address, of.extent_size());
}

std::optional<std::uint64_t> CuckooTable::find(std::uint64_t hash, std::span<const std::byte> key) const noexcept
{
	for (const std::uint64_t place : candidates(hash, options.entries)) {
		const Entry &found = entry(place);
		if (!found.empty() && hashes[place] == hash && found.key_size == key.size() &&
			std::memcmp(extent(found), key.data(), key.size()) == 0)
			return place;
	}
	return std::nullopt;
}

Outcome CuckooTable::get(std::span<const std::byte> key, std::span<std::byte> into, std::uint32_t &size) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, options.seed);
	const std::lock_guard guard(lock);
	const std::optional<std::uint64_t> place = find(hash, key);
	if (!place)
		return Outcome::not_found;
	const Entry &found = entry(*place);
	size = found.value_size;
	if (size)
		std::memcpy(into.data(), extent(found) + found.key_size, size);
	return Outcome::ok;
}

/* An entry twice on a path would be moved twice, and the second move would take the wrong one. */
bool CuckooTable::on_path(std::uint32_t step, std::uint64_t place) const noexcept
{
	for (std::uint32_t left = steps[step].length; left-- > 0; step = steps[step].parent) {
		if (steps[step].place == place)
			return true;
	}
	return false;
}

/* Breadth first: the fewest moves. Returns the step at an empty place. */
std::optional<std::uint32_t> CuckooTable::search(std::uint64_t hash) noexcept
{
	steps.clear();
	for (const std::uint64_t place : candidates(hash, options.entries)) {
		steps.push_back({place, 0, 1});
		if (entry(place).empty())
			return static_cast<std::uint32_t>(steps.size() - 1);
	}
	for (std::uint32_t at = 0; at < steps.size() && steps.size() < options.search_limit; at++) {
		for (const std::uint64_t place : candidates(hashes[steps[at].place], options.entries)) {
			if (on_path(at, place))
				continue;
			steps.push_back({place, at, steps[at].length + 1});
			if (entry(place).empty())
				return static_cast<std::uint32_t>(steps.size() - 1);
		}
	}
	return std::nullopt;
}

/* From the empty place backwards, so that no key is missing in between. Returns the place that may be written. */
std::uint64_t CuckooTable::make_room(std::uint32_t step) noexcept
{
	while (steps[step].length > 1) {
		const std::uint32_t parent = steps[step].parent;
		const std::uint64_t from = steps[parent].place;
		const Entry moving = entry(from);
		write(steps[step].place, moving, hashes[from]);
		moves++;
		step = parent;
	}
	return steps[step].place;
}

bool CuckooTable::insert(std::uint64_t hash, const Entry &fresh) noexcept
{
	const std::optional<std::uint32_t> found = search(hash);
	if (!found)
		return false;
	write(make_room(*found), fresh, hash);
	objects++;
	return true;
}

Outcome CuckooTable::put(std::span<const std::byte> key, std::span<const std::byte> value) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, options.seed);
	const std::optional<Entry> fresh = make_extent(key, value);
	if (!fresh)
		return Outcome::full;
	Entry unused = *fresh;
	bool stored = true;
	{
		const std::lock_guard guard(lock);
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
	const std::uint64_t hash = apps::hash_key(key, options.seed);
	Entry removed;
	{
		const std::lock_guard guard(lock);
		const std::optional<std::uint64_t> place = find(hash, key);
		if (!place)
			return Outcome::not_found;
		removed = entry(*place);
		Entry empty;
		empty.seal();
		write(*place, empty, 0);
		objects--;
	}
	release(removed);
	return Outcome::ok;
}

CuckooStats CuckooTable::stats() const noexcept
{
	const std::uint64_t hurried = arena.hurried();
	const std::lock_guard guard(lock);
	return {objects, moves, hurried};
}

bool CuckooTable::damage(std::span<const std::byte> key, Damage part) noexcept
{
	const std::lock_guard guard(lock);
	const std::optional<std::uint64_t> place = find(apps::hash_key(key, options.seed), key);
	if (!place || entry(*place).value_size == 0)
		return false;
	Entry found = entry(*place);
	if (part == Damage::entry) {
		found.crc ^= 1;
		write(*place, found, hashes[*place]);
		return true;
	}
	const std::uint64_t offset = found.address - extents.remote().address + found.key_size;
	const std::byte changed = extents.data()[offset] ^ std::byte{1};
	apps::publish(extents.data() + offset, &changed, 1);
	return true;
}

} // namespace prism::kv::pilaf
