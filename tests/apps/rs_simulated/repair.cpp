/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "repair.hpp"

#include <cerrno>

#include "rs/store/epoch.hpp"

namespace rs_sim
{

using prism::apps::ControlMessage;

Repair::Repair(
	Client &client, const prism::rs::RepairRules &rules, Flaw flaw, prism::test::Random &random, RepairTalk &talk)
	: client_(client), replica_(rules.replica), flaw_(flaw), random_(random), talk_(talk),
	  operations_(client.session().depth()), protocol_(rules, client.session(), *this)
{
	for (prism::apps::Operation &operation : operations_)
		idle_.push_back(&operation);
}

std::optional<std::uint64_t> Repair::new_epoch() noexcept
{
	if (flaw_ == Flaw::no_epoch)
		return client_.session().epoch();
	return prism::rs::next_epoch(client_.session().epoch(), random_.bits());
}

void Repair::tell(unsigned replica, const ControlMessage &message) noexcept
{
	/* Flaw::no_turns: each repair believes that it is its turn. */
	if (flaw_ == Flaw::no_turns && message.kind == prism::rs::turn_message && replica != replica_)
		protocol_.hear(replica, {message.kind, 0});
	else
		talk_.tell(replica, message);
}

bool Repair::copy(std::uint64_t block) noexcept
{
	if (idle_.empty() || !client_.start(*idle_.back(), block))
		return false;
	idle_.pop_back();
	return true;
}

void Repair::ended(prism::apps::Operation &operation)
{
	idle_.push_back(&operation);
	protocol_.copied(operation.outcome == prism::apps::Outcome::ok ? 0 : operation.error);
}

void Repair::poll()
{
	if (client_.session().lost_its_replica())
		protocol_.give_up(ECONNRESET);
	protocol_.poll();
}

} // namespace rs_sim
