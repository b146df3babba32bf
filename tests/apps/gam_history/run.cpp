/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "run.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <thread>

#include <fmt/core.h>

#include "../../linearizability/checker.hpp"
#include "gam/membership/master_service.hpp"
#include "node.hpp"
#include "survivors.hpp"

namespace gam_history
{

using namespace std::chrono_literals;
using prism::Result;
using prism::gam::MasterService;
using prism::test::Operation;
using Clock = std::chrono::steady_clock;

namespace
{

constexpr auto process_patience = 60s; /* for a process; a snapshot of the machine may freeze its file system */
constexpr auto glance = 5ms;
constexpr std::size_t least_operations = 500; /* that show something */

Stage *make_stage()
{
	void *const shared = mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? nullptr : new (shared) Stage();
}

} // namespace

Run::Run(const Options &options) : options_(options), stage_(make_stage()), random_(options.seed) {}

Run::~Run()
{
	for (const Process &process : nodes_) {
		::kill(process.pid, SIGKILL);
		waitpid(process.pid, nullptr, 0);
	}
	if (master_process_ > 0) {
		::kill(master_process_, SIGKILL);
		waitpid(master_process_, nullptr, 0);
	}
	if (stage_)
		munmap(stage_, sizeof(Stage));
}

void Run::fail(const std::string &what)
{
	fmt::print("FAIL: {}\n", what);
	good_ = false;
}

/** Starts the master: listens in this process, serves in a process of its own. */
bool Run::begin_master()
{
	Result<std::unique_ptr<MasterService>> master =
		MasterService::create({.address = "127.0.0.1", .port = 0, .lease = options_.lease});
	if (!master) {
		fail(master.error().message);
		return false;
	}
	master_ = "127.0.0.1:" + std::to_string(master.value()->port());
	std::fflush(stdout);
	master_process_ = fork();
	if (master_process_ == 0)
		_exit(master.value()->run().ok() ? 0 : 1);
	return master_process_ > 0;
}

Run::Process Run::begin_node(Place place)
{
	std::fflush(stdout); /* else both processes print it */
	const Process process{fork(), next_life_++, place};
	if (process.pid == 0) {
		const Ending ending = Node(options_, *stage_, process.life, place, master_).run();
		std::fflush(stdout);
		_exit(ending);
	}
	return process;
}

/** Starts a new node. Waits until it works or has ended. */
Run::Process Run::replacement(Place place)
{
	const unsigned before = stage_->ready;
	const Process process = begin_node(place);
	for (const auto limit = Clock::now() + process_patience; stage_->ready == before && !has_ended(process);) {
		if (Clock::now() > limit) {
			fail(fmt::format("life {} does not join", process.life));
			break;
		}
		std::this_thread::sleep_for(glance);
	}
	return process;
}

bool Run::has_ended(const Process &process)
{
	siginfo_t ended{};
	const auto id = static_cast<id_t>(process.pid);
	return waitid(P_PID, id, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == process.pid;
}

bool Run::await_ready()
{
	const auto end = Clock::now() + process_patience;
	while (stage_->ready < options_.nodes) {
		if (Clock::now() > end) {
			fail("the nodes do not begin");
			return false;
		}
		std::this_thread::sleep_for(glance);
	}
	stage_->begun = true;
	return true;
}

void Run::take(const Process &process, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		dead_.insert(process.life);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == expelled) {
		dead_.insert(process.life);
		expelled_++;
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == wrong) {
		findings_++;
	} else if (status) {
		fail(fmt::format("life {} has ended with status {:#x}", process.life, status));
	}
}

/** Waits until the process ends. No wait of a node lasts for ever, whatever dies. */
void Run::end(const Process &process)
{
	const auto limit = Clock::now() + process_patience;
	int status = 0;
	while (waitpid(process.pid, &status, WNOHANG) == 0) {
		if (Clock::now() > limit) {
			fail(fmt::format("life {} hangs", process.life));
			::kill(process.pid, SIGKILL);
			waitpid(process.pid, &status, 0);
			break;
		}
		std::this_thread::sleep_for(glance);
	}
	take(process, status);
}

/** Returns a random node, but never the very first, whose memory must stay. */
Run::Process &Run::any_victim()
{
	return nodes_[1 + random_() % (nodes_.size() - 1)];
}

/**
 * Waits until the node is in the middle of a transfer. With a log, the transfer must be finished; without one nobody
 * can guarantee that.
 */
void Run::await_transfer(Life life) const
{
	for (const auto limit = Clock::now() + options_.lease; Clock::now() < limit && stage_->between_writes != life;)
		std::this_thread::sleep_for(1ms);
}

void Run::kill_one()
{
	Process &victim = any_victim();
	if (options_.work == Work::bank && options_.logs)
		await_transfer(victim.life);
	::kill(victim.pid, SIGKILL);
	end(victim);
	std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 300));
	victim = replacement(victim.place); /* the others may not know yet that the previous life is dead */
}

/**
 * Stops the master for more than half a lease: it cannot tell then which nodes were there. The live nodes keep their
 * leases.
 */
void Run::hold_up_master() const
{
	std::this_thread::sleep_for(options_.lease / 8);
	::kill(master_process_, SIGSTOP);
	std::this_thread::sleep_for(options_.lease * 5 / 8);
	::kill(master_process_, SIGCONT);
}

