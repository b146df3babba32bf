/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "checks.hpp"

namespace rs_sim
{

using simulation::day;
using simulation::ms;
using simulation::second;
using simulation::us;
using soft::Time;

namespace
{

constexpr Time longest_run = 30 * second; /* for runs without days */
/* Number of all clients under Flaw::same_client */
constexpr std::uint64_t one_for_all = 7;

} // namespace

void WorldResult::add(const WorldResult &other) noexcept
{
	Result::add(other);
	users.add(other.users);
	replica_crashes += other.replica_crashes;
	partitions += other.partitions;
	repairs += other.repairs;
	lost_repairs += other.lost_repairs;
	interruptions += other.interruptions;
	links += other.links;
}

Site::Site(simulation::World &world, unsigned replica_number, std::uint8_t host_number)
	: simulation::Site(world, host_number, 64, fmt::format("replica {}", replica_number)), number(replica_number)
{
}

Seat::Seat(Connections &all_connections, std::size_t seat_number, std::uint8_t host_number, unsigned replicas)
	: simulation::Seat(seat_number, host_number), connections(all_connections), identity(seat_number + 1),
	  wires(replicas)
{
}

Seat::~Seat() = default;

void Seat::tell(unsigned replica, const prism::apps::ControlMessage &message)
{
	connections.tell(*this, replica, message);
}

World::World(std::uint64_t seed, const WorldOptions &options)
	: simulation::World(seed), options_(options), connections_(*this), mishaps_(*this, options_)
{
	simulation::World &world = *this; /* the base is private */
	std::uint8_t host = 1;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		sites_.push_back(std::make_unique<Site>(world, replica, host++));
		Site &site = *sites_.back();
		site.replica = std::make_unique<Replica>(*site.node, *site.around, options_.replica, true);
		add(site);
	}
	for (unsigned number = 0; number < options_.users + failures() + 1; number++) {
		seats_.push_back(std::make_unique<Seat>(connections_, number, host++, options_.replicas));
		Seat &seat = *seats_.back();
		add(seat);
		if (number >= options_.users)
			continue;
		UserOptions user = options_.user;
		if (number >= writers()) {
			user.gets = 100;
			user.pause = options_.second_lives ? 0 : user.pause;
		}
		seat.user = std::make_unique<User>(
			number, user, random(), history_, [this](const std::string &what) { find(what); });
	}
	open_network(options_.faults, options_.delays, options_.crash_at);
	for (unsigned number = 0; number < options_.users; number++)
		sit_down(*seats_[number]);
}

World::~World()
{
	forget_errands();
}

/* Clients -------------------------------------------------------------------------------------------------------- */

void World::poll(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	seat.client->poll();
	if (seat.user)
		seat.user->go_on(now());
	else
		look_after_repairs(seat);
	if (seat.client)
		seat.client->ring();
	if (!seat.user || !seat.user->usurped())
		return;
	if (!options_.intruder)
		find("a PUT of the only client that writes met a newer one");
	kill(seat);
	come_back(seat, random().between(10 * us, 1 * ms));
}

Seat &World::seat_of(const Client &client)
{
	return **std::ranges::find_if(seats_, [&client](const auto &seat) { return seat->client.get() == &client; });
}

void World::want(Client &client, unsigned replica, std::uint64_t epoch)
{
	connections_.want(seat_of(client), replica, epoch);
}

void World::closed(Client &client, unsigned replica, std::uint32_t /*connection*/)
{
	connections_.end(std::exchange(seat_of(client).wires[replica], nullptr));
}

void World::tell_to_settle(simulation::Site &base, std::uint32_t connection, std::uint64_t value)
{
	connections_.tell_to_settle(static_cast<const Site &>(base), connection, value);
}

void World::tell_ended(simulation::Site &base, std::uint32_t connection)
{
	connections_.tell_ended(static_cast<const Site &>(base), connection);
}

/** Starts a new incarnation of a user's client. */
void World::sit_down(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (closing_)
		return;
	const bool keeps_identity = options_.flaw == Flaw::reused_client;
	if (!keeps_identity)
		seat.identity = options_.flaw == Flaw::same_client ? one_for_all : random().bits() | 1;
	ClientOptions options;
	options.protocol.replicas = options_.replicas;
	options.protocol.client = seat.identity;
	if (options_.exclusive && seat.number == 0)
		options.protocol.exclusive = ++generation_;
	options.protocol.hedge = std::chrono::nanoseconds(options_.hedge);
	options.depth = options_.user.depth;
	options.block_size = options_.user.block_size;
	options.report_batch = options_.report_batch;
	options.timeout = options_.user.timeout;
	options.flaw = options_.flaw;
	ClientSurroundings &around = *this; /* the base is private */
	seat.client = std::make_unique<Client>(seat.host, around, options,
		[this, &seat](const prism::apps::Operation &operation) { seat.user->ended(operation, now()); });
	seat.user->use(*seat.client);
	seat.client->begin();
	seat.next_poll = now() + 1;
}

