/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-hostile-rings: a process that writes rubbish to the queues it shares with the module, in data and headers,
 * while doorbells ring and a well-behaved peer sends to its queue pairs. The kernel must survive, stay silent, and
 * serve others as before.
 */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "device.hpp"
#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

struct Options {
	std::string device;
	unsigned seconds = 10;
	std::uint64_t seed = 1;
	std::int64_t opcode = -1;
	bool handles = false;
};

constexpr std::size_t memory_size = 64 << 10;

Path loopback(const Device &device)
{
	Path path;
	path.source = path.destination = device.some_gid(false);
	path.mtu = 1024;
	path.send_psn = path.recv_psn = 0xfffff0;
	path.timeout = 8; /* 1 ms: unanswered requests are repeated, and soon given up */
	path.retry = 1;
	return path;
}

/** The process's own queues, all of them spoilt, and a peer's, which are not. */
class Round
{
public:
	Round(const Device &device, std::uint64_t seed, std::int64_t opcode);
	void run(std::chrono::milliseconds time);
	[[nodiscard]] std::size_t rings() const { return rings_.size(); }
	static inline std::uint64_t doorbells = 0, rubbish = 0, reconnections = 0, sent = 0;

private:
	struct Pair {
		Owned<ibv_qp> victim, peer;
	};

	void note(Kind kind, Kind also);
	void add_pair(const QpLimits &limits);
	void reconnect(Pair &pair);
	/** Runs @p action while no rubbish is written. */
	void in_peace(const std::function<void()> &action);
	void tidy(const std::vector<Ring> &rings) const;
	void drive(Pair &pair);
	void resize();

	const Device &device_;
	const std::int64_t opcode_;
	Finder finder_;
	test::Random random_;
	MemoryRegion memory_, peers_memory_;
	Owned<ibv_cq> cq_, peers_cq_;
	Owned<ibv_srq> srq_, list_;
	Owned<ibv_mw> window_;
	Handle ah_;
	std::vector<Pair> pairs_;
	Owned<ibv_qp> datagrams_;
	std::vector<Ring> rings_;
	ValidNames names_;
	std::mutex quiet_;                     /* held where the provider reads a completion queue */
	std::atomic<bool> wants_quiet_{false}; /* a mutex alone is unfair to a thread that rarely asks */
};

void Round::note(Kind kind, Kind also)
{
	const std::vector<Ring> found = finder_.take(kind, also);
	rings_.insert(rings_.end(), found.begin(), found.end());
}

Round::Round(const Device &device, std::uint64_t seed, std::int64_t opcode)
	: device_(device), opcode_(opcode), random_(seed),
	  memory_(device.pd(), memory_size, every_right | IBV_ACCESS_MW_BIND), peers_memory_(device.pd(), memory_size)
{
	peers_cq_ = create_cq(device, 1024);
	finder_.take(Kind::completions, Kind::completions);
	cq_ = create_cq(device, 64);
	note(Kind::completions, Kind::completions);
	srq_ = create_srq(device, device.pd(), 16, false);
	list_ = create_srq(device, device.pd(), 16, true);
	note(Kind::receives, Kind::receives);
	window_.reset(made(ibv_alloc_mw(device.pd(), IBV_MW_TYPE_2), "ibv_alloc_mw"));
	ah_ = own_handle(device);
	QpLimits prism, ordinary, shared;
	ordinary.prism = shared.prism = false;
	shared.srq = srq_.get();
	for (const QpLimits &limits : {prism, ordinary, shared, prism})
		add_pair(limits);
	QpLimits datagrams = ordinary;
	datagrams.type = IBV_QPT_UD;
	datagrams_ = create_qp(device, device.pd(), cq_.get(), datagrams);
	note(Kind::receives, Kind::sends);
	set_up_datagrams(datagrams_.get());

	names_.va = memory_.va();
	names_.length = memory_size;
	names_.keys = {memory_.key(), memory_.key(), peers_memory_.key(), window_->rkey};
	names_.ah_numbers = {0, 1, 2, 3, ah_->handle};
	names_.lists = {number_of(list_.get()), number_of(srq_.get())};
	for (const Pair &pair : pairs_)
		names_.qpns.push_back(pair.peer->qp_num);
}

