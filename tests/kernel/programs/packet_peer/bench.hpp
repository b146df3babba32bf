/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Common parts of prism-packet-peer: a device, its peer, memory at the addresses of the vectors, and a count. */
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wire_target.hpp"

namespace prism::packet_peer
{

using namespace prism::conformance;
using reference::Outcome;
using reference::Request;
using reference::Verdict;

struct Options {
	std::string device;
	WirePath path;
	std::string other_address; /* of the namespace too, but without a connection */
	std::string vectors;
	std::string corpus; /* folder of seeds, or none */
	std::uint64_t packets = 20000;
	unsigned seconds = 30;
	std::uint64_t seed = 1;
	std::string only;
};

/* The addresses of tests/vectors/vectors.json, with room around them. */
inline constexpr std::uint64_t main_va = 0x7f1000000000, aux_va = 0x7f2000000000, buffers_va = 0x7f3000000000;
inline constexpr std::uint64_t main_size = 64 << 10, aux_size = 16 << 10, buffers_size = 64 << 10;
inline constexpr std::uint32_t buffer_size = 1024;

enum RegionNumber {
	region_main,
	region_aux,
	region_buffers,
	region_foreign,      /* main, of another protection domain */
	region_read_only,    /* main */
	region_write_only,   /* main */
	region_atomic_only,  /* main */
	region_loose,        /* the second half of aux: is deregistered in between */
	region_read_buffers, /* the memory of buffers, with all rights */
	region_count
};

enum ListNumber {
	list_own,
	list_empty,
	list_foreign,
	list_ordinary,
	list_loose, /* its buffers are in region_loose */
	list_count
};

class Bench
{
public:
	explicit Bench(const Options &options);

	const Options &options;
	Device device;
	WirePeer peer;
	reference::World world;
	DeviceWorld memory;
	test::Random random;

	/** Returns the responder with this path MTU. */
	WireTarget &target(std::uint32_t mtu);
	/** Makes a fresh connection whose first PSN is @p psn, on the device and in the reference. */
	WireTarget &fresh(std::uint32_t mtu = 256, std::uint32_t psn = 0x100,
		const reference::Rights &access = reference::all_rights, std::uint8_t dest_rd_atomic = 16);

	void poke(std::uint64_t va, const Bytes &bytes);
	void poke_word(std::uint64_t va, std::uint64_t value);
	void poke_bounded(std::uint64_t va, std::uint64_t pointer, std::uint32_t bound);
	/** Posts a buffer to list @p list; its number gives its place in its region. */
	void supply(int list, unsigned number, std::uint32_t length = buffer_size);
	/** Tells the reference that the first buffer of a list was taken and came back. */
	void taken_back(int list);
	/** Copies the reference's memory to the device's, whatever was written there. */
	void restore_memory();
	[[nodiscard]] WireNames names(const Request &request) const;

	/* The count */
	void section(const std::string &name);
	bool expect(bool condition, const std::string &what);
	/** Expects no complaint of target, and memory and lists equal to the reference's. */
	void expect_agreement(WireTarget &target, const std::string &what);
	/** Sends @p request; its outcome (but for the reason of a fault) must equal the reference's. */
	Outcome agree(WireTarget &target, const Request &request, const std::string &what);
	/** Expects that a READ of a fresh request still works. */
	void expect_alive(WireTarget &target, const std::string &what);
	[[nodiscard]] int finish() const;
	[[nodiscard]] bool wanted(std::string_view part) const;

private:
	std::map<std::uint32_t, WireTarget> targets_;
	unsigned checks_ = 0, failures_ = 0, section_checks_ = 0;
	std::string section_;
};

/** Returns a faultless READ of @p length bytes of region_main. */
Request plain_read(std::uint32_t length, std::uint64_t offset = 0x2000);

/* Address that the requests below act on, and address of the pointer that those with T follow. */
inline constexpr std::uint64_t word_va = main_va + 0x3000, pointer_va = main_va + 0x1008;
/** @p length has no meaning for a CAS. */
Request operation(reference::Op op, unsigned flags = 0, std::uint32_t length = 24);

/** Returns the device's name of the counter that S.12 names, or empty. */
std::string counter_name(const Device &device, const std::string &name);

/* The parts */
void run_vectors(Bench &bench);
void run_bundle_vectors(Bench &bench);
void run_bundles(Bench &bench);
void run_without_length(Bench &bench);
void run_bad_packets(Bench &bench);
void run_duplicates(Bench &bench);
void run_abandoned(Bench &bench);
void run_trains(Bench &bench);
void run_responses(Bench &bench);
void run_fuzz(Bench &bench);
void run_backlog(Bench &bench);
void run_recycled(Bench &bench);

} // namespace prism::packet_peer
