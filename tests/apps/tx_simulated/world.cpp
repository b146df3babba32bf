/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "cycles.hpp"
#include "index.hpp"
#include "replay.hpp"
#include "tx/store/object.hpp"

namespace tx_sim
{

using prism::tx::Cell;
using prism::tx::KeyPlace;
using prism::tx::ObjectView;
using prism::tx::Record;
using serializability::Draft;
using soft::Time;

namespace
{

constexpr Time us = 1'000;
constexpr Time ms = 1'000 * us;
constexpr Time second = 1'000 * ms;
constexpr Time longest_end = 60 * second;
/* How often a shard with a scan under way has its turn, if nothing else happens */
constexpr Time turn = 20 * us;
constexpr std::uint32_t shard_qpns = 0x100;
/* Numbers of clients beside one a user: of those whose death is not known yet */
constexpr std::uint32_t spare_clients = 3;
/* Percent of the steps at which something happens that is still to happen, and of the crashes that nobody is told of */
constexpr double happenings = 0.5;
constexpr double silent = 30;
/* ns: so far clocks are from each other at most, and so much later they begin with each run */
constexpr std::int64_t day = 86'400 * std::int64_t{1'000'000'000};
constexpr std::int64_t largest_skew = 4 * day;
constexpr std::uint64_t epoch = 1'000'000'000'000'000;
/* Of a history of many runs */
constexpr std::uint64_t keys_of_a_run = std::uint64_t{1} << 32;
constexpr std::uint64_t sessions_of_a_run = 1 << 12;
constexpr Time time_of_a_run = 1000 * second;

/** The queue pair that a packet is for (BTH, bytes 5 to 7). */
std::uint32_t destination(std::span<const std::uint8_t> packet)
{
	return std::uint32_t{packet[5]} << 16 | std::uint32_t{packet[6]} << 8 | packet[7];
}

serializability::HistoryKind kind_of(Workload workload)
{
	return workload == Workload::lists ? serializability::HistoryKind::lists
					   : serializability::HistoryKind::registers;
}

} // namespace

World::World(std::uint64_t seed, const WorldOptions &options)
	: options_(options), random_(seed), history_(kind_of(options.user.workload)), sites_(options.shards),
	  packets_left_(options.crash_at), crashes_left_(options.crashes), shard_crashes_left_(options.shard_crashes),
	  partitions_left_(options.partitions)
{
	std::vector<test::Node *> nodes;
	std::uint8_t host = 1;
	for (std::size_t number = 0; number < sites_.size(); number++) {
		Site &site = sites_[number];
		site.node.emplace(host++, shard_qpns, 256);
		site.around = std::make_unique<Around>(*this, number);
		site.shard = std::make_unique<Shard>(*site.node, *site.around, shard_options(number));
		nodes.push_back(&*site.node);
	}
	for (unsigned number = 0; number < options_.users; number++)
		add_seat(true, nodes, host++);
	for (unsigned number = 0; number < options_.users + spare_clients; number++)
		add_seat(false, nodes, host++);
	network_ = std::make_unique<test::Network>(std::move(nodes), options_.faults, random_, options_.delays);
	network_->set_shim(
		[this](test::Node &node, std::vector<std::uint8_t> &packet) { return arrives(node, packet); });
	if (packets_left_)
		victim_ = seats_.front().get();
	for (const auto &seat : seats_) {
		if (seat->user)
			sit_down(*seat);
	}
}

World::~World() = default;

void World::add_seat(bool uses, std::vector<test::Node *> &nodes, std::uint8_t host)
{
	auto seat = std::make_unique<Seat>();
	seat->number = seats_.size();
	seat->host = std::make_unique<test::Node>(host);
	nodes.push_back(seat->host.get());
	Recorder &recorder = *this; /* the base is private */
	if (uses)
		seat->user = std::make_unique<User>(
			options_.user, random_, recorder, [this] { return now_; },
			[this](const std::string &what) { find(what); });
	seats_.push_back(std::move(seat));
}

std::uint64_t World::cells() const
{
	return options_.cells ? options_.cells : (options_.user.keys + options_.shards - 1) / options_.shards;
}

