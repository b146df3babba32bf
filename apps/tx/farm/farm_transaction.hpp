/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "farm_client.hpp"
#include "layout.hpp"
#include "message.hpp"
#include "object_table.hpp"

#include "tx/rpc/body.hpp"
#include "tx/rpc/key_set.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prism::tx
{

/** What a lane of a FarmClient runs. */
class FarmTransaction final : public Transaction
{
public:
	FarmTransaction(FarmClient &client, std::uint32_t lane);

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

	/** How far the reading of a key has come, and what it found. */
	struct Reading {
		bool under_way = false;
		bool of_object = false;   /* the next READ is that of an object */
		std::uint32_t reader = 0; /* of the READ under way */
		std::uint32_t length = 0; /* of the READ of an object */
		std::uint32_t vain = 0;   /* READs that have led nowhere */
		std::uint32_t torn = 0;   /* of these, with a wrong checksum */
		std::uint64_t bucket = 0; /* number */
		std::uint32_t entry = 0;  /* of the bucket */
		std::uint32_t object = 0; /* number */
		farm::Bucket contents;    /* of the bucket */
		farm::Mark home;          /* of the bucket where it began */
		farm::Mark mark;          /* of the object */
	};
	/** What the transaction does at a shard. */
	struct Part {
		std::uint32_t changes = 0;           /* keys */
		std::uint32_t lock_size = 0;         /* bytes of their LOCK, at most */
		std::uint32_t update_size = 0;       /* bytes of their UPDATE */
		std::uint32_t comparisons = 0;       /* marks, in the commit */
		std::uint32_t readers = 0;           /* in use */
		farm::Call call = farm::Call::abort; /* under way, or the last one */
		std::uint32_t replies = 0;           /* that the answer to LOCK is to have */
		farm::LockResult result = farm::LockResult::ok;
		bool holds = false;   /* locks */
		bool touched = false; /* has a key */
	};
	enum class Look : std::uint8_t {
		again,   /* another READ */
		done,    /* known */
		give_up, /* EAGAIN */
		damaged, /* EIO */
		absurd,  /* EBADMSG */
		large,   /* E2BIG */
	};

	[[nodiscard]] const FarmClient::Memory &memory(std::uint32_t shard) const noexcept
	{
		return client_.memories_[shard];
	}
	[[nodiscard]] bool possible(Bytes key) const noexcept { return !key.empty() && key.size() <= max_key_size_; }
	/* The number of the key, or KeySet::none. */
	std::uint32_t get(Bytes key) noexcept;
	int want(Bytes key) noexcept;
	int change(Bytes key, Bytes value, bool erased) noexcept;
	void uncount(const Item &item) noexcept;
	/* Nothing is to be done with the key but to compare its mark. */
	[[nodiscard]] static bool only_read(const Item &item) noexcept { return item.known && !item.changed; }

	void begin_reads() noexcept;
	void read(const Item &item, Reading &reading) noexcept;
	int look_at_all() noexcept;
	Look look_at_bucket(Item &item, Reading &reading) noexcept;
	Look next_entry(Item &item, Reading &reading) noexcept;
	Look look_at_object(Item &item, Reading &reading) noexcept;
	Look again(Reading &reading, bool torn) noexcept;
	int failure(const Item &item, Look result) noexcept;

	void call(std::uint32_t shard, farm::Call call, std::uint32_t items, std::size_t body) noexcept;
	void count_comparisons() noexcept;
	[[nodiscard]] std::uint32_t send_locks() noexcept;
	void put_lock(BodyWriter &body, const Item &item, const Reading &reading, bool reply) noexcept;
	[[nodiscard]] bool wants_reply(const Item &item) const noexcept;
	[[nodiscard]] std::optional<Outcome> judge_locks() noexcept;
	bool take_changes(std::uint32_t shard, std::span<const std::byte> items) noexcept;
	void note_change(std::uint32_t shard, std::uint64_t home, const farm::BucketChange &change) noexcept;
	[[nodiscard]] const farm::Mark &mark_of(std::uint32_t key) const noexcept;
	[[nodiscard]] bool send_comparisons() noexcept;
	void read_mark(std::uint32_t key) noexcept;
	void call_validate(std::uint32_t shard) noexcept;
	[[nodiscard]] std::optional<Outcome> judge_comparisons() noexcept;
	[[nodiscard]] std::uint32_t send_updates() noexcept;
	void send_aborts() noexcept;
	Outcome refuse(int error) noexcept;

	FarmClient &client_;
	const std::uint32_t lane_;
	KeySet keys_;
	std::vector<Reading> readings_;      /* of the keys */
	std::vector<std::uint32_t> wanted_;  /* keys that are being read */
	std::vector<Part> parts_;            /* of the shards */
	std::vector<std::uint32_t> touched_; /* shards */
	std::uint32_t max_key_size_;
	std::uint32_t max_value_size_;
	bool reads_absence_ = false; /* of a key that is not changed */
	std::uint32_t round_trips_ = 0;
	int fetch_error_ = 0;
	int error_ = 0;
};

} // namespace prism::tx
