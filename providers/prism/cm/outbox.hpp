/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages that wait for busy processes of this host: a socket often takes only ten. A process that stays busy is
 * stopped, or nobody reads its socket, and anybody can take a name and read nothing. So messages wait for a limited
 * time only, and are then lost, as in any network. A busy receiver delays no other.
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
	using NoteLoss = std::function<void(const Envelope &envelope)>;

	Outbox(Deliver to, NoteLoss lost) : deliver_(std::move(to)), lost_(std::move(lost)) {}

	/** Sends now, or as soon as the messages before it have gone. @return false if nobody has that name. */
	bool send(const std::string &name, const Envelope &envelope, Time now);
	/** Tries again: once for each receiver that stays busy, however many messages wait for it. */
	void retry(Time now);
	[[nodiscard]] bool empty() const { return queues_.empty(); }

	/** Time that a receiver may take nothing. */
	static constexpr Time patience = 1'000'000'000;
	/** Most messages that may wait for one receiver, and for all. */
	static constexpr std::size_t receiver_limit = 4096;
	static constexpr std::size_t limit = 4 * receiver_limit;

private:
	struct Queue {
		std::deque<Envelope> envelopes;
		Time give_up_at = 0;
	};

	bool drain(const std::string &name, Queue &queue, Time now);

	Deliver deliver_;
	NoteLoss lost_;                       /* called for each message that a busy receiver never got */
	std::map<std::string, Queue> queues_; /* none is empty */
	std::size_t total_ = 0;
};

} // namespace prism::cm
