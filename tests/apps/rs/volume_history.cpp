/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * volume-history: processes that use one PRISM-RS volume and record their operations, while replicas are stopped, or
 * killed, come back empty and are repaired, and clients are killed too; then a check that the history of each block is
 * linearizable, that no operation has failed with one replica gone, and that no buffer is lost.
 */
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/free_places.hpp"
#include "../support/processes.hpp"
#include "../support/recorded_operation.hpp"
#include "base/command_line.hpp"
#include "checker.hpp"
#include "history.hpp"
#include "rs/store/kind.hpp"
#include "rs/store/repair.hpp"

namespace
{

using namespace prism;
using namespace prism::rs;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t block_size = 512;

struct Options {
	bool is_client = false;
	bool exclusive = false;
	std::uint32_t generation = 0;
	std::uint32_t number = 0;
	std::uint32_t depth = 8;
	std::uint64_t blocks = 8;
	std::uint64_t operations = 20'000;
	double gets = 0.5;
	unsigned processes = 4;
	unsigned replica_kills = 0;
	unsigned client_kills = 0;
	unsigned stops = 0;
	unsigned outages = 0;
	unsigned timeout = 20'000; /* ms */
	bool survives = false;
	std::uint64_t seed = 1;
	std::string server;
	std::string configuration;
	std::filesystem::path file;
	std::filesystem::path folder = "volume-history";
};

/* A client --------------------------------------------------------------------------------------------------------- */

class Client
{
public:
	Client(const Options &options, std::unique_ptr<VolumeClient> client, test::HistoryWriter writer)
		: options_(options), client_(std::move(client)), writer_(std::move(writer)), random_(options.number),
		  jobs_(options.depth)
	{
	}

	Result<void> run();

private:
	struct Job {
		apps::Operation operation;
		std::uint64_t block = 0;
		std::array<std::uint64_t, block_size / 8> value{}, result{};
		test::HistoryWriter::Handle record = test::HistoryWriter::none;
	};

	int start(Job &job);
	Result<void> end(const Job &job);

