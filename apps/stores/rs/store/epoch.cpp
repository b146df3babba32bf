/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "epoch.hpp"

#include <algorithm>
#include <cerrno>

namespace prism::rs
{

namespace
{

constexpr std::uint64_t random_part = (std::uint64_t{1} << epoch_random_bits) - 1;

/** Returns the last epoch that a replica in @p epoch accepts from a client. */
constexpr std::uint64_t furthest(std::uint64_t epoch) noexcept
{
	const std::uint64_t left = last_epoch_counter - epoch_counter(epoch);
	return (epoch_counter(epoch) + std::min(left, longest_epoch_step)) << epoch_random_bits | random_part;
}

} // namespace

std::optional<std::uint64_t> next_epoch(std::uint64_t epoch, std::uint64_t random) noexcept
{
	if (epoch_counter(epoch) == last_epoch_counter)
		return std::nullopt;
	return (epoch_counter(epoch) + 1) << epoch_random_bits | (random & random_part);
}

int RepairTurn::take(std::uint64_t client, std::chrono::nanoseconds now) noexcept
{
	if (holder_ && holder_ != client && now < until_)
		return EBUSY;
	holder_ = client;
	until_ = now + lease_;
	return 0;
}

void RepairTurn::give_back(std::uint64_t client) noexcept
{
	if (holder_ == client)
		holder_ = 0;
}

/** Begins to serve. Nobody has been let in before, so there is no connection of another epoch. */
void EpochState::serve_as_founder() noexcept
{
	epoch_ = first_epoch;
	serving_ = true;
}

EpochState::Answer EpochState::client_connects(std::uint64_t epoch) noexcept
{
	if (!epoch_)
		return {ENOTRECOVERABLE};
	if (!serving_ || epoch <= epoch_)
		return {};
	epoch_ = std::min(epoch, furthest(epoch_));
	return {0, true};
}

EpochState::Answer EpochState::repair_connects(
	std::uint32_t number, bool is_open, std::chrono::nanoseconds now) noexcept
{
	if (serving_)
		return {EALREADY};
	if (repairer_ && is_open && now - heard_ < lease_)
		return {EBUSY};
	epoch_ = 0;
	repairer_ = number;
	heard_ = now;
	return {0, true};
}

int EpochState::repair_goes_on(std::uint32_t number, std::chrono::nanoseconds now) noexcept
{
	if (serving_ || number != repairer_)
		return EPERM;
	heard_ = now;
	return 0;
}

EpochState::Answer EpochState::begin_epoch(std::uint32_t number, std::uint64_t epoch) noexcept
{
	if (serving_ || number != repairer_)
		return {EPERM};
	if (!epoch || epoch_counter(epoch) == last_epoch_counter)
		return {EOVERFLOW};
	epoch_ = epoch;
	return {0, true};
}

int EpochState::check_end(std::uint32_t number, std::uint64_t epoch) const noexcept
{
	if (serving_ || number != repairer_)
		return EPERM;
	return epoch == epoch_ ? 0 : ESTALE;
}

} // namespace prism::rs
