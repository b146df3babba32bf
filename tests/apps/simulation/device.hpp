/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "inbox.hpp"
#include "list.hpp"
#include "pair.hpp"
#include "service/store_core.hpp"
#include "surroundings.hpp"

namespace simulation
{

struct DeviceOptions {
	std::uint32_t mtu = 1024;
	soft::Time ack_timeout = 1'000'000; /* ns */
	/* Turned off by controls */
	bool grace = true;            /* of the free lists */
	bool collects = true;         /* lost buffers are collected */
	bool minds_taken_back = true; /* reports how many buffers the device has taken back itself */
};

/** Memory, free lists and queues of a store on a simulated node: apps::VerbsDevice without libibverbs. */
class Device final : public prism::apps::StoreDevice
{
public:
	/**
	 * Start of the region's addresses in requests. Not the process' addresses, so that a run does not depend on
	 * where its memory lies.
	 */
	static constexpr std::uint64_t base_va = 0x1000'0000;

	Device(test::Node &node, Surroundings &around, const prism::apps::RegionLayout &layout,
		const DeviceOptions &options);

	[[nodiscard]] std::byte *memory() noexcept { return memory_.front().bytes.data(); }
	[[nodiscard]] const std::byte *memory() const noexcept { return memory_.front().bytes.data(); }
	/** Returns the bytes at @p va of the region; nullptr if not all are inside. */
	[[nodiscard]] const std::byte *at(std::uint64_t va, std::uint64_t length) const noexcept;
	[[nodiscard]] std::uint32_t key() const noexcept { return key_; }
	[[nodiscard]] std::deque<List> &free_lists() noexcept { return lists_; }
	[[nodiscard]] const std::deque<List> &free_lists() const noexcept { return lists_; }
	[[nodiscard]] bool has_reports() const noexcept { return !inbox_.empty(); }
	[[nodiscard]] std::uint64_t reports() const noexcept { return reports_; }
	[[nodiscard]] std::uint64_t drained() const noexcept { return drained_; }

	/** Creates the other end of @p pair. Its SENDs are reports. */
	std::unique_ptr<test::Endpoint> connect(Pair &pair);
	/** Posts @p chain to the store's own queue pair and waits for it. */
	bool run_on_self(const prism::Chain &chain);

	/* StoreDevice */
	[[nodiscard]] std::size_t lists() const noexcept override { return lists_.size(); }
	[[nodiscard]] std::uint32_t available(std::size_t list) const noexcept override
	{
		return lists_[list].available();
	}
	[[nodiscard]] std::uint64_t taken_back(std::size_t list) const noexcept override;
	prism::Result<void> mark(std::size_t list) override;
	bool drain(std::size_t list) override;
	void refill(std::size_t list) override { lists_[list].post_released(); }
	void spare(std::uint64_t address) noexcept override;
	std::uint64_t collect(std::size_t list) override;
	int take_reports() override;

private:
	struct alignas(64) Line {
		std::array<std::byte, 64> bytes{};
	};

	[[nodiscard]] test::ConnectOptions connect_options();
	std::optional<prism::Completion> ask_self(const prism::Chain &chain);
	void judge(const prism::FreeReport *report);

	test::Node &node_;
	Surroundings &around_;
	const DeviceOptions options_;
	std::vector<Line> memory_;
	const std::uint32_t key_;
	std::deque<List> lists_;
	Inbox inbox_;
	Pair self_;
	std::vector<std::uint64_t> word_; /* receives the answers to self_ */
	const std::uint32_t word_key_;
	std::uint64_t reports_ = 0;
	std::uint64_t drained_ = 0;
};

} // namespace simulation