ShardOptions World::shard_options(std::size_t number) const
{
	ShardOptions shard;
	shard.shard = static_cast<std::uint16_t>(number);
	shard.mtu = options_.mtu;
	shard.recovery.slots_a_step = options_.slots_a_step;
	shard.geometry.cells = cells();
	shard.geometry.clients = options_.users + spare_clients;
	shard.geometry.lanes = options_.user.depth + options_.spare_lanes;
	/* A client may be back before its end is known. */
	shard.max_connections = 16 * shard.geometry.clients;
	shard.store.numbered = options_.cells == 0;
	shard.store.as_in_paper = options_.as_in_paper;
	shard.store.max_key_size = sizeof(std::uint64_t);
	shard.store.max_value_size = longest_value(options_.user.workload);
	const std::size_t record = Record::header_size + shard.store.max_key_size + shard.store.max_value_size;
	const std::uint64_t most = options_.cells ? options_.user.keys : 1;
	const auto buffers = static_cast<std::uint32_t>(cells()) + options_.spare_buffers;
	for (std::uint64_t records = 1;; records = std::min(2 * records, most)) {
		const std::size_t bytes = prism::tx::object_header_size + records * record;
		shard.classes.push_back({static_cast<std::uint32_t>((bytes + 63) / 64 * 64), buffers});
		if (records == most)
			break;
	}
	shard.flaw = options_.flaw;
	return shard;
}

void World::find(const std::string &what)
{
	stopped_ = true;
	if (what.find(options_.expected) == std::string::npos)
		result_.others++;
	else if (result_.finding.empty())
		result_.finding = fmt::format("at {} us: {}", now_ / us, what);
}

void World::Around::find(const std::string &what)
{
	world_.find(fmt::format("shard {}: {}", shard_, what));
}

/** Runs of one history have nothing in common. */
void World::record(Draft &transaction)
{
	if (const prism::Result<void> added = history_.add(transaction); !added)
		find(added.error().message);
	if (!options_.history)
		return;
	Draft moved = transaction;
	moved.client += static_cast<std::uint32_t>(options_.run * sessions_of_a_run);
	moved.invoked += options_.run * time_of_a_run;
	moved.responded += moved.responded ? options_.run * time_of_a_run : 0;
	for (serializability::Operation &operation : moved.operations)
		operation.key += options_.run * keys_of_a_run;
	if (const int error = options_.history->record(moved))
		find(fmt::format("the history cannot be written: {}", std::strerror(error)));
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
		if (site.shard && (!site.shard->idle() || site.shard->has_reports()))
			consider(now_ + turn);
	}
	for (const auto &seat : seats_) {
		consider(seat->host->engine.next_deadline());
		consider(seat->next_poll);
		if (!seat->client)
			continue;
		consider(seat->client->next_timer());
		consider(seat->in_use ? seat->user->next_begin() : 0);
		if (seat->client->has_completions())
			consider(now_ + us);
	}
	if (!errands_.empty())
		consider(errands_.top().at);
	return std::max(next, now_ + 1);
}

/** With @p serves the shards have their turns too: not while one of them waits for something itself. */
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
		if (serves && site.shard)
			site.shard->serve();
	}
	for (Site &site : sites_)
		site.node->engine.progress(now_);
	for (const auto &seat : seats_)
		seat->host->engine.progress(now_);
	send_off();
}

void World::Around::go_on_until(const std::function<bool()> &done)
{
	/* What the shard has posted leaves only with a step of the engine. */
	world_.sites_[shard_].node->engine.progress(world_.now_);
	world_.network_->collect(world_.now_);
	world_.go_on_until(done);
}

void World::go_on_until(const std::function<bool()> &done)
{
	const Time deadline = now_ + second;
	while (!done() && now_ < deadline && !stopped_)
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
	Client &client = *seat.client;
	if (client.ready() && seat.user && !seat.in_use) {
		seat.in_use = true;
		seat.user->use(client);
		for (std::uint64_t key = places_.size(); key < options_.user.keys; key++) {
			places_.emplace_back();
			(void)client.place_of(std::as_bytes(std::span(&key, 1)), places_.back());
		}
	}
	if (seat.in_use) {
		seat.user->go_on();
	} else {
		std::array<prism::tx::Job *, 1> none;
		(void)client.poll(none);
	}
	client.ring();
	if (client.has_completions() || (client.ready() && seat.user && !seat.in_use))
		seat.next_poll = now_ + 1;
	if (client.refused() || (client.broken() && !failing_ && !seat.doomed))
		give_up(seat);
}

