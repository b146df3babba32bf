/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients that break the protocol of their way. Whatever they do, only their own connections are closed. */
#include "support.hpp"

#include <prism/chain.hpp>

#include "rpc/datagram/fragments.hpp"
#include "rpc/fetch/layout.hpp"
#include "rpc/protocol/frame.hpp"
#include "rpc/slots/layout.hpp"
#include "rpc/window/layout.hpp"

#include <linux/filter.h>
#include <sys/socket.h>

namespace
{

using namespace calls;

/* Client that introduces itself correctly, and then does anything. */
class RawClient
{
public:
	/* name: of a client that may come back */
	RawClient(
		const Context &context, std::uint16_t port, Way way, std::uint32_t depth = 2, const ClientId &name = {})
		: pd_(ProtectionDomain::create(context).value()), cq_(CompletionQueue::create(context, 64).value()),
		  qp_(QueuePair::create(pd_, cq_, cq_).value()), memory_(Buffer::create(pd_, 65536).value()),
		  link_(TcpRendezvous::connect("127.0.0.1", port, 2s).value())
	{
		Introduction me = Introduction::create().value();
		me.way = way;
		if (name != ClientId{}) {
			me.client = name;
			me.stay = Stay::kept;
		}
		ConnectionRecord mine;
		mine.endpoint = qp_.endpoint();
		mine.private_data = apps::Hello{echo_kind, 0, 0, depth}.serialize(me.serialize());
		const auto deadline = std::chrono::steady_clock::now() + 2s;
		record = link_.swap(mine, deadline).value();
		EXPECT_TRUE(qp_.connect(record.endpoint));
		EXPECT_TRUE(link_.barrier(deadline));
	}

