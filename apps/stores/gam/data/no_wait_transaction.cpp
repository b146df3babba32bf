/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/data/no_wait_transaction.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::gam
{

using tx::Bytes;
using tx::KeySet;
using tx::Outcome;

NoWaitTransaction::NoWaitTransaction(
	std::unique_ptr<Session> session, Records records, const NoWaitClientOptions &options)
	: session_(std::move(session)), records_(std::move(records)),
	  fetch_lock_(options.exclusive_fetch ? Lock::exclusive : Lock::shared), locks_(options.locks)
{
	held_.reserve(tx::max_transaction_keys);
	chosen_.reserve(tx::max_transaction_keys);
	places_.reserve(tx::max_transaction_keys);
}

apps::Task<void> NoWaitTransaction::begin()
{
	keys_.clear();
	held_.clear();
	fetch_error_ = 0;
	error_ = 0;
	co_return;
}

std::uint32_t NoWaitTransaction::get(Bytes key) noexcept
{
	const std::uint32_t number = keys_.get(key, 1);
	if (number != KeySet::none && number == held_.size())
		held_.emplace_back();
	return number;
}

/* Reading ---------------------------------------------------------------------------------------------------------- */

apps::Task<int> NoWaitTransaction::fetch(std::span<const Bytes> keys)
{
	for (const Bytes key : keys) {
		if (key.size() > Records::max_key_size)
			co_return EINVAL;
	}
	int error = choose_unknown(keys);
	if (!error)
		error = lock_chosen(fetch_lock_);
	for (std::size_t i = 0; i < chosen_.size() && !error; i++)
		error = take_value(chosen_[i]);
	if (error)
		fetch_error_ = error;
	co_return error;
}

/** Chooses those of @p keys that are neither read nor written yet. */
int NoWaitTransaction::choose_unknown(std::span<const Bytes> keys) noexcept
{
	chosen_.clear();
	for (const Bytes key : keys) {
		const std::uint32_t number = get(key);
		if (number == KeySet::none)
			return E2BIG;
		if (!keys_[number].known && !keys_[number].changed && !std::exchange(held_[number].is_chosen, true))
			chosen_.push_back(number);
	}
	return 0;
}

/** Reads the value of a key whose lock is held. */
int NoWaitTransaction::take_value(std::uint32_t number) noexcept
{
	KeySet::Item &item = keys_[number];
	Held &held = held_[number];
	held.is_chosen = false;
	const Session::Bound bound(*session_, held.losses);
	Records::Header header;
	if (const int error = records_.read(held.record, held.mark, header))
		return error;
	held.version = header.version;
	held.tail = header.tail;
	std::byte *const room = keys_.room(header.bytes);
	if (!room)
		return E2BIG;
	const std::span<std::byte> value(room, header.bytes);
	if (const int error = records_.read_value(held.record, header, value))
		return error;
	item.value = value;
	item.there = header.check != 0;
	item.known = true;
	return 0;
}

/* Locks ------------------------------------------------------------------------------------------------------------ */

int NoWaitTransaction::find_records() noexcept
{
	places_.clear();
	for (const std::uint32_t number : chosen_) {
		Held &held = held_[number];
		if (held.record.is_null()) {
			held.losses = session_->node().losses();
			if (const int error = records_.find(keys_[number].key, held.record))
				return error;
			held.mark = records_.mark_of(keys_[number].key);
		}
		places_.push_back(held.record);
	}
	return 0;
}

/** Locks all chosen keys at once; the transaction must hold none of them. EAGAIN: another transaction holds one. */
int NoWaitTransaction::lock_chosen(Lock wanted) noexcept
{
	if (const int error = find_records())
		return error;
	const int error = !locks_                     ? 0
			  : wanted == Lock::exclusive ? session_->try_wlock_all(places_)
						      : session_->try_rlock_all(places_);
	if (error)
		return error == EBUSY ? EAGAIN : error;
	for (const std::uint32_t number : chosen_)
		held_[number].lock = wanted;
	return 0;
}

/* Writing ---------------------------------------------------------------------------------------------------------- */

int NoWaitTransaction::change(Bytes key, Bytes value, bool erased) noexcept
{
	if (key.size() > Records::max_key_size || value.size() > records_.max_value_size())
		return EINVAL;
	const std::uint32_t number = get(key);
	Bytes fresh;
	if (number == KeySet::none || !keys_.keep(value, fresh))
		return E2BIG;
	KeySet::Item &item = keys_[number];
	item.changed = true;
	item.erased = erased;
	item.fresh = fresh;
	return 0;
}

/* Commit ----------------------------------------------------------------------------------------------------------- */

/* The transaction takes effect when the last lock is taken, as all are held then. */
apps::Task<Outcome> NoWaitTransaction::commit()
{
	if (fetch_error_)
		co_return refuse(fetch_error_);
	if (const int error = lock_changed())
		co_return refuse(error);
	const Changes changes = make_changes();
	if (changes.error && !changes.any)
		co_return refuse(changes.error);
	const int late = unlock_all();
	error_ = changes.error ? changes.error : late;
	co_return error_ ? Outcome::unknown : Outcome::committed;
}

/**
 * Locks the changed keys for writing. A lock for reading is released first, as it cannot be converted. Other
 * transactions may have the record in between; if they have not changed it, nobody can tell that the lock was released.
 */
int NoWaitTransaction::lock_changed() noexcept
{
	if (has_lost_a_lock())
		return EHOSTUNREACH;
	chosen_.clear();
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		Held &held = held_[number];
		if (!keys_[number].changed || held.lock == Lock::exclusive)
			continue;
		if (const int error = unlock(held))
			return error;
		chosen_.push_back(number);
	}
	if (const int error = lock_chosen(Lock::exclusive))
		return error;
	for (const std::uint32_t number : chosen_) {
		Held &held = held_[number];
		const Session::Bound bound(*session_, held.losses);
		Records::Header header;
		if (const int error = records_.read(held.record, held.mark, header))
			return error;
		if (locks_ && keys_[number].known && header.version != held.version)
			return EAGAIN;
		held.version = header.version;
		held.tail = header.tail;
	}
	return 0;
}

