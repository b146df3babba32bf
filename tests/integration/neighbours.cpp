/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Processes of one user, each with a context, that write to each other: by the local path, unless it is switched off.
 *
 *   neighbours pairs N      N pairs: what all of them take together
 *   neighbours star N S     one with N neighbours that are quiet for S seconds: what that costs it
 *   neighbours stopped S    two that are stopped for S seconds, one amid full rings, one before it has answered
 *   neighbours leavers N    N processes that come to one, talk and go, one in three by kill -9
 *   neighbours reopened N   one that closes its device and opens it again, N times
 *   neighbours others       root's with those of other users, who have UDP; 77 without root
 *   neighbours alone        one whose queue pairs communicate with each other
 *   neighbours forked       one whose child holds all it has open, and ends before its child
 */
#include <infiniband/prismdv.h>
#include <infiniband/verbs.h>

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rc_connection.h"

namespace
{

using namespace std::chrono_literals;

constexpr std::size_t buffer_bytes = 1 << 20;
constexpr int most_under_way = 32;

/* Value for ibv_modify_qp(): half a second, or less if no process waits for a processor. */
std::uint8_t ack_timeout = 17;

[[noreturn]] void die(const char *what)
{
	std::perror(what);
	std::_Exit(2);
}

struct Endpoint {
	ibv_gid gid{};
	std::uint32_t qpn = 0;
	std::uint32_t rkey = 0;
	std::uint64_t va = 0;
};

/** Order from the parent to a process. */
struct Order {
	char what = 0; /* see Process::run() */
	std::uint32_t edge = 0;
	std::uint32_t count = 0;
	Endpoint peer{};
};

struct Report {
	std::int64_t value = 0; /* of a write: the status of the first that failed */
	Endpoint own{};
};

struct Edge {
	ibv_qp *qp = nullptr;
	Endpoint peer{};
};

/* A process --------------------------------------------------------------------------------------------------- */

class Process
{
public:
	Process(int orders, bool big) : orders_(orders), memory_(big ? buffer_bytes : 4096) {}

