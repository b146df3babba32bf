/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-rs-server: serves replicas of a replicated volume until it is interrupted. Several replicas, in threads of one
 * process with one device context, are only for measurements and tests.
 * Exit codes: 0; 1 if a replica could not be made or the device failed; 2 for a usage error.
 */
#include <cstdlib>
#include <memory>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abdlock/replica.hpp"
#include "rs/store/membership.hpp"
#include "rs/store/replica.hpp"
#include "service/etcd.hpp"
#include "service/server_program.hpp"

namespace
{

using namespace prism;
using namespace prism::rs;

struct Options {
	std::string configuration;
	std::string store = "rs";
	std::vector<unsigned> replicas;
	bool is_new = false;
	bool no_repair = false;
	std::uint32_t spare = 8192;
	std::string state;
};

using Made = Result<std::unique_ptr<apps::Service>>;

/** A replica that is served and meanwhile joins its volume: it founds it, or is repaired. */
class Member final : public apps::Service
{
public:
	Member(Context context, std::unique_ptr<Replica> replica, const Options &options, apps::LogSink log)
		: context_(std::move(context)), replica_(std::move(replica)), options_(options), log_(std::move(log))
	{
	}

	[[nodiscard]] std::uint16_t port() const noexcept override { return replica_->port(); }
	void drain(std::chrono::milliseconds limit) noexcept override { replica_->drain(limit); }
	void stop() noexcept override { replica_->stop(); }
	[[nodiscard]] std::string final_stats() override { return replica_->final_stats(); }
	void collect(std::vector<apps::Metric> &metrics) const override { replica_->collect(metrics); }

	/** Errors: of the device, or those of found_volume(). */
	Result<void> serve() override
	{
		Result<void> joined;
		Result<void> served;
		{
			const std::jthread joins([this, &joined](const std::stop_token &stop) {
				joined = join(stop);
				if (!joined)
					replica_->stop();
			});
			served = replica_->serve();
		}
		return served ? joined : served;
	}

private:
	Result<void> join(const std::stop_token &stop)
	{
		if (options_.is_new) {
			const FoundingRecord record(
				options_.configuration, replica_->volume(), replica_->number(), options_.state);
			return found_volume(context_, *replica_, record, stop);
		}
		if (!options_.no_repair)
			repair_until_it_serves(context_, *replica_, stop,
				[this](const std::string &line) { apps::log_to(log_, apps::LogLevel::info, line); });
		return {};
	}

	const Context context_;
	const std::unique_ptr<Replica> replica_;
	const Options options_;
	const apps::LogSink log_;
};

Made make_rs(const Context &context, const Options &options, const apps::ServerSettings &settings,
	const Configuration &volume, unsigned number)
{
	const FoundingRecord record(options.configuration, volume, number, options.state);
	if (options.is_new) {
		if (Result<void> absent = record.check_absent(); !absent)
			return absent.error();
	}
	ReplicaOptions replica;
	replica.before_serving = [record] { return record.keep(); };
	settings.apply(replica);
	replica.volume = volume;
	replica.replica = number;
	replica.beginning = options.is_new ? Beginning::new_volume : Beginning::lost;
	replica.spare_buffers = options.spare;
	Result<std::unique_ptr<Replica>> made = Replica::create(context, replica);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::Service>(
		std::make_unique<Member>(context, *std::move(made), options, settings.log));
}

Made make_abdlock(const Context &context, const Options & /*options*/, const apps::ServerSettings &settings,
	const Configuration &volume, unsigned number)
{
	LockReplicaOptions replica;
	settings.apply(replica);
	replica.volume = volume;
	replica.replica = number;
	Result<std::unique_ptr<LockReplica>> made = LockReplica::create(context, replica);
	if (!made)
		return made.error();
	return std::unique_ptr<apps::Service>(*std::move(made));
}

Result<apps::ServerProgram::Stores> make(
	const Context &context, const Options &options, const apps::ServerSettings &settings)
{
	Result<Configuration> volume = Configuration::load(options.configuration);
	if (!volume)
		return volume.error();
	apps::ServerProgram::Stores stores;
	for (const unsigned number : options.replicas) {
		Made made =
			(options.store == "rs" ? make_rs : make_abdlock)(context, options, settings, *volume, number);
		if (!made)
			return made.error();
		const std::string ready = fmt::format("replica {} of volume {:016x}, {}, port {}", number,
			volume->volume, options.is_new ? "new" : "waits to be repaired", (*made)->port());
		stores.push_back(
			{*std::move(made), ready, {{"store", options.store}, {"replica", std::to_string(number)}}});
	}
	return stores;
}

/** Returns what is wrong with the command line as a whole; empty if nothing is. */
std::string problem_of(const Options &options)
{
	if (options.store == "abdlock" && !options.is_new)
		return "--store: replicas of abdlock that have lost their memory cannot be repaired; begin with a new "
		       "volume, and --new";
	const std::set<unsigned> different(options.replicas.begin(), options.replicas.end());
	return different.size() == options.replicas.size() ? "" : "--replica: a number is there twice; remove one";
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	apps::ServerProgram program(
		"prism-rs-server", "Serves replicas of a replicated volume until it is interrupted.");
	program.add_client_options();
	cli::CommandLine &app = program.command_line();
	app.add_option(
		   "-c,--configuration,--volume", options.configuration, "The volume: a file, or etcd://HOST:PORT/KEY")
		.check(apps::EtcdKey::check)
		.required();
	app.add_option(
		   "--store", options.store, "What the volume is: rs (PRISM-RS), or abdlock (by locks, for comparison)")
		.check(cli::IsMember({"rs", "abdlock"}))
		.capture_default_str();
	app.add_option("-r,--replica", options.replicas,
		   "Which replica of the volume to serve, from 0; several, separated by commas, share one device "
		   "context")
		.delimiter(',')
		.required();
	app.add_flag("--new", options.is_new,
		"The volume is new: begin it together with all other replicas. Refused for a replica that has been "
		"part of it: without --new that one is repaired from the others");
	app.add_flag("--no-repair", options.no_repair,
		"Without --new: wait for prism-rs repair, instead of being repaired as soon as enough others serve");
	app.add_option("--spare-buffers", options.spare, "Buffers beside one a block").capture_default_str();
	/* A service whose unit has a StateDirectory gets this; see systemd.exec(5). */
	if (const char *const folder = std::getenv("STATE_DIRECTORY"))
		options.state = folder;
	app.add_option("--state", options.state,
		"Folder for the record that a replica has been part of its volume, unless the configuration is in etcd "
		"(default: $STATE_DIRECTORY, or beside the configuration)");
	program.check([&options](const apps::ServerSettings & /*settings*/) { return problem_of(options); });
	return program.run(argc, argv, [&options](const Context &context, const apps::ServerSettings &settings) {
		return make(context, options, settings);
	});
}
