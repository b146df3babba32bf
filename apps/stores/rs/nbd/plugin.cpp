/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * nbdkit-prism-rs-plugin: a replicated volume as a network block device. nbdkit's threads wait in BlockDevice, whose
 * own thread has the volume's client. The functions that nbdkit calls before it goes into the background find mistakes
 * of the command line; the client, which has threads, is made afterwards.
 */
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include <fmt/format.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "base/seconds.hpp"
#include "rs/nbd/block_device.hpp"
#include "rs/nbd/replica_states.hpp"
#include "rs/store/kind.hpp"
#include "rs/volume/exclusive.hpp"
#include "service/metered_client.hpp"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

namespace
{

using namespace prism;
using namespace prism::rs;

/* Larger than the size that NBD asks servers to support, and than clients' usual largest request */
constexpr std::uint32_t largest_request = 32 << 20;
constexpr double longest_timeout = 3600;

struct Options {
	std::string configuration;
	std::string device;
	bool exclusive = false;
	std::uint32_t depth = 32;
	double timeout = 5;
	std::string metrics; /* address; empty: none */

	[[nodiscard]] std::chrono::milliseconds patience() const { return apps::milliseconds(timeout); }
};

/** The metrics of the volume's client, for Prometheus. */
struct Metrics {
	explicit Metrics(std::size_t number_of_replicas) : replicas(number_of_replicas) {}

