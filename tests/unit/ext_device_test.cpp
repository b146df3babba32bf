/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The library on the userspace device: server and client in one process, each with a context of its own. */
#include <prism/prism.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <set>

namespace
{

using namespace prism;
using namespace std::chrono_literals;

constexpr std::uint32_t buffer_size = 64;
constexpr std::uint32_t buffers = 16;
constexpr std::uint32_t table_words = 8;

std::span<const std::byte> bytes_of(const char *text)
{
	return std::as_bytes(std::span(text, std::strlen(text)));
}

FreeListOptions list_options()
{
	FreeListOptions options;
	options.buffer_size = buffer_size;
	options.count = buffers;
	options.low_water = buffers / 2;
	options.table_size = table_words * sizeof(std::uint64_t);
	return options;
}

struct Server {
	Context context = Context::open("prism_lo", Progress::engine_thread).value();
	ProtectionDomain pd = ProtectionDomain::create(context).value();
	CompletionQueue cq = CompletionQueue::create(context, 64).value();
	FreeList list = FreeList::create(pd, list_options()).value();
	DeviceMemory scratch = DeviceMemory::create(pd, 64).value();
	Reclaimer reclaimer = Reclaimer::create(pd, 16).value();

	Server() { reclaimer.serve(list); }

	QueuePair queue_pair()
	{
		QueuePairOptions options;
		options.srq = reclaimer.receive_queue();
		return QueuePair::create(pd, cq, reclaimer.completion_queue(), options).value();
	}

	/* Polls until @p count reports have arrived. Returns how many buffers went back. */
	int take_reports(std::uint64_t count)
	{
		int released = 0;
		const auto end = std::chrono::steady_clock::now() + 5s;
		while (reclaimer.stats().reports < count && std::chrono::steady_clock::now() < end) {
			const int got = reclaimer.poll();
			EXPECT_GE(got, 0);
			released += got;
		}
		EXPECT_EQ(reclaimer.stats().reports, count);
		return released;
	}
};

class Device : public testing::Test
{
protected:
	void SetUp() override
	{
		TcpListener listener = TcpListener::create(0, "127.0.0.1").value();
		auto served = std::async(std::launch::async, [&] {
			TcpRendezvous side = listener.accept(5s).value();
			ConnectionRecord mine;
			mine.free_lists = {server.list.info()};
			mine.regions = {{1, server.list.table()}, {2, server.scratch.remote()}};
			EXPECT_TRUE(establish(side, server_qp, mine, 5s));
		});
		TcpRendezvous side = TcpRendezvous::connect("127.0.0.1", listener.port(), 5s).value();
		peer = establish(side, qp, {}, 5s).value();
		served.get();
		table = peer.region(1)->region;
		scratch = peer.region(2)->region;
		list = peer.free_lists.front();
	}

	Completion finish()
	{
		Completion completion;
		EXPECT_EQ(cq.wait(completion, 5s), 0);
		return completion;
	}

	Completion run(const Chain &chain)
	{
		EXPECT_EQ(chain.post(qp, 1), 0);
		return finish();
	}

	/* Allocates a buffer; returns its address, 0 if there is none. */
	std::uint64_t allocate(const char *text = "")
	{
		const Completion completion =
			run(Chain{}.allocate(list.number, bytes_of(text)).result(memory.slice(0, 8)));
		EXPECT_FALSE(completion.failed()) << completion.describe();
		return completion.ok() ? *memory.as<std::uint64_t>() : 0;
	}

	void install(std::uint32_t slot, std::uint64_t address)
	{
		const Cas always = Cas::equal(0, address).compare_only(0, 0);
		EXPECT_TRUE(run(Chain{}.cas(table.at(slot * 8), always)).ok());
	}

	/* Adds the buffers that the scan of this test's "data structure" finds. */
	void enumerate(LiveSet &live) const
	{
		for (std::uint32_t slot = 0; slot < table_words; slot++) {
			if (const std::uint64_t address = server.list.storage().as<std::uint64_t>()[slot])
				live.add(address);
		}
	}

