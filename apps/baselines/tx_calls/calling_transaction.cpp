/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "calling_transaction.hpp"

#include "rpc/protocol/header.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::tx
{

CallingTransaction::CallingTransaction(CallingClient &client, std::uint32_t lane, std::uint8_t release)
	: client_(client), lane_(lane), contacts_(client.shards()), release_(release),
	  max_key_size_(client.limits(0).max_key_size), max_value_size_(client.limits(0).max_value_size)
{
	for (std::uint32_t shard = 1; shard < client.shards(); shard++) {
		max_key_size_ = std::min(max_key_size_, client.limits(shard).max_key_size);
		max_value_size_ = std::min(max_value_size_, client.limits(shard).max_value_size);
	}
	wanted_.reserve(max_transaction_keys);
	touched_.reserve(client.shards());
}

/* Waits first: answers to the last calls of the previous attempt may still be on their way. */
apps::Task<void> CallingTransaction::begin()
{
	co_await client_.settled(lane_);
	(void)client_.take_error(lane_);
	keys_.clear();
	for (const std::uint32_t shard : touched_) {
		contacts_[shard] = {};
		forget_part(shard);
	}
	touched_.clear();
	round_trips_ = 0;
	fetch_error_ = 0;
	error_ = 0;
}

std::uint32_t CallingTransaction::get(Bytes key) noexcept
{
	const std::uint32_t number = keys_.get(key, client_.shards());
	if (number == KeySet::none)
		return number;
	const std::uint32_t shard = keys_[number].shard;
	if (!contacts_[shard].touched) {
		contacts_[shard].touched = true;
		touched_.push_back(shard);
	}
	return number;
}

int CallingTransaction::want(Bytes key) noexcept
{
	if (!possible(key))
		return EINVAL;
	const std::uint32_t number = get(key);
	if (number == KeySet::none)
		return E2BIG;
	const Item &item = keys_[number];
	if (item.known || item.changed || std::find(wanted_.begin(), wanted_.end(), number) != wanted_.end())
		return 0;
	wanted_.push_back(number);
	begin_reading(number);
	return 0;
}

apps::Task<int> CallingTransaction::fetch(std::span<const Bytes> keys)
{
	wanted_.clear();
	for (const Bytes key : keys) {
		if (const int error = want(key))
			co_return error;
	}
	while (!wanted_.empty()) {
		round_trips_++;
		send_reads();
		co_await client_.settled(lane_);
		fetch_error_ = client_.take_error(lane_);
		if (!fetch_error_)
			fetch_error_ = take_reads();
		if (fetch_error_)
			co_return fetch_error_;
	}
	co_return 0;
}

int CallingTransaction::write(Bytes key, Bytes value) noexcept
{
	return value.size() > max_value_size_ ? EINVAL : change(key, value, false);
}

int CallingTransaction::change(Bytes key, Bytes value, bool erased) noexcept
{
	if (!possible(key))
		return EINVAL;
	const std::uint32_t number = get(key);
	if (number == KeySet::none)
		return E2BIG;
	Item &item = keys_[number];
	Bytes fresh;
	if (!keys_.keep(value, fresh) || !count_change(item, value.size()))
		return E2BIG;
	contacts_[item.shard].changes += item.changed ? 0 : 1;
	item.changed = true;
	item.erased = erased;
	item.fresh = fresh;
	return 0;
}

BodyWriter CallingTransaction::body(std::uint32_t shard) const noexcept
{
	return BodyWriter(client_.request(lane_, shard).data() + rpc::message_header_size);
}

void CallingTransaction::begin_call(
	std::uint32_t shard, std::uint8_t kind, std::uint32_t items, std::size_t size) noexcept
{
	contacts_[shard].call = kind;
	contacts_[shard].result = LockResult::conflict; /* until the shard says something else */
	const rpc::MessageHeader header{kind, static_cast<std::uint16_t>(lane_), items, 0};
	header.serialize_request(client_.request(lane_, shard).data());
	client_.call(lane_, shard, rpc::message_header_size + size);
}

bool CallingTransaction::answered(std::uint32_t shard, std::span<const std::byte> response) noexcept
{
	rpc::MessageHeader header;
	Contact &contact = contacts_[shard];
	if (header.parse_response(response) || header.call != contact.call ||
		header.detail > static_cast<std::uint16_t>(LockResult::full))
		return false;
	contact.result = static_cast<LockResult>(header.detail);
	if (contact.result != LockResult::ok && contact.call == release_)
		return false;
	return take_answer(shard, header.size, response.subspan(rpc::message_header_size));
}

void CallingTransaction::forget_results() noexcept
{
	for (const std::uint32_t shard : touched_)
		contacts_[shard].result = LockResult::ok;
}

int CallingTransaction::refusal() const noexcept
{
	int error = 0;
	for (const std::uint32_t shard : touched_) {
		if (contacts_[shard].result == LockResult::full)
			return ENOSPC;
		if (contacts_[shard].result == LockResult::conflict)
			error = EAGAIN;
	}
	return error;
}

int CallingTransaction::take_refusal() noexcept
{
	const int error = client_.take_error(lane_);
	return error ? error : refusal();
}

void CallingTransaction::send_releases() noexcept
{
	for (const std::uint32_t shard : touched_) {
		if (std::exchange(contacts_[shard].holds, false))
			call(shard, release_, 0, 0);
	}
}

Outcome CallingTransaction::refuse(int error) noexcept
{
	send_releases();
	error_ = error == EAGAIN ? 0 : error;
	return error == EAGAIN ? Outcome::conflict : Outcome::failed;
}

} // namespace prism::tx
