/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/pace.hpp"

#include <boost/random/exponential_distribution.hpp>

namespace prism::bench
{

Pace::Pace(const PaceOptions &options, Random &random) : plan_(options), due_(options.offset)
{
	left_ = plan_.count ? plan_.count : std::numeric_limits<std::uint64_t>::max();
	if (plan_.time)
		end_ = plan_.start + plan_.time;
	if (is_open() && plan_.arrivals == Arrivals::poisson) {
		due_ = 0;
		advance(random);
	}
}

std::optional<std::uint64_t> Pace::take(std::uint64_t now, Random &random) noexcept
{
	if (over(now))
		return {};
	if (!is_open()) {
		left_--;
		return now;
	}
	const std::uint64_t moment = due_at();
	if (moment > now)
		return {};
	left_--;
	advance(random);
	return moment;
}

void Pace::add_backlog(LatencyHistogram &backlog, Random &random)
{
	if (!is_open() || !is_timed())
		return;
	for (; left_ && due_at() < end_; left_--) {
		backlog.add(end_ - due_at());
		advance(random);
	}
}

void Pace::advance(Random &random) noexcept
{
	if (plan_.arrivals == Arrivals::even)
		due_ += plan_.interval;
	else
		due_ += boost::random::exponential_distribution<double>(1 / plan_.interval)(random);
}

} // namespace prism::bench
