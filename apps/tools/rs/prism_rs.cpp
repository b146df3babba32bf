/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-rs: makes a replicated volume, reads and writes its blocks, shows the states of its replicas, and repairs one.
 * Exit codes: 0; 1 if it failed; 2 for a usage error; 3 if not all replicas serve (status);
 * 6 if something was changed, or may have been.
 */
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/seconds.hpp"
#include "base/terminal.hpp"
#include "bench/frame/measure.hpp"
#include "common/run_all.hpp"
#include "common/standard_input.hpp"
#include "rs/store/kind.hpp"
#include "rs/store/repair.hpp"
#include "service/etcd.hpp"

namespace
{

using namespace prism;
using namespace prism::rs;

struct Options {
	std::string configuration;
	std::string device;
	double timeout = 5;
	/* create */
	std::uint32_t block_size = 4096;
	std::uint64_t blocks = 0;
	std::vector<std::string> replicas;
	/* get, put */
	std::uint64_t block = 0;
	std::string text;
	bool json = false;
	/* repair */
	unsigned replica = 0;
};

int fail(const Error &error)
{
	cli::complain(error.message);
	return 1;
}

Result<std::unique_ptr<VolumeClient>> open(const Options &options, std::uint32_t depth = 1)
{
	Result<Configuration> volume = Configuration::load(options.configuration, apps::milliseconds(options.timeout));
	if (!volume)
		return volume.error();
	Result<Context> context = Context::open(options.device, Progress::caller);
	if (!context)
		return context.error();
	VolumeClientOptions client;
	client.depth = depth;
	client.timeout = apps::milliseconds(options.timeout);
	client.setup_timeout = apps::milliseconds(std::min(options.timeout, 2.0));
	return VolumeClient::open(*context, *volume, prism_rs(*volume, 0, true), client);
}

Result<ReplicaAddress> parse_address(const std::string &text)
{
	const std::size_t colon = text.rfind(':');
	ReplicaAddress address{text.substr(0, colon), 0};
	if (address.host.starts_with('[') && address.host.ends_with(']'))
		address.host = address.host.substr(1, address.host.size() - 2);
	const char *const end = text.data() + text.size();
	if (colon == std::string::npos || std::from_chars(text.data() + colon + 1, end, address.port).ptr != end ||
		!address.port)
		return make_error(EINVAL, "'" + text + "' is no address of a replica", "write HOST:PORT");
	return address;
}

std::string check_address(const std::string &text)
{
	const Result<ReplicaAddress> parsed = parse_address(text);
	return parsed ? std::string() : parsed.error().message;
}

int create(const Options &options)
{
	std::vector<ReplicaAddress> replicas;
	for (const std::string &text : options.replicas) {
		replicas.push_back(parse_address(text).value()); /* check_address() has checked it */
	}
	Result<Configuration> volume = Configuration::make(options.block_size, options.blocks, std::move(replicas));
	if (!volume)
		return cli::usage_error("prism-rs", volume.error().message).print();
	const auto patience = apps::milliseconds(options.timeout);
	if (Result<void> created = volume->create(options.configuration, patience); !created)
		return fail(created.error());
	cli::note_change();
	fmt::print("volume {:016x}: {} blocks of {} bytes on {} replicas, of which {} may be gone\n", volume->volume,
		volume->blocks, volume->block_size, volume->replicas.size(), volume->failures());
	return 0;
}

/** Does one operation on options.block. @p bytes: read into, or written. */
int transfer(const Options &options, apps::OperationKind kind, std::vector<std::byte> &bytes)
{
	Result<std::unique_ptr<VolumeClient>> client = open(options);
	if (!client)
		return fail(client.error());
	const std::uint32_t block_size = (*client)->volume().block_size;
	if (bytes.size() > block_size)
		return fail(make_error(
			EINVAL, fmt::format("{} bytes are more than a block of {}", bytes.size(), block_size)));
	bytes.resize(block_size);
	apps::Operation operation;
	operation.kind = kind;
	operation.key = std::as_bytes(std::span(&options.block, 1));
	operation.value = bytes;
	operation.result = bytes;
	(void)apps::run_all(**client, {&operation, 1});
	if (operation.outcome == apps::Outcome::ok)
		return 0;
	const char *const next = operation.error == EHOSTUNREACH ? "no quorum of replicas answers: prism-rs status"
				 : operation.error == ERANGE     ? "the volume has no such block"
								 : "";
	if (operation.outcome != apps::Outcome::unknown)
		return fail(make_error(operation.error, fmt::format("block {}", options.block), next));
	fail(make_error(
		operation.error, fmt::format("block {} may have been written, or may be later", options.block), next));
	return cli::changed;
}

/** Returns the number of bytes before the zeros at the end. */
std::size_t used(std::span<const std::byte> block)
{
	while (!block.empty() && block.back() == std::byte{0})
		block = block.first(block.size() - 1);
	return block.size();
}

int get(const Options &options)
{
	std::vector<std::byte> bytes;
	if (const int failed = transfer(options, apps::OperationKind::get, bytes))
		return failed;
	if (apps::is_terminal())
		bytes.resize(used(bytes));
	(void)std::fwrite(bytes.data(), 1, bytes.size(), stdout);
	apps::end_line(bytes);
	return 0;
}

/** Writes the text, or standard input, filled up with zeros. */
int put(const Options &options)
{
	const bool from_input = options.text.empty() || options.text == "-"; /* as the other tools have it */
	const Result<std::string> text = from_input ? apps::read_standard_input(Configuration::largest_block)
						    : Result<std::string>(options.text);
	if (!text)
		return fail(text.error());
	std::vector<std::byte> bytes(text->size());
	std::memcpy(bytes.data(), text->data(), text->size());
	return transfer(options, apps::OperationKind::put, bytes);
}

int status(const Options &options)
{
	Result<std::unique_ptr<VolumeClient>> client = open(options);
	if (!client)
		return fail(client.error());
	(void)(*client)->wait_for_all(apps::milliseconds(0.5));
	const Configuration &volume = (*client)->volume();
	fmt::print("volume {:016x}: {} blocks of {} bytes, {} replicas\n", volume.volume, volume.blocks,
		volume.block_size, volume.replicas.size());
	bool all = true;
	for (unsigned replica = 0; replica < volume.replicas.size(); replica++) {
		const ReplicaState state = (*client)->state_of(replica);
		const ReplicaAddress &address = volume.replicas[replica];
		fmt::print("replica {} at {}:{}: {}\n", replica, address.host, address.port,
			!state.connected ? state.why.empty() ? "no answer" : state.why
			: state.serving  ? "serves"
					 : "is being repaired");
		all &= state.serving;
		if (!options.json || !state.connected)
			continue;
		Result<std::string> stats = (*client)->stats_of(replica);
		if (!stats)
			return fail(stats.error());
		fmt::print("{}\n", *stats);
	}
	return all ? 0 : 3;
}

int repair(const Options &options)
{
	Result<Configuration> volume = Configuration::load(options.configuration, apps::milliseconds(options.timeout));
	if (!volume)
		return fail(volume.error());
	Result<Context> context = Context::open(options.device, Progress::caller);
	if (!context)
		return fail(context.error());
	bench::ProgressBar bar(stderr);
	RepairOptions repairing;
	repairing.replica = options.replica;
	repairing.timeout = apps::milliseconds(options.timeout);
	repairing.progress = [&](std::uint64_t blocks) {
		const double share = static_cast<double>(blocks) / static_cast<double>(volume->blocks);
		if (blocks % 1024 == 0)
			bar.show("copying blocks", share, blocks);
	};
	const Result<void> repaired = rs::repair(*context, *volume, repairing);
	bar.clear();
	if (!repaired)
		return fail(repaired.error());
	cli::note_change();
	fmt::print("replica {} serves again\n", options.replica);
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Makes, reads, writes and repairs a replicated volume."};
	app.add_version("prism-rs");
	app.require_subcommand(1);
	app.add_option("-c,--configuration", options.configuration, "The volume: a file, or etcd://HOST:PORT/KEY")
		.check(apps::EtcdKey::check)
		.required();
	app.add_option("-d,--ib-dev", options.device, "RDMA device (default: the first userspace device)");
	app.add_option("--timeout", options.timeout, "Seconds to wait for etcd, and then for the operation")
		.check(cli::Seconds())
		.check(cli::PositiveNumber())
		.capture_default_str();

	cli::Command creating = app.add_subcommand("create", "Make the configuration of a new volume");
	creating.add_option("-s,--size", options.block_size, "Bytes of a block: a power of two, 512 to 65536")
		.check(cli::IsMember({512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}))
		.capture_default_str();
	creating.add_option("-b,--blocks", options.blocks, "Number of blocks")
		.check(cli::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
		.required();
	creating.add_option("replicas", options.replicas, "HOST:PORT of each replica, an odd number of them")
		.check(check_address)
		.required();
	cli::Command getting = app.add_subcommand("get", "Write a block to standard output");
	getting.add_option("block", options.block, "Its number, from 0").required();
	cli::Command putting =
		app.add_subcommand("put", "Write a block: TEXT, or standard input, with zeros behind it");
	putting.add_option("block", options.block, "Its number, from 0").required();
	putting.add_option("text", options.text, "What to write; - or nothing: the standard input");
	cli::Command asking = app.add_subcommand("status", "Tell how the replicas are");
	asking.add_flag("--json", options.json, "Their statistics too");
	cli::Command repairing =
		app.add_subcommand("repair", "Copy what the others have to a replica that has lost its memory");
	repairing.add_option("replica", options.replica, "Which one, from 0").required();
	if (const auto early = app.parse("prism-rs", argc, argv))
		return early->print();
	return cli::run_program([&] {
		if (creating.parsed()) {
			cli::outlive_outputs(); /* to remove the beginning of a file that there is no room for */
			return create(options);
		}
		if (getting.parsed())
			return get(options);
		if (repairing.parsed())
			return repair(options);
		return putting.parsed() ? put(options) : status(options);
	});
}