/**
 * Stops a node beyond its lease: when it continues, it must find that it is dead. If the master was late, as on a busy
 * machine, it gives all another lease; then the node is stopped again.
 */
void Run::stop_one()
{
	Process &victim = any_victim();
	const auto limit = Clock::now() + process_patience;
	for (bool again = false; !has_ended(victim) && Clock::now() < limit; again = true) {
		const auto enough =
			Clock::now() + options_.lease + options_.lease / 4 + std::chrono::milliseconds(random_() % 300);
		::kill(victim.pid, SIGSTOP);
		if (options_.late && !again)
			hold_up_master();
		std::this_thread::sleep_until(enough);
		::kill(victim.pid, SIGCONT);
		const auto notices = Clock::now() + 4 * options_.lease;
		while (!has_ended(victim) && Clock::now() < notices)
			std::this_thread::sleep_for(glance);
	}
	end(victim);
	if (!dead_.contains(victim.life))
		fail(fmt::format("life {} was stopped beyond its lease, and does not know", victim.life));
	victim = replacement(victim.place);
}

/** Replaces expelled nodes: on a busy machine a node may be late for its lease. */
void Run::replace_the_expelled()
{
	for (Process &process : nodes_) {
		int status = 0;
		if (waitpid(process.pid, &status, WNOHANG) == 0)
			continue;
		take(process, status);
		process = replacement(process.place);
	}
}

void Run::disturb()
{
	std::vector<void (Run::*)()> disturbances(options_.kills, &Run::kill_one);
	disturbances.insert(disturbances.end(), options_.stops, &Run::stop_one);
	std::shuffle(disturbances.begin(), disturbances.end(), random_);
	const auto calm = options_.calm / (disturbances.size() + 1);
	for (const auto disturbance : disturbances) {
		std::this_thread::sleep_for(calm);
		replace_the_expelled();
		(this->*disturbance)();
	}
	std::this_thread::sleep_for(calm);
	if (options_.work != Work::bank)
		await_operations();
}

/** Lets the nodes work until there is enough to check: a busy machine may leave them little of the time. */
void Run::await_operations()
{
	for (const auto limit = Clock::now() + process_patience; Clock::now() < limit;) {
		const auto so_far = prism::test::read_histories(prism::test::histories_in(options_.folder));
		if (so_far && so_far->size() >= least_operations)
			return;
		std::this_thread::sleep_for(20 * glance);
		replace_the_expelled();
	}
}

/**
 * Removes reads by dead nodes: their threads may have seen unfinished operations of the same node that nobody else ever
 * saw. All other completed operations outlive their nodes.
 */
std::vector<Operation> Run::left_in_table(std::vector<Operation> history) const
{
	std::erase_if(history, [this](const Operation &operation) {
		const bool has_only_looked = operation.kind == prism::test::Kind::get ||
					     operation.outcome == prism::test::Outcome::not_found;
		return has_only_looked && dead_.contains(operation.client / options_.threads);
	});
	return history;
}

void Run::check_histories()
{
	const auto read = prism::test::read_histories(prism::test::histories_in(options_.folder));
	if (!read) {
		fail(read.error().message);
		return;
	}
	const std::vector<Operation> &history = *read;
	const auto life_of = [this](std::uint32_t client) { return client / options_.threads; };
	/* With durable logs, all that a dead node has fenced stays. */
	const auto has_died = [this](Life life) { return !options_.logs && dead_.contains(life); };
	const prism::test::CheckReport report =
		prism::test::check(options_.work == Work::table ? left_in_table(history)
								: gam_test::survivors(history, life_of, has_died));
	fmt::print("{}: {} operations on {} registers or keys\n", prism::test::name_of(report.verdict), history.size(),
		report.keys);
	if (history.size() < least_operations)
		fail("the nodes have done next to nothing");
	findings_ += report.verdict == prism::test::Verdict::violated;
	if (report.verdict > prism::test::Verdict::violated)
		fail("the history cannot be checked");
	if (options_.flaw != Flaw::none)
		return;
	for (const auto &finding : report.findings)
		fmt::print("{}\n", prism::test::describe(finding, "register"));
}

std::optional<unsigned> Run::conclude() const
{
	fmt::print("{} lives, {} died, {} of them were expelled; {} findings\n", next_life_, dead_.size(), expelled_,
		findings_);
	return good_ ? std::optional(findings_) : std::nullopt;
}

std::optional<unsigned> Run::go()
{
	std::filesystem::remove_all(options_.folder);
	std::filesystem::create_directories(options_.folder);
	if (!stage_ || !begin_master())
		return std::nullopt;
	for (unsigned node = 0; node < options_.nodes; node++)
		nodes_.push_back(begin_node(node));
	if (!await_ready())
		return std::nullopt;
	disturb();
	stage_->over = true;
	for (auto process = nodes_.rbegin(); process != nodes_.rend(); ++process)
		end(*process);
	nodes_.clear();
	if (stage_->homeless && !dead_.contains(0)) /* if a busy machine has cost it its lease, it is dead */
		fail("the table's home is said to be gone, and lives");
	if (options_.work != Work::bank)
		check_histories();
	return conclude();
}

} // namespace gam_history
