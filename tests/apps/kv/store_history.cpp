/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * store-history: processes that use one PRISM-KV store and record their operations, some of them killed during the run;
 * then a check that the history of each key is linearizable and that nothing is lost.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "../support/processes.hpp"
#include "base/command_line.hpp"
#include "checker.hpp"
#include "history.hpp"
#include "history_client.hpp"
#include "kv/store/prism_server.hpp"

namespace
{

using namespace prism;
using namespace prism::kv;
using namespace kv_test;
using namespace std::chrono_literals;

struct Options {
	HistoryClientOptions client;
	bool is_client = false;
	unsigned processes = 4;
	unsigned kills = 0;
	unsigned cuts = 0;   /* of all connections at once */
	bool damage = false; /* control: objects are damaged, which clients must notice */
	std::uint64_t seed = 1;
	std::filesystem::path folder = "store-history";
};

bool listens(int fd)
{
	int does = 0;
	socklen_t length = sizeof(does);
	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &does, &length) && does;
}

/** Run with the server on a thread and its clients in processes of their own. */
class Run
{
public:
	Run(const Options &options, const char *program)
		: options_(options), program_(program), random_(options.seed), store_(make_store())
	{
	}

	int go();

private:
	static std::unique_ptr<PrismServer> make_store();
	test::Child begin_client(std::uint32_t depth);
	bool ended_well(const test::Child &child);
	void kill_some();
	void cut_some() const;
	void damage_some(const std::stop_token &stop);
	void settle();
	bool linearizable() const;
	bool nothing_lost() const;

	const Options options_;
	const char *const program_;
	std::mt19937_64 random_;
	std::unique_ptr<PrismServer> store_;
	std::vector<test::Child> children_;
	std::uint32_t next_number_ = 0;
	bool good_ = true;
	unsigned noticed_ = 0; /* clients that have met a damaged value */
};

/* Exit code of clients */
constexpr int damaged_value = 3;

/* Few slots and buffers, so that keys compete for them. */
std::unique_ptr<PrismServer> Run::make_store()
{
	PrismServerOptions options;
	options.address = "127.0.0.1";
	options.slots = 64;
	options.classes = {{128, 2000}, {512, 2000}};
	options.max_key_size = 16;
	options.max_value_size = 400;
	options.log = [](apps::LogLevel, const std::string &) {};
	Result<Context> context = Context::open("prism_lo", Progress::engine_thread);
	auto store = PrismServer::create(context.value(), options);
	return std::move(store).value();
}

test::Child Run::begin_client(std::uint32_t depth)
{
	const std::uint32_t number = next_number_++;
	std::vector<std::string> words{program_, "--client", "--port", std::to_string(store_->port()), "--number",
		std::to_string(number), "--file", (options_.folder / fmt::format("{}.history", number)).string(),
		"--depth", std::to_string(depth), "--keys", std::to_string(options_.client.keys), "--operations",
		std::to_string(options_.client.operations)};
	if (options_.cuts)
		words.emplace_back("--survives");
	return {test::spawn(words), number};
}

bool Run::ended_well(const test::Child &child)
{
	const int status = test::status_of(child);
	noticed_ += WIFEXITED(status) && WEXITSTATUS(status) == damaged_value;
	return status == 0 || options_.damage;
}

/** Kills one client after another in the middle of operations; each is replaced by another. */
void Run::kill_some()
{
	for (unsigned kill = 0; kill < options_.kills; kill++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(20 + random_() % 150));
		test::Child &victim = children_[random_() % children_.size()];
		test::kill_and_wait(victim.pid);
		victim = begin_client(kill % 2 ? options_.client.depth : 1);
	}
}

/** Cuts all connections now and then. Clients connect again; the outcomes of their operations are in the histories. */
void Run::cut_some() const
{
	for (unsigned cut = 0; cut < options_.cuts; cut++) {
		std::this_thread::sleep_for(30ms);
		for (int fd = 3; fd < 1024; fd++) {
			sockaddr_in mine{};
			socklen_t length = sizeof(mine);
			const bool is_socket = !getsockname(fd, reinterpret_cast<sockaddr *>(&mine), &length);
			if (is_socket && ntohs(mine.sin_port) == store_->port() && !listens(fd))
				shutdown(fd, SHUT_RDWR);
		}
	}
}

