/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * jakiro-history: clients that use one Jakiro cache and record their operations, and a server that records its
 * evictions and may be killed and started again, empty; then a check that all of this is linearizable for each key.
 * Evictions are erases, and the death of a server clears all keys. With --control something is left out or wrong, and
 * the check must find that.
 */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../support/recorded_operation.hpp"
#include "base/command_line.hpp"
#include "checker.hpp"
#include "history.hpp"
#include "jakiro/jakiro_client.hpp"
#include "jakiro/jakiro_server.hpp"
#include "simulation/value.hpp"

namespace
{

using namespace prism;
using namespace prism::kv;
using namespace std::chrono_literals;
using apps::OperationKind;
using test::HistoryWriter;
using test::Kind;

/* Values differ in size, so that pairs move. The keys do not fit. */
constexpr std::size_t max_value = 400;
constexpr std::uint64_t keys = 32;
constexpr std::uint32_t partitions = 2;
constexpr std::uint64_t slots = 16;
constexpr std::size_t memory = 4096;

struct Options {
	std::string way{to_string(rpc::Way::two_sided)};
	std::uint64_t operations = 6000; /* of each client */
	std::uint32_t clients = 4;
	std::uint32_t depth = 4;
	unsigned kills = 0;
	std::string control;
	std::uint64_t seed = 1;
	std::filesystem::path folder = "jakiro-history";
	/* For the server's process */
	bool is_server = false;
	std::uint16_t port = 0;
	std::uint32_t number = 0;

	[[nodiscard]] rpc::Way way_of_calls() const { return rpc::way_of(way).value(); }
};

std::filesystem::path file_of(const Options &options, const std::string &who)
{
	return options.folder / (who + ".history");
}

/* Clients of a history that are no client: a partition, from this number on, and the death of a server */
constexpr std::uint32_t first_partition = 1000, servers = 2000;

bool is_eviction(const test::Operation &operation)
{
	return operation.client >= first_partition && operation.client < servers;
}

/* Evictions of one partition. Nothing else happens to the partition between the two times of a record. */
class Evictions final : public jakiro::EvictionListener
{
public:
	Evictions(HistoryWriter writer, std::uint32_t number) : writer_(std::move(writer)), number_(number) {}

	void on_evicted(std::span<const std::byte> key) noexcept override
	{
		test::Operation record;
		std::memcpy(&record.key, key.data(), sizeof(record.key));
		record.client = number_;
		record.kind = Kind::erase;
		writer_.end(writer_.begin(record), test::Outcome::ok);
	}

private:
	HistoryWriter writer_;
	const std::uint32_t number_;
};

/** Runs the server in its process, until it is killed. */
int serve(const Options &options)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	std::vector<std::unique_ptr<Evictions>> evictions;
	std::vector<jakiro::EvictionListener *> listeners;
	for (std::uint32_t i = 0; i < partitions && options.control != "evictions"; i++) {
		const std::string name = fmt::format("server-{}-{}", options.number, i);
		auto writer =
			HistoryWriter::create(file_of(options, name), options.clients * options.operations + 1000);
		evictions.push_back(std::make_unique<Evictions>(std::move(writer).value(), first_partition + i));
		listeners.push_back(evictions.back().get());
	}
	JakiroOptions store;
	store.server.way = options.way_of_calls();
	store.server.address = "127.0.0.1";
	store.server.port = options.port;
	store.server.threads = partitions;
	store.server.max_key_size = 8;
	store.server.max_value_size = max_value;
	store.server.log = [](apps::LogLevel, const std::string &) {};
	store.slots = slots;
	store.memory = memory * partitions;
	store.listeners = listeners;
	const Context context = Context::open("prism_lo", Progress::engine_thread).value();
	auto server = JakiroServer::create(context, store);
	for (unsigned attempt = 0; !server && attempt < 100; attempt++) { /* the port is that of the killed server */
		std::this_thread::sleep_for(50ms);
		server = JakiroServer::create(context, store);
	}
	fmt::print("{}\n", (*server)->port());
	std::fflush(stdout);
	return (*server)->run() ? 0 : 1;
}

