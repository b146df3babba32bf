/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The semantics of docs/semantics.md written again, as plainly as possible: requests, bytes and rules, no packet
 * formats, no keys, no locks. It shares no code with the implementation, and the walk (differential_walk.cpp) checks
 * every implementation against it.
 */
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace prism::reference
{

using Bytes = std::vector<std::uint8_t>;

enum class Op : std::uint8_t {
	read,
	write,
	cas,
	allocate,
	plain_read,
	plain_write,
	plain_swap,
	plain_add
};

/** The modifiers (S.3), one bit each, in an order of their own. */
enum Modifier : std::uint8_t {
	indirect = 1,
	data_indirect = 2,
	bounded = 4,
	conditional = 8,
	redirect = 16,
};

/** Access rights of a region, or of a QP. */
struct Rights {
	bool local_write = false;
	bool read = false;
	bool write = false;
	bool atomic = false;
	bool operator==(const Rights &) const = default;
};

inline constexpr Rights all_rights{true, true, true, true};

/** Part of the address space that has bytes. */
struct Arena {
	std::uint64_t va = 0;
	Bytes bytes;
};

/**
 * Part of an arena under a key. Requests name regions by number; no_region stands for a key that was never given out.
 */
struct Region {
	std::size_t arena = 0;
	std::uint64_t va = 0;
	std::uint64_t length = 0;
	Rights rights;
	int domain = 1;
	bool live = true;
	unsigned generation = 0; /* grows when the region is registered again, under another key */
};

inline constexpr int no_region = -1;
inline constexpr int no_list = -1;

struct Entry {
	std::uint64_t id = 0;
	std::uint64_t va = 0;
	std::uint32_t length = 0;
	int region = no_region;
	unsigned generation = 0; /* of the region when the entry was posted */
	bool taken_back = false; /* takes no room from the owner */
};

struct Rejected {
	std::uint64_t id = 0;
	int error = 0;
	bool operator==(const Rejected &) const = default;
};

struct FreeList {
	int domain = 1;
	bool is_free_list = true; /* else an ordinary shared receive queue */
	std::uint32_t capacity = 16;
	std::deque<Entry> entries;
	std::vector<Rejected> rejected; /* not yet fetched */
	std::uint64_t popped = 0;
	std::uint64_t reclaimed = 0;
};

/** Change to one request packet on its way. */
enum class Mangle : std::uint8_t {
	none,
	reserved_bits, /* every reserved bit set: changes nothing */
	truncated,     /* four bytes cut off */
	extended,      /* four bytes appended */
	other_flags,   /* not the first packet: C differs from the first packet's */
	misplaced,     /* the opcode of another place in the message */
};

struct Request {
	Op op = Op::read;
	std::uint8_t flags = 0; /* Modifier */
	int region = no_region;
	std::uint64_t va = 0;
	int aux_region = no_region;
	std::uint64_t aux_va = 0;
	std::uint32_t length = 0;  /* the total length on the wire; may contradict the payload */
	std::uint8_t mode = 0;     /* 0 EQ, 1 GT, 2 LT */
	bool compare_data = false; /* the loaded bytes are the compare operand as well */
	std::uint8_t size = 8;     /* of each operand */
	std::array<std::uint8_t, 32> compare{}, swap{}, compare_mask{}, swap_mask{};
	int list = no_list;
	std::uint32_t tag = 0;
	Bytes payload;
	Mangle mangle = Mangle::none;
	std::uint32_t mangled_packet = 0; /* which of the request's packets, from 0 */

	[[nodiscard]] bool has(Modifier modifier) const { return flags & modifier; }
	[[nodiscard]] bool carries_payload() const
	{
		return (op == Op::write && !has(data_indirect)) || op == Op::allocate || op == Op::plain_write;
	}
};

enum class Verdict : std::uint8_t {
	completed,
	invalid_request,
	access_error,
	flushed
};
enum class Status : std::uint8_t {
	ok,
	cas_miss,
	null_pointer,
	no_buffer,
	skipped
};

/** Counter that reports a fault (S.12). */
enum class Reason : std::uint8_t {
	none,
	format,
	flags,
	operand,
	alignment,
	access,
	free_list
};

/** Outcome of a request: result at the requester, and counter at the responder. */
struct Outcome {
	Verdict verdict = Verdict::completed;
	Status status = Status::ok;
	Reason reason = Reason::none;
	std::uint32_t byte_len = 0;
	Bytes local; /* written to the requester's memory */
	bool operator==(const Outcome &) const = default;
};

/** True if @p op may carry @p flags (S.3). */
bool legal(Op op, unsigned flags);

/** Evaluates (compare & mask) MODE (target & mask), as numbers whose last byte is the most significant (S.6). */
bool holds(unsigned mode, const Bytes &compare, const Bytes &mask, const Bytes &target);

/** A responder's memory, and one QP through which requests reach it. */
class World
{
public:
	std::uint32_t mtu = 256;
	std::uint32_t max_indirect = 1 << 20;
	std::vector<Arena> arenas;
	std::vector<Region> regions;
	std::vector<FreeList> lists;
	Rights granted = all_rights; /* the QP's own access flags */
	int domain = 1;              /* the QP's */
	bool chain_ok = true;
	bool broken = false; /* the QP is in ERROR until reset() */

	Outcome execute(const Request &request);
	/** Returns true if it keeps the rules that its header alone decides (W.5 but F11). */
	[[nodiscard]] bool well_formed(const Request &request) const;
	void reset(const Rights &access);
	void poke(std::uint64_t va, const Bytes &bytes);
	[[nodiscard]] Bytes peek(std::uint64_t va, std::uint64_t length);

	/** Bytes of a move between overlapping ranges: S.2 leaves open which of the old bytes each of them gets. */
	struct Overlap {
		std::uint64_t to;
		std::uint64_t length;
		Bytes source;
	};
	std::optional<Overlap> overlap;

private:
	/** Thrown when a rule is broken. */
	struct Fault {
		Verdict verdict;
		Reason reason;
	};
	/** Thrown when a request ends with a status other than OK. */
	struct Unsuccessful {
		Status status;
	};
	/** A request under way. */
	struct Message {
		std::uint64_t va = 0;
		std::uint64_t length = 0;
		Entry buffer;
		bool has_buffer = false;
		std::uint64_t done = 0;
		Status status = Status::ok;
	};

	std::uint8_t &byte(std::uint64_t va);
	std::uint64_t number(std::uint64_t va, unsigned size);
	[[nodiscard]] bool covers(int region, int domain, std::uint64_t va, std::uint64_t length) const;
	void need(int region, std::uint64_t va, std::uint64_t length, bool Rights::*right) const;
	void move(std::uint64_t to, std::uint64_t from, std::uint64_t length);

	void check_format(const Request &request, const std::vector<Bytes> &packets, std::size_t at) const;
	void check_first(const Request &request, const std::vector<Bytes> &packets) const;
	void check_qp_access(const Request &request) const;

	Outcome run(const Request &request);
	Outcome run_plain(const Request &request);
	void begin(const Request &request, Message &message);
	void resolve(const Request &request, Message &message);
	void check_hops(const Request &request, Message &message);
	Entry take(const Request &request);
	[[nodiscard]] int entry_error(const FreeList &list, const Entry &entry) const;
	void act(const Request &request, Message &message, const Bytes &payload);
	Outcome finish(const Request &request, Message &message);
	Outcome swap(const Request &request, const Message &message);
};

} // namespace prism::reference
