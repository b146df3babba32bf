/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace prism::tx
{

Result<void> Reader::read(std::span<const Key> keys, const Each &each)
{
	for (std::size_t first = 0; first < keys.size(); first += keys_at_once) {
		const auto some = keys.subspan(first, std::min(keys_at_once, keys.size() - first));
		if (Result<void> done = read_some(some); !done)
			return done;
		for (std::size_t i = 0; i < some.size(); i++)
			each(first + i, values_[i] ? std::optional<Bytes>(*values_[i]) : std::nullopt);
	}
	return {};
}

Result<void> Reader::read_some(std::span<const Key> keys)
{
	Job job;
	job.body = [this, keys](Transaction &transaction) { return run(transaction, keys); };
	if (client_.run(job) == Outcome::committed)
		return {};
	return make_error(
		job.error ? job.error : EIO, "reading the store to check it", "see whether its servers are there");
}

apps::Task<int> Reader::run(Transaction &transaction, std::span<const Key> keys)
{
	std::array<Bytes, keys_at_once> names;
	std::copy(keys.begin(), keys.end(), names.begin());
	if (const int error = co_await transaction.fetch(std::span(names).first(keys.size())))
		co_return error;
	values_.assign(keys.size(), {});
	for (std::size_t i = 0; i < keys.size(); i++) {
		if (const std::optional<Bytes> value = transaction.value(keys[i]))
			values_[i].emplace(value->begin(), value->end());
	}
	co_return 0;
}

} // namespace prism::tx