	/* Returns false if the request, and with it the connection, has failed. */
	bool run(const Chain &chain)
	{
		EXPECT_EQ(chain.post(qp_, 1), 0);
		Completion completion;
		return cq_.wait(completion, 3s) == 0 && !completion.failed();
	}
	bool send(std::span<const std::byte> message)
	{
		std::memcpy(memory_.data(), message.data(), message.size());
		EXPECT_EQ(qp_.post_send(
				  1, memory_.slice(0, static_cast<std::uint32_t>(message.size())), IBV_SEND_SIGNALED),
			0);
		Completion completion;
		return cq_.wait(completion, 3s) == 0 && !completion.failed();
	}
	bool gone()
	{
		return wait_until([&] { return link_.peer_gone(); });
	}
	/* Drops what comes to the link, as if its host were gone. */
	void vanish()
	{
		sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
		const sock_fprog program{1, &drop};
		ASSERT_EQ(::setsockopt(link_.fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
	}
	[[nodiscard]] RemoteAddress at(std::uint32_t region, std::size_t offset) const
	{
		return record.region(region)->region.at(offset);
	}
	std::byte *memory() { return memory_.data(); }
	LocalSlice slice(std::uint32_t bytes) { return memory_.slice(0, bytes); }

	ConnectionRecord record;

private:
	ProtectionDomain pd_;
	CompletionQueue cq_;
	QueuePair qp_;
	Buffer memory_;
	TcpRendezvous link_;
};

/* Returns a request for a response of 8 bytes, after a frame. */
std::vector<std::byte> framed(std::uint32_t seq, bool with_checksum, std::uint32_t size_told = 0)
{
	std::vector<std::byte> bytes(frame_size + message_header_size + wish_size);
	MessageHeader header;
	header.call = 1;
	header.id = std::uint64_t{1} << 32;
	header.serialize_request(&bytes[frame_size]);
	const Wish wish{8, 0, 3};
	std::memcpy(&bytes[frame_size + message_header_size], &wish, sizeof(wish));
	Frame frame;
	frame.seq = seq;
	frame.size = size_told ? size_told : static_cast<std::uint32_t>(bytes.size() - frame_size);
	if (with_checksum)
		frame.crc = frame.checksum(std::span(bytes).subspan(frame_size));
	frame.store(bytes.data());
	return bytes;
}

class Hostile : public testing::Test
{
protected:
	void serve(Way way)
	{
		served = std::make_unique<Served>(way, [](ServerOptions &options) { options.torn_limit = 300ms; });
	}
	RawClient client(Way way) { return RawClient(served->client_context, served->port(), way); }

	void expect_service(Way way)
	{
		ClientOptions options;
		options.way = way;
		options.depth = 4;
		const auto link = served->connect(options);
		Caller caller(*link);
		caller.run(50, [] { return Wish{100, 0, 2}; });
		EXPECT_EQ(caller.answered, 50u);
	}
	void expect_closed(RawClient &peer, Way way, const std::string &reason)
	{
		EXPECT_TRUE(peer.gone());
		EXPECT_TRUE(wait_until([&] { return served->log.has(reason); })) << served->log.text();
		EXPECT_TRUE(wait_until([&] { return served->stats().malformed == 1; }));
		expect_service(way);
	}

	std::unique_ptr<Served> served;
};

/*
 * So many clients with long responses are lost that nothing is kept of the first one. It may be let in until its worker
 * has seen that, but not again and again.
 */
TEST(HostileCrowd, NothingIsKeptAnyMore)
{
	constexpr std::uint32_t longest = 60000;
	constexpr std::uint32_t depth = 64;
	Served served(Way::two_sided, [](ServerOptions &options) {
		options.threads = 1;
		options.max_value_size = longest;
		options.max_depth = depth;
		options.receive_buffers = 4 * depth;
	});
	ClientOptions again;
	again.again = ClientId{std::byte{1}};
	(void)RawClient(served.client_context, served.port(), Way::two_sided, 1, again.again);
	EXPECT_TRUE(wait_until([&] { return served.stats().open == 0; }));
	ClientOptions crowd;
	crowd.depth = depth;
	crowd.resumable = true;
	std::uint64_t calls = 0;
	for (std::size_t bytes = 0; bytes < Departed::most_bytes; bytes += std::size_t{depth} * longest) {
		const auto link = served.connect(crowd);
		Caller caller(*link);
		for (std::uint32_t slot = 0; slot < depth; slot++)
			caller.begin(slot, Wish{longest, 0, ++calls});
		link->flush();
		EXPECT_TRUE(wait_until([&] { return served.echo.executed == calls; }));
	}
	const auto deserted = [&served] { return served.stats().open == 0; };
	EXPECT_TRUE(wait_until(deserted));
	/*
	 * A client that is let in waits until the server closes it: else the server takes it for one that left by
	 * itself.
	 */
	const auto try_again = [&] {
		const auto link = served.try_connect(again);
		if (!link)
			return link.error().code;
		Caller caller(**link);
		caller.begin(0, Wish{100, 0, 1});
		caller.finish();
		EXPECT_NE((*link)->broken(), 0);
		return 0;
	};
	int last = 0;
	EXPECT_TRUE(wait_until([&] {
		last = try_again();
		EXPECT_TRUE(wait_until(deserted));
		return last == ESTALE;
	})) << last;
	EXPECT_LE(served.stats().malformed, 2u);
}

TEST_F(Hostile, AHostThatVanishesLeavesItsPlace)
{
	serve(Way::two_sided);
	const RawClient silent = client(Way::two_sided);
	RawClient gone = client(Way::two_sided);
	ASSERT_TRUE(wait_until([this] { return served->stats().open == 2; }));
	gone.vanish();
	EXPECT_TRUE(wait_until([this] { return served->stats().open == 1; }));
	std::this_thread::sleep_for(1s);
	EXPECT_EQ(served->stats().open, 1u);
}

/* fetch: clients WRITE requests into the server's memory. */

class HostileFetch : public Hostile
{
protected:
	void SetUp() override { serve(Way::fetch); }
	fetch::Layout layout(const RawClient &peer) const
	{
		return *fetch::Layout::of(2, peer.record.region(fetch::request_region)->region.length,
			peer.record.region(fetch::response_region)->region.length);
	}
	bool request(RawClient &peer, const std::vector<std::byte> &bytes, std::uint32_t call = 0)
	{
		return peer.run(Chain{}.rdma_write(
			peer.at(fetch::request_region, layout(peer).request_offset(call)), std::span(bytes)));
	}
};

TEST_F(HostileFetch, WellBehavedIsServed)
{
	RawClient peer = client(Way::fetch);
	ASSERT_TRUE(request(peer, framed(first_seq, true)));
	EXPECT_TRUE(wait_until([&] { return served->echo.executed == 1; }));
	ASSERT_TRUE(peer.run(Chain{}.rdma_read(peer.at(fetch::response_region, 0), peer.slice(256))));
	const Frame frame = Frame::load(peer.memory());
	EXPECT_EQ(frame.seq, first_seq);
	EXPECT_EQ(frame.size, message_header_size + 8);
	EXPECT_EQ(frame.crc, frame.checksum({peer.memory() + frame_size, frame.size}));
}

TEST_F(HostileFetch, OutOfTurn)
{
	RawClient peer = client(Way::fetch);
	ASSERT_TRUE(request(peer, framed(first_seq + 1, true)));
	expect_closed(peer, Way::fetch, "a request out of turn");
	EXPECT_EQ(served->echo.executed, 50u);
}

TEST_F(HostileFetch, SizeThatLies)
{
	RawClient peer = client(Way::fetch);
	ASSERT_TRUE(request(peer, framed(first_seq, true, 1 << 30)));
	expect_closed(peer, Way::fetch, "a request of 1073741824 bytes");
}

TEST_F(HostileFetch, ChecksumThatNeverFits)
{
	RawClient peer = client(Way::fetch);
	ASSERT_TRUE(request(peer, framed(first_seq, false)));
	expect_closed(peer, Way::fetch, "a request whose checksum does not fit");
}

TEST_F(HostileFetch, WantsAReplyAndIsNotRegistered)
{
	RawClient peer = client(Way::fetch);
	const std::uint64_t seq = first_seq;
	ASSERT_TRUE(peer.run(Chain{}.rdma_write(
		peer.at(fetch::request_region, layout(peer).mode_offset(0)), std::as_bytes(std::span(&seq, 1)))));
	ASSERT_TRUE(request(peer, framed(first_seq, true)));
	expect_closed(peer, Way::fetch, "does not say where to");
}

TEST_F(HostileFetch, RegistersWhatIsNotItsOwn)
{
	RawClient peer = client(Way::fetch);
	fetch::Registration registration{0x1000, 12345, 0};
	registration.crc = registration.checksum();
	ASSERT_TRUE(peer.run(
		Chain{}.rdma_write(peer.at(fetch::request_region, 0), std::as_bytes(std::span(&registration, 1)))));
	const std::uint64_t seq = first_seq;
	ASSERT_TRUE(peer.run(Chain{}.rdma_write(
		peer.at(fetch::request_region, layout(peer).mode_offset(0)), std::as_bytes(std::span(&seq, 1)))));
	(void)request(peer, framed(first_seq, true));
	EXPECT_TRUE(peer.gone());
	EXPECT_TRUE(wait_until([&] { return served->stats().vanished == 1; }));
	expect_service(Way::fetch);
}

TEST_F(HostileFetch, CannotWriteResponsesNorReadRequests)
{
	RawClient one = client(Way::fetch);
	const std::uint64_t word = 7;
	EXPECT_FALSE(
		one.run(Chain{}.rdma_write(one.at(fetch::response_region, 0), std::as_bytes(std::span(&word, 1)))));
	RawClient other = client(Way::fetch);
	EXPECT_FALSE(other.run(Chain{}.rdma_read(other.at(fetch::request_region, 0), other.slice(8))));
	expect_service(Way::fetch);
}

TEST_F(HostileFetch, AMessageThatIsNone)
{
	RawClient peer = client(Way::fetch);
	std::vector<std::byte> bytes = framed(first_seq, false);
	std::fill(bytes.begin() + frame_size, bytes.end(), std::byte{0x5a});
	Frame frame = Frame::load(bytes.data());
	frame.crc = frame.checksum(std::span(bytes).subspan(frame_size));
	frame.store(bytes.data());
	ASSERT_TRUE(request(peer, bytes));
	expect_closed(peer, Way::fetch, "malformed request: wrong magic");
}

/* slots: a client forges the pointers in a slot. */

class HostileSlots : public Hostile
{
protected:
	void SetUp() override { serve(Way::slots); }
	bool show(RawClient &peer, std::uint64_t address, std::uint32_t bound, std::uint32_t tag)
	{
		const prismdv_bounded_ptr pointer{address, bound, tag};
		return peer.run(
			Chain{}.rdma_write(peer.at(slots::slot_region, 0), std::as_bytes(std::span(&pointer, 1))));
	}
	bool allocate(RawClient &peer, const std::vector<std::byte> &bytes, std::uint32_t tag)
	{
		return peer.run(Chain{}.allocate(peer.record.free_lists[0].number, std::span(bytes))
					.redirect_bounded(peer.at(slots::slot_region, 0), tag));
	}
};

TEST_F(HostileSlots, WellBehavedIsServed)
{
	RawClient peer = client(Way::slots);
	ASSERT_TRUE(allocate(peer, framed(first_seq, false), first_seq));
	EXPECT_TRUE(wait_until([&] { return served->echo.executed == 1; }));
	EXPECT_TRUE(wait_until([&] {
		return peer.run(Chain{}.read(peer.at(slots::slot_region, slots::response_offset(first_seq)),
					       peer.slice(256))
					.indirect_bounded()) &&
		       Frame::load(peer.memory()).seq == first_seq;
	}));
}

TEST_F(HostileSlots, PointersThatLeadElsewhere)
{
	RawClient first = client(Way::slots);
	const FreeListInfo list = first.record.free_lists[0];
	ASSERT_TRUE(show(first, list.buffers.address - list.buffer_size, 64, first_seq));
	expect_closed(first, Way::slots, "a request that is in no buffer");
	for (const std::uint64_t address : {std::uint64_t{1}, list.buffers.address + 8, ~std::uint64_t{0},
		     list.buffers.address + list.buffers.length, std::uint64_t{0x7fffffffffff}}) {
		RawClient peer = client(Way::slots);
		ASSERT_TRUE(show(peer, address, 64, first_seq));
		EXPECT_TRUE(peer.gone());
	}
	expect_service(Way::slots);
	EXPECT_EQ(served->stats().malformed, 6u);
}

TEST_F(HostileSlots, BoundBeyondTheBuffer)
{
	RawClient peer = client(Way::slots);
	const FreeListInfo list = peer.record.free_lists[0];
	ASSERT_TRUE(show(peer, list.buffers.address, list.buffer_size + 1, first_seq));
	expect_closed(peer, Way::slots, "a request that is in no buffer");
}

TEST_F(HostileSlots, FramesThatLie)
{
	RawClient peer = client(Way::slots);
	ASSERT_TRUE(allocate(peer, framed(first_seq, false, 1000), first_seq));
	expect_closed(peer, Way::slots, "a request whose frame does not fit");
	RawClient other = client(Way::slots);
	ASSERT_TRUE(allocate(other, framed(first_seq + 1, false), first_seq));
	EXPECT_TRUE(other.gone());
	RawClient shortest = client(Way::slots);
	ASSERT_TRUE(allocate(shortest, std::vector<std::byte>(3), first_seq));
	EXPECT_TRUE(shortest.gone());
	expect_service(Way::slots);
}

TEST_F(HostileSlots, OutOfTurn)
{
	RawClient peer = client(Way::slots);
	ASSERT_TRUE(allocate(peer, framed(7, false), 7));
	expect_closed(peer, Way::slots, "a request out of turn");
}

/* Requests of others wait, as there is no buffer. When the client has gone, its buffers are found to be lost. */
TEST_F(HostileSlots, EmptiesTheListAndLeaves)
{
	served = std::make_unique<Served>(Way::slots, [](ServerOptions &options) {
		options.threads = 1;
		options.lost_after = 300ms;
	});
	auto greedy = std::make_unique<RawClient>(served->client_context, served->port(), Way::slots);
	const std::vector<std::byte> bytes = framed(first_seq, false);
	std::uint32_t taken = 0;
	for (std::uint64_t address = 1; address; taken++) {
		ASSERT_LT(taken, 10000u);
		ASSERT_TRUE(greedy->run(Chain{}.allocate(greedy->record.free_lists[0].number, std::span(bytes))
						.result(greedy->slice(8))));
		std::memcpy(&address, greedy->memory(), 8);
	}
	ClientOptions options;
	options.way = Way::slots;
	options.depth = 4;
	const auto link = served->connect(options);
	Caller caller(*link);
	caller.begin(0, {100, 0, 2});
	for (int i = 0; i < 10000; i++)
		link->poll(caller);
	EXPECT_EQ(caller.answered, 0u);
	EXPECT_GT(link->counters().refused, 0u);
	greedy.reset();
	caller.finish();
	caller.run(200, [] { return Wish{100, 0, 2}; });
	EXPECT_EQ(caller.answered, 201u);
}

/* Clients that stop fetching keep all buffers for responses, so that requests of others wait in their slots. */
TEST_F(HostileSlots, NeverFetches)
{
	served = std::make_unique<Served>(Way::slots, [](ServerOptions &options) {
		options.threads = 1;
		options.receive_buffers = 16;
		options.lost_after = 300ms;
	});
	ClientOptions options;
	options.way = Way::slots;
	options.depth = 8;
	std::vector<std::unique_ptr<ClientLink>> stopped;
	for (std::uint64_t calls = 8; calls <= 16; calls += 8) {
		stopped.push_back(served->connect(options));
		Caller caller(*stopped.back());
		for (std::uint32_t slot = 0; slot < 8; slot++)
			caller.begin(slot, {100, 0, 2});
		stopped.back()->flush();
		ASSERT_TRUE(wait_until([&] { return served->echo.executed == calls; }));
	}
	const auto link = served->connect(options);
	Caller caller(*link);
	caller.run(100, [] { return Wish{100, 0, 2}; });
	EXPECT_EQ(caller.answered, 100u);
	EXPECT_TRUE(served->log.has("does not fetch them")) << served->log.text();
	EXPECT_EQ(served->stats().vanished, 2u);
}

/* window: requests with impossible values. */

class HostileWindow : public Hostile
{
protected:
	void SetUp() override { serve(Way::window); }
	static std::vector<std::byte> request(std::uint32_t epoch, std::uint64_t consumed)
	{
		std::vector<std::byte> bytes = framed(first_seq, false);
		std::memset(bytes.data(), 0, window::prefix_size);
		std::memcpy(&bytes[0], &epoch, sizeof(epoch));
		std::memcpy(&bytes[8], &consumed, sizeof(consumed));
		return bytes;
	}
};

TEST_F(HostileWindow, WellBehavedIsServed)
{
	RawClient peer = client(Way::window);
	ASSERT_TRUE(peer.send(request(0, 0)));
	EXPECT_TRUE(wait_until([&] {
		return peer.run(Chain{}.read(peer.at(window::window_region, 0), peer.slice(256)).indirect_bounded()) &&
		       Frame::load(peer.memory()).seq == first_seq;
	}));
}

TEST_F(HostileWindow, ConsumesMoreThanThereIs)
{
	RawClient peer = client(Way::window);
	ASSERT_TRUE(peer.send(request(0, 1)));
	expect_closed(peer, Way::window, "names responses which cannot be");
}

TEST_F(HostileWindow, AnEpochThatNeverWas)
{
	RawClient peer = client(Way::window);
	ASSERT_TRUE(peer.send(request(5, 0)));
	expect_closed(peer, Way::window, "names responses which cannot be");
}

TEST_F(HostileWindow, AMessageWithoutPrefix)
{
	RawClient peer = client(Way::window);
	ASSERT_TRUE(peer.send(std::vector<std::byte>(window::prefix_size - 1)));
	expect_closed(peer, Way::window, "names responses which cannot be");
}

/* The client consumes nothing, so that the ring fills: its own requests wait, up to the number that it announced. */
TEST_F(HostileWindow, NeverReads)
{
	RawClient peer = client(Way::window);
	for (int i = 0; i < 2000 && peer.send(request(0, 0)); i++)
		;
	EXPECT_TRUE(peer.gone());
	EXPECT_TRUE(served->log.has("more requests at once than the 2 that it announced")) << served->log.text();
	expect_service(Way::window);
}

TEST_F(HostileWindow, CannotWriteItsWindow)
{
	RawClient peer = client(Way::window);
	const std::uint64_t word = 7;
	EXPECT_FALSE(
		peer.run(Chain{}.rdma_write(peer.at(window::window_region, 0), std::as_bytes(std::span(&word, 1)))));
	expect_service(Way::window);
}

/* datagram: fragments with any content. */

TEST(Fragments, AnyOrderAndAnyNumberOfTimes)
{
	const datagram::Cut cut{100, 1000};
	std::mt19937_64 random(3);
	datagram::Assembly assembly(cut);
	for (std::uint32_t seq = 2; seq < 300; seq++) {
		std::vector<std::byte> message(random() % 1001);
		for (std::byte &byte : message)
			byte = static_cast<std::byte>(random());
		std::vector<std::byte> datagrams(cut.bytes());
		cut.write(datagrams.data(), {1, 0, seq, 0, 0}, message);
		const auto size = static_cast<std::uint32_t>(message.size());
		assembly.expect(seq);
		std::vector<bool> there(cut.count(size));
		bool whole = false;
		while (!whole) {
			const auto index = static_cast<std::uint32_t>(random() % there.size());
			datagram::Prefix prefix;
			const std::byte *at = &datagrams[index * cut.datagram()];
			std::memcpy(&prefix, at, sizeof(prefix));
			whole = assembly.add(
				prefix, {at + datagram::prefix_size, cut.length(index, size) - datagram::prefix_size});
			there[index] = true;
			EXPECT_EQ(whole, std::count(there.begin(), there.end(), false) == 0);
		}
		EXPECT_TRUE(std::ranges::equal(assembly.message(), message));
		EXPECT_EQ(cut.read(datagrams.data(), size), message);
	}
}

TEST(Fragments, NonsenseIsDropped)
{
	const datagram::Cut cut{100, 1000};
	std::mt19937_64 random(4);
	datagram::Assembly assembly(cut);
	assembly.expect(5);
	const std::vector<std::byte> payload(200);
	/* These fragments never make up a message of 1000 bytes: none has offset 0. */
	for (int i = 0; i < 200000; i++) {
		datagram::Prefix prefix{0, 0, static_cast<std::uint32_t>(random() % 3 + 4),
			static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
		if (random() % 2)
			prefix.size %= 1200;
		if (random() % 2)
			prefix.offset = prefix.offset % 12 * 100;
		if (prefix.offset == 0)
			continue;
		EXPECT_FALSE(assembly.add(prefix, std::span(payload).first(random() % 201)));
	}
}

} // namespace
