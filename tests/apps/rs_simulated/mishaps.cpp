/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "mishaps.hpp"

#include <algorithm>

#include "world.hpp"

namespace rs_sim
{

using simulation::day;
using simulation::happenings;
using simulation::ms;
using simulation::second;
using simulation::us;
using soft::Time;

Mishaps::Mishaps(World &world, const WorldOptions &options)
	: world_(world), options_(options), crashes_left_(options.crashes),
	  replica_crashes_left_(options.replica_crashes), repair_crashes_left_(options.repair_crashes),
	  partitions_left_(options.partitions), down_left_(options.down),
	  lost_acknowledgements_left_(options.lost_acknowledgements), second_lives_left_(options.second_lives),
	  together_left_(options.lost_together)
{
}

Seat &Mishaps::first_user()
{
	return *world_.seats_.front();
}

/** Lets the first user die after some more packets. */
void Mishaps::crash_user()
{
	if (world_.is_doomed() || !first_user().client)
		return;
	crashes_left_--;
	world_.doom(first_user(), world_.random().between(1, 60));
}

/** Crashes the replica and counts that, unless too few replicas would be left. */
void Mishaps::crash_replica(unsigned replica, bool stays_away)
{
	if (world_.crash_replica(replica, stays_away))
		(stays_away ? down_left_ : replica_crashes_left_)--;
}

unsigned Mishaps::some_replica()
{
	return static_cast<unsigned>(world_.random().below(options_.replicas));
}

/** Crashes as many replicas as allowed at once. Nothing else happens, so no repair has a reason to begin again. */
void Mishaps::crash_together()
{
	together_left_ = false;
	const unsigned first = some_replica();
	replica_crashes_left_ += world_.failures();
	for (unsigned i = 0; i < world_.failures(); i++)
		crash_replica((first + i) % options_.replicas, false);
}

/**
 * Lets the first user write to one replica alone, which acknowledges and then is lost and repaired. Then another
 * replica acknowledges, too. A client that counts both has a write that a read of the other two does not see.
 */
void Mishaps::lose_acknowledgements()
{
	const unsigned lost = some_replica();
	if (world_.serving() != options_.replicas || !first_user().client || world_.is_parted())
		return;
	lost_acknowledgements_left_--;
	replica_crashes_left_++;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if (replica != lost)
			world_.part(first_user(), replica, 12 * ms);
	}
	const Time delay = world_.random().between(1 * ms, 3 * ms);
	due_crashes_.push_back({world_.now() + delay, lost});
	const unsigned apart = (lost + 1) % options_.replicas, healed = (lost + 2) % options_.replicas;
	const std::uint64_t life = world_.sites_[lost]->life;
	world_.after(delay, [this, lost, life, healed, apart] { heal_when_repaired(lost, life, healed, apart); });
}

/** Ends the partition from @p healed once @p lost is repaired. @p life: of that replica before it was lost. */
void Mishaps::heal_when_repaired(unsigned lost, std::uint64_t life, unsigned healed, unsigned apart)
{
	const Site &site = *world_.sites_[lost];
	if (site.life == life || !site.replica || !site.replica->serving()) {
		world_.after(
			100 * us, [this, lost, life, healed, apart] { heal_when_repaired(lost, life, healed, apart); });
		return;
	}
	world_.part(first_user(), healed, 0);
	world_.part(first_user(), apart, 8 * ms);
}

/**
 * Lets the first user die when only one replica has its write, and come back where it cannot reach that replica. If its
 * new life used the tags of the first, two blocks would have the same tag: one reader would see one, and the last
 * reader, which cannot reach that replica either, the other.
 */
void Mishaps::live_twice()
{
	const Seat &seat = first_user();
	const std::optional<unsigned> installing = seat.client ? seat.client->installing() : std::nullopt;
	if (!installing || world_.is_parted())
		return;
	second_lives_left_--;
	const unsigned alone = *installing;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if (replica != alone)
			world_.part(seat, replica, 10 * ms);
	}
	world_.after(world_.random().between(100 * us, 500 * us), [this, alone] { begin_second_life(alone); });
}

void Mishaps::begin_second_life(unsigned alone)
{
	Seat &seat = first_user();
	if (world_.closing_ || !seat.client)
		return;
	world_.kill(seat);
	world_.count_crash();
	for (unsigned replica = 0; replica < options_.replicas; replica++)
		world_.heal(seat, replica);
	world_.part(seat, alone, 8 * ms);
	world_.part(*world_.seats_[options_.users - 1], alone, 8 * ms);
	world_.come_back(seat, 20 * us);
}

