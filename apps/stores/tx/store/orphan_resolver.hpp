/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "common/task.hpp"
#include "tx/store/lane.hpp"
#include "tx/store/resolver.hpp"

namespace prism::tx
{

/**
 * Resolves the transactions of dead clients when a shard asks for it, beside the lanes of a live client. So a cell is
 * free before another client needs it and has to wait. It also clears the places in the logs that the client's own
 * lanes have left, when all shards are connected. One thread.
 */
class OrphanResolver
{
public:
	/**
	 * Called when all that @p client had prepared on @p shard is resolved. @p error is 0, or the reason why it
	 * cannot be resolved.
	 */
	using Ended = std::function<void(std::size_t shard, std::uint64_t client, int error)>;

	/** @p lane: a number that no lane has. @p memory: registered, under @p lkey. */
	OrphanResolver(ClientState &client, Carrier &carrier, std::uint32_t lane, ResolverMemory &memory,
		std::uint32_t lkey, Ended ended);
	OrphanResolver(const OrphanResolver &) = delete;
	OrphanResolver &operator=(const OrphanResolver &) = delete;

	/**
	 * Takes the order of @p shard to resolve what client number @p client, which has died, has prepared there.
	 * Ignores impossible numbers.
	 */
	void take(std::size_t shard, std::uint64_t client);

	/** Begins to clear the places that lanes have left, if that is possible now. */
	void look_after_places() { go_on(); }

	/* For the carrier: as PrismTransaction's functions */

	[[nodiscard]] Request &request() noexcept { return resolver_.request(); }
	void request_ended(const Completion &completion) noexcept;
	[[nodiscard]] std::uint64_t holding() const noexcept;

private:
	struct Orphan {
		std::size_t shard = 0;
		std::uint64_t client = 0;
		bool operator==(const Orphan &) const = default;
	};

	void go_on();
	[[nodiscard]] bool can_clear() const noexcept;
	void begin_place() noexcept;
	apps::Task<void> clear_place();
	apps::Task<void> end_all();

	ClientState &client_;
	Carrier &carrier_;
	const Ended ended_;
	Waiter waiter_;
	Requests requests_;
	Resolver resolver_;
	std::deque<Orphan> orphans_; /* the first one is being worked on */
	std::optional<apps::Task<void>> task_;
	std::uint64_t serial_ = 0; /* of the place being worked on */
};

} // namespace prism::tx
