/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Threads of one context, each with queue pairs and a completion queue of its own, which lie in different lanes. Each
 * has a queue pair that leads to the next one's thread, and one that the thread before it leads to. Wants
 * PRISM_LANES=4.
 *
 *   lanes data        requests of all kinds, all of whose results are right
 *   lanes srq         receives of one shared receive queue
 *   lanes one_cq      receives complete in one completion queue
 *   lanes split       send and receive completion queues of different lanes
 *   lanes list        buffers of one free list, each of which has one owner at a time
 *   lanes window      a memory window that one binds and another uses, while others go on
 *   lanes dereg       regions that are deregistered under requests: none arrives afterwards
 *   lanes destroyed   queue pairs that are destroyed and made anew while others go on
 *   lanes events      completion events of all by one channel
 *   lanes forked      a child that opens the device, while threads go on
 *   lanes short       no descriptors for a further lane: all go on in the first
 *   lanes vanished    an address of the loopback that goes before further lanes are opened
 *   lanes groups      multicast groups of an interface's lanes, of which another interface's hear nothing
 */
#include <infiniband/prismdv.h>
#include <infiniband/verbs.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rc_connection.h"

namespace
{

using namespace std::chrono_literals;

constexpr unsigned threads = 4;
constexpr std::uint32_t message = 3000; /* bytes: more than a packet */
constexpr std::uint32_t receives = 64;
constexpr unsigned slot_bits = 14; /* of a queue pair's number, below its slot */

[[noreturn]] void die(const char *what)
{
	std::perror(what);
	std::_Exit(2);
}

void check(bool holds, const char *what)
{
	if (holds)
		return;
	std::printf("FAILED: %s\n", what);
	std::fflush(stdout);
	std::_Exit(1);
}

template <typename Object>
Object *made(Object *object, const char *what)
{
	if (!object)
		die(what);
	return object;
}

struct Memory {
	explicit Memory(ibv_pd *pd, std::size_t length = 65536) : bytes(length)
	{
		constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
		mr = made(ibv_reg_mr(pd, bytes.data(), length, access), "ibv_reg_mr");
	}
	[[nodiscard]] std::uint64_t at(std::size_t offset) const
	{
		return reinterpret_cast<std::uintptr_t>(bytes.data() + offset);
	}
	[[nodiscard]] ibv_sge sge(std::size_t offset, std::uint32_t length) const
	{
		return {at(offset), length, mr->lkey};
	}

	alignas(64) std::vector<unsigned char> bytes;
	ibv_mr *mr;
};

struct Setup {
	/** Opens the first device whose name begins with @p name. */
	explicit Setup(std::string_view name = "")
	{
		ibv_device **const list = prismdv_get_device_list(nullptr);
		for (int i = 0; list && list[i] && !context; i++)
			if (std::string_view(ibv_get_device_name(list[i])).starts_with(name))
				context = ibv_open_device(list[i]);
		made(context, "cannot open a device");
		prismdv_free_device_list(list);
		pd = made(ibv_alloc_pd(context), "ibv_alloc_pd");
		if (prismdv_query_gid(context, 1, 0, &gid) || prismdv_query_capability(context, &capability))
			die("no GID");
	}
	[[nodiscard]] ibv_cq *cq(ibv_comp_channel *channel = nullptr) const
	{
		return made(ibv_create_cq(context, 1024, nullptr, channel, 0), "ibv_create_cq");
	}

