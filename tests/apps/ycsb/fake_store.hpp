/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Store in memory whose operations take as long as a test says, by a clock that the test drives. */
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/ycsb/options.hpp"
#include "common/store_client.hpp"

namespace prism::ycsb
{

/** Clock that advances only by advance(). */
class FakeClock final : public bench::Clock
{
public:
	[[nodiscard]] std::uint64_t now() const noexcept override { return time_; }
	void advance(std::uint64_t nanoseconds) noexcept { time_ += nanoseconds; }

private:
	std::atomic<std::uint64_t> time_ = 1'000'000;
};

struct FakeStore {
	std::mutex mutex;
	std::map<std::string, std::vector<std::byte>> content;
	std::size_t capacity = SIZE_MAX;
	std::uint64_t started = 0; /* by all clients */
};

/** Behaviour of operations, as chosen by a test. */
struct FakeBehaviour {
	std::size_t depth = 64;
	FakeClock *ticking = nullptr; /* poll() advances it by a tick; null: real time, every operation takes 0 */
	std::uint64_t tick = 100;     /* ns */
	/* Returns an operation's latency in ns by its number in the store, from 0. With `never` it does not end. */
	std::function<std::uint64_t(std::uint64_t)> latency = [](std::uint64_t) { return 0; };
	/* Called when an operation has been done. */
	std::function<void(apps::Operation &, std::uint64_t)> at_end = [](apps::Operation &, std::uint64_t) {};
	/* Returns the result of start(). */
	std::function<int(std::uint64_t)> answer = [](std::uint64_t) { return 0; };

	static constexpr std::uint64_t never = UINT64_MAX;
};

class FakeClient final : public apps::StoreClient
{
public:
	FakeClient(FakeStore &the_store, const FakeBehaviour &wanted) : store_(the_store), behaviour_(wanted) {}

	[[nodiscard]] std::size_t depth() const noexcept override { return behaviour_.depth; }

	int start(apps::Operation &operation) noexcept override
	{
		if (under_way_.size() == behaviour_.depth)
			return EAGAIN;
		const std::lock_guard lock(store_.mutex);
		const std::uint64_t number = store_.started++;
		if (const int refused = behaviour_.answer(number))
			return refused;
		const std::uint64_t latency = behaviour_.latency(number);
		const std::uint64_t due = latency == FakeBehaviour::never ? latency : now() + latency;
		under_way_.push_back({&operation, due, number});
		return 0;
	}

	std::size_t poll(std::span<apps::Operation *> completed) noexcept override
	{
		if (behaviour_.ticking)
			behaviour_.ticking->advance(behaviour_.tick);
		std::size_t count = 0;
		for (auto next = under_way_.begin(); next != under_way_.end() && count < completed.size();) {
			if (next->due > now()) {
				++next;
				continue;
			}
			perform(*next->operation);
			next->operation->round_trips = 1;
			behaviour_.at_end(*next->operation, next->number);
			completed[count++] = next->operation;
			next = under_way_.erase(next);
		}
		return count;
	}

private:
	struct Entry {
		apps::Operation *operation;
		std::uint64_t due;
		std::uint64_t number;
	};

	[[nodiscard]] std::uint64_t now() const noexcept { return behaviour_.ticking ? behaviour_.ticking->now() : 0; }

	void perform(apps::Operation &operation)
	{
		const std::lock_guard lock(store_.mutex);
		const std::string key(reinterpret_cast<const char *>(operation.key.data()), operation.key.size());
		const auto found = store_.content.find(key);
		operation.outcome = apps::Outcome::ok;
		if (operation.kind == apps::OperationKind::put) {
			if (found == store_.content.end() && store_.content.size() >= store_.capacity)
				operation.outcome = apps::Outcome::full;
			else
				store_.content[key].assign(operation.value.begin(), operation.value.end());
		} else if (found == store_.content.end()) {
			operation.outcome = apps::Outcome::not_found;
		} else {
			operation.length = static_cast<std::uint32_t>(found->second.size());
			std::copy_n(found->second.begin(), std::min(found->second.size(), operation.result.size()),
				operation.result.begin());
		}
	}

	FakeStore &store_;
	FakeBehaviour behaviour_;
	std::vector<Entry> under_way_;
};

inline ClientFactory fake_clients(FakeStore &store, const FakeBehaviour &behaviour)
{
	return [&store, behaviour](unsigned) -> Result<std::unique_ptr<apps::StoreClient>> {
		return std::unique_ptr<apps::StoreClient>(std::make_unique<FakeClient>(store, behaviour));
	};
}

} // namespace prism::ycsb
