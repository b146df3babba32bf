/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A random walk over all operations, modes, masks and modifiers, legal and not, that checks an implementation against
 * the reference: outcomes, memory, chain state, free lists and counters must agree after every batch of requests.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include <fmt/core.h>

#include "backend.hpp"
#include "base/command_line.hpp"
#include "generator.hpp"
#include "wire_peer.hpp"

namespace prism::conformance
{

using reference::Outcome;
using reference::Request;
using reference::Rights;
using reference::World;

namespace
{

constexpr const char *op_names[] = {"READ", "WRITE", "CAS", "ALLOCATE", "read", "write", "swap", "add"};
constexpr const char *verdict_names[] = {"completed", "invalid-request", "access-error", "flushed"};
constexpr const char *status_names[] = {"OK", "CAS_MISS", "NULL_POINTER", "NO_BUFFER", "SKIPPED"};
constexpr const char *reason_names[] = {
	"-", "format", "flags", "operand", "alignment", "access", "free-list", "too-large"};
constexpr std::size_t most_in_batch = 8;

std::string flag_letters(unsigned flags)
{
	std::string text;
	constexpr const char *letters = "TDBCR";
	for (unsigned i = 0; i < 5; i++)
		if (flags >> i & 1)
			text += letters[i];
	return text;
}

std::string describe(const Request &r)
{
	return fmt::format("{} [{}] region {} va {:#x} aux {} {:#x} length {} payload {} list {} n {} mode {} "
			   "compare-data {} mangle {}@{}",
		op_names[static_cast<int>(r.op)], flag_letters(r.flags), r.region, r.va, r.aux_region, r.aux_va,
		r.length, r.payload.size(), r.list, r.size, r.mode, r.compare_data, static_cast<int>(r.mangle),
		r.mangled_packet);
}

std::string describe(const Outcome &o)
{
	std::string bytes;
	for (std::size_t i = 0; i < std::min<std::size_t>(o.local.size(), 40); i++)
		bytes += fmt::format("{:02x}", o.local[i]);
	return fmt::format("{} {} reason {} byte_len {} local[{}] {}", verdict_names[static_cast<int>(o.verdict)],
		status_names[static_cast<int>(o.status)], reason_names[static_cast<int>(o.reason)], o.byte_len,
		o.local.size(), bytes);
}

class Walk
{
public:
	Walk(std::unique_ptr<Backend> backend, std::uint64_t seed, std::uint32_t mtu)
		: backend_(std::move(backend)), seed_(seed), random_(seed), world_(make_world(mtu, random_)),
		  generator_(world_, random_, backend_->raw(), backend_->mangles())
	{
		backend_->build(world_);
		reset();
	}

	bool run(std::uint64_t steps)
	{
		while (done_ < steps && ok_)
			batch();
		return ok_;
	}

	[[nodiscard]] std::uint64_t done() const { return done_; }
	void print_coverage() const
	{
		for (const auto &[what, count] : coverage_)
			fmt::print("  {:<48} {}\n", what, count);
	}

private:
	void reset();
	void batch();
	void shake();
	void refuse(const Request &request);
	void compare_outcomes(const std::vector<Outcome> &expected, const std::vector<Outcome> &got);
	void compare_memory();
	void settle_overlap();
	void compare_lists();
	void mismatch(const std::string &what);
	void note(const Request &request, const Outcome &outcome);