/* Connections ---------------------------------------------------------------------------------------------------- */

/** A new client. */
void World::sit_down(Seat &seat)
{
	if (seat.client || (closing_ && seat.user) || failing_)
		return;
	if (random_.chance(50))
		jump(seat);
	ClientOptions options;
	options.depth = options_.user.depth;
	options.retry.timeout = prism::tx::Time(options_.timeout);
	options.retry.seed = 1 + random_.below(std::numeric_limits<std::uint32_t>::max());
	options.patience = prism::tx::Time(options_.patience);
	options.report_batch = options_.report_batch;
	options.clock = [this, &seat] {
		return epoch * (options_.run + 1) + now_ + static_cast<std::uint64_t>(seat.skew);
	};
	/* Those who clean up do: so what a check finds is what came of it before. */
	options.flaw = options_.flaw == Flaw::no_takeover && !seat.user ? Flaw::none : options_.flaw;
	ClientSurroundings &around = *this; /* the base is private */
	seat.client = std::make_unique<Client>(*seat.host, around, sites_.size(), options);
	seat.connections.clear();
	seat.doomed = false;
	knock(seat, 0);
}

void World::knock(Seat &seat, std::size_t shard)
{
	const auto arrival = std::make_shared<Arrival>();
	arrival->seat = &seat;
	arrival->life = seat.life;
	arrival->shard = shard;
	after(held_up(seat, shard) + random_.between(5 * us, 50 * us), [this, arrival] { reach(arrival); });
}

/** A client arrives at a shard, which admits it. */
void World::reach(const std::shared_ptr<Arrival> &arrival)
{
	Seat &seat = *arrival->seat;
	if (seat.life != arrival->life)
		return;
	const Site &site = sites_[arrival->shard];
	test::EndpointOptions options;
	options.max_send_wr = options_.send_queue;
	arrival->pair = std::make_unique<Pair>(*seat.host, options);
	std::optional<Admission> admission;
	if (site.shard)
		admission = site.shard->admit(*arrival->pair, arrival->shard ? &seat.client->met(0) : nullptr);
	if (!admission) {
		arrival->pair.reset();
		give_up(seat);
		return;
	}
	arrival->admission = *std::move(admission);
	seat.connections.push_back(arrival->admission.connection);
	after(held_up(seat, arrival->shard) + random_.between(10 * us, 100 * us), [this, arrival] { enter(arrival); });
}

/** The shard hears that the client is there; only with its own mark does the client begin. */
void World::enter(const std::shared_ptr<Arrival> &arrival)
{
	if (const Site &site = sites_[arrival->shard]; site.shard)
		site.shard->enter(arrival->admission.connection);
	after(held_up(*arrival->seat, arrival->shard) + random_.between(5 * us, 50 * us), [this, arrival] {
		Seat &seat = *arrival->seat;
		if (seat.life != arrival->life) {
			arrival->pair.reset();
			return;
		}
		seat.client->link_up(std::move(arrival->pair), arrival->admission);
		seat.next_poll = now_ + 1;
		if (seat.client->met() < sites_.size()) {
			knock(seat, seat.client->met());
			return;
		}
		result_.clients++;
		result_.takeovers += arrival->admission.used;
		seat.client->begin();
	});
}

/** A client that cannot be used, or not well, ends some time; another follows. */
void World::give_up(Seat &seat)
{
	seat.doomed = true;
	after(random_.between(10 * us, 2 * ms), [this, &seat, life = seat.life] {
		if (seat.life != life)
			return;
		kill(seat);
		come_back(seat, random_.between(10 * us, 2 * ms));
	});
}

void World::come_back(Seat &seat, Time delay)
{
	after(delay, [this, &seat] { sit_down(seat); });
}

void World::closed(std::size_t shard, std::uint32_t connection)
{
	after(random_.between(50 * us, 3 * ms), [this, shard, connection] {
		if (sites_[shard].shard)
			sites_[shard].shard->end_of(connection);
	});
}

