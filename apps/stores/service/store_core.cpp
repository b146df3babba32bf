/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "store_core.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace prism::apps
{

namespace
{

/* A free list whose counters are in doubt is emptied for a scan if it has at most so many buffers. */
constexpr std::uint32_t most_to_drain = 1 << 14;
/* What a scan waits for arrived before it asked: at most as many reports as a receive queue holds. */
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

/** Without its queue pair a client has nothing under way. A recovery scan finds the buffers that it held. */
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

/** Returns how many buffers the device had taken back before. */
Result<std::uint64_t> StoreCore::mark(std::size_t list)
{
	std::uint64_t before = device_.taken_back(list);
	Result<void> marked = device_.mark(list);
	if (!marked && marked.error().code == EBUSY && device_.available(list) <= most_to_drain) {
		if (device_.drain(list)) {
			before = device_.taken_back(list);
			marked = device_.mark(list);
		}
		device_.refill(list); /* clients are not to miss what was taken out in vain either */
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

/** Those that arrived before this call: each take_reports() of the device handles a few. */
bool StoreCore::take_reports()
{
	for (unsigned poll = 0; poll < most_polls; poll++) {
		const int got = device_.take_reports();
		if (got <= 0)
			return got == 0;
	}
	return true;
}

/** Nothing, if a client died in an ALLOCATE after the lists were marked: the device took that buffer back itself. */
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