	void run()
	{
		for (Order order; ::recv(orders_, &order, sizeof(order), MSG_WAITALL) == sizeof(order);) {
			Report report;
			switch (order.what) {
			case 'e': /* a new edge */
				report.own = add();
				break;
			case 'c': /* connect it */
				connect(edges_.at(order.edge), order.peer);
				break;
			case 'w': /* write, and wait */
				report.value = transfer(edges_.at(order.edge), IBV_WR_RDMA_WRITE, order.count, 8);
				break;
			case 'r': /* read much, and wait */
				report.value =
					transfer(edges_.at(order.edge), IBV_WR_RDMA_READ, order.count, buffer_bytes);
				break;
			case 'W': /* write much, and wait */
				report.value =
					transfer(edges_.at(order.edge), IBV_WR_RDMA_WRITE, order.count, buffer_bytes);
				break;
			case 'x': /* begin anew */
				reset(edges_.at(order.edge));
				break;
			case 'n': /* counters */
				report.value = counted(order.peer.qpn ? "local_rx_packets" : "local_tx_packets");
				break;
			case 'o': /* close all */
				close();
				break;
			case 'f':
				report.value = fork_one();
				break;
			default:
				std::_Exit(0);
			}
			if (::send(orders_, &report, sizeof(report), 0) != sizeof(report))
				std::_Exit(0);
		}
	}

private:
	void open()
	{
		ibv_device **const list = prismdv_get_device_list(nullptr);
		context_ = list && list[0] ? ibv_open_device(list[0]) : nullptr;
		if (!context_)
			die("cannot open a device");
		pd_ = ibv_alloc_pd(context_);
		cq_ = ibv_create_cq(context_, 256, nullptr, nullptr, 0);
		mr_ = ibv_reg_mr(pd_, memory_.data(), memory_.size(),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
		if (!pd_ || !cq_ || !mr_)
			die("cannot prepare a device");
	}

	void close()
	{
		for (const Edge &edge : edges_)
			if (ibv_destroy_qp(edge.qp))
				die("cannot destroy a queue pair");
		edges_.clear();
		if (ibv_dereg_mr(mr_) || ibv_destroy_cq(cq_) || ibv_dealloc_pd(pd_) || ibv_close_device(context_))
			die("cannot close a device");
		context_ = nullptr;
	}

	void to_init(ibv_qp *qp) const
	{
		if (rc_init(qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))
			die("to INIT");
	}

	Endpoint add()
	{
		if (!context_)
			open();
		ibv_qp_init_attr attr{};
		attr.qp_type = IBV_QPT_RC;
		attr.send_cq = attr.recv_cq = cq_;
		attr.cap = {most_under_way, 1, 1, 1, 0};
		ibv_qp *const qp = ibv_create_qp(pd_, &attr);
		if (!qp)
			die("cannot create a queue pair");
		to_init(qp);
		edges_.push_back({qp, {}});
		Endpoint own{{}, qp->qp_num, mr_->rkey, reinterpret_cast<std::uintptr_t>(memory_.data())};
		if (prismdv_query_gid(context_, 1, 0, &own.gid))
			die("no GID");
		return own;
	}

	static void connect(Edge &edge, const Endpoint &peer)
	{
		edge.peer = peer;
		const rc_peer where{peer.gid, peer.qpn, 0, ack_timeout, IBV_MTU_4096};
		if (rc_connect(edge.qp, &where))
			die("cannot connect");
	}

	void reset(const Edge &edge) const
	{
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_RESET;
		if (ibv_modify_qp(edge.qp, &attr, IBV_QP_STATE))
			die("to RESET");
		for (ibv_wc wc; ibv_poll_cq(cq_, 1, &wc) > 0;)
			;
		to_init(edge.qp);
	}

	std::int64_t transfer(const Edge &edge, ibv_wr_opcode opcode, std::uint32_t count, std::size_t size)
	{
		ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_.data()),
			static_cast<std::uint32_t>(std::min(size, memory_.size())), mr_->lkey};
		ibv_send_wr wr{}, *bad;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = opcode;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr.rdma.remote_addr = edge.peer.va;
		wr.wr.rdma.rkey = edge.peer.rkey;
		std::uint32_t posted = 0, done = 0;
		std::int64_t first_failure = 0;
		while (done < count) {
			for (; posted < count && posted - done < most_under_way; posted++)
				if (const int error = ibv_post_send(edge.qp, &wr, &bad))
					return first_failure ? first_failure : -error;
			ibv_wc wc;
			const int got = ibv_poll_cq(cq_, 1, &wc);
			if (got > 0 && wc.status != IBV_WC_SUCCESS && !first_failure)
				first_failure = wc.status;
			if (got > 0)
				done++;
			else
				std::this_thread::sleep_for(20us);
			if (first_failure && done == posted)
				return first_failure;
		}
		return first_failure;
	}

	[[nodiscard]] std::int64_t counted(std::string_view name) const
	{
		std::array<prismdv_counter, 256> counters{};
		const ssize_t count = prismdv_query_counters(context_, counters.data(), counters.size());
		for (ssize_t i = 0; i < count; i++)
			if (name == counters[static_cast<std::size_t>(i)].name)
				return static_cast<std::int64_t>(counters[static_cast<std::size_t>(i)].value);
		return -1;
	}

	static std::int64_t fork_one()
	{
		const pid_t child = ::fork();
		if (!child) {
			::pause();
			std::_Exit(0);
		}
		return child;
	}

	const int orders_;
	std::vector<char> memory_;
	ibv_context *context_ = nullptr;
	ibv_pd *pd_ = nullptr;
	ibv_cq *cq_ = nullptr;
	ibv_mr *mr_ = nullptr;
	std::vector<Edge> edges_;
};

/* The parent's side of it --------------------------------------------------------------------------------------- */

int failures = 0;

void expect(bool holds, const std::string &what)
{
	std::printf("%s: %s\n", what.c_str(), holds ? "ok" : "FAILED");
	std::fflush(stdout);
	failures += !holds;
}

/** User that a process runs as. */
enum class User {
	ours,
	nobody,
	apart, /**< in a user namespace in which root and the process itself read as nobody */
};

void become(User user)
{
	const uid_t number = user == User::nobody ? 65534 : 1234;
	if (user != User::ours && ::setresuid(number, number, number) < 0)
		die("cannot be another user");
	if (user == User::apart && ::unshare(CLONE_NEWUSER) < 0)
		die("no user namespace");
}

