/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "farm_client.hpp"
#include "layout.hpp"
#include "message.hpp"
#include "object_table.hpp"

#include "tx_calls/calling_transaction.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prism::tx
{

/** The transaction of a lane of a FarmClient. */
class FarmTransaction final : public CallingTransaction
{
public:
	FarmTransaction(FarmClient &client, std::uint32_t lane);

	int erase(Bytes key) noexcept override;
	apps::Task<Outcome> commit() override;
	apps::Task<void> roll_back() override;

private:
	/** Progress of the reading of a key, and its result. */
	struct Reading {
		bool under_way = false;
		bool of_object = false;   /* the next READ is that of an object */
		std::uint32_t reader = 0; /* of the READ under way */
		std::uint32_t length = 0; /* of the READ of an object */
		std::uint32_t vain = 0;   /* READs that had to be repeated */
		std::uint32_t torn = 0;   /* of these, with a wrong checksum */
		std::uint64_t bucket = 0; /* number */
		std::uint32_t entry = 0;  /* of the bucket */
		std::uint32_t object = 0; /* number */
		farm::Bucket contents;    /* of the bucket */
		farm::Mark home;          /* of the bucket where it began */
		farm::Mark mark;          /* of the object */
	};
	/** State of the transaction at a shard. */
	struct Part {
		std::uint32_t lock_size = 0;   /* bytes of the LOCK of all changes, at most */
		std::uint32_t update_size = 0; /* bytes of their UPDATE */
		std::uint32_t comparisons = 0; /* marks, in the commit */
		std::uint32_t readers = 0;     /* in use */
		std::uint32_t replies = 0;     /* replies that the answer to LOCK must have */
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
		return farm_.memories_[shard];
	}
	void forget_part(std::uint32_t shard) noexcept override { parts_[shard] = {}; }
	void begin_reading(std::uint32_t number) noexcept override;
	void send_reads() noexcept override;
	int take_reads() noexcept override;
	bool count_change(const Item &item, std::size_t size) noexcept override;
	bool take_answer(std::uint32_t shard, std::uint32_t items, std::span<const std::byte> body) noexcept override;

	void uncount(const Item &item) noexcept;
	/* True if the key was read and is not changed: only its mark is compared. */
	[[nodiscard]] static bool only_read(const Item &item) noexcept { return item.known && !item.changed; }

	void read(const Item &item, Reading &reading) noexcept;
	Look look_at_bucket(Item &item, Reading &reading) noexcept;
	Look next_entry(Item &item, Reading &reading) noexcept;
	Look look_at_object(Item &item, Reading &reading) noexcept;
	Look again(Reading &reading, bool torn) noexcept;
	int failure(const Item &item, Look result) noexcept;

	void count_comparisons() noexcept;
	[[nodiscard]] std::uint32_t send_locks() noexcept;
	void put_lock(BodyWriter &body, const Item &item, const Reading &reading, bool reply) noexcept;
	[[nodiscard]] bool wants_reply(const Item &item) const noexcept;
	bool take_changes(std::uint32_t shard, std::span<const std::byte> items) noexcept;
	void note_change(std::uint32_t shard, std::uint64_t home, const farm::BucketChange &change) noexcept;
	[[nodiscard]] const farm::Mark &mark_of(std::uint32_t key) const noexcept;
	[[nodiscard]] bool send_comparisons() noexcept;
	void read_mark(std::uint32_t key) noexcept;
	void call_validate(std::uint32_t shard) noexcept;
	[[nodiscard]] bool marks_are_as_read() const noexcept;
	[[nodiscard]] std::uint32_t send_updates() noexcept;

	FarmClient &farm_;
	std::vector<Reading> readings_; /* of the keys */
	std::vector<Part> parts_;       /* of the shards */
	bool reads_absence_ = false;    /* true if a key was read as absent and is not changed */
};

} // namespace prism::tx
