/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "execution.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sodium.h>

#include "tx/store/resolver.hpp"

namespace prism::tx
{

namespace
{

static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof(StoreView::secret));

constexpr std::size_t place_alignment = 64;
/* Accesses that have room for objects from the start */
constexpr std::size_t usual_accesses = 4;
/* Bytes of keys and values of changes before more memory is allocated */
constexpr std::size_t usual_changes = 1 << 15;
/* Reads of cells until cell and object match: only corruption causes more */
constexpr unsigned most_fetches = 64;

std::size_t aligned(std::size_t bytes)
{
	return (bytes + place_alignment - 1) / place_alignment * place_alignment;
}

/*
 * Bytes of an access beside its two objects: the cell, the former prepared words and version, the answer of an ALLOCATE
 */
constexpr std::size_t small_parts = sizeof(Cell) + sizeof(Prepared) + sizeof(Version) + 32;

template <typename T>
T *carve(std::byte *&bytes, std::size_t size = sizeof(T))
{
	return reinterpret_cast<T *>(std::exchange(bytes, bytes + size));
}

} // namespace

std::size_t Execution::memory_size() noexcept
{
	return max_accesses * aligned(small_parts);
}

std::size_t Execution::first_rooms(std::size_t room) noexcept
{
	return usual_accesses * 2 * aligned(room);
}

Execution::Execution(Lane &lane, std::byte *memory, std::size_t room)
	: lane_(lane), accesses_(max_accesses), room_(room), room_to_keep_(usual_changes),
	  kept_(room_to_keep_.data(), room_to_keep_.size())
{
	for (std::uint32_t number = 0; number < max_accesses; number++) {
		Access &access = accesses_[number];
		access.number = number;
		std::byte *bytes = memory + number * aligned(small_parts);
		access.memory.cell = carve<Cell>(bytes);
		access.memory.was_prepared = carve<Prepared>(bytes);
		access.memory.was_version = carve<Version>(bytes);
		access.memory.allocated = carve<std::uint64_t>(bytes, 32);
	}
}

/** Doubles the accesses with room for objects: few transactions have many, and objects may be large. */
int Execution::make_rooms() noexcept
{
	const std::size_t more = std::min(std::max(with_rooms_, usual_accesses), accesses_.size() - with_rooms_);
	std::byte *bytes = nullptr;
	std::uint32_t lkey = 0;
	if (const int error = lane_.client.memory->take(more * 2 * aligned(room_), bytes, lkey))
		return error;
	for (std::size_t end = with_rooms_ + more; with_rooms_ < end; with_rooms_++) {
		AccessMemory &memory = accesses_[with_rooms_].memory;
		memory.out = {carve<std::byte>(bytes, aligned(room_)), room_};
		memory.in = {carve<std::byte>(bytes, aligned(room_)), room_};
		memory.object_lkey = lkey;
	}
	return 0;
}

void Execution::begin() noexcept
{
	count_ = 0;
	kept_.release();
}

void Execution::forget() noexcept
{
	for (Access &access : accesses_)
		access.kept = false;
}

Access *Execution::first_write() noexcept
{
	const auto found = std::ranges::find_if(accesses(), &Access::is_write);
	return found == accesses().end() ? nullptr : &*found;
}

int find_place(const StoreView &store, const Carrier &carrier, Bytes key, KeyPlace &place) noexcept
{
	if (key.empty() || key.size() > store.max_key_size)
		return EINVAL;
	std::uint64_t hash[2] = {};
	if (store.numbered) {
		if (key.size() != sizeof(hash[0]))
			return EINVAL;
		std::memcpy(hash, key.data(), key.size());
		place = {hash[0] % carrier.shards(), hash[0] / carrier.shards()};
	} else {
		static_assert(sizeof(hash) == crypto_shorthash_siphashx24_BYTES);
		crypto_shorthash_siphashx24(reinterpret_cast<unsigned char *>(hash),
			reinterpret_cast<const unsigned char *>(key.data()), key.size(), store.secret.data());
		place.shard = hash[0] % carrier.shards();
	}
	const ShardGeometry *const geometry = carrier.geometry(place.shard);
	if (!geometry)
		return EHOSTUNREACH;
	if (!store.numbered)
		place.cell =
			static_cast<std::uint64_t>(static_cast<unsigned __int128>(hash[1]) * geometry->cells >> 64);
	return place.cell < geometry->cells ? 0 : EINVAL;
}

