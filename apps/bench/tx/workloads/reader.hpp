/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <prism/result.hpp>

#include "bench/tx/workloads/workload.hpp"

namespace prism::tx
{

/** Reads many records, some of them in each transaction: for checks. */
class Reader
{
public:
	/** Receives the record of keys[index], after the transaction that has read it has committed. */
	using Each = std::function<void(std::size_t index, std::optional<Bytes> value)>;

	explicit Reader(TransactionClient &client) : client_(client) {}

	/** Reads @p keys, in their order. Stops at the first error of the store. */
	[[nodiscard]] Result<void> read(std::span<const Key> keys, const Each &each);

private:
	static constexpr std::size_t keys_at_once = 16;

	[[nodiscard]] Result<void> read_some(std::span<const Key> keys);
	apps::Task<int> run(Transaction &transaction, std::span<const Key> keys);

	TransactionClient &client_;
	std::vector<std::optional<std::vector<std::byte>>> values_;
};

} // namespace prism::tx