	std::unique_ptr<Backend> backend_;
	const std::uint64_t seed_;
	test::Random random_;
	World world_;
	Generator generator_;
	std::vector<Request> requests_;
	std::vector<std::uint64_t> posted_ = std::vector<std::uint64_t>(list_count);
	std::vector<std::uint64_t> rejected_ = std::vector<std::uint64_t>(list_count);
	std::uint64_t done_ = 0;
	bool ok_ = true;
	std::map<std::string, std::uint64_t> coverage_;
	std::uint64_t *cells_[8][4][8] = {}; /* into coverage_: operation, verdict, status or reason */
};

void Walk::mismatch(const std::string &what)
{
	if (ok_) {
		fmt::print("MISMATCH backend {} seed {} step {}: {}\n", backend_->name(), seed_, done_, what);
		for (const Request &request : requests_)
			fmt::print("  {}\n", describe(request));
	}
	ok_ = false;
}

void Walk::reset()
{
	Rights access = reference::all_rights;
	if (backend_->checks_qp_access() && random_.chance(10))
		access = {true, random_.chance(50), random_.chance(50), random_.chance(50)};
	world_.reset(access);
	backend_->reset(access);
}

/** Acts as the responder's owner between batches: posts buffers, registers and deregisters. */
void Walk::shake()
{
	if (random_.chance(55)) {
		const int list = random_.chance(97) ? int{list_own} : int{list_foreign};
		reference::FreeList &to = world_.lists[static_cast<std::size_t>(list)];
		const reference::Entry entry = generator_.entry();
		const bool room = std::count_if(to.entries.begin(), to.entries.end(),
					  [](const reference::Entry &e) { return !e.taken_back; }) < to.capacity;
		if (backend_->post(list, entry) != room)
			mismatch("posting to a free list succeeds when it should not, or fails when it should not");
		if (room) {
			to.entries.push_back(entry);
			posted_[static_cast<std::size_t>(list)]++;
		}
	}
	if (random_.chance(2)) {
		reference::Region &region = world_.regions[region_dynamic];
		region.live = !region.live;
		region.generation += region.live;
		backend_->set_live(region_dynamic, region.live);
	}
}

/** Posts a request that verbs refuse; it must have no effect. */
void Walk::refuse(const Request &request)
{
	if (!backend_->refuses(request))
		mismatch("not refused when it was posted: " + describe(request));
	coverage_[fmt::format("{} refused when posted", op_names[static_cast<int>(request.op)])]++;
}

void Walk::batch()
{
	shake();
	requests_.clear();
	std::vector<Outcome> expected;
	const std::uint64_t size = random_.between(1, most_in_batch);
	while (requests_.size() < size) {
		std::vector<Poke> pokes;
		Request request = generator_.request(pokes);
		if (!backend_->raw() && !world_.well_formed(request)) {
			refuse(request);
			continue;
		}
		requests_.push_back(std::move(request));
		/* Memory is set before the batch; a poke into a batch under way would race with it. */
		if (requests_.size() == 1)
			for (const Poke &poke : pokes) {
				world_.poke(poke.va, poke.bytes);
				backend_->poke(poke.va, poke.bytes);
			}
		expected.push_back(world_.execute(requests_.back()));
		note(requests_.back(), expected.back());
		if (world_.overlap)
			break;
	}
	const std::vector<Outcome> got = backend_->run(requests_);
	done_ += requests_.size();
	compare_outcomes(expected, got);
	settle_overlap();
	compare_memory();
	compare_lists();
	if (!world_.broken && backend_->chain_ok().value_or(world_.chain_ok) != world_.chain_ok)
		mismatch(fmt::format("chain state is not {}", world_.chain_ok));
	if (const std::string complaint = backend_->complaint(); !complaint.empty())
		mismatch(complaint);
	if (world_.broken || random_.chance(0.1))
		reset();
}

void Walk::compare_outcomes(const std::vector<Outcome> &expected, const std::vector<Outcome> &got)
{
	if (expected.size() != got.size()) {
		mismatch(fmt::format("{} outcomes for {} requests", got.size(), expected.size()));
		return;
	}
	for (std::size_t i = 0; i < expected.size(); i++)
		if (expected[i] != got[i]) {
			mismatch(fmt::format("request {} of the batch\n  request  {}\n  expected {}\n  got      {}", i,
				describe(requests_[i]), describe(expected[i]), describe(got[i])));
			return;
		}
}

/** A move between overlapping ranges may leave any of the old bytes (S.2): copies those that it left. */
void Walk::settle_overlap()
{
	if (!world_.overlap)
		return;
	const World::Overlap &overlap = *world_.overlap;
	for (std::size_t a = 0; a < world_.arenas.size(); a++) {
		const std::uint64_t offset = overlap.to - world_.arenas[a].va;
		if (offset >= world_.arenas[a].bytes.size())
			continue;
		const std::span<const std::uint8_t> memory = backend_->memory(a);
		for (std::uint64_t i = 0; i < overlap.length; i++) {
			const std::uint8_t byte = memory[offset + i];
			if (std::find(overlap.source.begin(), overlap.source.end(), byte) != overlap.source.end())
				world_.arenas[a].bytes[offset + i] = byte;
		}
	}
	world_.overlap.reset();
}

void Walk::compare_memory()
{
	for (std::size_t a = 0; a < world_.arenas.size(); a++) {
		const reference::Arena &arena = world_.arenas[a];
		const std::span<const std::uint8_t> memory = backend_->memory(a);
		const auto at = std::mismatch(arena.bytes.begin(), arena.bytes.end(), memory.begin()).first;
		if (at == arena.bytes.end())
			continue;
		const auto offset = static_cast<std::size_t>(at - arena.bytes.begin());
		mismatch(fmt::format(
			"memory at {:#x}: {:02x}, expected {:02x}", arena.va + offset, memory[offset], *at));
	}
}

void Walk::compare_lists()
{
	for (int i = 0; i < list_count; i++) {
		if (i == list_ordinary)
			continue;
		const auto index = static_cast<std::size_t>(i);
		reference::FreeList &list = world_.lists[index];
		rejected_[index] += list.rejected.size();
		if (backend_->take_rejected(i) != list.rejected)
			mismatch("reports of bad entries differ");
		list.rejected.clear();
		const ListState expected{
			posted_[index], list.popped, rejected_[index], list.reclaimed, list.entries.size()};
		const ListState got = backend_->list_state(i);
		if (got != expected)
			mismatch(fmt::format("free list {}: posted {} popped {} rejected {} reclaimed {} available {}, "
					     "expected {} {} {} {} {}",
				i, got.posted, got.popped, got.rejected, got.reclaimed, got.available, expected.posted,
				expected.popped, expected.rejected, expected.reclaimed, expected.available));
	}
}

void Walk::note(const Request &request, const Outcome &outcome)
{
	const int op = static_cast<int>(request.op);
	if (outcome.verdict == reference::Verdict::flushed)
		return;
	const char *how = outcome.verdict == reference::Verdict::completed
				  ? status_names[static_cast<int>(outcome.status)]
				  : reason_names[static_cast<int>(outcome.reason)];
	std::uint64_t *&cell =
		cells_[op][static_cast<int>(outcome.verdict)]
		      [outcome.verdict == reference::Verdict::completed ? static_cast<std::size_t>(outcome.status)
									: static_cast<std::size_t>(outcome.reason)];
	if (!cell)
		cell = &coverage_[fmt::format(
			"{} {} {}", op_names[op], verdict_names[static_cast<int>(outcome.verdict)], how)];
	++*cell;
}

struct Options {
	std::uint64_t steps = 1'000'000;
	std::uint64_t seed = 1;
	std::string backend = "all";
	std::string device;
	WirePath path;
	std::uint32_t mtu = 256;
	bool coverage = false;
};

bool walk(const Options &options, std::unique_ptr<Backend> backend)
{
	const std::string name = backend->name();
	const auto start = std::chrono::steady_clock::now();
	Walk run(std::move(backend), options.seed, options.mtu);
	const bool ok = run.run(options.steps);
	const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
	if (options.coverage && ok) /* otherwise the mismatch is the last output */
		run.print_coverage();
	fmt::print("differential walk: backend {} seed {} mtu {}: {} steps, {:.1f} s, {}\n", name, options.seed,
		options.mtu, run.done(), seconds.count(), ok ? "no mismatch" : "MISMATCH");
	return ok;
}

int main_(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Random walk of PRISM requests against the reference interpreter"};
	app.add_option("--steps", options.steps, "requests to execute with each back-end");
	app.add_option("--seed", options.seed, "seed of the walk");
	app.add_option("--backend", options.backend,
		   "executor, engine, all for both; device: two queue pairs of a kernel device; wire: packets to one")
		.check(cli::IsMember({"executor", "engine", "all", "device", "wire"}));
	app.add_option("--device", options.device, "name of the kernel device");
	app.add_option("--namespace", options.path.network_namespace, "wire: network namespace to send packets from");
	app.add_option("--peer-address", options.path.peer, "wire: address to send them from");
	app.add_option("--device-address", options.path.device, "wire: address of the device");
	app.add_option("--mtu", options.mtu, "path MTU in bytes").check(cli::IsMember({256, 512, 1024, 2048, 4096}));
	app.add_flag("--coverage", options.coverage, "print how often each operation ended in each way");
	if (const auto early = app.parse(argc, argv))
		return early->print();

	bool ok = true;
	if (options.backend == "device")
		return walk(options, make_device_backend(options.device)) ? 0 : 1;
	if (options.backend == "wire")
		return walk(options, make_wire_backend(options.device, options.path)) ? 0 : 1;
	if (options.backend != "engine")
		ok = walk(options, make_executor_backend()) && ok;
	if (options.backend != "executor")
		ok = walk(options, make_engine_backend()) && ok;
	return ok ? 0 : 1;
}

} // namespace

} // namespace prism::conformance

int main(int argc, char **argv)
{
	return prism::conformance::main_(argc, argv);
}
