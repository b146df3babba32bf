/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "../../linearizability/checker.hpp"

namespace rs_sim
{

using prism::rs::Slot;
using prism::rs::Tag;
using soft::Time;

namespace
{

constexpr Time us = 1'000;
constexpr Time ms = 1'000 * us;
constexpr Time second = 1'000 * ms;
constexpr Time day = 86'400 * second;
constexpr Time longest_run = 30 * second; /* without days */
/* How often a replica with a scan under way has its turn, if nothing else happens */
constexpr Time turn = 20 * us;
constexpr std::uint32_t replica_qpns = 0x100;
/* Percent of the steps at which something happens that is still to happen, and of the crashes that nobody is told of */
constexpr double happenings = 0.5;
constexpr double silent = 30;
/* The number of clients of Flaw::same_client */
constexpr std::uint64_t one_for_all = 7;

/** The queue pair that a packet is for (BTH, bytes 5 to 7). */
std::uint32_t destination(std::span<const std::uint8_t> packet)
{
	return std::uint32_t{packet[5]} << 16 | std::uint32_t{packet[6]} << 8 | packet[7];
}

} // namespace

World::World(std::uint64_t seed, const WorldOptions &options)
	: options_(options), random_(seed), sites_(options.replicas), crash_at_(options.crash_at),
	  crashes_left_(options.crashes), replica_crashes_left_(options.replica_crashes),
	  repair_crashes_left_(options.repair_crashes), partitions_left_(options.partitions), down_left_(options.down),
	  lost_acknowledgements_left_(options.lost_acknowledgements), second_lives_left_(options.second_lives),
	  together_left_(options.lost_together)
{
	std::vector<test::Node *> nodes;
	std::uint8_t host = 1;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		Site &site = sites_[replica];
		site.node.emplace(host++, replica_qpns);
		site.around = std::make_unique<Around>(*this, replica);
		site.replica = std::make_unique<Replica>(*site.node, *site.around, options_.replica, true);
		site.life = 1;
		nodes.push_back(&*site.node);
	}
	for (unsigned number = 0; number < options_.users + failures() + 1; number++) {
		auto seat = std::make_unique<Seat>();
		seat->world = this;
		seat->number = number;
		seat->host = std::make_unique<test::Node>(host++);
		seat->wires.resize(options_.replicas);
		seat->identity = number + 1;
		nodes.push_back(seat->host.get());
		UserOptions user = options_.user;
		if (number >= writers()) {
			user.gets = 100;
			user.pause = options_.second_lives ? 0 : user.pause;
		}
		if (number < options_.users)
			seat->user = std::make_unique<User>(
				number, user, random_, history_, [this](const std::string &what) { find(what); });
		seats_.push_back(std::move(seat));
	}
	network_ = std::make_unique<test::Network>(std::move(nodes), options_.faults, random_, options_.delays);
	network_->set_shim(
		[this](test::Node &node, std::vector<std::uint8_t> &packet) { return arrives(node, packet); });
	for (unsigned number = 0; number < options_.users; number++)
		sit_down(*seats_[number]);
}

World::~World() = default;

void World::find(const std::string &what)
{
	if (result_.finding.empty())
		result_.finding = fmt::format("at {} us: {}", now_ / us, what);
}

void World::Around::find(const std::string &what)
{
	world_.find(fmt::format("replica {}: {}", replica_, what));
}

/* Time ----------------------------------------------------------------------------------------------------------- */

void World::after(Time delay, std::function<void()> run)
{
	errands_.push({now_ + delay, errand_number_++, std::move(run)});
}

Time World::next_time() const
{
	Time next = ~Time{0};
	const auto consider = [&next](Time at) { next = at ? std::min(next, at) : next; };
	consider(network_->next());
	for (const Site &site : sites_) {
		consider(site.node->engine.next_deadline());
		if (site.replica && (!site.replica->idle() || site.replica->has_reports()))
			consider(now_ + turn);
	}
	for (const auto &seat : seats_) {
		consider(seat->host->engine.next_deadline());
		consider(seat->next_poll);
		if (!seat->client)
			continue;
		consider(seat->client->next_timer());
		consider(seat->user ? seat->user->next_begin(now_) : 0);
		if (seat->client->has_completions())
			consider(now_ + us);
	}
	if (!errands_.empty())
		consider(errands_.top().at);
	return std::max(next, now_ + 1);
}

