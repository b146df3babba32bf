/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "resolver.hpp"

#include <cerrno>
#include <cstring>

#include "tx/store/object.hpp"

namespace prism::tx
{

int errno_of(const Completion &completion) noexcept
{
	if (!completion.failed())
		return 0;
	return completion.error == IBV_WC_REM_ACCESS_ERR ? EBADMSG : EHOSTUNREACH;
}

Cas bump(const Timestamp &timestamp) noexcept
{
	Version version;
	version.committed = timestamp;
	return Cas::bytes(CasMode::greater, version, version)
		.compare_only(offsetof(Version, committed), sizeof(Timestamp))
		.swap_only(offsetof(Version, committed), sizeof(Timestamp));
}

Cas install(const Timestamp &timestamp) noexcept
{
	Version version;
	version.committed = timestamp;
	return Cas::bytes(CasMode::greater, version, Version{})
		.compare_only(offsetof(Version, committed), sizeof(Timestamp));
}

Cas decide(const Timestamp &timestamp, std::uint64_t verdict) noexcept
{
	const Decision decision{timestamp, verdict, 0};
	return Cas::bytes(CasMode::greater, decision, decision)
		.compare_only(offsetof(Decision, transaction), sizeof(Timestamp));
}

apps::Task<int> Resolver::post(Request &request)
{
	requests_.post(request);
	co_await requests_.all_ended();
	co_return errno_of(request.completion);
}

/** A transaction that is not decided is aborted; @p verdict 0: it is over, with all that it has left. */
apps::Task<int> Resolver::decide_aborted(Timestamp who, std::uint64_t &verdict)
{
	const Writer writer = Writer::of(who.writer);
	verdict = Decision::aborted;
	if (writer.home == Writer::no_home)
		co_return 0;
	if (writer.home >= carrier_.shards())
		co_return EBADMSG;
	const ShardView *const home = carrier_.view(writer.home);
	if (!home)
		co_return EHOSTUNREACH;
	if (writer.place >= home->geometry.places())
		co_return EBADMSG;
	request_.begin(writer.home)
		.cas(home->place(writer.place) + offsetof(LogPlace, decision), decide(who, Decision::aborted),
			slice(memory_.decision));
	if (const int error = co_await post(request_))
		co_return error;
	if (!request_.completion.ok())
		verdict = memory_.decision.transaction == who ? memory_.decision.verdict : 0;
	co_return 0;
}

/**
 * Installs the version from the log. If the entry is another transaction's by now, this one is over, and its timestamp
 * is not later than the cell's.
 */
apps::Task<int> Resolver::install_from_log(Timestamp who, std::size_t shard, std::uint64_t cell)
{
	const std::uint32_t place = Writer::of(who.writer).place;
	const ShardView *view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	request_.begin(shard).read(view->place(place), slice(memory_.place));
	if (const int error = co_await post(request_))
		co_return error;
	for (std::uint32_t number = 0; number < max_accesses; number++) {
		const LogEntry &entry = memory_.place.entries[number];
		if (entry.version.committed != who || entry.cell != cell)
			continue;
		view = carrier_.view(shard);
		if (!view)
			co_return EHOSTUNREACH;
		request_.begin(shard)
			.cas(view->version(cell), install(who), slice(memory_.cell.version))
			.data_indirect(view->entry(place, number) + offsetof(LogEntry, version));
		if (const int error = co_await post(request_))
			co_return error;
		if (request_.completion.ok() && memory_.cell.version.object.ptr)
			carrier_.release(shard, memory_.cell.version.object.ptr);
		co_return 0;
	}
	co_return 0;
}

apps::Task<int> Resolver::resolve(Timestamp who, std::size_t shard, std::uint64_t cell)
{
	std::uint64_t verdict = 0;
	if (const int error = co_await decide_aborted(who, verdict))
		co_return error;
	if (verdict == Decision::committed)
		co_return co_await install_from_log(who, shard, cell);
	const ShardView *const view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	if (verdict != Decision::aborted)
		co_return 0;
	request_.begin(shard).cas(view->version(cell), bump(who), slice(memory_.cell.version));
	co_return co_await post(request_);
}

namespace
{

/** Returns the outcome of a transaction with a single cell, which has @p version now. */
std::uint64_t verdict_of(const Timestamp &who, const Version &version, bool erases) noexcept
{
	if (version.committed > who)
		return 0;
	const bool is_its_own = version.object.ptr && version.object.tag == tag_of(who);
	const bool installed = version.committed == who && (erases ? !version.object.ptr : is_its_own);
	return installed ? Decision::committed : Decision::aborted;
}

} // namespace

/**
 * Only the client itself installs a single write. So if the version is still an earlier one, the write is not installed
 * and never will be: gives up what is prepared.
 */
apps::Task<int> Resolver::conclude(
	Timestamp who, std::size_t shard, std::uint64_t cell, bool erases, std::uint64_t &verdict)
{
	const ShardView *view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	request_.begin(shard).read(view->prepared(cell), slice(memory_.cell));
	if (const int error = co_await post(request_))
		co_return error;
	if (memory_.cell.prepared.writer == who && memory_.cell.version.committed < who) {
		view = carrier_.view(shard);
		if (!view)
			co_return EHOSTUNREACH;
		request_.begin(shard).cas(view->version(cell), bump(who), slice(memory_.cell.version));
		if (const int error = co_await post(request_))
			co_return error;
	}
	verdict = verdict_of(who, memory_.cell.version, erases);
	co_return 0;
}

/** Ends the transaction of a log entry. It may never have prepared the cell, or be over. */
apps::Task<int> Resolver::end_entry(std::size_t shard, const LogEntry &entry)
{
	const Timestamp who = entry.version.committed;
	const std::uint64_t cell = entry.cell;
	const ShardView *const view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	if (who == Timestamp{} || cell >= view->geometry.cells)
		co_return 0;
	request_.begin(shard).read(view->prepared(cell), slice(memory_.cell));
	if (const int error = co_await post(request_))
		co_return error;
	const bool left = memory_.cell.prepared.writer == who && memory_.cell.version.committed < who;
	if (!left) /* not with ?:, as g++ 12 would run the co_await in any case */
		co_return 0;
	co_return co_await resolve(who, shard, cell);
}

/**
 * Clears an entry. Keeps its timestamp: a slow client may still decide about it, and a later client in this place must
 * not begin below it. Does not free its buffer, which may be installed.
 */
apps::Task<int> Resolver::clear_entry(
	std::size_t shard, std::uint32_t place, std::uint32_t number, const LogEntry &entry)
{
	const Timestamp who = entry.version.committed;
	if (const int error = co_await end_entry(shard, entry))
		co_return error;
	const ShardView *const view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	memory_.cleared = {LogEntry::no_cell, 0, who, {}};
	request_.begin(shard).write(
		view->entry(place, number) + offsetof(LogEntry, cell), std::as_bytes(std::span(&memory_.cleared, 1)));
	co_return co_await post(request_);
}

apps::Task<int> Resolver::read_log(std::size_t shard, std::uint32_t place)
{
	const ShardView *const view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	request_.begin(shard).read(view->place(place), slice(memory_.log));
	co_return co_await post(request_);
}

apps::Task<int> Resolver::end_place(std::size_t shard, std::uint32_t place)
{
	if (const int error = co_await read_log(shard, place))
		co_return error;
	for (const LogEntry &entry : memory_.log.entries) {
		if (const int error = co_await end_entry(shard, entry))
			co_return error;
	}
	co_return 0;
}

apps::Task<int> Resolver::look_for_lost_home(std::size_t shard, std::uint32_t place, bool &found)
{
	if (const int error = co_await read_log(shard, place))
		co_return error;
	for (const LogEntry &entry : memory_.log.entries) {
		const std::uint32_t home = Writer::of(entry.version.committed.writer).home;
		const bool listed = entry.cell != LogEntry::no_cell && entry.version.committed != Timestamp{};
		found |= listed && home < carrier_.shards() && !carrier_.view(home);
	}
	co_return 0;
}

apps::Task<int> Resolver::survey_entry(std::size_t shard, const LogEntry &entry, Doubts &doubts)
{
	const Timestamp who = entry.version.committed;
	const bool erases = !entry.version.object.ptr;
	const ShardView *const view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	request_.begin(shard).read(view->prepared(entry.cell), slice(memory_.cell));
	if (const int error = co_await post(request_))
		co_return error;
	const Version &version = memory_.cell.version;
	if (memory_.cell.prepared.writer < who)
		co_return 0; /* it has never prepared the cell */
	Doubt &doubt = doubts[who];
	const bool is_its_own = version.object.ptr && version.object.tag == tag_of(who);
	if (version.committed < who)
		doubt.open = true;
	else if (version.committed == who && is_its_own)
		doubt.installed = true;
	else if (version.committed > who || erases)
		doubt.unclear = true;
	co_return 0;
}

apps::Task<int> Resolver::survey(std::size_t shard, std::size_t home, Doubts &doubts)
{
	const ShardView *const view = carrier_.view(shard);
	if (!view)
		co_return EHOSTUNREACH;
	const ShardGeometry geometry = view->geometry;
	for (std::uint32_t place = 0; place < geometry.places(); place++) {
		if (const int error = co_await read_log(shard, place))
			co_return error;
		for (const LogEntry &entry : memory_.log.entries) {
			if (Writer::of(entry.version.committed.writer).home != home || entry.cell >= geometry.cells ||
				entry.version.committed == Timestamp{})
				continue;
			if (const int error = co_await survey_entry(shard, entry, doubts))
				co_return error;
		}
	}
	co_return 0;
}

/**
 * An open transaction has told nobody that it was aborted. If it is installed nowhere, nobody can have seen it here.
 */
apps::Task<int> Resolver::settle(std::size_t home, const Doubts &doubts)
{
	for (const auto &[who, doubt] : doubts) {
		const ShardView *const view = carrier_.view(home);
		if (!view)
			co_return EHOSTUNREACH;
		const Writer writer = Writer::of(who.writer);
		if (!doubt.open || writer.place >= view->geometry.places())
			continue;
		if (doubt.unclear && !doubt.installed)
			co_return ENOTRECOVERABLE;
		request_.begin(home).cas(view->place(writer.place) + offsetof(LogPlace, decision),
			decide(who, doubt.installed ? Decision::committed : Decision::aborted),
			slice(memory_.decision));
		if (const int error = co_await post(request_))
			co_return error;
	}
	co_return 0;
}

apps::Task<int> Resolver::clear(std::size_t shard, std::uint32_t place, LogicalClock &clock, bool &cleared)
{
	if (const int error = co_await read_log(shard, place))
		co_return error;
	clock.observe(memory_.log.decision.transaction);
	for (std::uint32_t number = 0; number < max_accesses; number++) {
		const LogEntry &entry = memory_.log.entries[number];
		const bool nothing = entry.version.committed == Timestamp{} || entry.cell == LogEntry::no_cell;
		clock.observe(entry.version.committed);
		if (nothing && !entry.version.object.ptr)
			continue;
		cleared = true;
		const int error = co_await clear_entry(shard, place, number, entry);
		if (error)
			co_return error;
	}
	co_return 0;
}

apps::Task<int> Resolver::clear_all(
	std::size_t shard, std::uint32_t first, std::uint32_t places, LogicalClock &clock, bool &cleared)
{
	for (std::uint32_t place = first; place < first + places; place++) {
		if (const int error = co_await clear(shard, place, clock, cleared))
			co_return error;
	}
	co_return 0;
}

} // namespace prism::tx
