/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "object_table.hpp"

#include "service/key_hash.hpp"
#include "service/self_verifying.hpp"
#include "tx/transaction/key_set.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>

namespace prism::tx::farm
{

namespace
{

constexpr unsigned readable = access::local | access::remote_read;
/* Average in a full table. One key in 200 is then not in its home bucket. */
constexpr std::uint64_t keys_a_bucket = 2;

Geometry geometry_of(const ObjectTableOptions &options)
{
	Geometry geometry;
	geometry.home_buckets = options.objects / keys_a_bucket + 1;
	geometry.buckets = geometry.home_buckets + geometry.home_buckets / 8 + 64;
	geometry.objects = options.objects;
	const std::size_t longest = sizeof(ObjectHeader) + std::size_t{options.max_key_size} + options.max_value_size;
	geometry.object_size = static_cast<std::uint32_t>((longest + 63) / 64 * 64);
	return geometry;
}

} // namespace

ObjectTable::ObjectTable(Buffer index, Buffer objects, const Geometry &geometry)
	: geometry_(geometry), index_(std::move(index)), objects_(std::move(objects)),
	  states_(std::make_unique<std::atomic<std::uint64_t>[]>(geometry.objects)), stripes_(stripes),
	  next_bucket_(geometry.home_buckets)
{
	free_.reserve(geometry.objects);
	Bucket empty{};
	for (std::uint64_t number = 0; number < geometry.buckets; number++)
		write(number, empty);
}

apps::MemoryPlan ObjectTable::memory(const ObjectTableOptions &options)
{
	const Geometry geometry = geometry_of(options);
	apps::MemoryPlan plan;
	plan.add("index", geometry.buckets * sizeof(Bucket));
	plan.add("objects", geometry.objects * geometry.object_size);
	return plan;
}

Result<std::unique_ptr<ObjectTable>> ObjectTable::create(const ProtectionDomain &pd, const ObjectTableOptions &options)
{
	if (options.objects == 0 || options.objects >= std::numeric_limits<std::uint32_t>::max() - 1)
		return make_error(EINVAL, "a store for " + std::to_string(options.objects) + " objects",
			"from 1 to 4,294,967,293 are possible");
	const Geometry geometry = geometry_of(options);
	Result<Buffer> index = Buffer::create(pd, geometry.buckets * sizeof(Bucket), readable);
	if (!index)
		return index.error();
	Result<Buffer> objects = Buffer::create(pd, geometry.objects * geometry.object_size, readable);
	if (!objects)
		return objects.error();
	try {
		/* The constructor is private: no make_unique. */
		return std::unique_ptr<ObjectTable>(new ObjectTable(*std::move(index), *std::move(objects), geometry));
	} catch (const std::bad_alloc &) {
		return make_error(ENOMEM, "cannot allocate the table", "ask for fewer objects");
	}
}

ObjectHeader ObjectTable::header(std::uint32_t number) const noexcept
{
	ObjectHeader contents;
	std::memcpy(&contents, object(number), sizeof(contents));
	return contents;
}

std::span<const std::byte> ObjectTable::key_of(std::uint32_t number) const noexcept
{
	/* Read only this field: the holder of a lock may be changing the others. */
	std::uint16_t size = 0;
	std::memcpy(&size, object(number) + offsetof(ObjectHeader, key_size), sizeof(size));
	return {object(number) + sizeof(ObjectHeader), size};
}

void ObjectTable::write(std::uint64_t number, Bucket contents) noexcept
{
	contents.seal();
	apps::publish(&index_.as<Bucket>()[number], &contents, sizeof(contents));
}

void ObjectTable::write_state(std::uint32_t number, std::uint64_t state) noexcept
{
	apps::publish(object(number), &state, sizeof(state));
}

/* Takes the lock and writes the copy, so that clients see the lock before its new holder learns that it has it. */
LockResult ObjectTable::take(std::uint32_t number, std::uint64_t state, Lock &lock) noexcept
{
	if (!states_[number].compare_exchange_strong(
		    state, state | locked, std::memory_order_acquire, std::memory_order_relaxed))
		return LockResult::conflict;
	write_state(number, state | locked);
	lock = {number, false};
	return LockResult::ok;
}

LockResult ObjectTable::lock_object(std::uint32_t number, std::uint64_t state, Lock &lock) noexcept
{
	if (number >= geometry_.objects || (state & (live | locked)) != live)
		return LockResult::conflict;
	return take(number, state, lock);
}

std::optional<ObjectTable::Position> ObjectTable::find(
	std::uint64_t home, std::uint64_t hash, std::span<const std::byte> key) const noexcept
{
	std::uint64_t number = home;
	do {
		const Bucket &here = bucket(number);
		for (std::size_t i = 0; i < Bucket::width; i++) {
			const Entry &entry = here.entries[i];
			if (entry.place == 0 || entry.tag != tag_of(hash))
				continue;
			const std::span<const std::byte> other = key_of(entry.place - 1);
			if (other.size() == key.size() && std::memcmp(other.data(), key.data(), key.size()) == 0)
				return Position{number, i};
		}
		number = here.next;
	} while (number);
	return std::nullopt;
}

ObjectTable::Position ObjectTable::position_of(std::uint64_t home, std::uint32_t number) const noexcept
{
	std::uint64_t at = home;
	for (;;) {
		const Bucket &here = bucket(at);
		for (std::size_t i = 0; i < Bucket::width; i++) {
			if (here.entries[i].place == number + 1)
				return {at, i};
		}
		at = here.next; /* the object is in the index, as its lock is held */
	}
}

std::optional<ObjectTable::Position> ObjectTable::room(std::uint64_t home) noexcept
{
	for (std::uint64_t number = home;;) {
		const Bucket &here = bucket(number);
		for (std::size_t i = 0; i < Bucket::width; i++) {
			if (here.entries[i].place == 0)
				return Position{number, i};
		}
		if (here.next) {
			number = here.next;
			continue;
		}
		const std::uint64_t added = next_bucket_.fetch_add(1, std::memory_order_relaxed);
		if (added >= geometry_.buckets) {
			next_bucket_.fetch_sub(1, std::memory_order_relaxed);
			return std::nullopt;
		}
		Bucket longer = here;
		longer.next = added;
		write(number, longer);
		return Position{added, 0};
	}
}

/*
 * Sets an entry. The version of the home bucket covers all buckets behind it: it changes when a key comes or goes, not
 * when only a hint changes.
 */
void ObjectTable::set(std::uint64_t home, const Position &position, const Entry &entry) noexcept
{
	Bucket contents = bucket(position.bucket);
	Entry &old = contents.entries[position.entry];
	const bool other_keys = old.place != entry.place;
	old = entry;
	if (position.bucket != home) {
		write(position.bucket, contents);
		contents = bucket(home);
	}
	if (other_keys)
		contents.mark.word++;
	write(home, contents);
}

LockResult ObjectTable::make(
	std::uint64_t hash, std::span<const std::byte> key, std::uint32_t value_size, Lock &lock) noexcept
{
	const std::uint64_t home = geometry_.home_of(hash);
	const std::optional<Position> position = room(home);
	if (!position)
		return LockResult::full;
	const std::optional<std::uint32_t> number = allocate();
	if (!number)
		return LockResult::full;
	ObjectHeader made;
	made.mark.word = next_state(states_[*number].load(std::memory_order_relaxed), true) | locked;
	made.key_size = static_cast<std::uint16_t>(key.size());
	made.mark.crc = made.compute_crc(key, {});
	apps::publish(object(*number), &made, sizeof(made));
	apps::publish(object(*number) + sizeof(made), key.data(), key.size());
	states_[*number].store(made.mark.word, std::memory_order_release);
	set(home, *position, {*number + 1, tag_of(hash), units_of(sizeof(made) + key.size() + value_size)});
	lock = {*number, true};
	return LockResult::ok;
}

LockResult ObjectTable::lock_key(std::span<const std::byte> key, LockKind kind, std::uint32_t value_size, Lock &lock,
	BucketChange &change) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, hash_seed);
	const std::uint64_t home = geometry_.home_of(hash);
	const std::lock_guard guard(stripe(home));
	change.before = bucket(home).mark.word;
	LockResult result = LockResult::conflict;
	if (const std::optional<Position> found = find(home, hash, key); !found) {
		result = make(hash, key, value_size, lock);
	} else if (kind == LockKind::any_key) {
		/* It is in the index, and cannot leave it now. */
		const std::uint32_t number = bucket(found->bucket).entries[found->entry].place - 1;
		const std::uint64_t state = states_[number].load(std::memory_order_relaxed);
		result = state & locked ? LockResult::conflict : take(number, state, lock);
	}
	change.after = bucket(home).mark;
	return result;
}