void World::want_recovery(std::size_t shard)
{
	after(random_.between(10 * us, 100 * us), [this, shard] {
		if (sites_[shard].shard)
			sites_[shard].shard->want_recovery();
	});
}

const std::byte *World::peek(std::size_t shard, std::uint64_t va, std::uint64_t length) const
{
	return sites_[shard].shard ? sites_[shard].shard->at(va, length) : nullptr;
}

World::Seat *World::seat_of(std::size_t shard, std::uint32_t connection)
{
	const auto found = std::ranges::find_if(seats_, [&](const auto &seat) {
		return seat->client && seat->connections.size() > shard && seat->connections[shard] == connection;
	});
	return found == seats_.end() ? nullptr : found->get();
}

/** What is said while a partition is there arrives behind it. */
Time World::held_up(const Seat &seat, std::size_t shard) const
{
	const auto parted = parted_until_.find({seat.number, shard});
	return parted == parted_until_.end() || parted->second < now_ ? 0 : parted->second - now_;
}

void World::tell_to_settle(std::size_t shard, std::uint32_t connection, std::uint64_t value)
{
	const Seat *const asked = seat_of(shard, connection);
	if (!asked)
		return;
	after(held_up(*asked, shard) + random_.between(10 * us, 100 * us), [this, shard, connection, value] {
		Seat *const seat = seat_of(shard, connection);
		if (!seat)
			return;
		if (seat->client->met() <= shard) { /* the client does not hear it yet */
			tell_to_settle(shard, connection, value);
			return;
		}
		if (!seat->client->link(shard))
			return;
		seat->next_poll = now_ + 1;
		seat->client->settle(shard, [this, seat, shard, connection, value] {
			after(held_up(*seat, shard) + random_.between(10 * us, 100 * us),
				[this, shard, connection, value] {
					if (sites_[shard].shard)
						sites_[shard].shard->hear_settled(connection, value);
				});
		});
	});
}

void World::Around::tell_to_settle(std::uint32_t connection, std::uint64_t value)
{
	world_.tell_to_settle(shard_, connection, value);
}

void World::Around::tell_ended(std::uint32_t connection)
{
	world_.after(world_.random_.between(50 * us, 300 * us), [this, connection] {
		Seat *const seat = world_.seat_of(shard_, connection);
		if (!seat)
			return;
		if (seat->client->met() > shard_)
			seat->client->link_down(shard_);
		else if (!seat->doomed)
			world_.give_up(*seat);
		seat->next_poll = world_.now_ + 1;
	});
}

/* Faults --------------------------------------------------------------------------------------------------------- */

/** Whether a packet that has come to @p node has come through a partition, and so has not. */
bool World::is_cut_off(test::Node &node, std::span<const std::uint8_t> packet)
{
	const soft::QueuePair *const qp = node.engine.find_qp(destination(packet));
	if (!qp)
		return true; /* nobody is there to take it */
	const auto site_of = [this](const soft::Address &address) {
		return std::ranges::find_if(
			sites_, [&address](const Site &site) { return site.node->address == address; });
	};
	const bool is_up = site_of(node.address) != sites_.end();
	const auto site = site_of(is_up ? node.address : qp->attr.peer);
	const soft::Address &host = is_up ? qp->attr.peer : node.address;
	const auto seat = std::ranges::find_if(seats_, [&host](const auto &one) { return one->host->address == host; });
	return site != sites_.end() && seat != seats_.end() &&
	       held_up(**seat, static_cast<std::size_t>(site - sites_.begin()));
}

/** What arrives; counts the victim's packets: with the last that it is to see it dies. */
bool World::arrives(test::Node &node, std::span<const std::uint8_t> packet)
{
	if (!parted_until_.empty() && is_cut_off(node, packet))
		return false;
	if (!victim_ || &node != victim_->host.get())
		return true;
	if (dying_)
		return false;
	dying_ = --packets_left_ == 0;
	return true;
}