	Server server;
	QueuePair server_qp = server.queue_pair();
	Context context = Context::open("prism_lo", Progress::caller).value();
	ProtectionDomain pd = ProtectionDomain::create(context).value();
	CompletionQueue cq = CompletionQueue::create(context, 64).value();
	QueuePair qp = QueuePair::create(pd, cq, cq).value();
	Buffer memory = Buffer::create(pd, 4096).value();
	ConnectionRecord peer;
	RemoteRegion table;
	RemoteRegion scratch;
	FreeListInfo list;
};

TEST_F(Device, Connects)
{
	EXPECT_TRUE(qp.peer_speaks_prism());
	EXPECT_GE(qp.depth(), 128u);
	EXPECT_TRUE(context.is_userspace());
}

TEST_F(Device, ChainInstallsAndIndirectReadFollows)
{
	Chain chain;
	chain.allocate(list.number, bytes_of("hello")).redirect(scratch.at(8));
	chain.cas(table.at(), Cas::equal(0, 0), memory.slice(0, 8)).data_indirect(scratch.at(8)).conditional();
	EXPECT_TRUE(run(chain).ok());

	const Completion read = run(Chain{}.read(table.at(), memory.slice(64, 5)).indirect());
	EXPECT_TRUE(read.ok());
	EXPECT_EQ(read.byte_len, 5u);
	EXPECT_EQ(std::memcmp(memory.data() + 64, "hello", 5), 0);

	EXPECT_EQ(run(chain).status, Status::cas_miss) << "the slot is taken";
	EXPECT_NE(*memory.as<std::uint64_t>(), 0u);
}

TEST_F(Device, MissingPointersAndSkippedSteps)
{
	Chain chain;
	chain.read(table.at(), memory.slice(0, 8)).indirect().signal(7);
	chain.write(table.at(8), bytes_of("12345678")).conditional();
	ASSERT_EQ(chain.post(qp, 8), 0);
	const Completion first = finish();
	EXPECT_EQ(first.wr_id, 7u);
	EXPECT_EQ(first.status, Status::null_pointer);
	const Completion second = finish();
	EXPECT_EQ(second.wr_id, 8u);
	EXPECT_EQ(second.status, Status::skipped);
	EXPECT_EQ(server.list.storage().as<std::uint64_t>()[1], 0u);
}

TEST_F(Device, ReportsBringBuffersBack)
{
	std::set<std::uint64_t> held;
	for (std::uint32_t i = 0; i < buffers; i++)
		held.insert(allocate("x"));
	EXPECT_EQ(held.size(), buffers);
	EXPECT_EQ(allocate(), 0u) << "the list is empty";
	EXPECT_EQ(server.list.refresh(), 0);
	EXPECT_TRUE(server.list.low());

	FreeReporter reporter = FreeReporter::create(qp, list.number).value();
	for (const std::uint64_t address : held)
		EXPECT_EQ(reporter.report(address), 0);
	EXPECT_EQ(reporter.flush(5), 0);
	EXPECT_TRUE(finish().ok());
	EXPECT_EQ(server.take_reports(1), static_cast<int>(buffers));
	EXPECT_EQ(server.list.refresh(), 0);
	EXPECT_FALSE(server.list.low());
	EXPECT_NE(allocate(), 0u);
}

TEST_F(Device, BadReportsAreRefusedAndCounted)
{
	const std::uint64_t address = allocate();
	FreeReporter reporter = FreeReporter::create(qp, list.number).value();
	for (const std::uint64_t bad : {address, address, address + 8, std::uint64_t{1}, address + buffer_size})
		EXPECT_EQ(reporter.report(bad), 0);
	EXPECT_EQ(reporter.flush(5), 0);
	EXPECT_TRUE(finish().ok());
	EXPECT_EQ(server.take_reports(1), 1);
	EXPECT_EQ(server.list.stats().released, 1u);
	EXPECT_EQ(server.list.stats().not_allocated, 2u);
	EXPECT_EQ(server.list.stats().misaligned, 1u);
	EXPECT_EQ(server.list.stats().outside, 1u);
	EXPECT_EQ(server.reclaimer.stats().refused, 4u);
}

TEST_F(Device, MalformedReportsAreCounted)
{
	const LocalSlice junk{reinterpret_cast<std::uint64_t>("junk"), 4, 0};
	EXPECT_EQ(qp.post_send(1, junk, IBV_SEND_INLINE | IBV_SEND_SIGNALED), 0);
	EXPECT_TRUE(finish().ok());
	FreeReporter stranger = FreeReporter::create(qp, list.number + 1).value();
	EXPECT_EQ(stranger.flush(2), 0);
	EXPECT_TRUE(finish().ok());
	EXPECT_EQ(server.take_reports(2), 0);
	EXPECT_EQ(server.reclaimer.stats().malformed, 1u);
	EXPECT_EQ(server.reclaimer.stats().unknown_list, 1u);
}

TEST_F(Device, RecoveryFindsLeakedBuffers)
{
	const std::uint64_t live = allocate("live");
	install(3, live);
	for (int i = 0; i < 5; i++)
		allocate("leaked");
	const Recovery found = server.list.recover([this](LiveSet &set) { enumerate(set); }).value();
	EXPECT_EQ(found.live, 1u);
	EXPECT_EQ(found.outside, 0u);
	EXPECT_EQ(found.recovered, 5u);
	EXPECT_EQ(server.list.refresh(), 0);
	EXPECT_EQ(server.list.available(), buffers - 1);
	EXPECT_EQ(server.list.recover([this](LiveSet &set) { enumerate(set); }).value().recovered, 0u);
}

TEST_F(Device, DrainTakesTheListAndRecoveryPutsItBack)
{
	const std::uint64_t live = allocate("live");
	install(0, live);
	QueuePair self = QueuePair::create(server.pd, server.cq, server.cq).value();
	ASSERT_TRUE(self.connect_to_self());
	EXPECT_EQ(server.list.drain(self, 5s).value(), buffers - 1);
	EXPECT_EQ(allocate(), 0u);
	EXPECT_EQ(server.list.recover([this](LiveSet &set) { enumerate(set); }).value().recovered, 0u);
	EXPECT_EQ(server.list.refresh(), 0);
	EXPECT_EQ(server.list.available(), buffers - 1);
}

/* After a redirect that cannot be written the device takes the buffer back, and the ledger becomes inexact. */
TEST_F(Device, BuffersTakenBackNeedADrainBeforeRecovery)
{
	const Completion failed = run(Chain{}.allocate(list.number, bytes_of("x")).redirect({table.address, 0}));
	EXPECT_TRUE(failed.failed());
	EXPECT_EQ(server.list.refresh(), 0);
	const Result<Recovery> early = server.list.recover([this](LiveSet &set) { enumerate(set); });
	prismdv_free_list_attr counters{};
	ASSERT_EQ(prismdv_query_free_list(server.list.raw(), &counters), 0);
	EXPECT_EQ(early.ok(), counters.reclaimed == 0);

	QueuePair self = QueuePair::create(server.pd, server.cq, server.cq).value();
	ASSERT_TRUE(self.connect_to_self());
	EXPECT_EQ(server.list.drain(self, 5s).value(), buffers);
	EXPECT_EQ(server.list.recover([this](LiveSet &set) { enumerate(set); }).value().recovered, 0u);
	EXPECT_EQ(server.list.refresh(), 0);
	EXPECT_EQ(server.list.available(), buffers);
}

TEST_F(Device, StandardVerbsNeedNoPrismPeer)
{
	QueuePair left = QueuePair::create(server.pd, server.cq, server.cq).value();
	Endpoint silent = left.endpoint();
	silent.capability = {};
	ASSERT_TRUE(left.connect(silent));
	EXPECT_FALSE(left.peer_speaks_prism());
	const Buffer target = Buffer::create(server.pd, 64, access::all).value();
	EXPECT_EQ(Chain{}.rdma_write(target.remote().at(), bytes_of("plain")).post(left, 1), 0);
	Completion completion;
	ASSERT_EQ(server.cq.wait(completion, 5s), 0);
	EXPECT_TRUE(completion.ok());
	EXPECT_EQ(std::memcmp(target.data(), "plain", 5), 0);
	EXPECT_EQ(Chain{}.read(target.remote().at(), target.slice(0, 8)).post(left, 1), EOPNOTSUPP);
}

TEST_F(Device, ErrorsNameCauseAndNextStep)
{
	const Result<Context> missing = Context::open("no_such_device");
	ASSERT_FALSE(missing);
	EXPECT_EQ(missing.error().code, ENODEV);
	EXPECT_NE(missing.error().message.find("prism_lo"), std::string::npos) << missing.error().message;
	FreeListOptions odd = list_options();
	odd.buffer_size = 20;
	EXPECT_EQ(FreeList::create(server.pd, odd).error().code, EINVAL);
	EXPECT_EQ(Buffer::create(pd, 0).error().code, EINVAL);
}

} // namespace
