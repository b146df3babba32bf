/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The world of the reference on a kernel device: the responder's memory, regions, free lists, and counters. */
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend.hpp"
#include "device.hpp"

namespace prism::conformance
{

unsigned access_of(const reference::Rights &rights);

/** Fills in a work request except for its identity and its sges. @p result: room for the address of an ALLOCATE. */
void to_work_request(
	prismdv_send_wr &wr, const reference::Request &request, const WireNames &names, const ibv_sge &result);

class DeviceWorld
{
public:
	explicit DeviceWorld(const Device &device);

	/** Raises the lists' capacities to those that the device chose. */
	void build(reference::World &world);
	void poke(std::uint64_t va, const Bytes &bytes) const;
	void set_live(int region, bool live);
	[[nodiscard]] bool post(int list, const reference::Entry &entry) const;
	[[nodiscard]] std::span<const std::uint8_t> memory(std::size_t arena) const
	{
		return {arenas_[arena].pages.data(), arenas_[arena].pages.size()};
	}
	[[nodiscard]] ListState list_state(int list) const;
	[[nodiscard]] std::vector<reference::Rejected> take_rejected(int list) const;
	[[nodiscard]] std::uint32_t key(int region) const;
	[[nodiscard]] std::uint32_t number(int list) const;

private:
	struct Memory {
		std::uint64_t va;
		Pages pages;
	};

	void add_region(std::size_t index);

	const Device &device_;
	Owned<ibv_pd> foreign_;
	std::vector<Memory> arenas_;
	std::vector<reference::Region> regions_;
	std::vector<Owned<ibv_mr>> mrs_;
	std::vector<std::uint32_t> keys_; /* includes deregistered ones */
	std::vector<Owned<ibv_srq>> lists_;
};

/** Finds the reason of the latest refusal in the device's counters. */
class FaultCounters
{
public:
	explicit FaultCounters(const Device &device);

	/** Returns the reason whose counter grew by one since the last call. @p complaint gets any other change. */
	reference::Reason since(std::string &complaint);

private:
	const Device &device_;
	std::vector<std::uint64_t> before_;
};

} // namespace prism::conformance