class Neighbour
{
public:
	explicit Neighbour(bool big = false, User user = User::ours)
	{
		std::array<int, 2> ends{};
		if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) < 0)
			die("socketpair");
		pid_ = ::fork();
		if (pid_ < 0)
			die("fork");
		if (!pid_) {
			close_others(ends[1]);
			become(user);
			Process(ends[1], big).run();
			std::_Exit(0);
		}
		::close(ends[1]);
		orders_ = ends[0];
	}
	Neighbour(Neighbour &&other) noexcept
		: pid_(std::exchange(other.pid_, 0)), orders_(std::exchange(other.orders_, -1))
	{
	}
	Neighbour &operator=(Neighbour &&) = delete;
	Neighbour(const Neighbour &) = delete;
	~Neighbour() { end(SIGKILL); }

	[[nodiscard]] pid_t pid() const { return pid_; }

	void tell(const Order &order) const
	{
		if (::send(orders_, &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order))
			die("a process is gone");
	}
	[[nodiscard]] Report hear() const
	{
		Report report;
		if (::recv(orders_, &report, sizeof(report), MSG_WAITALL) != sizeof(report))
			die("a process has ended");
		return report;
	}
	Report ask(const Order &order) const
	{
		tell(order);
		return hear();
	}
	std::int64_t write(std::uint32_t edge, std::uint32_t count = 20) const
	{
		return ask({.what = 'w', .edge = edge, .count = count}).value;
	}
	[[nodiscard]] std::int64_t sent_by_rings() const { return ask({.what = 'n'}).value; }

	/** Stops all of its threads. */
	void stop() const
	{
		::kill(pid_, SIGSTOP);
		::waitpid(pid_, nullptr, WUNTRACED);
	}

	/* Without a signal, it ends by itself at an end of file, and closes nothing. */
	void end(int signal)
	{
		if (pid_ <= 0)
			return;
		if (signal)
			::kill(pid_, signal);
		::close(orders_);
		::waitpid(pid_, nullptr, 0);
		pid_ = 0;
	}

private:
	static void close_others(int kept) /* those of the others */
	{
		for (int fd = 3; fd < 4096; fd++)
			if (fd != kept)
				::close(fd);
	}

	pid_t pid_ = 0;
	int orders_ = -1;
};

struct Link {
	std::uint32_t first = 0, second = 0; /* numbers of the edge at each */
};

/** Connects a new edge of each; each must have had as many edges as the numbers say. */
Link link(const Neighbour &first, const Neighbour &second, Link edges)
{
	const Endpoint one = first.ask({.what = 'e'}).own;
	const Endpoint other = second.ask({.what = 'e'}).own;
	first.ask({.what = 'c', .edge = edges.first, .peer = other});
	second.ask({.what = 'c', .edge = edges.second, .peer = one});
	return edges;
}

/** Both write until rings carry their packets. */
bool talk(const Neighbour &first, const Neighbour &second, Link edges)
{
	const std::int64_t before = first.sent_by_rings();
	for (int i = 0; i < 200; i++) {
		if (first.write(edges.first) || second.write(edges.second))
			return false;
		if (first.sent_by_rings() > before)
			return true;
		std::this_thread::sleep_for(5ms);
	}
	return false;
}

/** Returns seconds. */
double processor_time(pid_t pid)
{
	std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
	std::ifstream tasks;
	double sum = 0;
	const std::string folder = "/proc/" + std::to_string(pid) + "/task";
	const std::unique_ptr<DIR, int (*)(DIR *)> list(::opendir(folder.c_str()), ::closedir);
	while (const dirent *const entry = list ? ::readdir(list.get()) : nullptr) {
		std::ifstream task(folder + "/" + entry->d_name + "/schedstat");
		double nanoseconds = 0;
		if (task >> nanoseconds)
			sum += nanoseconds / 1e9;
	}
	return sum;
}

struct Memory {
	double rings_kib = 0; /* its share of the files that it has mapped */
	double bells_kib = 0;
	double all_kib = 0;
	unsigned files = 0;
};

Memory memory_of(pid_t pid)
{
	Memory memory;
	std::ifstream maps("/proc/" + std::to_string(pid) + "/smaps");
	std::string line;
	double *into = nullptr;
	while (std::getline(maps, line)) {
		double kib = 0;
		if (line.find("-") < line.find(" ") && line.find(":") > line.find(" ")) {
			into = line.find("memfd:prism-rings") != std::string::npos  ? &memory.rings_kib
			       : line.find("memfd:prism-bell") != std::string::npos ? &memory.bells_kib
										    : nullptr;
			memory.files += into != nullptr;
		} else if (std::sscanf(line.c_str(), "Pss: %lf", &kib) == 1) {
			memory.all_kib += kib;
			if (into)
				*into += kib;
		}
	}
	return memory;
}

