/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "index.hpp"

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

namespace prism::serializability
{

Result<Index> Index::make(const History &history)
{
	Index index(history);
	index.number_keys();
	if (index.keys() >= most_keys)
		return make_error(EOVERFLOW, "more than 2^27 keys", "check a part of them");
	if (auto done = index.number_versions(); !done)
		return done.error();
	index.find_reads();
	index.find_visible();
	return index;
}

void Index::number_keys()
{
	std::unordered_map<std::uint64_t, std::uint32_t> numbers;
	operation_keys_.reserve(history_->operations().size());
	for (const Operation &operation : history_->operations()) {
		const auto [found, added] =
			numbers.try_emplace(operation.key, static_cast<std::uint32_t>(numbers.size()));
		if (added)
			key_names_.push_back(operation.key);
		operation_keys_.push_back(found->second);
	}
}

Result<void> Index::number_versions()
{
	const std::span<const Operation> operations = history_->operations();
	/* The last writer of a key in its transaction, searched from the end. */
	std::vector<std::uint32_t> last_writer(keys(), nobody);
	for (std::uint32_t index = 0; index < history_->transactions().size(); index++) {
		const Transaction &of = transaction(index);
		for (std::uint64_t i = of.first + of.count; i-- > of.first;) {
			const Action action = operations[i].action;
			if (action == Action::read)
				continue;
			const std::uint32_t key = operation_keys_[i];
			const bool last = last_writer[key] != index;
			last_writer[key] = index;
			if (action != Action::erase)
				versions_.push_back({operations[i].value, key, index, last});
		}
	}
	const auto order = [](const Version &version) { return std::tuple(version.key, version.value); };
	std::ranges::sort(versions_, {}, order);
	const auto twice = std::ranges::adjacent_find(versions_, {}, order);
	if (twice != versions_.end())
		return Error{
			EINVAL, fmt::format("{:#x} was written to key {:#x} twice, by {} and by {}: each write "
					    "needs a value of its own",
					twice->value, key_names_[twice->key], history_->name_of(twice->transaction),
					history_->name_of(twice[1].transaction))};
	first_version_.assign(keys() + 1, static_cast<std::uint32_t>(versions_.size()));
	for (std::size_t i = versions_.size(); i-- > 0;)
		first_version_[versions_[i].key] = static_cast<std::uint32_t>(i);
	for (std::uint32_t key = keys(); key-- > 0;)
		first_version_[key] = std::min(first_version_[key], first_version_[key + 1]);
	return {};
}

std::uint32_t Index::find(std::uint32_t key, Value value) const noexcept
{
	const auto begin = versions_.begin() + first_version_[key], end = versions_.begin() + first_version_[key + 1];
	const auto found = std::lower_bound(
		begin, end, value, [](const Version &version, Value wanted) { return version.value < wanted; });
	if (found == end || found->value != value)
		return nobody;
	return static_cast<std::uint32_t>(found - versions_.begin());
}

void Index::find_reads()
{
	const std::span<const Operation> operations = history_->operations();
	operation_versions_.resize(operations.size(), initial);
	for (std::size_t i = 0; i < operations.size(); i++) {
		const Operation &operation = operations[i];
		const bool list = lists() && operation.action == Action::read;
		if (list && operation.length != 0)
			operation_versions_[i] = find(operation_keys_[i], history_->list_of(operation).back());
		if (!list && operation.action != Action::erase && operation.value != absent)
			operation_versions_[i] = find(operation_keys_[i], operation.value);
	}
}

void Index::see(std::uint32_t version, std::vector<std::uint32_t> &to_look_at)
{
	if (version >= initial)
		return;
	const std::uint32_t by = versions_[version].transaction;
	if (visible_[by] || transaction(by).outcome != Outcome::unknown)
		return;
	visible_[by] = true;
	seen_unknown_++;
	to_look_at.push_back(by);
}

void Index::look_at(std::uint32_t index, std::vector<std::uint32_t> &to_look_at)
{
	const std::span<const Operation> operations = history_->operations();
	const Transaction &of = transaction(index);
	for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
		if (operations[i].action != Action::read)
			continue;
		see(operation_versions_[i], to_look_at);
		const std::uint32_t key = operation_keys_[i];
		if (!lists() || operations[i].length <= longest(key).size())
			continue;
		const std::span<const Value> before = longest(key);
		longest_[key] = static_cast<std::uint32_t>(i);
		const std::span<const Value> list = longest(key);
		std::vector<std::uint32_t> &order = orders_[key];
		if (!std::ranges::equal(before, list.first(before.size())))
			order.clear();
		for (std::size_t j = order.size(); j < list.size(); j++) {
			order.push_back(find(key, list[j]));
			see(order.back(), to_look_at);
		}
	}
}

void Index::find_visible()
{
	const auto count = static_cast<std::uint32_t>(history_->transactions().size());
	visible_.resize(count);
	if (lists()) {
		longest_.resize(keys(), nobody);
		orders_.resize(keys());
	}
	std::vector<std::uint32_t> to_look_at;
	for (std::uint32_t index = 0; index < count; index++) {
		if (transaction(index).outcome != Outcome::committed)
			continue;
		visible_[index] = true;
		look_at(index, to_look_at);
	}
	while (!to_look_at.empty()) {
		const std::uint32_t index = to_look_at.back();
		to_look_at.pop_back();
		look_at(index, to_look_at);
	}
}

std::span<const Value> Index::longest(std::uint32_t key) const noexcept
{
	if (longest_[key] == nobody)
		return {};
	return history_->list_of(history_->operations()[longest_[key]]);
}

} // namespace prism::serializability