void Round::add_pair(const QpLimits &limits)
{
	QpLimits sane = limits;
	sane.srq = nullptr;
	Pair pair;
	pair.peer = create_qp(device_, device_.pd(), peers_cq_.get(), sane);
	finder_.take(Kind::completions, Kind::completions); /* the peer's are not spoilt */
	pair.victim = create_qp(device_, device_.pd(), cq_.get(), limits);
	const Kind sends = limits.prism ? Kind::prism_sends : Kind::sends;
	note(limits.srq ? sends : Kind::receives, sends);
	pairs_.push_back(std::move(pair));
	connect_both(device_, pairs_.back().victim.get(), pairs_.back().peer.get(), loopback(device_));
}

/** Posts SENDs for the receive queues, ALLOCATEs for the free list, WRITEs and READs, all of them faultless */
void Round::drive(Pair &pair)
{
	static constexpr unsigned opcodes[] = {IBV_WR_SEND, IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		PRISMDV_WR_ALLOCATE, PRISMDV_WR_ALLOCATE, PRISMDV_WR_CAS};
	const unsigned opcode = opcodes[random_.below(std::size(opcodes))];
	static const std::uint64_t operands[2] = {1, 2};
	prismdv_send_wr wr{};
	ibv_sge sge = peers_memory_.sge(0, opcode == PRISMDV_WR_CAS ? 8 : 200);
	wr.wr.wr_id = 1;
	std::memcpy(&wr.wr.opcode, &opcode, sizeof(opcode));
	wr.wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.sg_list = &sge;
	wr.wr.num_sge = 1;
	wr.wr.wr.rdma = {memory_.va(), memory_.key()};
	if (opcode == PRISMDV_WR_ALLOCATE)
		wr.allocate = {number_of(list_.get()), 0, {}};
	else if (opcode == PRISMDV_WR_CAS)
		wr.cas = {PRISMDV_CAS_EQ, 0, 8, 0, &operands[0], &operands[1], nullptr, nullptr};
	ibv_send_wr *bad;
	sent += !ibv_post_send(pair.peer.get(), &wr.wr, &bad);
	ibv_wc wcs[16];
	while (ibv_poll_cq(peers_cq_.get(), 16, wcs) > 0)
		;
}

/**
 * Empties completion queues: the provider searches them when a queue pair is destroyed, and believes their contents.
 */
void Round::tidy(const std::vector<Ring> &rings) const
{
	for (const Ring &ring : rings)
		if (ring.kind == Kind::completions) {
			ring.header()->consumer_index = 0;
			ring.header()->producer_index = 0;
		}
}

void Round::in_peace(const std::function<void()> &action)
{
	/* Also if the action fails */
	const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool> *)> wish(
		&wants_quiet_, [](std::atomic<bool> *wants) { *wants = false; });
	wants_quiet_ = true;
	const std::lock_guard guard(quiet_);
	tidy(rings_);
	action();
}

void Round::reconnect(Pair &pair)
{
	if (state_of(pair.victim.get()) == IBV_QPS_RTS && state_of(pair.peer.get()) == IBV_QPS_RTS)
		return;
	try {
		in_peace([&] { connect_both(device_, pair.victim.get(), pair.peer.get(), loopback(device_)); });
		reconnections++;
	} catch (const std::exception &) {
		/* The first of the two to be connected processes the rubbish in its rings at once, which may break it
		 * or the other one before both are connected: then the next attempt connects them. */
		if (state_of(pair.victim.get()) != IBV_QPS_ERR && state_of(pair.peer.get()) != IBV_QPS_ERR)
			throw;
	}
}

