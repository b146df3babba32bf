/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/directory/directory.hpp"

#include <algorithm>
#include <cerrno>

#include "gam/coherence/execute.hpp"

namespace prism::gam
{

namespace
{

/**
 * Returns a limit that leaves some lines free, so that a miss mostly finds one. One at least: a home with a log that is
 * away keeps the lines that it has, and the others need one.
 */
std::size_t limit_of(const directory::Options &options) noexcept
{
	const std::size_t lines = options.lines.size() / block_size;
	const std::size_t least = std::min<std::size_t>(lines, 1);
	return options.limit ? std::min(options.limit, lines) : lines - std::clamp<std::size_t>(lines / 8, least, 16);
}

} // namespace

Directory::Directory(const directory::Options &options, Host &host)
	: context_(options.self, host, options.rules, options.log),
	  home_(context_, options.memory, options.shards, options.shard, options.requests, options.through_home),
	  lines_(context_, options.lines, limit_of(options), options.requests), shards_(options.shards),
	  shard_(options.shard)
{
}

bool Directory::start(Access &access)
{
	const SerialCalls::Call call(calls_);
	const bool ended = context_.has_ended_in(access, [&] {
		if (!is_well_formed(access) || shard_of(access.at.block(), shards_) != shard_)
			context_.end(access, EINVAL);
		else if (access.at.home() == context_.self())
			home_.start(access);
		else
			lines_.start(access);
	});
	context_.stats().hits += ended && !access.error;
	context_.stats().misses += !ended;
	leave();
	return ended;
}

void Directory::hear(NodeId from, const Message &message)
{
	const SerialCalls::Call call(calls_);
	const bool is_mine = message.block.home() == context_.self();
	const bool is_known = from < max_nodes && from != context_.self() && !context_.is_dead(from) &&
			      shard_of(message.block, shards_) == shard_ && !message.block.in_block();
	context_.stats().events += is_known && is_mine;
	if (!is_known || !(is_mine ? home_.hear(from, message) : lines_.hear(from, message)))
		context_.stats().refused++;
	leave();
}

void Directory::joined(NodeId node)
{
	const SerialCalls::Call call(calls_);
	if (node >= max_nodes)
		return;
	context_.revive(node);
	lines_.unpin(node);
}

void Directory::lost(NodeId node)
{
	const SerialCalls::Call call(calls_);
	if (node >= max_nodes || node == context_.self() || context_.is_dead(node))
		return;
	context_.bury(node);
	home_.lost(node);
	lines_.lost(node);
	leave();
}

Time Directory::on_time(Time now)
{
	const SerialCalls::Call call(calls_);
	const bool trims = lines_.trim(), flushes = lines_.flush_more();
	const Time due = lines_.end_overdue(now);
	leave();
	return trims || flushes || home_.waits_for_room() || lines_.waits_for_room() ? now : due;
}

void Directory::flush()
{
	const SerialCalls::Call call(calls_);
	lines_.flush();
	leave();
}

const directory::Entry *Directory::entry(Address block) const noexcept
{
	return block.home() == context_.self() ? home_.entry(block) : nullptr;
}

void Directory::leave()
{
	home_.resume();
	lines_.resume();
	lines_.serve_starved();
	context_.deliver();
}

} // namespace prism::gam