/** Client on a thread of its own. */
class Client
{
public:
	Client(const Options &options, std::uint32_t number, const std::atomic<std::uint16_t> &port)
		: options_(options), number_(number), port_(port), random_(options.seed * 1000 + number),
		  context_(Context::open("prism_lo", Progress::caller).value()),
		  writer_(HistoryWriter::create(
			  file_of(options, fmt::format("client-{}", number)), options.operations + 1000)
				  .value()),
		  jobs_(options.depth)
	{
	}

	/** Runs until all operations have ended, with any outcome. */
	void run();

	[[nodiscard]] bool good() const { return good_; }
	[[nodiscard]] std::uint64_t lost() const { return lost_; }
	/** Returns the number of operations begun. Any thread. */
	[[nodiscard]] std::uint64_t begun() const { return begun_; }

private:
	struct Job {
		apps::Operation operation;
		std::uint64_t key = 0;
		std::array<std::uint64_t, max_value / 8> value{}, result{};
		HistoryWriter::Handle record = HistoryWriter::none;
	};

	void connect();
	void start(Job &job);
	void end(Job &job);
	void collect();
	std::uint64_t seen(std::uint64_t key, std::uint64_t value);

	const Options &options_;
	const std::uint32_t number_;
	const std::atomic<std::uint16_t> &port_;
	std::mt19937_64 random_;
	const Context context_;
	HistoryWriter writer_;
	std::unique_ptr<JakiroClient> client_;
	std::vector<Job> jobs_;
	std::vector<Job *> idle_;
	std::uint64_t values_ = 0;
	std::atomic<std::uint64_t> begun_{0};
	std::uint64_t lost_ = 0; /* operations that failed */
	bool disconnected_ = false;
	bool good_ = true;
	std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> seen_; /* by key: the last two values */
};

/** Connects to the server, which may be gone, or about to go. */
void Client::connect()
{
	client_.reset();
	rpc::ClientOptions options;
	options.way = options_.way_of_calls();
	options.depth = options_.depth;
	options.timeout = 2s;
	const auto end = std::chrono::steady_clock::now() + 60s;
	while (!client_ && std::chrono::steady_clock::now() < end) {
		auto connected = JakiroClient::connect(context_, "127.0.0.1", port_, options);
		if (connected)
			client_ = *std::move(connected);
		else
			std::this_thread::sleep_for(10ms);
	}
	disconnected_ = false;
}

void Client::start(Job &job)
{
	job.key = random_() % keys;
	const std::size_t words = 1 + random_() % job.value.size();
	const std::span value = std::span(job.value).first(words);
	simulation::fill_value(simulation::name_of_value(number_, ++values_, words), value);
	job.operation.kind = test::any_kind(random_);
	job.operation.key = std::as_bytes(std::span(&job.key, 1));
	job.operation.value = std::as_bytes(value);
	job.operation.result = std::as_writable_bytes(std::span(job.result));
	job.operation.context = &job;
	job.record = writer_.begin(test::record_of(job.operation, number_));
	begun_++;
	const int error = client_->start(job.operation);
	if (error == 0)
		return;
	/* Nothing was done. */
	good_ &= error == ENOTCONN && job.record != HistoryWriter::none;
	writer_.end(job.record, test::Outcome::no_effect);
	disconnected_ = true;
	lost_++;
	idle_.push_back(&job);
}

/** Returns the value of a GET; in a control, sometimes the value before it. */
std::uint64_t Client::seen(std::uint64_t key, std::uint64_t value)
{
	auto &[before, last] = seen_[key];
	if (value != last)
		before = std::exchange(last, value);
	return options_.control == "stale" && before && random_() % 100 == 0 ? before : value;
}