/*
 * The tails come first, of all keys: they need lines of the cache, and if there is none no record has changed. A key
 * whose change a log does not take is changed all the same: then so are the others.
 */
NoWaitTransaction::Changes NoWaitTransaction::make_changes() noexcept
{
	Changes changes{write_tails(), false};
	if (has_lost_a_lock())
		changes.error = EHOSTUNREACH;
	if (changes.error && !is_of_log(changes.error))
		return changes;
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const KeySet::Item &item = keys_[number];
		if (!item.changed)
			continue;
		const Held &held = held_[number];
		Records::Header header;
		header.version = held.version + 1;
		header.mark = held.mark;
		header.bytes = static_cast<std::uint32_t>(item.fresh.size());
		header.check = item.erased ? 0 : Records::check_of(item.fresh);
		header.tail = 1 - held.tail;
		const Session::Bound bound(*session_, held.losses);
		const int error = records_.write(held.record, header, item.fresh);
		changes.error = graver(changes.error, error);
		if (error && !is_of_log(error))
			return changes;
		changes.any = true;
	}
	return changes;
}

/** Writes what the first blocks do not take, of all keys, and waits. */
int NoWaitTransaction::write_tails() noexcept
{
	int error = 0;
	for (std::uint32_t number = 0; number < keys_.size() && (!error || is_of_log(error)); number++) {
		const Held &held = held_[number];
		const Session::Bound bound(*session_, held.losses);
		if (keys_[number].changed)
			error = graver(error, records_.write_tail(held.record, 1 - held.tail, keys_[number].fresh));
	}
	return graver(error, session_->settle());
}

apps::Task<void> NoWaitTransaction::roll_back()
{
	(void)unlock_all();
	co_return;
}

/** Returns true if a node was lost that keeps a lock of ours: others may have taken it, or the number, since. */
bool NoWaitTransaction::has_lost_a_lock() const noexcept
{
	return std::ranges::any_of(held_, [this](const Held &held) {
		return held.lock != Lock::none && session_->node().was_lost(held.record.home(), held.losses);
	});
}

/** Fences, and releases the lock. */
int NoWaitTransaction::unlock(Held &held) noexcept
{
	if (std::exchange(held.lock, Lock::none) == Lock::none)
		return 0;
	return locks_ ? session_->unlock(held.record, 1) : session_->mfence();
}

/** Releases all locks, even if one fails. Returns the first error. */
int NoWaitTransaction::unlock_all() noexcept
{
	int first_error = 0;
	for (Held &held : held_) {
		const int error = unlock(held);
		first_error = first_error ? first_error : error;
	}
	return first_error;
}

Outcome NoWaitTransaction::refuse(int error) noexcept
{
	(void)unlock_all();
	error_ = error == EAGAIN ? 0 : error;
	return error == EAGAIN ? Outcome::conflict : Outcome::failed;
}

} // namespace prism::gam
