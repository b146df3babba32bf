/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "locking_transaction.hpp"

#include "kv/two_sided/header.hpp"

#include <algorithm>
#include <cerrno>

namespace prism::tx
{

using locking::Call;
using locking::LockResult;
using locking::Mode;

LockingTransaction::LockingTransaction(LockingClient &client, std::uint32_t lane)
	: client_(client), lane_(lane), positions_(max_transaction_keys), parts_(client.shards()),
	  max_key_size_(client.limits(0).max_key_size), max_value_size_(client.limits(0).max_value_size)
{
	for (std::uint32_t shard = 1; shard < client.shards(); shard++) {
		max_key_size_ = std::min(max_key_size_, client.limits(shard).max_key_size);
		max_value_size_ = std::min(max_value_size_, client.limits(shard).max_value_size);
	}
	wanted_.reserve(max_transaction_keys);
	touched_.reserve(client.shards());
}

/* Answers to releases of the attempt before may still be on their way. */
apps::Task<int> LockingTransaction::begin()
{
	co_await client_.settled(lane_);
	(void)client_.take_error(lane_);
	keys_.clear();
	for (const std::uint32_t shard : touched_)
		parts_[shard] = {};
	touched_.clear();
	round_trips_ = 0;
	too_large_ = false;
	fetch_error_ = 0;
	error_ = 0;
	co_return 0;
}

apps::Task<int> LockingTransaction::roll_back()
{
	send_releases();
	co_return 0;
}

std::uint32_t LockingTransaction::get(Bytes key) noexcept
{
	const std::uint32_t number = keys_.get(key, client_.shards());
	if (number == KeySet::none)
		return number;
	const std::uint32_t shard = keys_[number].shard;
	if (!parts_[shard].touched) {
		parts_[shard].touched = true;
		touched_.push_back(shard);
	}
	return number;
}

void LockingTransaction::call(std::uint32_t shard, Call kind, std::uint32_t items, std::size_t body) noexcept
{
	Part &part = parts_[shard];
	part.call = kind;
	part.result = LockResult::conflict;
	const kv::MessageHeader header{static_cast<std::uint8_t>(kind), static_cast<std::uint16_t>(lane_), items, 0};
	header.serialize_request(client_.request(lane_, shard).data());
	client_.calls_++;
	client_.call(lane_, shard, kv::message_header_size + body);
}

bool LockingTransaction::answered(std::uint32_t shard, std::span<const std::byte> response) noexcept
{
	kv::MessageHeader header;
	Part &part = parts_[shard];
	if (header.parse_response(response) || header.call != static_cast<std::uint8_t>(part.call) ||
		header.detail > static_cast<std::uint16_t>(LockResult::full))
		return false;
	part.result = static_cast<LockResult>(header.detail);
	if (part.result != LockResult::ok && part.call == Call::release)
		return false;
	/* Who is refused holds nothing any more. */
	part.holds = part.result == LockResult::ok && (part.call == Call::fetch || part.call == Call::prepare);
	const std::span<const std::byte> body = response.subspan(kv::message_header_size);
	if (part.call == Call::fetch && part.result == LockResult::ok)
		return header.size == part.asked && take_values(shard, header.size, body);
	return header.size == 0 && body.empty();
}

/* Reading ------------------------------------------------------------------------------------------------------------
 */

int LockingTransaction::want(Bytes key) noexcept
{
	if (!possible(key))
		return EINVAL;
	const std::uint32_t number = get(key);
	if (number == KeySet::none)
		return E2BIG;
	const Item &item = keys_[number];
	if (!item.known && !item.changed && std::find(wanted_.begin(), wanted_.end(), number) == wanted_.end())
		wanted_.push_back(number);
	return 0;
}

apps::Task<int> LockingTransaction::fetch(std::span<const Bytes> keys)
{
	wanted_.clear();
	for (const Bytes key : keys) {
		if (const int error = want(key))
			co_return error;
	}
	while (!wanted_.empty()) {
		round_trips_++;
		send_fetches();
		co_await client_.settled(lane_);
		fetch_error_ = client_.take_error(lane_);
		if (!fetch_error_)
			fetch_error_ = refusal();
		if (!fetch_error_ && too_large_)
			fetch_error_ = E2BIG;
		if (fetch_error_)
			co_return fetch_error_;
		std::erase_if(wanted_, [this](std::uint32_t number) { return keys_[number].known; });
	}
	co_return 0;
}

void LockingTransaction::send_fetches() noexcept
{
	for (const std::uint32_t shard : touched_) {
		parts_[shard].asked = 0;
		parts_[shard].result = LockResult::ok;
	}
	for (const std::uint32_t number : wanted_) {
		if (const std::uint32_t shard = keys_[number].shard; !parts_[shard].asked)
			send_fetch(shard);
	}
}

/* As many keys as the request has room for, and the answer, whatever their values are. The others come in another
 * round.
 */
void LockingTransaction::send_fetch(std::uint32_t shard) noexcept
{
	Part &part = parts_[shard];
	const std::size_t room = client_.message_sizes_[shard] - kv::message_header_size;
	const std::size_t most = room / (locking::answer_item_size + client_.limits(shard).max_value_size);
	BodyWriter body(client_.request(lane_, shard).data() + kv::message_header_size);
	body.put(static_cast<std::uint8_t>(client_.options_.exclusive_fetch ? Mode::exclusive : Mode::shared));
	for (const std::uint32_t number : wanted_) {
		const Item &item = keys_[number];
		if (item.shard != shard)
			continue;
		if (part.asked == most || body.size() + locking::fetch_item_size + item.key.size() > room)
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

int LockingTransaction::write(Bytes key, Bytes value) noexcept
{
	return value.size() > max_value_size_ ? EINVAL : change(key, value, false);
}

int LockingTransaction::erase(Bytes key) noexcept
{
	return change(key, {}, true);
}

int LockingTransaction::change(Bytes key, Bytes value, bool erased) noexcept
{
	if (!possible(key))
		return EINVAL;
	const std::uint32_t number = get(key);
	if (number == KeySet::none)
		return E2BIG;
	Item &item = keys_[number];
	Part &part = parts_[item.shard];
	const std::size_t before = item.changed ? item.fresh.size() : 0;
	const std::size_t size =
		part.change_size + value.size() - before + (item.changed ? 0 : locking::commit_item_size + key.size());
	Bytes fresh;
	if (size > client_.message_sizes_[item.shard] - kv::message_header_size || !keys_.keep(value, fresh))
		return E2BIG;
	part.changes += item.changed ? 0 : 1;
	part.change_size = static_cast<std::uint32_t>(size);
	item.changed = true;
	item.erased = erased;
	item.fresh = fresh;
	return 0;
}

/* Commit -------------------------------------------------------------------------------------------------------------
 */

std::uint32_t LockingTransaction::changed_shards() const noexcept
{
	return static_cast<std::uint32_t>(std::count_if(
		touched_.begin(), touched_.end(), [this](std::uint32_t shard) { return parts_[shard].changes != 0; }));
}

/* The errno of what shards have refused, or 0. */
int LockingTransaction::refusal() const noexcept
{
	int error = 0;
	for (const std::uint32_t shard : touched_) {
		if (parts_[shard].result == LockResult::full)
			error = ENOSPC;
		else if (parts_[shard].result == LockResult::conflict && !error)
			error = EAGAIN;
	}
	return error;
}

Outcome LockingTransaction::refuse(int error) noexcept
{
	send_releases();
	error_ = error == EAGAIN ? 0 : error;
	return error == EAGAIN ? Outcome::conflict : Outcome::failed;
}

/* All locks are held from the last one taken until the changes are made: this is the transaction's moment. */
apps::Task<Outcome> LockingTransaction::commit()
{
	if (fetch_error_)
		co_return refuse(fetch_error_);
	const std::uint32_t shards = changed_shards();
	if (shards > 1) {
		round_trips_++;
		send_changes(Call::prepare);
		co_await client_.settled(lane_);
		int error = client_.take_error(lane_);
		if (!error)
			error = refusal();
		if (error)
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
			error_ = EBADMSG; /* although it had granted the locks */
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
	for (const std::uint32_t shard : touched_) {
		Part &part = parts_[shard];
		part.result = LockResult::ok;
		if (!part.changes)
			continue;
		BodyWriter body(client_.request(lane_, shard).data() + kv::message_header_size);
		for (std::uint32_t number = 0; number < keys_.size(); number++) {
			const Item &item = keys_[number];
			if (item.shard != shard || !item.changed)
				continue;
			body.put(item.known ? positions_[number] : locking::no_position);
			body.put(static_cast<std::uint16_t>(item.known ? 0 : item.key.size()));
			if (!item.known)
				body.put(item.key);
			if (kind == Call::prepare)
				continue;
			body.put(item.erased ? locking::no_value : static_cast<std::uint32_t>(item.fresh.size()));
			body.put(item.fresh);
		}
		call(shard, kind, part.changes, body.size());
	}
}

/* Keys that were not fetched have got their positions. */
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

void LockingTransaction::send_releases() noexcept
{
	for (const std::uint32_t shard : touched_) {
		if (std::exchange(parts_[shard].holds, false))
			call(shard, Call::release, 0, 0);
	}
}

} // namespace prism::tx
