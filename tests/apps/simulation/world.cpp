/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace simulation
{

namespace
{

constexpr Time never = ~Time{0};
constexpr Time longest_end = 60 * second;
constexpr std::uint32_t server_qpns = 0x100;

/** Returns the number of the queue pair that a packet is for (BTH, bytes 5 to 7). */
std::uint32_t destination(std::span<const std::uint8_t> packet)
{
	return std::uint32_t{packet[5]} << 16 | std::uint32_t{packet[6]} << 8 | packet[7];
}

} // namespace

/** Surroundings of one site's servers. */
class Site::Around final : public Surroundings
{
public:
	Around(World &world, Site &site, std::string name) : world_(world), site_(site), name_(std::move(name)) {}

private:
	[[nodiscard]] Time time() const override { return world_.now_; }
	prism::test::Random &random() override { return world_.random_; }
	void go_on_until(const std::function<bool()> &done) override { world_.go_on_until(site_, done); }
	void tell_to_settle(std::uint32_t connection, std::uint64_t value) override
	{
		world_.tell_to_settle(site_, connection, value);
	}
	void tell_ended(std::uint32_t connection) override { world_.tell_ended(site_, connection); }
	void find(const std::string &what) override
	{
		world_.find(name_.empty() ? what : fmt::format("{}: {}", name_, what));
	}

	World &world_;
	Site &site_;
	const std::string name_;
};

Site::Site(World &world, std::uint8_t host_number, std::uint32_t queue_pairs, const std::string &name)
	: host(host_number), qp_count(queue_pairs), around(std::make_unique<Around>(world, *this, name))
{
	restart();
}

Site::~Site() = default;

void Site::restart()
{
	node.emplace(host, server_qpns, qp_count);
}

Seat::Seat(std::size_t seat_number, std::uint8_t host_number) : number(seat_number), host(host_number) {}

Seat::~Seat() = default;

World::World(std::uint64_t seed, std::string expected) : random_(seed), expected_(std::move(expected)) {}

World::~World() = default;

void World::open_network(const test::Faults &faults, const test::Delays &delays, std::uint64_t crash_at)
{
	std::vector<test::Node *> nodes;
	for (Site *const site : sites_)
		nodes.push_back(&*site->node);
	for (Seat *const seat : seats_)
		nodes.push_back(&seat->host);
	network_ = std::make_unique<test::Network>(std::move(nodes), faults, random_, delays);
	network_->set_shim(
		[this](test::Node &node, std::vector<std::uint8_t> &packet) { return arrives(node, packet); });
	if (crash_at)
		doom(*seats_.front(), crash_at);
}

void World::find(const std::string &what)
{
	stopped_ = true;
	if (what.find(expected_) == std::string::npos)
		others_++;
	else if (finding_.empty())
		finding_ = fmt::format("at {} us: {}", now_ / us, what);
}

void World::report(Result &result) const
{
	result.finding = finding_;
	result.others = others_;
	result.packets = network_->sent;
	result.crashes = crashes_;
	result.time = now_;
}

/* Time ----------------------------------------------------------------------------------------------------------- */

void World::after(Time delay, std::function<void()> run)
{
	errands_.push({now_ + delay, errand_number_++, std::move(run)});
}

Time World::next_turn(const Site &site) const
{
	const Store &store = *site.store();
	return !store.idle() || store.has_reports() ? now_ + turn : 0;
}

Time World::next_time_of(const Seat &seat) const
{
	const Time next = earlier(seat.host.engine.next_deadline(), seat.next_poll);
	if (!seat.occupied())
		return next;
	return earlier(next, earlier(seat.next_timer(now_), seat.has_completions() ? now_ + us : 0));
}

Time World::next_time() const
{
	Time next = network_->next();
	for (const Site *const site : sites_) {
		next = earlier(next, site->node->engine.next_deadline());
		if (site->up())
			next = earlier(next, next_turn(*site));
	}
	for (const Seat *const seat : seats_)
		next = earlier(next, next_time_of(*seat));
	if (!errands_.empty())
		next = earlier(next, errands_.top().at);
	return next ? std::max(next, now_ + 1) : never;
}

void World::run_errands()
{
	while (!errands_.empty() && errands_.top().at <= now_) {
		const std::function<void()> run = errands_.top().run;
		errands_.pop();
		run();
	}
}

void World::step(bool serves)
{
	const Time next = next_time();
	if (next == never) {
		find("nothing is under way, but there is work left");
		return;
	}
	now_ = next;
	network_->deliver(now_);
	run_errands();
	for (Seat *const seat : seats_) {
		seat->next_poll = 0;
		if (!seat->occupied())
			continue;
		if (random_.chance(20)) /* now and then, a client is busy with other things */
			seat->next_poll = now_ + 1 + random_.below(3 * us);
		else
			poll(*seat);
	}
	for (Site *const site : sites_) {
		if (serves && site->up())
			serve(*site);
	}
	for (Site *const site : sites_)
		site->node->engine.progress(now_);
	for (Seat *const seat : seats_)
		seat->host.engine.progress(now_);
	send_off();
}

/** Steps the engine first: requests posted by the server of @p site leave only then. */
void World::go_on_until(Site &site, const std::function<bool()> &done)
{
	site.node->engine.progress(now_);
	network_->collect(now_);
	const Time deadline = now_ + second;
	while (!done() && now_ < deadline && !stopped_)
		step(false);
}

void World::begin_bursts(double days, double pause, std::function<void()> burst)
{
	bursts_end_ = days > 0 ? now_ + static_cast<Time>(days * static_cast<double>(day)) : 0;
	next_burst(static_cast<Time>(pause * static_cast<double>(second)), burst);
}

void World::next_burst(Time pause, const std::function<void()> &burst)
{
	burst();
	if (now_ + pause < bursts_end_)
		after(pause, [this, pause, burst] { next_burst(pause, burst); });
	else
		bursts_end_ = 0;
}

void World::go_on_while(const std::function<bool()> &condition, const std::string &finding)
{
	const Time deadline = now_ + longest_end;
	while (!stopped_ && condition()) {
		step(true);
		if (now_ > deadline)
			find(finding);
	}
}

void World::come_to_rest()
{
	const auto busy = [](const Site *site) {
		const Store *const store = site->store();
		return store && (store->open() || !store->idle());
	};
	const auto occupied = [](const Seat *seat) { return seat->occupied(); };
	const auto under_way = [&] {
		return std::ranges::any_of(seats_, occupied) || std::ranges::any_of(sites_, busy) || network_->next();
	};
	go_on_while(under_way, "the recovery scan does not end");
}

/* Partitions ----------------------------------------------------------------------------------------------------- */

bool World::is_parted() const
{
	return std::ranges::any_of(parted_until_, [this](const auto &parted) { return parted.second > now_; });
}

Time World::held_up(const Seat &seat, std::size_t site) const
{
	const auto parted = parted_until_.find({seat.number, site});
	return parted == parted_until_.end() || parted->second < now_ ? 0 : parted->second - now_;
}

/** Returns true if a packet that has come to @p node passed through a partition and must be dropped. */
bool World::is_cut_off(test::Node &node, std::span<const std::uint8_t> packet) const
{
	const soft::QueuePair *const qp = node.engine.find_qp(destination(packet));
	if (!qp)
		return true; /* no queue pair takes it */
	const auto site_of = [this](const soft::Address &address) {
		return std::ranges::find_if(
			sites_, [&address](const Site *site) { return site->node->address == address; });
	};
	const bool is_up = site_of(node.address) != sites_.end();
	const auto site = site_of(is_up ? node.address : qp->attr.peer);
	const soft::Address &host = is_up ? qp->attr.peer : node.address;
	const auto seat = std::ranges::find_if(seats_, [&host](const Seat *one) { return one->host.address == host; });
	return site != sites_.end() && seat != seats_.end() &&
	       parted(**seat, static_cast<std::size_t>(site - sites_.begin()));
}

/* Deaths --------------------------------------------------------------------------------------------------------- */

void World::doom(Seat &seat, std::uint64_t packets)
{
	victim_ = &seat;
	packets_left_ = packets;
	dying_ = false;
}

/**
 * Returns true if the packet arrives. Counts the victim's packets: the victim dies at the end of the step with its last
 * one.
 */
bool World::arrives(test::Node &node, std::span<const std::uint8_t> packet)
{
	if (!parted_until_.empty() && is_cut_off(node, packet))
		return false;
	if (!victim_ || &node != &victim_->host)
		return true;
	if (dying_)
		return false;
	dying_ = --packets_left_ == 0;
	return true;
}

/** Drops packets that the victim would send after its death. Returns true if it dies now. */
bool World::take_from_victim()
{
	if (!victim_)
		return false;
	test::Outbox &outbox = victim_->host.outbox;
	if (dying_) {
		outbox.keep(0);
	} else if (outbox.size() >= packets_left_) {
		outbox.keep(packets_left_);
		dying_ = true;
	} else {
		packets_left_ -= outbox.size();
	}
	return std::exchange(dying_, false);
}

/** Hands sent packets to the network. */
void World::send_off()
{
	const bool dies = take_from_victim();
	network_->collect(now_);
	if (!dies)
		return;
	Seat &dead = *std::exchange(victim_, nullptr);
	if (dead.occupied())
		die(dead);
}

void World::die(Seat &seat)
{
	kill(seat);
	crashes_++;
	come_back(seat, random_.between(10 * us, 5 * ms));
}

void World::come_back(Seat &seat, Time delay)
{
	after(delay, [this, &seat] { sit_down(seat); });
}

} // namespace simulation
