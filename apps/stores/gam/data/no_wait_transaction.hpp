/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gam/api/session.hpp"
#include "gam/data/no_wait_client.hpp"
#include "gam/data/records.hpp"
#include "tx/transaction/key_set.hpp"
#include "tx/transaction/transaction.hpp"

namespace prism::gam
{

/**
 * The transaction of a lane of a NoWaitClient. Its session counts as a thread, so that lanes' locks exclude each other.
 */
class NoWaitTransaction final : public tx::Transaction
{
public:
	NoWaitTransaction(std::unique_ptr<Session> session, Records records, const NoWaitClientOptions &options);

	using Transaction::fetch;
	apps::Task<int> fetch(std::span<const tx::Bytes> keys) override;
	[[nodiscard]] std::optional<tx::Bytes> value(tx::Bytes key) const noexcept override { return keys_.value(key); }
	int write(tx::Bytes key, tx::Bytes value) noexcept override { return change(key, value, false); }
	int erase(tx::Bytes key) noexcept override { return change(key, {}, true); }

	apps::Task<void> begin() override;
	apps::Task<tx::Outcome> commit() override;
	apps::Task<void> roll_back() override;
	[[nodiscard]] int error() const noexcept override { return error_; }
	/** Unknown: operations that waited for the network are not counted apart. */
	[[nodiscard]] std::uint32_t round_trips() const noexcept override { return 0; }

private:
	enum class Lock : std::uint8_t {
		none,
		shared,
		exclusive
	};
	/** The record of a key. */
	struct Held {
		Address record;
		std::uint32_t mark = 0;   /**< Records::mark_of() the key */
		std::uint32_t losses = 0; /**< Node::losses() before it was found */
		std::uint32_t version = 0;
		std::uint32_t tail = 0; /**< of the value that is there */
		Lock lock = Lock::none;
		bool is_chosen = false;
	};

	struct Changes {
		int error;
		bool any; /* true if a key has been changed, whatever came then */
	};

	[[nodiscard]] std::uint32_t get(tx::Bytes key) noexcept;
	int choose_unknown(std::span<const tx::Bytes> keys) noexcept;
	int take_value(std::uint32_t number) noexcept;
	int change(tx::Bytes key, tx::Bytes value, bool erased) noexcept;
	int find_records() noexcept;
	int lock_chosen(Lock wanted) noexcept;
	int lock_changed() noexcept;
	Changes make_changes() noexcept;
	int write_tails() noexcept;
	[[nodiscard]] bool has_lost_a_lock() const noexcept;
	int unlock(Held &held) noexcept;
	int unlock_all() noexcept;
	tx::Outcome refuse(int error) noexcept;

	const std::unique_ptr<Session> session_;
	Records records_;
	const Lock fetch_lock_;
	const bool locks_;
	tx::KeySet keys_;
	std::vector<Held> held_;            /* one for each key */
	std::vector<std::uint32_t> chosen_; /* keys to be locked together */
	std::vector<Address> places_;       /* addresses of their records */
	int fetch_error_ = 0;
	int error_ = 0;
};

} // namespace prism::gam
