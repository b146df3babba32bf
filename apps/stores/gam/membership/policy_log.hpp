/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "gam/coherence/block_log.hpp"
#include "gam/membership/log_keeper.hpp"
#include "gam/membership/node_log.hpp"

namespace prism::gam
{

/** Writes the reports of a node's protocol into its log, by the node's policy. Any thread. */
class PolicyLog final : public BlockLog
{
public:
	/** @p log and @p keeper, which may be null, outlive it. */
	PolicyLog(NodeLog &log, bool durable, LogKeeper *keeper = nullptr) noexcept
		: log_(log), durable_(durable), keeper_(keeper)
	{
	}

	/** Appends nothing from now on: of an expelled node, whose memory is no longer what others go by. */
	void seal() noexcept { sealed_.store(true); }

	/** Notes that @p node is in the life @p incarnation, with which its own log, if it keeps one, has begun. */
	void set_life(NodeId node, std::uint64_t incarnation) noexcept { lives_[node].store(incarnation); }

	int wrote(Address block, std::uint64_t counter, Block data) noexcept override
	{
		const std::uint64_t packed = DataCounter::pack(life_of(block.home()), counter);
		return append({EntryKind::data, no_node, block, packed, 0, 0, data});
	}
	int transfers(Address block, std::uint64_t counter, NodeId owner, bool owner_logs) noexcept override
	{
		return append({EntryKind::transfer, owner, block, counter, 0, 0, {}, owner_logs, life_of(owner)});
	}
	int allocated(Address block, std::uint64_t bytes, std::uint32_t objects) noexcept override
	{
		return append({EntryKind::allocation, no_node, block, bytes, 0, 0, {}, false, 0, objects});
	}
	[[nodiscard]] bool durable() const noexcept override { return durable_; }
	[[nodiscard]] bool has_failed() const noexcept override { return log_.cause() != 0; }
	[[nodiscard]] std::uint64_t position() const noexcept override { return log_.written(); }
	[[nodiscard]] bool is_settled(std::uint64_t position, int &error) noexcept override
	{
		if (log_.committed() >= position)
			return true;
		error = log_.error();
		if (!error && keeper_)
			keeper_->want(position);
		return error;
	}

private:
	[[nodiscard]] std::uint64_t life_of(NodeId node) const noexcept
	{
		return node < max_nodes ? lives_[node].load() : 0;
	}
	int append(const Entry &entry) noexcept { return sealed_.load() ? EROFS : log_.append(entry); }

	NodeLog &log_;
	const bool durable_;
	LogKeeper *const keeper_;
	std::atomic<bool> sealed_{false};
	std::array<std::atomic<std::uint64_t>, max_nodes> lives_{}; /* the last known; 0: none, or this node */
};

} // namespace prism::gam
