/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-under-traffic: memory windows and their bounds, and then regions, lists, windows and queue pairs that are
 * destroyed while others hammer them with PRISM requests. Once a region's deregistration has returned, no request
 * writes there.
 */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "random.hpp"
#include "requests.hpp"

namespace prism
{

using namespace conformance;

namespace
{

constexpr std::size_t region_size = 32 << 10, buffer_size = 512;
constexpr unsigned buffers = 15, hammers = 2;
constexpr std::uint8_t mark = 0x3d;
unsigned failures = 0;

void expect(bool condition, const std::string &what)
{
	if (condition)
		return;
	failures++;
	fmt::print("FAIL: {}\n", what);
}

Path loopback(const Device &device)
{
	Path path;
	path.source = path.destination = device.some_gid(false);
	path.send_psn = path.recv_psn = 0xfffff0;
	path.timeout = 10; /* 4 ms: a queue pair that is destroyed does not answer */
	path.retry = 2;
	return path;
}

/* Windows ------------------------------------------------------------------------------------------------------ */

struct WindowCase {
	const char *what;
	ibv_mw_type type;
	unsigned access;
};

class Windows
{
public:
	explicit Windows(const Device &device)
		: device_(device), cq_(create_cq(device)), a_(create_qp(device, device.pd(), cq_.get())),
		  b_(create_qp(device, device.pd(), cq_.get())),
		  memory_(device.pd(), region_size, every_right | IBV_ACCESS_MW_BIND), local_(device.pd(), 4096)
	{
	}

	void run()
	{
		constexpr unsigned rights = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
		for (const WindowCase &c :
			{WindowCase{"type 1", IBV_MW_TYPE_1, rights}, WindowCase{"type 2", IBV_MW_TYPE_2, rights},
				WindowCase{"type 2, zero-based", IBV_MW_TYPE_2, rights | IBV_ACCESS_ZERO_BASED}}) {
			const std::uint64_t base = c.access & IBV_ACCESS_ZERO_BASED ? 0 : memory_.va(start);
			expect(reads(c, base, 64) == IBV_WC_SUCCESS, "the beginning of the window");
			expect(reads(c, base + length - 64, 64) == IBV_WC_SUCCESS, "the end of the window");
			expect(reads(c, base - 1, 64) == IBV_WC_REM_ACCESS_ERR, "a byte in front of the window");
			expect(reads(c, base + length - 63, 64) == IBV_WC_REM_ACCESS_ERR, "a byte behind the window");
			expect(reads(c, base + length, 1) == IBV_WC_REM_ACCESS_ERR, "behind the window");
			expect(reads(c, base + 8, 0xffffff) == IBV_WC_REM_ACCESS_ERR, "a length beyond all bounds");
			if (base == 0)
				expect(reads(c, memory_.va(start), 8) == IBV_WC_REM_ACCESS_ERR,
					"an address of the region in a zero-based window");
			expect(swaps(c, base + 64) == IBV_WC_REM_ACCESS_ERR, "an atomic without the right");
		}
	}

private:
	static constexpr std::size_t start = 4096 + 64, length = 4096;

	/** Makes a fresh connection and a window bound on its responder. */
	Owned<ibv_mw> bind(const WindowCase &c)
	{
		connect_both(device_, a_.get(), b_.get(), loopback(device_));
		Owned<ibv_mw> window(made(ibv_alloc_mw(device_.pd(), c.type), "ibv_alloc_mw"));
		ibv_mw_bind_info info{memory_.mr(), memory_.va(start), length, c.access};
		if (c.type == IBV_MW_TYPE_1) {
			ibv_mw_bind bind{1, IBV_SEND_SIGNALED, info};
			check(ibv_bind_mw(b_.get(), window.get(), &bind), "ibv_bind_mw");
		} else {
			ibv_send_wr wr{}, *bad;
			wr.opcode = IBV_WR_BIND_MW;
			wr.send_flags = IBV_SEND_SIGNALED;
			wr.bind_mw = {window.get(), ibv_inc_rkey(window->rkey), info};
			check(ibv_post_send(b_.get(), &wr, &bad), "IBV_WR_BIND_MW");
			window->rkey = wr.bind_mw.rkey;
		}
		const std::optional<ibv_wc> wc = next_completion(cq_.get());
		expect(wc && wc->status == IBV_WC_SUCCESS, fmt::format("binding a window of {}", c.what));
		return window;
	}

	ibv_wc_status run(prismdv_send_wr wr)
	{
		check(post(a_.get(), wr), "ibv_post_send");
		const std::optional<ibv_wc> wc = next_completion(cq_.get());
		set_state(a_.get(), IBV_QPS_RESET);
		set_state(b_.get(), IBV_QPS_RESET);
		return wc ? wc->status : IBV_WC_GENERAL_ERR;
	}

