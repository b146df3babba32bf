/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "outbox.hpp"

#include <algorithm>

namespace prism::cm
{

bool Outbox::send(const std::string &name, const Envelope &envelope, Time now)
{
	const auto waiting = queues_.find(name);
	if (waiting == queues_.end()) {
		const Delivery delivery = deliver_(name, envelope);
		if (delivery != Delivery::busy)
			return delivery == Delivery::done;
	}
	if (total_ >= limit) {
		lost_(envelope);
		return true;
	}
	Queue &queue = waiting == queues_.end() ? queues_[name] : waiting->second;
	if (queue.envelopes.empty())
		queue.give_up_at = now + patience;
	if (queue.envelopes.size() < receiver_limit) {
		queue.envelopes.push_back(envelope);
		total_++;
	} else {
		lost_(envelope);
	}
	return true;
}

/** Returns true if nothing waits any more. */
bool Outbox::drain(const std::string &name, Queue &queue, Time now)
{
	while (!queue.envelopes.empty()) {
		if (deliver_(name, queue.envelopes.front()) == Delivery::busy)
			return now >= queue.give_up_at;
		queue.envelopes.pop_front();
		queue.give_up_at = now + patience;
		total_--;
	}
	return true;
}

void Outbox::retry(Time now)
{
	for (auto at = queues_.begin(); at != queues_.end();) {
		if (!drain(at->first, at->second, now)) {
			at++;
			continue;
		}
		std::ranges::for_each(at->second.envelopes, lost_);
		total_ -= at->second.envelopes.size();
		at = queues_.erase(at);
	}
}

} // namespace prism::cm
