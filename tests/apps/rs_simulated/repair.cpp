/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "repair.hpp"

#include <algorithm>
#include <cerrno>

#include "rs/store/epoch.hpp"

namespace rs_sim
{

using prism::apps::ControlMessage;

Repair::Repair(
	Client &client, const prism::rs::RepairRules &rules, Flaw flaw, prism::test::Random &random, RepairTalk &talk)
	: client_(client), replica_(rules.replica), flaw_(flaw), random_(random), talk_(talk),
	  operations_(client.depth()), busy_(client.depth()), protocol_(rules, *this)
{
}

void Repair::repaired_has_epoch() noexcept
{
	if (Link *const link = client_.link(replica_))
		link->set_epoch(client_.epoch());
}

std::optional<std::uint64_t> Repair::new_epoch() noexcept
{
	if (flaw_ == Flaw::no_epoch)
		return client_.epoch();
	return prism::rs::next_epoch(client_.epoch(), random_.bits());
}

void Repair::tell(unsigned replica, const ControlMessage &message) noexcept
{
	/* Each believes that it is its turn. */
	if (flaw_ == Flaw::no_turns && message.kind == prism::rs::turn_message && replica != replica_)
		protocol_.hear(replica, {message.kind, 0});
	else
		talk_.tell(replica, message);
}

bool Repair::copy(std::uint64_t block) noexcept
{
	const auto idle = std::find(busy_.begin(), busy_.end(), false);
	if (idle == busy_.end())
		return false;
	*idle = true;
	const auto number = static_cast<std::size_t>(idle - busy_.begin());
	operations_[number] = {};
	operations_[number].kind = prism::apps::OperationKind::get;
	client_.start(client_.lane(number), operations_[number], block);
	return true;
}

void Repair::ended(const prism::rs::Lane &lane)
{
	busy_[lane.number] = false;
	const prism::apps::Operation &operation = operations_[lane.number];
	protocol_.copied(operation.outcome == prism::apps::Outcome::ok ? 0 : operation.error);
}

void Repair::poll()
{
	if (client_.lost_its_replica())
		protocol_.give_up(ECONNRESET);
	protocol_.poll();
}

} // namespace rs_sim