	/** Expects that standard READs and those of PRISM end alike; returns their status. */
	ibv_wc_status reads(const WindowCase &c, std::uint64_t va, std::uint32_t bytes)
	{
		const ibv_wc_status status = prism_reads(c, va, bytes);
		if (bytes <= local_.size()) {
			const Owned<ibv_mw> window = bind(c);
			ibv_sge sge = local_.sge(0, bytes);
			expect(run(work_request(IBV_WR_RDMA_READ, &sge, va, window->rkey)) == status,
				fmt::format("a standard READ of {} bytes through a window of {}", bytes, c.what));
		}
		return status;
	}

	ibv_wc_status prism_reads(const WindowCase &c, std::uint64_t va, std::uint32_t bytes)
	{
		const Owned<ibv_mw> window = bind(c);
		if (bytes > local_.size()) {
			prismdv_send_wr wr = work_request(PRISMDV_WR_READ, nullptr, va, window->rkey);
			wr.flags = PRISMDV_WR_REDIRECT;
			wr.aux = {memory_.va(), memory_.key(), std::min(bytes, 1u << 20)};
			return run(wr);
		}
		ibv_sge sge = local_.sge(0, bytes);
		return run(work_request(PRISMDV_WR_READ, &sge, va, window->rkey));
	}

	ibv_wc_status swaps(const WindowCase &c, std::uint64_t va)
	{
		const Owned<ibv_mw> window = bind(c);
		const std::uint64_t operand = 0;
		ibv_sge sge = local_.sge(0, 8);
		prismdv_send_wr wr = work_request(PRISMDV_WR_CAS, &sge, va, window->rkey);
		wr.cas = {PRISMDV_CAS_EQ, 0, 8, 0, &operand, &operand, nullptr, nullptr};
		return run(wr);
	}

	const Device &device_;
	Owned<ibv_cq> cq_;
	Owned<ibv_qp> a_, b_;
	MemoryRegion memory_, local_;
};

/* Traffic ------------------------------------------------------------------------------------------------------ */

/** Objects that may be destroyed at any time; requests use these names, valid or stale. */
struct Targets {
	std::atomic<std::uint32_t> key, list, window_key;
	std::uint64_t va = 0, scratch_va = 0, window_va = 0;
	std::uint32_t scratch_key = 0;
};

/** A pair of queue pairs; the destroyer may replace the responder. */
class Hammer
{
public:
	Hammer(const Device &device, const Targets &targets, std::uint64_t seed)
		: device_(device), targets_(targets), random_(seed), cq_(create_cq(device, 256)),
		  responder_cq_(create_cq(device, 256)), a_(create_qp(device, device.pd(), cq_.get())),
		  local_(device.pd(), 8192)
	{
		replace_responder();
	}

	void replace_responder()
	{
		const std::lock_guard guard(lock_);
		b_.reset();
		b_ = create_qp(device_, device_.pd(), responder_cq_.get());
		connect_both(device_, a_.get(), b_.get(), loopback(device_));
	}

	void run(const std::stop_token &stop)
	{
		while (!stop.stop_requested()) {
			chain();
			ibv_wc wc[32];
			for (int n; (n = ibv_poll_cq(cq_.get(), 32, wc)) > 0;)
				for (int i = 0; i < n; i++)
					(wc[i].status == IBV_WC_SUCCESS ? done : failed)++;
			if (state_of(a_.get()) == IBV_QPS_RTS)
				continue;
			const std::lock_guard guard(lock_);
			connect_both(device_, a_.get(), b_.get(), loopback(device_));
			while (ibv_poll_cq(cq_.get(), 32, wc) > 0)
				;
		}
	}

	std::uint64_t done = 0, failed = 0;

private:
	/** Posts WRITEs of one packet and of several, ALLOCATEs that store their address, and moves into the region */
	void chain()
	{
		ibv_sge data = local_.sge(0, 1 + random_.below(400)), large = local_.sge(0, 4000);
		const std::uint64_t va = targets_.va + random_.below(region_size - 4000);
		prismdv_send_wr write =
			work_request(PRISMDV_WR_WRITE, random_.chance(30) ? &large : &data, va, targets_.key);
		prismdv_send_wr allocate = work_request(PRISMDV_WR_ALLOCATE, random_.chance(30) ? &large : &data);
		allocate.wr.sg_list->length = std::min<std::uint32_t>(allocate.wr.sg_list->length, buffer_size);
		allocate.flags = PRISMDV_WR_REDIRECT;
		allocate.aux = {targets_.scratch_va, targets_.scratch_key, 0};
		allocate.allocate = {targets_.list, 0, {}};
		prismdv_send_wr move = work_request(PRISMDV_WR_WRITE, nullptr, va, targets_.key);
		move.flags = PRISMDV_WR_DATA_INDIRECT | PRISMDV_WR_CONDITIONAL;
		move.aux = {targets_.scratch_va, targets_.scratch_key, 2000};
		prismdv_send_wr through =
			work_request(PRISMDV_WR_READ, &data, targets_.window_va + 64, targets_.window_key);
		prismdv_send_wr *all[] = {&write, &allocate, &move, &through};
		for (prismdv_send_wr *wr : all)
			if (random_.chance(60))
				post(a_.get(), *wr);
	}

