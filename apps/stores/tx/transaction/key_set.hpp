/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The keys of one transaction, with what was read and what is to be written. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tx/transaction/transaction.hpp"

namespace prism::tx
{

/** Most keys of one transaction. */
constexpr std::size_t max_transaction_keys = 512;
/** Most bytes of keys and values, read and written, of one transaction. */
constexpr std::size_t max_transaction_bytes = 4 << 20;

/**
 * Keys of a transaction with copies of their values, which stay in place until clear(). Keeps its memory, so that it
 * soon allocates no more.
 */
class KeySet
{
public:
	static constexpr std::uint32_t none = ~std::uint32_t{0};

	struct Item {
		Bytes key;
		std::uint64_t hash = 0; /* apps::hash_key() with tx::hash_seed */
		std::uint32_t shard = 0;
		bool known = false;   /* it was read */
		bool there = false;   /* then: it had a value */
		bool changed = false; /* the commit changes it */
		bool erased = false;  /* then: the commit removes it */
		Bytes value;          /* as read */
		Bytes fresh;          /* as the commit writes it */
	};

	KeySet();
	void clear() noexcept;

	[[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(items_.size()); }
	[[nodiscard]] Item &operator[](std::uint32_t number) noexcept { return items_[number]; }
	[[nodiscard]] const Item &operator[](std::uint32_t number) const noexcept { return items_[number]; }

	/** Returns the number of @p key, or none. */
	[[nodiscard]] std::uint32_t find(Bytes key) const noexcept;
	/** Returns the number of @p key, and adds it if it is not there yet; none if there are too many keys. */
	std::uint32_t get(Bytes key, std::size_t shards) noexcept;
	/** Returns the value of @p key as the transaction sees it. */
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept;

	/** Returns room for a value, or null if there are too many bytes. */
	std::byte *room(std::size_t size) noexcept;
	/** Copies @p bytes to @p copy. Returns false if there are too many bytes. */
	bool keep(Bytes bytes, Bytes &copy) noexcept;

private:
	static constexpr std::size_t chunk_size = std::size_t{1} << 18;

	std::vector<Item> items_;
	std::vector<std::uint64_t> hashes_; /* of the items */
	std::vector<std::unique_ptr<std::byte[]>> chunks_;
	std::size_t chunk_ = 0; /* in use */
	std::size_t used_ = 0;  /* of it */
};

/** Seed of the hash of keys, the same in clients and servers. */
constexpr std::uint64_t hash_seed = 0x74782d6b657973;

} // namespace prism::tx