	ibv_context *context = nullptr;
	ibv_pd *pd = nullptr;
	ibv_gid gid{};
	prismdv_capability capability{};
};

/** Returns memory for each thread. */
std::vector<Memory> memories(const Setup &setup)
{
	std::vector<Memory> all;
	for (unsigned i = 0; i < threads; i++)
		all.emplace_back(setup.pd);
	return all;
}

ibv_qp *create(const Setup &setup, ibv_cq *send, ibv_cq *receive, ibv_srq *srq = nullptr)
{
	ibv_qp_init_attr_ex attr{};
	attr.qp_type = IBV_QPT_RC;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	attr.pd = setup.pd;
	attr.send_cq = send;
	attr.recv_cq = receive;
	attr.srq = srq;
	attr.cap = {64, receives, 1, 1, 64};
	return made(prismdv_create_qp(setup.context, &attr, nullptr), "prismdv_create_qp");
}

void connect(const Setup &setup, ibv_qp *qp, const ibv_qp *peer)
{
	const rc_peer where{setup.gid, peer->qp_num, 0, 17, IBV_MTU_1024};
	if (rc_init(qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC) ||
		rc_connect(qp, &where))
		die("cannot connect");
	if (prismdv_set_peer_capability(qp, &setup.capability))
		die("capability");
}

/** A thread's objects. */
struct Worker {
	ibv_cq *cq = nullptr;
	ibv_cq *receive_cq = nullptr;
	ibv_qp *out = nullptr; /* to the next one's in */
	ibv_qp *in = nullptr;
	unsigned received = 0;
	unsigned sent = 0;
};

ibv_wc next(ibv_cq *cq)
{
	ibv_wc wc{};
	const auto deadline = std::chrono::steady_clock::now() + 60s;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		check(std::chrono::steady_clock::now() < deadline, "a completion comes");
	return wc;
}

class Workers
{
public:
	explicit Workers(const Setup &setup, ibv_srq *srq = nullptr) : setup_(setup), srq_(srq), all_(threads)
	{
		for (Worker &worker : all_)
			worker.cq = worker.receive_cq = setup.cq();
	}

	/** Makes and connects the queue pairs. */
	void connect_all()
	{
		for (Worker &worker : all_) {
			worker.out = create(setup_, worker.cq, worker.cq);
			worker.in = create(setup_, worker.cq, worker.receive_cq, srq_);
		}
		for (unsigned i = 0; i < threads; i++)
			link(i);
	}
	void link(unsigned from)
	{
		connect(setup_, all_[from].out, after(from).in);
		connect(setup_, after(from).in, all_[from].out);
	}

	[[nodiscard]] unsigned lanes() const
	{
		std::set<unsigned> slots;
		for (const Worker &worker : all_)
			slots.insert(worker.out->qp_num >> slot_bits);
		return static_cast<unsigned>(slots.size());
	}

	/** Checks that each thread has a lane of its own, as far as PRISM_LANES allows. */
	void check_lanes() const
	{
		const char *const expected = std::getenv("LANES"); /* if PRISM_LANES has no number of lanes */
		const char *const most = expected ? expected : std::getenv("PRISM_LANES");
		check(lanes() == std::min(threads, most ? static_cast<unsigned>(std::atoi(most)) : threads),
			"threads have lanes of their own");
	}

	void run(const std::function<void(unsigned)> &work) const
	{
		std::vector<std::thread> running;
		for (unsigned i = 0; i < threads; i++)
			running.emplace_back(work, i);
		for (std::thread &each : running)
			each.join();
	}

	Worker &operator[](unsigned i) { return all_[i]; }
	Worker &after(unsigned i) { return all_[(i + 1) % threads]; }

private:
	const Setup &setup_;
	ibv_srq *srq_;
	std::vector<Worker> all_;
};

ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge &sge, const Memory &to, std::size_t offset)
{
	ibv_send_wr wr{};
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma = {to.at(offset), to.mr->rkey};
	return wr;
}

void post(ibv_qp *qp, ibv_send_wr wr)
{
	ibv_send_wr *bad;
	if (ibv_post_send(qp, &wr, &bad))
		die("ibv_post_send");
}

/** Posts, and waits for its completion. */
ibv_wc_status perform(Worker &worker, const ibv_send_wr &wr)
{
	post(worker.out, wr);
	return next(worker.cq).status;
}

void fill(Memory &memory, std::size_t offset, unsigned seed)
{
	for (std::uint32_t i = 0; i < message; i++)
		memory.bytes[offset + i] = static_cast<unsigned char>(seed * 31 + i * 7);
}

[[nodiscard]] bool is_filled(const Memory &memory, std::size_t offset, unsigned seed)
{
	for (std::uint32_t i = 0; i < message; i++)
		if (memory.bytes[offset + i] != static_cast<unsigned char>(seed * 31 + i * 7))
			return false;
	return true;
}