/**
 * Finds the access of @p key, also if the shard's connection was lost since: a value that was read must not turn
 * absent.
 */
const Access *Execution::find(Bytes key) const noexcept
{
	KeyPlace place;
	if (find_place(lane_.client.store, lane_.carrier, key, place))
		return nullptr;
	const auto end = accesses_.begin() + static_cast<std::ptrdiff_t>(count_);
	const auto found = std::find_if(accesses_.begin(), end,
		[&place](const Access &access) { return access.cell == place.cell && access.shard == place.shard; });
	return found == end ? nullptr : &*found;
}

int Execution::access(Bytes key, Access *&found) noexcept
{
	KeyPlace place;
	if (const int error = find_place(lane_.client.store, lane_.carrier, key, place))
		return error;
	if (!lane_.carrier.view(place.shard))
		return EHOSTUNREACH;
	for (Access &access : accesses()) {
		if (access.cell == place.cell && access.shard == place.shard) {
			found = &access;
			return 0;
		}
	}
	if (count_ == accesses_.size())
		return E2BIG;
	if (count_ == with_rooms_) {
		if (const int error = make_rooms())
			return error;
	}
	found = &accesses_[count_++];
	/* Reuse the previous attempt's value: a body mostly asks for the same keys in the same order. */
	found->fetched = found->kept && found->shard == place.shard && found->cell == place.cell;
	found->kept = false;
	found->with_cell = false;
	found->settled = false;
	found->raised = false;
	found->installed = false;
	found->changes.clear();
	*found->memory.allocated = 0;
	if (found->fetched)
		return 0;
	found->shard = place.shard;
	found->cell = place.cell;
	found->read = {};
	found->object = {};
	return 0;
}

/**
 * Posts the READ of an object, with its cell where needed. The object has its own version, the timestamp of its writer,
 * unless an aborted writer has raised that since. So only the object is read as long as this goes well. The cell is
 * read too after a conflict, and with a cell that is read alone: it shows whether anybody has prepared another version.
 */
void Execution::post_fetch(Access &access, std::size_t length) noexcept
{
	const ShardView *const view = lane_.carrier.view(access.shard);
	const RemoteAddress cell = view ? view->prepared(access.cell) : RemoteAddress{};
	const bool alone = count_ == 1 && !access.is_write() && lane_.reads_alone;
	access.with_cell = lane_.careful || alone;
	access.asked = length;
	Chain &chain = access.request.begin(access.shard);
	chain.read(cell + (offsetof(Cell, version) + offsetof(Version, object)),
		     lane_.slice(access.memory.in.data(), length, access.memory.object_lkey))
		.indirect_bounded();
	if (access.with_cell) {
		std::memset(access.memory.in.data(), 0, object_header_size); /* stays zero if there is no object */
		chain.read(cell, lane_.slice(access.memory.cell, sizeof(Cell)));
	}
	lane_.post(access.request);
}

/**
 * Returns true if the cell that was read with the object points at this object. They may be of different times, and the
 * cell the earlier one although it is read second: READs whose answers were lost are executed again.
 */
bool Execution::is_of_its_cell(const Access &access) noexcept
{
	Timestamp written;
	std::memcpy(&written, access.memory.in.data(), sizeof(written));
	const prismdv_bounded_ptr &object = access.memory.cell->version.object;
	return object.ptr ? written != Timestamp{} && object.tag == tag_of(written) : written == Timestamp{};
}

