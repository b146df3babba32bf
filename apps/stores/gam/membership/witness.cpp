/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/witness.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::gam
{

namespace
{

bool is_in_log(const Message &fetch) noexcept
{
	return fetch.flags == static_cast<std::uint8_t>(Holding::logged) ||
	       fetch.flags == static_cast<std::uint8_t>(Holding::logged_doubtful);
}

} // namespace

bool Witness::hear(NodeId from, const Message &message)
{
	const auto type = static_cast<RecoveryMessage>(message.type);
	if (type == RecoveryMessage::ask) {
		since_[from] = message.block.block_number();
		Statement *const known = find(from, message.request);
		say(known ? *known : make(from, message.request), message.counter);
		return true;
	}
	Statement *statement = find(from, message.request);
	/* The home may ask again, when another node that it has waited for has nothing. */
	const bool is_late = !statement && type == RecoveryMessage::fetch && is_in_log(message);
	if (is_late)
		statement = &make(from, message.request);
	const bool is_about_a_block = type == RecoveryMessage::fetch || type == RecoveryMessage::drop;
	if (!statement || (is_about_a_block && message.block.home() != from))
		return false;
	switch (type) {
	case RecoveryMessage::fetch:
		give(*statement, message);
		if (is_late)
			lost(from);
		return true;
	case RecoveryMessage::drop:
		node_.drop(message.block);
		return true;
	case RecoveryMessage::recovered:
		lost(from);
		node_.recovered(from);
		return true;
	default:
		return false;
	}
}

void Witness::lost(NodeId home)
{
	std::erase_if(statements_, [&](const Statement &statement) { return statement.home == home; });
}

Witness::Statement *Witness::find(NodeId home, std::uint64_t recovery) noexcept
{
	const auto found = std::find_if(statements_.begin(), statements_.end(),
		[&](const Statement &statement) { return statement.home == home && statement.recovery == recovery; });
	return found == statements_.end() ? nullptr : &*found;
}

Witness::Statement &Witness::make(NodeId home, std::uint64_t recovery)
{
	lost(home);
	Statement statement{home, recovery, {}, node_.logged(home, since_[home])};
	node_.for_each_line(home, [&](Address block, const HeldLine &line) {
		statement.items.push_back(
			{block.block_number(), line.dirty ? Holding::dirty : Holding::shared, line.counter});
	});
	for (const auto &[number, block] : statement.logged->blocks()) {
		const bool doubtful = statement.logged->is_doubtful(&block);
		if (block.has_value)
			statement.items.push_back(
				{number, doubtful ? Holding::logged_doubtful : Holding::logged, block.counter});
	}
	std::sort(statement.items.begin(), statement.items.end(),
		[](const Item &a, const Item &b) { return a.block < b.block; });
	return statements_.emplace_back(std::move(statement));
}

/* Sends the items from block number @p from on that fit into a message; those of one block stay together. */
void Witness::say(const Statement &statement, std::uint64_t from)
{
	const auto begin = std::lower_bound(statement.items.begin(), statement.items.end(), from,
		[](const Item &item, std::uint64_t block) { return item.block < block; });
	auto end = begin;
	while (end != statement.items.end()) {
		const auto next = std::find_if(
			end, statement.items.end(), [&](const Item &item) { return item.block != end->block; });
		if (next - begin > static_cast<std::ptrdiff_t>(Item::in_message))
			break;
		end = next;
	}
	Message message;
	message.type = static_cast<std::uint8_t>(RecoveryMessage::have);
	message.request = statement.recovery;
	message.flags = static_cast<std::uint8_t>((end == statement.items.end() ? have_last : 0) |
						  (statement.logged->is_incomplete() ? have_incomplete : 0));
	message.counter = end == statement.items.end() ? node_.since() : end->block;
	const auto data = serialize({begin, end});
	message.data = data;
	node_.send(statement.home, message);
}

void Witness::give(const Statement &statement, const Message &asked)
{
	Message message;
	message.type = static_cast<std::uint8_t>(RecoveryMessage::value);
	message.block = asked.block;
	message.flags = asked.flags;
	message.request = asked.request;
	message.error = ENOENT;
	const bool wants_line = !is_in_log(asked);
	const auto line = wants_line ? node_.line(asked.block) : std::nullopt;
	const auto *logged = wants_line ? nullptr : statement.logged->find(asked.block.block_number());
	if (line) {
		message.error = 0;
		message.counter = line->counter;
		message.data = line->data;
	} else if (logged && logged->has_value) {
		message.error = 0;
		message.counter = logged->counter;
		message.data = logged->value;
	}
	node_.send(statement.home, message);
}

} // namespace prism::gam