/** Ends a repair, or begins another one that does not know of the first. */
void Mishaps::crash_repair()
{
	const auto found =
		std::ranges::find_if(world_.seats_, [](const auto &seat) { return seat->repair != nullptr; });
	if (found == world_.seats_.end())
		return;
	repair_crashes_left_--;
	const unsigned replica = (*found)->repaired;
	if (world_.random().chance(50)) {
		world_.lose_repair(**found);
		return;
	}
	/* The first one is cut off, so the other takes its place; but the first goes on. */
	const Time lease = options_.replica.repair_lease;
	if (world_.random().chance(50))
		world_.part(**found, replica, world_.random().between(lease, 4 * lease));
	world_.after(world_.random().below(3 * lease), [this, replica] { world_.begin_repair(replica, false); });
}

/** Cuts a client off from one replica, or from all but one, for a random time each. */
void Mishaps::part()
{
	if (world_.is_parted() && !world_.random().chance(10))
		return;
	partitions_left_--;
	world_.result_.partitions++;
	Seat &seat = *world_.seats_[world_.random().below(
		world_.random().chance(80) ? options_.users : world_.seats_.size())];
	const unsigned chosen = some_replica();
	const bool from_one = world_.random().chance(50);
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if ((replica == chosen) == from_one)
			world_.part(seat, replica, world_.random().between(100 * us, options_.longest_partition));
	}
	const auto other = static_cast<unsigned>(1 + world_.random().below(options_.replicas - 1));
	if (world_.random().chance(50))
		aggravate(seat, from_one ? (chosen + other) % options_.replicas : chosen);
}

/**
 * Makes a partition worse: the client, or a replica that it can still reach, is lost meanwhile, and was the only one,
 * or one of few, that had a write.
 */
void Mishaps::aggravate(Seat &seat, unsigned replica)
{
	const Time delay = world_.random().between(100 * us, options_.longest_partition);
	if (replica_crashes_left_ && world_.random().chance(50)) {
		due_crashes_.push_back({world_.now() + delay, replica});
		world_.after(delay, [] {}); /* see happen(): the replica may be in the middle of something now */
	} else if (seat.user && crashes_left_) {
		crashes_left_--;
		world_.after(delay, [this, &seat] { crash_here(seat); });
	}
}

/** Crashes a user, which comes back where it was, or at a place without partitions. */
void Mishaps::crash_here(Seat &seat)
{
	if (world_.closing_ || !seat.client)
		return;
	world_.kill(seat);
	world_.count_crash();
	if (world_.random().chance(50)) {
		for (unsigned replica = 0; replica < options_.replicas; replica++)
			world_.heal(seat, replica);
	}
	world_.come_back(seat, world_.random().between(10 * us, 5 * ms));
}

/** Returns true if one of @p in_all events is due now: at any step of a run, or with one of many bursts. */
bool Mishaps::is_due(unsigned in_all)
{
	const double bursts = options_.days * static_cast<double>(day / second) / options_.pause;
	return world_.random().chance(options_.days <= 0 ? happenings : 100 * in_all / bursts);
}

/** Starts events that are due for users, replicas and repairs, at random times; with days, called with each burst. */
void Mishaps::happen()
{
	if (crashes_left_ && is_due(options_.crashes))
		crash_user();
	/* Most replica crashes should come with a partition, if there are any. */
	const bool rarely = options_.days <= 0 && partitions_left_;
	if (replica_crashes_left_ && (!rarely || world_.random().chance(10)) && is_due(options_.replica_crashes))
		crash_replica(some_replica(), false);
	if (partitions_left_ && is_due(options_.partitions))
		part();
	if (down_left_ && is_due(options_.down))
		crash_replica(some_replica(), true);
	if (lost_acknowledgements_left_ && is_due(options_.lost_acknowledgements))
		lose_acknowledgements();
	if (second_lives_left_ && is_due(options_.second_lives))
		live_twice();
	if (together_left_ && is_due(1))
		crash_together();
}

/** Starts the events of a step, also in runs of days. */
void Mishaps::happen_at_once()
{
	const auto is_late = [this](const auto &crash) { return crash.first <= world_.now(); };
	for (const auto &crash : due_crashes_) {
		if (is_late(crash) && replica_crashes_left_)
			crash_replica(crash.second, false);
	}
	std::erase_if(due_crashes_, is_late);
	if (repair_crashes_left_ && world_.random().chance(happenings))
		crash_repair();
	const Site &site = *world_.sites_[some_replica()];
	if (site.replica && world_.random().chance(options_.scans))
		site.replica->want_recovery();
}

} // namespace rs_sim