	const Options options_;
	std::unique_ptr<VolumeClient> client_;
	test::HistoryWriter writer_;
	std::mt19937_64 random_;
	std::vector<Job> jobs_;
	std::uint64_t values_ = 0;
};

/** Chooses a block, and for PUTs a value that no other has. */
int Client::start(Job &job)
{
	const double share = static_cast<double>(random_() % 1000) / 1000;
	const bool gets = share < options_.gets;
	job.block = random_() % options_.blocks;
	job.value.fill((std::uint64_t{options_.number} + 1) << 32 | ++values_);
	job.operation.kind = gets ? apps::OperationKind::get : apps::OperationKind::put;
	job.operation.key = std::as_bytes(std::span(&job.block, 1));
	job.operation.value = std::as_bytes(std::span(job.value));
	job.operation.result = std::as_writable_bytes(std::span(job.result));
	job.operation.context = &job;
	job.record = writer_.begin(test::record_of(job.operation, options_.number));
	return client_->start(job.operation);
}

/** Records the end. A block that was never written is one of zeros. A PUT of unknown outcome stays without an end. */
Result<void> Client::end(const Job &job)
{
	if (job.operation.outcome == apps::Outcome::failed)
		writer_.end(job.record, test::Outcome::no_effect);
	if (has_failed(job.operation.outcome) && options_.survives)
		return {};
	if (job.operation.outcome != apps::Outcome::ok)
		return make_error(job.operation.error, fmt::format("an operation on block {} failed", job.block));
	const bool gets = job.operation.kind == apps::OperationKind::get;
	if (gets && std::count(job.result.begin(), job.result.end(), job.result.front()) != std::ssize(job.result))
		return make_error(EBADMSG, fmt::format("block {} is parts of several values", job.block));
	const bool empty = gets && !job.result.front();
	writer_.end(job.record, empty ? test::Outcome::not_found : test::Outcome::ok, gets ? job.result.front() : 0);
	return {};
}

Result<void> Client::run()
{
	std::uint64_t begun = 0, ended = 0;
	std::array<apps::Operation *, 16> completed;
	const auto begin = [&](Job &job) -> Result<void> {
		begun++;
		if (const int error = start(job))
			return make_error(error, "an operation cannot begin");
		return {};
	};
	for (Job &job : jobs_) {
		if (Result<void> good = begin(job); !good)
			return good;
	}
	while (ended < begun) {
		const std::size_t count = client_->poll(completed);
		for (std::size_t i = 0; i < count; i++, ended++) {
			Job &job = *static_cast<Job *>(completed[i]->context);
			if (Result<void> good = end(job); !good)
				return good;
			if (begun >= options_.operations)
				continue;
			if (Result<void> good = begin(job); !good)
				return good;
		}
	}
	return {};
}

Result<void> run_client(const Options &options)
{
	Result<Configuration> volume = Configuration::load(options.configuration);
	if (!volume)
		return volume.error();
	Result<Context> context = Context::open("prism_lo", Progress::caller);
	if (!context)
		return context.error();
	VolumeClientOptions client;
	client.depth = options.depth;
	client.timeout = std::chrono::milliseconds(options.timeout);
	client.setup_timeout = 10s;
	auto opened = VolumeClient::open(*context, *volume, prism_rs(*volume, options.generation), client);
	if (!opened)
		return opened.error();
	auto writer = test::HistoryWriter::create(options.file, options.operations + options.depth);
	if (!writer)
		return writer.error();
	return Client(options, *std::move(opened), *std::move(writer)).run();
}

/* The run ---------------------------------------------------------------------------------------------------------- */

/** Replicas and clients, each a process. */
class Run
{
public:
	Run(const Options &options, const char *program) : options_(options), program_(program), random_(options.seed)
	{
	}

	int go();

private:
	void make_volume();
	void begin_replica(unsigned replica, bool is_new);
	test::Child begin_client(bool alone);
	void replace_replica();
	void replace_client();
	void stop_replica();
	void stop_quorum();
	void disturb();
	bool linearizable() const;
	bool nothing_lost();
	void check(bool good, const char *what);

	const Options options_;
	const char *const program_;
	std::mt19937_64 random_;
	Configuration volume_;
	std::string configuration_;
	std::vector<pid_t> replicas_;
	std::vector<test::Child> clients_;
	std::uint32_t next_number_ = 0;
	bool good_ = true;
};

void Run::check(bool good, const char *what)
{
	if (!good)
		fmt::print("FAIL: {}\n", what);
	good_ &= good;
}

void Run::make_volume()
{
	const std::vector<ReplicaAddress> replicas = prism::test::free_places<ReplicaAddress>(3);
	volume_ = Configuration::make(block_size, options_.blocks, replicas).value();
	configuration_ = (options_.folder / "volume.json").string();
	volume_.create(configuration_).value();
	replicas_.resize(replicas.size());
	for (unsigned replica = 0; replica < replicas.size(); replica++)
		begin_replica(replica, true);
}

void Run::begin_replica(unsigned replica, bool is_new)
{
	std::vector<std::string> words{
		options_.server, "-c", configuration_, "-r", std::to_string(replica), "-d", "prism_lo"};
	words.emplace_back(is_new ? "--new" : "--no-repair");
	replicas_[replica] = test::spawn(words);
}

/**
 * Starts a client; every other one has one operation under way. With @p alone it is the exclusive writer, if there is
 * to be one.
 */
test::Child Run::begin_client(bool alone)
{
	const std::uint32_t number = next_number_++;
	const bool writes = !options_.exclusive || alone;
	std::vector<std::string> words{program_, "--client", "--configuration", configuration_, "--number",
		std::to_string(number), "--file", (options_.folder / fmt::format("{}.history", number)).string(),
		"--depth", std::to_string(number % 2 ? options_.depth : 1), "--blocks", std::to_string(options_.blocks),
		"--operations", std::to_string(options_.operations), "--gets", writes ? "0.5" : "1", "--timeout",
		std::to_string(options_.timeout)};
	if (options_.outages)
		words.emplace_back("--survives");
	if (options_.exclusive && alone) {
		words.emplace_back("--generation");
		words.push_back(std::to_string(number + 1));
	}
	return {test::spawn(words), number};
}

/** Kills a replica under load; it comes back empty and is repaired, while the clients go on. */
void Run::replace_replica()
{
	const auto replica = static_cast<unsigned>(random_() % replicas_.size());
	test::kill_and_wait(replicas_[replica]);
	std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 200));
	begin_replica(replica, false);
	Result<Context> context = Context::open("prism_lo", Progress::caller);
	RepairOptions repairing;
	repairing.replica = replica;
	repairing.timeout = 10s;
	const Result<void> repaired = repair(context.value(), volume_, repairing);
	if (!repaired)
		fmt::print("{}\n", repaired.error().message);
	check(repaired.ok(), "a replica was not repaired");
}

