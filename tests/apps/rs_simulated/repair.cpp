/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "repair.hpp"

#include "rs/store/epoch.hpp"

namespace rs_sim
{

Repair::Repair(
	Client &client, unsigned replica, const RepairOptions &options, prism::test::Random &random, RepairTalk &talk)
	: client_(client), replica_(replica), options_(options), random_(random), talk_(talk)
{
}

/** Serving replicas that are connected in @p epoch. */
unsigned Repair::serving(std::uint64_t epoch) const
{
	unsigned count = 0;
	for (unsigned replica = 0; replica < client_.replicas(); replica++) {
		const prism::rs::ReplicaView *const view = client_.view(replica);
		count += replica != replica_ && view && view->serving && view->epoch == epoch;
	}
	return count;
}

/** An epoch that is larger than all, and no other repair's. */
void Repair::choose()
{
	chosen_ = prism::rs::next_epoch(client_.epoch(), random_.bits()).value();
	if (options_.flaw == Flaw::no_epoch)
		chosen_ = client_.epoch();
	client_.raise_epoch(chosen_);
	state_ = State::spreading;
}

void Repair::copy()
{
	if (next_ == options_.blocks) {
		talk_.tell_serve(chosen_);
		waits_ = true;
		state_ = State::ending;
		return;
	}
	waits_ = true;
	operation_ = {};
	operation_.kind = prism::apps::OperationKind::get;
	client_.start(client_.lane(0), operation_, next_);
}

void Repair::poll()
{
	if (over())
		return;
	if (client_.lost_its_replica()) {
		state_ = State::lost;
		return;
	}
	if (chosen_ && client_.epoch() != chosen_) { /* somebody knows a larger one */
		chosen_ = 0;
		again_ = waits_;
		state_ = State::asking;
	}
	if (waits_ || !client_.link(replica_))
		return;
	if (state_ == State::asking && serving(client_.epoch()) >= options_.quorum)
		choose();
	if (state_ == State::spreading && serving(chosen_) >= options_.quorum) {
		talk_.tell_epoch(chosen_);
		waits_ = true;
		state_ = State::telling;
	} else if (state_ == State::copying) {
		copy();
	}
}

void Repair::hear(int error)
{
	waits_ = false;
	if (std::exchange(again_, false) || over())
		return;
	if (error) {
		state_ = error == ESTALE ? State::asking : State::lost;
		chosen_ = 0;
	} else if (state_ == State::telling) {
		client_.link(replica_)->set_epoch(chosen_);
		next_ = 0;
		state_ = State::copying;
	} else {
		state_ = State::ended;
	}
}

void Repair::copied()
{
	waits_ = false;
	if (std::exchange(again_, false))
		return;
	next_ += operation_.outcome == prism::apps::Outcome::ok;
}

} // namespace rs_sim
