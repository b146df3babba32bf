/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * transaction-history: the shards of a PRISM-TX store and its clients, each a process, which record their transactions,
 * while clients are killed and replaced, or stopped for so long that others end their transactions; then checks that
 * the history is serializable, that no key is blocked, and that no money and no buffer is lost. Or one of the shards is
 * told to stop under load: the others must have all that was acknowledged by then, and nothing else.
 */
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/free_places.hpp"
#include "../support/processes.hpp"
#include "base/command_line.hpp"
#include "cycles.hpp"
#include "recorder.hpp"
#include "replay.hpp"

namespace
{

using namespace prism;
using namespace prism::tx;
using namespace std::chrono_literals;
using namespace tx_test;
using prism::test::Child;
using prism::test::kill_and_wait;
using prism::test::spawn;
using prism::test::status_of;
using Clock = std::chrono::steady_clock;

/* Room for transactions beyond those wanted: clients go on until all disturbances are over. */
constexpr std::uint64_t more_transactions = 1'000'000;
/* Longest time that a shard waits for its clients: much longer than they need */
constexpr auto stop_timeout = 60s;
/* Time between two reports of progress */
constexpr auto report_after = 10s;

struct Options {
	LoadOptions load;
	bool is_client = false;
	std::uint32_t number = 0;
	std::string shard_list; /* of a client */
	std::uint64_t transactions = 10'000;
	unsigned shards = 2;
	unsigned processes = 3;
	unsigned kills = 0;
	unsigned stops = 0;
	bool numbered = false;
	bool as_in_paper = false;
	bool terminate = false;
	bool keep = false;
	std::uint64_t seed = 1;
	std::string server;
	std::filesystem::path folder = "transaction-history";

	[[nodiscard]] std::filesystem::path file(std::uint32_t client) const
	{
		return folder / fmt::format("{}.transactions", client);
	}
	[[nodiscard]] std::filesystem::path secret() const { return folder / "secret"; }
	[[nodiscard]] std::filesystem::path state() const { return folder / "state"; }
	[[nodiscard]] std::uint32_t value_size() const
	{
		return load.load == Load::lists ? load.list_length * sizeof(record::Value) : sizeof(record::Value);
	}
	/** Returns the number of keys to make room for; full lists are replaced by others. */
	[[nodiscard]] std::uint64_t room() const
	{
		const std::uint64_t most = load.load == Load::lists ? transactions + more_transactions : 0;
		return load.keys + most * load.accesses / load.list_length;
	}
};

const std::vector<cli::Choice<Load>> loads{
	{"registers", Load::registers}, {"lists", Load::lists}, {"bank", Load::bank}};

Result<void> run_client(const Options &options)
{
	Result<Shards> shards = parse_shards(options.shard_list);
	if (!shards)
		return shards.error();
	Result<SharedState> state = SharedState::open(options.state(), false);
	if (!state)
		return state.error();
	auto recorder = Recorder::create(options.load, options.number, *shards, options.file(options.number));
	if (!recorder)
		return recorder.error();
	return (*recorder)->go_on(*state);
}

/* The run ---------------------------------------------------------------------------------------------------------- */

class Run
{
public:
	Run(const Options &options, const char *program) : options_(options), program_(program), random_(options.seed)
	{
	}
	/** Ends all processes, whatever has gone wrong. */
	~Run();
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;

	int go();

private:
	void begin_shards();
	std::unique_ptr<Recorder> connect();
	Child begin_client();
	void wait_for_clients();
	void kill_client();
	void kill_all();
	void stop_client();
	void disturb();
	void work();
	void terminate_shard();
	bool all_alive();
	bool pause(std::chrono::milliseconds time);
	[[nodiscard]] std::uint64_t sum(std::atomic<std::uint64_t> RunState::Client::*figure) const;
	[[nodiscard]] unsigned most_connections() const { return 2 * options_.processes + 2; }
	void take_numbers();
	void look_at_the_end();
	void look_at_other_shards();
	bool nothing_lost(PrismClient &client);
	void check_history();
	void check(bool good, const std::string &what);
	void check(const Result<void> &result, const std::string &what);

