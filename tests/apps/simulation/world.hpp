/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the worlds of the simulators have in common: servers, clients and the network between them, which go on in
 * virtual time, step by step, as a seed says. What clients and servers do and what happens to them is the derived
 * classes'.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network.hpp"
#include "random.hpp"
#include "store.hpp"

namespace simulation
{

using soft::Time;

inline constexpr Time us = 1'000;
inline constexpr Time ms = 1'000 * us;
inline constexpr Time second = 1'000 * ms;
inline constexpr Time day = 86'400 * second;

/** Percent of the steps at which something happens that is still to happen. */
inline constexpr double happenings = 0.5;
/** Percent of the servers' ends that nobody is told of. */
inline constexpr double silent = 30;

/** The earlier of two moments, of which 0 is never. */
constexpr Time earlier(Time one, Time other) noexcept
{
	return one && other ? std::min(one, other) : one + other;
}

class World;

/** The host of a server. */
struct Site {
	/** @p name: for findings; may be empty. */
	Site(World &world, std::uint8_t host_number, std::uint32_t queue_pairs, const std::string &name);
	virtual ~Site();

	/** Null: it has crashed, or its server is none of a store. */
	[[nodiscard]] virtual Store *store() const noexcept { return nullptr; }
	/** Whether there is a server. */
	[[nodiscard]] virtual bool up() const noexcept { return store() != nullptr; }
	/** The host begins again, without anything of before; the server must be gone. */
	void restart();

	const std::uint8_t host;
	const std::uint32_t qp_count;
	const std::unique_ptr<Surroundings> around; /* its server's */
	std::optional<test::Node> node;

private:
	class Around;
};

/** A host, and the client on it. */
struct Seat {
	Seat(std::size_t seat_number, std::uint8_t host_number);
	virtual ~Seat();

	/** Whether there is a client. */
	[[nodiscard]] virtual bool occupied() const noexcept = 0;
	/* Of the client that is there */
	[[nodiscard]] virtual bool has_completions() const noexcept = 0;
	/** When it has something to do even if nothing happens; 0: never. */
	[[nodiscard]] virtual Time next_timer(Time now) const noexcept = 0;

	const std::size_t number;
	test::Node host;
	Time next_poll = 0;
};

class World
{
public:
	World(const World &) = delete;
	World &operator=(const World &) = delete;
	virtual ~World();

protected:
	/** @p expected: only what contains this is a finding, and the rest is counted. */
	explicit World(std::uint64_t seed, std::string expected = {});

	/* Once each, in the constructor; all hosts have numbers of their own. */
	void add(Site &site) { sites_.push_back(&site); }
	void add(Seat &seat) { seats_.push_back(&seat); }
	void open_network(const test::Faults &faults, const test::Delays &delays);

	/** A check has found something: the run is over. The first finding counts. */
	void find(const std::string &what);
	/** Something was found, be it expected or not. */
	[[nodiscard]] bool stopped() const noexcept { return stopped_; }
	[[nodiscard]] const std::string &finding() const noexcept { return finding_; }
	/** Findings that were not expected. */
	[[nodiscard]] std::uint64_t others() const noexcept { return others_; }

	/* Time */
	[[nodiscard]] Time now() const noexcept { return now_; }
	[[nodiscard]] prism::test::Random &random() noexcept { return random_; }
	[[nodiscard]] test::Network &network() noexcept { return *network_; }
	void after(Time delay, std::function<void()> run);
	/** Derived classes' destructors call it: what is to run holds queue pairs of hosts that they own. */
	void forget_errands() noexcept { errands_ = {}; }
	/** Everybody does what can be done at the next moment at which there is something to do. */
	void step() { step(true); }
	/** Calls @p burst now and, for so many @p days, again after each @p pause, in seconds. */
	void begin_bursts(double days, double pause, std::function<void()> burst);
	/** 0: the last burst has begun. */
	[[nodiscard]] Time bursts_end() const noexcept { return bursts_end_; }
	/** Steps while @p condition; @p finding: what is wrong if that is too long. */
	void go_on_while(const std::function<bool()> &condition, const std::string &finding);
	/** Steps until all clients have gone, and servers have found what these lost. */
	void come_to_rest();

