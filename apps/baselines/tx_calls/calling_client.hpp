/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A client with a link to each shard, over which its lanes call and READ. A lane has at most one call under way to each
 * shard, and a limited number of READs; it can wait until at most a given number of calls and READs is left.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rpc/two_sided/link.hpp"
#include "service/server_address.hpp"
#include "tx/transaction/client.hpp"

namespace prism::tx
{

class CallingTransaction;

struct CallingClientOptions {
	std::uint32_t depth = 1;                                       /**< transactions under way at once */
	std::chrono::milliseconds timeout = std::chrono::seconds(5);   /**< of the set-up */
	std::chrono::milliseconds patience = std::chrono::seconds(10); /**< to wait for a shard that does not answer */
	RetryOptions retry;
};

class CallingClient : public TransactionClient
{
public:
	~CallingClient() override;

	[[nodiscard]] std::size_t shards() const noexcept { return ports_.size(); }

	/* For the lanes' transactions --------------------------------------------------------------------------------
	 */

	[[nodiscard]] const apps::Hello &limits(std::uint32_t shard) const noexcept
	{
		return ports_[shard]->link->server();
	}
	/** Returns the memory for the lane's next request to @p shard, to which it has no call under way. */
	[[nodiscard]] std::span<std::byte> request(std::uint32_t lane, std::uint32_t shard) const noexcept
	{
		return ports_[shard]->link->request(lane);
	}
	/** Calls with the first @p size bytes of request(). If the link is broken, this becomes the lane's error. */
	void call(std::uint32_t lane, std::uint32_t shard, std::size_t size) noexcept;
	/**
	 * READs into read_memory(). @p reader is 0 to the number of readers of a lane less 1, and has no other READ
	 * under way.
	 */
	void read(std::uint32_t lane, std::uint32_t shard, std::uint32_t reader, RemoteAddress from,
		std::uint32_t length) noexcept;
	[[nodiscard]] const std::byte *read_memory(
		std::uint32_t lane, std::uint32_t shard, std::uint32_t reader) const noexcept
	{
		return ports_[shard]->link->read_memory(read_slot(lane, reader));
	}
	/** co_await at once: waits until at most @p left calls and READs of the lane are under way. */
	[[nodiscard]] Event settled(std::uint32_t lane, std::uint32_t left = 0) noexcept;
	/** Returns the first errno of the lane's calls and READs since the last call of this, or 0. */
	[[nodiscard]] int take_error(std::uint32_t lane) noexcept { return std::exchange(lanes_[lane].error, 0); }
	/** Returns the errno that broke the link to @p shard, or 0. */
	[[nodiscard]] int broken(std::uint32_t shard) const noexcept { return ports_[shard]->link->broken(); }
	/** Breaks the link to a shard that violates the protocol. */
	void distrust(std::uint32_t shard) noexcept { ports_[shard]->link->break_off(EBADMSG); }

protected:
	using Links = std::vector<std::unique_ptr<rpc::TwoSidedLink>>;
	/** See rpc::ClientLink::Measure; measures shard @p number. */
	using Measure = std::function<Result<rpc::SlotSizes>(
		std::size_t number, const ConnectionRecord &record, const apps::Hello &hello)>;

	/** Errors: EINVAL (no shards, too many, depth), those of rpc::TwoSidedLink::connect(). */
	static Result<Links> connect_all(const Context &context, std::span<const apps::ServerAddress> shards,
		const apps::Hello &wanted, const CallingClientOptions &options, std::uint32_t readers_a_lane,
		const Measure &measure);
	CallingClient(Links links, const CallingClientOptions &options, std::uint32_t readers_a_lane);

	/** Ends all that is under way where it is, and polls for a while for what was posted. For destructors. */
	void finish() noexcept;

	/** Adds @p transaction for the next lane. */
	void add(std::unique_ptr<CallingTransaction> transaction);

	/** Returns EBADMSG if the shard that is to be number @p wanted of @p all says that it is another one. */
	static Result<void> check_place(std::uint32_t shard, std::uint32_t shards, std::size_t wanted, std::size_t all);

private:
	[[nodiscard]] Transaction &transaction(std::uint32_t lane) noexcept override;
	void drive() noexcept override;

	struct Lane {
		std::uint32_t under_way = 0;
		std::uint32_t left = 0; /* wait until at most so many are under way */
		bool waits = false;
		int error = 0;
	};
	struct Port final : rpc::ClientLink::Listener {
		Port(CallingClient &owner, std::uint32_t number, std::unique_ptr<rpc::TwoSidedLink> connected,
			std::size_t lanes);
		void on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept override;
		void on_read(std::uint32_t slot) noexcept override;

		CallingClient &client;
		const std::uint32_t shard;
		std::unique_ptr<rpc::TwoSidedLink> link;
		std::uint32_t under_way = 0;
		std::vector<std::uint32_t> of_lane; /* calls and READs under way, by lane */
	};

	[[nodiscard]] std::uint32_t read_slot(std::uint32_t lane, std::uint32_t reader) const noexcept
	{
		return static_cast<std::uint32_t>(depth()) + lane * readers_ + reader;
	}
	bool begin(std::uint32_t lane, Port &port) noexcept;
	void end(std::uint32_t lane, Port &port, std::uint32_t count) noexcept;
	void fail(Port &port) noexcept;

	const std::uint32_t readers_; /* of each lane at each shard */
	std::vector<std::unique_ptr<Port>> ports_;
	std::vector<Lane> lanes_;
	std::vector<std::uint32_t> ready_; /* lanes to resume */
	std::vector<std::unique_ptr<CallingTransaction>> transactions_;
};

} // namespace prism::tx
