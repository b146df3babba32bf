/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/pace.hpp"

#include <boost/random/exponential_distribution.hpp>

namespace prism::bench
{

Pace::Pace(const PaceOptions &options, Random &random) : plan(options), due(options.offset)
{
	left = plan.count ? plan.count : std::numeric_limits<std::uint64_t>::max();
	if (plan.time)
		end = plan.start + plan.time;
	if (is_open() && plan.arrivals == Arrivals::poisson) {
		due = 0;
		advance(random);
	}
}

std::optional<std::uint64_t> Pace::take(std::uint64_t now, Random &random) noexcept
{
	if (over(now))
		return {};
	if (!is_open()) {
		left--;
		return now;
	}
	const std::uint64_t moment = due_at();
	if (moment > now)
		return {};
	left--;
	advance(random);
	return moment;
}

void Pace::add_backlog(LatencyHistogram &backlog, Random &random)
{
	if (!is_open() || !is_timed())
		return;
	for (; left && due_at() < end; left--) {
		backlog.add(end - due_at());
		advance(random);
	}
}

void Pace::advance(Random &random) noexcept
{
	if (plan.arrivals == Arrivals::even)
		due += plan.interval;
	else
		due += boost::random::exponential_distribution<double>(1 / plan.interval)(random);
}

} // namespace prism::bench
