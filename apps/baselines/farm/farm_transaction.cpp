/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "farm_transaction.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prism::tx
{

using farm::Bucket;
using farm::Call;
using farm::LockKind;
using farm::Mark;
using farm::MarkKind;
using farm::ObjectHeader;

FarmTransaction::FarmTransaction(FarmClient &client, std::uint32_t lane)
	: CallingTransaction(client, lane, static_cast<std::uint8_t>(Call::abort)), farm_(client),
	  readings_(max_transaction_keys), parts_(client.shards())
{
}

apps::Task<void> FarmTransaction::roll_back()
{
	co_return; /* nobody knows of it */
}

/* Reading ------------------------------------------------------------------------------------------------------------
 */

void FarmTransaction::begin_reading(std::uint32_t number) noexcept
{
	const Item &item = keys_[number];
	readings_[number] = {};
	readings_[number].bucket = memory(item.shard).geometry.home_of(item.hash);
}

/* Sends one READ for each key. Keys that find no free READ at their shard wait for the next round. */
void FarmTransaction::send_reads() noexcept
{
	for (const std::uint32_t number : wanted_)
		parts_[keys_[number].shard].readers = 0;
	for (const std::uint32_t number : wanted_) {
		const Item &item = keys_[number];
		Part &part = parts_[item.shard];
		Reading &reading = readings_[number];
		reading.under_way = part.readers < farm_.options_.parallel_reads;
		if (!reading.under_way)
			continue;
		reading.reader = part.readers++;
		read(item, reading);
	}
}

void FarmTransaction::read(const Item &item, Reading &reading) noexcept
{
	const FarmClient::Memory &there = memory(item.shard);
	farm_.counted_.reads++;
	if (reading.of_object)
		client_.read(lane_, item.shard, reading.reader,
			there.objects.at(std::uint64_t{reading.object} * there.geometry.object_size), reading.length);
	else
		client_.read(lane_, item.shard, reading.reader, there.index.at(reading.bucket * sizeof(Bucket)),
			sizeof(Bucket));
}

int FarmTransaction::take_reads() noexcept
{
	std::size_t left = 0;
	for (const std::uint32_t number : wanted_) {
		Item &item = keys_[number];
		Reading &reading = readings_[number];
		Look result = Look::again;
		if (reading.under_way)
			result = reading.of_object ? look_at_object(item, reading) : look_at_bucket(item, reading);
		if (result == Look::again)
			wanted_[left++] = number;
		else if (result != Look::done)
			return failure(item, result);
	}
	wanted_.resize(left);
	return 0;
}

int FarmTransaction::failure(const Item &item, Look result) noexcept
{
	switch (result) {
	case Look::give_up:
		return EAGAIN;
	case Look::large:
		return E2BIG;
	case Look::damaged:
		return EIO;
	default:
		client_.distrust(item.shard);
		return EBADMSG;
	}
}

/* Returns whether to READ again: torn or locked data is soon replaced, so it gives up only after patience_reads. */
FarmTransaction::Look FarmTransaction::again(Reading &reading, bool torn) noexcept
{
	reading.vain++;
	if (torn) {
		reading.torn++;
		farm_.counted_.torn++;
	}
	if (reading.vain < FarmClient::patience_reads)
		return Look::again;
	return reading.torn == reading.vain ? Look::damaged : Look::give_up;
}

FarmTransaction::Look FarmTransaction::look_at_bucket(Item &item, Reading &reading) noexcept
{
	std::memcpy(&reading.contents, client_.read_memory(lane_, item.shard, reading.reader), sizeof(Bucket));
	if (!reading.contents.intact())
		return again(reading, true);
	if (reading.bucket == memory(item.shard).geometry.home_of(item.hash))
		reading.home = reading.contents.mark;
	reading.entry = 0;
	return next_entry(item, reading);
}

FarmTransaction::Look FarmTransaction::next_entry(Item &item, Reading &reading) noexcept
{
	const farm::Geometry &geometry = memory(item.shard).geometry;
	for (; reading.entry < Bucket::width; reading.entry++) {
		const farm::Entry &entry = reading.contents.entries[reading.entry];
		if (entry.place == 0 || entry.tag != farm::tag_of(item.hash))
			continue;
		if (entry.place > geometry.objects)
			return Look::absurd;
		reading.of_object = true;
		reading.object = entry.place - 1;
		reading.length = std::clamp<std::uint32_t>(
			std::uint32_t{entry.units} * farm::unit, sizeof(ObjectHeader), geometry.object_size);
		return Look::again;
	}
	reading.of_object = false;
	if (const std::uint64_t next = reading.contents.next) {
		if (next < geometry.home_buckets || next >= geometry.buckets)
			return Look::absurd;
		farm_.counted_.second++;
		reading.bucket = next;
		return again(reading, false);
	}
	item.known = true;
	item.there = false;
	return Look::done;
}

FarmTransaction::Look FarmTransaction::look_at_object(Item &item, Reading &reading) noexcept
{
	const farm::Geometry &geometry = memory(item.shard).geometry;
	const std::byte *const place = client_.read_memory(lane_, item.shard, reading.reader);
	ObjectHeader header;
	std::memcpy(&header, place, sizeof(header));
	if (header.mark.word & farm::locked) {
		farm_.counted_.locked++;
		return again(reading, false);
	}
	if (!(header.mark.word & farm::live)) {
		/* The key has left the index since the bucket was read. */
		reading.of_object = false;
		reading.bucket = geometry.home_of(item.hash);
		return again(reading, false);
	}
	const std::size_t size = header.object_size();
	if (size > geometry.object_size)
		return again(reading, true);
	if (size > reading.length) {
		/* The hint is out of date; or this is torn, which the next READ shows. */
		farm_.counted_.second++;
		reading.length = static_cast<std::uint32_t>(size);
		return again(reading, false);
	}
	const Bytes key(place + sizeof(header), header.key_size);
	const Bytes value(key.data() + key.size(), header.value_size);
	if (header.mark.crc != header.compute_crc(key, value))
		return again(reading, true);
	if (key.size() != item.key.size() || std::memcmp(key.data(), item.key.data(), key.size()) != 0) {
		farm_.counted_.second++;
		reading.entry++;
		return next_entry(item, reading);
	}
	if (!keys_.keep(value, item.value))
		return Look::large;
	reading.mark = header.mark;
	item.known = true;
	item.there = true;
	return Look::done;
}

/* Writing ------------------------------------------------------------------------------------------------------------
 */

int FarmTransaction::erase(Bytes key) noexcept
{
	if (const std::uint32_t number = keys_.find(key); number != KeySet::none) {
		Item &item = keys_[number];
		if (item.known && !item.there) {
			uncount(item);
			item.changed = false;
			return 0;
		}
	}
	return CallingTransaction::erase(key);
}

void FarmTransaction::uncount(const Item &item) noexcept
{
	if (!item.changed)
		return;
	contacts_[item.shard].changes--;
	Part &part = parts_[item.shard];
	part.lock_size -= static_cast<std::uint32_t>(farm::lock_item_size + item.key.size());
	part.update_size -= static_cast<std::uint32_t>(farm::update_item_size + item.fresh.size());
}

bool FarmTransaction::count_change(const Item &item, std::size_t size) noexcept
{
	Part &part = parts_[item.shard];
	const std::size_t room = memory(item.shard).geometry.message_size - rpc::message_header_size;
	const std::size_t before = item.changed ? item.fresh.size() : 0;
	const std::size_t lock_size = part.lock_size + (item.changed ? 0 : farm::lock_item_size + item.key.size());
	const std::size_t update_size = part.update_size + (item.changed ? 0 : farm::update_item_size) + size - before;
	if (lock_size > room || update_size > room)
		return false;
	part.lock_size = static_cast<std::uint32_t>(lock_size);
	part.update_size = static_cast<std::uint32_t>(update_size);
	return true;
}

/* Commit -------------------------------------------------------------------------------------------------------------
 */

bool FarmTransaction::take_answer(std::uint32_t shard, std::uint32_t items, std::span<const std::byte> body) noexcept
{
	Contact &contact = contacts_[shard];
	const auto call = static_cast<Call>(contact.call);
	if (contact.result != LockResult::ok && call != Call::lock && call != Call::validate)
		return false;
	const bool locked = call == Call::lock && contact.result == LockResult::ok;
	if (call != Call::validate)
		contact.holds = locked;
	if (items != (locked ? parts_[shard].replies : 0))
		return false;
	return locked ? take_changes(shard, body) : body.empty();
}

void FarmTransaction::count_comparisons() noexcept
{
	reads_absence_ = false;
	for (const std::uint32_t shard : touched_)
		parts_[shard].comparisons = 0;
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const Item &item = keys_[number];
		if (!only_read(item))
			continue;
		parts_[item.shard].comparisons++;
		reads_absence_ = reads_absence_ || !item.there;
	}
}

