/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events that a program does not read for long (IBTA 11.6.3), and several threads that poll one queue. */
#include "harness.hpp"

#include <poll.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>

namespace verbs_test
{
namespace
{

/** More than a socket of the device holds. */
constexpr int many = 700;

/**
 * Runs @p call, and ends the process if it does not return: it keeps the objects of the test, so nothing can be tested
 * after it.
 */
void must_return(const std::function<void()> &call)
{
	std::future<void> done = std::async(std::launch::async, call);
	if (done.wait_for(std::chrono::seconds(10)) == std::future_status::ready)
		return;
	std::fputs("a call did not return\n", stderr);
	std::_Exit(1);
}

bool readable(int fd)
{
	pollfd end{fd, POLLIN, 0};
	return ::poll(&end, 1, 0) == 1;
}

/** Moves the queue pair from RESET to ERROR, by way of INIT. */
void fail(ibv_qp *qp)
{
	ibv_qp_attr attr = init_attr(0);
	ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
	ASSERT_EQ(move_to(qp, IBV_QPS_ERR), 0);
}

class Events : public Fabric
{
protected:
	Events()
	{
		if (devices.kernel)
			skip("the kernel's own queues of events");
	}

	/** Raises @p count events: each time, the queue pair reports that it takes no more from @p srq. */
	void raise_events(ibv_qp *of, int count)
	{
		for (int i = 0; i < count; i++) {
			fail(of);
			ASSERT_EQ(move_to(of, IBV_QPS_RESET), 0);
		}
	}

	/**
	 * Raises @p count completion events: each time, arms @p cq, and polls a completion. @p failed is a queue pair
	 * in error.
	 */
	void raise_completions(ibv_cq *cq, ibv_qp *failed, int count)
	{
		for (int i = 0; i < count; i++) {
			ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
			post_recv(failed, {});
			ASSERT_TRUE(next(cq));
		}
	}

	Owned<ibv_srq> shared_queue()
	{
		ibv_srq_init_attr attr{nullptr, {1, 1, 0}};
		return Owned<ibv_srq>(ibv_create_srq(client.pd.get(), &attr));
	}
};

TEST_F(Events, AsynchronousOnesThatNobodyReadsAreKept)
{
	const Owned<ibv_srq> srq = shared_queue();
	QpOptions options;
	options.srq = srq.get();
	qp = create_qp(client, options);
	Owned<ibv_qp> other = create_qp(client, options);
	raise_events(qp.get(), many);
	raise_events(other.get(), 1);
	must_return([&] { other.reset(); });
	int arrived = 0;
	for (ibv_async_event event; readable(client.context->async_fd); arrived++) {
		ASSERT_EQ(ibv_get_async_event(client.context.get(), &event), 0);
		EXPECT_EQ(event.element.qp, qp.get());
		ibv_ack_async_event(&event);
	}
	EXPECT_EQ(arrived, many);
	must_return([&] { qp.reset(); });
}

TEST_F(Events, AQueuePairIsDestroyedWhoseEventsNobodyReads)
{
	const Owned<ibv_srq> srq = shared_queue();
	QpOptions options;
	options.srq = srq.get();
	qp = create_qp(client, options);
	raise_events(qp.get(), many);
	must_return([&] { qp.reset(); });
	EXPECT_FALSE(readable(client.context->async_fd));
}

TEST_F(Events, AQueueThatOverflowsOnAndOnIsOneError)
{
	Owned<ibv_cq> cq(ibv_create_cq(client.context.get(), 1, nullptr, nullptr, 0));
	QpOptions options;
	options.recv_cq = cq.get();
	qp = create_qp(client, options);
	connect();
	ASSERT_EQ(move_to(qp.get(), IBV_QPS_ERR), 0);
	for (int i = 0; i < 5; i++)
		post_recv(qp.get(), {});
	EXPECT_EQ(client.counter("cq_overflows"), 4u);
	EXPECT_EQ(async_event(client), IBV_EVENT_CQ_ERR);
	EXPECT_FALSE(readable(client.context->async_fd));
	qp.reset();
	must_return([&] { cq.reset(); });
}

TEST_F(Events, CompletionEventsThatNobodyReadsAreKept)
{
	const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(client.context.get()));
	Owned<ibv_cq> first(ibv_create_cq(client.context.get(), 1, nullptr, channel.get(), 0));
	Owned<ibv_cq> second(ibv_create_cq(client.context.get(), 1, nullptr, channel.get(), 0));
	QpOptions options;
	options.recv_cq = first.get();
	qp = create_qp(client, options);
	options.recv_cq = second.get();
	Owned<ibv_qp> other = create_qp(client, options);
	for (ibv_qp *each : {qp.get(), other.get()})
		fail(each);
	raise_completions(first.get(), qp.get(), many);
	raise_completions(second.get(), other.get(), 1);
	qp.reset();
	must_return([&] { first.reset(); });
	ibv_cq *cq = nullptr;
	void *cq_context;
	ASSERT_TRUE(readable(channel->fd));
	ASSERT_EQ(ibv_get_cq_event(channel.get(), &cq, &cq_context), 0);
	EXPECT_EQ(cq, second.get());
	int arrived = 1;
	raise_completions(second.get(), other.get(), many);
	for (; readable(channel->fd); arrived++)
		ASSERT_EQ(ibv_get_cq_event(channel.get(), &cq, &cq_context), 0);
	EXPECT_EQ(arrived, many + 1);
	ibv_ack_cq_events(second.get(), static_cast<unsigned>(arrived));
	other.reset();
	must_return([&] { second.reset(); });
}

class ExtendedQueue : public Fabric
{
protected:
	/** Queue pairs whose receives complete at once. */
	void create(std::uint32_t flags)
	{
		ibv_cq_init_attr_ex attr{};
		attr.cqe = 1024;
		attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
		attr.flags = flags;
		cq.reset(ibv_cq_ex_to_cq(ibv_create_cq_ex(client.context.get(), &attr)));
		ASSERT_TRUE(cq);
		QpOptions options;
		options.recv_cq = cq.get();
		qp = create_qp(client, options);
		fail(qp.get());
	}
	~ExtendedQueue() override { qp.reset(); }