/** With @p serves the replicas have their turns too: not while one of them waits for something itself. */
void World::step(bool serves)
{
	const Time next = next_time();
	if (next == ~Time{0}) {
		find("nothing is under way, but there is work left");
		return;
	}
	now_ = next;
	network_->deliver(now_);
	while (!errands_.empty() && errands_.top().at <= now_) {
		const std::function<void()> run = errands_.top().run;
		errands_.pop();
		run();
	}
	for (const auto &seat : seats_)
		poll(*seat);
	for (Site &site : sites_) {
		if (serves && site.replica)
			site.replica->serve();
	}
	for (Site &site : sites_)
		site.node->engine.progress(now_);
	for (const auto &seat : seats_)
		seat->host->engine.progress(now_);
	send_off();
}

void World::Around::go_on_until(const std::function<bool()> &done)
{
	/* What the replica has posted leaves only with a step of the engine. */
	world_.sites_[replica_].node->engine.progress(world_.now_);
	world_.network_->collect(world_.now_);
	world_.go_on_until(done);
}

void World::go_on_until(const std::function<bool()> &done)
{
	const Time deadline = now_ + second;
	while (!done() && now_ < deadline && result_.finding.empty())
		step(false);
}

/** Clients are busy with other things now and then. */
void World::poll(Seat &seat)
{
	seat.next_poll = 0;
	if (!seat.client)
		return;
	if (random_.chance(20)) {
		seat.next_poll = now_ + 1 + random_.below(3 * us);
		return;
	}
	seat.client->poll();
	if (seat.user)
		seat.user->go_on(now_);
	else
		look_after_repairs(seat);
	if (seat.client)
		seat.client->ring();
	if (!seat.user || !seat.user->usurped())
		return;
	if (!options_.intruder)
		find("a PUT of the only client that writes met a newer one");
	kill(seat);
	after(random_.between(10 * us, 1 * ms), [this, &seat] { sit_down(seat); });
}

/* Connections ---------------------------------------------------------------------------------------------------- */

/** When something that is said now can begin its way. */
Time World::passes(const Wire &wire) const
{
	const auto parted = parted_until_.find({wire.seat->number, wire.replica});
	return parted == parted_until_.end() ? now_ : std::max(now_, parted->second);
}

void World::up(const WirePtr &wire, Time delay, std::function<void(Replica &)> hear)
{
	wire->last_up = std::max(wire->last_up, passes(*wire) + delay);
	after(wire->last_up - now_, [this, wire, hear = std::move(hear)] {
		const Site &site = sites_[wire->replica];
		if (site.replica && site.life == wire->life)
			hear(*site.replica);
	});
}

/** Only a client that still uses the connection hears what comes over it. */
void World::down(const WirePtr &wire, Time delay, std::function<void(Seat &)> hear)
{
	wire->last_down = std::max(wire->last_down, passes(*wire) + delay);
	after(wire->last_down - now_, [this, wire, delay, hear = std::move(hear)]() mutable {
		if (wire->pair) /* the client does not use it yet */
			down(wire, delay, std::move(hear));
		if (!is_connected(*wire))
			return;
		hear(*wire->seat);
		wire->seat->next_poll = now_ + 1;
	});
}

bool World::is_connected(const Wire &wire) const
{
	return wire.seat->client && wire.seat->wires[wire.replica].get() == &wire;
}

World::Seat &World::seat_of(const Client &client)
{
	return **std::find_if(
		seats_.begin(), seats_.end(), [&client](const auto &seat) { return seat->client.get() == &client; });
}

void World::want(Client &client, unsigned replica, std::uint64_t epoch)
{
	const auto wire = std::make_shared<Wire>();
	wire->seat = &seat_of(client);
	wire->client = wire->seat->life;
	wire->replica = replica;
	wire->pair = std::make_unique<Pair>(*wire->seat->host, test::EndpointOptions{});
	after(random_.between(10 * us, 100 * us), [this, wire, epoch] { reach(wire, epoch); });
}

/** The request of a client arrives. */
void World::reach(const WirePtr &wire, std::uint64_t epoch)
{
	if (wire->seat->life != wire->client)
		return;
	const Site &site = sites_[wire->replica];
	if (!site.replica || parted(*wire->seat, wire->replica)) {
		try_again(wire);
		return;
	}
	const Replica::Request request{epoch, wire->seat->client->session().repairs(wire->replica)};
	const std::optional<Admission> admission = site.replica->admit(*wire->pair, request);
	if (!admission && request.repairs) { /* there is nothing to repair, as a repair is told */
		wire->seat->repair->protocol().give_up(EBUSY);
		return;
	}
	if (!admission) {
		try_again(wire);
		return;
	}
	result_.links++;
	wire->life = site.life;
	wire->connection = admission->connection;
	wire->admission = *admission;
	std::erase_if(wires_, [](const std::weak_ptr<Wire> &other) { return other.expired(); });
	wires_.push_back(wire);
	wire->last_down = passes(*wire) + random_.between(10 * us, 100 * us);
	after(wire->last_down - now_, [this, wire] { answer(wire); });
}