/** Writes, reads back, and counts. */
void exchange(
	Worker &worker, Memory &own, const Memory &shared, unsigned place, unsigned rounds, std::size_t counter_at)
{
	for (unsigned round = 0; round < rounds; round++) {
		fill(own, 0, round + place);
		ibv_sge out = own.sge(0, message), in = own.sge(message, message), old = own.sge(2 * message, 8);
		ibv_send_wr write = request(IBV_WR_RDMA_WRITE, out, shared, std::size_t{4096} * (place + 1));
		check(perform(worker, write) == IBV_WC_SUCCESS, "a WRITE succeeds");
		ibv_send_wr read = request(IBV_WR_RDMA_READ, in, shared, std::size_t{4096} * (place + 1));
		check(perform(worker, read) == IBV_WC_SUCCESS, "a READ succeeds");
		check(is_filled(own, message, round + place), "a READ finds the data of the WRITE before it");
		ibv_send_wr add = request(IBV_WR_ATOMIC_FETCH_AND_ADD, old, shared, counter_at);
		add.wr.atomic = {shared.at(counter_at), 1, 0, shared.mr->rkey};
		check(perform(worker, add) == IBV_WC_SUCCESS, "an atomic succeeds");
	}
}

std::uint64_t word(const Memory &memory, std::size_t offset)
{
	std::uint64_t value;
	std::memcpy(&value, memory.bytes.data() + offset, sizeof(value));
	return value;
}

/** Lets all threads exchange() with one counter, and checks it. */
void check_exchanges(const Setup &setup, Workers &workers, unsigned rounds)
{
	Memory shared(setup.pd);
	std::vector<Memory> own = memories(setup);
	workers.run([&](unsigned i) { exchange(workers[i], own[i], shared, i, rounds, 0); });
	check(word(shared, 0) == std::uint64_t{rounds} * threads, "no addition is lost");
}

std::uint64_t counted(ibv_context *context, std::string_view name)
{
	std::array<prismdv_counter, 256> counters{};
	const ssize_t count = prismdv_query_counters(context, counters.data(), counters.size());
	for (ssize_t i = 0; i < count; i++)
		if (name == counters[static_cast<std::size_t>(i)].name)
			return counters[static_cast<std::size_t>(i)].value;
	return 0;
}

void lanes_data()
{
	const Setup setup;
	Workers workers(setup);
	workers.connect_all();
	workers.check_lanes();
	constexpr unsigned rounds = 500;
	check_exchanges(setup, workers, rounds);
	constexpr std::uint64_t requests = std::uint64_t{rounds} * threads * 3;
	check(counted(setup.context, "tx_packets") >= 2 * requests, "counters count all lanes");
}

/* Messages ------------------------------------------------------------------------------------------------------ */

/** Receive buffers of one queue: buffer I lies at I messages, and has number I. */
class Receives
{
public:
	Receives(ibv_pd *pd, unsigned count) : memory_(pd, std::size_t{count} * message) {}

	void post(ibv_qp *qp, ibv_srq *srq, std::uint64_t number) const
	{
		ibv_sge sge = memory_.sge(number * message, message);
		ibv_recv_wr wr{}, *bad;
		wr.wr_id = number;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		if (srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad))
			die("cannot post a receive");
	}
	/** Checks a received message, whose immediate says what is in it. */
	void take(const ibv_wc &wc) const
	{
		check(wc.status == IBV_WC_SUCCESS && wc.byte_len == message, "a receive succeeds");
		check(is_filled(memory_, wc.wr_id * message, wc.imm_data), "a message is whole");
	}

private:
	Memory memory_;
};

constexpr unsigned messages = 1000;

void send(Worker &worker, Memory &own, unsigned seed)
{
	const std::size_t at = std::size_t{seed % 16} * message;
	fill(own, at, seed);
	ibv_sge sge = own.sge(at, message);
	ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, sge, own, 0);
	wr.imm_data = seed;
	wr.wr_id = ~std::uint64_t{0};
	post(worker.out, wr);
}