/** Returns all shared memory of this host. */
double host_shared_kib()
{
	std::ifstream file("/proc/meminfo");
	std::string name, unit;
	for (double kib; file >> name >> kib; std::getline(file, unit))
		if (name == "Shmem:")
			return kib;
	return 0;
}

void pairs(unsigned count)
{
	const double shared_before = host_shared_kib();
	std::vector<Neighbour> all;
	all.reserve(2 * std::size_t{count});
	for (unsigned i = 0; i < 2 * count; i++)
		all.emplace_back();
	bool talked = true;
	for (unsigned i = 0; i < 2 * count; i += 2)
		talked = talk(all[i], all[i + 1], link(all[i], all[i + 1], {0, 0})) && talked;
	expect(talked, std::to_string(2 * count) + " processes talk, each to one other, by rings");
	Memory sum;
	for (const Neighbour &each : all) {
		const Memory memory = memory_of(each.pid());
		sum.rings_kib += memory.rings_kib;
		sum.bells_kib += memory.bells_kib;
		sum.all_kib += memory.all_kib;
		sum.files += memory.files;
	}
	std::printf("a pair: %.0f KiB of rings, %.0f KiB of bells; a process: %.0f KiB in all (PSS), %.1f shared files "
		    "mapped\n",
		sum.rings_kib / count, sum.bells_kib / count, sum.all_kib / (2 * count), sum.files / (2.0 * count));
	const double shared = host_shared_kib() - shared_before;
	std::printf("the host has %.0f KiB of shared memory more, %.0f KiB a pair, counters of 2 contexts among it\n",
		shared, shared / count);
	expect(sum.rings_kib + sum.bells_kib <= 256.0 * count, "at most 256 KiB a pair that talks");
	/* Files of each: its rings, its bell, that of its peer. */
	expect(sum.files == 3 * 2 * count, "nothing shared with those it does not talk to");
	double before = 0, after = 0;
	for (const Neighbour &each : all)
		before += processor_time(each.pid());
	std::this_thread::sleep_for(5s);
	for (const Neighbour &each : all)
		after += processor_time(each.pid());
	std::printf("while quiet: %.4f%% of a core each\n", (after - before) / 5 / (2 * count) * 100);
	bool well = true;
	for (unsigned i = 0; i < 2 * count; i++)
		well = !all[i].write(0) && well;
	expect(well, "all write once more");
}

void alone()
{
	const Neighbour one(true);
	const Link edges = link(one, one, {0, 1});
	expect(talk(one, one, edges), "a context talks to itself by a ring");
	const std::int64_t before = one.sent_by_rings();
	bool well = true;
	for (int i = 0; i < 10; i++) {
		std::this_thread::sleep_for(2ms); /* its engine thread sleeps */
		well = !one.write(edges.first, 1) && well;
	}
	well = !one.ask({.what = 'r', .edge = edges.first, .count = 20}).value && well;
	well = !one.ask({.what = 'W', .edge = edges.second, .count = 20}).value && well;
	expect(well && one.sent_by_rings() - before >= 2 * 20 * 256, "writes and reads much");
	const Memory memory = memory_of(one.pid());
	expect(memory.files == 2 && memory.rings_kib <= 68, "its bell and one ring");
	const double then = processor_time(one.pid());
	std::this_thread::sleep_for(1s);
	std::printf("while quiet: %.4f%% of a core\n", (processor_time(one.pid()) - then) * 100);
	const auto child = static_cast<pid_t>(one.ask({.what = 'f'}).value);
	expect(!one.write(edges.first) && !one.write(edges.second), "the parent of a child goes on");
	::kill(child, SIGKILL);
}