	apps::ClientMetrics client;
	ReplicaStates replicas;
	std::unique_ptr<apps::MetricsEndpoint> endpoint; /* declared last: it reads the others */
};

/** State of the plugin, from its first option until it is unloaded. */
struct Plugin {
	Options options;
	std::optional<Configuration> volume;
	std::optional<ExclusiveLock> lock;
	std::unique_ptr<Metrics> metrics; /* outlives the device, whose client it counts */
	std::unique_ptr<BlockDevice> device;
};

Plugin &plugin()
{
	static Plugin only;
	return only;
}

/** Reports an error to nbdkit, and so to the user or the system's log, and to the client. Returns -1. */
int fail(const Error &error)
{
	nbdkit_error("%s", error.message.c_str());
	/* NBD has few errors. Others become EINVAL on their way, which would blame the client. */
	const bool known = error.code == ENOMEM || error.code == EINVAL || error.code == EOPNOTSUPP;
	nbdkit_set_error(known ? error.code : EIO);
	return -1;
}

/** Runs @p body for nbdkit, which cannot take exceptions. */
template <typename Body>
int guarded(Body body) noexcept
{
	try {
		const Result<void> done = body();
		return done ? 0 : fail(done.error());
	} catch (const std::bad_alloc &) {
		nbdkit_error("no memory for this request");
		nbdkit_set_error(ENOMEM);
	} catch (const std::exception &error) {
		nbdkit_error("%s", error.what());
		nbdkit_set_error(EIO);
	}
	return -1;
}

/* Set-up --------------------------------------------------------------------------------------------------------- */

Result<double> parse_seconds(const char *text)
{
	double seconds = 0;
	const char *const end = text + std::strlen(text);
	const auto [at, error] = std::from_chars(text, end, seconds);
	if (error != std::errc() || at != end || !(seconds >= 0.001 && seconds <= longest_timeout))
		return make_error(EINVAL, fmt::format("timeout={}", text), "give seconds, 0.001 to 3600");
	return seconds;
}

Result<void> set_option(Options &options, const std::string &key, const char *value)
{
	/* nbdkit itself reports a wrong number or switch. */
	const auto wrong = [&key] { return make_error(EINVAL, "the parameter " + key); };
	if (key == "configuration") {
		options.configuration = value;
	} else if (key == "device") {
		options.device = value;
	} else if (key == "exclusive") {
		const int wanted = nbdkit_parse_bool(value);
		if (wanted < 0)
			return wrong();
		options.exclusive = wanted;
	} else if (key == "depth") {
		if (nbdkit_parse_uint32_t("depth", value, &options.depth) < 0)
			return wrong();
	} else if (key == "timeout") {
		Result<double> seconds = parse_seconds(value);
		if (!seconds)
			return seconds.error();
		options.timeout = *seconds;
	} else if (key == "metrics") {
		options.metrics = value;
	} else {
		return make_error(EINVAL, "the parameter " + key,
			"there are configuration, device, exclusive, depth, timeout and metrics");
	}
	return {};
}

int set(const char *key, const char *value) noexcept
{
	return guarded([key, value] { return set_option(plugin().options, key, value); });
}

int all_set() noexcept
{
	if (!plugin().options.configuration.empty())
		return 0;
	nbdkit_error("configuration=FILE is missing: which volume?");
	return -1;
}

/** Finds mistakes that would not reach the user from the background. What can be had is given back. */
Result<void> try_out(const Options &options)
{
	if (options.depth == 0 || options.depth > VolumeClientOptions::max_depth)
		return make_error(EINVAL, fmt::format("depth={}", options.depth),
			fmt::format("give 1 to {}", VolumeClientOptions::max_depth));
	Result<Context> context = Context::open(options.device, Progress::caller);
	if (!context)
		return context.error();
	if (options.metrics.empty())
		return {};
	Result<std::unique_ptr<apps::MetricsEndpoint>> endpoint = apps::MetricsEndpoint::create(options.metrics);
	return endpoint ? Result<void>() : endpoint.error();
}

/** Checks the options early: relative paths still mean what the user means, and errors go to the terminal. */
int get_ready() noexcept
{
	return guarded([]() -> Result<void> {
		Plugin &here = plugin();
		if (Result<void> tried = try_out(here.options); !tried)
			return tried.error();
		if (here.options.exclusive) {
			Result<ExclusiveLock> lock = ExclusiveLock::take(here.options.configuration);
			if (!lock)
				return lock.error();
			here.lock = *std::move(lock);
		}
		Result<Configuration> volume = Configuration::load(here.options.configuration, here.options.patience());
		if (!volume)
			return volume.error();
		here.volume = *std::move(volume);
		return {};
	});
}

std::string states_of(const VolumeClient &client)
{
	std::string text;
	for (unsigned replica = 0; replica < client.volume().replicas.size(); replica++) {
		const ReplicaState state = client.state_of(replica);
		if (!state.serving)
			text += fmt::format("{}replica {}: {}", text.empty() ? "" : "; ", replica,
				state.connected     ? "is being repaired"
				: state.why.empty() ? "no answer"
						    : state.why);
	}
	return text;
}

/** Returns the reason why @p operation of @p client failed. */
Error explain(const VolumeClient &client, double timeout, const apps::Operation &operation)
{
	std::uint64_t block = 0;
	std::memcpy(&block, operation.key.data(), sizeof(block));
	const std::string what =
		fmt::format("cannot {} block {}", operation.kind == apps::OperationKind::get ? "read" : "write", block);
	const char *const doubt =
		operation.outcome == apps::Outcome::unknown ? "; this write may be done all the same" : "";
	if (operation.error == EHOSTUNREACH)
		return {EHOSTUNREACH, fmt::format("{}: no quorum of replicas has answered for {} s: {}{}", what,
					      timeout, states_of(client), doubt)};
	if (operation.error == ESTALE)
		return {ESTALE, what +
					": the volume was attached with exclusive=true, and somebody else has written "
					"to it; nothing more is written until nbdkit is started again" +
					doubt};
	return make_error(operation.error, what);
}

Result<std::unique_ptr<Metrics>> serve_metrics(
	const std::string &address, const Context &context, const Configuration &volume)
{
	auto metrics = std::make_unique<Metrics>(volume.replicas.size());
	Result<std::unique_ptr<apps::MetricsEndpoint>> endpoint = apps::MetricsEndpoint::create(address);
	if (!endpoint)
		return endpoint.error();
	const apps::Labels labels{{"store", "rs"}};
	(*endpoint)->add([&client = metrics->client](auto &into) { client.collect(into); }, labels);
	(*endpoint)->add([&replicas = metrics->replicas](auto &into) { replicas.collect(into); }, labels);
	(*endpoint)->add_device(context);
	metrics->endpoint = *std::move(endpoint);
	return metrics;
}

/** Makes @p client count in @p metrics, which may be null. */
std::unique_ptr<apps::StoreClient> counted(std::unique_ptr<VolumeClient> client, Metrics *metrics)
{
	if (!metrics)
		return client;
	return metrics->client.metered(std::make_unique<WatchedClient>(std::move(client), metrics->replicas));
}

Result<std::unique_ptr<VolumeClient>> open_client(
	const Options &options, const Context &context, const Configuration &volume)
{
	VolumeClientOptions wanted;
	wanted.depth = options.depth;
	wanted.timeout = options.patience();
	wanted.setup_timeout = options.patience();
	const std::uint64_t generation = plugin().lock ? plugin().lock->generation() : 0;
	return VolumeClient::open(context, volume, prism_rs(volume, generation, true), wanted);
}

Result<void> open_device(Plugin &here)
{
	const Options &options = here.options;
	Result<Context> context = Context::open(options.device, Progress::caller);
	if (!context)
		return context.error();
	if (!options.metrics.empty()) {
		Result<std::unique_ptr<Metrics>> metrics = serve_metrics(options.metrics, *context, *here.volume);
		if (!metrics)
			return metrics.error();
		here.metrics = *std::move(metrics);
	}
	Result<std::unique_ptr<VolumeClient>> client = open_client(options, *context, *here.volume);
	if (!client)
		return client.error();
	/* The device owns the client, and asks for explanations only while it has it. */
	const auto why = [&there = **client, timeout = options.timeout](
				 const apps::Operation &operation) { return explain(there, timeout, operation); };
	here.device = std::make_unique<BlockDevice>(
		counted(*std::move(client), here.metrics.get()), here.volume->block_size, options.patience(), why);
	return {};
}

int after_fork() noexcept
{
	return guarded([] { return open_device(plugin()); });
}

/** Called when all connections have ended. */
void cleanup() noexcept
{
	plugin().device.reset();
	plugin().metrics.reset();
}

void unload() noexcept
{
	plugin() = {};
}

/* Properties of the device ----------------------------------------------------------------------------------------- */

void *open_connection(int) noexcept
{
	return NBDKIT_HANDLE_NOT_NEEDED;
}

std::int64_t get_size(void *) noexcept
{
	return static_cast<std::int64_t>(plugin().volume->size());
}

/**
 * Returns the sizes of requests. Any size is possible. But to write a part of a block, the plugin reads the rest first,
 * and would undo a write of another client in between. So it offers parts only for a volume without other writers.
 */
int block_size(void *, std::uint32_t *minimum, std::uint32_t *preferred, std::uint32_t *maximum) noexcept
{
	*minimum = plugin().options.exclusive ? 1 : plugin().volume->block_size;
	*preferred = plugin().volume->block_size;
	*maximum = largest_request;
	return 0;
}

/** Yes: nothing is cached here. Each connection, of this server or another, reads the writes of all. */
int can_multi_conn(void *) noexcept
{
	return 1;
}

int can_fua(void *) noexcept
{
	return NBDKIT_FUA_NATIVE;
}

/** No: writing zeros is no faster than writing. */
int can_fast_zero(void *) noexcept
{
	return 0;
}

/* Requests ------------------------------------------------------------------------------------------------------- */

int read(void *, void *buffer, std::uint32_t count, std::uint64_t offset, std::uint32_t) noexcept
{
	return guarded([=] { return plugin().device->read(offset, {static_cast<std::byte *>(buffer), count}); });
}

/* Writes, with or without FUA: an answer means that a quorum of replicas has the data. */
int write(void *, const void *buffer, std::uint32_t count, std::uint64_t offset, std::uint32_t) noexcept
{
	return guarded([=] { return plugin().device->write(offset, {static_cast<const std::byte *>(buffer), count}); });
}

int zero(void *, std::uint32_t count, std::uint64_t offset, std::uint32_t) noexcept
{
	return guarded([=] { return plugin().device->zero(offset, count); });
}

/** Does nothing: all answered writes are at their destination already. */
int flush(void *, std::uint32_t) noexcept
{
	return 0;
}

/* There is no trim: replicas have a buffer for each block, and an empty one would save nothing. */
nbdkit_plugin make_plugin()
{
	nbdkit_plugin made{};
	made.name = "prism-rs";
	made.longname = "PRISM-RS";
	made.version = PRISM_VERSION;
	made.description = "A replicated volume of PRISM-RS as a network block device";
	made.config_help = "configuration=FILE  (required) The volume: a file, or etcd://HOST:PORT/KEY.\n"
			   "device=DEV          RDMA device (default: the first userspace device).\n"
			   "exclusive=true      Be the volume's only writer: writes take one round trip.\n"
			   "depth=COUNT         Blocks under way at once, 1 to 1024 (default 32).\n"
			   "timeout=SECONDS     After which a request fails (default 5).\n"
			   "metrics=ADDRESS     Serve metrics for Prometheus at HOST:PORT or PORT.";
	made.magic_config_key = "configuration";
	made.unload = unload;
	made.config = set;
	made.config_complete = all_set;
	made.get_ready = get_ready;
	made.after_fork = after_fork;
	made.cleanup = cleanup;
	made.open = open_connection;
	made.get_size = get_size;
	made.block_size = block_size;
	made.can_multi_conn = can_multi_conn;
	made.can_fua = can_fua;
	made.can_fast_zero = can_fast_zero;
	made.pread = read;
	made.pwrite = write;
	made.zero = zero;
	made.flush = flush;
	return made;
}

nbdkit_plugin description = make_plugin();

} // namespace

NBDKIT_REGISTER_PLUGIN(description)