/** Resizes queues: the kernel copies them by indices that are rubbish. Both may be refused. */
void Round::resize()
{
	ibv_resize_cq(cq_.get(), static_cast<int>(random_.between(1, 300)));
	ibv_srq_attr attr{};
	attr.max_wr = static_cast<std::uint32_t>(random_.between(1, 100));
	attr.srq_limit = static_cast<std::uint32_t>(random_.below(20));
	ibv_modify_srq(random_.chance(50) ? srq_.get() : list_.get(), &attr, IBV_SRQ_MAX_WR);
	ibv_modify_srq(random_.chance(50) ? srq_.get() : list_.get(), &attr, IBV_SRQ_LIMIT);
}

void Round::run(std::chrono::milliseconds time)
{
	const std::uint64_t seed = random_.bits();
	std::jthread spoiler([&](const std::stop_token &stop) {
		Spoiler spoil(names_, seed, opcode_);
		test::Random choice(seed + 1);
		while (!stop.stop_requested()) {
			/* The thread that asked for quiet may have failed, and then waits for this thread. */
			while (wants_quiet_ && !stop.stop_requested())
				std::this_thread::yield();
			{
				const std::lock_guard guard(quiet_);
				spoil.spoil(rings_[choice.below(rings_.size())]);
			}
			rubbish++;
			if (rubbish % 8 == 0)
				std::this_thread::yield();
		}
	});
	std::jthread bell([&](const std::stop_token &stop) {
		while (!stop.stop_requested()) {
			for (const Pair &pair : pairs_)
				ring_doorbell(pair.victim.get());
			ring_doorbell(datagrams_.get());
			doorbells += pairs_.size() + 1;
		}
	});
	const auto deadline = Clock::now() + time;
	for (unsigned i = 0; Clock::now() < deadline; i++) {
		Pair &pair = pairs_[random_.below(pairs_.size())];
		drive(pair);
		if (i % 16 == 0)
			reconnect(pair);
		if (i % 64 == 0 && state_of(datagrams_.get()) != IBV_QPS_RTS)
			in_peace([&] { set_up_datagrams(datagrams_.get()); });
		if (i % 32 == 0)
			device_.take_events();
	}
	spoiler.request_stop();
	bell.request_stop();
	spoiler.join();
	bell.join();
	/* This changes the mappings, so nobody may write there any more. */
	resize();
	const std::vector<Mapping> left = uverbs_mappings();
	std::erase_if(rings_,
		[&](const Ring &ring) { return std::find(left.begin(), left.end(), ring.mapping) == left.end(); });
	tidy(rings_);
	tidy(finder_.take(Kind::completions, Kind::completions));
	device_.take_events();
}

