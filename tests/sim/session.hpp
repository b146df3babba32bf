/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Parts of a simulation: one session per queue pair, and the whole. */
#pragma once

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "simulation.hpp"

namespace prism::test
{

using soft::SendKind;
using soft::SendRequest;
using soft::Sge;
using soft::Time;

constexpr Time longest_run = 30'000'000'000; /* virtual ns */
constexpr Time tick = 20'000;

constexpr unsigned object_count = 4;
constexpr unsigned place_count = 16; /* for the versions of objects */
constexpr unsigned buffer_count = 24;
constexpr std::uint32_t object_size = 8192;
constexpr std::uint32_t buffer_size = 2048;
constexpr std::uint32_t slot_size = 8192;
constexpr unsigned slots = 16;
constexpr std::uint8_t poison = 0xee;

/** Layout of the server's memory, as offsets. Blocks of 32 bytes if atomicity matters. */
constexpr std::uint64_t counter_at = 0;
constexpr std::uint64_t pointers_at = 64;
constexpr std::uint64_t constant_at = 256;
constexpr std::uint64_t constant_size = 1 << 20;
constexpr std::uint64_t objects_at = constant_at + constant_size;
constexpr std::uint64_t buffers_at = objects_at + place_count * object_size;
constexpr std::uint64_t private_at = buffers_at + buffer_count * buffer_size;

/** Layout of a QP's private part of it. */
constexpr std::uint64_t own_word = 0;
constexpr std::uint64_t own_swap = 32;
constexpr std::uint64_t own_version = 64;
constexpr std::uint64_t own_install = 96;
constexpr std::uint64_t own_version_pointer = 112;
constexpr std::uint64_t own_pointers = 128;                      /* one of 16 bytes for each slot */
constexpr std::uint64_t own_scratch = own_pointers + 16 * slots; /* likewise */
constexpr std::uint64_t own_slots = 4096;
constexpr std::uint64_t own_receives = own_slots + slots * slot_size;
constexpr std::uint64_t own_size = own_receives + slots * slot_size;

constexpr std::uint64_t server_va = 0x10'0000;
constexpr std::uint64_t client_va = 0x40'0000;
constexpr std::uint64_t long_va = 0x4000'0000;
constexpr std::uint64_t piece_size = 16384;

inline std::uint8_t pattern(std::uint64_t tag, std::uint64_t at)
{
	const std::uint64_t x = (tag + 1) * 0x9e3779b97f4a7c15 + (at / 8) * 0xd6e8feb86659fd93;
	return static_cast<std::uint8_t>((x ^ (x >> 29)) >> (8 * (at % 8)));
}

inline void fill_pattern(std::uint8_t *to, std::uint64_t tag, std::uint64_t length)
{
	for (std::uint64_t i = 0; i < length; i++)
		to[i] = pattern(tag, i);
}

inline bool has_pattern(const std::uint8_t *from, std::uint64_t tag, std::uint64_t length)
{
	for (std::uint64_t i = 0; i < length; i++)
		if (from[i] != pattern(tag, i))
			return false;
	return true;
}

inline std::uint64_t load64(const std::uint8_t *from)
{
	std::uint64_t value;
	std::memcpy(&value, from, sizeof(value));
	return value;
}

inline void store64(std::uint8_t *to, std::uint64_t value)
{
	std::memcpy(to, &value, sizeof(value));
}

/** An object whose every word is its version; length and place change with the version. */
struct Object {
	std::uint64_t version = 0;
	std::uint64_t place = 0; /* its address */
	bool null = false;
	std::map<std::uint64_t, std::uint32_t> lengths; /* of all versions that ever were */
};

class Simulation;

enum class Kind : std::uint8_t {
	add,
	swap,
	word,
	version_cas,
	allocate,
	install,
	send,
	plain_write,
	write,
	plain_read,
	read,
	long_read
};

struct Pending {
	Kind kind = Kind::add;
	std::uint64_t id = 0;
	std::uint64_t tag = 0; /* of the pattern */
	std::uint32_t length = 0;
	std::uint64_t expected = 0; /* old value */
	unsigned object = 0;
	bool bounded = false;
	bool direct = false;
	unsigned slot = 0;
};

/** One QP of a client, its peer at the server, and the results that it expects. */
class Session
{
public:
	Session(Simulation &simulation, Node &client, Node &server, unsigned number);

