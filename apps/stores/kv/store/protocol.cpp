/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "protocol.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "service/size_class.hpp"

namespace prism::kv
{

namespace
{

/* Attempts of an operation that others disturb, before it fails. */
constexpr unsigned max_attempts = 64;
/* Times that an insert yields to another, so that two do not keep ending each other's claims. */
constexpr unsigned max_yields = 8;

constexpr std::size_t pointer_offset = offsetof(Slot, object);
constexpr std::size_t pointer_size = sizeof(prismdv_bounded_ptr);

/* Slots as CAS operands. */

/** If the slot is the key's, replaces its pointer by that of @p to. */
Cas swap_pointer_of(const Fingerprint &key, const prismdv_bounded_ptr &to)
{
	return Cas::bytes(CasMode::equal, Slot{key.member(), {}}, Slot{{}, to})
		.compare_only(0, sizeof(Fingerprint))
		.swap_only(pointer_offset, pointer_size);
}

/** Does the same with the pointer that an ALLOCATE left in the scratch. */
Cas swap_pointer_of(const Fingerprint &key)
{
	return swap_pointer_of(key, {});
}

Cas replace(const Slot &from, const Slot &to)
{
	return Cas::bytes(CasMode::equal, from, to);
}

Cas empty_if_member(const Fingerprint &key)
{
	return Cas::bytes(CasMode::equal, Slot{key.member(), {}}, Slot{}).compare_only(0, sizeof(Fingerprint));
}

} // namespace

int errno_of(const Completion &completion) noexcept
{
	switch (completion.error) {
	case IBV_WC_REM_ACCESS_ERR:
		return EBADMSG;
	case IBV_WC_RETRY_EXC_ERR:
		return ETIMEDOUT;
	case IBV_WC_GENERAL_ERR:
		return EIO;
	default:
		return ECONNRESET;
	}
}

/* Requests ------------------------------------------------------------------------------------------------------- */

RoundTrip Protocol::read_object(Lane &lane, std::uint64_t slot, std::uint32_t length) noexcept
{
	const LaneMemory &memory = lane.memory;
	Chain &chain = lane.begin_chain();
	chain.read(server_.slot(slot) + pointer_offset, memory.slice(memory.in.data(), length)).indirect_bounded();
	return post(lane);
}

RoundTrip Protocol::read_versioned(Lane &lane, std::uint64_t slot, std::uint32_t length) noexcept
{
	const LaneMemory &memory = lane.memory;
	Chain &chain = lane.begin_chain();
	chain.read(server_.slot(slot), memory.slice(memory.old, sizeof(Slot)));
	chain.read(server_.slot(slot) + pointer_offset, memory.slice(memory.in.data(), length)).indirect_bounded();
	return post(lane);
}

RoundTrip Protocol::read_buckets(Lane &lane, const Fingerprint &key) noexcept
{
	const LaneMemory &memory = lane.memory;
	const auto buckets = server_.geometry.buckets_of(key);
	Chain &chain = lane.begin_chain();
	for (std::size_t i = 0; i < buckets.size(); i++)
		chain.rdma_read(server_.slot(Geometry::first_slot(buckets[i])),
			memory.slice(&memory.buckets[i * Geometry::bucket_slots], Geometry::bucket_bytes));
	return post(lane);
}

RoundTrip Protocol::allocate(Lane &lane, const SizeClass &from, const ObjectHeader &header) noexcept
{
	const LaneMemory &memory = lane.memory;
	*memory.allocated = 0;
	Chain &chain = lane.begin_chain();
	chain.allocate(from.free_list, memory.slice(memory.out.data(), header.object_size()))
		.result(memory.slice(memory.allocated, sizeof(*memory.allocated)));
	return post(lane);
}

RoundTrip Protocol::allocate_and_swap(
	Lane &lane, const SizeClass &from, const ObjectHeader &header, std::uint64_t slot, const Cas &cas) noexcept
{
	const LaneMemory &memory = lane.memory;
	*memory.allocated = 0;
	Chain &chain = lane.begin_chain();
	chain.allocate(from.free_list, memory.slice(memory.out.data(), header.object_size()))
		.redirect_bounded(server_.scratch + pointer_offset, static_cast<std::uint32_t>(header.version))
		.result(memory.slice(memory.allocated, sizeof(*memory.allocated)));
	chain.cas(server_.slot(slot), cas, memory.slice(memory.old, sizeof(Slot)))
		.data_indirect(server_.scratch)
		.conditional();
	return post(lane);
}

RoundTrip Protocol::compare_swap(Lane &lane, std::uint64_t slot, const Cas &cas) noexcept
{
	Chain &chain = lane.begin_chain();
	chain.cas(server_.slot(slot), cas, lane.memory.slice(lane.memory.old, sizeof(Slot)));
	return post(lane);
}

RoundTrip Protocol::claim_and_read(Lane &lane, std::uint64_t slot, const Slot &claim, const Fingerprint &key) noexcept
{
	const LaneMemory &memory = lane.memory;
	const auto buckets = server_.geometry.buckets_of(key);
	Chain &chain = lane.begin_chain();
	chain.cas(server_.slot(slot), replace(Slot{}, claim), memory.slice(memory.old, sizeof(Slot)));
	for (std::size_t i = 0; i < buckets.size(); i++)
		chain.read(server_.slot(Geometry::first_slot(buckets[i])),
			     memory.slice(&memory.buckets[i * Geometry::bucket_slots], Geometry::bucket_bytes))
			.conditional();
	return post(lane);
}

/* Data of an operation ------------------------------------------------------------------------------------------- */

Fingerprint Protocol::fingerprint(const Lane &lane) const noexcept
{
	return fingerprint_of(server_.secret, lane.operation->key);
}

/** Writes the object that the operation stores to the lane's memory. */
ObjectHeader Protocol::compose(Lane &lane) noexcept
{
	const apps::Operation &operation = *lane.operation;
	const ObjectHeader header{carrier_.next_version(), static_cast<std::uint32_t>(operation.value.size()),
		static_cast<std::uint32_t>(operation.key.size())};
	std::byte *to = lane.memory.out.data();
	std::memcpy(to, &header, sizeof(header));
	std::memcpy(to + sizeof(header), operation.key.data(), operation.key.size());
	if (!operation.value.empty())
		std::memcpy(to + sizeof(header) + operation.key.size(), operation.value.data(), operation.value.size());
	return header;
}

/** Returns the slot's pointer to the object in the buffer of the lane's last ALLOCATE; ptr 0: it got none. */
prismdv_bounded_ptr Protocol::allocated(const Lane &lane, const ObjectHeader &header) noexcept
{
	return {*lane.memory.allocated, static_cast<std::uint32_t>(header.object_size()),
		static_cast<std::uint32_t>(header.version)};
}

/**
 * Returns the class from which the next ALLOCATE of @p object_size bytes takes its buffer, after @p misses that found
 * none. The server has classes for all objects that a client may store.
 */
const SizeClass &Protocol::class_of(std::uint64_t object_size, unsigned misses) const noexcept
{
	return apps::class_after(apps::classes_for(server_.classes, object_size), misses);
}

/** Returns true to look for a buffer again: at once while there are larger classes to try, then while some may come. */
bool Protocol::look_again(Lane &lane, std::uint64_t object_size, unsigned misses) noexcept
{
	const auto classes = static_cast<unsigned>(apps::classes_for(server_.classes, object_size).size());
	return misses % classes || carrier_.buffers_may_come(lane, misses / classes);
}

/** Returns the length to read: at least the header and the key, at most the lane's room. */
std::uint32_t Protocol::read_length(const Lane &lane) const noexcept
{
	const std::size_t least = sizeof(ObjectHeader) + lane.operation->key.size();
	return static_cast<std::uint32_t>(std::min(std::max<std::size_t>(usual_size_, least), lane.memory.in.size()));
}

/** Returns the index in the table of the slot at @p position of the lane's buckets. */
std::uint64_t Protocol::index_of(const Fingerprint &key, std::size_t position) const noexcept
{
	const auto buckets = server_.geometry.buckets_of(key);
	return Geometry::first_slot(buckets[position / Geometry::bucket_slots]) + position % Geometry::bucket_slots;
}

/** Returns the position in the lane's buckets of slot @p index, which is in one of them. */
std::uint32_t Protocol::position_of(const Fingerprint &key, std::uint64_t index) const noexcept
{
	const std::uint64_t first = Geometry::first_slot(server_.geometry.buckets_of(key)[0]);
	const bool in_first = index - first < Geometry::bucket_slots;
	return static_cast<std::uint32_t>(index % Geometry::bucket_slots) + (in_first ? 0 : Geometry::bucket_slots);
}

/* Hints ---------------------------------------------------------------------------------------------------------- */

/** Returns the slot where an operation on @p key begins. */
std::uint64_t Protocol::first_slot(const Fingerprint &key) noexcept
{
	const std::optional<std::uint32_t> position = hints_.find(key);
	if (!position)
		return server_.geometry.home_of(key);
	hint_figures_.followed++;
	return index_of(key, *position);
}

/**
 * Handles that an operation that began at @p slot has missed there. Returns true if a hint was wrong, so the key may be
 * at home.
 */
bool Protocol::was_hint(const Fingerprint &key, std::uint64_t slot) noexcept
{
	if (slot == server_.geometry.home_of(key))
		return false;
	hint_figures_.wrong++;
	hints_.forget(key);
	return true;
}

/** Learns that the key is in @p slot, one of its 32. */
void Protocol::learn(const Fingerprint &key, std::uint64_t slot) noexcept
{
	if (slot == server_.geometry.home_of(key))
		hints_.forget(key);
	else
		hints_.note(key, position_of(key, slot));
}

/** Learns the places of other keys from the buckets of @p key, as they were read. */
void Protocol::learn_others(const Lane &lane, const Fingerprint &key) noexcept
{
	for (std::size_t position = 0; position < LaneMemory::slots; position++) {
		const Fingerprint &other = lane.memory.buckets[position].key;
		const std::uint64_t slot = index_of(key, position), bucket = slot / Geometry::bucket_slots;
		const auto buckets = server_.geometry.buckets_of(other);
		const bool is_its = bucket == buckets[0] || bucket == buckets[1];
		if ((other.low & 1) && is_its && slot != server_.geometry.home_of(other))
			hints_.suggest(other, position_of(other, slot));
	}
}

/** Chooses an empty slot for @p key in the buckets as they were read: its home, or else one of the emptier bucket. */
bool Protocol::choose_empty(const Lane &lane, const Fingerprint &key, std::uint64_t &slot) const noexcept
{
	const std::span<const Slot> slots = lane.memory.buckets;
	const auto empty = [&](std::uint64_t index) { return slots[position_of(key, index)].empty(); };
	slot = server_.geometry.home_of(key);
	if (empty(slot))
		return true;
	std::array<std::size_t, 2> free{}, first{};
	for (std::size_t position = LaneMemory::slots; position-- > 0;) {
		if (!slots[position].empty())
			continue;
		const std::size_t bucket = position / Geometry::bucket_slots;
		free[bucket]++;
		first[bucket] = position;
	}
	const std::size_t emptier = free[1] > free[0];
	slot = index_of(key, first[emptier]);
	return free[emptier] != 0;
}

Protocol::Outcome Protocol::failed(Lane &lane, const Completion &completion) noexcept
{
	return broken(lane, errno_of(completion));
}

Protocol::Outcome Protocol::broken(Lane &lane, int error) noexcept
{
	lane.operation->error = error;
	return Outcome::failed;
}

/* GET ------------------------------------------------------------------------------------------------------------ */

namespace
{

/** Finding about an object that a READ has brought. */
enum class Sight : std::uint8_t {
	whole,
	truncated, /* the key's, but not all of the value */
	too_long,  /* the key's, but longer than the client handles */
	other,     /* another key's */
	corrupt,
};

/** Judges a read object. The largest possible one may exceed this client's limit, and its room. */
Sight look_at(const LaneMemory &memory, std::uint32_t bytes, bool all_asked_for, std::span<const std::byte> key,
	const ServerView &server)
{
	ObjectHeader header;
	if (bytes < sizeof(header))
		return Sight::corrupt;
	std::memcpy(&header, memory.in.data(), sizeof(header));
	const std::uint64_t size = header.object_size();
	if (!header.key_size || size > server.classes.back().buffer_size ||
		(all_asked_for ? size < bytes : size != bytes))
		return Sight::corrupt;
	if (header.key_size != key.size() ||
		std::memcmp(memory.in.data() + sizeof(header), key.data(), key.size()) != 0)
		return Sight::other;
	if (header.value_size > server.max_value_size || size > memory.in.size())
		return Sight::too_long;
	return size > bytes ? Sight::truncated : Sight::whole;
}

void deliver(const LaneMemory &memory, apps::Operation &operation)
{
	ObjectHeader header;
	std::memcpy(&header, memory.in.data(), sizeof(header));
	operation.length = header.value_size;
	const std::size_t room = std::min<std::size_t>(operation.result.size(), header.value_size);
	if (room)
		std::memcpy(operation.result.data(), memory.in.data() + sizeof(header) + header.key_size, room);
}

} // namespace

/** Ends a GET of a value that is longer than this client handles: only its size is known. */
Protocol::Outcome Protocol::beyond_limit(Lane &lane) noexcept
{
	ObjectHeader header;
	std::memcpy(&header, lane.memory.in.data(), sizeof(header));
	lane.operation->length = header.value_size;
	lane.operation->error = EMSGSIZE;
	return Outcome::failed;
}

/** Gets one slot's object, if it is the key's. With @p version, its slot too. */
apps::Task<Protocol::Outcome> Protocol::get_at(Lane &lane, std::uint64_t slot, Version *version)
{
	for (unsigned attempt = 0; attempt < max_attempts; attempt++) {
		const std::uint32_t length = read_length(lane);
		const RoundTrip trip = version ? read_versioned(lane, slot, length) : read_object(lane, slot, length);
		bool too_long = false;
		const Completion read = co_await trip;
		if (read.failed())
			co_return failed(lane, read);
		if (!read.ok()) /* NULL_POINTER */
			co_return Outcome::not_found;
		switch (look_at(lane.memory, read.byte_len, read.byte_len == length, lane.operation->key, server_)) {
		case Sight::whole:
			break;
		case Sight::truncated: {
			ObjectHeader header;
			std::memcpy(&header, lane.memory.in.data(), sizeof(header));
			usual_size_ = static_cast<std::uint32_t>(header.object_size());
			continue;
		}
		case Sight::too_long:
			too_long = true;
			break;
		case Sight::other:
			co_return Outcome::not_found;
		case Sight::corrupt:
			co_return broken(lane, EBADMSG);
		}
		if (version) {
			ObjectHeader header;
			std::memcpy(&header, lane.memory.in.data(), sizeof(header));
			/* The slot was read first: the object may have been replaced in between. */
			const Slot seen = *lane.memory.old;
			if (!seen.is_member() || seen.object.tag != static_cast<std::uint32_t>(header.version))
				continue;
			*version = {header.version, slot, seen};
		}
		if (too_long)
			co_return beyond_limit(lane);
		deliver(lane.memory, *lane.operation);
		co_return Outcome::ok;
	}
	co_return broken(lane, EBUSY);
}

/** Reads both buckets, in one round trip, and looks for the key: by its fingerprint alone. */
apps::Task<Protocol::Outcome> Protocol::find(Lane &lane, Fingerprint key, Place &place)
{
	const Completion read = co_await read_buckets(lane, key);
	if (read.failed())
		co_return failed(lane, read);
	const auto &slots = lane.memory.buckets;
	const auto at = std::find_if(slots.begin(), slots.end(), [&key](const Slot &slot) { return slot.key == key; });
	learn_others(lane, key);
	place.found = at != slots.end();
	if (place.found) {
		place.slot = index_of(key, static_cast<std::size_t>(at - slots.begin()));
		learn(key, place.slot);
	}
	co_return place.found ? Outcome::ok : Outcome::not_found;
}

/**
 * Runs @p attempt_at on slots, first where a hint says, then at home, then where the key is found, until it returns
 * something other than a miss, or the key is nowhere. Returns its outcome.
 */
template <typename Attempt>
apps::Task<Protocol::Outcome> Protocol::wherever_it_is(Lane &lane, Attempt attempt_at)
{
	const Fingerprint key = fingerprint(lane);
	Place place{first_slot(key), true};
	for (unsigned attempt = 0; attempt < max_attempts; attempt++) {
		Outcome outcome = co_await attempt_at(key, place.slot);
		if (outcome != Outcome::not_found)
			co_return outcome;
		if (!attempt && was_hint(key, place.slot)) {
			place.slot = server_.geometry.home_of(key);
			continue;
		}
		outcome = co_await find(lane, key, place);
		if (outcome != Outcome::ok)
			co_return outcome;
	}
	co_return broken(lane, EBUSY);
}

apps::Task<Protocol::Outcome> Protocol::get(Lane &lane, Version *version)
{
	return wherever_it_is(lane, [this, &lane, version](const Fingerprint &, std::uint64_t slot) {
		return get_at(lane, slot, version);
	});
}

apps::Task<Protocol::Outcome> Protocol::get_versioned(Lane &lane, Version &version)
{
	version = {};
	return get(lane, &version);
}

/* PUT ------------------------------------------------------------------------------------------------------------ */

apps::Task<Protocol::Outcome> Protocol::put(Lane &lane)
{
	const Fingerprint key = fingerprint(lane);
	const ObjectHeader header = compose(lane);
	const std::uint64_t first = first_slot(key);
	for (unsigned misses = 0;;) {
		const SizeClass &from = class_of(header.object_size(), misses);
		const Completion done = co_await allocate_and_swap(lane, from, header, first, swap_pointer_of(key));
		if (done.failed())
			co_return failed(lane, done);
		if (done.ok()) {
			carrier_.release(lane.memory.old->object.ptr);
			co_return Outcome::ok;
		}
		const prismdv_bounded_ptr object = allocated(lane, header);
		if (object.ptr) {
			const Outcome outcome = co_await update_or_insert(lane, key, object, !was_hint(key, first));
			if (outcome != Outcome::ok)
				carrier_.release(object.ptr);
			co_return outcome;
		}
		if (!look_again(lane, header.object_size(), ++misses))
			co_return Outcome::full;
	}
}

/** Finds the key's slot, or makes one, after a miss at the first slot tried. The object is already in its buffer. */
apps::Task<Protocol::Outcome> Protocol::update_or_insert(
	Lane &lane, Fingerprint key, prismdv_bounded_ptr object, bool home_has_missed)
{
	if (!home_has_missed) {
		const Outcome there =
			co_await change_member(lane, server_.geometry.home_of(key), swap_pointer_of(key, object));
		if (there != Outcome::not_found)
			co_return there;
	}
	for (unsigned attempt = 0; attempt < max_attempts; attempt++) {
		Place place;
		Outcome outcome = co_await find(lane, key, place);
		if (outcome == Outcome::ok) {
			outcome = co_await change_member(lane, place.slot, swap_pointer_of(key, object));
		} else if (outcome == Outcome::not_found) {
			if (!choose_empty(lane, key, place.slot))
				co_return Outcome::full;
			outcome = co_await insert(lane, key, object, place.slot, attempt < max_yields);
		}
		if (outcome != Outcome::not_found)
			co_return outcome;
	}
	co_return broken(lane, EBUSY);
}

/** Runs @p cas on a member; if it matches, releases the old object. */
apps::Task<Protocol::Outcome> Protocol::change_member(Lane &lane, std::uint64_t slot, Cas cas)
{
	const Completion changed = co_await compare_swap(lane, slot, cas);
	if (changed.failed())
		co_return failed(lane, changed);
	if (!changed.ok())
		co_return Outcome::not_found;
	carrier_.release(lane.memory.old->object.ptr);
	co_return Outcome::ok;
}

/**
 * Inserts the key into a new slot: claims it, checks if any other client has or makes one, and only then makes it a
 * member. Others do the same, so of two inserts of a key at least one sees the other's claim and ends it, by a CAS that
 * fails if the other was quicker.
 */
apps::Task<Protocol::Outcome> Protocol::insert(
	Lane &lane, Fingerprint key, prismdv_bounded_ptr object, std::uint64_t slot, bool yield)
{
	const Slot claim{key.claim(), {0, server_.connection, object.tag}};
	const Completion claimed = co_await claim_and_read(lane, slot, claim, key);
	if (claimed.failed())
		co_return failed(lane, claimed);
	if (!claimed.ok()) /* the CAS missed, the READs were skipped */
		co_return Outcome::not_found;
	const Outcome settled = co_await settle_claims(lane, key, slot, yield);
	if (settled == Outcome::failed)
		co_return settled;
	const Slot then = settled == Outcome::ok ? Slot{key.member(), object} : Slot{};
	const Completion ended = co_await compare_swap(lane, slot, replace(claim, then));
	if (ended.failed())
		co_return failed(lane, ended);
	if (settled != Outcome::ok || !ended.ok())
		co_return Outcome::not_found;
	learn(key, slot);
	co_return Outcome::ok;
}

/**
 * Ends others' claims of the key. not_found: it has a member, or, as long as this insert is to @p yield, a claim in an
 * earlier slot. It does not yield for ever: the client of that claim may be dead.
 */
apps::Task<Protocol::Outcome> Protocol::settle_claims(Lane &lane, Fingerprint key, std::uint64_t own, bool yield)
{
	for (std::size_t position = 0; position < LaneMemory::slots; position++) {
		const Slot seen = lane.memory.buckets[position];
		const std::uint64_t slot = index_of(key, position);
		if (seen.key == key)
			co_return Outcome::not_found;
		if (slot == own || seen.key != key.claim())
			continue;
		if (yield && slot < own)
			co_return Outcome::not_found;
		const Completion ended = co_await compare_swap(lane, slot, replace(seen, Slot{}));
		if (ended.failed())
			co_return failed(lane, ended);
		if (!ended.ok())
			co_return Outcome::not_found;
	}
	co_return Outcome::ok;
}

/* ERASE ---------------------------------------------------------------------------------------------------------- */

apps::Task<Protocol::Outcome> Protocol::erase(Lane &lane)
{
	const Outcome outcome =
		co_await wherever_it_is(lane, [this, &lane](const Fingerprint &key, std::uint64_t slot) {
			return change_member(lane, slot, empty_if_member(key));
		});
	hints_.forget(fingerprint(lane));
	co_return outcome;
}

/* On a condition ------------------------------------------------------------------------------------------------- */

apps::Task<Protocol::Outcome> Protocol::put_if(Lane &lane, const Version &expected)
{
	return expected.number ? put_if_same(lane, expected) : put_if_absent(lane);
}

apps::Task<Protocol::Outcome> Protocol::put_if_same(Lane &lane, Version expected)
{
	const ObjectHeader header = compose(lane);
	const Cas cas = replace(expected.slot, Slot{}).swap_only(pointer_offset, pointer_size);
	for (unsigned misses = 0;;) {
		const SizeClass &from = class_of(header.object_size(), misses);
		const Completion done = co_await allocate_and_swap(lane, from, header, expected.slot_index, cas);
		if (done.failed())
			co_return failed(lane, done);
		if (done.ok()) {
			carrier_.release(lane.memory.old->object.ptr);
			co_return Outcome::ok;
		}
		if (*lane.memory.allocated) {
			carrier_.release(*lane.memory.allocated);
			co_return Outcome::not_found;
		}
		if (!look_again(lane, header.object_size(), ++misses))
			co_return Outcome::full;
	}
}

/** Inserts the key only. Misses as soon as the key has a member, which another insert may have made. */
apps::Task<Protocol::Outcome> Protocol::put_if_absent(Lane &lane)
{
	const Fingerprint key = fingerprint(lane);
	prismdv_bounded_ptr object{};
	const Outcome outcome = co_await insert_if_absent(lane, key, object);
	if (outcome != Outcome::ok && object.ptr)
		carrier_.release(object.ptr);
	co_return outcome;
}

/** Tries the insert. @p object: the buffer, once it has taken one. */
apps::Task<Protocol::Outcome> Protocol::insert_if_absent(Lane &lane, Fingerprint key, prismdv_bounded_ptr &object)
{
	for (unsigned attempt = 0; attempt < max_attempts; attempt++) {
		Place place;
		Outcome outcome = co_await find(lane, key, place);
		if (outcome != Outcome::not_found)
			co_return outcome == Outcome::ok ? Outcome::not_found : outcome;
		if (!choose_empty(lane, key, place.slot))
			co_return Outcome::full;
		outcome = Outcome::ok;
		if (!object.ptr)
			outcome = co_await take_buffer(lane, object);
		if (outcome == Outcome::ok)
			outcome = co_await insert(lane, key, object, place.slot, attempt < max_yields);
		if (outcome != Outcome::not_found)
			co_return outcome;
	}
	co_return broken(lane, EBUSY);
}

/** Stores the lane's object in a buffer that no slot points at yet. */
apps::Task<Protocol::Outcome> Protocol::take_buffer(Lane &lane, prismdv_bounded_ptr &object)
{
	const ObjectHeader header = compose(lane);
	for (unsigned misses = 0;;) {
		const SizeClass &from = class_of(header.object_size(), misses);
		const Completion done = co_await allocate(lane, from, header);
		if (done.failed())
			co_return failed(lane, done);
		object = allocated(lane, header);
		if (object.ptr)
			co_return Outcome::ok;
		if (!look_again(lane, header.object_size(), ++misses))
			co_return Outcome::full;
	}
}

namespace
{

apps::Task<apps::Outcome> missed()
{
	co_return apps::Outcome::not_found;
}

} // namespace

apps::Task<Protocol::Outcome> Protocol::erase_if(Lane &lane, const Version &expected)
{
	if (!expected.number)
		return missed();
	return change_member(lane, expected.slot_index, replace(expected.slot, Slot{}));
}

apps::Task<Protocol::Outcome> Protocol::run(Lane &lane)
{
	Version *const version = lane.version;
	switch (lane.operation->kind) {
	case apps::OperationKind::get:
		break;
	case apps::OperationKind::put:
		return version ? put_if(lane, *version) : put(lane);
	case apps::OperationKind::erase:
		return version ? erase_if(lane, *version) : erase(lane);
	}
	return version ? get_versioned(lane, *version) : get(lane, nullptr);
}

} // namespace prism::kv