/** Hands to the network what was sent; of a user that dies, only what it had sent before. */
void World::send_off()
{
	if (victim_) {
		test::Outbox &outbox = victim_->host->outbox;
		if (dying_) {
			outbox.keep(0);
		} else if (outbox.size() >= packets_left_) {
			outbox.keep(packets_left_);
			dying_ = true;
		} else {
			packets_left_ -= outbox.size();
		}
	}
	network_->collect(now_);
	if (!dying_)
		return;
	dying_ = false;
	Seat &dead = *std::exchange(victim_, nullptr);
	if (!dead.client)
		return;
	kill(dead);
	result_.crashes++;
	come_back(dead, random_.between(10 * us, 5 * ms));
}

/** Without a word. Shards learn of it some time. */
void World::kill(Seat &seat)
{
	if (seat.in_use) {
		const prism::tx::TransactionFigures figures = seat.client->figures();
		result_.transactions.one_chain += figures.one_chain;
		result_.transactions.prepared += figures.prepared;
		result_.transactions.read_only += figures.read_only;
		result_.transactions.resolved += figures.resolved;
		result_.transactions.no_buffer += figures.no_buffer;
		result_.transactions.requests += figures.requests;
		seat.user->leave();
	}
	for (std::size_t shard = 0; shard < seat.connections.size(); shard++)
		closed(shard, seat.connections[shard]);
	seat.client.reset();
	seat.connections.clear();
	seat.in_use = false;
	seat.life++;
	seat.next_poll = 0;
	seat.host->outbox.clear();
}

/** A user dies after some more packets. */
void World::crash_user()
{
	Seat &seat = *seats_[random_.below(options_.users)];
	if (victim_ || !seat.client)
		return;
	crashes_left_--;
	victim_ = &seat;
	packets_left_ = random_.between(1, 60);
}

/** With its memory, for good. */
void World::crash_shard()
{
	const std::size_t number = random_.below(sites_.size());
	Site &site = sites_[number];
	shard_crashes_left_--;
	if (!site.shard)
		return;
	result_.shard_crashes++;
	failing_ = true;
	const simulation::StoreFigures &figures = site.shard->figures();
	result_.stores.reports += figures.reports;
	result_.stores.recovery.scans += figures.recovery.scans;
	result_.stores.recovery.recovered += figures.recovery.recovered;
	site.shard.reset();
	site.node.emplace(static_cast<std::uint8_t>(1 + number), shard_qpns);
	const bool silently = random_.chance(silent);
	for (const auto &seat : seats_) {
		if (seat->user)
			seat->user->expect_failures();
		if (!seat->client || silently)
			continue;
		after(random_.between(50 * us, 3 * ms), [this, &seat = *seat, number, life = seat->life] {
			if (seat.life != life || seat.client->met() <= number)
				return;
			seat.client->link_down(number);
			seat.next_poll = now_ + 1;
		});
	}
}

/** A client from a shard, for a while; some die meanwhile. */
void World::part()
{
	partitions_left_--;
	result_.partitions++;
	Seat &seat = *seats_[random_.below(options_.users)];
	const std::size_t shard = random_.below(sites_.size());
	const Time length = random_.between(100 * us, options_.longest_partition);
	parted_until_[{seat.number, shard}] = now_ + length;
	if (!crashes_left_ || !random_.chance(50))
		return;
	crashes_left_--;
	after(random_.below(length), [this, &seat, life = seat.life] {
		if (seat.life != life || closing_)
			return;
		kill(seat);
		result_.crashes++;
		come_back(seat, random_.between(10 * us, 5 * ms));
	});
}

/** Clocks are at different times, and do not stay there. */
void World::jump(Seat &seat)
{
	std::int64_t by = 1;
	for (std::uint64_t digits = random_.between(2, 14); digits; digits--)
		by *= 10;
	by = std::min(static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(by))), day);
	seat.skew = std::clamp(seat.skew + (random_.chance(50) ? by : -by), -largest_skew, largest_skew);
}

/** What is still to happen, at random times. */
void World::happen()
{
	if (crashes_left_ && random_.chance(happenings))
		crash_user();
	if (shard_crashes_left_ && random_.chance(happenings / 10))
		crash_shard();
	if (partitions_left_ && random_.chance(happenings))
		part();
	if (random_.chance(options_.jumps))
		jump(*seats_[random_.below(options_.users)]);
	const Site &site = sites_[random_.below(sites_.size())];
	if (site.shard && random_.chance(options_.scans))
		site.shard->want_recovery();
}