void World::try_again(const WirePtr &wire)
{
	wire->pair.reset();
	after(random_.between(200 * us, 2 * ms), [this, wire] {
		if (wire->seat->life == wire->client)
			want(*wire->seat->client, wire->replica, wire->seat->client->session().epoch());
	});
}

/** The replica's answer arrives; the client says that it is ready. */
void World::answer(const WirePtr &wire)
{
	if (wire->seat->life != wire->client) {
		wire->pair.reset();
		end(wire);
		return;
	}
	after(passes(*wire) - now_ + random_.between(10 * us, 100 * us), [this, wire] { confirm(wire); });
}

/** The replica hears that; only with its own mark does the client begin. */
void World::confirm(const WirePtr &wire)
{
	const Site &site = sites_[wire->replica];
	if (!site.replica || site.life != wire->life) {
		try_again(wire);
		return;
	}
	site.replica->enter(wire->connection);
	wire->last_down = std::max(wire->last_down, passes(*wire)) + random_.between(10 * us, 100 * us);
	after(wire->last_down - now_, [this, wire] {
		Seat &seat = *wire->seat;
		if (seat.life != wire->client) {
			wire->pair.reset();
			end(wire);
			return;
		}
		seat.wires[wire->replica] = wire;
		seat.client->link_up(wire->replica, std::move(wire->pair), wire->admission);
		seat.next_poll = now_ + 1;
	});
}

void World::closed(Client &client, unsigned replica, std::uint32_t)
{
	end(std::exchange(seat_of(client).wires[replica], nullptr));
}

/** The client's side of a connection is no more. */
void World::end(const WirePtr &wire)
{
	up(wire, random_.between(50 * us, 3 * ms),
		[connection = wire->connection](Replica &replica) { replica.end_of(connection); });
}

World::WirePtr World::wire_of(unsigned replica, std::uint32_t connection) const
{
	for (const std::weak_ptr<Wire> &candidate : wires_) {
		WirePtr wire = candidate.lock();
		if (wire && wire->replica == replica && wire->connection == connection &&
			wire->life == sites_[replica].life)
			return wire;
	}
	return nullptr;
}

void World::Around::tell_to_settle(std::uint32_t connection, std::uint64_t value)
{
	const WirePtr wire = world_.wire_of(replica_, connection);
	if (!wire)
		return;
	World &world = world_;
	world.down(wire, world.random_.between(10 * us, 100 * us), [&world, wire, value](Seat &seat) {
		seat.client->settle(wire->replica, [&world, wire, value] {
			world.up(wire, world.random_.between(10 * us, 100 * us),
				[wire, value](Replica &replica) { replica.hear_settled(wire->connection, value); });
		});
	});
}

void World::Around::tell_ended(std::uint32_t connection)
{
	if (const WirePtr wire = world_.wire_of(replica_, connection))
		world_.down(wire, world_.random_.between(50 * us, 300 * us),
			[wire](Seat &seat) { seat.client->link_down(wire->replica); });
}

/** A repair says something to a replica, and hears the answer. */
void World::tell(Seat &seat, unsigned replica, const prism::apps::ControlMessage &message)
{
	const WirePtr wire = seat.wires[replica];
	up(wire, random_.between(10 * us, 100 * us), [this, wire, message](Replica &to) {
		const auto error = static_cast<std::uint64_t>(to.hear(wire->connection, message));
		if (message.kind == prism::rs::turn_ends_message)
			return;
		down(wire, random_.between(10 * us, 100 * us), [wire, message, error](Seat &repairer) {
			repairer.repair->protocol().hear(wire->replica, {message.kind, error});
		});
	});
}

void World::Seat::tell(unsigned replica, const prism::apps::ControlMessage &message)
{
	world->tell(*this, replica, message);
}

/* Faults --------------------------------------------------------------------------------------------------------- */

bool World::parted(const Seat &seat, unsigned replica) const
{
	const auto found = parted_until_.find({seat.number, replica});
	return found != parted_until_.end() && found->second > now_;
}

bool World::is_parted() const
{
	return std::any_of(parted_until_.begin(), parted_until_.end(),
		[this](const auto &parted) { return parted.second > now_; });
}