/** Kills the client; replicas learn of it later. */
void World::kill(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (seat.user)
		seat.user->leave();
	seat.repair.reset();
	seat.client.reset();
	seat.life++;
	seat.next_poll = 0;
	for (WirePtr &wire : seat.wires) {
		if (wire)
			connections_.end(wire);
		wire.reset();
	}
}

/* Replicas ------------------------------------------------------------------------------------------------------- */

unsigned World::serving() const
{
	return static_cast<unsigned>(std::ranges::count_if(
		sites_, [](const auto &site) { return site->replica && site->replica->serving(); }));
}

void World::retire(const Replica &replica)
{
	result_.stores.add(replica.figures());
}

/**
 * Crashes the replica; its memory is lost. At most as many may be down at a time as the volume tolerates, or more if
 * they stay away. Returns false if none may crash.
 */
bool World::crash_replica(unsigned replica, bool stays_away)
{
	Site &site = *sites_[replica];
	const unsigned left = serving() - (site.replica && site.replica->serving());
	const bool too_many = left < options_.replicas - failures() && !(stays_away && options_.down > failures());
	/* A replica on its way back may crash again, but most must come back. */
	if (!site.replica || too_many || (!site.replica->serving() && !random().chance(3)))
		return false;
	result_.replica_crashes++;
	retire(*site.replica);
	if (!random().chance(simulation::silent))
		connections_.tell_crashed(site);
	for (const auto &seat : seats_) { /* its repair notices that its connection to the replica has ended */
		if (!seat->repair || seat->repaired != replica)
			continue;
		after(random().between(100 * us, 2 * ms), [this, &seat = *seat, life = seat->life] {
			if (seat.life == life)
				lose_repair(seat);
		});
	}
	site.replica.reset();
	site.restart();
	site.life++;
	site.stays_away = stays_away;
	if (!stays_away)
		after(random().between(100 * us, 4 * ms), [this, replica] { bring_back(replica); });
	const auto away = std::ranges::count_if(sites_, [](const auto &one) { return one->stays_away; });
	for (const auto &seat : seats_) {
		if (seat->user && away > failures())
			seat->user->expect_failures();
	}
	return true;
}

void World::bring_back(unsigned replica)
{
	Site &site = *sites_[replica];
	site.replica = std::make_unique<Replica>(*site.node, *site.around, options_.replica, false);
	after(random().below(1 * ms), [this, replica] { begin_repair(replica, true); });
}

void World::begin_repair(unsigned replica, bool alone)
{
	const Site &site = *sites_[replica];
	const auto another = [replica](const auto &seat) { return seat->repair && seat->repaired == replica; };
	if (!site.replica || site.replica->serving() || (alone && std::ranges::any_of(seats_, another)))
		return;
	const auto free = std::ranges::find_if(seats_, [](const auto &seat) { return !seat->user && !seat->client; });
	if (free == seats_.end()) {
		after(1 * ms, [this, replica, alone] { begin_repair(replica, alone); });
		return;
	}
	Seat &seat = **free;
	ClientOptions options;
	options.protocol.replicas = options_.replicas;
	options.protocol.client = random().bits() | 1;
	options.protocol.repairs = replica;
	options.depth = 2;
	options.protocol.hedge = std::chrono::nanoseconds(options_.hedge);
	options.block_size = options_.user.block_size;
	options.report_batch = options_.report_batch;
	options.timeout = options_.user.timeout;
	ClientSurroundings &around = *this; /* the base is private */
	seat.client = std::make_unique<Client>(seat.host, around, options,
		[&seat](prism::apps::Operation &operation) { seat.repair->ended(operation); });
	seat.repaired = replica;
	prism::rs::RepairRules rules;
	rules.replica = replica;
	rules.replicas = options_.replicas;
	rules.blocks = options_.replica.blocks;
	rules.client = options.protocol.client;
	rules.says_so = std::chrono::nanoseconds(options_.replica.repair_lease / 4);
	rules.patience = std::chrono::nanoseconds(4 * options_.replica.repair_lease);
	seat.repair = std::make_unique<Repair>(*seat.client, rules, options_.flaw, random(), seat);
	seat.client->begin();
	seat.next_poll = now() + 1;
}

