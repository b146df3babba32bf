/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Grace periods across device contexts of one process (docs/semantics.md S.7.3): a READ is under way in one, and the
 * buffer that it reads is posted to a free list of another.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <unistd.h>
#include <vector>

#include "node.hpp"

namespace
{

using namespace prism::test;
using prism::soft::Engine;
using prism::soft::no_request;
using prism::soft::RequestEpochs;
using prism::soft::RunningRequests;
using prism::soft::Time;

constexpr std::uint64_t base = 0x100000;
constexpr std::uint32_t size = 256 << 10;
constexpr std::uint32_t rights = prism::soft::access_local_write | prism::soft::access_remote_read |
				 prism::soft::access_remote_write | prism::soft::access_remote_atomic;

std::uint32_t add_region(Node &node, std::vector<std::uint8_t> &memory)
{
	return node.engine.memory.add_region(memory.data(), base, memory.size(), rights, 1);
}

class GraceAcrossContexts : public testing::Test
{
protected:
	GraceAcrossContexts()
	{
		for (auto [server, client] : {std::pair{&*reads_, &reader_}, {&lists_, &allocator_}}) {
			server->connect(*client, {});
			client->connect(*server, {});
		}
		lists_node_.engine.add_srq(list_);
	}

	void post_read()
	{
		prism_request fields{};
		fields.op = PRISM_READ;
		fields.va = base;
		fields.length = size;
		fields.rkey = reads_key_;
		post(reader_, fields, {base, size, add_region(reader_.node, read_)});
	}

	/** Allocates; returns the completion's vendor_err, a status. */
	std::uint32_t allocate()
	{
		prism_request fields{};
		fields.op = PRISM_ALLOCATE;
		fields.free_list = list_.number;
		fields.length = 64;
		post(allocator_, fields, {base, 64, add_region(allocator_.node, written_)});
		exchange(allocator_.node, lists_.node);
		exchange(lists_.node, allocator_.node);
		ibv_wc completion{};
		EXPECT_EQ(allocator_.send_cq.poll(1, &completion), 1);
		EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
		return completion.vendor_err;
	}

	/** Hands all packets of @p from to @p to. */
	void exchange(Node &from, Node &to)
	{
		from.engine.progress(now_);
		for (std::size_t i = 0; i < from.outbox.size(); i++)
			to.engine.receive({from.address, {}}, from.outbox.at(i).bytes, now_);
		from.outbox.clear();
		to.engine.progress(now_);
	}

	[[nodiscard]] bool reading() const { return reads_->qp.resp.stream.active; }

	void finish_read()
	{
		for (int i = 0; i < 100'000 && reading(); i++) {
			now_ = std::max(now_ + 1, reads_node_.engine.next_deadline());
			exchange(reads_node_, reader_.node);
		}
		EXPECT_FALSE(reading());
	}

	static void post(Endpoint &endpoint, const prism_request &fields, const prism::soft::Sge &local)
	{
		prism::soft::SendRequest &request = *endpoint.next();
		set_prism(endpoint, request, fields, {});
		endpoint.post(request, {&local, 1});
	}

