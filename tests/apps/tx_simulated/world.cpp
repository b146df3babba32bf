/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "checks.hpp"
#include "tx/store/object.hpp"

namespace tx_sim
{

using prism::tx::Record;
using serializability::Draft;
using simulation::happenings;
using simulation::ms;
using simulation::second;
using simulation::us;
using soft::Time;

namespace
{

constexpr Time longest_end = 60 * second;
/* Client numbers beside one for each user, for clients whose death is not known yet */
constexpr std::uint32_t spare_clients = 3;
/* ns: the most that clocks differ by, and the distance between the clocks of two runs */
constexpr auto day = static_cast<std::int64_t>(simulation::day);
constexpr std::int64_t largest_skew = 4 * day;
constexpr std::uint64_t epoch = 1'000'000'000'000'000;
/* Shares of one run in a history of many */
constexpr std::uint64_t keys_of_a_run = std::uint64_t{1} << 32;
constexpr std::uint64_t sessions_of_a_run = 1 << 12;
constexpr Time time_of_a_run = 1000 * second;

serializability::HistoryKind kind_of(Workload workload)
{
	return workload == Workload::lists ? serializability::HistoryKind::lists
					   : serializability::HistoryKind::registers;
}

void add(prism::tx::TransactionFigures &sum, const prism::tx::TransactionFigures &figures)
{
	sum.one_chain += figures.one_chain;
	sum.prepared += figures.prepared;
	sum.read_only += figures.read_only;
	sum.resolved += figures.resolved;
	sum.no_buffer += figures.no_buffer;
	sum.requests += figures.requests;
}

void add(UserFigures &sum, const UserFigures &figures)
{
	sum.committed += figures.committed;
	sum.attempts += figures.attempts;
	sum.rolled_back += figures.rolled_back;
	sum.conflicts += figures.conflicts;
	sum.failed += figures.failed;
	sum.unknown += figures.unknown;
	sum.no_buffer += figures.no_buffer;
}

} // namespace

void WorldResult::add(const WorldResult &other) noexcept
{
	Result::add(other);
	tx_sim::add(users, other.users);
	tx_sim::add(transactions, other.transactions);
	shard_crashes += other.shard_crashes;
	partitions += other.partitions;
	clients += other.clients;
	takeovers += other.takeovers;
}

World::Site::Site(simulation::World &world, std::size_t site_number, std::uint8_t host_number)
	: simulation::Site(world, host_number, 256, fmt::format("shard {}", site_number)), number(site_number)
{
}

Time World::Seat::next_timer(Time /*now*/) const noexcept
{
	return simulation::earlier(client->next_timer(), in_use ? user->next_begin() : 0);
}

World::World(std::uint64_t seed, const WorldOptions &options)
	: simulation::World(seed, options.expected), options_(options), history_(kind_of(options.user.workload)),
	  crashes_left_(options.crashes), shard_crashes_left_(options.shard_crashes),
	  partitions_left_(options.partitions)
{
	simulation::World &world = *this; /* the base is private */
	std::uint8_t host = 1;
	for (std::size_t number = 0; number < options_.shards; number++) {
		sites_.push_back(std::make_unique<Site>(world, number, host++));
		Site &site = *sites_.back();
		site.shard = std::make_unique<Shard>(*site.node, *site.around, shard_options(number));
		simulation::World::add(site);
	}
	for (unsigned number = 0; number < options_.users; number++)
		add_seat(true, host++);
	for (unsigned number = 0; number < options_.users + spare_clients; number++)
		add_seat(false, host++);
	open_network(options_.faults, options_.delays, options_.crash_at);
	for (const auto &seat : seats_) {
		if (seat->user)
			sit_down(*seat);
	}
}

World::~World()
{
	forget_errands();
}

void World::add_seat(bool uses, std::uint8_t host)
{
	seats_.push_back(std::make_unique<Seat>(seats_.size(), host));
	Seat &seat = *seats_.back();
	simulation::World::add(seat);
	Recorder &recorder = *this; /* the base is private */
	if (uses)
		seat.user = std::make_unique<User>(
			options_.user, random(), recorder, [this] { return now(); },
			[this](const std::string &what) { find(what); });
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

/** Records a transaction; runs of one history have no keys in common. */
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

/* Clients -------------------------------------------------------------------------------------------------------- */

/** Lets the user of a ready client begin. */
void World::begin_use(Seat &seat)
{
	seat.in_use = true;
	seat.user->use(*seat.client);
	for (std::uint64_t key = places_.size(); key < options_.user.keys; key++) {
		places_.emplace_back();
		(void)seat.client->place_of(std::as_bytes(std::span(&key, 1)), places_.back());
	}
}

void World::poll(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	Client &client = *seat.client;
	if (client.ready() && seat.user && !seat.in_use)
		begin_use(seat);
	if (seat.in_use) {
		seat.user->go_on();
	} else {
		std::array<prism::tx::Job *, 1> none;
		(void)client.poll(none);
	}
	client.ring();
	if (client.has_completions() || (client.ready() && seat.user && !seat.in_use))
		seat.next_poll = now() + 1;
	if (client.refused() || (client.broken() && !failing_ && !seat.doomed))
		give_up(seat);
}

/** Makes a new client. */
void World::sit_down(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (seat.client || (closing_ && seat.user) || failing_)
		return;
	if (random().chance(50))
		jump(seat);
	ClientOptions options;
	options.depth = options_.user.depth;
	options.retry.timeout = prism::tx::Time(options_.timeout);
	options.retry.seed = 1 + random().below(std::numeric_limits<std::uint32_t>::max());
	options.patience = prism::tx::Time(options_.patience);
	options.report_batch = options_.report_batch;
	options.clock = [this, &seat] {
		return epoch * (options_.run + 1) + now() + static_cast<std::uint64_t>(seat.skew);
	};
	/* Clients that clean up take over correctly: a check's finding then comes from an earlier client. */
	options.flaw = options_.flaw == Flaw::no_takeover && !seat.user ? Flaw::none : options_.flaw;
	ClientSurroundings &around = *this; /* the base is private */
	seat.client = std::make_unique<Client>(seat.host, around, sites_.size(), options);
	seat.connections.clear();
	seat.doomed = false;
	knock(seat, 0);
}

/* Connections ---------------------------------------------------------------------------------------------------- */

void World::knock(Seat &seat, std::size_t shard)
{
	const auto arrival = std::make_shared<Arrival>();
	arrival->seat = &seat;
	arrival->life = seat.life;
	arrival->shard = shard;
	after(held_up(seat, shard) + random().between(5 * us, 50 * us), [this, arrival] { reach(arrival); });
}

/** Lets a client arrive at a shard, which admits it. */
void World::reach(const std::shared_ptr<Arrival> &arrival)
{
	Seat &seat = *arrival->seat;
	if (seat.life != arrival->life)
		return;
	const Site &site = *sites_[arrival->shard];
	test::EndpointOptions options;
	options.max_send_wr = options_.send_queue;
	arrival->pair = std::make_unique<Pair>(seat.host, options);
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
	after(held_up(seat, arrival->shard) + random().between(10 * us, 100 * us), [this, arrival] { enter(arrival); });
}

/** Tells the shard that the client is there; the client begins only with the shard's own mark. */
void World::enter(const std::shared_ptr<Arrival> &arrival)
{
	if (const Site &site = *sites_[arrival->shard]; site.shard)
		site.shard->enter(arrival->admission.connection);
	after(held_up(*arrival->seat, arrival->shard) + random().between(5 * us, 50 * us), [this, arrival] {
		Seat &seat = *arrival->seat;
		if (seat.life != arrival->life) {
			arrival->pair.reset();
			return;
		}
		seat.client->link_up(std::move(arrival->pair), arrival->admission);
		seat.next_poll = now() + 1;
		if (seat.client->met() < sites_.size()) {
			knock(seat, seat.client->met());
			return;
		}
		result_.clients++;
		result_.takeovers += arrival->admission.used;
		seat.client->begin();
	});
}

/** Ends a client that cannot be used, or not well, after some time; another follows. */
void World::give_up(Seat &seat)
{
	seat.doomed = true;
	after(random().between(10 * us, 2 * ms), [this, &seat, life = seat.life] {
		if (seat.life != life)
			return;
		kill(seat);
		come_back(seat, random().between(10 * us, 2 * ms));
	});
}

void World::closed(std::size_t shard, std::uint32_t connection)
{
	after(random().between(50 * us, 3 * ms), [this, shard, connection] {
		if (sites_[shard]->shard)
			sites_[shard]->shard->end_of(connection);
	});
}

void World::want_recovery(std::size_t shard)
{
	after(random().between(10 * us, 100 * us), [this, shard] {
		if (sites_[shard]->shard)
			sites_[shard]->shard->want_recovery();
	});
}

const std::byte *World::peek(std::size_t shard, std::uint64_t va, std::uint64_t length) const
{
	return sites_[shard]->shard ? sites_[shard]->shard->at(va, length) : nullptr;
}

World::Seat *World::seat_of(std::size_t shard, std::uint32_t connection)
{
	const auto found = std::ranges::find_if(seats_, [&](const auto &seat) {
		return seat->client && seat->connections.size() > shard && seat->connections[shard] == connection;
	});
	return found == seats_.end() ? nullptr : found->get();
}

void World::tell_to_settle(std::size_t shard, std::uint32_t connection, std::uint64_t value)
{
	const Seat *const asked = seat_of(shard, connection);
	if (!asked)
		return;
	after(held_up(*asked, shard) + random().between(10 * us, 100 * us), [this, shard, connection, value] {
		Seat *const seat = seat_of(shard, connection);
		if (!seat)
			return;
		if (seat->client->met() <= shard) { /* the client does not hear it yet */
			tell_to_settle(shard, connection, value);
			return;
		}
		if (!seat->client->link(shard))
			return;
		seat->next_poll = now() + 1;
		seat->client->settle(shard, [this, seat, shard, connection, value] {
			after(held_up(*seat, shard) + random().between(10 * us, 100 * us),
				[this, shard, connection, value] {
					if (sites_[shard]->shard)
						sites_[shard]->shard->hear_settled(connection, value);
				});
		});
	});
}

void World::tell_to_settle(simulation::Site &base, std::uint32_t connection, std::uint64_t value)
{
	tell_to_settle(static_cast<const Site &>(base).number, connection, value);
}

void World::tell_ended(simulation::Site &base, std::uint32_t connection)
{
	const std::size_t shard = static_cast<const Site &>(base).number;
	after(random().between(50 * us, 300 * us), [this, shard, connection] {
		Seat *const seat = seat_of(shard, connection);
		if (!seat)
			return;
		if (seat->client->met() > shard)
			seat->client->link_down(shard);
		else if (!seat->doomed)
			give_up(*seat);
		seat->next_poll = now() + 1;
	});
}

/* Faults --------------------------------------------------------------------------------------------------------- */

/** Kills the client; shards learn of it later. */
void World::kill(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (seat.in_use) {
		tx_sim::add(result_.transactions, seat.client->figures());
		seat.user->leave();
	}
	for (std::size_t shard = 0; shard < seat.connections.size(); shard++)
		closed(shard, seat.connections[shard]);
	seat.client.reset();
	seat.connections.clear();
	seat.in_use = false;
	seat.life++;
	seat.next_poll = 0;
	seat.host.outbox.clear();
}

/** Lets a user die after some more packets. */
void World::crash_user()
{
	Seat &seat = *seats_[random().below(options_.users)];
	if (is_doomed() || !seat.client)
		return;
	crashes_left_--;
	doom(seat, random().between(1, 60));
}

/** Crashes a shard for good; its memory is lost. */
void World::crash_shard()
{
	const std::size_t number = random().below(sites_.size());
	Site &site = *sites_[number];
	shard_crashes_left_--;
	if (!site.shard)
		return;
	result_.shard_crashes++;
	failing_ = true;
	result_.stores.add(site.shard->figures());
	site.shard.reset();
	site.restart();
	const bool silently = random().chance(simulation::silent);
	for (const auto &seat : seats_) {
		if (seat->user)
			seat->user->expect_failures();
		if (!seat->client || silently)
			continue;
		after(random().between(50 * us, 3 * ms), [this, &seat = *seat, number, life = seat->life] {
			if (seat.life != life || seat.client->met() <= number)
				return;
			seat.client->link_down(number);
			seat.next_poll = now() + 1;
		});
	}
}

/** Cuts a client off from a shard for a while; some clients die meanwhile. */
void World::part_some()
{
	partitions_left_--;
	result_.partitions++;
	Seat &seat = *seats_[random().below(options_.users)];
	const std::size_t shard = random().below(sites_.size());
	const Time length = random().between(100 * us, options_.longest_partition);
	part(seat, shard, length);
	if (!crashes_left_ || !random().chance(50))
		return;
	crashes_left_--;
	after(random().below(length), [this, &seat, life = seat.life] {
		if (seat.life != life || closing_)
			return;
		die(seat);
	});
}

/** Moves a clock: clocks differ, and jump. */
void World::jump(Seat &seat)
{
	std::int64_t by = 1;
	for (std::uint64_t digits = random().between(2, 14); digits; digits--)
		by *= 10;
	by = std::min(static_cast<std::int64_t>(random().below(static_cast<std::uint64_t>(by))), day);
	seat.skew = std::clamp(seat.skew + (random().chance(50) ? by : -by), -largest_skew, largest_skew);
}

/** Starts events that are due, at random times. */
void World::happen()
{
	if (crashes_left_ && random().chance(happenings))
		crash_user();
	if (shard_crashes_left_ && random().chance(happenings / 10))
		crash_shard();
	if (partitions_left_ && random().chance(happenings))
		part_some();
	if (random().chance(options_.jumps))
		jump(*seats_[random().below(options_.users)]);
	const Site &site = *sites_[random().below(sites_.size())];
	if (site.shard && random().chance(options_.scans))
		site.shard->want_recovery();
}

/* A run ---------------------------------------------------------------------------------------------------------- */

/** Returns true while there is work. A user without a client comes back, unless a shard is gone. */
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
	const Time limit = now() + longest_end + options_.transactions * options_.timeout;
	while (!stopped() && working()) {
		step();
		happen();
		if (now() > limit)
			find("work is left undone");
	}
	if (!stopped())
		close();
	if (!stopped() && !failing_ && !options_.as_in_paper)
		clean_up();
	if (finding().empty())
		check_all();
	sum_up();
	return result_;
}

/**
 * Lets the users leave, some without reporting the buffers that they have freed. Then the shards look for lost ones;
 * the paper's commits leave log entries that keep buffers for ever.
 */
void World::close()
{
	spare_victim();
	closing_ = true;
	for (const auto &seat : seats_) {
		if (!seat->client)
			continue;
		if (options_.as_in_paper || random().chance(50))
			seat->client->flush();
		const Time first = options_.as_in_paper ? 50 * ms : 50 * us;
		after(random().between(first, first + 5 * ms), [this, &seat = *seat, life = seat->life] {
			if (seat.life == life)
				kill(seat);
		});
	}
	come_to_rest();
}

/** Gives all client numbers to new clients at once: they end all transactions left behind, and go. */
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

void World::check_all()
{
	Draft last;
	last.client = begin_session();
	last.sequence = 1;
	last.stamp.clock = epoch * (options_.run + 2) - 1;
	last.invoked = now();
	last.responded = now() + 1;
	last.outcome = serializability::Outcome::committed;
	Remains remains{{}, places_, options_.user, cells(), failing_, options_.flaw != Flaw::paper_crashes, last,
		history_, [this](Draft &transaction) { record(transaction); },
		[this](const std::string &what) { find(what); }};
	for (const auto &site : sites_)
		remains.shards.push_back(site->shard.get());
	check(remains);
}

void World::sum_up()
{
	for (const auto &seat : seats_) {
		if (seat->user)
			tx_sim::add(result_.users, seat->user->figures());
	}
	for (const auto &site : sites_) {
		if (site->shard)
			result_.stores.add(site->shard->figures());
	}
	report(result_);
}

} // namespace tx_sim