/** Sends messages, and receives with the receive CQ, if it is the thread's own. */
void talk(Worker &worker, Memory &own, const std::function<void(const ibv_wc &)> &take, unsigned expected)
{
	unsigned under_way = 0;
	const auto deadline = std::chrono::steady_clock::now() + 100s;
	while (worker.sent < messages || under_way || worker.received < expected) {
		check(std::chrono::steady_clock::now() < deadline, "messages arrive");
		if (worker.sent < messages && under_way < 8) {
			send(worker, own, worker.sent++);
			under_way++;
		}
		ibv_wc wc;
		if (ibv_poll_cq(worker.cq, 1, &wc) == 0)
			continue;
		if (wc.wr_id == ~std::uint64_t{0}) {
			check(wc.status == IBV_WC_SUCCESS, "a SEND succeeds");
			under_way--;
		} else {
			take(wc);
			worker.received++;
		}
	}
}

void lanes_srq()
{
	const Setup setup;
	ibv_srq_init_attr attr{};
	attr.attr = {256, 1, 0};
	ibv_srq *const srq = made(ibv_create_srq(setup.pd, &attr), "ibv_create_srq");
	Workers workers(setup, srq);
	workers.connect_all();
	workers.check_lanes();
	constexpr unsigned posted = 128;
	const Receives buffers(setup.pd, posted);
	std::array<std::atomic<bool>, posted> in_queue{};
	const auto repost = [&](std::uint64_t number) {
		check(!in_queue[number].exchange(true), "a receive is consumed once");
		buffers.post(nullptr, srq, number);
	};
	for (unsigned i = 0; i < posted; i++)
		repost(i);
	std::vector<Memory> own = memories(setup);
	workers.run([&](unsigned i) {
		const auto take = [&](const ibv_wc &wc) {
			buffers.take(wc);
			check(in_queue[wc.wr_id].exchange(false), "a receive is consumed once");
			repost(wc.wr_id);
		};
		talk(workers[i], own[i], take, messages);
	});
	for (unsigned i = 0; i < threads; i++)
		if (ibv_destroy_qp(workers[i].out) || ibv_destroy_qp(workers[i].in))
			die("ibv_destroy_qp");
	check(ibv_destroy_srq(srq) == 0, "the queue can be destroyed");
}

void lanes_one_cq()
{
	const Setup setup;
	Workers workers(setup);
	ibv_cq *const one = setup.cq();
	for (unsigned i = 0; i < threads; i++)
		workers[i].receive_cq = one;
	workers.connect_all();
	workers.check_lanes();
	const Receives buffers(setup.pd, threads * receives);
	for (unsigned i = 0; i < threads; i++)
		for (unsigned k = 0; k < receives; k++)
			buffers.post(workers[i].in, nullptr, i * receives + k);
	std::thread receiver([&] {
		for (unsigned i = 0; i < messages * threads; i++) {
			const ibv_wc wc = next(one);
			buffers.take(wc);
			buffers.post(workers[static_cast<unsigned>(wc.wr_id / receives)].in, nullptr, wc.wr_id);
		}
	});
	std::vector<Memory> own = memories(setup);
	workers.run([&](unsigned i) {
		talk(
			workers[i], own[i], [](const ibv_wc &) {}, 0);
	});
	receiver.join();
}

void lanes_split()
{
	const Setup setup;
	Workers workers(setup);
	workers.connect_all();
	/* Two queue pairs, each of which completes its sends in one lane and its receives in another. */
	ibv_qp *const a = create(setup, workers[0].cq, workers[1].cq);
	ibv_qp *const b = create(setup, workers[1].cq, workers[0].cq);
	check(workers.lanes() == 1 || a->qp_num >> slot_bits != b->qp_num >> slot_bits, "a send queue decides");
	connect(setup, a, b);
	connect(setup, b, a);
	workers[0].out = a;
	workers[1].out = b;
	const Receives buffers(setup.pd, 2 * receives);
	for (unsigned k = 0; k < receives; k++) {
		buffers.post(workers[0].out, nullptr, k);
		buffers.post(workers[1].out, nullptr, receives + k);
	}
	std::vector<Memory> own;
	own.emplace_back(setup.pd);
	own.emplace_back(setup.pd);
	workers.run([&](unsigned i) {
		if (i > 1)
			return;
		/* Messages to the queue pair of one thread complete at the other. */
		ibv_qp *const of_receives = workers[1 - i].out;
		const auto take = [&](const ibv_wc &wc) {
			buffers.take(wc);
			buffers.post(of_receives, nullptr, wc.wr_id);
		};
		talk(workers[i], own[i], take, messages);
	});
}