	const Options options_;
	const char *const program_;
	std::mt19937_64 random_;
	Shards addresses_;
	std::vector<pid_t> servers_; /* 0: it has ended */
	std::unique_ptr<Recorder>
		witness_; /* --terminate: connected before; needs no log of the shard that is gone then */
	std::vector<Child> clients_;
	std::optional<SharedState> state_;
	std::uint32_t next_number_ = 0;
	std::uint32_t gone_ = 0; /* clients that were killed while they worked */
	Clock::time_point began_ = Clock::now();
	Clock::time_point next_report_ = Clock::now() + report_after;
	bool good_ = true;
};

Run::~Run()
{
	for (const Child &child : clients_)
		kill_and_wait(child.pid);
	for (const pid_t server : servers_) {
		if (server)
			kill_and_wait(server, SIGTERM);
	}
}

void Run::check(bool good, const std::string &what)
{
	if (!good)
		fmt::print("FAIL: {}\n", what);
	good_ &= good;
}

void Run::check(const Result<void> &result, const std::string &what)
{
	check(result.ok(), result ? what : what + ": " + result.error().message);
}

void Run::begin_shards()
{
	addresses_ = prism::test::free_places<prism::apps::ServerAddress>(options_.shards);
	/* Room for uneven hashing of the keys. */
	const std::uint64_t keys = 64 + options_.room() * 5 / (4 * options_.shards);
	std::ofstream(options_.secret()) << fmt::format("{:032x}", random_());
	for (unsigned shard = 0; shard < options_.shards; shard++) {
		std::vector<std::string> words{options_.server, "--shard", std::to_string(shard), "--shards",
			std::to_string(options_.shards), "--bind", "127.0.0.1", "--port",
			std::to_string(addresses_[shard].port), "--keys", std::to_string(keys), "--key-size", "8",
			"--value-size", std::to_string(options_.value_size()), "--lanes",
			std::to_string(options_.load.depth), "--clients", std::to_string(most_connections()),
			"--stop-timeout", std::to_string(stop_timeout.count()), "-d", "prism_lo", "--secret",
			options_.secret(), "--commit", options_.as_in_paper ? "paper" : "protected"};
		if (options_.numbered)
			words.emplace_back("--numbered");
		servers_.push_back(spawn(words));
	}
}

/** Connects as the first or the last client, which nobody disturbs. Returns null on failure. */
std::unique_ptr<Recorder> Run::connect()
{
	LoadOptions load = options_.load;
	load.skew = 0;
	load.may_die = false;
	const std::uint32_t number = next_number_++;
	for (const Clock::time_point deadline = Clock::now() + 20s;;) {
		auto made = Recorder::create(load, number, addresses_, options_.file(number));
		if (made) {
			(*state_)->clients[number].began = true;
			return *std::move(made);
		}
		const bool wait = made.error().code == ECONNREFUSED && Clock::now() < deadline;
		if (!wait) {
			check(made.error(), "cannot connect");
			return nullptr;
		}
		std::this_thread::sleep_for(20ms);
	}
}

Child Run::begin_client()
{
	const LoadOptions &load = options_.load;
	const std::uint32_t number = next_number_++;
	std::string shards;
	for (const apps::ServerAddress &address : addresses_)
		shards += (shards.empty() ? "" : ",") + address.text();
	std::vector<std::string> words{program_, "--client", "--connect", shards, "--number", std::to_string(number),
		"--folder", options_.folder.string(), "--keys", std::to_string(load.keys), "--accesses",
		std::to_string(load.accesses), "--list-length", std::to_string(load.list_length), "--depth",
		std::to_string(load.depth), "--skew", std::to_string(load.skew), "--patience",
		std::to_string(load.patience), "--load"};
	for (const auto &[name, value] : loads) {
		if (value == load.load)
			words.push_back(name);
	}
	if (options_.kills)
		words.emplace_back("--may-die");
	if (load.cuts)
		words.insert(words.end(), {"--cuts", std::to_string(load.cuts)});
	if (options_.terminate)
		words.emplace_back("--may-lose-shard");
	return {spawn(words), number};
}

std::uint64_t Run::sum(std::atomic<std::uint64_t> RunState::Client::*figure) const
{
	std::uint64_t all = 0;
	for (std::uint32_t number = 0; number < next_number_; number++)
		all += ((*state_)->clients[number].*figure).load();
	return all;
}

bool Run::all_alive()
{
	for (auto child = clients_.begin(); child != clients_.end(); ++child) {
		int status = 0;
		if (::waitpid(child->pid, &status, WNOHANG) == 0)
			continue;
		check(false, fmt::format("client {} has ended with {:#x}", child->number, status));
		clients_.erase(child);
		return false;
	}
	return true;
}

/** Waits. Returns false if a process has ended that should not have. */
bool Run::pause(std::chrono::milliseconds time)
{
	std::this_thread::sleep_for(time);
	if (Clock::now() >= next_report_) {
		const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
		const auto committed = sum(&RunState::Client::committed);
		fmt::print("{:.0f} s: {} transactions, {:.0f}/s\n", seconds, committed,
			static_cast<double>(committed) / seconds);
		std::fflush(stdout);
		next_report_ += report_after;
	}
	return all_alive();
}

/** Kills a client at any moment; others must end its transactions. */
void Run::kill_client()
{
	Child &victim = clients_[random_() % clients_.size()];
	gone_ += (*state_)->clients[victim.number].committed != 0;
	kill_and_wait(victim.pid);
	victim = begin_client();
}

/** Kills all clients. The last client must end their transactions; until then only it has one of their numbers. */
void Run::kill_all()
{
	for (const Child &child : std::exchange(clients_, {})) {
		gone_ += (*state_)->clients[child.number].committed != 0;
		kill_and_wait(child.pid);
	}
}

/** Stops a client for longer than others' patience, so that they take it for dead; then it goes on. */
void Run::stop_client()
{
	const pid_t victim = clients_[random_() % clients_.size()].pid;
	::kill(victim, SIGSTOP);
	std::this_thread::sleep_for(std::chrono::milliseconds(15 + random_() % 300));
	::kill(victim, SIGCONT);
}

/** Runs all disturbances in any order, one at a time. */
void Run::disturb()
{
	std::vector<void (Run::*)()> disturbances;
	disturbances.insert(disturbances.end(), options_.kills, &Run::kill_client);
	disturbances.insert(disturbances.end(), options_.stops, &Run::stop_client);
	std::shuffle(disturbances.begin(), disturbances.end(), random_);
	for (const auto disturbance : disturbances) {
		if (!pause(std::chrono::milliseconds(50 + random_() % 200)))
			return;
		(this->*disturbance)();
	}
}

void Run::wait_for_clients()
{
	for (const Child &child : std::exchange(clients_, {}))
		check(status_of(child) == 0, "a client failed");
}

/**
 * Stops the last shard while all lanes of all clients have transactions under way: these must end well, and then the
 * shard.
 */
void Run::terminate_shard()
{
	pid_t &server = servers_.back();
	::kill(server, SIGTERM);
	std::array<Job *, 1> none;
	int status = 0;
	const Clock::time_point deadline = Clock::now() + stop_timeout / 2;
	while (::waitpid(server, &status, WNOHANG) == 0) {
		if (Clock::now() > deadline) {
			check(false, "the shard waits for clients that have nothing under way");
			return;
		}
		(void)witness_->client().poll(none); /* else the shard waits for this client */
		std::this_thread::sleep_for(1ms);
	}
	server = 0;
	check(WIFEXITED(status) && WEXITSTATUS(status) == 0, fmt::format("the shard has ended with {:#x}", status));
}

void Run::work()
{
	for (unsigned i = 0; i < options_.processes; i++)
		clients_.push_back(begin_client());
	began_ = Clock::now();
	disturb();
	const std::uint64_t cuts = std::uint64_t{options_.load.cuts} * options_.processes;
	while (good_ &&
		(sum(&RunState::Client::committed) < options_.transactions || sum(&RunState::Client::cuts) < cuts))
		pause(10ms);
	if (options_.terminate && good_)
		terminate_shard();
	if (options_.kills) {
		kill_all();
	} else {
		(*state_)->stop = true;
		wait_for_clients();
	}
	const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
	const auto committed = sum(&RunState::Client::committed);
	fmt::print("{} transactions of {} clients in {:.1f} s, {:.0f}/s; {} conflicts, {} of them for want of "
		   "a buffer; {} clients killed at work; "
		   "{} transactions were ended by others\n",
		committed, next_number_ - 1, seconds, static_cast<double>(committed) / seconds,
		sum(&RunState::Client::conflicts), sum(&RunState::Client::no_buffer), gone_,
		sum(&RunState::Client::resolved));
	if (cuts)
		fmt::print("{} cuts; {} outcomes were found out later\n", sum(&RunState::Client::cuts),
			sum(&RunState::Client::found_out));
}

/* The end ---------------------------------------------------------------------------------------------------------- */

/** Checks each shard, once the scans for lost buffers are over: one buffer for each cell that has keys. */
bool Run::nothing_lost(PrismClient &client)
{
	bool good = true;
	std::array<Job *, 1> none;
	for (std::size_t shard = 0; shard < addresses_.size(); shard++) {
		const Clock::time_point deadline = Clock::now() + 15s;
		std::uint64_t used = 0, written = 0, prepared = 0, recovered = 0;
		do {
			(void)client.request_recovery(shard); /* one may be under way */
			for (int i = 0; i < 10; i++) {        /* it asks about operations under way */
				(void)client.poll(none);
				std::this_thread::sleep_for(5ms);
			}
			const Result<std::string> text = client.stats_of(shard);
			if (!text) {
				fmt::print("{}\n", text.error().message);
				return false;
			}
			const nlohmann::json stats = nlohmann::json::parse(*text);
			used = 0;
			for (const nlohmann::json &one : stats["classes"])
				used += one["buffers"].get<std::uint64_t>() - one["available"].get<std::uint64_t>();
			written = stats["cells"]["written"];
			prepared = stats["cells"]["prepared"];
			recovered = stats["recovery"]["buffers"];
		} while ((used != written || prepared) && Clock::now() < deadline);
		fmt::print("shard {}: {} cells have keys, {} are prepared; {} buffers in use, {} were recovered\n",
			shard, written, prepared, used, recovered);
		good &= used == written && (!prepared || options_.as_in_paper);
	}
	return good;
}

/** Takes the numbers of dead clients, as many as possible: until then buffers in their logs are kept. */
void Run::take_numbers()
{
	const Result<Context> context = Context::open("prism_lo", Progress::caller);
	std::vector<std::unique_ptr<PrismClient>> clients;
	for (unsigned i = 1; context && i < most_connections(); i++) {
		auto made = PrismClient::connect(*context, addresses_);
		if (made)
			clients.push_back(*std::move(made));
		else if (made.error().code != EMFILE) /* the server may not have noticed a death yet */
			check(made.error(), "cannot take the number of a dead client");
	}
	check(clients.size() >= options_.processes, "there are not enough numbers");
}

void Run::look_at_the_end()
{
	const std::unique_ptr<Recorder> last = connect();
	if (!last)
		return;
	check(last->touch_all(), "a key cannot be changed");
	check(last->read_all(), "a key cannot be read");
	take_numbers();
	check(nothing_lost(last->client()), "buffers are lost, or cells stay prepared");
}

/** Checks that nothing acknowledged is lost there, and that nothing refused is there: see check_history(). */
void Run::look_at_other_shards()
{
	check(witness_->read_all(servers_.size() - 1), "a key of another shard cannot be read");
	witness_.reset();
}

void Run::check_history()
{
	std::vector<std::filesystem::path> files;
	for (std::uint32_t number = 0; number < next_number_; number++) {
		if ((*state_)->clients[number].began) /* else it was killed before */
			files.push_back(options_.file(number));
	}
	const auto history = record::read_histories(files);
	if (!history) {
		check(history.error(), "no history");
		return;
	}
	const auto index = record::Index::make(*history);
	if (!index) {
		check(index.error(), "no index");
		return;
	}
	record::Findings findings;
	const record::ReplayResult replayed = record::replay(*index, findings);
	record::CycleOptions order;
	/* The paper's commit does not validate transactions that only read, and tolerates no differences of clocks. */
	order.sessions = !options_.as_in_paper;
	order.real_time = !options_.as_in_paper;
	const record::CycleResult cycles = record::check_cycles(*index, order, findings);
	fmt::print("{} transactions in the history: {} replayed in the order of their timestamps, {} without one, "
		   "{} unknown and seen; {} edges, {} cycles\n",
		history->transactions().size(), replayed.replayed, replayed.readers, index->seen_unknown(),
		cycles.edges, cycles.components);
	if (options_.load.load == Load::bank) {
		const std::uint64_t total = std::uint64_t{options_.load.keys} * options_.load.balance;
		const std::uint64_t audits = record::check_bank(*index, total, findings);
		fmt::print("{} audits\n", audits);
		check(audits != 0, "nobody has read all accounts");
	}
	for (const record::Finding &finding : findings.kept())
		fmt::print("{}: {}\n{}\n", finding.check, finding.name, finding.text);
	check(replayed.replayed != 0, "nothing was replayed");
	check(findings.total() == 0, fmt::format("{} findings in the history", findings.total()));
}

int Run::go()
{
	std::filesystem::remove_all(options_.folder);
	std::filesystem::create_directories(options_.folder);
	Result<SharedState> state = SharedState::open(options_.state(), true);
	if (!state) {
		check(state.error(), "cannot begin");
		return 1;
	}
	state_ = *std::move(state);
	begin_shards();
	std::unique_ptr<Recorder> first = connect();
	if (first && options_.load.load == Load::bank)
		check(first->open_bank(), "the bank does not open");
	first.reset();
	if (good_ && options_.terminate)
		witness_ = connect();
	if (good_)
		work();
	if (good_ && options_.terminate)
		look_at_other_shards();
	else if (good_)
		look_at_the_end();
	if (good_)
		check_history();
	if (good_ && options_.kills)
		check(gone_ != 0, "no client was killed at work: raise --transactions");
	if (good_ && !options_.keep)
		std::filesystem::remove_all(options_.folder);
	else
		fmt::print("the history is in {}\n", options_.folder.string());
	fmt::print("{}\n", good_ ? "serializable, nothing lost" : "failed");
	return good_ ? 0 : 1;
}

std::string find_contradiction(const Options &options)
{
	if (options.is_client)
		return "";
	if (options.server.empty())
		return "--server is required: prism-tx-server";
	if (options.as_in_paper && (options.kills || options.stops || options.load.cuts))
		return "the paper's commit does not survive --kills and --cuts, and nobody is helped by others";
	if (options.terminate && (options.kills || options.load.load == Load::bank || options.shards < 2))
		return "--terminate leaves the other shards' keys: there must be some, of no bank, and live clients";
	if (options.load.load == Load::bank && (options.load.keys > 60 || options.load.keys < 2))
		return "a bank has 2 to 60 --keys: a transaction reads them all";
	return "";
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Records the history of a PRISM-TX store and checks it."};
	app.add_option("--server", options.server, "The program that serves a shard: prism-tx-server");
	app.add_choice("--load", options.load.load, loads, "What the clients do: registers, lists or bank");
	app.add_option("-n,--transactions", options.transactions, "To commit at least, of all clients together")
		.capture_default_str();
	app.add_option("--shards", options.shards, "Shards").check(cli::Range(1, 64)).capture_default_str();
	app.add_option("--processes", options.processes, "Clients at a time")
		.check(cli::Range(1, 1000))
		.capture_default_str();
	app.add_option("--depth", options.load.depth, "Transactions under way of each client")
		.check(cli::Range(1, 256))
		.capture_default_str();
	app.add_option("--keys", options.load.keys, "That all clients share")
		.check(cli::Range(1, 10'000'000))
		.capture_default_str();
	app.add_option("--accesses", options.load.accesses, "Keys of a transaction, at most")
		.check(cli::Range(1, 60))
		.capture_default_str();
	app.add_option("--list-length", options.load.list_length, "Elements of a list, at most")
		.check(cli::Range(1, 10'000))
		.capture_default_str();
	app.add_option("--skew", options.load.skew, "Seconds that clients' clocks are off, and jump, at most")
		.check(cli::Range(0.0, 1e8))
		.capture_default_str();
	app.add_flag("--numbered", options.numbered, "A numbered store");
	app.add_flag("--paper", options.as_in_paper, "The paper's commit");
	app.add_option("--kills", options.kills,
		   "How many clients are killed and replaced; those at the end are killed too")
		.capture_default_str();
	app.add_option("--stops", options.stops, "How often a client is stopped for up to 0.3 s").capture_default_str();
	app.add_option("--cuts", options.load.cuts, "How often each client cuts one of its connections")
		.capture_default_str();
	app.add_flag("--terminate", options.terminate, "The last shard gets SIGTERM under load at the end");
	app.add_option("--seed", options.seed, "Of who is disturbed when").capture_default_str();
	app.add_option("--folder", options.folder, "For the histories; what is in it is removed").capture_default_str();
	app.add_flag("--keep", options.keep, "Leave the histories there, for check_transactions");
	app.add_flag("--client", options.is_client, "Be one of the clients");
	app.add_option("--connect", options.shard_list, "Of a client: the shards");
	app.add_option("--number", options.number, "Of a client");
	app.add_option("--patience", options.load.patience,
		   "Seconds that clients wait for others in the middle of a commit")
		.check(cli::Range(0.0, 1e6))
		.capture_default_str();
	app.add_flag("--may-die", options.load.may_die, "Of a client: record what is about to be done");
	app.add_flag("--may-lose-shard", options.load.may_lose_shard, "Of a client: a shard is going to stop");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	if (const std::string reason = find_contradiction(options); !reason.empty()) {
		fmt::print(stderr, "transaction-history: {}\n", reason);
		return 2;
	}
	if (!options.is_client)
		return Run(options, argv[0]).go();
	const Result<void> done = run_client(options);
	if (!done)
		fmt::print(stderr, "client {}: {}\n", options.number, done.error().message);
	return done ? 0 : 1;
}
