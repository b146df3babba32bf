/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "locking_client.hpp"
#include "message.hpp"

#include "tx/rpc/body.hpp"
#include "tx/rpc/key_set.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prism::tx
{

/** What a lane of a LockingClient runs. */
class LockingTransaction final : public Transaction
{
public:
	LockingTransaction(LockingClient &client, std::uint32_t lane);

	apps::Task<int> fetch(std::span<const Bytes> keys) override;
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept override { return keys_.value(key); }
	int write(Bytes key, Bytes value) noexcept override;
	int erase(Bytes key) noexcept override;

	apps::Task<int> begin() override;
	apps::Task<Outcome> commit() override;
	apps::Task<int> roll_back() override;
	[[nodiscard]] int error() const noexcept override { return error_; }
	[[nodiscard]] std::uint32_t round_trips() const noexcept override { return round_trips_; }

	/** The response to a call; false: it makes no sense. */
	bool answered(std::uint32_t shard, std::span<const std::byte> response) noexcept;

private:
	using Item = KeySet::Item;

	/** What the transaction does at a shard. */
	struct Part {
		std::uint32_t changes = 0;                   /* keys */
		std::uint32_t change_size = 0;               /* bytes of their COMMIT, at most */
		std::uint32_t held = 0;                      /* locks; the next one has this position */
		std::uint32_t asked = 0;                     /* keys of the FETCH under way */
		locking::Call call = locking::Call::release; /* under way, or the last one */
		locking::LockResult result = locking::LockResult::ok;
		bool holds = false;   /* locks */
		bool touched = false; /* has a key */
	};

	[[nodiscard]] bool possible(Bytes key) const noexcept { return !key.empty() && key.size() <= max_key_size_; }
	/* The number of the key, or KeySet::none. */
	std::uint32_t get(Bytes key) noexcept;
	int want(Bytes key) noexcept;
	void send_fetches() noexcept;
	void send_fetch(std::uint32_t shard) noexcept;
	bool take_values(std::uint32_t shard, std::uint32_t number, std::span<const std::byte> items) noexcept;
	int change(Bytes key, Bytes value, bool erased) noexcept;

	void call(std::uint32_t shard, locking::Call call, std::uint32_t items, std::size_t body) noexcept;
	[[nodiscard]] std::uint32_t changed_shards() const noexcept;
	void send_changes(locking::Call kind) noexcept;
	void count_prepared() noexcept;
	[[nodiscard]] int refusal() const noexcept;
	void send_releases() noexcept;
	Outcome refuse(int error) noexcept;

	LockingClient &client_;
	const std::uint32_t lane_;
	KeySet keys_;
	std::vector<std::uint32_t> positions_; /* of the keys' locks */
	std::vector<std::uint32_t> wanted_;    /* keys that are being read, in the order of the calls */
	std::vector<Part> parts_;              /* of the shards */
	std::vector<std::uint32_t> touched_;   /* shards */
	std::uint32_t max_key_size_;
	std::uint32_t max_value_size_;
	std::uint32_t round_trips_ = 0;
	bool too_large_ = false;
	int fetch_error_ = 0;
	int error_ = 0;
};

} // namespace prism::tx