/** Flips the last byte of one object of several words after another, without any synchronization. */
void Run::damage_some(const std::stop_token &stop)
{
	std::uint64_t slot = 0;
	while (!stop.stop_requested()) {
		std::this_thread::sleep_for(1ms);
		const Slot at = store_->table().at(slot++ % store_->table().geometry().slot_count());
		constexpr std::uint64_t one_word = sizeof(ObjectHeader) + 2 * sizeof(std::uint64_t);
		if (at.is_member() && at.object.bound > one_word)
			*(reinterpret_cast<std::uint8_t *>(at.object.ptr) + at.object.bound - 1) ^= 0x40;
	}
}

/** Waits until a recovery scan has begun and ended after the last client left. */
void Run::settle()
{
	const auto deadline = std::chrono::steady_clock::now() + 20s;
	while (!store_->deserted() && std::chrono::steady_clock::now() < deadline)
		std::this_thread::sleep_for(10ms);
}

bool Run::linearizable() const
{
	auto history = test::read_histories(test::histories_in(options_.folder));
	if (!history) {
		fmt::print("FAIL: {}\n", history.error().message);
		return false;
	}
	const test::CheckReport report = test::check(*std::move(history));
	fmt::print("{} operations of {} clients: {}\n", report.operations, next_number_, test::name_of(report.verdict));
	for (const test::Finding &finding : report.findings)
		fmt::print("{}\n", test::describe(finding, "key"));
	return report.verdict == test::Verdict::linearizable;
}

bool Run::nothing_lost() const
{
	const TableCount count = store_->table().count();
	const std::uint64_t used = store_->buffers_in_use();
	std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
	for (std::uint64_t slot = 0; slot < store_->table().geometry().slot_count(); slot++) {
		if (const Slot at = store_->table().at(slot); !at.empty())
			keys.insert({at.key.low | 1, at.key.high});
	}
	fmt::print("{} members, {} claims, {} buffers in use, {} recovered in {} scans, {} put off\n", count.members,
		count.claims, used, store_->recovery_stats().recovered, store_->recovery_stats().scans,
		store_->recovery_stats().put_off);
	return used == count.members && !count.claims && !count.stray && keys.size() == count.members;
}

int Run::go()
{
	std::filesystem::remove_all(options_.folder);
	std::filesystem::create_directories(options_.folder);
	std::thread server([this] { good_ &= store_->serve().ok(); });
	for (unsigned i = 0; i < options_.processes; i++)
		children_.push_back(begin_client(i % 2 ? options_.client.depth : 1));
	std::jthread vandal;
	if (options_.damage)
		vandal = std::jthread([this](const std::stop_token &stop) { damage_some(stop); });
	cut_some();
	kill_some();
	for (const test::Child &child : children_)
		good_ &= ended_well(child);
	vandal = {};
	settle();
	store_->stop();
	server.join();
	if (options_.damage) {
		std::filesystem::remove_all(options_.folder);
		fmt::print("{} of {} clients have noticed damaged values\n", noticed_, next_number_);
		return noticed_ ? 0 : 1;
	}
	good_ &= linearizable();
	if (!nothing_lost()) {
		fmt::print("FAIL: something was lost, or is there twice\n");
		good_ = false;
	}
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
	options.client.depth = 8;
	cli::CommandLine app{"Records the history of a PRISM-KV store and checks it."};
	app.add_flag("--client", options.is_client, "Be one of the clients");
	app.add_option("--port", options.client.port, "Of the server");
	app.add_option("--number", options.client.number, "Of the client");
	app.add_option("--file", options.client.file, "Of the client's history");
	app.add_option("--depth", options.client.depth, "Operations under way; every other client has one")
		.capture_default_str();
	app.add_option("--keys", options.client.keys, "That all clients share").capture_default_str();
	app.add_option("--operations", options.client.operations, "Of each client").capture_default_str();
	app.add_option("--processes", options.processes, "Clients at a time").capture_default_str();
	app.add_option("--kills", options.kills, "How many clients are killed").capture_default_str();
	app.add_option("--cuts", options.cuts, "How often all connections are cut").capture_default_str();
	app.add_flag("--survives", options.client.survives, "Of a client: go on after a loss of the connection");
	app.add_flag("--damage", options.damage, "Damage values; succeed if a client notices that");
	app.add_option("--seed", options.seed, "Of who is killed when").capture_default_str();
	app.add_option("--folder", options.folder, "For the histories").capture_default_str();
	if (const auto early = app.parse(argc, argv))
		return early->print();
	if (!options.is_client)
		return Run(options, argv[0]).go();
	const Result<void> done = run_history_client(options.client);
	if (!done)
		fmt::print(stderr, "client {}: {}\n", options.client.number, done.error().message);
	if (!done && done.error().code == EILSEQ)
		return damaged_value;
	return done ? 0 : 1;
}
