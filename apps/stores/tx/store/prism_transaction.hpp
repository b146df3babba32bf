/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Transactions of PRISM-TX on the client's side, over any carrier of requests: queue pairs, or the simulator.
 * docs/prism-tx.md has the assumptions, and why they are serializable; tests/models/tx.pml checks it.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tx/store/commit.hpp"
#include "tx/store/resolver.hpp"

namespace prism::tx
{

/** A transaction on a lane: its execution, and the commit of its store's kind. */
class PrismTransaction final : public Transaction
{
public:
	/** Returns the bytes of registered memory that a lane needs, aligned to 64, beside those for objects. */
	static std::size_t memory_size() noexcept;
	/** As Execution::first_rooms(). */
	static std::size_t first_rooms(std::size_t room) noexcept { return Execution::first_rooms(room); }

	/**
	 * @p client: knows its store. @p place: the lane's place in the logs. @p memory: memory_size() bytes, cleared,
	 * under @p lkey. @p room: bytes of the largest object.
	 */
	PrismTransaction(ClientState &client, Carrier &carrier, Waiter &waiter, std::uint32_t lane, std::uint32_t place,
		std::byte *memory, std::size_t room, std::uint32_t lkey);

	using Transaction::fetch;
	apps::Task<int> fetch(std::span<const Bytes> keys) override;
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept override { return execution_.value(key); }
	int write(Bytes key, Bytes value) noexcept override { return execution_.change(key, value); }
	int erase(Bytes key) noexcept override { return execution_.change(key, std::nullopt); }

	apps::Task<void> begin() override;
	apps::Task<Outcome> commit() override;
	apps::Task<void> roll_back() override;
	void forget() noexcept override { execution_.forget(); }
	[[nodiscard]] int error() const noexcept override { return commit_->error(); }
	[[nodiscard]] Stamp stamp() const noexcept override { return commit_->timestamp().stamp(); }
	[[nodiscard]] std::uint32_t round_trips() const noexcept override { return lane_.round_trips; }

	/** As find_place(). */
	[[nodiscard]] int place_of(Bytes key, KeyPlace &place) const noexcept
	{
		return find_place(lane_.client.store, lane_.carrier, key, place);
	}

	/** Returns the lane's place in the logs of all shards. */
	[[nodiscard]] std::uint32_t place() const noexcept { return lane_.place; }
	/** Makes the next commit take another place in the logs: others need the log in this one. */
	void leave_place() noexcept { lane_.retired = true; }

	/* For the carrier */

	/* Numbers of requests: two of each access, the commit's own, the resolver's, then another of each access. */
	static constexpr std::uint16_t decision_number = 2 * max_accesses;
	static constexpr std::uint16_t resolver_number = decision_number + 1;
	static constexpr std::uint16_t first_object_ahead = resolver_number + 1;
	static constexpr std::uint16_t request_numbers = first_object_ahead + max_accesses;
	/** Returns the request of this number; null if there is none. */
	[[nodiscard]] Request *request(std::uint16_t number) noexcept;
	/** Ends @p request. Returns true if the lane must be resumed. */
	bool ended(Request &request, const Completion &completion) noexcept;
	/**
	 * Returns the serial number of the commit that may have buffers which are in no slot; the greatest number if
	 * there is none.
	 */
	[[nodiscard]] std::uint64_t holding() const noexcept;

	[[nodiscard]] Resolver &resolver() noexcept { return resolver_; }
	[[nodiscard]] const TransactionFigures &figures() const noexcept { return lane_.figures; }

private:
	Lane lane_;
	Execution execution_;
	Resolver resolver_;
	std::unique_ptr<Commit> commit_;
	std::uint64_t serial_ = 0; /* of the commit */
	bool committing_ = false;
};

} // namespace prism::tx