/** Records the end. An operation under way when the connection broke may have happened: it stays without an end. */
void Client::end(Job &job)
{
	switch (job.operation.outcome) {
	case apps::Outcome::ok:
		if (job.operation.kind == OperationKind::get) {
			const std::span<const std::byte> room = std::as_bytes(std::span(job.result));
			good_ &= job.operation.length <= room.size() &&
				 simulation::is_whole(room.first(job.operation.length));
		}
		writer_.end(job.record, test::Outcome::ok,
			job.operation.kind == OperationKind::get ? seen(job.key, job.result.front()) : 0);
		break;
	case apps::Outcome::not_found:
		writer_.end(job.record, test::Outcome::not_found);
		break;
	case apps::Outcome::full: /* never: each partition has room for the longest pair */
		good_ = false;
		break;
	case apps::Outcome::failed:
	case apps::Outcome::unknown:
		good_ &= job.operation.error != 0 && job.operation.error != EBADMSG;
		good_ &= (job.operation.outcome == apps::Outcome::failed) == (job.operation.kind == OperationKind::get);
		disconnected_ = true;
		lost_++;
	}
	idle_.push_back(&job);
}

void Client::collect()
{
	std::array<apps::Operation *, 16> completed;
	const std::size_t count = client_->poll(completed);
	for (std::size_t i = 0; i < count; i++)
		end(*static_cast<Job *>(completed[i]->context));
	if (!count)
		std::this_thread::yield();
}

void Client::run()
{
	for (Job &job : jobs_)
		idle_.push_back(&job);
	connect();
	while (client_ && (begun_ < options_.operations || idle_.size() < jobs_.size())) {
		while (!disconnected_ && begun_ < options_.operations && !idle_.empty()) {
			Job &job = *idle_.back();
			idle_.pop_back();
			start(job);
		}
		if (idle_.size() < jobs_.size())
			collect();
		else if (begun_ < options_.operations)
			connect();
	}
	good_ &= client_ != nullptr;
}

class Run
{
public:
	Run(const Options &options, const char *program) : options_(options), program_(program), random_(options.seed)
	{
	}
	~Run() { kill_server(); }

	int go();

private:
	void start_server();
	void kill_server();
	void restart(HistoryWriter &clears);
	[[nodiscard]] test::CheckReport judge(std::uint64_t &evictions) const;

	const Options options_;
	const char *const program_;
	std::mt19937_64 random_;
	pid_t server_ = 0;
	std::uint32_t servers_ = 0;
	std::atomic<std::uint16_t> port_{0};
};

void Run::start_server()
{
	std::array<int, 2> ends{};
	if (pipe(ends.data()) != 0)
		return;
	server_ = fork();
	if (server_ == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		execl(program_, program_, "--server", "--port", std::to_string(port_).c_str(), "--number",
			std::to_string(servers_).c_str(), "--folder", options_.folder.c_str(), "--way",
			options_.way.c_str(), "--clients", std::to_string(options_.clients).c_str(), "--operations",
			std::to_string(options_.operations).c_str(), options_.control.empty() ? nullptr : "--control",
			options_.control.c_str(), static_cast<char *>(nullptr));
		_exit(127);
	}
	servers_++;
	close(ends[1]);
	std::array<char, 16> text{};
	if (read(ends[0], text.data(), text.size() - 1) > 0)
		port_ = static_cast<std::uint16_t>(std::atoi(text.data()));
	close(ends[0]);
}

void Run::kill_server()
{
	if (server_ <= 0)
		return;
	::kill(server_, SIGKILL);
	waitpid(server_, nullptr, 0);
	server_ = 0;
}

/** Kills the server and starts it again. All keys are cleared at one moment between the two times of the records. */
void Run::restart(HistoryWriter &clears)
{
	std::vector<HistoryWriter::Handle> records;
	for (std::uint64_t key = 0; key < keys && options_.control != "clears"; key++) {
		test::Operation record;
		record.key = key;
		record.client = servers;
		record.kind = Kind::clear;
		records.push_back(clears.begin(record));
	}
	kill_server();
	for (const HistoryWriter::Handle record : records)
		clears.end(record, test::Outcome::ok);
	start_server();
}

