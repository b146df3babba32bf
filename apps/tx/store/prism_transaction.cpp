/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_transaction.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <sodium.h>

namespace prism::tx
{

namespace
{

static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof(StoreView::secret));

constexpr std::size_t place_alignment = 64;
/* Of keys and values that are to be written, before memory is asked for */
constexpr std::size_t usual_changes = 1 << 15;
/* How often cells are read until version and object belong together: more happens only if somebody spoils them */
constexpr unsigned most_fetches = 64;

std::size_t aligned(std::size_t bytes)
{
	return (bytes + place_alignment - 1) / place_alignment * place_alignment;
}

/* Of an access, beside its two objects: both versions and what was prepared, and the answer of an ALLOCATE */
constexpr std::size_t small_parts = 2 * sizeof(Version) + sizeof(Prepared) + 32;

template <typename T>
T *carve(std::byte *&bytes, std::size_t size = sizeof(T))
{
	return reinterpret_cast<T *>(std::exchange(bytes, bytes + size));
}

} // namespace

std::size_t PrismTransaction::memory_size(std::size_t room) noexcept
{
	return aligned(sizeof(ResolverMemory)) + aligned(sizeof(Decision)) +
	       max_accesses * aligned(small_parts + 2 * aligned(room));
}

PrismTransaction::PrismTransaction(ClientState &client, Carrier &carrier, Waiter &waiter, std::uint32_t lane,
	std::uint32_t place, std::byte *memory, std::size_t room, std::uint32_t lkey)
	: client_(client), carrier_(carrier), waiter_(waiter), requests_(carrier, waiter, lane), place_(place),
	  lkey_(lkey), accesses_(max_accesses),
	  was_decided_(reinterpret_cast<Decision *>(memory + aligned(sizeof(ResolverMemory)))),
	  resolver_(carrier, requests_, *reinterpret_cast<ResolverMemory *>(memory), lkey, resolver_number),
	  room_to_keep_(usual_changes), kept_(room_to_keep_.data(), room_to_keep_.size())
{
	memory += aligned(sizeof(ResolverMemory)) + aligned(sizeof(Decision));
	writes_.reserve(max_accesses);
	decision_.number = decision_number;
	for (std::uint32_t number = 0; number < max_accesses; number++) {
		Access &access = accesses_[number];
		access.number = number;
		access.request.number = static_cast<std::uint16_t>(2 * number);
		access.end.number = static_cast<std::uint16_t>(2 * number + 1);
		access.object_ahead.number = static_cast<std::uint16_t>(first_object_ahead + number);
		std::byte *bytes = memory + number * aligned(small_parts + 2 * aligned(room));
		access.memory.version = carve<Version>(bytes);
		access.memory.was_prepared = carve<Prepared>(bytes);
		access.memory.was_version = carve<Version>(bytes);
		access.memory.allocated = carve<std::uint64_t>(bytes, 32);
		access.memory.out = {carve<std::byte>(bytes, aligned(room)), room};
		access.memory.in = {carve<std::byte>(bytes, aligned(room)), room};
	}
}

/* Accesses ------------------------------------------------------------------------------------------------------- */

int PrismTransaction::place_of(Bytes key, Place &place) const noexcept
{
	const StoreView &store = client_.store;
	if (key.empty() || key.size() > store.max_key_size)
		return EINVAL;
	std::uint64_t hash[2] = {};
	if (store.numbered) {
		if (key.size() != sizeof(hash[0]))
			return EINVAL;
		std::memcpy(hash, key.data(), key.size());
		place = {hash[0] % carrier_.shards(), hash[0] / carrier_.shards()};
	} else {
		static_assert(sizeof(hash) == crypto_shorthash_siphashx24_BYTES);
		crypto_shorthash_siphashx24(reinterpret_cast<unsigned char *>(hash),
			reinterpret_cast<const unsigned char *>(key.data()), key.size(), store.secret.data());
		place.shard = hash[0] % carrier_.shards();
	}
	const ShardView *const view = carrier_.view(place.shard);
	if (!view)
		return EHOSTUNREACH;
	if (!store.numbered)
		place.cell = static_cast<std::uint64_t>(
			static_cast<unsigned __int128>(hash[1]) * view->geometry.cells >> 64);
	return place.cell < view->geometry.cells ? 0 : EINVAL;
}

const PrismTransaction::Access *PrismTransaction::find(Bytes key) const noexcept
{
	Place place;
	if (place_of(key, place))
		return nullptr;
	const auto end = accesses_.begin() + static_cast<std::ptrdiff_t>(count_);
	const auto found = std::find_if(accesses_.begin(), end,
		[&place](const Access &access) { return access.cell == place.cell && access.shard == place.shard; });
	return found == end ? nullptr : &*found;
}

int PrismTransaction::access(Bytes key, Access *&found) noexcept
{
	Place place;
	if (const int error = place_of(key, place))
		return error;
	for (Access &access : accesses()) {
		if (access.cell == place.cell && access.shard == place.shard) {
			found = &access;
			return 0;
		}
	}
	if (count_ == accesses_.size())
		return E2BIG;
	found = &accesses_[count_++];
	found->shard = place.shard;
	found->cell = place.cell;
	found->fetched = false;
	found->raised = false;
	found->installed = false;
	found->read = {};
	found->object = {};
	found->changes.clear();
	*found->memory.allocated = 0;
	return 0;
}

