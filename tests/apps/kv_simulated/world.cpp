/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "checks.hpp"

namespace kv_sim
{

using simulation::day;
using simulation::ms;
using simulation::second;
using simulation::us;
using soft::Time;

namespace
{

constexpr Time longest_run = 600 * second; /* for runs without days */
/* Limit for an operation on a server that is gone: docs/prism-kv.md */
constexpr Time longest_failure = second;
/* 4.096 us * 2^14, as in QueuePairOptions */
constexpr Time usual_ack_timeout = Time{4096} << 14;

} // namespace

void WorldResult::add(const WorldResult &other) noexcept
{
	Result::add(other);
	users.add(other.users);
	claims += other.claims;
	longest_failure = std::max(longest_failure, other.longest_failure);
}

World::World(std::uint64_t seed, const WorldOptions &options)
	: simulation::World(seed), options_(options), site_(*this), crashes_left_(options.crashes)
{
	add(site_);
	for (unsigned i = 0; i < options_.users; i++) {
		seats_.push_back(std::make_unique<Seat>(i, static_cast<std::uint8_t>(2 + i)));
		seats_.back()->user = std::make_unique<User>(
			i, options_.user, random(), [this](const std::string &what) { find(what); });
		add(*seats_.back());
	}
	open_network(options_.faults, options_.delays, options_.crash_at);
	begin_server();
	for (const auto &seat : seats_)
		sit_down(*seat);
}

World::~World()
{
	forget_errands();
}

/* Turns ---------------------------------------------------------------------------------------------------------- */

Time World::next_turn(const simulation::Site &) const
{
	const bool waits = site_.next_turn > now() || !site_.server->idle();
	return waits ? std::max(site_.next_turn, now() + turn) : 0;
}

void World::serve(simulation::Site &)
{
	if (now() < site_.next_turn)
		return;
	if (!closing_ && random().chance(options_.scans))
		site_.server->want_recovery();
	site_.server->serve();
	site_.next_turn = now() + random().below(2 * options_.server_turn);
}

void World::poll(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	seat.user->poll();
	if (seat.user->client().broken())
		heed_failure(seat);
}

void World::tell_to_settle(simulation::Site &, std::uint32_t connection, std::uint64_t value)
{
	const std::size_t life = lives_.size();
	after(random().between(10 * us, 100 * us), [this, life, connection, value] {
		const auto has_it = [life, connection](const auto &seat) {
			return seat->user->connected() && seat->life == life && seat->connection == connection;
		};
		const auto seat = std::ranges::find_if(seats_, has_it);
		if (seat == seats_.end())
			return;
		(*seat)->user->client().settle([this, life, connection, value] {
			after(random().between(10 * us, 100 * us), [this, life, connection, value] {
				if (has_server(life))
					site_.server->hear_settled(connection, value);
			});
		});
	});
}

/* Ends and returns ----------------------------------------------------------------------------------------------- */

/** Kills the client; the server learns of it later. */
void World::kill(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	seat.user->die();
	seat.next_poll = 0;
	after(random().between(50 * us, 3 * ms), [this, life = seat.life, connection = seat.connection] {
		if (has_server(life))
			site_.server->end_of(connection);
	});
}

void World::sit_down(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (!site_.server) {
		come_back(seat, 10 * ms);
		return;
	}
	test::EndpointOptions options;
	auto pair = std::make_unique<Pair>(seat.host, options);
	Admission admission = site_.server->admit(*pair);
	seat.connection = admission.view.connection;
	seat.life = lives_.size();
	seat.user->connect(std::move(pair), std::move(admission), lives_.back());
	seat.next_poll = now() + 1;
}

/**
 * If another crash is due, lets the first user die after some more packets. With days, crashes are spread over them.
 */
void World::crash_some()
{
	const double bursts = options_.days * static_cast<double>(day / second) / options_.pause;
	const bool due = options_.days <= 0 || random().chance(100 * options_.crashes / bursts);
	if (!due || !crashes_left_ || is_doomed() || !seats_.front()->occupied())
		return;
	crashes_left_--;
	doom(*seats_.front(), random().between(1, 60));
}

void World::end_server()
{
	site_.server.reset();
	site_.restart();
	server_ended_ = now();
	after(random().between(100 * ms, 2 * second), [this] { begin_server(); });
}

void World::begin_server()
{
	ServerOptions options = options_.server;
	if (options_.server_restart)
		options.ack_timeout = usual_ack_timeout;
	site_.server = std::make_unique<Server>(*site_.node, *site_.around, options);
	lives_.push_back(std::make_shared<History>());
}

/** Checks a failed connection: only allowed if its server has gone, with the right error, and in time. */
void World::heed_failure(Seat &seat)
{
	for (const int error : seat.user->take_errors()) {
		if (!server_ended_ || (error != ETIMEDOUT && error != ECONNRESET))
			find(fmt::format("an operation failed with {}", std::strerror(error)));
	}
	if (seat.user->busy())
		return; /* the next poll handles the remaining operations */
	const Time took = now() - server_ended_;
	result_.longest_failure = std::max(result_.longest_failure, took);
	if (took > longest_failure)
		find(fmt::format("a client was told after {} ms that its server is gone", took / ms));
	seat.user->die();
	seat.next_poll = 0;
	sit_down(seat);
}

/* A run ---------------------------------------------------------------------------------------------------------- */

bool World::working() const
{
	return std::ranges::any_of(seats_, [](const auto &seat) { return !seat->occupied() || !seat->user->done(); });
}

/** Gives work to all users at once, so that they meet; then nothing happens for a long time. */
void World::burst()
{
	for (const auto &seat : seats_) {
		seat->user->give_work(options_.operations);
		seat->next_poll = now() + 1;
	}
	if (options_.days > 0)
		crash_some();
}

WorldResult World::run()
{
	begin_bursts(options_.days, options_.pause, [this] { burst(); });
	const Time limit = bursts_end() + longest_run;
	const std::uint64_t total = options_.operations * options_.users;
	std::uint64_t restart_after = options_.server_restart ? random().between(total / 4, total * 3 / 4) : 0;
	while (!stopped() && (bursts_end() || working())) {
		step();
		std::uint64_t done = 0;
		for (const auto &seat : seats_)
			done += seat->user->figures().operations;
		if (restart_after && done > restart_after) {
			restart_after = 0;
			end_server();
		}
		if (options_.days <= 0 && random().chance(1))
			crash_some();
		if (now() > limit)
			find("work is left undone");
	}
	if (!stopped())
		close();
	if (!stopped())
		check({*site_.server, lives_, options_.user.keys, options_.users,
			[this](const std::string &what) { find(what); }});
	sum_up();
	return result_;
}

/**
 * Lets the users leave, some without reporting the buffers that they have freed; then the server looks for lost ones.
 */
void World::close()
{
	spare_victim();
	closing_ = true;
	for (const auto &seat : seats_) {
		if (random().chance(50))
			seat->user->client().flush();
		after(random().between(50 * us, 5 * ms), [this, &seat = *seat] {
			seat.user->die();
			if (has_server(seat.life))
				site_.server->end_of(seat.connection);
		});
	}
	come_to_rest();
}

void World::sum_up()
{
	for (const auto &seat : seats_)
		result_.users.add(seat->user->figures());
	if (site_.server) {
		result_.stores.add(site_.server->figures());
		result_.claims = site_.server->figures().claims;
	}
	report(result_);
}

} // namespace kv_sim
