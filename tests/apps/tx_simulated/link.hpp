/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <prism/reclaim.hpp>

#include "simulation/pair.hpp"
#include "tx/store/requests.hpp"

namespace tx_sim
{

namespace soft = prism::soft;
namespace test = prism::test;
using simulation::Pair;

/** Data that a shard gives to a client that connects: prism::tx::Introduction, and its connection record. */
struct Admission {
	struct List {
		std::uint32_t number = 0;
		prism::RemoteRegion buffers;
	};

	prism::tx::ShardView view;
	prism::tx::StoreView store;
	std::vector<List> lists;
	std::uint32_t connection = 0; /* number of the connection */
	std::uint32_t client = 0;
	std::uint32_t incarnation = 0;
	bool used = false; /* the client's number was another client's */
};

/** Client's connection to one shard: prism::apps::ServerLink without sockets. */
class Link
{
public:
	/** wr_id of reports. */
	static constexpr std::uint64_t flush_id = ~std::uint64_t{0};

	Link(std::unique_ptr<Pair> pair, const Admission &admission, std::uint32_t report_batch);

	[[nodiscard]] Pair &pair() noexcept { return *pair_; }
	[[nodiscard]] const prism::tx::ShardView &view() const noexcept { return view_; }
	[[nodiscard]] std::uint32_t connection() const noexcept { return connection_; }

	void release(std::uint64_t address);
	void flush();
	void flushed() noexcept { flushes_--; }

	/**
	 * Handles the shard's request to settle; @p answer is called when all commits up to @p newest have ended and
	 * all freed buffers are reported.
	 */
	void settle(std::uint64_t newest, std::function<void()> answer);
	/** Goes on settling. @p oldest: number of the oldest commit under way. */
	void talk(std::uint64_t oldest);

private:
	struct List {
		prism::RemoteRegion buffers;
		prism::FreeReport batch;
	};
	struct Settling {
		std::function<void()> answer;
		std::uint64_t before = 0;
		std::size_t flushed = 0;
	};

	int send(List &list, std::uint64_t wr_id, bool signaled);

	std::unique_ptr<Pair> pair_;
	const prism::tx::ShardView view_;
	const std::uint32_t connection_;
	const std::uint32_t report_batch_;
	std::vector<List> lists_;
	std::vector<std::uint64_t> waiting_; /* addresses that the send queue had no room for */
	std::optional<Settling> settling_;
	std::uint32_t flushes_ = 0; /* under way */
};

} // namespace tx_sim