void ObjectTable::update(const Lock &lock, std::span<const std::byte> value) noexcept
{
	ObjectHeader contents = header(lock.object);
	const std::span<const std::byte> key = key_of(lock.object);
	const std::uint16_t units = units_of(sizeof(contents) + key.size() + value.size());
	if (lock.made || units != units_of(contents.object_size())) {
		const std::uint64_t hash = apps::hash_key(key, hash_seed);
		const std::uint64_t home = geometry_.home_of(hash);
		const std::lock_guard guard(stripe(home));
		const Position position = position_of(home, lock.object);
		if (bucket(position.bucket).entries[position.entry].units != units)
			set(home, position, {lock.object + 1, tag_of(hash), units});
	}
	const std::uint64_t state = next_state(contents.mark.word, true);
	contents.mark.word = state;
	contents.value_size = static_cast<std::uint32_t>(value.size());
	contents.mark.crc = contents.compute_crc(key, value);
	contents.mark.word |= locked;
	apps::publish(object(lock.object) + sizeof(contents) + key.size(), value.data(), value.size());
	apps::publish(object(lock.object), &contents, sizeof(contents));
	write_state(lock.object, state);
	states_[lock.object].store(state, std::memory_order_release);
}

/* Frees the object's place. It may be used again at once: versions continue. */
void ObjectTable::remove(const Lock &lock) noexcept
{
	const std::uint64_t home = geometry_.home_of(apps::hash_key(key_of(lock.object), hash_seed));
	const std::lock_guard guard(stripe(home));
	set(home, position_of(home, lock.object), {});
	const std::uint64_t state = next_state(states_[lock.object].load(std::memory_order_relaxed), false);
	ObjectHeader contents;
	contents.mark.word = state;
	contents.mark.crc = contents.compute_crc({}, {});
	apps::publish(object(lock.object), &contents, sizeof(contents));
	states_[lock.object].store(state, std::memory_order_release);
	free(lock.object);
}