apps::Task<Outcome> FarmTransaction::commit()
{
	if (fetch_error_)
		co_return refuse(fetch_error_);
	count_comparisons();
	if (send_locks()) {
		round_trips_++;
		co_await client_.settled(lane_);
		if (const int error = take_refusal())
			co_return refuse(error);
	} else if (keys_.size() <= 1) {
		co_return Outcome::committed; /* all values that it read were current at one moment */
	}
	if (send_comparisons()) {
		round_trips_++;
		co_await client_.settled(lane_);
		if (const int error = take_refusal())
			co_return refuse(error);
		if (!marks_are_as_read())
			co_return refuse(EAGAIN);
	}
	const std::uint32_t updates = send_updates();
	if (!updates)
		co_return Outcome::committed;
	round_trips_++;
	co_await client_.settled(lane_, farm_.options_.first_answer_counts ? updates - 1 : 0);
	error_ = client_.take_error(lane_);
	if (!error_)
		co_return Outcome::committed;
	co_await client_.settled(lane_);
	co_return Outcome::unknown;
}

/* Returns the number of calls. */
std::uint32_t FarmTransaction::send_locks() noexcept
{
	forget_results();
	for (const std::uint32_t shard : touched_)
		parts_[shard].replies = 0;
	return call_with_changes(Call::lock, [this](BodyWriter &body, std::uint32_t number, const Item &item) {
		const bool reply = wants_reply(item);
		parts_[item.shard].replies += reply ? 1 : 0;
		put_lock(body, item, readings_[number], reply);
	});
}

