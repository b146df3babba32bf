/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "locking_client.hpp"
#include "message.hpp"

#include "tx_calls/calling_transaction.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prism::tx
{

/** The transaction of a lane of a LockingClient. */
class LockingTransaction final : public CallingTransaction
{
public:
	LockingTransaction(LockingClient &client, std::uint32_t lane);

	apps::Task<Outcome> commit() override;
	apps::Task<void> roll_back() override;

private:
	/** State of the transaction at a shard. */
	struct Part {
		std::uint32_t change_size = 0; /* bytes of the COMMIT of all changes, at most */
		std::uint32_t held = 0;        /* locks; the next lock gets this position */
		std::uint32_t asked = 0;       /* keys of the FETCH under way */
	};

	[[nodiscard]] std::size_t room(std::uint32_t shard) const noexcept
	{
		return locking_.message_sizes_[shard] - rpc::message_header_size;
	}
	void forget_part(std::uint32_t shard) noexcept override;
	void send_reads() noexcept override;
	int take_reads() noexcept override;
	bool count_change(const Item &item, std::size_t size) noexcept override;
	bool take_answer(std::uint32_t shard, std::uint32_t items, std::span<const std::byte> body) noexcept override;

	void send_fetch(std::uint32_t shard) noexcept;
	bool take_values(std::uint32_t shard, std::uint32_t number, std::span<const std::byte> items) noexcept;
	[[nodiscard]] std::uint32_t changed_shards() const noexcept;
	void send_changes(locking::Call kind) noexcept;
	void count_prepared() noexcept;

	LockingClient &locking_;
	std::vector<std::uint32_t> positions_; /* of the keys' locks */
	std::vector<Part> parts_;              /* of the shards */
	bool too_large_ = false;
};

} // namespace prism::tx