	void post_some();
	void poll();
	void poll_server();
	void post_receives();
	[[nodiscard]] bool done() const;
	[[nodiscard]] bool failed() const { return client_.qp.state != IBV_QPS_RTS || server_.qp.state != IBV_QPS_RTS; }
	void final_check();
	[[nodiscard]] std::uint64_t completed() const { return completed_; }

	std::uint64_t adds = 0;
	std::uint64_t allocated = 0;
	Endpoint &server() { return server_; }

private:
	void post_one();
	void post_atomic(Kind kind);
	void post_word();
	void post_cas();
	void post_allocate(bool chain);
	void post_install(unsigned slot);
	void post_send();
	void post_write(Kind kind);
	void post_plain_read();
	void post_read();
	void post_long_read();
	SendRequest &begin(Kind kind);
	void finish(SendRequest &wr, std::uint32_t local_length);
	void finish_prism(SendRequest &wr, const prism_request &request, std::span<const std::uint8_t> operands,
		std::uint32_t local_length);
	std::uint32_t some_length(std::uint32_t most);
	void check(const Pending &pending, const ibv_wc &wc);
	void check_write(const Pending &pending, const ibv_wc &wc);
	void check_read(const Pending &pending, const ibv_wc &wc);
	void check_allocate(const Pending &pending, const ibv_wc &wc);
	void find(const std::string &what);
	std::uint8_t *own(std::uint64_t at);
	[[nodiscard]] std::uint64_t own_va(std::uint64_t at) const
	{
		return server_va + private_at + number_ * own_size + at;
	}
	std::uint8_t *piece(std::uint64_t id) { return local_.data() + id % 64 * piece_size; }

	Simulation &sim_;
	const unsigned number_;
	Endpoint client_, server_;
	std::vector<std::uint8_t> local_, long_;
	std::uint32_t local_key_ = 0, long_key_ = 0;
	bool reading_long_ = false;
	std::uint32_t mtu_ = 0;
	unsigned window_ = 8;
	unsigned to_post_ = 0;
	std::uint64_t next_id_ = 0;
	std::deque<Pending> pending_;
	std::uint64_t completed_ = 0;

	std::uint64_t own_swaps_ = 0, words_ = 0, versions_ = 0; /* posted so far */
	unsigned next_slot_ = 0;
	std::set<unsigned> slots_used_;                             /* a request under way writes to it */
	bool allocate_ok_ = false;                                  /* of the last ALLOCATE that completed */
	std::deque<std::pair<std::uint64_t, std::uint32_t>> sends_; /* tag, length: posted and not received */
	std::uint64_t receives_posted_ = 0, received_ = 0;
};

class Simulation
{
public:
	Simulation(std::uint64_t seed, const SimulationOptions &options);
	SimulationResult run();

	void find(const std::string &what)
	{
		if (result.finding.empty())
			result.finding = what;
	}
	void take_buffer(std::uint64_t va, std::uint64_t tag, std::uint32_t length);

	const SimulationOptions options;
	Random random;
	SimulationResult result;
	std::vector<std::uint8_t> memory;
	std::uint32_t key = 0;
	std::vector<Object> objects;
	std::set<std::uint64_t> counter_values; /* answers of FETCH_AND_ADD to the shared counter */
	Node server{1};
	std::unique_ptr<soft::SharedReceiveQueue> list, places;
	Time now = 1000;

private:
	std::uint64_t take_place();
	void set_version(unsigned object, std::uint64_t version);
	void change_objects();
	void give_back_buffers();
	void step();
	void final_check();
	[[nodiscard]] Time next_time();
	bool sabotage(Node &node, std::vector<std::uint8_t> &packet);
	void execute_again(const prism_bth &bth);

	Node client_a_{2}, client_b_{3};
	std::unique_ptr<Endpoint> owner_; /* of the objects: connected to itself */
	std::set<std::uint64_t> owned_;   /* buffers that clients hold */
	std::vector<std::unique_ptr<Session>> sessions_;
	Network network_;
};

} // namespace prism::test