/** Whether a packet that has come to @p node has come through a partition, and so has not. */
bool World::is_cut_off(test::Node &node, std::span<const std::uint8_t> packet)
{
	const soft::QueuePair *const qp = node.engine.find_qp(destination(packet));
	if (!qp)
		return true; /* nobody is there to take it */
	const auto site_of = [this](const soft::Address &address) {
		return std::find_if(sites_.begin(), sites_.end(),
			[&address](const Site &site) { return site.node->address == address; });
	};
	const bool is_up = site_of(node.address) != sites_.end();
	const auto site = site_of(is_up ? node.address : qp->attr.peer);
	const soft::Address &host = is_up ? qp->attr.peer : node.address;
	const auto seat = std::find_if(
		seats_.begin(), seats_.end(), [&host](const auto &one) { return one->host->address == host; });
	return site != sites_.end() && seat != seats_.end() &&
	       parted(**seat, static_cast<unsigned>(site - sites_.begin()));
}

/** What arrives; counts the first user's packets: with the last that it is to see it dies. */
bool World::arrives(test::Node &node, std::span<const std::uint8_t> packet)
{
	if (!parted_until_.empty() && is_cut_off(node, packet))
		return false;
	if (&node != seats_.front()->host.get())
		return true;
	if (dying_)
		return false;
	victim_packets_++;
	dying_ = crash_at_ && victim_packets_ == crash_at_;
	return true;
}

/** Hands to the network what was sent; of a user that dies, only what it had sent before. */
void World::send_off()
{
	Seat &victim = *seats_.front();
	if (dying_) {
		victim.host->outbox.keep(0);
	} else {
		const std::uint64_t sent = victim.host->outbox.size();
		dying_ = crash_at_ > victim_packets_ && victim_packets_ + sent >= crash_at_;
		if (dying_)
			victim.host->outbox.keep(crash_at_ - victim_packets_);
		victim_packets_ += sent;
	}
	network_->collect(now_);
	if (dying_ && victim.client) {
		kill(victim);
		result_.crashes++;
		after(random_.between(10 * us, 5 * ms), [this, &victim] { sit_down(victim); });
	}
	if (dying_)
		crash_at_ = 0;
	dying_ = false;
}

/** A new incarnation of a user's client. */
void World::sit_down(Seat &seat)
{
	if (closing_)
		return;
	const bool keeps_identity = options_.flaw == Flaw::reused_client;
	if (!keeps_identity)
		seat.identity = options_.flaw == Flaw::same_client ? one_for_all : random_.bits() | 1;
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
	seat.client = std::make_unique<Client>(*seat.host, around, options,
		[this, &seat](const prism::apps::Operation &operation) { seat.user->ended(operation, now_); });
	seat.user->use(*seat.client);
	seat.client->begin();
	seat.next_poll = now_ + 1;
}

/** Without a word. Replicas learn of it some time. */
void World::kill(Seat &seat)
{
	if (seat.user)
		seat.user->leave();
	seat.repair.reset();
	seat.client.reset();
	seat.life++;
	seat.next_poll = 0;
	for (WirePtr &wire : seat.wires) {
		if (wire)
			end(wire);
		wire.reset();
	}
}

/** A user dies after some more packets. */
void World::crash_user()
{
	if (crash_at_ || !seats_.front()->client)
		return;
	crashes_left_--;
	crash_at_ = victim_packets_ + random_.between(1, 60);
}

unsigned World::serving() const
{
	return static_cast<unsigned>(std::count_if(sites_.begin(), sites_.end(),
		[](const Site &site) { return site.replica && site.replica->serving(); }));
}

void World::retire(Site &site)
{
	const simulation::StoreFigures &figures = site.replica->figures();
	result_.stores.reports += figures.reports;
	result_.stores.recovery.scans += figures.recovery.scans;
	result_.stores.recovery.put_off += figures.recovery.put_off;
	result_.stores.drained += figures.drained;
	result_.stores.recovery.recovered += figures.recovery.recovered;
}

/** Most clients of a replica that has crashed are told; its repair notices that its own talk is over. */
void World::spread_news(unsigned replica)
{
	if (!random_.chance(silent)) {
		for (const std::weak_ptr<Wire> &candidate : wires_) {
			const WirePtr wire = candidate.lock();
			if (wire && wire->replica == replica && wire->life == sites_[replica].life)
				down(wire, random_.between(50 * us, 3 * ms),
					[wire](Seat &seat) { seat.client->link_down(wire->replica); });
		}
	}
	for (const auto &seat : seats_) {
		if (!seat->repair || seat->repaired != replica)
			continue;
		after(random_.between(100 * us, 2 * ms), [this, &seat = *seat, life = seat->life] {
			if (seat.life == life)
				lose_repair(seat);
		});
	}
}

