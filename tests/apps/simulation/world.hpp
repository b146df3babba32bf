/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Common part of the simulators' worlds: servers, clients and the network between them, which run in virtual time, step
 * by step, as the seed determines. Derived classes define the behaviour of clients and servers and the events that hit
 * them.
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
#include "result.hpp"

namespace simulation
{

using soft::Time;

inline constexpr Time us = 1'000;
inline constexpr Time ms = 1'000 * us;
inline constexpr Time second = 1'000 * ms;
inline constexpr Time day = 86'400 * second;

/** Percent of the steps that start one of the events still due. */
inline constexpr double happenings = 0.5;
/** Percent of the servers' ends that nobody is told of. */
inline constexpr double silent = 30;

/** Returns the earlier of two moments; 0 stands for never. */
constexpr Time earlier(Time one, Time other) noexcept
{
	return one && other ? std::min(one, other) : one + other;
}

class World;

/** Host of a server. */
struct Site {
	/** @p name: used in findings; may be empty. */
	Site(World &world, std::uint8_t host_number, std::uint32_t queue_pairs, const std::string &name);
	virtual ~Site();

	/** Returns null if the server has crashed or is not a store's. */
	[[nodiscard]] virtual Store *store() const noexcept { return nullptr; }
	/** Returns true if there is a server. */
	[[nodiscard]] virtual bool up() const noexcept { return store() != nullptr; }
	/** Restarts the host with empty state; the server must be gone. */
	void restart();

	const std::uint8_t host;
	const std::uint32_t qp_count;
	const std::unique_ptr<Surroundings> around; /* of the server */
	std::optional<test::Node> node;

private:
	class Around;
};

/** Host with a client on it. */
struct Seat {
	Seat(std::size_t seat_number, std::uint8_t host_number);
	virtual ~Seat();

	/** Returns true if there is a client. */
	[[nodiscard]] virtual bool occupied() const noexcept = 0;
	/* Only while there is a client */
	[[nodiscard]] virtual bool has_completions() const noexcept = 0;
	/** Returns the moment at which the client has something to do even if nothing happens; 0 if never. */
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
	/** @p expected: only findings that contain this text count; the others are counted separately. */
	explicit World(std::uint64_t seed, std::string expected = {});

	/* Called in the constructor, once for each site and seat; all hosts have different numbers. */
	void add(Site &site) { sites_.push_back(&site); }
	void add(Seat &seat) { seats_.push_back(&seat); }
	/** @p crash_at: the first client dies with this packet, sent or received; 0: never. */
	void open_network(const test::Faults &faults, const test::Delays &delays, std::uint64_t crash_at);

	/** Reports a finding of a check, which ends the run. The first finding counts. */
	void find(const std::string &what);
	/** Returns true if there was a finding, expected or not. */
	[[nodiscard]] bool stopped() const noexcept { return stopped_; }
	[[nodiscard]] const std::string &finding() const noexcept { return finding_; }
	/** Stores the findings and what all worlds count in @p result. */
	void report(Result &result) const;

	/* Time */
	[[nodiscard]] Time now() const noexcept { return now_; }
	[[nodiscard]] prism::test::Random &random() noexcept { return random_; }
	void after(Time delay, std::function<void()> run);
	/**
	 * Drops all pending errands. Called by derived classes' destructors: errands hold queue pairs of hosts that
	 * these own.
	 */
	void forget_errands() noexcept { errands_ = {}; }
	/** Advances to the next moment with something to do; everybody does what can be done then. */
	void step() { step(true); }
	/** Calls @p burst now and again after each @p pause, in seconds, for @p days. */
	void begin_bursts(double days, double pause, std::function<void()> burst);
	/** Returns 0 if the last burst has begun. */
	[[nodiscard]] Time bursts_end() const noexcept { return bursts_end_; }
	/** Steps while @p condition holds; reports @p finding if that takes too long. */
	void go_on_while(const std::function<bool()> &condition, const std::string &finding);
	/** Steps until all clients have gone and the servers have recovered the buffers that these lost. */
	void come_to_rest();

	/* Partitions of a client from a server: control messages sent meanwhile arrive afterwards, packets never. */
	void part(const Seat &seat, std::size_t site, Time length)
	{
		parted_until_[{seat.number, site}] = now_ + length;
	}
	void heal(const Seat &seat, std::size_t site) { parted_until_.erase({seat.number, site}); }
	[[nodiscard]] bool parted(const Seat &seat, std::size_t site) const { return held_up(seat, site) != 0; }
	[[nodiscard]] bool is_parted() const; /* any client from any server */
	/** Returns how long nothing gets through from now on. */
	[[nodiscard]] Time held_up(const Seat &seat, std::size_t site) const;

	/* Deaths */
	/** Lets @p seat die with its @p packets th packet from now on, sent or received, and come back. */
	void doom(Seat &seat, std::uint64_t packets);
	/** Returns true if a victim is chosen and still alive. */
	[[nodiscard]] bool is_doomed() const noexcept { return victim_ != nullptr; }
	void spare_victim() noexcept { victim_ = nullptr; }
	/** Makes a new client after @p delay. */
	void come_back(Seat &seat, Time delay);
	void die(Seat &seat);
	void count_crash() noexcept { crashes_++; }

	/* Hooks for derived classes */
	/** Gives a turn to the client of @p seat, which is occupied. */
	virtual void poll(Seat &seat) = 0;
	/** Gives a turn to the server of @p site. */
	virtual void serve(Site &site) { site.store()->serve(); }
	/** Returns the latest moment for the next turn; 0 if there is nothing to do. */
	[[nodiscard]] virtual Time next_turn(const Site &site) const;
	/** Ends the client of @p seat without telling anyone. */
	virtual void kill(Seat &seat) = 0;
	/** Makes a new client. */
	virtual void sit_down(Seat &seat) = 0;
	/** See Surroundings. */
	virtual void tell_to_settle(Site &site, std::uint32_t connection, std::uint64_t value) = 0;
	virtual void tell_ended(Site & /*site*/, std::uint32_t /*connection*/) {}

	/* Interval between turns of a server with something to do, if nothing else happens */
	static constexpr Time turn = 20 * us;

private:
	friend struct Site;
	struct Errand {
		Time at = 0;
		std::uint64_t number = 0; /* errands of the same time run in the order of their creation */
		std::function<void()> run;
		bool operator>(const Errand &other) const
		{
			return at != other.at ? at > other.at : number > other.number;
		}
	};

	[[nodiscard]] Time next_time() const;
	[[nodiscard]] Time next_time_of(const Seat &seat) const;
	/** @p serves: servers have their turns too. False while one of them waits for something itself. */
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
	std::map<std::pair<std::size_t, std::size_t>, Time> parted_until_; /* key: numbers of seat and site */
	std::priority_queue<Errand, std::vector<Errand>, std::greater<>> errands_;
	std::uint64_t errand_number_ = 0;
	Time bursts_end_ = 0;
	Seat *victim_ = nullptr;
	std::uint64_t packets_left_ = 0; /* packets of the victim until it dies */
	bool dying_ = false;
	std::uint64_t crashes_ = 0;
};

} // namespace simulation
