/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages for processes of this host that are busy, until they are not: a socket takes often ten. One that stays busy
 * is stopped, or nobody reads its socket, and anybody can take a name and read nothing. So messages wait for a while
 * only, and are then lost, as in any network; and who is busy keeps nobody else waiting.
 */
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>

#include "local.hpp"

namespace prism::cm
{

class Outbox
{
public:
	using Deliver = std::function<Delivery(const std::string &name, const Envelope &envelope)>;

	explicit Outbox(Deliver to) : deliver_(std::move(to)) {}

	/** Now, or as soon as those before it have gone. @return false if nobody has that name. */
	bool send(const std::string &name, const Envelope &envelope, Time now);
	/** Tries again: once for each receiver that stays busy, however much waits for it. */
	void retry(Time now);
	[[nodiscard]] bool empty() const { return queues_.empty(); }

	/** How long a receiver may take nothing. */
	static constexpr Time patience = 1'000'000'000;
	/** What may wait for one receiver, and for all. */
	static constexpr std::size_t receiver_limit = 4096;
	static constexpr std::size_t limit = 4 * receiver_limit;

private:
	struct Queue {
		std::deque<Envelope> envelopes;
		Time give_up_at = 0;
	};

	bool drain(const std::string &name, Queue &queue, Time now);

	Deliver deliver_;
	std::map<std::string, Queue> queues_; /* none is empty */
	std::size_t total_ = 0;
};

} // namespace prism::cm