void star(unsigned count, unsigned seconds)
{
	const Neighbour hub;
	std::vector<Neighbour> all;
	all.reserve(count);
	bool talked = true;
	for (unsigned i = 0; i < count; i++) {
		all.emplace_back();
		talked = talk(hub, all[i], link(hub, all[i], {i, 0})) && talked;
	}
	expect(talked, std::to_string(count) + " talk to one, by rings");
	std::this_thread::sleep_for(1s);
	const double before = processor_time(hub.pid());
	std::this_thread::sleep_for(std::chrono::seconds(seconds));
	std::printf(
		"quiet for %u s: %.3f%% of a core\n", seconds, (processor_time(hub.pid()) - before) / seconds * 100);
	bool well = true;
	for (unsigned i = 0; i < count; i++)
		well = !hub.write(i) && !all[i].write(0) && well;
	expect(well, "all go on");
}

long resident_kib(pid_t pid)
{
	std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
	long size = 0, resident = 0;
	file >> size >> resident;
	return resident * 4;
}

void reconnect(const Neighbour &first, const Neighbour &second, Link edges, const Endpoint &one, const Endpoint &other)
{
	first.ask({.what = 'x', .edge = edges.first});
	second.ask({.what = 'x', .edge = edges.second});
	first.ask({.what = 'c', .edge = edges.first, .peer = other});
	second.ask({.what = 'c', .edge = edges.second, .peer = one});
}

