/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "recovery.hpp"

#include <algorithm>

namespace prism::apps
{

int RecoveryScan::begin(std::chrono::nanoseconds now)
{
	if (const int error = host_.note_handed_out())
		return error;
	ask(now);
	return 0;
}

void RecoveryScan::ask(std::chrono::nanoseconds now)
{
	deadline_ = now + options_.patience;
	host_.ask_to_settle();
}

RecoveryScan::Stage RecoveryScan::go_on(std::chrono::nanoseconds now)
{
	if (stage_ == Stage::scanning) {
		scan_some(now);
		return stage_;
	}
	if (host_.settled()) {
		if (stage_ == Stage::settling) {
			stage_ = Stage::scanning;
		} else if (host_.take_reports()) { /* the last of them are in the receive queue */
			const std::optional<std::uint64_t> recovered = host_.collect();
			recovered_ = recovered.value_or(0);
			stage_ = recovered ? Stage::ended : Stage::put_off;
		}
	} else if (now > deadline_) {
		stage_ = Stage::put_off;
	}
	return stage_;
}

void RecoveryScan::scan_some(std::chrono::nanoseconds now)
{
	const std::uint64_t count = host_.slots();
	const std::uint64_t end = std::min(next_slot_ + options_.slots_a_step, count);
	while (next_slot_ < end)
		host_.look_at(next_slot_++);
	if (end < count)
		return;
	stage_ = Stage::reporting;
	ask(now);
}

} // namespace prism::apps
