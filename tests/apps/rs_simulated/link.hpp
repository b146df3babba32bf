/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <prism/reclaim.hpp>

#include "flaw.hpp"
#include "rs/volume/session.hpp"
#include "simulation/pair.hpp"

namespace rs_sim
{

namespace soft = prism::soft;
namespace test = prism::test;
using simulation::Pair;

/** Data that a replica gives to a client that connects. */
struct Admission {
	prism::rs::ReplicaView view;
	std::uint32_t connection = 0; /* its number at this incarnation of the replica */
};

/** Changes that a Flaw makes to a client's use of its connections. */
class LinkHooks
{
public:
	virtual ~LinkHooks() = default;
	/** Returns true if the request must not be posted; the hook then produces its completion. */
	virtual bool spares(const prism::Chain::Posting &posting) = 0;
	/** Returns true if the buffer released now must not be reported. */
	[[nodiscard]] virtual bool forgets_buffer() const = 0;
};

/** Client's connection to one replica: prism::rs::Link without sockets. */
class Link final : public prism::rs::ReplicaLink
{
public:
	Link(std::unique_ptr<Pair> pair, const Admission &admission, std::uint32_t report_batch, Flaw flaw,
		LinkHooks &hooks);

	[[nodiscard]] Pair &pair() noexcept { return *pair_; }
	[[nodiscard]] std::uint32_t connection() const noexcept { return connection_; }

	/**
	 * Handles the replica's request to settle. talk() calls @p answer when all requests posted before have ended
	 * and all freed buffers are reported.
	 */
	void settle(std::function<void()> answer);

	/* ReplicaLink */
	int post(std::span<const prism::Chain::Posting> chains) noexcept override;
	void release(std::uint64_t address) noexcept override;
	void flush(std::uint64_t flush_id) noexcept override;
	void flushed() noexcept override;
	[[nodiscard]] bool flushing() const noexcept override { return flushes_ != 0; }
	int talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept override;

private:
	struct Settling {
		std::function<void()> answer;
		std::optional<std::uint64_t> before; /* last number of these requests; nothing: not asked yet */
		bool flushed = false;
	};

	void report(std::uint64_t address);
	int send(std::uint64_t wr_id, bool signaled);

	std::unique_ptr<Pair> pair_;
	const std::uint32_t connection_;
	const std::uint32_t report_batch_;
	const Flaw flaw_;
	LinkHooks &hooks_;
	prism::FreeReport batch_;
	std::vector<std::uint64_t> waiting_; /* addresses that the send queue had no room for */
	std::vector<std::uint64_t> again_;   /* for Flaw::double_report */
	std::optional<Settling> settling_;
	std::uint32_t flushes_ = 0; /* under way */
};

} // namespace rs_sim