/* Free lists ---------------------------------------------------------------------------------------------------- */

std::uint64_t allocate(Worker &worker, const Memory &own, std::uint32_t list)
{
	ibv_qp_ex *const ex = ibv_qp_to_qp_ex(worker.out);
	prismdv_qp_ex *const prism = made(prismdv_qp_ex_from_ibv_qp_ex(ex), "no PRISM");
	for (;;) {
		ibv_wr_start(ex);
		ex->wr_flags = IBV_SEND_SIGNALED;
		prismdv_wr_allocate(prism, list, 0);
		prismdv_wr_set_result(prism, own.mr->lkey, own.at(8));
		ibv_wr_set_sge(ex, own.mr->lkey, own.at(0), 8);
		if (ibv_wr_complete(ex))
			die("cannot post an ALLOCATE");
		const ibv_wc wc = next(worker.cq);
		check(wc.status == IBV_WC_SUCCESS, "an ALLOCATE succeeds");
		if (wc.vendor_err == PRISMDV_STATUS_OK)
			return word(own, 8);
	}
}

void lanes_list()
{
	const Setup setup;
	ibv_srq_init_attr_ex attr{};
	constexpr unsigned count = 16;
	attr.attr = {count, 1, 0};
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	attr.srq_type = IBV_SRQT_BASIC;
	attr.pd = setup.pd;
	prismdv_srq_init_attr kind{};
	kind.flags = PRISMDV_SRQ_FREE_LIST;
	ibv_srq *const list = made(prismdv_create_srq(setup.context, &attr, &kind), "prismdv_create_srq");
	std::uint32_t number;
	if (ibv_get_srq_num(list, &number))
		die("ibv_get_srq_num");
	const Memory buffers(setup.pd, count * 64);
	std::array<std::atomic<bool>, count> owned{};
	const auto give = [&](std::size_t index) {
		ibv_sge sge = buffers.sge(index * 64, 64);
		ibv_recv_wr wr{}, *bad;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		if (ibv_post_srq_recv(list, &wr, &bad))
			die("ibv_post_srq_recv");
	};
	for (std::size_t i = 0; i < count; i++)
		give(i);
	Workers workers(setup);
	workers.connect_all();
	workers.check_lanes();
	std::vector<Memory> own = memories(setup);
	workers.run([&](unsigned i) {
		for (std::uint64_t round = 1; round <= 500; round++) {
			const std::uint64_t mark = round * threads + i;
			std::memcpy(own[i].bytes.data(), &mark, sizeof(mark));
			const std::size_t index = (allocate(workers[i], own[i], number) - buffers.at(0)) / 64;
			check(index < count && !owned[index].exchange(true), "a buffer has one owner");
			check(word(buffers, index * 64) == mark, "and its data");
			owned[index] = false;
			give(index);
		}
	});
	prismdv_free_list_attr end{};
	if (prismdv_query_free_list(list, &end))
		die("prismdv_query_free_list");
	check(end.available == count && end.popped == std::uint64_t{500} * threads, "no buffer is lost");
}

/* Memory -------------------------------------------------------------------------------------------------------- */