/** With its memory. As many as a volume stands may be without at a time; those that stay away may be more. */
void World::crash_replica(unsigned replica, bool stays_away)
{
	Site &site = sites_[replica];
	const unsigned left = serving() - (site.replica && site.replica->serving());
	const bool too_many = left < options_.replicas - failures() && !(stays_away && options_.down > failures());
	/* One that is on its way back may go again, but most are to come back. */
	if (!site.replica || too_many || (!site.replica->serving() && !random_.chance(3)))
		return;
	(stays_away ? down_left_ : replica_crashes_left_)--;
	result_.replica_crashes++;
	retire(site);
	spread_news(replica);
	site.replica.reset();
	site.node.emplace(static_cast<std::uint8_t>(1 + replica), replica_qpns);
	site.life++;
	site.stays_away = stays_away;
	if (!stays_away)
		after(random_.between(100 * us, 4 * ms), [this, replica] { bring_back(replica); });
	const auto away = std::count_if(sites_.begin(), sites_.end(), [](const Site &one) { return one.stays_away; });
	for (const auto &seat : seats_) {
		if (seat->user && away > failures())
			seat->user->expect_failures();
	}
}

/** Other than that nothing happens, so no repair has a reason to begin again. */
void World::crash_together()
{
	together_left_ = false;
	const auto first = static_cast<unsigned>(random_.below(options_.replicas));
	replica_crashes_left_ += failures();
	for (unsigned i = 0; i < failures(); i++)
		crash_replica((first + i) % options_.replicas, false);
}

/**
 * The first user writes to one replica alone, which has acknowledged that when it is lost, and repaired. Then another
 * one acknowledges too. Who counts both has a write that a read of the other two does not see.
 */
void World::lose_acknowledgements()
{
	const auto lost = static_cast<unsigned>(random_.below(options_.replicas));
	if (serving() != options_.replicas || !seats_.front()->client || is_parted())
		return;
	lost_acknowledgements_left_--;
	replica_crashes_left_++;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if (replica != lost)
			parted_until_[{0, replica}] = now_ + 12 * ms;
	}
	const Time delay = random_.between(1 * ms, 3 * ms);
	due_crashes_.push_back({now_ + delay, lost});
	const unsigned apart = (lost + 1) % options_.replicas, healed = (lost + 2) % options_.replicas;
	const std::uint64_t life = sites_[lost].life;
	after(delay, [this, lost, life, healed, apart] { heal_when_repaired(lost, life, healed, apart); });
}

/** @p life: of the replica before it is lost. */
void World::heal_when_repaired(unsigned lost, std::uint64_t life, unsigned healed, unsigned apart)
{
	if (sites_[lost].life == life || !sites_[lost].replica || !sites_[lost].replica->serving()) {
		after(100 * us, [this, lost, life, healed, apart] { heal_when_repaired(lost, life, healed, apart); });
		return;
	}
	parted_until_[{0, healed}] = now_;
	parted_until_[{0, apart}] = now_ + 8 * ms;
}

/**
 * The first user dies when one replica alone has what it was writing, and comes back where that one cannot be reached.
 * If its new life takes the tags of the first, two blocks have the same. One reader sees the one, and the last reader,
 * which cannot reach that replica either, the other.
 */
void World::live_twice()
{
	const Seat &seat = *seats_.front();
	const std::optional<unsigned> installing = seat.client ? seat.client->installing() : std::nullopt;
	if (!installing || is_parted())
		return;
	second_lives_left_--;
	const unsigned alone = *installing;
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if (replica != alone)
			parted_until_[{0, replica}] = now_ + 10 * ms;
	}
	after(random_.between(100 * us, 500 * us), [this, alone] { begin_second_life(alone); });
}

void World::begin_second_life(unsigned alone)
{
	Seat &seat = *seats_.front();
	if (closing_ || !seat.client)
		return;
	kill(seat);
	result_.crashes++;
	for (unsigned replica = 0; replica < options_.replicas; replica++)
		parted_until_.erase({0, replica});
	parted_until_[{0, alone}] = parted_until_[{options_.users - 1, alone}] = now_ + 8 * ms;
	after(20 * us, [this, &seat] { sit_down(seat); });
}