void PrismTransaction::post(Request &request) noexcept
{
	figures_.requests += request.chain.size();
	requests_.post(request);
	retired_ |= leaves_traces_ && request.completion.failed();
}

/**
 * An object tells its version itself, the timestamp of its writer, unless an aborted writer has raised that since. So
 * the object alone is read as long as that goes well; after a conflict the version is read before it.
 */
void PrismTransaction::post_fetch(Access &access, std::size_t length) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	const RemoteAddress version = view ? view->version(access.cell) : RemoteAddress{};
	access.with_version = careful_ != 0;
	Chain &chain = access.request.begin(access.shard);
	if (access.with_version)
		chain.read(version, slice(access.memory.version, sizeof(Version)));
	chain.read(version + offsetof(Version, object), slice(access.memory.in.data(), length)).indirect_bounded();
	post(access.request);
}

/** @p longer: it must be read again as a whole; what is there is the beginning. */
int PrismTransaction::take_object(Access &access, bool &longer) noexcept
{
	const Completion &completion = access.request.completion;
	access.object = {};
	if (completion.status == Status::null_pointer)
		return 0;
	const Bytes bytes = access.memory.in.first(std::min<std::size_t>(completion.byte_len, access.memory.in.size()));
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
 * @p again: it is to be read once more, as it was longer, or as version and object do not belong together. That may be
 * because the cell changed in between, or because the answers were lost: READs are executed again then, the first
 * perhaps later than the second.
 */
int PrismTransaction::take_fetched(Access &access, bool &again) noexcept
{
	if (access.request.completion.failed())
		return errno_of(access.request.completion);
	if (const int error = take_object(access, again))
		return error;
	if (again)
		return 0;
	const Timestamp &written = access.object.header().written; /* of no object: before everything */
	access.read = written;
	if (access.with_version) {
		const Version &version = *access.memory.version;
		const bool nothing = written == Timestamp{};
		access.read = version.committed;
		again = nothing ? version.object.ptr != 0
				: !version.object.ptr || version.object.tag != tag_of(written);
	}
	client_.clock.observe(access.read);
	if (blocker_ && blocker_->cell == access.cell && blocker_->shard == access.shard &&
		access.read >= blocker_->who)
		blocker_.reset();
	access.fetched = !again;
	return 0;
}

/** Those that are not known yet; with @p changed_only only those to be written. */
apps::Task<int> PrismTransaction::fetch_all(bool changed_only)
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
		if (!requests_.under_way() && std::ranges::none_of(accesses(), wanted))
			co_return 0;
		co_await requests_.all_ended();
		round_trips_++;
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

apps::Task<int> PrismTransaction::fetch(std::span<const Bytes> keys)
{
	for (const Bytes key : keys) {
		Access *access = nullptr;
		if (const int error = this->access(key, access))
			co_return error;
	}
	co_return co_await fetch_all(false);
}

std::optional<Bytes> PrismTransaction::value(Bytes key) const noexcept
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

Bytes PrismTransaction::keep(Bytes bytes)
{
	if (bytes.empty())
		return {};
	auto *const copy = static_cast<std::byte *>(kept_.allocate(bytes.size(), 1));
	std::memcpy(copy, bytes.data(), bytes.size());
	return {copy, bytes.size()};
}

int PrismTransaction::change(Bytes key, std::optional<Bytes> value) noexcept
{
	if (value && value->size() > client_.store.max_value_size)
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
}

int PrismTransaction::write(Bytes key, Bytes value) noexcept
{
	return change(key, value);
}

int PrismTransaction::erase(Bytes key) noexcept
{
	return change(key, std::nullopt);
}

apps::Task<int> PrismTransaction::begin()
{
	co_await requests_.all_ended();
	count_ = 0;
	kept_.release();
	timestamp_ = {};
	error_ = 0;
	round_trips_ = 0;
	leaves_traces_ = false;
	co_return 0;
}

apps::Task<int> PrismTransaction::roll_back()
{
	co_return 0; /* nobody has heard of it */
}

/* For the carrier ------------------------------------------------------------------------------------------------ */

Request *PrismTransaction::request(std::uint16_t number) noexcept
{
	if (number == decision_number)
		return &decision_;
	if (number == resolver_number)
		return &resolver_.request();
	if (number >= request_numbers)
		return nullptr;
	if (number >= first_object_ahead)
		return &accesses_[number - first_object_ahead].object_ahead;
	Access &access = accesses_[number / 2];
	return number % 2 ? &access.end : &access.request;
}

/**
 * An install may end when its transaction is long over: what it has replaced is freed here. One that misses was done by
 * somebody else, or something later stands there already.
 */
bool PrismTransaction::ended(Request &request, const Completion &completion) noexcept
{
	if (request.number < 2 * max_accesses && request.number % 2 && !completion.failed()) {
		Access &access = accesses_[request.number / 2];
		if (access.installed && completion.ok() && access.memory.was_version->object.ptr)
			carrier_.release(access.shard, access.memory.was_version->object.ptr);
	}
	retired_ |= leaves_traces_ && completion.failed();
	return requests_.ended(request, completion);
}

std::uint64_t PrismTransaction::holding() const noexcept
{
	return committing_ || requests_.under_way() ? serial_ : std::numeric_limits<std::uint64_t>::max();
}

} // namespace prism::tx