/* A run ---------------------------------------------------------------------------------------------------------- */

/** A user without a client comes back, unless a shard is gone. */
bool World::working() const
{
	return std::ranges::any_of(seats_,
		[this](const auto &seat) { return seat->user && (seat->in_use ? !seat->user->done() : !failing_); });
}

WorldResult World::run()
{
	for (const auto &seat : seats_) {
		if (!seat->user)
			continue;
		seat->user->give_work(options_.transactions);
		if (options_.partitions || options_.flaw != Flaw::none)
			seat->user->expect_failures();
	}
	const Time limit = now_ + longest_end + options_.transactions * options_.timeout;
	while (!stopped_ && working()) {
		step(true);
		happen();
		if (now_ > limit)
			find("work is left undone");
	}
	if (!stopped_)
		close();
	if (!stopped_ && !failing_ && !options_.as_in_paper)
		clean_up();
	if (result_.finding.empty())
		check();
	sum_up();
	return result_;
}

void World::go_on_while(const std::function<bool()> &condition, const char *finding)
{
	const Time deadline = now_ + longest_end;
	while (!stopped_ && condition()) {
		step(true);
		if (now_ > deadline)
			find(finding);
	}
}

/**
 * The users leave, some without reporting what they have freed. Then the shards look for what is lost; the paper's
 * commits leave log entries that spare buffers for ever.
 */
void World::close()
{
	victim_ = nullptr;
	closing_ = true;
	for (const auto &seat : seats_) {
		if (!seat->client)
			continue;
		if (options_.as_in_paper || random_.chance(50))
			seat->client->flush();
		const Time first = options_.as_in_paper ? 50 * ms : 50 * us;
		after(random_.between(first, first + 5 * ms), [this, &seat = *seat, life = seat->life] {
			if (seat.life == life)
				kill(seat);
		});
	}
	const auto sitting = [](const auto &seat) { return seat->client != nullptr; };
	const auto busy = [](const Site &site) { return site.shard && (site.shard->open() || !site.shard->idle()); };
	go_on_while(
		[&] {
			return std::ranges::any_of(seats_, sitting) || std::ranges::any_of(sites_, busy) ||
			       network_->next();
		},
		"the recovery scan does not end");
}

/** All numbers of clients are given to new ones at once: they end all that was left, and go. */
void World::clean_up()
{
	for (const auto &seat : seats_) {
		if (!seat->user)
			sit_down(*seat);
	}
	go_on_while(
		[&] {
			return std::ranges::any_of(seats_, [](const auto &seat) {
				return !seat->user && !(seat->client && seat->client->ready());
			});
		},
		"what others have left cannot be cleared");
	close();
}

/* Checks --------------------------------------------------------------------------------------------------------- */

void World::check()
{
	for (std::size_t shard = 0; shard < sites_.size(); shard++) {
		if (sites_[shard].shard)
			check_shard(shard);
	}
	read_all();
	check_history();
	for (Site &site : sites_) {
		if (site.shard && !failing_ && options_.flaw != Flaw::paper_crashes)
			site.shard->account();
	}
}

/** Where @p key is; nothing: nobody has asked for any key. */
std::optional<KeyPlace> World::place_of(std::uint64_t key) const
{
	return key < places_.size() ? std::optional(places_[key]) : std::nullopt;
}

