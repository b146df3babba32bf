/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "store_core.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::apps
{

namespace
{

/* Most buffers of a free list that is emptied for a scan if its counters are in doubt. */
constexpr std::uint32_t most_to_drain = 1 << 14;
/*
 * Most polls for reports: those that a scan waits for arrived before it asked, at most as many as a receive queue
 * holds.
 */
constexpr unsigned most_polls = 1024;

} // namespace

StoreCore::StoreCore(StoreDevice &device, RegionLayout layout, const RecoveryOptions &recovery)
	: device_(device), layout_(std::move(layout)), recovery_(*this, recovery)
{
	for (std::uint32_t index = layout_.connections(); index-- > 0;)
		free_scratches_.push_back(index);
}

/* Connections ---------------------------------------------------------------------------------------------------- */

std::optional<StoreCore::ConnectionPlace> StoreCore::next_place() const
{
	if (free_scratches_.empty())
		return std::nullopt;
	return ConnectionPlace{next_number_, layout_.scratch(free_scratches_.back())};
}

void StoreCore::admit()
{
	connections_[next_number_++] = {free_scratches_.back(), false};
	free_scratches_.pop_back();
}

void StoreCore::enter(std::uint32_t number)
{
	const auto found = connections_.find(number);
	if (found == connections_.end() || found->second.entered)
		return;
	found->second.entered = true;
	recovery_.entered(number);
}

/**
 * Ends a connection. Without its queue pair a client has nothing under way. A recovery scan finds the buffers that it
 * held.
 */
void StoreCore::leave(std::uint32_t number)
{
	const auto found = connections_.find(number);
	if (found == connections_.end())
		return;
	free_scratches_.push_back(found->second.scratch);
	connections_.erase(found);
	recovery_.left(number);
}

/* Lost buffers --------------------------------------------------------------------------------------------------- */

bool StoreCore::can_ask_all() const
{
	return std::ranges::all_of(connections_, [](const auto &connection) { return connection.second.entered; });
}

/** Marks the list. Returns the number of buffers that the device had taken back before. */
Result<std::uint64_t> StoreCore::mark(std::size_t list)
{
	std::uint64_t before = device_.taken_back(list);
	Result<void> marked = device_.mark(list);
	if (!marked && marked.error().code == EBUSY && device_.available(list) <= most_to_drain) {
		if (device_.drain(list)) {
			before = device_.taken_back(list);
			marked = device_.mark(list);
		}
		device_.refill(list); /* also after a failure, so that clients do not miss the drained buffers */
	}
	if (!marked)
		return marked.error();
	return before;
}

Result<void> StoreCore::note_handed_out()
{
	taken_back_.clear();
	for (std::size_t list = 0; list < device_.lists(); list++) {
		const Result<std::uint64_t> before = mark(list);
		if (!before)
			return before.error();
		taken_back_.push_back(*before);
	}
	return {};
}

/** Takes all reports that arrived before this call: each take_reports() of the device handles a few. */
bool StoreCore::take_reports()
{
	for (unsigned poll = 0; poll < most_polls; poll++) {
		const int got = device_.take_reports();
		if (got <= 0)
			return got == 0;
	}
	return true;
}

/**
 * Returns nothing if a client died in an ALLOCATE after the lists were marked: the device took that buffer back itself.
 */
std::optional<std::uint64_t> StoreCore::collect()
{
	for (std::size_t list = 0; list < device_.lists(); list++) {
		if (device_.taken_back(list) != taken_back_[list])
			return std::nullopt;
	}
	std::uint64_t recovered = 0;
	for (std::size_t list = 0; list < device_.lists(); list++)
		recovered += device_.collect(list);
	return recovered;
}

} // namespace prism::apps