void World::bring_back(unsigned replica)
{
	Site &site = sites_[replica];
	site.replica = std::make_unique<Replica>(*site.node, *site.around, options_.replica, false);
	after(random_.below(1 * ms), [this, replica] { begin_repair(replica, true); });
}

void World::begin_repair(unsigned replica, bool alone)
{
	const Site &site = sites_[replica];
	const auto another = [replica](const auto &seat) { return seat->repair && seat->repaired == replica; };
	if (!site.replica || site.replica->serving() || (alone && std::any_of(seats_.begin(), seats_.end(), another)))
		return;
	const auto free = std::find_if(
		seats_.begin(), seats_.end(), [](const auto &seat) { return !seat->user && !seat->client; });
	if (free == seats_.end()) {
		after(1 * ms, [this, replica, alone] { begin_repair(replica, alone); });
		return;
	}
	Seat &seat = **free;
	ClientOptions options;
	options.protocol.replicas = options_.replicas;
	options.protocol.client = random_.bits() | 1;
	options.protocol.repairs = replica;
	options.depth = 2;
	options.protocol.hedge = std::chrono::nanoseconds(options_.hedge);
	options.block_size = options_.user.block_size;
	options.report_batch = options_.report_batch;
	options.timeout = options_.user.timeout;
	ClientSurroundings &around = *this; /* the base is private */
	seat.client = std::make_unique<Client>(*seat.host, around, options,
		[&seat](prism::apps::Operation &operation) { seat.repair->ended(operation); });
	seat.repaired = replica;
	prism::rs::RepairRules rules;
	rules.replica = replica;
	rules.replicas = options_.replicas;
	rules.blocks = options_.replica.blocks;
	rules.client = options.protocol.client;
	rules.says_so = std::chrono::nanoseconds(options_.replica.repair_lease / 4);
	rules.patience = std::chrono::nanoseconds(4 * options_.replica.repair_lease);
	seat.repair = std::make_unique<Repair>(*seat.client, rules, options_.flaw, random_, seat);
	seat.client->begin();
	seat.next_poll = now_ + 1;
}

void World::look_after_repairs(Seat &seat)
{
	using State = prism::rs::RepairProtocol::State;
	seat.repair->poll();
	const State state = seat.repair->protocol().state();
	if (!seat.repair->protocol().over()) {
		seat.next_poll = state == State::copying ? now_ + 1 : now_ + turn;
		return;
	}
	result_.interruptions += seat.repair->protocol().interruptions();
	if (state == State::failed) {
		lose_repair(seat);
		return;
	}
	result_.repairs++;
	seat.client->session().flush();
	seat.host->engine.progress(now_);
	kill(seat);
}

/** Another one follows. */
void World::lose_repair(Seat &seat)
{
	result_.lost_repairs++;
	kill(seat);
	after(random_.between(100 * us, 2 * ms), [this, replica = seat.repaired] { begin_repair(replica, true); });
}

/** A repair vanishes, or another one begins that knows nothing of the first. */
void World::crash_repair()
{
	const auto found =
		std::find_if(seats_.begin(), seats_.end(), [](const auto &seat) { return seat->repair != nullptr; });
	if (found == seats_.end())
		return;
	repair_crashes_left_--;
	const unsigned replica = (*found)->repaired;
	if (random_.chance(50)) {
		lose_repair(**found);
		return;
	}
	/* It is not heard of, so the other one takes its place, and goes on all the same. */
	const Time lease = options_.replica.repair_lease;
	if (random_.chance(50))
		parted_until_[{(*found)->number, replica}] = now_ + random_.between(lease, 4 * lease);
	after(random_.below(3 * lease), [this, replica] { begin_repair(replica, false); });
}

/** A client from one replica, or from all but one, for a while each. */
void World::part()
{
	if (is_parted() && !random_.chance(10))
		return;
	partitions_left_--;
	result_.partitions++;
	Seat &seat = *seats_[random_.below(random_.chance(80) ? options_.users : seats_.size())];
	const auto chosen = static_cast<unsigned>(random_.below(options_.replicas));
	const bool from_one = random_.chance(50);
	for (unsigned replica = 0; replica < options_.replicas; replica++) {
		if ((replica == chosen) == from_one)
			parted_until_[{seat.number, replica}] =
				now_ + random_.between(100 * us, options_.longest_partition);
	}
	const auto other = static_cast<unsigned>(1 + random_.below(options_.replicas - 1));
	if (random_.chance(50))
		aggravate(seat, from_one ? (chosen + other) % options_.replicas : chosen);
}

