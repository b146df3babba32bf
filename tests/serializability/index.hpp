/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A history with numbered keys and values, and its transactions that took effect. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "history.hpp"

namespace prism::serializability
{

/** Result of one write or append to its key. */
struct Version {
	Value value = absent;
	std::uint32_t key = 0; /**< its number */
	std::uint32_t transaction = 0;
	bool last = true; /**< its transaction did not change the key again */
};

class Index
{
public:
	/** Version numbers with a special meaning. */
	static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max(); /**< never written */
	static constexpr std::uint32_t initial = nobody - 1;                               /**< absent or empty */

	/** Limit of the numbers of keys. */
	static constexpr std::uint32_t most_keys = 1U << 27;

	/**
	 * Makes the index; the history must outlive it. Errors: EINVAL: a value that was written to a key twice;
	 * EOVERFLOW: most_keys or more.
	 */
	static Result<Index> make(const History &history);

	[[nodiscard]] const History &history() const noexcept { return *history_; }
	[[nodiscard]] bool lists() const noexcept { return history_->kind() == HistoryKind::lists; }
	[[nodiscard]] const Transaction &transaction(std::uint32_t index) const noexcept
	{
		return history_->transactions()[index];
	}

	[[nodiscard]] std::uint32_t keys() const noexcept { return static_cast<std::uint32_t>(key_names_.size()); }
	[[nodiscard]] std::uint64_t name_of_key(std::uint32_t key) const noexcept { return key_names_[key]; }
	[[nodiscard]] std::span<const Version> versions() const noexcept { return versions_; }

	/** Returns the key by index of the operation in the history. */
	[[nodiscard]] std::uint32_t key_of(std::size_t operation) const noexcept { return operation_keys_[operation]; }
	/**
	 * Returns the version that an operation wrote or read, initial or nobody. Of a list's read: its last element.
	 * Of an erase: initial.
	 */
	[[nodiscard]] std::uint32_t version_of(std::size_t operation) const noexcept
	{
		return operation_versions_[operation];
	}
	/** Returns the version with @p value of key @p key, or nobody. */
	[[nodiscard]] std::uint32_t find(std::uint32_t key, Value value) const noexcept;

	/** Returns true if it is committed, or of unknown outcome and seen by a visible one. */
	[[nodiscard]] bool visible(std::uint32_t transaction) const noexcept { return visible_[transaction]; }
	[[nodiscard]] std::uint64_t seen_unknown() const noexcept { return seen_unknown_; }

	/** Returns the longest list that a visible transaction has read of key @p key. */
	[[nodiscard]] std::span<const Value> longest(std::uint32_t key) const noexcept;
	/** Returns the versions of its elements, without nobody. */
	[[nodiscard]] std::span<const std::uint32_t> order(std::uint32_t key) const noexcept { return orders_[key]; }

private:
	explicit Index(const History &history) : history_(&history) {}
	void number_keys();
	Result<void> number_versions();
	void find_reads();
	void find_visible();
	void see(std::uint32_t version, std::vector<std::uint32_t> &to_look_at);
	void look_at(std::uint32_t transaction, std::vector<std::uint32_t> &to_look_at);

	const History *history_;
	std::vector<std::uint64_t> key_names_;
	std::vector<std::uint32_t> operation_keys_;
	std::vector<std::uint32_t> operation_versions_;
	std::vector<Version> versions_;            /* by key and value */
	std::vector<std::uint32_t> first_version_; /* by key, and the end */
	std::vector<bool> visible_;
	std::uint64_t seen_unknown_ = 0;
	std::vector<std::uint32_t> longest_; /* operation by key, or nobody */
	std::vector<std::vector<std::uint32_t>> orders_;
};

} // namespace prism::serializability