void Run::replace_client()
{
	test::Child &victim = clients_[random_() % clients_.size()];
	const bool alone = &victim == &clients_.front();
	test::kill_and_wait(victim.pid);
	victim = begin_client(alone);
}

/** Stops a replica, perhaps long enough for its connections to fail; it has forgotten nothing when it goes on. */
void Run::stop_replica()
{
	const pid_t replica = replicas_[random_() % replicas_.size()];
	::kill(replica, SIGSTOP);
	std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 1500));
	::kill(replica, SIGCONT);
}

/** Stops all replicas but one for longer than operations wait: those under way end without a quorum. */
void Run::stop_quorum()
{
	const std::size_t left = random_() % replicas_.size();
	const auto signal = [this, left](int number) {
		for (std::size_t replica = 0; replica < replicas_.size(); replica++) {
			if (replica != left)
				::kill(replicas_[replica], number);
		}
	};
	signal(SIGSTOP);
	std::this_thread::sleep_for(std::chrono::milliseconds(2 * options_.timeout + random_() % 300));
	signal(SIGCONT);
}

/** Runs all disturbances, in any order, one at a time. */
void Run::disturb()
{
	std::vector<void (Run::*)()> disturbances;
	disturbances.insert(disturbances.end(), options_.replica_kills, &Run::replace_replica);
	disturbances.insert(disturbances.end(), options_.client_kills, &Run::replace_client);
	disturbances.insert(disturbances.end(), options_.stops, &Run::stop_replica);
	disturbances.insert(disturbances.end(), options_.outages, &Run::stop_quorum);
	std::shuffle(disturbances.begin(), disturbances.end(), random_);
	for (const auto disturbance : disturbances) {
		if (!good_)
			return;
		std::this_thread::sleep_for(std::chrono::milliseconds(50 + random_() % 200));
		(this->*disturbance)();
	}
}

bool Run::linearizable() const
{
	auto history = test::read_histories(test::histories_in(options_.folder));
	if (!history) {
		fmt::print("{}\n", history.error().message);
		return false;
	}
	const test::CheckReport report = test::check(*std::move(history));
	fmt::print("{} operations of {} clients: {}\n", report.operations, next_number_, test::name_of(report.verdict));
	for (const test::Finding &finding : report.findings)
		fmt::print("{}\n", test::describe(finding, "block"));
	return report.verdict == test::Verdict::linearizable;
}