/** Runs a chain over fresh objects; returns true if everything is as it should be. */
bool normal_exchange(const Device &device)
{
	MemoryRegion memory(device.pd(), memory_size);
	const Owned<ibv_cq> cq = create_cq(device);
	const Owned<ibv_qp> a = create_qp(device, device.pd(), cq.get()), b = create_qp(device, device.pd(), cq.get());
	const Owned<ibv_srq> list = create_srq(device, device.pd(), 4, true);
	Path path = loopback(device);
	path.timeout = 17;
	path.retry = 7;
	connect_both(device, a.get(), b.get(), path);
	check(post_buffer(list.get(), 1, memory.sge(8192, 1024)), "ibv_post_srq_recv");
	std::memset(memory.data(), 0x42, 100);
	ibv_sge data = memory.sge(0, 100), old = memory.sge(512, 8);
	const std::uint64_t zero = 0;
	prismdv_send_wr wrs[2]{};
	const unsigned allocate = PRISMDV_WR_ALLOCATE, cas = PRISMDV_WR_CAS;
	std::memcpy(&wrs[0].wr.opcode, &allocate, sizeof(allocate));
	std::memcpy(&wrs[1].wr.opcode, &cas, sizeof(cas));
	wrs[0].wr.next = &wrs[1].wr;
	wrs[0].wr.sg_list = &data;
	wrs[0].wr.num_sge = wrs[1].wr.num_sge = 1;
	wrs[0].flags = PRISMDV_WR_REDIRECT;
	wrs[0].aux = {memory.va(1024), memory.key(), 0};
	wrs[0].allocate = {number_of(list.get()), 0, {}};
	wrs[1].wr.sg_list = &old;
	wrs[1].wr.wr.rdma = {memory.va(2048), memory.key()};
	wrs[1].wr.send_flags = IBV_SEND_SIGNALED;
	wrs[1].flags = PRISMDV_WR_CONDITIONAL | PRISMDV_WR_DATA_INDIRECT;
	wrs[1].aux = {memory.va(1024), memory.key(), 0};
	wrs[1].cas = {PRISMDV_CAS_EQ, 0, 8, 0, &zero, nullptr, nullptr, nullptr};
	ibv_send_wr *bad;
	check(ibv_post_send(a.get(), &wrs[0].wr, &bad), "ibv_post_send");
	const std::optional<ibv_wc> wc = next_completion(cq.get());
	return wc && wc->status == IBV_WC_SUCCESS && wc->vendor_err == PRISMDV_STATUS_OK &&
	       memory.word(2048) == memory.va(8192) && !std::memcmp(memory.data() + 8192, memory.data(), 100);
}

/** Runs the checks that need a certain entry or command, and no rubbish; returns true if any fails. */
bool checks_fail(const Device &device)
{
	bool failed = false;
	for (const auto one : {unknown_is_refused, flushes_end, answers_are_clean, receives_are_checked,
		     failures_complete_once, duplicates_find_their_own, nothing_is_waited_for_in_vain,
		     last_receive_is_told_once, large_regions_are_taken})
		try {
			one(device);
		} catch (const std::exception &error) {
			fmt::print("FAIL: {}\n", error.what());
			failed = true;
		}
	return failed;
}

int run(const Options &options)
{
	const Device device(options.device);
	if (options.handles) {
		name_handles_of_others(device, options.seconds, options.seed);
		return 0;
	}
	const auto deadline = Clock::now() + std::chrono::seconds(options.seconds);
	std::uint64_t rounds = 0;
	std::size_t rings = 0;
	do {
		Round round(device, options.seed + rounds, options.opcode);
		rings = round.rings();
		round.run(std::chrono::milliseconds(700));
		rounds++;
	} while (Clock::now() < deadline);
	fmt::print("{} rounds, {} queues, {} times rubbish, {} doorbells, {} requests of the peer, {} reconnections\n",
		rounds, rings, Round::rubbish, Round::doorbells, Round::sent, Round::reconnections);
	/* completions, two SRQs, sends and receives of five queue pairs, one of them with an SRQ */
	if (rings < 12) {
		fmt::print("FAIL: {} queues found, expected 12\n", rings);
		return 1;
	}
	const Device fresh(options.device);
	const bool failed = checks_fail(fresh);
	if (!normal_exchange(fresh)) {
		fmt::print("FAIL: no normal exchange afterwards\n");
		return 1;
	}
	return failed ? 1 : 0;
}

} // namespace

} // namespace prism::hostile

int main(int argc, char **argv)
{
	prism::hostile::Options options;
	prism::cli::CommandLine app{"Rubbish in the queues shared with the kernel module"};
	app.add_option("--device", options.device, "PRISM device").required();
	app.add_option("--seconds", options.seconds, "how long");
	app.add_option("--seed", options.seed, "seed of the rubbish");
	app.add_option("--opcode", options.opcode, "this opcode alone, to find out what is to blame");
	app.add_flag(
		"--handles", options.handles, "instead, send to address handles of others, which somebody else makes");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	try {
		return prism::hostile::run(options);
	} catch (const std::exception &error) {
		fmt::print(stderr, "FAIL: {}\n", error.what());
		return 1;
	}
}
