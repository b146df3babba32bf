/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <prism/reclaim.hpp>

#include "flaw.hpp"
#include "rs/volume/quorum.hpp"
#include "simulation/pair.hpp"

namespace rs_sim
{

namespace soft = prism::soft;
namespace test = prism::test;
using simulation::Pair;

/** What a replica tells a client that connects. */
struct Admission {
	prism::rs::ReplicaView view;
	std::uint32_t connection = 0; /* its number at this incarnation of the replica */
};

/** A client's connection to one replica: prism::rs::Link, without sockets. */
class Link
{
public:
	/** wr_id of reports; everything else is a lane's number. */
	static constexpr std::uint64_t flush_id = ~std::uint64_t{0};

	Link(std::unique_ptr<Pair> pair, const Admission &admission, std::uint32_t report_batch, Flaw flaw);

	[[nodiscard]] Pair &pair() noexcept { return *pair_; }
	[[nodiscard]] const prism::rs::ReplicaView &view() const noexcept { return view_; }
	[[nodiscard]] std::uint32_t connection() const noexcept { return connection_; }
	/** A repairer has told its replica an epoch. */
	void set_epoch(std::uint64_t epoch) noexcept { view_.epoch = epoch; }

	void release(std::uint64_t address);
	void flush();
	void flushed() noexcept;

	/** The replica asks; @p answer is called when all requests up to @p newest have ended and all is reported. */
	void settle(std::uint64_t newest, std::function<void()> answer);
	/** Goes on with that. @p oldest: number of the oldest request that is under way. */
	void talk(std::uint64_t oldest);

private:
	struct Settling {
		std::function<void()> answer;
		std::uint64_t before = 0;
		bool flushed = false;
	};

	void report(std::uint64_t address);
	int send(std::uint64_t wr_id, bool signaled);

	std::unique_ptr<Pair> pair_;
	prism::rs::ReplicaView view_;
	const std::uint32_t connection_;
	const std::uint32_t report_batch_;
	const Flaw flaw_;
	prism::FreeReport batch_;
	std::vector<std::uint64_t> waiting_; /* addresses that the send queue had no room for */
	std::vector<std::uint64_t> again_;   /* of Flaw::double_report */
	std::optional<Settling> settling_;
	std::uint32_t flushes_ = 0; /* under way */
};

} // namespace rs_sim
