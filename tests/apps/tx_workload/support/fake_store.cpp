/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "fake_store.hpp"

#include <algorithm>
#include <cerrno>

namespace tx_test
{

namespace
{

std::string text_of(Bytes bytes)
{
	return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace

const FakeStore::Entry &FakeStore::at(const std::string &key) const noexcept
{
	static const Entry absent;
	const auto found = entries_.find(key);
	return found == entries_.end() ? absent : found->second;
}

std::size_t FakeStore::size() const noexcept
{
	return static_cast<std::size_t>(std::count_if(
		entries_.begin(), entries_.end(), [](const auto &entry) { return entry.second.value.has_value(); }));
}

std::size_t FakeStore::largest_value() const noexcept
{
	std::size_t largest = 0;
	for (const auto &[key, entry] : entries_)
		largest = std::max(largest, entry.value ? entry.value->size() : 0);
	return largest;
}

void FakeStore::change(const std::string &key, std::optional<std::string> value)
{
	Entry &entry = entries_[key];
	entry.version++;
	entry.value = std::move(value);
}

bool FakeStore::now_and_then(unsigned n)
{
	return n && random_() % n == 0;
}

std::uint32_t FakeStore::below(std::uint32_t n)
{
	return static_cast<std::uint32_t>(random_() % n);
}

apps::Task<void> FakeTransaction::begin()
{
	known_.clear();
	round_trips_ = 0;
	error_ = 0;
	co_return;
}

apps::Task<int> FakeTransaction::fetch(std::span<const Bytes> keys)
{
	std::vector<std::string> wanted;
	for (const Bytes key : keys) {
		if (!known(key))
			wanted.push_back(text_of(key));
	}
	if (wanted.empty())
		co_return 0;
	if (known_.size() + wanted.size() > store_.options().most_keys)
		co_return E2BIG;
	round_trips_++;
	for (const std::string &key : wanted) {
		co_await client_.step(lane_);
		const FakeStore::Entry &entry = store_.at(key);
		known_[key] = {entry.version, entry.value, false};
	}
	if (store_.now_and_then(store_.options().failing_one_in))
		co_return EIO;
	co_return 0;
}

FakeTransaction::Known *FakeTransaction::known(Bytes key)
{
	const auto found = known_.find(text_of(key));
	return found == known_.end() ? nullptr : &found->second;
}

std::optional<Bytes> FakeTransaction::value(Bytes key) const noexcept
{
	const auto found = known_.find(text_of(key));
	if (found == known_.end() || !found->second.value)
		return {};
	return std::as_bytes(std::span(*found->second.value));
}

int FakeTransaction::change(Bytes key, std::optional<std::string> value)
{
	if (!known(key) && known_.size() == store_.options().most_keys)
		return E2BIG;
	Known &entry = known_[text_of(key)];
	entry.value = std::move(value);
	entry.changed = true;
	return 0;
}

int FakeTransaction::write(Bytes key, Bytes value) noexcept
{
	return value.size() > store_.options().largest_value ? EINVAL : change(key, text_of(value));
}

int FakeTransaction::erase(Bytes key) noexcept
{
	return change(key, {});
}

bool FakeTransaction::still_valid() const
{
	return std::all_of(known_.begin(), known_.end(), [this](const auto &entry) {
		return !entry.second.version || *entry.second.version == store_.at(entry.first).version;
	});
}

void FakeTransaction::make_changes()
{
	const bool flawed = store_.now_and_then(store_.options().flawed_one_in);
	std::size_t made = 0;
	for (const auto &[key, entry] : known_) {
		if (!entry.changed)
			continue;
		const bool skipped = flawed && (store_.options().flaw == Flaw::lost_commit ||
						       (store_.options().flaw == Flaw::half_committed && made > 0));
		made++;
		if (skipped)
			store_.flawed++;
		else
			store_.change(key, entry.value);
	}
}

apps::Task<Outcome> FakeTransaction::commit()
{
	co_await client_.step(lane_);
	round_trips_++;
	if (!still_valid()) {
		if (store_.options().flaw != Flaw::lost_update || !store_.now_and_then(store_.options().flawed_one_in))
			co_return Outcome::conflict;
		store_.flawed++;
	}
	const bool unknown = store_.now_and_then(store_.options().unknown_one_in);
	error_ = unknown ? ETIMEDOUT : 0;
	if (!unknown || store_.below(2))
		make_changes();
	co_return unknown ? Outcome::unknown : Outcome::committed;
}

apps::Task<void> FakeTransaction::roll_back()
{
	known_.clear();
	co_return;
}

FakeClient::FakeClient(FakeStore &store, std::size_t depth) : TransactionClient(depth, {}), store_(store)
{
	for (std::uint32_t lane = 0; lane < depth; lane++)
		lanes_.emplace_back(*this, store, lane);
}

void FakeClient::drive() noexcept
{
	(void)store_.tick();
	if (!stopped_)
		resume(store_.below(static_cast<std::uint32_t>(lanes_.size())));
}

} // namespace tx_test
