/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "protocol.hpp"

#include <algorithm>
#include <cstring>

namespace prism::rs
{

namespace
{

RemoteAddress slot_of(const ReplicaView &view, std::uint64_t block)
{
	return view.slots.at(block * sizeof(Slot));
}

Tag tag_at(std::span<const std::byte> bytes)
{
	Tag tag;
	std::memcpy(&tag, bytes.data(), sizeof(tag));
	return tag;
}

/** Returns the tag of a block as it was read. A block that was never written has none, and reads as zeros. */
Tag tag_read(const ReplicaRequest &request)
{
	return request.completion.status == Status::null_pointer ? Tag{} : tag_at(request.memory.in);
}

void clear(std::span<std::byte> bytes)
{
	std::fill(bytes.begin(), bytes.end(), std::byte{0});
}

void ask_for_block(ReplicaRequest &request, const ReplicaView &view, std::uint64_t block)
{
	RemoteAddress pointer = slot_of(view, block);
	pointer.address += offsetof(Slot, block);
	request.begin_chain().read(pointer, request.memory.slice(request.memory.in)).indirect_bounded();
}

void ask_for_tag(ReplicaRequest &request, const ReplicaView &view, std::uint64_t block)
{
	request.begin_chain().read(slot_of(view, block), request.memory.slice(request.memory.in.first(sizeof(Tag))));
}

/** Hands the block that @p request has read to the operation. */
void deliver(const ReplicaRequest &request, apps::Operation &operation)
{
	const std::span<const std::byte> block = request.memory.in.subspan(block_header);
	operation.length = static_cast<std::uint32_t>(block.size());
	const std::span<std::byte> room = operation.result.first(std::min(operation.result.size(), block.size()));
	if (tag_read(request) == Tag{})
		clear(room);
	else if (!room.empty())
		std::memcpy(room.data(), block.data(), room.size());
}

/**
 * Returns true if all answers have @p tag. Otherwise keeps only those that have it, for the round that brings it to the
 * others.
 */
bool keep_those_with(Lane &lane, Tag tag)
{
	bool all = true;
	for (ReplicaRequest &request : lane.requests) {
		if (request.state != ReplicaRequest::State::answered || tag_read(request) == tag)
			continue;
		request.state = ReplicaRequest::State::idle;
		all = false;
	}
	for (ReplicaRequest &request : lane.requests) {
		if (!all && request.state == ReplicaRequest::State::asked)
			request.state = ReplicaRequest::State::late;
	}
	return all;
}

} // namespace

RoundOptions Protocol::round_of(bool reads) const noexcept
{
	const bool all = options_.everywhere && !reads;
	return {quorum(), all ? options_.replicas : quorum(), reads, options_.hedge};
}

/** @p error: ECANCELED, if the operation has the reason already. */
Protocol::Outcome Protocol::failed(Lane &lane, int error) noexcept
{
	return lane.fail(error == ECANCELED ? lane.operation->error : error);
}

/* Rounds --------------------------------------------------------------------------------------------------------- */

/** Judges an answer. A replica whose slot is damaged is as good as gone for this block; @p damaged counts them. */
Verdict Protocol::judge_block(Lane &lane, const ReplicaRequest &request, unsigned &damaged) const noexcept
{
	const bool whole =
		request.completion.status == Status::ok && request.completion.byte_len == request.memory.in.size();
	if (whole || request.completion.status == Status::null_pointer)
		return Verdict::counts;
	if (options_.replicas - ++damaged >= quorum())
		return Verdict::useless;
	lane.operation->error = EBADMSG;
	return Verdict::fatal;
}

/**
 * Reads the block from the first replica that can be asked, which depends on the block's number, and the tags of
 * others. If that replica is gone, or slower than the hedge, the next one is asked for the block too.
 */
apps::Task<int> Protocol::read_block_and_tags(Lane &lane)
{
	round::begin(lane);
	const Time patience = session_.now() + options_.hedge;
	const auto ask = [this, &lane, patience](ReplicaRequest &request, const ReplicaView &view) {
		const bool late = session_.now() >= patience;
		const auto brings_block = [late](const ReplicaRequest &other) {
			return other.whole && (other.state == ReplicaRequest::State::answered ||
						      (other.state == ReplicaRequest::State::asked && !late));
		};
		request.whole = std::none_of(lane.requests.begin(), lane.requests.end(), brings_block);
		if (request.whole)
			ask_for_block(request, view, lane.block);
		else
			ask_for_tag(request, view, lane.block);
	};
	unsigned damaged = 0;
	const auto judge = [this, &lane, &damaged](ReplicaRequest &request, unsigned) {
		return request.whole ? judge_block(lane, request, damaged) : Verdict::counts;
	};
	co_return co_await ask_quorum(session_, lane, round_of(true), ask, judge);
}

apps::Task<int> Protocol::read_blocks(Lane &lane)
{
	round::begin(lane);
	const auto ask = [&lane](ReplicaRequest &request, const ReplicaView &view) {
		request.whole = true;
		ask_for_block(request, view, lane.block);
	};
	unsigned damaged = 0;
	const auto judge = [this, &lane, &damaged](
				   ReplicaRequest &request, unsigned) { return judge_block(lane, request, damaged); };
	co_return co_await ask_quorum(session_, lane, round_of(true), ask, judge);
}

apps::Task<int> Protocol::read_tags(Lane &lane, Tag &newest)
{
	round::begin(lane);
	const auto ask = [&lane](ReplicaRequest &request, const ReplicaView &view) {
		ask_for_tag(request, view, lane.block);
	};
	const auto judge = [](ReplicaRequest &, unsigned) { return Verdict::counts; };
	const int error = co_await ask_quorum(session_, lane, round_of(true), ask, judge);
	if (error)
		co_return error;
	newest = {};
	for (const ReplicaRequest &request : lane.requests) {
		if (request.state == ReplicaRequest::State::answered)
			newest = std::max(newest, tag_at(request.memory.in));
	}
	co_return 0;
}

/**
 * Makes the chain that writes the request's block, under @p tag, unless the replica has a newer one. The tag goes to
 * the scratch, the address of the buffer behind it, and both into the slot at once.
 */
void Protocol::write_chain(ReplicaRequest &request, const ReplicaView &view, std::uint64_t block, Tag tag) noexcept
{
	Slot compare;
	compare.tag = tag;
	Cas cas = Cas::bytes(CasMode::greater, compare, Slot{});
	cas.compare_only(offsetof(Slot, tag), sizeof(Tag));
	*request.memory.allocated = 0;
	clear(request.memory.old);
	/* The largest packet first, then a smaller one: the two leave as one train. */
	request.begin_chain()
		.allocate(view.free_list, request.memory.slice(request.memory.out))
		.redirect_bounded(view.scratch + offsetof(Slot, block))
		.result(request.memory.allocated_slice())
		.write(view.scratch,
			request.memory.out.first(sizeof(tag))) /* copied when it is posted, which may be later */
		.conditional()
		.cas(slot_of(view, block), cas, request.memory.slice(request.memory.old))
		.data_indirect(view.scratch)
		.conditional();
}

/**
 * Asks until as many replicas as @p options say have @p block, or something newer. Requests that are answered already
 * count as having it.
 * @p newer: effect of a newer version at a replica. It acknowledges a PUT that has read tags, as the two writes
 * overlap. It does not acknowledge a PUT that guesses: the newer version may have been written before it began.
 */
apps::Task<int> Protocol::install(Lane &lane, Block block, RoundOptions options, Newer newer)
{
	const auto ask = [this, &lane, block](ReplicaRequest &request, const ReplicaView &view) {
		std::memcpy(request.memory.out.data(), &block.tag, sizeof(block.tag));
		std::memcpy(request.memory.out.data() + block_header, block.bytes.data(), block.bytes.size());
		write_chain(request, view, lane.block, block.tag);
		lane.wrote = true;
	};
	const auto judge = [this, &lane, tag = block.tag, newer](ReplicaRequest &request, unsigned) {
		if (request.completion.status == Status::ok)
			return Verdict::counts;
		if (request.completion.status != Status::cas_miss)
			return Verdict::again; /* no buffer, for the moment */
		/* A reader may have installed this same write earlier. */
		if (newer == Newer::acknowledges || tag_at(request.memory.old) == tag)
			return Verdict::counts;
		if (newer == Newer::usurps) {
			usurped_ = true;
			lane.operation->error = ESTALE;
		}
		return Verdict::fatal;
	};
	co_return co_await ask_quorum(session_, lane, options, ask, judge);
}

/** Returns the answered request that has read the largest tag; one with the block, if there is one. */
const ReplicaRequest *Protocol::newest_of(const Lane &lane) noexcept
{
	const ReplicaRequest *newest = nullptr;
	for (const ReplicaRequest &request : lane.requests) {
		if (request.state != ReplicaRequest::State::answered)
			continue;
		if (!newest || tag_read(request) > tag_read(*newest) ||
			(tag_read(request) == tag_read(*newest) && request.whole && !newest->whole))
			newest = &request;
	}
	return newest;
}

/** Releases the buffer that is not reachable any more: the replaced one, or the one that was not installed. */
void Protocol::request_ended(Lane &lane, unsigned replica) noexcept
{
	ReplicaRequest &request = lane.requests[replica];
	if (request.chain.size() == 1 || request.completion.failed())
		return;
	if (request.completion.ok()) {
		Slot old;
		std::memcpy(&old, request.memory.old.data(), sizeof(old));
		if (old.block.ptr)
			session_.release(replica, old.block.ptr);
	} else if (*request.memory.allocated) {
		session_.release(replica, *request.memory.allocated);
	}
}

/* Operations ----------------------------------------------------------------------------------------------------- */

/**
 * Reads a block. A write under way, or of a dead client, may be on one replica alone: a reader makes sure that others
 * have it before returning it. If the write may be a guess and meets a newer one there, the guess may have been too low
 * from the start, and somebody may have read the newer one already: the GET starts over.
 */
apps::Task<Protocol::Outcome> Protocol::get(Lane &lane)
{
	for (;;) {
		if (const int error = co_await read_block_and_tags(lane))
			co_return failed(lane, error);
		const ReplicaRequest *newest = newest_of(lane);
		/* Another replica has a newer version than the block that has come. */
		if (!newest->whole && tag_read(*newest) != Tag{}) {
			if (const int error = co_await read_blocks(lane))
				co_return failed(lane, error);
			newest = newest_of(lane);
		}
		const Tag tag = tag_read(*newest);
		deliver(*newest, *lane.operation);
		if (keep_those_with(lane, tag))
			co_return Outcome::ok;
		const Block block{tag, newest->memory.in.subspan(block_header)};
		const Newer newer = tag.generation() ? Newer::starts_over : Newer::acknowledges;
		const int error = co_await install(lane, block, round_of(false), newer);
		if (!error)
			co_return Outcome::ok;
		if (error != ECANCELED)
			co_return failed(lane, error);
	}
}

/** Writes a block. Two PUTs of one client to one block would take the same tag, so they take turns. */
apps::Task<Protocol::Outcome> Protocol::put(Lane &lane)
{
	putting_.push_back(&lane);
	const auto is_first = [this, &lane] {
		const auto same = [&lane](const Lane *other) { return other->block == lane.block; };
		return *std::find_if(putting_.begin(), putting_.end(), same) == &lane;
	};
	while (!is_first() && session_.now() < lane.deadline)
		co_await Event{lane.waiter, lane.deadline};
	Outcome outcome = Outcome::failed;
	if (is_first())
		outcome = co_await put_in_turn(lane);
	else
		outcome = failed(lane, EHOSTUNREACH);
	std::erase(putting_, &lane);
	for (Lane *const other : putting_) {
		if (other->block == lane.block)
			session_.wake(*other);
	}
	co_return outcome;
}

apps::Task<Protocol::Outcome> Protocol::put_in_turn(Lane &lane)
{
	if (usurped_)
		co_return failed(lane, ESTALE);
	Tag newest;
	const auto known = options_.exclusive ? last_.find(lane.block) : last_.end();
	const bool guessed = known != last_.end();
	if (guessed)
		newest = known->second;
	else if (const int error = co_await read_tags(lane, newest))
		co_return failed(lane, error);
	if (const auto used = used_.find(lane.block); used != used_.end())
		newest = std::max(newest, used->second);
	if (options_.exclusive)
		newest = std::max(newest, Tag::before(options_.exclusive));
	if (newest.is_last())
		co_return failed(lane, EOVERFLOW);
	const Tag tag = newest.next(options_.client);
	round::begin(lane);
	const int error = co_await install(
		lane, {tag, lane.operation->value}, round_of(false), guessed ? Newer::usurps : Newer::acknowledges);
	if (error) {
		used_[lane.block] = tag;
		last_.erase(lane.block);
		co_return failed(lane, error);
	}
	if (!used_.empty())
		used_.erase(lane.block);
	if (options_.exclusive)
		last_[lane.block] = tag;
	co_return Outcome::ok;
}

/**
 * Copies a block to the repaired replica: the version that a quorum of the others has. If the replica has a newer one,
 * that is as good.
 */
apps::Task<Protocol::Outcome> Protocol::repair(Lane &lane)
{
	if (const int error = co_await read_blocks(lane))
		co_return failed(lane, error);
	const ReplicaRequest *const newest = newest_of(lane);
	const Block block{tag_read(*newest), newest->memory.in.subspan(block_header)};
	if (block.tag == Tag{})
		co_return Outcome::ok;
	round::begin(lane);
	RoundOptions options = round_of(false);
	options.needed = 1;
	options.only = options_.repairs;
	if (const int error = co_await install(lane, block, options))
		co_return failed(lane, error);
	co_return Outcome::ok;
}

apps::Task<Protocol::Outcome> Protocol::run(Lane &lane)
{
	if (options_.repairs)
		return repair(lane);
	if (lane.operation->kind == apps::OperationKind::put)
		return put(lane);
	return get(lane);
}

} // namespace prism::rs
