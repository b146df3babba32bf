/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-packet-peer: the peer of a kernel device, made of sockets in another network namespace. It sends requests and
 * answers that are right, wrong, repeated, incomplete, in trains or mutated, and checks the device against
 * docs/wire-protocol.md and docs/semantics.md.
 */
#include <cstdio>
#include <exception>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "bench.hpp"

namespace prism::packet_peer
{

namespace
{

struct Part {
	const char *name;
	void (*run)(Bench &);
	bool slow = false; /* takes minutes: only on request */
};
constexpr Part parts[] = {
	{"vectors", run_vectors},
	{"bundle_vectors", run_bundle_vectors},
	{"bundles", run_bundles},
	{"length", run_without_length},
	{"bad", run_bad_packets},
	{"duplicates", run_duplicates},
	{"abandoned", run_abandoned},
	{"trains", run_trains},
	{"responses", run_responses},
	{"fuzz", run_fuzz},
	{"backlog", run_backlog},
	{"recycled", run_recycled, true},
};

int run(const Options &options)
{
	Bench bench(options);
	for (const Part &part : parts)
		if (bench.wanted(part.name) && (!part.slow || options.only == part.name))
			part.run(bench);
	return bench.finish();
}

} // namespace

} // namespace prism::packet_peer

int main(int argc, char **argv)
{
	prism::packet_peer::Options options;
	prism::cli::CommandLine app{"Packets to a kernel device, and what comes back"};
	app.add_option("--device", options.device, "PRISM device").required();
	app.add_option("--namespace", options.path.network_namespace, "network namespace of the peer").required();
	app.add_option("--device-address", options.path.device, "IP address of the device").required();
	app.add_option("--peer-address", options.path.peer, "IP address of the peer, in the namespace").required();
	app.add_option("--other-address", options.other_address, "another IP address in the namespace");
	app.add_option("--vectors", options.vectors, "tests/vectors/vectors.json").required();
	app.add_option("--corpus", options.corpus, "folder with the seeds of tests/fuzz/make_corpus.py");
	app.add_option("--packets", options.packets, "mutated packets to send");
	app.add_option("--seconds", options.seconds, "time for them, at most");
	app.add_option("--seed", options.seed, "seed of all random choices");
	app.add_option("--only", options.only,
		"one part: vectors bundle_vectors bundles length bad duplicates abandoned trains responses fuzz "
		"backlog recycled");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	try {
		return prism::packet_peer::run(options);
	} catch (const std::exception &error) {
		fmt::print(stderr, "FAIL: {}\n", error.what());
		return 1;
	}
}