/**
 * What makes a partition worse than it is: the client, or a replica that it can still talk to, is lost meanwhile. So it
 * is the only one that has what was written, or one of few.
 */
void World::aggravate(Seat &seat, unsigned replica)
{
	const Time delay = random_.between(100 * us, options_.longest_partition);
	if (replica_crashes_left_ && random_.chance(50)) {
		due_crashes_.push_back({now_ + delay, replica});
		after(delay, [] {}); /* see happen(): a replica may be in the middle of something now */
	} else if (seat.user && crashes_left_) {
		crashes_left_--;
		after(delay, [this, &seat] { crash_here(seat); });
	}
}

/** A user comes back where it was, or at a place that no partition is around. */
void World::crash_here(Seat &seat)
{
	if (closing_ || !seat.client)
		return;
	kill(seat);
	result_.crashes++;
	if (random_.chance(50)) {
		for (unsigned replica = 0; replica < options_.replicas; replica++)
			parted_until_.erase({seat.number, replica});
	}
	after(random_.between(10 * us, 5 * ms), [this, &seat] { sit_down(seat); });
}

/** Whether one of so many that are to happen in all is due now: at any step of a run, or with one of many bursts. */
bool World::is_due(unsigned in_all)
{
	const double bursts = options_.days * static_cast<double>(day / second) / options_.pause;
	return random_.chance(options_.days <= 0 ? happenings : 100 * in_all / bursts);
}

/** What is still to happen to users, replicas and repairs, at random times; of days, with each burst. */
void World::happen()
{
	if (crashes_left_ && is_due(options_.crashes))
		crash_user();
	/* Most are to come with a partition, if there are any. */
	const bool rarely = options_.days <= 0 && partitions_left_;
	if (replica_crashes_left_ && (!rarely || random_.chance(10)) && is_due(options_.replica_crashes))
		crash_replica(static_cast<unsigned>(random_.below(options_.replicas)), false);
	if (partitions_left_ && is_due(options_.partitions))
		part();
	if (down_left_ && is_due(options_.down))
		crash_replica(static_cast<unsigned>(random_.below(options_.replicas)), true);
	if (lost_acknowledgements_left_ && is_due(options_.lost_acknowledgements))
		lose_acknowledgements();
	if (second_lives_left_ && is_due(options_.second_lives))
		live_twice();
	if (together_left_ && is_due(1))
		crash_together();
}

/** What happens at a step, also of days. */
void World::happen_at_once()
{
	const auto is_late = [this](const auto &crash) { return crash.first <= now_; };
	for (const auto &crash : due_crashes_) {
		if (is_late(crash) && replica_crashes_left_)
			crash_replica(crash.second, false);
	}
	std::erase_if(due_crashes_, is_late);
	if (repair_crashes_left_ && random_.chance(happenings))
		crash_repair();
	Site &site = sites_[random_.below(options_.replicas)];
	if (site.replica && random_.chance(options_.scans))
		site.replica->want_recovery();
}

/* A run ---------------------------------------------------------------------------------------------------------- */

bool World::working() const
{
	return std::any_of(seats_.begin(), seats_.end(),
		[](const auto &seat) { return seat->user && (!seat->client || !seat->user->done()); });
}

bool World::whole() const
{
	const auto well = [](const Site &site) { return site.stays_away || (site.replica && site.replica->serving()); };
	const auto at_rest = [](const auto &seat) { return !seat->repair; };
	return std::all_of(sites_.begin(), sites_.end(), well) && std::all_of(seats_.begin(), seats_.end(), at_rest);
}

