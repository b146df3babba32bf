/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "locking_transaction.hpp"

#include <algorithm>
#include <cerrno>

namespace prism::tx
{

using locking::Call;
using locking::Mode;

LockingTransaction::LockingTransaction(LockingClient &client, std::uint32_t lane)
	: CallingTransaction(client, lane, static_cast<std::uint8_t>(Call::release)), locking_(client),
	  positions_(max_transaction_keys), parts_(client.shards())
{
}

void LockingTransaction::forget_part(std::uint32_t shard) noexcept
{
	parts_[shard] = {};
	too_large_ = false;
}

apps::Task<void> LockingTransaction::roll_back()
{
	send_releases();
	co_return;
}

bool LockingTransaction::take_answer(std::uint32_t shard, std::uint32_t items, std::span<const std::byte> body) noexcept
{
	Contact &contact = contacts_[shard];
	const auto call = static_cast<Call>(contact.call);
	const bool ok = contact.result == LockResult::ok;
	/* A refused call leaves the lane without any lock. */
	contact.holds = ok && (call == Call::fetch || call == Call::prepare);
	if (call == Call::fetch && ok)
		return items == parts_[shard].asked && take_values(shard, items, body);
	return items == 0 && body.empty();
}

/* Reading ------------------------------------------------------------------------------------------------------------
 */

void LockingTransaction::send_reads() noexcept
{
	forget_results();
	for (const std::uint32_t shard : touched_)
		parts_[shard].asked = 0;
	for (const std::uint32_t number : wanted_) {
		if (const std::uint32_t shard = keys_[number].shard; !parts_[shard].asked)
			send_fetch(shard);
	}
}

int LockingTransaction::take_reads() noexcept
{
	if (const int error = refusal())
		return error;
	std::erase_if(wanted_, [this](std::uint32_t number) { return keys_[number].known; });
	return too_large_ ? E2BIG : 0;
}

/*
 * Fetches as many keys as the request has room for, and the answer whatever the sizes of their values. The others
 * follow in another round.
 */
void LockingTransaction::send_fetch(std::uint32_t shard) noexcept
{
	Part &part = parts_[shard];
	const std::size_t most = room(shard) / (locking::answer_item_size + client_.limits(shard).max_value_size);
	BodyWriter body = this->body(shard);
	body.put(static_cast<std::uint8_t>(locking_.options_.exclusive_fetch ? Mode::exclusive : Mode::shared));
	for (const std::uint32_t number : wanted_) {
		const Item &item = keys_[number];
		if (item.shard != shard)
			continue;
		if (part.asked == most || body.size() + locking::fetch_item_size + item.key.size() > room(shard))
			break;
		body.put(static_cast<std::uint16_t>(item.key.size()));
		body.put(item.key);
		part.asked++;
	}
	call(shard, Call::fetch, part.asked, body.size());
}

bool LockingTransaction::take_values(
	std::uint32_t shard, std::uint32_t number, std::span<const std::byte> items) noexcept
{
	BodyReader body(items);
	for (const std::uint32_t key : wanted_) {
		Item &item = keys_[key];
		if (item.shard != shard)
			continue;
		if (number-- == 0)
			break;
		std::uint32_t size = 0;
		Bytes value;
		if (!body.take(size))
			return false;
		item.there = size != locking::no_value;
		if (item.there && (size > client_.limits(shard).max_value_size || !body.take(size, value)))
			return false;
		if (!keys_.keep(value, item.value))
			too_large_ = true;
		item.known = true;
		positions_[key] = parts_[shard].held++;
	}
	return body.empty();
}

/* Writing ------------------------------------------------------------------------------------------------------------
 */

bool LockingTransaction::count_change(const Item &item, std::size_t size) noexcept
{
	Part &part = parts_[item.shard];
	const std::size_t before = item.changed ? item.fresh.size() : 0;
	const std::size_t all =
		part.change_size + size - before + (item.changed ? 0 : locking::commit_item_size + item.key.size());
	if (all > room(item.shard))
		return false;
	part.change_size = static_cast<std::uint32_t>(all);
	return true;
}

/* Commit -------------------------------------------------------------------------------------------------------------
 */

std::uint32_t LockingTransaction::changed_shards() const noexcept
{
	return static_cast<std::uint32_t>(std::count_if(touched_.begin(), touched_.end(),
		[this](std::uint32_t shard) { return contacts_[shard].changes != 0; }));
}

/*
 * Commits. All locks are held from the last one taken until the changes are made, and the transaction takes effect
 * then.
 */
apps::Task<Outcome> LockingTransaction::commit()
{
	if (fetch_error_)
		co_return refuse(fetch_error_);
	const std::uint32_t shards = changed_shards();
	if (shards > 1) {
		round_trips_++;
		send_changes(Call::prepare);
		co_await client_.settled(lane_);
		if (const int error = take_refusal())
			co_return refuse(error);
		count_prepared();
	}
	if (shards) {
		round_trips_++;
		send_changes(Call::commit);
		co_await client_.settled(lane_);
		error_ = client_.take_error(lane_);
		const int refused = refusal();
		if (!error_ && refused && shards > 1)
			error_ = EBADMSG; /* the shard had granted the locks */
		if (error_) {
			send_releases();
			co_return Outcome::unknown;
		}
		if (refused)
			co_return refuse(refused);
	}
	send_releases();
	co_return Outcome::committed;
}

void LockingTransaction::send_changes(Call kind) noexcept
{
	forget_results();
	call_with_changes(kind, [this, kind](BodyWriter &body, std::uint32_t number, const Item &item) {
		body.put(item.known ? positions_[number] : locking::no_position);
		body.put(static_cast<std::uint16_t>(item.known ? 0 : item.key.size()));
		if (!item.known)
			body.put(item.key);
		if (kind == Call::prepare)
			return;
		body.put(item.erased ? locking::no_value : static_cast<std::uint32_t>(item.fresh.size()));
		body.put(item.fresh);
	});
}

/* Assigns positions to the keys that were not fetched, now that PREPARE has locked them. */
void LockingTransaction::count_prepared() noexcept
{
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		Item &item = keys_[number];
		if (!item.changed || item.known)
			continue;
		positions_[number] = parts_[item.shard].held++;
		item.known = true;
	}
}

} // namespace prism::tx