	const Device &device_;
	const Targets &targets_;
	test::Random random_;
	std::mutex lock_;
	Owned<ibv_cq> cq_, responder_cq_;
	Owned<ibv_qp> a_, b_;
	MemoryRegion local_;
};

class Destroyer
{
public:
	Destroyer(const Device &device, std::uint64_t seed)
		: device_(device), random_(seed), pages_(region_size),
		  fixed_(device.pd(), region_size, every_right | IBV_ACCESS_MW_BIND), cq_(create_cq(device)),
		  binder_(create_qp(device, device.pd(), cq_.get())), other_(create_qp(device, device.pd(), cq_.get()))
	{
		Path path = loopback(device);
		path.timeout = 17;
		connect_both(device, binder_.get(), other_.get(), path);
		targets_.va = pages_.va();
		targets_.scratch_va = fixed_.va();
		targets_.scratch_key = fixed_.key();
		targets_.window_va = fixed_.va(4096);
		make_region();
		make_list();
		make_window();
	}

	void run(unsigned seconds)
	{
		std::vector<std::unique_ptr<Hammer>> all;
		for (unsigned i = 0; i < hammers; i++)
			all.push_back(std::make_unique<Hammer>(device_, targets_, i + 1));
		std::vector<std::jthread> threads;
		for (const auto &hammer : all)
			threads.emplace_back([&hammer](const std::stop_token &stop) { hammer->run(stop); });
		const auto deadline = Clock::now() + std::chrono::seconds(seconds);
		unsigned rounds = 0;
		for (; Clock::now() < deadline; rounds++) {
			switch (random_.below(4)) {
			case 0:
				region_goes();
				break;
			case 1:
				list_.reset();
				make_list();
				break;
			case 2:
				window_.reset();
				make_window();
				break;
			default:
				all[random_.below(hammers)]->replace_responder();
				break;
			}
			supply();
			device_.take_events();
			std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(10)));
		}
		threads.clear();
		std::uint64_t done = 0, failed = 0;
		for (const auto &hammer : all) {
			done += hammer->done;
			failed += hammer->failed;
		}
		fmt::print("{} objects destroyed, {} requests done, {} failed\n", rounds, done, failed);
		expect(done > 100 && failed > 0, "there was no traffic to speak of");
	}

private:
	void make_region()
	{
		region_.reset(made(ibv_reg_mr(device_.pd(), pages_.data(), region_size, every_right), "ibv_reg_mr"));
		targets_.key = region_->lkey;
	}

	void region_goes()
	{
		region_.reset();
		std::fill_n(pages_.data(), region_size, mark);
		std::this_thread::sleep_for(std::chrono::milliseconds(3));
		expect(std::all_of(
			       pages_.data(), pages_.data() + region_size, [](std::uint8_t b) { return b == mark; }),
			"a deregistered region was written to");
		make_region();
	}

	void make_list()
	{
		list_ = create_srq(device_, device_.pd(), buffers, true);
		targets_.list = number_of(list_.get());
	}

	/** Posts buffers in the region that is destroyed and in the one that stays */
	void supply()
	{
		for (unsigned i = 0; i < 4; i++) {
			const ibv_sge sge = random_.chance(50)
						    ? ibv_sge{pages_.va() + i * buffer_size, buffer_size, targets_.key}
						    : fixed_.sge(8192 + i * buffer_size, buffer_size);
			post_buffer(list_.get(), i, sge); /* the list may be full */
		}
	}

	void make_window()
	{
		window_.reset(made(ibv_alloc_mw(device_.pd(), IBV_MW_TYPE_1), "ibv_alloc_mw"));
		ibv_mw_bind bind{1, IBV_SEND_SIGNALED,
			{fixed_.mr(), targets_.window_va, 4096, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE}};
		check(ibv_bind_mw(binder_.get(), window_.get(), &bind), "ibv_bind_mw");
		const std::optional<ibv_wc> wc = next_completion(cq_.get());
		expect(wc && wc->status == IBV_WC_SUCCESS, "binding a window under traffic");
		targets_.window_key = window_->rkey;
	}

	const Device &device_;
	test::Random random_;
	Targets targets_{};
	Pages pages_;
	MemoryRegion fixed_;
	Owned<ibv_cq> cq_;
	Owned<ibv_qp> binder_, other_;
	Owned<ibv_mr> region_;
	Owned<ibv_srq> list_;
	Owned<ibv_mw> window_;
};

} // namespace

} // namespace prism

int main(int argc, char **argv)
{
	std::string name;
	unsigned seconds = 10;
	std::uint64_t seed = 1;
	prism::cli::CommandLine app{"Objects of a kernel device that are destroyed under traffic"};
	app.add_option("--device", name, "PRISM device").required();
	app.add_option("--seconds", seconds, "how long");
	app.add_option("--seed", seed, "seed of the choices");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	try {
		const prism::conformance::Device device(name);
		prism::Windows(device).run();
		prism::Destroyer(device, seed).run(seconds);
	} catch (const std::exception &error) {
		fmt::print(stderr, "FAIL: {}\n", error.what());
		return 1;
	}
	return prism::failures ? 1 : 0;
}