void stopped(unsigned seconds)
{
	const Neighbour hub(true), writer(true), silent(true), busy(true), other(true);
	std::array<Endpoint, 3> at_hub{}, at_leaf{};
	const std::array<const Neighbour *, 3> leaves{&busy, &silent, &other};
	for (std::uint32_t i = 0; i < 3; i++) {
		at_hub[i] = hub.ask({.what = 'e'}).own;
		at_leaf[i] = leaves[i]->ask({.what = 'e'}).own;
		hub.ask({.what = 'c', .edge = i, .peer = at_leaf[i]});
		leaves[i]->ask({.what = 'c', .edge = 0, .peer = at_hub[i]});
	}
	/* One that only the hub knows, and one that writes to the busy one as well. */
	expect(talk(hub, busy, {0, 0}) && talk(hub, other, {2, 0}), "by rings");
	const Link also = link(writer, busy, {0, 1});
	expect(talk(writer, busy, also), "from another, too");

	busy.tell(
		{.what = 'r', .edge = 0, .count = 100'000}); /* the hub's ring to it is full, and READs are under way */
	writer.tell({.what = 'W', .edge = 0, .count = 100'000});
	std::this_thread::sleep_for(300ms);
	busy.stop();
	silent.stop(); /* before any packet: it answers no introduction */
	const auto from = std::chrono::steady_clock::now();
	const long resident = resident_kib(hub.pid());
	long most = resident;
	/* The hub's requests to these two wait, and meanwhile the third reads and writes. */
	const std::int64_t to_silent = hub.write(1);
	expect(to_silent == IBV_WC_RETRY_EXC_ERR,
		"a request to the one that has not answered ends by its retry count: " + std::to_string(to_silent));
	const std::int64_t to_busy = hub.write(0);
	expect(to_busy == IBV_WC_RETRY_EXC_ERR, "a request to the one with full rings ends by its retry count");
	expect(writer.hear().value == IBV_WC_RETRY_EXC_ERR, "so do another's long WRITEs");
	bool well = true;
	unsigned rounds = 0;
	do {
		well = !hub.write(2) && !other.write(0) && !other.ask({.what = 'r', .edge = 0, .count = 8}).value &&
		       well;
		most = std::max(most, resident_kib(hub.pid()));
		rounds++;
		std::this_thread::sleep_for(10ms);
	} while (std::chrono::steady_clock::now() - from < std::chrono::seconds(seconds));
	expect(well, "others go on, " + std::to_string(rounds) + " rounds");
	expect(most - resident < 20'000, "the hub has grown by " + std::to_string(most - resident) + " KiB");

	::kill(busy.pid(), SIGCONT);
	::kill(silent.pid(), SIGCONT);
	const std::int64_t status = busy.hear().value;
	expect(status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_WR_FLUSH_ERR,
		"whoever is continued finds its connection gone: " + std::to_string(status));
	reconnect(hub, busy, {0, 0}, at_hub[0], at_leaf[0]);
	reconnect(hub, silent, {1, 0}, at_hub[1], at_leaf[1]);
	expect(talk(hub, busy, {0, 0}), "with full rings: by rings again");
	expect(talk(hub, silent, {1, 0}), "amid its introduction: by rings now");
	expect(talk(hub, other, {2, 0}), "and the third");
}

void leavers(unsigned count)
{
	const Neighbour hub;
	bool well = true;
	for (unsigned i = 0; i < count; i++) {
		Neighbour one;
		const Link edges = link(hub, one, {i, 0});
		/* It may get the slot of one that has just gone: then rings are tried again after a while. */
		well = talk(one, hub, {edges.second, edges.first}) && well;
		if (i % 3 == 0)
			hub.tell({.what = 'w', .edge = i, .count = 50'000});
		if (i % 3 == 0)
			std::this_thread::sleep_for(2ms);
		one.end(i % 3 == 0 ? SIGKILL : 0);
		if (i % 3 == 0)
			(void)hub.hear();
	}
	expect(well, std::to_string(count) + " have come and gone");
	std::this_thread::sleep_for(300ms);
	const Memory memory = memory_of(hub.pid());
	expect(memory.files == 1, "nothing of theirs is mapped: " + std::to_string(memory.files) + " files");
}

void reopened(unsigned count)
{
	const Neighbour hub, other, quiet;
	expect(talk(hub, quiet, link(hub, quiet, {0, 0})), "by rings");
	bool well = true;
	for (std::uint32_t i = 1; i <= count; i++) {
		const Link edges{i, 0};
		const Endpoint one = hub.ask({.what = 'e'}).own;
		const Endpoint two = other.ask({.what = 'e'}).own;
		hub.ask({.what = 'c', .edge = edges.first, .peer = two});
		other.ask({.what = 'c', .edge = edges.second, .peer = one});
		well = talk(other, hub, {edges.second, edges.first}) && well;
		if (i % 2)
			hub.tell({.what = 'w', .edge = i, .count = 100}); /* may be under way */
		other.ask({.what = 'o'});
		if (i % 2)
			(void)hub.hear();
	}
	expect(well, "opened " + std::to_string(count) + " times");
	expect(!hub.write(0) && !quiet.write(0), "another has not noticed");
}

void others()
{
	const Neighbour hub, nobody(false, User::nobody), apart(false, User::apart);
	std::uint32_t edge = 0;
	for (const Neighbour *const other : {&nobody, &apart}) {
		const Link edges = link(hub, *other, {edge++, 0});
		bool well = true;
		for (int i = 0; i < 50; i++) {
			well = !hub.write(edges.first) && !other->write(edges.second) && well;
			std::this_thread::sleep_for(5ms);
		}
		expect(well && !hub.sent_by_rings() && !other->sent_by_rings(),
			other == &nobody ? "another user, by UDP" : "another user that sees us as himself, by UDP");
	}
}

void forked()
{
	const Neighbour hub, other;
	Neighbour parent;
	expect(talk(hub, parent, link(hub, parent, {0, 0})), "by rings");
	const auto child = static_cast<pid_t>(parent.ask({.what = 'f'}).value);
	expect(!hub.write(0) && !parent.write(0), "the parent of a child goes on");
	parent.end(SIGKILL); /* its child holds each of its descriptors */
	expect(hub.write(0) == IBV_WC_RETRY_EXC_ERR, "it is gone, whatever its child holds");
	expect(talk(hub, other, link(hub, other, {1, 0})), "others come all the same");
	::kill(child, SIGKILL);
	std::this_thread::sleep_for(300ms);
	expect(talk(hub, other, {1, 0}), "and stay");
}

} // namespace

int main(int count, char **arguments)
{
	const std::string_view what = count > 1 ? arguments[1] : "";
	const auto number = [&](int which) {
		return count > which ? static_cast<unsigned>(std::atoi(arguments[which])) : 0;
	};
	rlimit limit{};
	::getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	::setrlimit(RLIMIT_NOFILE, &limit);
	if (what == "pairs")
		pairs(number(2));
	else if (what == "star")
		star(number(2), number(3));
	else if (what == "stopped")
		stopped(number(2));
	else if (what == "leavers")
		ack_timeout = 14, leavers(number(2));
	else if (what == "reopened")
		ack_timeout = 14, reopened(number(2));
	else if (what == "others" && ::geteuid() != 0)
		return 77;
	else if (what == "others")
		others();
	else if (what == "alone")
		alone();
	else if (what == "forked")
		forked();
	else
		return std::puts("neighbours pairs N | star N SECONDS | stopped SECONDS | leavers N | reopened N | "
				 "alone | "
				 "others | forked"),
		       2;
	return failures != 0;
}