/** Takes the object that was read. Sets @p longer if only its beginning is there: it must be read again as a whole. */
int Execution::take_object(Access &access, bool &longer) noexcept
{
	const Completion &completion = access.request.completion;
	const Version &version = access.memory.cell->version;
	const bool nothing = access.with_cell ? !version.object.ptr : completion.status == Status::null_pointer;
	access.object = {};
	if (nothing)
		return 0;
	const std::size_t got =
		access.with_cell ? std::min<std::size_t>(version.object.bound, access.asked) : completion.byte_len;
	const Bytes bytes = access.memory.in.first(std::min(got, access.memory.in.size()));
	if (bytes.size() < object_header_size)
		return EBADMSG;
	const std::size_t size = object_size(bytes);
	usual_size_ = std::clamp(size, usual_size_, access.memory.in.size());
	longer = size > bytes.size() && bytes.size() < access.memory.in.size();
	if (longer)
		return 0;
	const std::optional<ObjectView> object = ObjectView::parse(bytes);
	if (!object)
		return EBADMSG;
	access.object = *object;
	return 0;
}

/**
 * Takes the result of a fetch. Sets @p again if another read is needed: the object was longer, or it does not match its
 * cell.
 */
int Execution::take_fetched(Access &access, bool &again) noexcept
{
	if (access.request.completion.failed())
		return errno_of(access.request.completion);
	again = access.with_cell && !is_of_its_cell(access);
	if (again)
		return 0;
	if (const int error = take_object(access, again))
		return error;
	if (again)
		return 0;
	const Cell &cell = *access.memory.cell;
	access.read = access.with_cell ? cell.version.committed : access.object.header().written;
	/* PW and C may have been read at different moments: at one moment between these, both had this value. */
	access.settled = access.with_cell && cell.prepared.writer == cell.version.committed;
	lane_.client.clock.observe(access.read);
	access.fetched = true;
	return 0;
}

/** Fetches the cells that are not known yet; with @p changed_only only those to be written. */
apps::Task<int> Execution::fetch_all(bool changed_only)
{
	const auto wanted = [changed_only](const Access &access) {
		return !access.fetched && (access.is_write() || !changed_only);
	};
	bool again = true;
	for (unsigned times = 0; again; times++) {
		if (times == most_fetches)
			co_return EBADMSG;
		again = false;
		for (Access &access : accesses()) {
			if (wanted(access))
				post_fetch(access, std::min(usual_size_, access.memory.in.size()));
		}
		if (!lane_.requests.under_way() && std::ranges::none_of(accesses(), wanted))
			co_return 0;
		co_await lane_.requests.all_ended();
		lane_.round_trips++;
		int error = 0;
		for (Access &access : accesses()) {
			bool once_more = false;
			const int wrong = wanted(access) ? take_fetched(access, once_more) : 0;
			error = error ? error : wrong;
			again |= once_more;
		}
		if (error)
			co_return error;
	}
	co_return 0;
}

apps::Task<int> Execution::fetch(std::span<const Bytes> keys)
{
	for (const Bytes key : keys) {
		Access *access = nullptr;
		if (const int error = this->access(key, access))
			co_return error;
	}
	co_return co_await fetch_all(false);
}

std::optional<Bytes> Execution::value(Bytes key) const noexcept
{
	const Access *const access = find(key);
	if (!access)
		return std::nullopt;
	for (const Change &change : access->changes) {
		if (std::ranges::equal(change.key, key))
			return change.value;
	}
	return access->object.find(key);
}

Bytes Execution::keep(Bytes bytes)
{
	if (bytes.empty())
		return {};
	auto *const copy = static_cast<std::byte *>(kept_.allocate(bytes.size(), 1));
	std::memcpy(copy, bytes.data(), bytes.size());
	return {copy, bytes.size()};
}

int Execution::change(Bytes key, std::optional<Bytes> value) noexcept
try {
	if (value && value->size() > lane_.client.store.max_value_size)
		return EINVAL;
	Access *access = nullptr;
	if (const int error = this->access(key, access))
		return error;
	const std::optional<Bytes> kept = value ? std::optional(keep(*value)) : std::nullopt;
	for (Change &change : access->changes) {
		if (std::ranges::equal(change.key, key)) {
			change.value = kept;
			return 0;
		}
	}
	access->changes.push_back({keep(key), kept});
	return 0;
} catch (const std::bad_alloc &) {
	return ENOMEM;
}

} // namespace prism::tx
