/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "repair_protocol.hpp"

#include <cerrno>

namespace prism::rs
{

void RepairProtocol::give_up(int error) noexcept
{
	if (over())
		return;
	error_ = error;
	state_ = State::failed;
}

/** Returns the number of other replicas that serve and are connected in @p epoch. */
unsigned RepairProtocol::serving(std::uint64_t epoch) const noexcept
{
	unsigned count = 0;
	for (unsigned replica = 0; replica < rules_.replicas; replica++) {
		const ReplicaView *const view = session_.view(replica);
		count += replica != rules_.replica && view && view->serving && view->epoch == epoch;
	}
	return count;
}

/**
 * True if another replica is being repaired: one that lets clients in but does not serve. A replica without an epoch
 * refuses clients.
 */
bool RepairProtocol::others_are_repaired() const noexcept
{
	for (unsigned replica = 0; replica < rules_.replicas; replica++) {
		const ReplicaView *const view = session_.view(replica);
		if (replica != rules_.replica && view && !view->serving)
			return true;
	}
	return false;
}

/**
 * Returns the replica that gives turns. It is the same for all repairs that see the same replicas; a single replica
 * that is ahead of the others does not count.
 */
std::optional<unsigned> RepairProtocol::turn_giver() const noexcept
{
	if (serving(session_.epoch()) < quorum())
		return std::nullopt;
	for (unsigned replica = 0; replica < rules_.replicas; replica++) {
		const ReplicaView *const view = session_.view(replica);
		if (replica != rules_.replica && view && view->serving && view->epoch == session_.epoch())
			return replica;
	}
	return std::nullopt;
}

bool RepairProtocol::waits_for_replicas() const noexcept
{
	if (over() || state_ == State::copying)
		return false;
	return state_ != State::waiting || !session_.view(rules_.replica) || serving(session_.epoch()) < quorum();
}

/* Turns ---------------------------------------------------------------------------------------------------------- */

/**
 * Tells the replicas that the repair continues. A silent repair is taken for dead: others may repair its replica, or
 * have its turn.
 */
void RepairProtocol::say_that_it_goes_on() noexcept
{
	const Time now = session_.now();
	if (said_so_ && now - *said_so_ < rules_.says_so)
		return;
	said_so_ = now;
	if (session_.view(rules_.replica))
		client_.tell(rules_.replica, {turn_message, rules_.client});
	if (const std::optional<unsigned> giver = turn_giver())
		client_.tell(*giver, {turn_message, rules_.client});
}

void RepairProtocol::hear_turn(unsigned replica, std::uint64_t error) noexcept
{
	if (replica == rules_.replica && error)
		give_up(EPERM);
	else if (replica == turn_giver())
		has_turn_ = !error;
}

/**
 * Waits for the turn: a repair that begins an epoch while another one copies interrupts it. Turns are a courtesy, not a
 * lock: epochs keep repairs safe whoever begins when, so no wait needs to last for ever.
 */
void RepairProtocol::wait_for_turn() noexcept
{
	const Time now = session_.now();
	if (!waits_since_) {
		waits_since_ = now;
		said_so_.reset(); /* ask at once */
		return;
	}
	const bool in_vain = now - *waits_since_ >= rules_.patience && !others_are_repaired();
	if (has_turn_ || in_vain)
		choose_epoch();
}

/* Epochs --------------------------------------------------------------------------------------------------------- */

void RepairProtocol::choose_epoch() noexcept
{
	const std::optional<std::uint64_t> chosen = client_.new_epoch();
	if (!chosen) {
		give_up(EOVERFLOW);
		return;
	}
	epoch_ = *chosen;
	session_.raise_epoch(epoch_);
	state_ = State::spreading;
}

/** Begins again after somebody has begun a newer epoch: the copied versions may have been read too early. */
void RepairProtocol::begin_again() noexcept
{
	epoch_ = 0;
	waits_since_.reset();
	has_turn_ = false;
	outdated_ = under_way_;
	state_ = State::waiting;
	if (++attempts_ >= rules_.most_attempts)
		give_up(EAGAIN);
}

void RepairProtocol::tell(apps::ControlKind kind, State next) noexcept
{
	client_.tell(rules_.replica, {kind, epoch_});
	unanswered_++;
	state_ = next;
}

void RepairProtocol::poll() noexcept
{
	if (over())
		return;
	if (epoch_ && session_.epoch() != epoch_)
		begin_again();
	if (over() || !session_.view(rules_.replica))
		return;
	const bool quorum_serves = serving(session_.epoch()) >= quorum();
	if (state_ == State::waiting && quorum_serves)
		wait_for_turn();
	say_that_it_goes_on();
	/*
	 * The other replicas come first: the repaired one's acknowledgements in the new epoch must not count together
	 * with anything older.
	 */
	if (state_ == State::spreading && quorum_serves)
		tell(epoch_message, State::telling);
	else if (state_ == State::copying)
		copy();
}

void RepairProtocol::hear(unsigned replica, const apps::ControlMessage &answer) noexcept
{
	if (over())
		return;
	if (answer.kind == turn_message) {
		hear_turn(replica, answer.value);
		return;
	}
	if (replica != rules_.replica || !unanswered_)
		return;
	const bool latest = !--unanswered_;
	if (answer.value == ESTALE)
		begin_again();
	else if (answer.value)
		give_up(static_cast<int>(answer.value));
	else if (latest && state_ == State::telling) {
		session_.repaired_has_epoch();
		next_ = done_ = 0;
		state_ = State::copying;
	} else if (latest && state_ == State::ending) {
		state_ = State::ended;
		if (const std::optional<unsigned> giver = turn_giver())
			client_.tell(*giver, {turn_ends_message, rules_.client});
	}
}

/* Blocks --------------------------------------------------------------------------------------------------------- */

void RepairProtocol::copy() noexcept
{
	if (outdated_)
		return; /* they end soon, in the new epoch */
	while (next_ < rules_.blocks && client_.copy(next_)) {
		next_++;
		under_way_++;
	}
	if (done_ == rules_.blocks)
		tell(serve_message, State::ending);
}

void RepairProtocol::copied(int error) noexcept
{
	if (under_way_)
		under_way_--;
	if (outdated_)
		outdated_--;
	else if (error)
		give_up(error);
	else
		done_++;
}

} // namespace prism::rs