	RequestEpochs process_;
	Node reads_node_{1, 0x100, 64, {nullptr, &process_}}, lists_node_{2, 0x200, 64, {nullptr, &process_}};
	Node reader_node_{3}, allocator_node_{4};
	std::optional<Endpoint> reads_{std::in_place, reads_node_, EndpointOptions{}};
	Endpoint lists_{lists_node_, {}}, reader_{reader_node_, {}}, allocator_{allocator_node_, {}};
	prism::soft::SharedReceiveQueue list_{lists_node_.engine.take_srqn(), 1, 4, 1, true};
	std::vector<std::uint8_t> shared_ = std::vector<std::uint8_t>(size), read_ = shared_, written_ = shared_;
	std::uint32_t reads_key_ = add_region(reads_node_, shared_), lists_key_ = add_region(lists_node_, shared_);
	Time now_ = 1;
};

TEST_F(GraceAcrossContexts, ABufferWaitsForAReadInAnotherContext)
{
	post_read();
	exchange(reader_.node, reads_node_);
	ASSERT_TRUE(reading());
	lists_node_.engine.post_free_list(list_, 7, {base, size, lists_key_});
	EXPECT_EQ(allocate(), PRISM_STATUS_NO_BUFFER);
	EXPECT_EQ(allocate(), PRISM_STATUS_NO_BUFFER);
	EXPECT_EQ(lists_node_.engine.allocatable(list_), 0u);
	finish_read();
	EXPECT_EQ(lists_node_.engine.allocatable(list_), 1u) << "without further traffic";
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
}

TEST_F(GraceAcrossContexts, AReadThatBeginsLaterIsNotWaitedFor)
{
	lists_node_.engine.post_free_list(list_, 7, {base, size, lists_key_});
	EXPECT_EQ(lists_node_.engine.allocatable(list_), 1u);
	post_read();
	exchange(reader_.node, reads_node_);
	ASSERT_TRUE(reading());
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
}

TEST_F(GraceAcrossContexts, AReadThatIsCutOffIsNotWaitedFor)
{
	post_read();
	exchange(reader_.node, reads_node_);
	lists_node_.engine.post_free_list(list_, 7, {base, size, lists_key_});
	EXPECT_EQ(allocate(), PRISM_STATUS_NO_BUFFER);
	reads_node_.engine.reset_qp(reads_->qp); /* and nothing drives this context any more */
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
}

TEST_F(GraceAcrossContexts, AContextThatIsClosedIsNotWaitedFor)
{
	auto other = std::make_unique<RunningRequests>(process_);
	other->enter();
	lists_node_.engine.post_free_list(list_, 7, {base, size, lists_key_});
	EXPECT_EQ(allocate(), PRISM_STATUS_NO_BUFFER);
	other.reset();
	EXPECT_EQ(allocate(), PRISM_STATUS_OK);
}

/** Requests that begin while an older one is under way do not count in its place. */
TEST(RunningRequests, TheOldestCounts)
{
	RequestEpochs process;
	RunningRequests own(process), other(process);
	other.enter();
	const prism::soft::RequestEpoch old = other.epoch();
	EXPECT_EQ(process.oldest_beside(own), old);
	other.leave(old); /* it stays under way */
	process.end_current();
	other.enter();
	EXPECT_GT(other.epoch(), old);
	EXPECT_EQ(process.oldest_beside(own), old);
	other.leave(no_request);
	EXPECT_EQ(process.oldest_beside(own), no_request);
}

/** A child has no thread that would end a request of its parent's. */
TEST(RunningRequests, AChildDoesNotWaitForItsParents)
{
	RequestEpochs &process = RequestEpochs::of_process();
	RunningRequests parents(process);
	parents.enter();
	const auto work_of_child = [&process] {
		const RunningRequests own(process);
		_exit(process.oldest_beside(own) == no_request ? 0 : 1);
	};
	EXPECT_EXIT(work_of_child(), testing::ExitedWithCode(0), "");
	EXPECT_NE(process.oldest_beside(RunningRequests(process)), no_request) << "the parent does";
	parents.leave(no_request);
}

/*
 * Threads act as contexts: readers take the pointer and check what it points to; an owner takes the pointer away, waits
 * as a free list does, and writes. A reader that finds what was written held a buffer that was handed out too early.
 */
TEST(RunningRequests, NoReaderIsOvertaken)
{
	constexpr int enough = 200'000, most = 50'000'000;
	RequestEpochs process;
	RunningRequests own(process);
	std::atomic<const std::atomic<int> *> pointer{nullptr};
	std::atomic<bool> done{false};
	std::atomic<int> overtaken{0}, found{0};
	std::vector<std::thread> readers;
	for (int i = 0; i < 2; i++) {
		readers.emplace_back([&] {
			RunningRequests requests(process);
			while (!done) {
				requests.enter();
				if (const std::atomic<int> *target = pointer) {
					const int first = *target;
					found++;
					for (int again = 0; again < 20; again++)
						overtaken += *target != first;
				}
				requests.leave(no_request);
			}
		});
	}
	std::atomic<int> buffers[2] = {};
	for (int round = 0; found < enough && round < most; round++) {
		pointer = &buffers[round % 2];
		if (round % 16 == 0)
			std::this_thread::yield(); /* otherwise readers find nothing if all processors are busy */
		pointer = nullptr;
		const auto ended = process.end_current();
		while (process.oldest_beside(own) <= ended)
			std::this_thread::yield();
		buffers[round % 2] = round + 1;
	}
	done = true;
	for (std::thread &reader : readers)
		reader.join();
	EXPECT_GE(found, enough);
	EXPECT_EQ(overtaken, 0);
}

} // namespace
