/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace rpc_sim
{

using simulation::ms;
using simulation::us;
using soft::Time;

namespace
{

/* Longest time without the end of any call, whatever was lost */
constexpr Time patience = 300 * ms;
/* Longest pause between two looks of a side that finds nothing to do; pauses grow up to this. */
constexpr Time longest_pause = 20 * us;
/* Time in which every slot gives its response back */
constexpr Time longest_idle = 100 * ms;
/* Time for a worker to let go of its connections and to look twice for lost buffers */
constexpr Time rest = 100 * ms;
constexpr int most_rounds = 4;

Time grown(Time pause)
{
	return std::clamp(2 * pause, us, longest_pause);
}

} // namespace

class World::Surround final : public Around
{
public:
	explicit Surround(World &world) : world_(world) {}

	[[nodiscard]] Time time() const override { return world_.now(); }
	prism::test::Random &random() override { return world_.random(); }
	void find(const std::string &what) override { world_.find(what); }

private:
	World &world_;
};

void WorldResult::add(const WorldResult &other) noexcept
{
	Result::add(other);
	users.answered += other.users.answered;
	users.expired += other.users.expired;
	users.resumed += other.users.resumed;
	users.unknown += other.users.unknown;
	users.links.fetches += other.users.links.fetches;
	users.links.failed_fetches += other.users.links.failed_fetches;
	users.links.second_fetches += other.users.links.second_fetches;
	users.links.switches += other.users.links.switches;
	users.links.refused += other.users.links.refused;
	repeated += other.repeated;
}

World::World(std::uint64_t seed, const WorldOptions &options)
	: simulation::World(seed), options_(options), around_(std::make_unique<Surround>(*this)), site_(*this),
	  crashes_left_(options.crashes)
{
	add(site_);
	for (unsigned i = 0; i < options_.users; i++) {
		auto seat = std::make_unique<Seat>(i, static_cast<std::uint8_t>(2 + i));
		seat->user = std::make_unique<User>(options_.user, *around_, ledger_);
		seats_.push_back(std::move(seat));
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
	return std::max(site_.next_turn, now() + 1);
}

void World::serve(simulation::Site &)
{
	if (now() < site_.next_turn)
		return;
	for (const auto &seat : seats_) {
		if (seat->occupied() && seat->spoiler)
			seat->spoiler->before_server(site_.server->device());
	}
	Time busy = 0;
	const bool worked = site_.server->turn(busy);
	for (const auto &seat : seats_) {
		if (seat->occupied() && seat->spoiler)
			seat->spoiler->after_server(site_.server->device());
	}
	site_.pause = worked ? us : grown(site_.pause);
	if (random().chance(options_.stalls))
		busy += random().below(5 * ms);
	site_.next_turn = now() + busy + site_.pause;
}

void World::poll(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (seat.spoiler)
		seat.spoiler->before_client(seat.user->device());
	seat.pause = seat.user->poll() ? us : grown(seat.pause);
	seat.next_look = now() + seat.pause;
	if (seat.user->link().broken())
		heed_failure(seat);
}

/* Ends and returns ----------------------------------------------------------------------------------------------- */

void World::connect(Seat &seat, bool again)
{
	User::Approach approach = seat.user->approach(seat.host, options_.server, again);
	prism::ConnectionRecord mine;
	mine.endpoint = approach.port->endpoint();
	prism::Result<prism::ConnectionRecord> theirs =
		site_.server->admit(mine, approach.me, options_.user.client.depth);
	if (!theirs && theirs.error().code == ESTALE) {
		seat.user->leave();
		seat.away = false;
		return_later(seat, us);
		return;
	}
	if (!theirs) {
		return_later(seat, ms);
		return;
	}
	std::unique_ptr<Spoiler> spoiler = Spoiler::of(options_.user.flaw, *theirs, options_.user.client.depth);
	seat.user->enter(std::move(approach), *std::move(theirs), spoiler.get());
	seat.spoiler = std::move(spoiler);
	seat.life = lives_;
	seat.away = seat.failing = false;
	seat.next_poll = now() + 1;
}

void World::return_later(Seat &seat, Time delay)
{
	after(delay, [this, &seat] { sit_down(seat); });
}

void World::sit_down(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (seat.occupied() || closing_)
		return;
	if (!site_.server)
		return_later(seat, 5 * ms);
	else
		connect(seat, seat.away);
}

void World::kill(simulation::Seat &base)
{
	Seat &seat = static_cast<Seat &>(base);
	if (options_.comes_back)
		fail(seat);
	else
		leave(seat);
}

void World::fail(Seat &seat)
{
	seat.failing = true;
	seat.user->device().fail();
}

/** Removes the client; the server learns of it later. */
void World::leave(Seat &seat)
{
	const rpc::ClientId name = seat.user->name();
	seat.user->leave();
	seat.next_poll = 0;
	after(random().between(50 * us, 3 * ms), [this, life = seat.life, name] {
		if (site_.server && life == lives_)
			site_.server->end_of(name);
	});
}

/** Checks a broken link: only allowed if its queue pair has failed, or its server is gone. */
void World::heed_failure(Seat &seat)
{
	const bool server_gone = seat.life != lives_ || !site_.server;
	if (!seat.failing && !server_gone)
		find(fmt::format("a link broke: {}", std::strerror(seat.user->link().broken())));
	seat.away = true;
	seat.next_poll = 0;
	return_later(seat, random().between(10 * us, 3 * ms));
}

void World::end_server()
{
	restart_after_ = 0;
	site_.server.reset();
	site_.restart();
	/* The server's sockets are closed. */
	for (const auto &seat : seats_) {
		after(random().between(10 * us, 3 * ms), [&seat = *seat, life = lives_] {
			if (seat.occupied() && seat.life == life)
				seat.user->link().break_off(ECONNRESET);
		});
	}
	after(random().between(ms, 20 * ms), [this] { begin_server(); });
}

void World::begin_server()
{
	site_.server = std::make_unique<Server>(*site_.node, *around_, options_.server, ledger_);
	site_.next_turn = 0;
	lives_++;
}

void World::let_things_happen()
{
	if (crashes_left_ && !is_doomed() && seats_.front()->occupied() && random().chance(simulation::happenings)) {
		crashes_left_--;
		doom(*seats_.front(), random().between(1, 60));
	}
	if (random().chance(options_.failures)) {
		Seat &seat = *seats_[random().below(seats_.size())];
		if (seat.occupied())
			fail(seat);
	}
	if (restart_after_ && answered_ > restart_after_)
		end_server();
}

/** Checks that calls are still being answered. */
void World::watch()
{
	std::uint64_t answered = 0;
	for (const auto &seat : seats_)
		answered += seat->user->figures().answered;
	if (answered != answered_) {
		answered_ = answered;
		answered_at_ = now();
	} else if (now() - answered_at_ > patience) {
		find("a call is never answered");
	}
}

/* A run ---------------------------------------------------------------------------------------------------------- */

bool World::working() const
{
	return std::ranges::any_of(seats_, [](const auto &seat) { return !seat->occupied() || !seat->user->done(); });
}

WorldResult World::run()
{
	const std::uint64_t total = options_.calls * options_.users;
	restart_after_ = options_.server_restart ? random().between(total / 4, total / 2) : 0;
	for (const auto &seat : seats_)
		seat->user->give_work(options_.calls);
	while (!stopped() && working()) {
		step();
		watch();
		let_things_happen();
	}
	if (!stopped())
		idle();
	if (!stopped())
		close();
	if (!stopped())
		site_.server->account();
	sum_up();
	return result_;
}

/** Checks that clients that make no more calls give back the responses that they have fetched. */
void World::idle()
{
	const Time end = now() + longest_idle;
	go_on_while(
		[this, end] { return now() < end && site_.server->holds_responses(); }, "clients do not come to rest");
	if (!stopped() && site_.server->holds_responses())
		find("idle clients keep buffers of responses");
}

/** Lets the users leave; then the server looks for lost buffers. */
void World::close()
{
	spare_victim();
	closing_ = true;
	for (const auto &seat : seats_)
		after(random().between(50 * us, 5 * ms), [this, &seat = *seat] { leave(seat); });
	come_to_rest();
	/* Buffers that the device has taken back look like lost ones until they are handed out again. */
	for (int rounds = 0; rounds < most_rounds && !stopped() && !site_.server->exact(); rounds++) {
		closing_ = false;
		Seat &last = *seats_.front();
		sit_down(last);
		last.user->give_work(2 * std::uint64_t{options_.server.buffers});
		answered_at_ = now();
		while (!stopped() && (!last.occupied() || !last.user->done())) {
			step();
			watch();
		}
		closing_ = true;
		if (!stopped())
			leave(last);
		come_to_rest();
	}
}

void World::come_to_rest()
{
	const Time end = now() + rest;
	go_on_while([this, end] { return now() < end; }, "the server does not come to rest");
}

void World::sum_up()
{
	for (const auto &seat : seats_) {
		if (seat->user->connected())
			seat->user->leave();
		const UserFigures &figures = seat->user->figures();
		WorldResult one;
		one.users = figures;
		result_.add(one);
	}
	if (site_.server)
		result_.repeated = site_.server->repeated();
	report(result_);
}

} // namespace rpc_sim