void ObjectTable::erase(const Lock &lock) noexcept
{
	remove(lock);
}

void ObjectTable::release(const Lock &lock) noexcept
{
	if (lock.made) {
		remove(lock);
		return;
	}
	const std::uint64_t state = states_[lock.object].load(std::memory_order_relaxed) & ~locked;
	write_state(lock.object, state);
	states_[lock.object].store(state, std::memory_order_release);
}

bool ObjectTable::unchanged(MarkKind kind, std::uint32_t number, const Mark &mark) const noexcept
{
	if (kind == MarkKind::object)
		return number < geometry_.objects && states_[number].load(std::memory_order_acquire) == mark.word;
	if (number >= geometry_.buckets)
		return false;
	return std::atomic_ref(const_cast<std::uint64_t &>(bucket(number).mark.word)).load(std::memory_order_acquire) ==
	       mark.word;
}

std::optional<std::uint32_t> ObjectTable::allocate() noexcept
{
	const std::lock_guard guard(free_lock_);
	std::optional<std::uint32_t> number;
	if (!free_.empty()) {
		number = free_.back();
		free_.pop_back();
	} else if (fresh_ < geometry_.objects) {
		number = fresh_++;
	}
	if (number)
		used_.fetch_add(1, std::memory_order_relaxed);
	return number;
}

void ObjectTable::free(std::uint32_t number) noexcept
{
	const std::lock_guard guard(free_lock_);
	free_.push_back(number); /* the list has room for all */
	used_.fetch_sub(1, std::memory_order_relaxed);
}

bool ObjectTable::damage(std::span<const std::byte> key) noexcept
{
	const std::uint64_t hash = apps::hash_key(key, hash_seed);
	const std::uint64_t home = geometry_.home_of(hash);
	const std::lock_guard guard(stripe(home));
	const std::optional<Position> found = find(home, hash, key);
	if (!found)
		return false;
	const std::uint32_t number = bucket(found->bucket).entries[found->entry].place - 1;
	if (header(number).value_size == 0)
		return false;
	std::byte *const place = object(number) + sizeof(ObjectHeader) + key.size();
	const std::byte changed = *place ^ std::byte{1};
	apps::publish(place, &changed, 1);
	return true;
}

} // namespace prism::tx::farm
