/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tx/transaction/key_set.hpp"
#include "tx_calls/body.hpp"
#include "tx_calls/calling_client.hpp"
#include "tx_calls/lock_result.hpp"

namespace prism::tx
{

/** The transaction of a lane of a CallingClient: reads keys in rounds, calls shards, one call to each at a time. */
class CallingTransaction : public Transaction
{
public:
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept override { return keys_.value(key); }
	apps::Task<int> fetch(std::span<const Bytes> keys) final;
	int write(Bytes key, Bytes value) noexcept override;
	int erase(Bytes key) noexcept override { return change(key, {}, true); }

	apps::Task<void> begin() override;
	[[nodiscard]] int error() const noexcept override { return error_; }
	[[nodiscard]] std::uint32_t round_trips() const noexcept override { return round_trips_; }

	/** Takes the response to a call; returns false if it makes no sense. */
	bool answered(std::uint32_t shard, std::span<const std::byte> response) noexcept;

protected:
	using Item = KeySet::Item;

	/** State of the exchange with a shard that has one of the keys. */
	struct Contact {
		std::uint8_t call = 0; /* under way, or the last one */
		LockResult result = LockResult::ok;
		std::uint32_t changes = 0; /* keys */
		bool holds = false;        /* locks */
		bool touched = false;      /* has a key */
	};

	/** @p release: the call that releases the locks held at a shard. */
	CallingTransaction(CallingClient &client, std::uint32_t lane, std::uint8_t release);

	/* The operations that each store implements in its own way */

	/** Resets the state of @p shard for a new transaction. */
	virtual void forget_part(std::uint32_t shard) noexcept = 0;
	/** Puts the key of this number among those wanted now. */
	virtual void begin_reading(std::uint32_t /* number */) noexcept {}
	/** Begins a round of READs or calls for the wanted keys. */
	virtual void send_reads() noexcept = 0;
	/**
	 * Ends the round: removes the known keys from the list. Returns 0, or why the transaction ends; EAGAIN is a
	 * conflict.
	 */
	virtual int take_reads() noexcept = 0;
	/**
	 * Makes room for a value of @p size bytes of @p item, changed before or not. Returns false if a message has no
	 * room.
	 */
	virtual bool count_change(const Item &item, std::size_t size) noexcept = 0;
	/** See answered(); Contact::result is set. */
	virtual bool take_answer(
		std::uint32_t shard, std::uint32_t items, std::span<const std::byte> body) noexcept = 0;

	/* The operations that all stores share */

	int change(Bytes key, Bytes value, bool erased) noexcept;
	/** Returns a writer for the body of the next request. */
	[[nodiscard]] BodyWriter body(std::uint32_t shard) const noexcept;
	template <typename Kind>
	void call(std::uint32_t shard, Kind kind, std::uint32_t items, std::size_t size) noexcept
	{
		begin_call(shard, static_cast<std::uint8_t>(kind), items, size);
	}
	/** Clears earlier refusals. */
	void forget_results() noexcept;
	/** Returns the errno of the shards' refusals since forget_results(), or 0. */
	[[nodiscard]] int refusal() const noexcept;
	/** Likewise; an error of the lane takes precedence. */
	int take_refusal() noexcept;
	/** Calls the shards at which the transaction holds something. */
	void send_releases() noexcept;
	Outcome refuse(int error) noexcept;

	/**
	 * Calls each shard on which something is changed, with what @p put(body, number, item) writes for each item
	 * that is. Returns the number of calls.
	 */
	template <typename Kind, typename Put>
	std::uint32_t call_with_changes(Kind kind, Put put) noexcept
	{
		std::uint32_t calls = 0;
		for (const std::uint32_t shard : touched_) {
			if (!contacts_[shard].changes)
				continue;
			BodyWriter body = this->body(shard);
			for (std::uint32_t number = 0; number < keys_.size(); number++) {
				const Item &item = keys_[number];
				if (item.shard == shard && item.changed)
					put(body, number, item);
			}
			call(shard, kind, contacts_[shard].changes, body.size());
			calls++;
		}
		return calls;
	}

	CallingClient &client_;
	const std::uint32_t lane_;
	KeySet keys_;
	std::vector<std::uint32_t> wanted_;  /* keys that are being read */
	std::vector<Contact> contacts_;      /* of all shards */
	std::vector<std::uint32_t> touched_; /* shards */
	std::uint32_t round_trips_ = 0;
	int fetch_error_ = 0;
	int error_ = 0;

private:
	void begin_call(std::uint32_t shard, std::uint8_t kind, std::uint32_t items, std::size_t size) noexcept;
	[[nodiscard]] bool possible(Bytes key) const noexcept { return !key.empty() && key.size() <= max_key_size_; }
	/* Returns the number of the key, or KeySet::none. */
	std::uint32_t get(Bytes key) noexcept;
	int want(Bytes key) noexcept;

	const std::uint8_t release_;
	std::uint32_t max_key_size_;
	std::uint32_t max_value_size_;
};

} // namespace prism::tx
