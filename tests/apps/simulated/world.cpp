/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/core.h>

#include "../../linearizability/checker.hpp"

namespace kv_sim
{

using prism::kv::ObjectHeader;
using prism::kv::Slot;
using soft::Time;

namespace
{

constexpr Time us = 1'000;
constexpr Time second = 1'000'000'000;
constexpr Time day = 86'400 * second;
constexpr Time longest_run = 600 * second; /* without days */
/* How often a server with a scan under way has its turn, if nothing else happens */
constexpr Time turn = 20 * us;
/* An operation on a server that is gone must have ended by then: docs/prism-kv.md */
constexpr Time longest_failure = second;
/* 4.096 us * 2^14: that of QueuePairOptions */
constexpr Time usual_ack_timeout = Time{4096} << 14;
constexpr std::uint32_t server_qpns = 0x100;

} // namespace

World::World(std::uint64_t seed, const WorldOptions &options) : options_(options), random_(seed)
{
	server_node_.emplace(std::uint8_t{1}, server_qpns);
	std::vector<test::Node *> nodes{&*server_node_};
	for (unsigned i = 0; i < options_.users; i++) {
		Seat seat;
		seat.host = std::make_unique<test::Node>(static_cast<std::uint8_t>(2 + i));
		seat.user = std::make_unique<User>(
			i, options_.user, random_, [this](const std::string &what) { find(what); });
		nodes.push_back(seat.host.get());
		seats_.push_back(std::move(seat));
	}
	network_ = std::make_unique<test::Network>(std::move(nodes), options_.faults, random_, options_.delays);
	network_->set_shim([this](test::Node &node, std::vector<std::uint8_t> &) { return arrives(node); });
	crash_at_ = options_.crash_at;
	crashes_left_ = options_.crashes;
	begin_server();
	for (Seat &seat : seats_)
		connect(seat);
}

World::~World() = default;

void World::find(const std::string &what)
{
	if (result_.finding.empty())
		result_.finding = fmt::format("at {} us: {}", now_ / us, what);
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
	consider(server_node_->engine.next_deadline());
	for (const Seat &seat : seats_) {
		consider(seat.host->engine.next_deadline());
		consider(seat.next_poll);
		if (seat.user->connected() && seat.user->client().has_completions())
			consider(now_ + us);
	}
	if (!errands_.empty())
		consider(errands_.top().at);
	if (server_ && (next_turn_ > now_ || !server_->idle()))
		consider(std::max(next_turn_, now_ + turn));
	return std::max(next, now_ + 1);
}

/** With @p serves the server has its turn too: not while it waits for something itself. */
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
	for (Seat &seat : seats_)
		poll(seat);
	if (serves && server_ && now_ >= next_turn_)
		serve();
	server_node_->engine.progress(now_);
	for (Seat &seat : seats_)
		seat.host->engine.progress(now_);
	send_off();
}

void World::serve()
{
	if (!closing_ && random_.chance(options_.scans))
		server_->want_recovery();
	server_->serve();
	next_turn_ = now_ + random_.below(2 * options_.server_turn);
}

void World::go_on_until(const std::function<bool()> &done)
{
	const Time deadline = now_ + second;
	/* What the server has posted leaves only with a step of the engine. */
	server_node_->engine.progress(now_);
	network_->collect(now_);
	while (!done() && now_ < deadline && result_.finding.empty())
		step(false);
}

/** Clients are busy with other things now and then. */
void World::poll(Seat &seat)
{
	seat.next_poll = 0;
	if (!seat.user->connected())
		return;
	if (random_.chance(20)) {
		seat.next_poll = now_ + 1 + random_.below(3 * us);
		return;
	}
	seat.user->poll();
	if (seat.user->client().broken())
		heed_failure(seat);
}

void World::tell_to_settle(std::uint32_t connection, std::uint64_t value)
{
	const std::size_t life = lives_.size();
	after(random_.between(10 * us, 100 * us), [this, life, connection, value] {
		const auto has_it = [life, connection](const Seat &seat) {
			return seat.user->connected() && seat.life == life && seat.connection == connection;
		};
		const auto seat = std::find_if(seats_.begin(), seats_.end(), has_it);
		if (seat == seats_.end())
			return;
		seat->user->client().settle([this, life, connection, value] {
			after(random_.between(10 * us, 100 * us), [this, life, connection, value] {
				if (has_server(life))
					server_->hear_settled(connection, value);
			});
		});
	});
}

