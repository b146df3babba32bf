/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>

#include "bench/tx/systems.hpp"
#include "bench/ycsb/options.hpp"
#include "fake_store.hpp"

namespace tx_test
{

/** Clock that advances whenever it is read. */
class TickingClock final : public bench::Clock
{
public:
	[[nodiscard]] std::uint64_t now() const noexcept override { return time_ += 100; }

private:
	mutable std::atomic<std::uint64_t> time_ = 1'000'000;
};

/** Returns a factory of clients of @p store, for one thread. */
inline ClientFactory fake_clients(FakeStore &store, std::size_t depth)
{
	return [&store, depth](unsigned) -> Result<std::unique_ptr<TransactionClient>> {
		return std::unique_ptr<TransactionClient>(std::make_unique<FakeClient>(store, depth));
	};
}

} // namespace tx_test
