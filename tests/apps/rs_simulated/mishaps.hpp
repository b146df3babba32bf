/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "places.hpp"

namespace rs_sim
{

class World;
struct WorldOptions;

/**
 * Events that hit users, replicas, repairs and the partitions between them, at random times, as often as the options
 * say.
 */
class Mishaps
{
public:
	/** @p world and @p options must outlive this object. */
	Mishaps(World &world, const WorldOptions &options);

	void happen();
	void happen_at_once();

private:
	[[nodiscard]] Seat &first_user();
	[[nodiscard]] unsigned some_replica();
	[[nodiscard]] bool is_due(unsigned in_all);
	void crash_user();
	void crash_here(Seat &seat);
	void crash_replica(unsigned replica, bool stays_away);
	void crash_together();
	void lose_acknowledgements();
	void heal_when_repaired(unsigned lost, std::uint64_t life, unsigned healed, unsigned apart);
	void live_twice();
	void begin_second_life(unsigned alone);
	void crash_repair();
	void part();
	void aggravate(Seat &seat, unsigned replica);

	World &world_;
	const WorldOptions &options_;
	std::vector<std::pair<soft::Time, unsigned>> due_crashes_; /* time and replica */
	unsigned crashes_left_;
	unsigned replica_crashes_left_;
	unsigned repair_crashes_left_;
	unsigned partitions_left_;
	unsigned down_left_;
	unsigned lost_acknowledgements_left_; /* see lose_acknowledgements() */
	unsigned second_lives_left_;          /* see live_twice() */
	bool together_left_;
};

} // namespace rs_sim
