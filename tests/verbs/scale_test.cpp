/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Many queue pairs, many threads, and no work at all. */
#include "harness.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

namespace verbs_test
{
namespace
{

class Scale : public Fabric
{
protected:
	static std::size_t allocated()
	{
		const struct mallinfo2 info = mallinfo2();
		return info.uordblks + info.hblkhd;
	}
};

TEST_F(Scale, ThousandConnectedQueuePairs)
{
	constexpr std::size_t count = 1000;
	QpOptions options;
	options.send_wr = options.recv_wr = options.sge = 1;
	options.inline_data = 0;
	std::vector<Owned<ibv_qp>> clients, servers;
	clients.reserve(count);
	servers.reserve(count);
	const std::size_t before = allocated();
	for (std::size_t i = 0; i < count; i++) {
		clients.push_back(create_qp(client, options));
		servers.push_back(create_qp(server, options));
		connect(clients.back().get(), client, servers.back().get(), server);
	}
	EXPECT_LE((allocated() - before) / (2 * count), 16u << 10) << "bytes of an idle queue pair";
	const Cas8 cas{};
	for (const auto &each : clients)
		ASSERT_EQ(post_to(each.get(), {prism_cas({}, server.memory, 0, cas.operands())}), 0);
	for (std::size_t i = 0; i < count; i++) {
		const auto wc = next(client.cq.get());
		ASSERT_TRUE(wc);
		ASSERT_EQ(wc->status, IBV_WC_SUCCESS);
	}
	EXPECT_EQ(server.counter("prism_cas"), count);
}

class Threads : public Fabric
{
protected:
	Threads() : Fabric({"threads", false, false, PRISMDV_PROGRESS_THREAD, Style::builder}) {}
};

TEST_F(Threads, IdleEngineLeavesTheProcessorAlone)
{
	if (devices.kernel)
		GTEST_SKIP() << "who makes progress is a matter of the userspace device";
	connect();
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory)), 0u);
	std::this_thread::sleep_for(std::chrono::milliseconds(100)); /* until it has gone to sleep */
	const auto used = [] {
		rusage usage;
		getrusage(RUSAGE_SELF, &usage);
		return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	};
	const auto before = used();
	std::this_thread::sleep_for(std::chrono::seconds(2));
	EXPECT_LT(used() - before, std::chrono::milliseconds(20)) << "1% of a core";
	EXPECT_EQ(status(prism_read({client.memory.sge(0, 8)}, server.memory)), 0u) << "and it wakes up";
}

/** Each thread has a queue pair and a completion queue, all count in one word by standard and PRISM atomics. */
TEST_F(Threads, ThreadsPostAndPollConcurrently)
{
	constexpr int threads = 3, rounds = 300;
	std::vector<Owned<ibv_cq>> cqs;
	std::vector<Owned<ibv_qp>> qps, peers;
	for (int i = 0; i < threads; i++) {
		cqs.emplace_back(ibv_create_cq(client.context.get(), 16, nullptr, nullptr, 0));
		QpOptions options;
		options.send_cq = cqs.back().get();
		qps.push_back(create_qp(client, options));
		peers.push_back(create_qp(server));
		connect(qps.back().get(), client, peers.back().get(), server);
	}
	std::atomic<int> failures{0};
	const auto work = [&](std::size_t me) {
		for (int round = 0; round < rounds; round++) {
			Op add = standard(IBV_WR_ATOMIC_FETCH_AND_ADD, {client.memory.sge(me * 64, 8)}, &server.memory);
			add.compare_add = 1;
			failures += post_to(qps[me].get(),
					    {add, prism_read({client.memory.sge(me * 64 + 8, 8)}, server.memory)}) != 0;
			for (int i = 0; i < 2; i++) {
				const auto wc = next(cqs[me].get());
				failures += !wc || wc->status != IBV_WC_SUCCESS;
			}
		}
	};
	std::vector<std::thread> workers;
	for (std::size_t i = 0; i < threads; i++)
		workers.emplace_back(work, i);
	for (std::thread &worker : workers)
		worker.join();
	EXPECT_EQ(failures, 0);
	server.sync();
	EXPECT_EQ(server.memory.word(0), std::uint64_t{threads} * rounds);
	qps.clear();
}

/** Two threads on one queue pair and one completion queue: nothing is lost, nothing comes twice. */
TEST_F(Threads, ThreadsShareAQueuePair)
{
	connect();
	constexpr int each = 300;
	std::atomic<int> done{0}, failures{0};
	const auto poster = [&](std::uint64_t id) {
		for (int i = 0; i < each;) {
			const int error = post({prism_write({}, server.memory).id(id)});
			if (!error)
				i++;
			else if (error != ENOMEM)
				failures++, i++;
			else
				std::this_thread::yield();
		}
	};
	const auto poller = [&] {
		ibv_wc wc;
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
		while (done < 2 * each && std::chrono::steady_clock::now() < end)
			if (ibv_poll_cq(client.cq.get(), 1, &wc) == 1) {
				failures += wc.status != IBV_WC_SUCCESS;
				done++;
			}
	};
	std::vector<std::thread> workers;
	workers.emplace_back(poster, 1);
	workers.emplace_back(poster, 2);
	workers.emplace_back(poller);
	workers.emplace_back(poller);
	for (std::thread &worker : workers)
		worker.join();
	EXPECT_EQ(done, 2 * each);
	EXPECT_EQ(failures, 0);
}

} // namespace
} // namespace verbs_test
