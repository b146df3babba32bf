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

constexpr std::size_t alignment = 64;
/* Of keys and values that are to be written, before memory is asked for */
constexpr std::size_t usual_changes = 1 << 15;
/* How often a commit takes a later timestamp when somebody later has read what it writes */
constexpr unsigned most_timestamps = 4;
/* The paper's commit: how long it waits for a buffer, or for a writer before it, and how often it looks */
constexpr Time longest_wait = std::chrono::seconds(1);
constexpr Time between_looks = std::chrono::microseconds(100);

std::size_t aligned(std::size_t bytes)
{
	return (bytes + alignment - 1) / alignment * alignment;
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
	  resolver_(carrier, requests_, *reinterpret_cast<ResolverMemory *>(memory), lkey, decision_number + 1),
	  room_to_keep_(usual_changes), kept_(room_to_keep_.data(), room_to_keep_.size())
{
	memory += aligned(sizeof(ResolverMemory)) + aligned(sizeof(Decision));
	decision_.number = decision_number;
	for (std::uint32_t number = 0; number < max_accesses; number++) {
		Access &access = accesses_[number];
		access.number = number;
		access.request.number = static_cast<std::uint16_t>(2 * number);
		access.end.number = static_cast<std::uint16_t>(2 * number + 1);
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

/** The version first: what it says is not later than the object. */
void PrismTransaction::post_fetch(Access &access, std::size_t length) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	const RemoteAddress version = view ? view->version(access.cell) : RemoteAddress{};
	access.request.begin(access.shard)
		.read(version, slice(access.memory.version, sizeof(Version)))
		.read(version + offsetof(Version, object), slice(access.memory.in.data(), length))
		.indirect_bounded();
	post(access.request);
}

/** @p longer: it is to be read once more, as a whole. */
int PrismTransaction::take_fetched(Access &access, bool &longer) noexcept
{
	const Completion &completion = access.request.completion;
	if (completion.failed())
		return errno_of(completion);
	access.read = access.memory.version->committed;
	client_.clock.observe(access.read);
	if (blocker_ && blocker_->cell == access.cell && blocker_->shard == access.shard &&
		access.read >= blocker_->who)
		blocker_.reset();
	longer = false;
	if (completion.status == Status::null_pointer) {
		access.object = {};
	} else {
		const Bytes bytes =
			access.memory.in.first(std::min<std::size_t>(completion.byte_len, access.memory.in.size()));
		if (bytes.size() < object_header_size)
			return EBADMSG;
		const std::size_t size = object_size(bytes);
		longer = size > bytes.size() && bytes.size() < access.memory.in.size();
		usual_size_ = std::clamp(size, usual_size_, access.memory.in.size());
		if (longer)
			return 0;
		const std::optional<ObjectView> object = ObjectView::parse(bytes);
		if (!object)
			return EBADMSG;
		access.object = *object;
	}
	access.fetched = true;
	return 0;
}

/** Those that are not known yet; with @p changed_only only those to be written. */
apps::Task<int> PrismTransaction::fetch_all(bool changed_only)
{
	const auto wanted = [changed_only](const Access &access) {
		return !access.fetched && (access.is_write() || !changed_only);
	};
	for (bool again = true; again;) {
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
			bool longer = false;
			const int wrong = wanted(access) ? take_fetched(access, longer) : 0;
			error = error ? error : wrong;
			again |= longer;
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
	if (number == decision_number + 1)
		return &resolver_.request();
	if (number >= request_numbers)
		return nullptr;
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

/* Parts of chains ------------------------------------------------------------------------------------------------ */

/**
 * One comparison says that nobody has prepared a write since this version was read, and that no later transaction has
 * read it: both words are one number, and the writer's half is never less than the version.
 */
void PrismTransaction::validate(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	const Prepared compare{timestamp_, is_blind(access) ? timestamp_ : access.read};
	Cas cas = Cas::bytes(CasMode::greater, compare, Prepared{timestamp_, timestamp_});
	const std::size_t changed = access.is_write() ? offsetof(Prepared, writer) : offsetof(Prepared, reader);
	cas.swap_only(changed, sizeof(Timestamp));
	if (is_blind(access))
		cas.compare_only(offsetof(Prepared, writer), sizeof(Timestamp));
	chain.cas(view ? view->prepared(access.cell) : RemoteAddress{}, cas,
		slice(access.memory.was_prepared, sizeof(Prepared)));
	if (conditional)
		chain.conditional();
}

/** The new object, and in the log its address behind the timestamp: the largest packet first, so that both leave as one
 * train. */
void PrismTransaction::stage(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	const RemoteAddress entry = view ? view->entry(place_, access.number) : RemoteAddress{};
	Announcement &announcement = access.announcement;
	announcement = {access.cell, 0, timestamp_, {}};
	*access.memory.allocated = 0;
	const std::span<const std::byte> bytes = std::as_bytes(std::span(&announcement, 1));
	if (access.empties) {
		chain.write(entry + offsetof(LogEntry, cell), bytes);
		if (conditional)
			chain.conditional();
		return;
	}
	chain.allocate(access.free_list, slice(access.memory.out.data(), access.size))
		.redirect_bounded(entry + offsetof(LogEntry, version) + offsetof(Version, object))
		.result(slice(access.memory.allocated, sizeof(*access.memory.allocated)));
	if (conditional)
		chain.conditional();
	chain.write(entry + offsetof(LogEntry, cell), bytes.first(offsetof(Announcement, nothing))).conditional();
}

void PrismTransaction::install(Chain &chain, Access &access, bool conditional) noexcept
{
	const ShardView *const view = carrier_.view(access.shard);
	access.installed = true;
	chain.cas(view ? view->version(access.cell) : RemoteAddress{}, tx::install(timestamp_),
		     slice(access.memory.was_version, sizeof(Version)))
		.data_indirect(
			view ? view->entry(place_, access.number) + offsetof(LogEntry, version) : RemoteAddress{});
	if (conditional)
		chain.conditional();
}

void PrismTransaction::decide(Chain &chain, bool conditional) noexcept
{
	const ShardView *const view = carrier_.view(decision_.shard);
	const RemoteAddress decision = view ? view->place(place_) + offsetof(LogPlace, decision) : RemoteAddress{};
	chain.cas(decision, tx::decide(timestamp_, Decision::committed), slice(was_decided_, sizeof(Decision)));
	if (conditional)
		chain.conditional();
}

/* Commits -------------------------------------------------------------------------------------------------------- */

Outcome PrismTransaction::failed(int error) noexcept
{
	error_ = error;
	return Outcome::failed;
}

/** The records that stay, and the new ones. */
int PrismTransaction::compose(Access &access) noexcept
{
	ObjectWriter writer(access.memory.out);
	bool fits = true;
	access.object.for_each([&](const Record &record) {
		const auto replaces = [&record](const Change &change) {
			return std::ranges::equal(change.key, record.key);
		};
		if (std::ranges::none_of(access.changes, replaces))
			fits &= writer.add(record);
	});
	for (const Change &change : access.changes) {
		if (change.value)
			fits &= writer.add({change.key, *change.value});
	}
	const ShardView *const view = carrier_.view(access.shard);
	if (!view)
		return EHOSTUNREACH;
	access.empties = writer.empty();
	access.size = writer.size();
	const auto holds = [&access](const SizeClass &size_class) { return size_class.buffer_size >= access.size; };
	const auto size_class = std::ranges::find_if(view->classes, holds);
	if (!fits || size_class == view->classes.end())
		return ENOSPC;
	access.free_list = size_class->free_list;
	writer.finish(timestamp_);
	return 0;
}

int PrismTransaction::compose_all() noexcept
{
	for (Access &access : accesses()) {
		if (const int error = access.is_write() ? compose(access) : 0)
			return error;
	}
	return 0;
}

bool PrismTransaction::take_timestamp(std::uint32_t home) noexcept
{
	const std::uint64_t clock = client_.clock.next(carrier_.clock());
	leaves_traces_ = first_write() != nullptr;
	timestamp_ = {Writer{client_.incarnation, home, place_}.packed(), clock};
	for (Access &access : accesses()) {
		access.raised = false;
		access.installed = false;
		if (access.is_write())
			std::memcpy(access.memory.out.data(), &timestamp_, sizeof(timestamp_));
	}
	return clock != 0;
}

bool PrismTransaction::on_one_shard() noexcept
{
	const auto elsewhere = [this](const Access &access) { return access.shard != accesses_[0].shard; };
	return std::ranges::none_of(accesses(), elsewhere);
}

PrismTransaction::Access *PrismTransaction::first_write() noexcept
{
	const auto found = std::ranges::find_if(accesses(), &Access::is_write);
	return found == accesses().end() ? nullptr : &*found;
}

void PrismTransaction::blocked_by(const Access &access, const Timestamp &who) noexcept
{
	if (!blocker_ || blocker_->who != who || blocker_->cell != access.cell || blocker_->shard != access.shard)
		blocker_ = {who, access.shard, access.cell, carrier_.now()};
}

PrismTransaction::Prepare PrismTransaction::judge(Access &access) noexcept
{
	const Completion &completion = access.request.completion;
	if (completion.failed()) {
		error_ = errno_of(completion);
		return Prepare::failed;
	}
	const Prepared &was = *access.memory.was_prepared;
	access.raised = access.is_write() && completion.ok();
	if (completion.status == Status::skipped)
		return Prepare::skipped;
	if (completion.ok() && !is_blind(access))
		return Prepare::done;
	client_.clock.observe(was.reader);
	client_.clock.observe(was.writer);
	if (completion.ok()) /* of a blind write the reader is judged here */
		return was.reader < timestamp_ ? Prepare::done : Prepare::too_old;
	const bool taken = is_blind(access) ? was.writer > timestamp_ : was.writer != access.read;
	if (!taken) /* a later reader is in the way of a writer alone */
		return access.is_write() ? Prepare::too_old : Prepare::done;
	blocked_by(access, was.writer);
	return Prepare::taken;
}

/** Outcome::committed: everything is prepared. Looks at the accesses in the order of their chain: reads first. */
Outcome PrismTransaction::judge_all(bool one_chain, bool &only_too_old) noexcept
{
	bool done = true, broken = false, missed = false;
	only_too_old = true;
	for (const bool writes : {false, true}) {
		for (Access &access : accesses()) {
			if (access.is_write() != writes)
				continue;
			Prepare how = judge(access);
			const bool own_fault = !missed || !one_chain;
			if (how == Prepare::skipped && own_fault && !access.empties && !*access.memory.allocated)
				how = Prepare::no_buffer;
			missed |= access.request.completion.status != Status::ok;
			done &= how == Prepare::done;
			broken |= how == Prepare::failed;
			only_too_old &= how != Prepare::taken && how != Prepare::no_buffer && !access.raised;
			if (how == Prepare::no_buffer) {
				no_buffer_ = true;
				carrier_.report_now(access.shard);
			}
		}
	}
	if (broken)
		return Outcome::failed;
	return done ? Outcome::committed : Outcome::conflict;
}

void PrismTransaction::release_staged(Access &access) noexcept
{
	if (const std::uint64_t address = std::exchange(*access.memory.allocated, 0))
		carrier_.release(access.shard, address);
}

/** Cells that this transaction has prepared are others' again; then nobody can find what was staged. */
apps::Task<int> PrismTransaction::give_up()
{
	for (Access &access : accesses()) {
		const ShardView *const view = carrier_.view(access.shard);
		if (!std::exchange(access.raised, false))
			continue;
		retired_ |= !view;
		if (!view)
			continue;
		access.installed = false;
		access.end.begin(access.shard)
			.cas(view->version(access.cell), bump(timestamp_),
				slice(access.memory.was_version, sizeof(Version)));
		post(access.end);
	}
	co_await requests_.all_ended();
	for (Access &access : accesses())
		release_staged(access);
	co_return 0;
}

/** The decision, if there is one to make, and what can be installed with it in the same chain: on its shard. */
apps::Task<Outcome> PrismTransaction::decide_and_install()
{
	co_await requests_.all_ended();
	round_trips_++;
	Access &first = *first_write();
	const bool alone = Writer::of(timestamp_.writer).home == Writer::no_home;
	const Completion &decisive = alone ? first.end.completion : decision_.completion;
	if (decisive.failed()) {
		error_ = errno_of(decisive);
		co_return Outcome::unknown;
	}
	if (!decisive.ok()) { /* somebody took this client for dead */
		(void)co_await give_up();
		co_return Outcome::conflict;
	}
	for (Access &access : accesses()) {
		if (!access.is_write())
			continue;
		const bool tried = access.installed && !access.end.completion.failed() &&
				   access.end.completion.status != Status::skipped;
		retired_ |= !carrier_.view(access.shard);
		if (tried || !carrier_.view(access.shard))
			continue;
		install(access.end.begin(access.shard), access, false);
		post(access.end);
	}
	co_return Outcome::committed;
}

apps::Task<Outcome> PrismTransaction::commit_in_one_chain(bool &only_too_old)
{
	const auto writes = std::ranges::count_if(accesses(), &Access::is_write);
	const std::size_t shard = accesses_[0].shard;
	if (!take_timestamp(writes > 1 ? static_cast<std::uint32_t>(shard) : Writer::no_home))
		co_return failed(EOVERFLOW);
	if (!carrier_.view(shard))
		co_return failed(EHOSTUNREACH);
	bool first = true;
	for (const bool writing : {false, true}) {
		for (Access &access : accesses()) {
			if (access.is_write() != writing)
				continue;
			Chain &chain = access.request.begin(shard, !first);
			if (writing)
				stage(chain, access, !first);
			validate(chain, access, writing || !first);
			post(access.request);
			first = false;
		}
	}
	if (writes > 1) {
		decide(decision_.begin(shard, true), true);
		post(decision_);
	}
	for (Access &access : accesses()) {
		if (!access.is_write())
			continue;
		install(access.end.begin(shard, true), access, true);
		post(access.end);
	}
	co_await requests_.all_ended();
	const Outcome prepared = judge_all(true, only_too_old);
	if (prepared == Outcome::failed)
		co_return Outcome::unknown;
	const bool chained =
		std::ranges::all_of(accesses(), [](const Access &access) { return access.request.completion.ok(); });
	if (prepared == Outcome::committed && chained) {
		const Outcome outcome = co_await decide_and_install();
		figures_.one_chain += outcome == Outcome::committed;
		only_too_old = false;
		co_return outcome;
	}
	round_trips_++;
	(void)co_await give_up();
	co_return Outcome::conflict;
}

apps::Task<Outcome> PrismTransaction::commit_prepared(bool &only_too_old)
{
	const auto writes = std::ranges::count_if(accesses(), &Access::is_write);
	const std::size_t home = first_write()->shard;
	if (!take_timestamp(writes > 1 ? static_cast<std::uint32_t>(home) : Writer::no_home))
		co_return failed(EOVERFLOW);
	for (Access &access : accesses()) {
		Chain &chain = access.request.begin(access.shard);
		if (access.is_write())
			stage(chain, access, false);
		validate(chain, access, access.is_write());
		post(access.request);
	}
	co_await requests_.all_ended();
	round_trips_++;
	if (const Outcome prepared = judge_all(false, only_too_old); prepared != Outcome::committed) {
		(void)co_await give_up();
		co_return prepared;
	}
	only_too_old = false;
	if (writes > 1) {
		decide(decision_.begin(home), false);
		post(decision_);
	}
	for (Access &access : accesses()) {
		if (!access.is_write() || access.shard != home)
			continue;
		install(access.end.begin(home, writes > 1), access, writes > 1);
		post(access.end);
	}
	const Outcome outcome = co_await decide_and_install();
	figures_.prepared += outcome == Outcome::committed;
	co_return outcome;
}

apps::Task<Outcome> PrismTransaction::commit_reads()
{
	figures_.read_only++;
	if (count_ <= 1)
		co_return Outcome::committed;
	if (!take_timestamp(Writer::no_home))
		co_return failed(EOVERFLOW);
	for (Access &access : accesses()) {
		validate(access.request.begin(access.shard), access, false);
		post(access.request);
	}
	co_await requests_.all_ended();
	round_trips_++;
	bool only_too_old = false;
	const Outcome outcome = judge_all(false, only_too_old);
	figures_.read_only -= outcome != Outcome::committed;
	co_return outcome;
}

/* The paper's commit --------------------------------------------------------------------------------------------- */

/**
 * What the writer before this one has prepared must not be passed over: the version becomes later only from that
 * writer's on, which may have to be waited for: docs/prism-tx.md, "Blind writes".
 */
apps::Task<int> PrismTransaction::give_up_as_in_paper(Access &access)
{
	Version before;
	before.committed = is_blind(access) ? access.memory.was_prepared->writer : access.read;
	Version after;
	after.committed = timestamp_;
	const Cas cas = Cas::bytes(CasMode::equal, before, after)
				.compare_only(offsetof(Version, committed), sizeof(Timestamp))
				.swap_only(offsetof(Version, committed), sizeof(Timestamp));
	access.installed = false;
	access.raised = false;
	for (const Time deadline = carrier_.now() + longest_wait; carrier_.now() < deadline;) {
		const ShardView *const view = carrier_.view(access.shard);
		if (!view)
			co_return EHOSTUNREACH;
		access.end.begin(access.shard)
			.cas(view->version(access.cell), cas, slice(access.memory.was_version, sizeof(Version)));
		post(access.end);
		co_await requests_.all_ended();
		if (access.end.completion.failed() || access.end.completion.ok() ||
			access.memory.was_version->committed >= timestamp_)
			break;
		co_await Event{waiter_, carrier_.now() + between_looks};
	}
	co_return 0;
}

apps::Task<Outcome> PrismTransaction::commit_as_in_paper()
{
	if (!take_timestamp(Writer::no_home))
		co_return failed(EOVERFLOW);
	for (Access &access : accesses()) {
		validate(access.request.begin(access.shard), access, false);
		post(access.request);
	}
	co_await requests_.all_ended();
	round_trips_++;
	bool only_too_old = false;
	if (const Outcome prepared = judge_all(false, only_too_old); prepared != Outcome::committed) {
		for (Access &access : accesses()) {
			if (access.raised)
				(void)co_await give_up_as_in_paper(access);
		}
		co_return prepared;
	}
	const Time deadline = carrier_.now() + longest_wait;
	for (bool again = true; again && carrier_.now() < deadline;) {
		again = false;
		for (Access &access : accesses()) {
			if (!access.raised)
				continue;
			Chain &chain = access.end.begin(access.shard);
			stage(chain, access, false);
			install(chain, access, true);
			post(access.end);
		}
		co_await requests_.all_ended();
		round_trips_++;
		for (Access &access : accesses()) {
			const Completion &completion = access.end.completion;
			if (!access.raised)
				continue;
			if (completion.failed()) {
				error_ = errno_of(completion);
				co_return Outcome::unknown;
			}
			access.raised = completion.status == Status::skipped;
			again |= access.raised;
			if (completion.status == Status::cas_miss) /* a later write of the whole is there */
				release_staged(access);
			if (access.raised)
				carrier_.report_now(access.shard);
		}
		if (again)
			co_await Event{waiter_, carrier_.now() + between_looks};
	}
	const bool whole = std::ranges::none_of(accesses(), &Access::raised);
	figures_.prepared += whole;
	error_ = whole ? 0 : ENOBUFS;
	co_return whole ? Outcome::committed : Outcome::unknown;
}

/* ---------------------------------------------------------------------------------------------------------------- */

apps::Task<int> PrismTransaction::look_after_blocker()
{
	if (!blocker_ || client_.store.as_in_paper || carrier_.now() - blocker_->since < client_.patience)
		co_return 0;
	const Blocker blocker = *blocker_;
	blocker_.reset();
	figures_.resolved++;
	co_return co_await resolver_.resolve(blocker.who, blocker.shard, blocker.cell);
}

apps::Task<Outcome> PrismTransaction::attempt()
{
	const auto unknown = [this](const Access &access) {
		return access.is_write() && !access.fetched && !is_blind(access);
	};
	if (std::ranges::any_of(accesses(), unknown)) {
		if (const int error = co_await fetch_all(true))
			co_return failed(error);
	}
	if (!first_write())
		co_return co_await commit_reads();
	if (const int error = compose_all())
		co_return failed(error);
	if (client_.store.as_in_paper)
		co_return co_await commit_as_in_paper();
	for (unsigned times = 1;; times++) {
		bool only_too_old = false;
		const Outcome outcome = on_one_shard() ? co_await commit_in_one_chain(only_too_old)
						       : co_await commit_prepared(only_too_old);
		/* What was read is still true: a later timestamp may do. */
		if (outcome != Outcome::conflict || !only_too_old || times == most_timestamps)
			co_return outcome;
	}
}

/**
 * When a shard was lost in mid-commit, the lane's log and its last decision are all that others have to end the
 * transaction with: the lane goes on in another place, if there is one left.
 */
apps::Task<Outcome> PrismTransaction::commit()
{
	error_ = 0;
	if (retired_) {
		if (client_.spare_places.empty())
			co_return failed(ENOTCONN);
		place_ = client_.spare_places.back();
		client_.spare_places.pop_back();
		retired_ = false;
	}
	no_buffer_ = false;
	committing_ = true;
	serial_ = ++client_.serial;
	Outcome outcome = co_await attempt();
	committing_ = false;
	if (outcome != Outcome::conflict)
		co_return outcome;
	figures_.no_buffer += no_buffer_;
	if (const int error = co_await look_after_blocker())
		co_return failed(error);
	error_ = no_buffer_ ? ENOBUFS : 0;
	co_return outcome;
}

} // namespace prism::tx