/* Ends ----------------------------------------------------------------------------------------------------------- */

/** Counts the first user's packets; with the last one that it is to see it dies, at the end of the step. */
bool World::arrives(test::Node &node)
{
	if (&node != seats_.front().host.get())
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
	Seat &victim = seats_.front();
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
	if (dying_ && victim.user->connected())
		kill(victim);
	if (dying_)
		crash_at_ = 0;
	dying_ = false;
}

/** Without a word. The server learns of it some time, and another takes the place. */
void World::kill(Seat &seat)
{
	seat.user->die();
	seat.next_poll = 0;
	result_.crashes++;
	after(random_.between(50 * us, 3'000 * us), [this, life = seat.life, connection = seat.connection] {
		if (has_server(life))
			server_->end_of(connection);
	});
	after(random_.between(10 * us, 5'000 * us), [this, &seat] { connect(seat); });
}

void World::connect(Seat &seat)
{
	if (!server_) {
		after(10'000 * us, [this, &seat] { connect(seat); });
		return;
	}
	test::EndpointOptions options;
	auto pair = std::make_unique<Pair>(*seat.host, options);
	Admission admission = server_->admit(*pair);
	seat.connection = admission.view.connection;
	seat.life = lives_.size();
	seat.user->connect(std::move(pair), std::move(admission), history_);
	seat.next_poll = now_ + 1;
}

/** The first user dies after some more packets, if another crash is due: spread over the days, if it is days. */
void World::crash_some()
{
	const double bursts = options_.days * static_cast<double>(day / second) / options_.pause;
	const bool due = options_.days <= 0 || random_.chance(100 * options_.crashes / bursts);
	if (!due || !crashes_left_ || crash_at_ || !seats_.front().user->connected())
		return;
	crashes_left_--;
	crash_at_ = victim_packets_ + random_.between(1, 60);
}

void World::end_server()
{
	server_.reset();
	server_node_.emplace(std::uint8_t{1}, server_qpns);
	server_ended_ = now_;
	after(random_.between(100'000 * us, 2 * second), [this] { begin_server(); });
}

void World::begin_server()
{
	ServerOptions options = options_.server;
	if (options_.server_restart)
		options.ack_timeout = usual_ack_timeout;
	Surroundings &around = *this; /* the base is private */
	server_ = std::make_unique<Server>(*server_node_, around, options);
	history_ = lives_.emplace_back(std::make_shared<History>());
}

/** A connection has failed: only because its server has gone, with the error for that, and in time. */
void World::heed_failure(Seat &seat)
{
	for (const int error : seat.user->take_errors()) {
		if (!server_ended_ || (error != ETIMEDOUT && error != ECONNRESET))
			find(fmt::format("an operation failed with {}", std::strerror(error)));
	}
	if (seat.user->busy())
		return; /* each is told; the next poll sees to it */
	const Time took = now_ - server_ended_;
	result_.longest_failure = std::max(result_.longest_failure, took);
	if (took > longest_failure)
		find(fmt::format("a client was told after {} ms that its server is gone", took / (1000 * us)));
	seat.user->die();
	seat.next_poll = 0;
	connect(seat);
}

/* A run ---------------------------------------------------------------------------------------------------------- */

bool World::working() const
{
	return std::any_of(seats_.begin(), seats_.end(),
		[](const Seat &seat) { return !seat.user->connected() || !seat.user->done(); });
}

/** All users at once, so that they meet, then a long time nothing. */
void World::burst()
{
	for (Seat &seat : seats_) {
		seat.user->give_work(options_.operations);
		seat.next_poll = now_ + 1;
	}
	if (options_.days > 0)
		crash_some();
	const auto pause = static_cast<Time>(options_.pause * static_cast<double>(second));
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
	const std::uint64_t total = options_.operations * options_.users;
	std::uint64_t restart_after = options_.server_restart ? random_.between(total / 4, total * 3 / 4) : 0;
	while (result_.finding.empty() && (work_ends_ || working())) {
		step(true);
		std::uint64_t done = 0;
		for (const Seat &seat : seats_)
			done += seat.user->figures().operations;
		if (restart_after && done > restart_after) {
			restart_after = 0;
			end_server();
		}
		if (options_.days <= 0 && random_.chance(1))
			crash_some();
		if (now_ > limit)
			find("work is left undone");
	}
	if (result_.finding.empty())
		close();
	if (result_.finding.empty())
		check();
	for (const Seat &seat : seats_) {
		result_.users.operations += seat.user->figures().operations;
		result_.users.direct += seat.user->figures().direct;
		result_.users.full += seat.user->figures().full;
		result_.users.failed += seat.user->figures().failed;
	}
	if (server_)
		result_.server = server_->figures();
	result_.packets = network_->sent;
	result_.victim_packets = victim_packets_;
	result_.time = now_;
	return result_;
}

/** The users leave, some without reporting what they have freed; then the server looks for what is lost. */
void World::close()
{
	crash_at_ = 0;
	closing_ = true;
	for (Seat &seat : seats_) {
		if (random_.chance(50))
			seat.user->client().flush();
		after(random_.between(50 * us, 5'000 * us), [this, &seat] {
			seat.user->die();
			if (has_server(seat.life))
				server_->end_of(seat.connection);
		});
	}
	const Time deadline = now_ + 60 * second;
	while (result_.finding.empty() && (server_->open() || !server_->idle() || network_->next())) {
		step(true);
		if (now_ > deadline)
			find("the recovery scan does not end");
	}
}

/* Checks --------------------------------------------------------------------------------------------------------- */

void World::check()
{
	const prism::kv::TableCount count = server_->table().count();
	if (count.claims)
		find(fmt::format("{} claims are left", count.claims));
	if (count.stray)
		find("a member is in a bucket that is not its key's");
	check_objects();
	read_all(*history_);
	check_history();
	server_->account();
}

/** Every member's object is one of its key, whole, and there is one member a key. */
void World::check_objects()
{
	std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
	for (std::uint64_t index = 0; index < server_->table().geometry().slot_count(); index++) {
		const Slot slot = server_->table().at(index);
		if (!slot.is_member())
			continue;
		if (!keys.insert({slot.key.low, slot.key.high}).second)
			find("a key is in the table twice");
		const std::byte *const object = server_->at(slot.object.ptr, slot.object.bound);
		ObjectHeader header;
		if (!object || slot.object.bound < sizeof(header) + sizeof(std::uint64_t)) {
			find("a slot leads nowhere");
			continue;
		}
		std::memcpy(&header, object, sizeof(header));
		const std::span key(object + sizeof(header), header.key_size);
		if (header.key_size != sizeof(std::uint64_t) || header.object_size() != slot.object.bound ||
			static_cast<std::uint32_t>(header.version) != slot.object.tag ||
			!(prism::kv::fingerprint_of(server_->secret(), key) == slot.key))
			find("a slot and its object contradict each other");
	}
}

/** What is in the table at the end is what a last GET of each key would find. */
void World::read_all(History &history)
{
	for (std::uint64_t key = 0; key < options_.user.keys; key++) {
		const prism::kv::Fingerprint wanted =
			prism::kv::fingerprint_of(server_->secret(), std::as_bytes(std::span(&key, 1)));
		prism::test::Operation operation;
		operation.key = key;
		operation.client = options_.users;
		operation.kind = prism::test::Kind::get;
		const std::size_t record = history.begin(operation);
		std::uint64_t value = prism::test::absent;
		for (std::uint64_t index = 0; index < server_->table().geometry().slot_count(); index++) {
			const Slot slot = server_->table().at(index);
			constexpr std::uint64_t before = sizeof(ObjectHeader) + sizeof(key);
			const std::byte *const at = server_->at(slot.object.ptr + before, sizeof(value));
			if (slot.key == wanted && at)
				std::memcpy(&value, at, sizeof(value));
		}
		history.end(record,
			value == prism::test::absent ? prism::test::Outcome::not_found : prism::test::Outcome::ok,
			value);
	}
}

void World::check_history()
{
	for (const auto &life : lives_) {
		const prism::test::CheckReport report = prism::test::check(life->operations());
		if (report.verdict == prism::test::Verdict::linearizable)
			continue;
		std::string text = fmt::format("the history is {}", prism::test::name_of(report.verdict));
		for (const auto &finding : report.findings) {
			text += fmt::format("; key {}: {}", finding.key, finding.reason);
			for (const auto &operation : finding.window)
				text += "\n    " + prism::test::describe(operation);
			break;
		}
		find(text);
	}
}

} // namespace kv_sim