test::CheckReport Run::judge(std::uint64_t &evictions) const
{
	auto history = test::read_histories(test::histories_in(options_.folder)).value();
	evictions = static_cast<std::uint64_t>(std::ranges::count_if(
		history, [](const test::Operation &operation) { return is_eviction(operation); }));
	test::CheckReport report = test::check(std::move(history));
	for (const test::Finding &finding : report.findings) {
		fmt::print("{}\n", test::describe(finding, "key"));
		if (!options_.control.empty())
			break;
	}
	return report;
}

int Run::go()
{
	std::filesystem::remove_all(options_.folder);
	std::filesystem::create_directories(options_.folder);
	start_server();
	auto clears = HistoryWriter::create(file_of(options_, "clears"), keys * (options_.kills + 1));
	std::vector<std::unique_ptr<Client>> clients;
	std::vector<std::thread> threads;
	for (std::uint32_t number = 0; number < options_.clients; number++)
		clients.push_back(std::make_unique<Client>(options_, number, port_));
	for (const auto &client : clients)
		threads.emplace_back([&client] { client->run(); });
	const auto begun = [&clients] {
		std::uint64_t sum = 0;
		for (const auto &client : clients)
			sum += client->begun();
		return sum;
	};
	/* Kills spread evenly over the run, at any moment of operations under way. */
	const std::uint64_t between = options_.clients * options_.operations / (options_.kills + 1);
	for (unsigned kill = 1; kill <= options_.kills; kill++) {
		while (begun() < kill * between)
			std::this_thread::sleep_for(1ms);
		std::this_thread::sleep_for(std::chrono::microseconds(random_() % 2000));
		restart(*clears);
	}
	for (std::thread &thread : threads)
		thread.join();
	kill_server();
	bool good = true;
	std::uint64_t lost = 0, evictions = 0;
	for (const auto &client : clients) {
		good &= client->good();
		lost += client->lost();
	}
	const test::CheckReport report = judge(evictions);
	fmt::print("{}: {} operations, {} of them evictions, {} lost with {} servers that were killed: {}\n",
		options_.way, report.operations, evictions, lost, options_.kills, test::name_of(report.verdict));
	const auto expected = options_.control.empty() ? test::Verdict::linearizable : test::Verdict::violated;
	/* A run without evictions or, with kills, without lost operations tests nothing. */
	const bool telling = (evictions > 100 || options_.control == "evictions") && (lost > 0) == (options_.kills > 0);
	if (!good || !telling || report.verdict != expected) {
		fmt::print("FAIL: {}; the history is in {}\n",
			!good      ? "an operation ended as it must not"
			: !telling ? "too little has happened"
				   : "another verdict was expected",
			options_.folder.string());
		return 1;
	}
	std::filesystem::remove_all(options_.folder);
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Records the history of a Jakiro cache and checks it."};
	std::vector<std::string> ways;
	for (const rpc::WayName &known : rpc::ways)
		ways.emplace_back(known.name);
	app.add_option("--way", options.way, "How calls travel").check(cli::IsMember(ways)).capture_default_str();
	app.add_option("--operations", options.operations, "Of each client").capture_default_str();
	app.add_option("--clients", options.clients, "Clients").capture_default_str();
	app.add_option("--depth", options.depth, "Operations under way at a client").capture_default_str();
	app.add_option("--kills", options.kills, "How often the server is killed and started again");
	app.add_option("--control", options.control,
		   "evictions or clears: are not recorded; stale: a client reports old values. Succeed if the check "
		   "fails")
		.check(cli::IsMember({"evictions", "clears", "stale"}));
	app.add_option("--seed", options.seed, "Of the operations, and when the server is killed");
	app.add_option("--folder", options.folder, "For the histories").capture_default_str();
	app.add_flag("--server", options.is_server, "Be the server");
	app.add_option("--port", options.port, "Of the server");
	app.add_option("--number", options.number, "Of the server");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	return options.is_server ? serve(options) : Run(options, argv[0]).go();
}