void World::look_after_repairs(Seat &seat)
{
	using State = prism::rs::RepairProtocol::State;
	seat.repair->poll();
	const State state = seat.repair->protocol().state();
	if (!seat.repair->protocol().over()) {
		seat.next_poll = state == State::copying ? now() + 1 : now() + turn;
		return;
	}
	result_.interruptions += seat.repair->protocol().interruptions();
	if (state == State::failed) {
		lose_repair(seat);
		return;
	}
	result_.repairs++;
	seat.client->session().flush();
	seat.host.engine.progress(now());
	kill(seat);
}

/** Ends a repair; another one follows. */
void World::lose_repair(Seat &seat)
{
	result_.lost_repairs++;
	kill(seat);
	after(random().between(100 * us, 2 * ms), [this, replica = seat.repaired] { begin_repair(replica, true); });
}

/* A run ---------------------------------------------------------------------------------------------------------- */

bool World::working() const
{
	return std::ranges::any_of(
		seats_, [](const auto &seat) { return seat->user && (!seat->client || !seat->user->done()); });
}

bool World::whole() const
{
	const auto well = [](const auto &site) {
		return site->stays_away || (site->replica && site->replica->serving());
	};
	const auto at_rest = [](const auto &seat) { return !seat->repair; };
	return std::ranges::all_of(sites_, well) && std::ranges::all_of(seats_, at_rest);
}

/** Describes the state, for debugging a run that makes no progress. */
std::string World::state() const
{
	std::string text;
	for (const auto &site : sites_)
		text += !site->replica ? " gone" : site->replica->serving() ? " serving" : " recovering";
	for (const auto &seat : seats_) {
		if (!seat->client)
			continue;
		text += fmt::format("; {} {}, epoch {:x}:", seat->user ? "user" : "repair", seat->number,
			seat->client->session().epoch());
		for (unsigned replica = 0; replica < options_.replicas; replica++) {
			const prism::rs::ReplicaView *const view = seat->client->session().view(replica);
			text += view ? fmt::format(" {:x}{}", view->epoch, view->serving ? "s" : "") : " -";
		}
		if (seat->repair)
			text += fmt::format(" of {} in state {}", seat->repaired,
				static_cast<int>(seat->repair->protocol().state()));
	}
	return text;
}

/** Gives work to all users at once, so that they meet; then nothing happens for a long time. */
void World::burst()
{
	std::uint64_t done = 0;
	for (const auto &seat : seats_) {
		if (!seat->user)
			continue;
		seat->user->give_work(options_.operations);
		done += seat->user->figures().operations;
		seat->next_poll = now() + 1;
	}
	if (options_.days > 0)
		mishaps_.happen();
	const auto pause = static_cast<Time>(options_.pause * static_cast<double>(second));
	const Time day_before = (now() - std::min(now(), pause)) / day;
	if (options_.progress && now() / day != day_before)
		options_.progress(static_cast<double>(now()) / static_cast<double>(day), done);
}

WorldResult World::run()
{
	begin_bursts(options_.days, options_.pause, [this] { burst(); });
	const Time limit = bursts_end() + longest_run;
	while (!stopped() && (bursts_end() || working() || !whole())) {
		step();
		if (working() && options_.days <= 0)
			mishaps_.happen();
		if (working())
			mishaps_.happen_at_once();
		if (now() > limit)
			find("work is left undone: " + state());
	}
	if (!stopped())
		close();
	if (!stopped())
		check_all();
	sum_up();
	return result_;
}

/**
 * Lets the users leave, some without reporting the buffers that they have freed; then the replicas look for lost ones.
 */
void World::close()
{
	spare_victim();
	closing_ = true;
	for (const auto &seat : seats_) {
		if (!seat->user)
			continue;
		if (seat->client && random().chance(50))
			seat->client->session().flush();
		seat->user->drop_work();
		after(random().between(50 * us, 5 * ms), [this, &seat = *seat] { kill(seat); });
	}
	come_to_rest();
}

void World::check_all()
{
	Remains remains{{}, failures(), options_.replica.blocks, options_.users, history_, random(),
		[this](const std::string &what) { find(what); }};
	for (const auto &site : sites_) {
		if (site->replica)
			remains.replicas.push_back(site->replica.get());
	}
	check(remains);
}

void World::sum_up()
{
	for (const auto &seat : seats_) {
		if (seat->user)
			result_.users.add(seat->user->figures());
	}
	for (const auto &site : sites_) {
		if (site->replica)
			retire(*site->replica);
	}
	if (result_.users.failed && !options_.partitions && options_.down <= failures())
		find(fmt::format("{} operations failed, though a quorum was there", result_.users.failed));
	if (options_.lost_together && result_.interruptions)
		find(fmt::format("repairs have interrupted each other {} times", result_.interruptions));
	report(result_);
}

} // namespace rs_sim
