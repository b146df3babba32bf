/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Transactional store in memory: optimistic, with a version for each key, for one thread. Its clients take turns
 * between any two steps of their transactions, as a seed draws it, and may be told to do things that no store should.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tx/transaction/client.hpp"

namespace tx_test
{

using namespace prism;
using namespace prism::tx;

enum class Flaw : std::uint8_t {
	none,
	lost_update,    /**< now and then a commit does not check for conflicts */
	half_committed, /**< now and then a commit makes only the first of its changes */
	lost_commit,    /**< now and then a commit makes no changes, but reports success */
};

struct FakeOptions {
	Flaw flaw = Flaw::none;
	unsigned flawed_one_in = 5;  /**< one in so many commits */
	unsigned unknown_one_in = 0; /**< one in so many commits has an unknown outcome; 0: none */
	unsigned failing_one_in = 0; /**< one in so many fetches fails with EIO; 0: none */
	std::size_t largest_value = 4096;
	std::size_t most_keys = 64; /**< of a transaction */
	std::uint64_t seed = 1;
};

class FakeStore
{
public:
	explicit FakeStore(const FakeOptions &options = {}) : options_(options), random_(options.seed) {}

	struct Entry {
		std::uint64_t version = 0;
		std::optional<std::string> value;
	};

	[[nodiscard]] const FakeOptions &options() const noexcept { return options_; }
	[[nodiscard]] const Entry &at(const std::string &key) const noexcept;
	[[nodiscard]] std::size_t size() const noexcept;
	/** Returns the size of the largest stored value. */
	[[nodiscard]] std::size_t largest_value() const noexcept;
	void change(const std::string &key, std::optional<std::string> value);
	/** Returns true once in @p n calls, on average; never if it is 0. */
	[[nodiscard]] bool now_and_then(unsigned n);
	[[nodiscard]] std::uint32_t below(std::uint32_t n);
	[[nodiscard]] Time tick() noexcept { return time_ += std::chrono::microseconds(1); }
	[[nodiscard]] Time time() const noexcept { return time_; }

	/** Called while no transaction is under way. */
	void set_options(const FakeOptions &options) noexcept { options_ = options; }
	std::uint64_t flawed = 0; /**< number of errors made by the Flaw */

private:
	FakeOptions options_;
	std::mt19937 random_;
	std::map<std::string, Entry> entries_;
	Time time_{1};
};

class FakeClient;

class FakeTransaction final : public Transaction
{
public:
	FakeTransaction(FakeClient &client, FakeStore &store, std::uint32_t lane)
		: client_(client), store_(store), lane_(lane)
	{
	}

	using Transaction::fetch;
	apps::Task<int> fetch(std::span<const Bytes> keys) override;
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept override;
	int write(Bytes key, Bytes value) noexcept override;
	int erase(Bytes key) noexcept override;
	apps::Task<void> begin() override;
	apps::Task<Outcome> commit() override;
	apps::Task<void> roll_back() override;
	[[nodiscard]] int error() const noexcept override { return error_; }
	[[nodiscard]] std::uint32_t round_trips() const noexcept override { return round_trips_; }

private:
	/** Key used in this attempt. */
	struct Known {
		std::optional<std::uint64_t> version; /* as it was read; none: written only */
		std::optional<std::string> value;
		bool changed = false;
	};

	Known *known(Bytes key);
	int change(Bytes key, std::optional<std::string> value);
	[[nodiscard]] bool still_valid() const;
	void make_changes();

	FakeClient &client_;
	FakeStore &store_;
	std::uint32_t lane_;
	std::map<std::string, Known> known_;
	std::uint32_t round_trips_ = 0;
	int error_ = 0;
};

class FakeClient final : public TransactionClient
{
public:
	/** @param store lives longer, and is used by one thread. */
	FakeClient(FakeStore &store, std::size_t depth);
	~FakeClient() override { abandon(); }

	/** Stops the client: no transaction ends any more. */
	void stop() noexcept { stopped_ = true; }
	/** Suspends a lane until it is drawn: others come in between here. */
	[[nodiscard]] Event step(std::uint32_t lane) noexcept { return {waiter(lane)}; }

protected:
	void drive() noexcept override;
	[[nodiscard]] Transaction &transaction(std::uint32_t lane) noexcept override { return lanes_[lane]; }
	[[nodiscard]] Time now() const noexcept override { return store_.time(); }

private:
	FakeStore &store_;
	std::deque<FakeTransaction> lanes_;
	bool stopped_ = false;
};

} // namespace tx_test