void FarmTransaction::put_lock(BodyWriter &body, const Item &item, const Reading &reading, bool reply) noexcept
{
	const bool object_known = item.known && item.there;
	LockKind kind = LockKind::any_key;
	if (item.known)
		kind = item.there ? LockKind::object : LockKind::absent_key;
	body.put(static_cast<std::uint8_t>(kind));
	body.put(std::uint8_t{reply});
	body.put(static_cast<std::uint16_t>(object_known ? 0 : item.key.size()));
	body.put(object_known ? reading.object : static_cast<std::uint32_t>(item.fresh.size()));
	body.put(object_known ? reading.mark.word : std::uint64_t{0});
	if (!object_known)
		body.put(item.key);
}

/*
 * True if this key's entry into the index changes a bucket in which this transaction has read another key as absent: it
 * then needs the bucket's new mark.
 */
bool FarmTransaction::wants_reply(const Item &item) const noexcept
{
	if (!reads_absence_ || (item.known && item.there))
		return false;
	const farm::Geometry &geometry = memory(item.shard).geometry;
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const Item &other = keys_[number];
		if (only_read(other) && !other.there && other.shard == item.shard &&
			geometry.home_of(other.hash) == geometry.home_of(item.hash))
			return true;
	}
	return false;
}

bool FarmTransaction::take_changes(std::uint32_t shard, std::span<const std::byte> items) noexcept
{
	BodyReader body(items);
	if (!parts_[shard].replies)
		return body.empty();
	const farm::Geometry &geometry = memory(shard).geometry;
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const Item &item = keys_[number];
		if (item.shard != shard || !item.changed || !wants_reply(item))
			continue;
		farm::BucketChange change;
		if (!body.take(change.before) || !body.take(change.after.word) || !body.take(change.after.crc))
			return false;
		note_change(shard, geometry.home_of(item.hash), change);
	}
	return body.empty();
}

