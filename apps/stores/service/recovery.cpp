/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "recovery.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

namespace prism::apps
{

void BufferRecovery::left(std::uint32_t client)
{
	if (clients_.erase(client))
		want();
}

void BufferRecovery::settled(std::uint32_t client, std::uint64_t value)
{
	const auto found = clients_.find(client);
	if (found != clients_.end() && found->second && found->second->value == value)
		found->second.reset();
}

int BufferRecovery::request(std::chrono::nanoseconds now)
{
	if (stage_ != Stage::none)
		return EBUSY;
	want();
	return host_.can_ask_all() ? begin(now) : 0;
}

void BufferRecovery::go_on(std::chrono::nanoseconds now)
{
	cut_off_silent(now);
	switch (stage_) {
	case Stage::none:
		if (wanted_ && now >= not_before_ && host_.can_ask_all())
			(void)begin(now);
		break;
	case Stage::settling:
		if (all_settled())
			stage_ = Stage::scanning;
		break;
	case Stage::scanning:
		scan_some(now);
		break;
	case Stage::reporting:
		if (all_settled() && host_.take_reports()) /* the last reports are in the receive queue */
			finish(now);
		break;
	}
}

int BufferRecovery::begin(std::chrono::nanoseconds now)
{
	if (const Result<void> noted = host_.note_handed_out(); !noted) {
		try_again(noted.error().message, now);
		return noted.error().code;
	}
	wanted_ = false;
	next_slot_ = 0;
	began_ = now;
	stage_ = Stage::settling;
	ask(now);
	return 0;
}

/** Asks all clients to settle. Clients that connect later are not asked, as they have nothing under way from before. */
void BufferRecovery::ask(std::chrono::nanoseconds now)
{
	const std::uint64_t value = next_value_++;
	for (auto &[client, question] : clients_) {
		question = {value, now};
		host_.ask_to_settle(client, value);
	}
}

bool BufferRecovery::all_settled() const
{
	return std::none_of(
		clients_.begin(), clients_.end(), [](const auto &client) { return client.second.has_value(); });
}

void BufferRecovery::scan_some(std::chrono::nanoseconds now)
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

void BufferRecovery::finish(std::chrono::nanoseconds now)
{
	stage_ = Stage::none;
	const std::optional<std::uint64_t> recovered = host_.collect();
	if (!recovered)
		return try_again("a client died meanwhile", now);
	stats_.scans++;
	stats_.durations.add(now - began_);
	stats_.recovered += *recovered;
	told_ = false;
}

void BufferRecovery::try_again(const std::string &why, std::chrono::nanoseconds now)
{
	stats_.put_off++;
	wanted_ = true;
	not_before_ = now + options_.retry_interval;
	if (!told_)
		host_.put_off(why);
	told_ = true;
}

/** Cuts off silent clients. It collects them first, as cut_off() may call left(), which changes clients_. */
void BufferRecovery::cut_off_silent(std::chrono::nanoseconds now)
{
	if (options_.answer_timeout.count() == 0 || stage_ == Stage::none)
		return;
	std::vector<std::uint32_t> silent;
	for (const auto &[client, question] : clients_) {
		if (question && now - question->asked_at > options_.answer_timeout)
			silent.push_back(client);
	}
	for (const std::uint32_t client : silent) {
		stats_.cut_off++;
		host_.cut_off(client);
	}
}

} // namespace prism::apps