void lanes_window()
{
	const Setup setup;
	Workers workers(setup);
	workers.connect_all();
	Memory shared(setup.pd);
	std::vector<Memory> own = memories(setup);
	std::atomic<unsigned> done{0};
	workers.run([&](unsigned i) {
		if (i != 1) { /* 2 and 3 go on; 0 uses the window, which 1 binds */
			exchange(workers[i], own[i], shared, i, 200, 0);
			done++;
			return;
		}
		Worker &worker = workers[1];
		for (unsigned round = 0; round < 100; round++) {
			ibv_mw *const mw = made(ibv_alloc_mw(setup.pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
			ibv_send_wr bind{};
			bind.opcode = IBV_WR_BIND_MW;
			bind.send_flags = IBV_SEND_SIGNALED;
			bind.bind_mw.mw = mw;
			bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
			bind.bind_mw.bind_info = {shared.mr, shared.at(0), 64, IBV_ACCESS_REMOTE_READ};
			check(perform(worker, bind) == IBV_WC_SUCCESS, "a window can be bound");
			ibv_send_wr invalidate{};
			invalidate.opcode = IBV_WR_LOCAL_INV;
			invalidate.send_flags = IBV_SEND_SIGNALED;
			invalidate.invalidate_rkey = bind.bind_mw.rkey;
			check(perform(worker, invalidate) == IBV_WC_SUCCESS, "a window can be freed");
			check(ibv_dealloc_mw(mw) == 0, "ibv_dealloc_mw");
		}
		done++;
	});
	check(done == threads && word(shared, 0) == 600, "the others went on");
}

void rebuild(const Setup &setup, Workers &workers, unsigned i)
{
	/* Only the pair from I to the next is in use. */
	ibv_qp *&near = workers[i].out, *&far = workers.after(i).in;
	if (ibv_destroy_qp(near) || ibv_destroy_qp(far))
		die("ibv_destroy_qp");
	near = create(setup, workers[i].cq, workers[i].cq);
	far = create(setup, workers.after(i).cq, workers.after(i).cq);
	workers.link(i);
}

void lanes_dereg()
{
	const Setup setup;
	Workers workers(setup);
	workers.connect_all();
	std::vector<Memory> own = memories(setup);
	std::vector<unsigned char> target(4096);
	std::atomic<std::uint32_t> rkey{0};
	std::atomic<bool> stop{false};
	std::atomic<unsigned> hits{0};
	std::thread owner([&] {
		for (unsigned round = 0; round < 60; round++) {
			ibv_mr *const mr = made(ibv_reg_mr(setup.pd, target.data(), target.size(),
							IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
				"ibv_reg_mr");
			const unsigned before = hits;
			rkey = mr->rkey;
			while (hits < before + 10)
				std::this_thread::yield();
			check(ibv_dereg_mr(mr) == 0, "ibv_dereg_mr");
			std::memset(target.data(), 0, target.size());
			std::this_thread::sleep_for(500us);
			for (const unsigned char byte : target)
				check(byte == 0, "nobody writes afterwards");
		}
		stop = true;
	});
	workers.run([&](unsigned i) {
		std::memset(own[i].bytes.data(), 0xff, own[i].bytes.size());
		while (!stop) {
			ibv_sge sge = own[i].sge(0, 4096);
			ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, sge, own[i], 0);
			wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(target.data()), rkey};
			const ibv_wc_status status = perform(workers[i], wr);
			check(status == IBV_WC_SUCCESS || status == IBV_WC_REM_ACCESS_ERR, "a WRITE ends as it should");
			if (status == IBV_WC_SUCCESS)
				hits++;
			else
				rebuild(setup, workers, i);
		}
	});
	owner.join();
}

void lanes_destroyed()
{
	const Setup setup;
	Workers workers(setup);
	workers.connect_all();
	Memory shared(setup.pd);
	std::vector<Memory> own = memories(setup);
	workers.run([&](unsigned i) {
		if (i % 2) {
			exchange(workers[i], own[i], shared, i, 500, 0);
			return;
		}
		for (unsigned round = 0; round < 60; round++) {
			exchange(workers[i], own[i], shared, i, 2, 0);
			ibv_sge sge = own[i].sge(0, 65000);
			for (int k = 0; k < 8; k++)
				post(workers[i].out, request(IBV_WR_RDMA_READ, sge, shared, 0));
			rebuild(setup, workers, i);
			for (ibv_wc wc; ibv_poll_cq(workers[i].cq, 1, &wc) > 0;)
				check(false, "completions of a destroyed queue pair are gone");
		}
	});
	check(word(shared, 0) == 2 * 500 + 2 * 120, "no addition is lost");
}

/* The rest ------------------------------------------------------------------------------------------------------ */

void lanes_events()
{
	const Setup setup;
	ibv_comp_channel *const channel = made(prismdv_create_comp_channel(setup.context), "no channel");
	Workers workers(setup);
	for (unsigned i = 0; i < threads; i++)
		workers[i].cq = workers[i].receive_cq = setup.cq(channel);
	workers.connect_all();
	workers.check_lanes();
	Memory shared(setup.pd);
	const auto read = [&](unsigned i) {
		ibv_sge sge = shared.sge(4096 * (i + 1), 64);
		post(workers[i].out, request(IBV_WR_RDMA_READ, sge, shared, 0));
	};
	std::array<unsigned, threads> done{};
	for (unsigned i = 0; i < threads; i++) {
		if (ibv_req_notify_cq(workers[i].cq, 0))
			die("ibv_req_notify_cq");
		read(i);
	}
	constexpr unsigned each = 300;
	for (unsigned all = 0; all < each * threads;) {
		ibv_cq *cq = nullptr;
		void *ignored;
		if (ibv_get_cq_event(channel, &cq, &ignored) || ibv_req_notify_cq(cq, 0))
			die("ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		unsigned i = 0;
		while (workers[i].cq != cq)
			i++;
		for (ibv_wc wc; ibv_poll_cq(cq, 1, &wc) > 0; all++) {
			check(wc.status == IBV_WC_SUCCESS, "a READ succeeds");
			if (++done[i] < each)
				read(i);
		}
	}
}

void lanes_forked()
{
	const Setup setup;
	Workers workers(setup);
	workers.connect_all();
	Memory shared(setup.pd);
	std::vector<Memory> own = memories(setup);
	std::thread forking([] {
		for (int i = 0; i < 2; i++) {
			const pid_t child = ::fork();
			if (child < 0)
				die("fork");
			if (!child) {
				lanes_data();
				std::_Exit(0);
			}
			int status = 0;
			check(::waitpid(child, &status, 0) == child && status == 0, "a child uses the device");
		}
	});
	workers.run([&](unsigned i) { exchange(workers[i], own[i], shared, i, 500, 0); });
	forking.join();
	check(word(shared, 0) == 500 * threads, "no addition is lost");
}

void lanes_short()
{
	const Setup setup;
	const int lowest = ::dup(0);
	::close(lowest);
	rlimit limit{};
	::getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = static_cast<rlim_t>(lowest) * 2;
	if (::setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	Workers workers(setup);
	workers.connect_all();
	check(workers.lanes() == 1, "there is no room for another lane");
	check_exchanges(setup, workers, 500);
}

void lanes_vanished()
{
	const auto ip = [](const char *what) {
		const std::string command = std::string("ip address ") + what + " fd00::7/128 dev lo";
		check(std::system(command.c_str()) == 0, command.c_str());
	};
	ip("add");
	const Setup setup;
	ip("delete");
	Workers workers(setup);
	workers.connect_all();
	workers.check_lanes();
	check_exchanges(setup, workers, 500);
}

/** A UD queue pair with a completion queue, and thus a lane, of its own. */
struct Datagrams {
	explicit Datagrams(const Setup &setup) : memory(setup.pd), cq(setup.cq())
	{
		ibv_qp_init_attr init{};
		init.qp_type = IBV_QPT_UD;
		init.send_cq = init.recv_cq = cq;
		init.cap = {1, 1, 1, 1, 0};
		qp = made(ibv_create_qp(setup.pd, &init), "ibv_create_qp");
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_INIT;
		attr.port_num = 1;
		attr.qkey = 1;
		if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
			die("to INIT");
		attr.qp_state = IBV_QPS_RTR;
		if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
			die("to RTR");
		attr.qp_state = IBV_QPS_RTS;
		if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
			die("to RTS");
	}

	void post_receive() const
	{
		ibv_sge sge = memory.sge(0, 4096);
		ibv_recv_wr request{.wr_id = 0, .next = nullptr, .sg_list = &sge, .num_sge = 1}, *bad;
		check(ibv_post_recv(qp, &request, &bad) == 0, "ibv_post_recv");
	}

	void send(ibv_ah *ah) const
	{
		ibv_sge sge = memory.sge(0, 64);
		ibv_send_wr request{}, *bad;
		request.sg_list = &sge;
		request.num_sge = 1;
		request.opcode = IBV_WR_SEND;
		request.send_flags = IBV_SEND_SIGNALED;
		request.wr.ud.ah = ah;
		request.wr.ud.remote_qpn = 0xffffff;
		request.wr.ud.remote_qkey = 1;
		check(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
	}

	Memory memory;
	ibv_cq *cq;
	ibv_qp *qp = nullptr;
};

/** Returns the group 239.47.1.NUMBER or ff0e::NUMBER. */
ibv_gid group_of(bool ipv6, unsigned number)
{
	ibv_gid gid{};
	if (ipv6)
		gid.raw[0] = 0xff, gid.raw[1] = 0x0e;
	else
		gid.raw[10] = gid.raw[11] = 0xff, gid.raw[12] = 239, gid.raw[13] = 47, gid.raw[14] = 1;
	gid.raw[15] = static_cast<std::uint8_t>(number);
	return gid;
}

void check_only_its_interface_hears(const Setup &setup, const Setup &beside, const ibv_gid &group)
{
	const Datagrams sender(setup), member(setup), stranger(beside);
	check(ibv_attach_mcast(member.qp, &group, 0) == 0, "a member joins");
	check(ibv_attach_mcast(stranger.qp, &group, 0) == 0, "one on the other interface joins");
	member.post_receive();
	stranger.post_receive();
	ibv_ah_attr attr{};
	attr.is_global = 1;
	attr.port_num = 1;
	attr.grh.dgid = group;
	attr.grh.hop_limit = 1;
	/* The index of a GID of the same family. */
	for (ibv_gid gid{}; prismdv_query_gid(setup.context, 1, attr.grh.sgid_index, &gid) == 0; attr.grh.sgid_index++)
		if ((gid.raw[10] == 0xff) == (group.raw[10] == 0xff))
			break;
	sender.send(made(ibv_create_ah(setup.pd, &attr), "ibv_create_ah"));
	check(next(member.cq).status == IBV_WC_SUCCESS, "the member hears it");
	ibv_wc wc;
	for (int i = 0; i < 100; i++) /* the kernel has delivered all copies together */
		check(ibv_poll_cq(stranger.cq, 1, &wc) == 0, "one on another interface hears nothing");
	check(ibv_detach_mcast(member.qp, &group, 0) == 0 && ibv_detach_mcast(stranger.qp, &group, 0) == 0,
		"they leave");
}

void lanes_groups()
{
	const Setup setup("prism_grp0"), beside("prism_grp1");
	for (const bool ipv6 : {false, true})
		check_only_its_interface_hears(setup, beside, group_of(ipv6, 1));
	ibv_device_attr device{};
	check(ibv_query_device(setup.context, &device) == 0, "ibv_query_device");
	const Datagrams one(setup), two(setup);
	for (int i = 0; i < device.max_mcast_grp; i++) {
		const ibv_gid group = group_of(false, static_cast<unsigned>(i));
		check(ibv_attach_mcast(i % 2 ? one.qp : two.qp, &group, 0) == 0, "as many as are announced");
	}
	const ibv_gid first = group_of(false, 0), more = group_of(false, 100);
	check(ibv_attach_mcast(one.qp, &more, 0) == ENOSPC && ibv_attach_mcast(two.qp, &more, 0) == ENOSPC, "no more");
	check(ibv_attach_mcast(one.qp, &first, 0) == 0, "one that another lane is in is no further one");
}

constexpr std::pair<std::string_view, void (*)()> tests[] = {
	{"data", lanes_data},
	{"srq", lanes_srq},
	{"one_cq", lanes_one_cq},
	{"split", lanes_split},
	{"list", lanes_list},
	{"window", lanes_window},
	{"dereg", lanes_dereg},
	{"destroyed", lanes_destroyed},
	{"events", lanes_events},
	{"forked", lanes_forked},
	{"short", lanes_short},
	{"vanished", lanes_vanished},
	{"groups", lanes_groups},
};

} // namespace

int main(int argc, char **argv)
{
	for (const auto &[name, test] : tests) {
		if (argc != 2 || name != argv[1])
			continue;
		test();
		return 0;
	}
	std::fprintf(stderr, "usage: lanes TEST\n");
	return 2;
}