void FarmTransaction::note_change(std::uint32_t shard, std::uint64_t home, const farm::BucketChange &change) noexcept
{
	const farm::Geometry &geometry = memory(shard).geometry;
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const Item &item = keys_[number];
		Mark &known = readings_[number].home;
		if (only_read(item) && !item.there && item.shard == shard && geometry.home_of(item.hash) == home &&
			known.word == change.before)
			known = change.after;
	}
}

const Mark &FarmTransaction::mark_of(std::uint32_t key) const noexcept
{
	return keys_[key].there ? readings_[key].mark : readings_[key].home;
}

/* Returns false if there is nothing to compare. */
bool FarmTransaction::send_comparisons() noexcept
{
	bool any = false;
	forget_results();
	for (const std::uint32_t shard : touched_) {
		Part &part = parts_[shard];
		part.readers = 0;
		any = any || part.comparisons;
		if (part.comparisons > farm_.options_.validating_reads)
			call_validate(shard);
	}
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const Item &item = keys_[number];
		if (only_read(item) && parts_[item.shard].comparisons <= farm_.options_.validating_reads)
			read_mark(number);
	}
	return any;
}

void FarmTransaction::read_mark(std::uint32_t key) noexcept
{
	const Item &item = keys_[key];
	const FarmClient::Memory &there = memory(item.shard);
	Reading &reading = readings_[key];
	reading.reader = parts_[item.shard].readers++;
	farm_.counted_.validations++;
	const RemoteAddress place =
		item.there ? there.objects.at(std::uint64_t{reading.object} * there.geometry.object_size)
			   : there.index.at(there.geometry.home_of(item.hash) * sizeof(Bucket));
	client_.read(lane_, item.shard, reading.reader, place, sizeof(Mark));
}

void FarmTransaction::call_validate(std::uint32_t shard) noexcept
{
	BodyWriter body = this->body(shard);
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const Item &item = keys_[number];
		if (item.shard != shard || !only_read(item))
			continue;
		const std::uint64_t home = memory(shard).geometry.home_of(item.hash);
		body.put(static_cast<std::uint32_t>(item.there ? MarkKind::object : MarkKind::bucket));
		body.put(item.there ? readings_[number].object : static_cast<std::uint32_t>(home));
		body.put(mark_of(number).word);
		body.put(mark_of(number).crc);
	}
	call(shard, Call::validate, parts_[shard].comparisons, body.size());
}

bool FarmTransaction::marks_are_as_read() const noexcept
{
	for (std::uint32_t number = 0; number < keys_.size(); number++) {
		const Item &item = keys_[number];
		if (!only_read(item) || parts_[item.shard].comparisons > farm_.options_.validating_reads)
			continue;
		Mark now;
		std::memcpy(&now, client_.read_memory(lane_, item.shard, readings_[number].reader), sizeof(now));
		if (now != mark_of(number))
			return false;
	}
	return true;
}

std::uint32_t FarmTransaction::send_updates() noexcept
{
	return call_with_changes(Call::update, [](BodyWriter &body, std::uint32_t, const Item &item) {
		body.put(item.erased ? farm::erase_mark : static_cast<std::uint32_t>(item.fresh.size()));
		body.put(item.fresh);
	});
}

} // namespace prism::tx