/** For who wonders why nothing goes on. */
std::string World::state() const
{
	std::string text;
	for (const Site &site : sites_)
		text += !site.replica ? " gone" : site.replica->serving() ? " serving" : " recovering";
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

/** All users at once, so that they meet, then a long time nothing. */
void World::burst()
{
	std::uint64_t done = 0;
	for (const auto &seat : seats_) {
		if (!seat->user)
			continue;
		seat->user->give_work(options_.operations);
		done += seat->user->figures().operations;
		seat->next_poll = now_ + 1;
	}
	if (options_.days > 0)
		happen();
	const auto pause = static_cast<Time>(options_.pause * static_cast<double>(second));
	const Time day_before = (now_ - std::min(now_, pause)) / day;
	if (options_.progress && now_ / day != day_before)
		options_.progress(static_cast<double>(now_) / static_cast<double>(day), done);
	if (options_.days > 0 && now_ + pause < work_ends_)
		after(pause, [this] { burst(); });
	else
		work_ends_ = 0;
}

WorldResult World::run()
{
	if (options_.days > 0)
		work_ends_ = now_ + static_cast<Time>(options_.days * static_cast<double>(day));
	const Time limit = work_ends_ + longest_run;
	burst();
	while (result_.finding.empty() && (work_ends_ || working() || !whole())) {
		step(true);
		if (working() && options_.days <= 0)
			happen();
		if (working())
			happen_at_once();
		if (now_ > limit)
			find("work is left undone: " + state());
	}
	if (result_.finding.empty())
		close();
	if (result_.finding.empty())
		check();
	sum_up();
	return result_;
}

void World::sum_up()
{
	for (const auto &seat : seats_) {
		if (!seat->user)
			continue;
		const UserFigures &figures = seat->user->figures();
		result_.users.operations += figures.operations;
		result_.users.direct += figures.direct;
		result_.users.failed += figures.failed;
		result_.users.stale += figures.stale;
	}
	for (Site &site : sites_) {
		if (site.replica)
			retire(site);
	}
	if (result_.users.failed && !options_.partitions && options_.down <= failures())
		find(fmt::format("{} operations failed, though a quorum was there", result_.users.failed));
	if (options_.lost_together && result_.interruptions)
		find(fmt::format("repairs have interrupted each other {} times", result_.interruptions));
	result_.packets = network_->sent;
	result_.victim_packets = victim_packets_;
	result_.time = now_;
}

/** The users leave, some without reporting what they have freed; then the replicas look for what is lost. */
void World::close()
{
	crash_at_ = 0;
	closing_ = true;
	for (const auto &seat : seats_) {
		if (!seat->user)
			continue;
		if (seat->client && random_.chance(50))
			seat->client->session().flush();
		seat->user->drop_work();
		after(random_.between(50 * us, 5 * ms), [this, &seat = *seat] { kill(seat); });
	}
	const auto busy = [](const Site &site) {
		return site.replica && (site.replica->open() || !site.replica->idle());
	};
	const auto sitting = [](const auto &seat) { return seat->client != nullptr; };
	const Time deadline = now_ + 60 * second;
	while (result_.finding.empty() &&
		(std::any_of(seats_.begin(), seats_.end(), sitting) ||
			std::any_of(sites_.begin(), sites_.end(), busy) || network_->next())) {
		step(true);
		if (now_ > deadline)
			find("the recovery scan does not end");
	}
}

/* Checks --------------------------------------------------------------------------------------------------------- */

void World::check()
{
	for (Site &site : sites_) {
		if (site.replica)
			site.replica->check_blocks();
	}
	if (serving() > failures())
		read_all();
	check_history();
	for (Site &site : sites_) {
		if (site.replica)
			site.replica->account();
	}
}

/** What a last GET of each block would find, at some quorum. */
void World::read_all()
{
	for (std::uint64_t block = 0; block < options_.replica.blocks; block++) {
		std::vector<const Replica *> replicas;
		for (const Site &site : sites_) {
			if (site.replica && site.replica->serving())
				replicas.push_back(site.replica.get());
		}
		while (replicas.size() > failures() + 1)
			replicas.erase(replicas.begin() + static_cast<std::ptrdiff_t>(random_.below(replicas.size())));
		prism::test::Operation operation;
		operation.key = block;
		operation.client = options_.users;
		operation.kind = prism::test::Kind::get;
		const std::size_t record = history_.begin(operation);
		Tag newest;
		std::uint64_t value = prism::test::absent;
		for (const Replica *const replica : replicas) {
			const Slot slot = replica->at_block(block);
			if (slot.tag <= newest)
				continue;
			newest = slot.tag;
			std::memcpy(&value, replica->at(slot.block.ptr + sizeof(Tag), sizeof(value)), sizeof(value));
		}
		history_.end(record,
			value == prism::test::absent ? prism::test::Outcome::not_found : prism::test::Outcome::ok,
			value);
	}
}

void World::check_history()
{
	const prism::test::CheckReport report = prism::test::check(history_.operations());
	if (report.verdict == prism::test::Verdict::linearizable)
		return;
	std::string text = fmt::format("the history is {}", prism::test::name_of(report.verdict));
	if (!report.findings.empty()) {
		text += fmt::format("; block {}: {}", report.findings[0].key, report.findings[0].reason);
		for (const auto &operation : report.findings[0].window)
			text += "\n    " + prism::test::describe(operation);
	}
	find(text);
}

} // namespace rs_sim