/** Checks each replica once the scans for lost buffers are over: one buffer for each block that was written. */
bool Run::nothing_lost()
{
	Result<Context> context = Context::open("prism_lo", Progress::caller);
	auto client = VolumeClient::open(context.value(), volume_, prism_rs(volume_)).value();
	(void)client->wait_for_all(2s);
	bool good = true;
	for (unsigned replica = 0; replica < replicas_.size(); replica++) {
		const Clock::time_point deadline = Clock::now() + 15s;
		std::uint64_t used = 0, written = 0;
		do {
			const Result<std::string> text = client->stats_of(replica);
			if (!text) {
				fmt::print("{}\n", text.error().message);
				return false;
			}
			const nlohmann::json stats = nlohmann::json::parse(*text);
			const auto &buffers = stats["buffers"];
			used = buffers["number"].get<std::uint64_t>() - buffers["available"].get<std::uint64_t>();
			written = stats["blocks"]["written"].get<std::uint64_t>();
			if (used == written)
				break;
			for (int i = 0; i < 20; i++) { /* it may be asked about operations under way */
				client->poll({});
				std::this_thread::sleep_for(10ms);
			}
		} while (Clock::now() < deadline);
		fmt::print("replica {}: {} blocks are written, {} buffers in use\n", replica, written, used);
		good &= used == written;
	}
	return good;
}

int Run::go()
{
	std::filesystem::remove_all(options_.folder);
	std::filesystem::create_directories(options_.folder);
	make_volume();
	for (unsigned i = 0; i < options_.processes; i++)
		clients_.push_back(begin_client(i == 0));
	disturb();
	for (const test::Child &client : clients_)
		check(test::status_of(client) == 0, "a client failed");
	check(linearizable(), "what the clients saw is not linearizable");
	check(nothing_lost(), "buffers are lost");
	for (const pid_t replica : replicas_)
		test::kill_and_wait(replica, SIGTERM);
	if (good_)
		std::filesystem::remove_all(options_.folder);
	else
		fmt::print("the history is in {}\n", options_.folder.string());
	return good_ ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Records the history of a PRISM-RS volume and checks it."};
	app.add_flag("--client", options.is_client, "Be one of the clients");
	app.add_option("--configuration", options.configuration, "Of the client's volume");
	app.add_option("--number", options.number, "Of the client");
	app.add_option("--file", options.file, "Of the client's history");
	app.add_option("--gets", options.gets, "Of the client: share of its operations").capture_default_str();
	app.add_option("--generation", options.generation, "Of the client, if it is the exclusive writer");
	app.add_flag("--exclusive", options.exclusive, "Only the first client writes, in one round trip");
	app.add_option("--server", options.server, "The program that serves a replica: prism-rs-server");
	app.add_option("--depth", options.depth, "Operations under way; every other client has one")
		.capture_default_str();
	app.add_option("--blocks", options.blocks, "That all clients share").capture_default_str();
	app.add_option("--operations", options.operations, "Of each client").capture_default_str();
	app.add_option("--processes", options.processes, "Clients at a time").capture_default_str();
	app.add_option("--replica-kills", options.replica_kills, "How often a replica is killed, and repaired")
		.capture_default_str();
	app.add_option("--client-kills", options.client_kills, "How many clients are killed").capture_default_str();
	app.add_option("--stops", options.stops, "How often a replica is stopped for up to 1.5 s")
		.capture_default_str();
	app.add_option("--outages", options.outages, "How often no quorum is there, for twice the timeout")
		.capture_default_str();
	app.add_option("--timeout", options.timeout, "Milliseconds after which an operation of a client ends")
		.capture_default_str();
	app.add_flag("--survives", options.survives, "Of the client: it goes on after an operation that has failed");
	app.add_option("--seed", options.seed, "Of who is killed when").capture_default_str();
	app.add_option("--folder", options.folder, "For the histories").capture_default_str();
	if (const auto early = app.parse(argc, argv))
		return early->print();
	if (!options.is_client)
		return Run(options, argv[0]).go();
	const Result<void> done = run_client(options);
	if (!done)
		fmt::print(stderr, "client {}: {}\n", options.number, done.error().message);
	return done ? 0 : 1;
}