/** Nothing is prepared any more, and objects are whole. With a shard gone, decisions may be gone. */
void World::check_shard(std::size_t number)
{
	const Shard &shard = *sites_[number].shard;
	for (std::uint64_t index = 0; index < cells(); index++) {
		const Cell cell = shard.cell(index);
		if (cell.prepared.writer != cell.version.committed && !failing_)
			find(fmt::format("cell {} of shard {} is blocked", index, number));
		if (cell.version.committed > cell.prepared.writer)
			find(fmt::format("cell {} of shard {}: the version is later than the writer", index, number));
		if (!cell.version.object.ptr)
			continue;
		const std::uint32_t bound = cell.version.object.bound;
		const std::byte *const bytes = shard.at(cell.version.object.ptr, bound);
		const std::optional<ObjectView> object =
			bytes ? ObjectView::parse(std::span(bytes, bound)) : std::nullopt;
		if (!object || object->header().written > cell.version.committed) {
			find(fmt::format("cell {} of shard {} leads nowhere", index, number));
			continue;
		}
		object->for_each([&](const Record &record) {
			std::uint64_t key = 0;
			std::memcpy(&key, record.key.data(), std::min(record.key.size(), sizeof(key)));
			const auto place = place_of(key);
			if (!place || place->shard != number || place->cell != index)
				find(fmt::format("key {} is in another key's cell", key));
		});
	}
	if (!failing_ && !options_.as_in_paper && shard.entries())
		find(fmt::format("{} log entries of shard {} are not cleared", shard.entries(), number));
}

/** What a last transaction finds: as late as none before. */
void World::read_all()
{
	Draft draft;
	draft.client = begin_session();
	draft.sequence = 1;
	draft.stamp.clock = epoch * (options_.run + 2) - 1;
	draft.invoked = now_;
	draft.responded = now_ + 1;
	draft.outcome = serializability::Outcome::committed;
	for (std::uint64_t key = 0; key < places_.size(); key++) {
		const KeyPlace place = places_[key];
		const Shard *const shard = sites_[place.shard].shard.get();
		if (!shard)
			continue;
		const Cell cell = shard->cell(place.cell);
		/* For ever, as a shard is gone: a transaction would not get by. With the paper's commit it would, by a
		 * read of this cell alone. */
		if (cell.prepared.writer != cell.version.committed && !options_.as_in_paper)
			continue;
		const std::byte *const bytes = shard->at(cell.version.object.ptr, cell.version.object.bound);
		std::optional<prism::tx::Bytes> found;
		if (bytes && cell.version.object.ptr) {
			const auto object = ObjectView::parse(std::span(bytes, cell.version.object.bound));
			found = object ? object->find(std::as_bytes(std::span(&key, 1))) : std::nullopt;
		}
		serializability::Value value = serializability::absent;
		if (options_.user.workload == Workload::lists)
			draft.read_list(key, found ? parse_list(*found) : std::vector<serializability::Value>{});
		else if (found && !parse_stored(*found, value))
			find(fmt::format("key {} ends with a value that nobody has written", key));
		else
			draft.read(key, value);
	}
	record(draft);
}

void World::check_history()
{
	const auto history = history_.finish();
	if (!history) {
		find(history.error().message);
		return;
	}
	const auto index = serializability::Index::make(*history);
	if (!index) {
		find(index.error().message);
		return;
	}
	serializability::Findings findings(3);
	(void)serializability::replay(*index, findings);
	serializability::CycleOptions order;
	order.real_time = !options_.as_in_paper;
	(void)serializability::check_cycles(*index, order, findings);
	if (options_.user.workload == Workload::bank && !failing_)
		(void)serializability::check_bank(*index, options_.user.keys * first_balance, findings);
	for (const serializability::Finding &finding : findings.kept())
		find(fmt::format("{}: {}: {}", finding.check, finding.name, finding.text));
}

void World::sum_up()
{
	for (const auto &seat : seats_) {
		if (!seat->user)
			continue;
		const UserFigures &figures = seat->user->figures();
		result_.users.committed += figures.committed;
		result_.users.attempts += figures.attempts;
		result_.users.rolled_back += figures.rolled_back;
		result_.users.conflicts += figures.conflicts;
		result_.users.failed += figures.failed;
		result_.users.unknown += figures.unknown;
		result_.users.no_buffer += figures.no_buffer;
	}
	for (const Site &site : sites_) {
		if (!site.shard)
			continue;
		result_.stores.reports += site.shard->figures().reports;
		result_.stores.recovery.scans += site.shard->figures().recovery.scans;
		result_.stores.recovery.put_off += site.shard->figures().recovery.put_off;
		result_.stores.drained += site.shard->figures().drained;
		result_.stores.recovery.recovered += site.shard->figures().recovery.recovered;
	}
	result_.packets = network_->sent;
	result_.time = now_;
}

} // namespace tx_sim