	[[nodiscard]] ibv_cq_ex *ex() const { return reinterpret_cast<ibv_cq_ex *>(cq.get()); }
	void complete(std::uint64_t id) { post_recv(qp.get(), {}, id); }

	Owned<ibv_cq> cq;
};

TEST_F(ExtendedQueue, EachPollerHasWhatItPolled)
{
	create(0);
	complete(1);
	complete(2);
	ibv_poll_cq_attr attr{};
	ASSERT_EQ(ibv_start_poll(ex(), &attr), 0);
	std::future<std::uint64_t> other = std::async(std::launch::async, [this] {
		ibv_poll_cq_attr none{};
		if (ibv_start_poll(ex(), &none))
			return std::uint64_t{0};
		const std::uint64_t id = ex()->wr_id;
		ibv_end_poll(ex());
		return id;
	});
	/* Long enough for the other to poll, if it does not wait: with two cursors it would have the second by now. */
	other.wait_for(std::chrono::milliseconds(20));
	EXPECT_EQ(ex()->wr_id, 1u);
	ibv_end_poll(ex());
	EXPECT_EQ(other.get(), 2u);
}

TEST_F(ExtendedQueue, TwoPollersLoseNothingAndSeeNothingTwice)
{
	create(0);
	constexpr std::size_t count = 20000;
	std::vector<std::atomic<int>> seen(count);
	std::atomic<std::size_t> total{0};
	const auto poll = [&] {
		ibv_poll_cq_attr attr{};
		while (total < count) {
			if (ibv_start_poll(ex(), &attr)) {
				std::this_thread::yield();
				continue;
			}
			do {
				seen.at(ex()->wr_id)++;
				total++;
			} while (!ibv_next_poll(ex()));
			ibv_end_poll(ex());
		}
	};
	std::thread first(poll), second(poll);
	for (std::size_t i = 0; i < count; i++) {
		complete(i);
		while (i - total.load() > 500 && i > total)
			std::this_thread::yield();
	}
	first.join();
	second.join();
	for (const auto &times : seen)
		ASSERT_EQ(times, 1);
}

TEST_F(ExtendedQueue, OfASingleThreadIsPolledWithoutALock)
{
	create(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	complete(1);
	complete(2);
	ibv_poll_cq_attr attr{};
	ASSERT_EQ(ibv_start_poll(ex(), &attr), 0);
	ASSERT_EQ(ibv_start_poll(ex(), &attr), 0) << "nobody waits";
	EXPECT_EQ(ex()->wr_id, 2u);
	ibv_end_poll(ex());
}

TEST_F(ExtendedQueue, UnknownFlagsAreRefused)
{
	ibv_cq_init_attr_ex attr{};
	attr.cqe = 1;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = 1 << 30;
	EXPECT_EQ(ibv_create_cq_ex(client.context.get(), &attr), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

} // namespace
} // namespace verbs_test