	/* Partitions, of a client from a server: what is said meanwhile arrives behind them, and packets do not. */
	void part(const Seat &seat, std::size_t site, Time length)
	{
		parted_until_[{seat.number, site}] = now_ + length;
	}
	void heal(const Seat &seat, std::size_t site) { parted_until_.erase({seat.number, site}); }
	[[nodiscard]] bool parted(const Seat &seat, std::size_t site) const { return held_up(seat, site) != 0; }
	[[nodiscard]] bool is_parted() const; /* somebody, from something */
	/** For how long nothing gets through. */
	[[nodiscard]] Time held_up(const Seat &seat, std::size_t site) const;

	/* Deaths */
	/** @p seat dies with its @p packets th packet from now on, sent or received, and comes back. */
	void doom(Seat &seat, std::uint64_t packets);
	/** Whether somebody is to die so. */
	[[nodiscard]] bool is_doomed() const noexcept { return victim_ != nullptr; }
	void spare_victim() noexcept { victim_ = nullptr; }
	/** A new client after @p delay. */
	void come_back(Seat &seat, Time delay);
	void die(Seat &seat);
	[[nodiscard]] std::uint64_t crashes() const noexcept { return crashes_; }
	void count_crash() noexcept { crashes_++; }

	/* What derived classes do */
	/** The client of @p seat, which is occupied, has its turn. */
	virtual void poll(Seat &seat) = 0;
	/** The server of @p site has its turn. */
	virtual void serve(Site &site) { site.store()->serve(); }
	/** When that is to be at the latest; 0: it has nothing to do. */
	[[nodiscard]] virtual Time next_turn(const Site &site) const;
	/** Ends the client of @p seat without a word. */
	virtual void kill(Seat &seat) = 0;
	/** Makes a new client. */
	virtual void sit_down(Seat &seat) = 0;
	/** See Surroundings. */
	virtual void tell_to_settle(Site &site, std::uint32_t connection, std::uint64_t value) = 0;
	virtual void tell_ended(Site & /*site*/, std::uint32_t /*connection*/) {}

	/* How often a server with something to do has its turn, if nothing else happens */
	static constexpr Time turn = 20 * us;

private:
	friend struct Site;
	struct Errand {
		Time at = 0;
		std::uint64_t number = 0; /* equal times in the order of their making */
		std::function<void()> run;
		bool operator>(const Errand &other) const
		{
			return at != other.at ? at > other.at : number > other.number;
		}
	};

	[[nodiscard]] Time next_time() const;
	[[nodiscard]] Time next_time_of(const Seat &seat) const;
	/** With @p serves servers have their turns too: not while one of them waits for something itself. */
	void step(bool serves);
	void run_errands();
	void next_burst(Time pause, const std::function<void()> &burst);
	void go_on_until(Site &site, const std::function<bool()> &done);
	[[nodiscard]] bool is_cut_off(test::Node &node, std::span<const std::uint8_t> packet) const;
	[[nodiscard]] bool arrives(test::Node &node, std::span<const std::uint8_t> packet);
	void send_off();
	[[nodiscard]] bool take_from_victim();

	prism::test::Random random_;
	const std::string expected_;
	std::string finding_;
	std::uint64_t others_ = 0;
	bool stopped_ = false;
	Time now_ = 1000;
	std::vector<Site *> sites_;
	std::vector<Seat *> seats_;
	std::unique_ptr<test::Network> network_;
	std::map<std::pair<std::size_t, std::size_t>, Time> parted_until_; /* by numbers of seat and site */
	std::priority_queue<Errand, std::vector<Errand>, std::greater<>> errands_;
	std::uint64_t errand_number_ = 0;
	Time bursts_end_ = 0;
	Seat *victim_ = nullptr;
	std::uint64_t packets_left_ = 0; /* of the victim's, until it dies */
	bool dying_ = false;
	std::uint64_t crashes_ = 0;
};

} // namespace simulation
