/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients that connect to a server: slow, silent and senseless ones beside well-behaved ones. */
#include "support.hpp"

#include "../../descriptor_limit.hpp"
#include "service/reception.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace
{

using namespace rivals;

constexpr std::byte ready_mark{0xa5};

/** Parts of a record that could be a client's. */
constexpr apps::StoreKind kind{apps::Application::kv, 9, "test", 1};

ConnectionRecord client_record()
{
	ConnectionRecord record;
	record.endpoint.qp_num = 17;
	record.endpoint.mtu = IBV_MTU_1024;
	record.endpoint.max_rd_atomic = record.endpoint.max_dest_rd_atomic = 1;
	record.endpoint.gid.raw[10] = record.endpoint.gid.raw[11] = 0xff;
	record.endpoint.gid.raw[12] = 127;
	record.endpoint.gid.raw[15] = 1;
	record.private_data = apps::Hello{kind, 0, 0, 1}.serialize();
	return record;
}

/** Client's end, which sends byte by byte. */
class Caller
{
public:
	explicit Caller(std::uint16_t port) : link(TcpRendezvous::connect("127.0.0.1", port, 2s).value()) {}

	void send(std::span<const std::byte> bytes)
	{
		ASSERT_EQ(::send(link.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
			static_cast<ssize_t>(bytes.size()));
	}
	void send_record() { send(client_record().serialize().value()); }
	void send_mark() { send(std::array{ready_mark}); }

	/** Returns the bytes that arrive within a moment, at most @p most. */
	std::vector<std::byte> receive(std::size_t most)
	{
		std::vector<std::byte> bytes(most);
		pollfd waiting{link.fd(), POLLIN, 0};
		::poll(&waiting, 1, 500);
		const ssize_t got = recv(link.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
		bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
		return bytes;
	}

	TcpRendezvous link;
};

/** Host that counts calls. */
class CountingHost : public apps::Reception::Host
{
public:
	class Accepted : public apps::Reception::AcceptedConnection
	{
	public:
		Accepted(CountingHost &owner, apps::Reception::Link connection)
			: host_(owner), link_(std::move(connection))
		{
			host_.alive++;
		}
		~Accepted() override { host_.alive--; }
		void enter() override
		{
			host_.entered++;
			host_.links.push_back(link_);
		}

	private:
		CountingHost &host_;
		apps::Reception::Link link_;
	};

	Result<std::unique_ptr<apps::Reception::AcceptedConnection>> on_connect(
		const apps::Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine) override
	{
		met++;
		if (met <= busy)
			return Error{EAGAIN, "in a moment"};
		if (refusal.code)
			return refusal;
		if (alive + entered >= places)
			return Error{EMFILE, "no place"};
		mine.endpoint = theirs.endpoint;
		mine.private_data = {std::byte{42}};
		return std::unique_ptr<apps::Reception::AcceptedConnection>(std::make_unique<Accepted>(*this, link));
	}
	void refused(const Error &why) noexcept override
	{
		refusals++;
		last = why;
	}

	int met = 0, entered = 0, alive = 0, refusals = 0;
	int busy = 0; /* number of first attempts that find no room */
	int places = 1 << 30;
	Error refusal, last;
	std::vector<apps::Reception::Link> links; /* of the clients that have entered */
};

class Receiving : public testing::Test
{
protected:
	void make(std::chrono::milliseconds timeout = 10s)
	{
		const apps::Hello hello{kind};
		reception =
			apps::Reception::create(TcpListener::create(0, "127.0.0.1").value(), hello, timeout).value();
	}

	/** Serves as servers do, until @p done. */
	template <typename Done>
	bool serve_until(Done done)
	{
		const auto end = std::chrono::steady_clock::now() + 5s;
		while (!done() && std::chrono::steady_clock::now() < end) {
			readable(20);
			reception->serve(host);
		}
		return done();
	}

	bool readable(int milliseconds)
	{
		const int patience = reception->patience();
		pollfd waiting{reception->fd(), POLLIN, 0};
		return ::poll(&waiting, 1, patience < 0 ? milliseconds : std::min(patience, milliseconds)) > 0;
	}

	CountingHost host;
	std::unique_ptr<apps::Reception> reception;
};

TEST_F(Receiving, AClientStepByStep)
{
	make();
	EXPECT_EQ(reception->patience(), -1) << "nobody is on the way";
	Caller caller(reception->port());
	ASSERT_TRUE(serve_until([&] { return reception->pending() == 1; }));
	EXPECT_EQ(host.met, 0);
	caller.send_record();
	ASSERT_TRUE(serve_until([&] { return host.met == 1; }));
	const std::vector<std::byte> bytes = caller.receive(ConnectionRecord::max_size);
	const Result<ConnectionRecord> answer = ConnectionRecord::parse(bytes);
	ASSERT_TRUE(answer) << "with no mark behind it";
	EXPECT_EQ(answer->private_data, std::vector{std::byte{42}});
	EXPECT_EQ(host.entered, 0);
	caller.send_mark();
	ASSERT_TRUE(serve_until([&] { return host.entered == 1; }));
	EXPECT_EQ(caller.receive(8), std::vector{ready_mark});
	EXPECT_EQ(reception->pending(), 0u);
	EXPECT_EQ(host.refusals, 0);
	EXPECT_FALSE(caller.link.peer_gone()) << "the connection is the server's now";
	host.links.clear();
	EXPECT_TRUE(wait_until([&] { return caller.link.peer_gone(); }));
}

TEST_F(Receiving, ByteByByteCostsNoTurnsOfTheServer)
{
	make();
	Caller caller(reception->port());
	ASSERT_TRUE(serve_until([&] { return reception->pending() == 1; }));
	const std::vector<std::byte> record = client_record().serialize().value();
	caller.send(std::span(record).first(5));
	reception->serve(host);
	EXPECT_FALSE(readable(50)) << "there is nothing to be done with 5 bytes";
	caller.send(std::span(record).subspan(5, 15));
	ASSERT_TRUE(readable(1000));
	reception->serve(host);
	EXPECT_FALSE(readable(50)) << "the length is known now, and not reached";
	caller.send(std::span(record).subspan(20));
	caller.send_mark();
	EXPECT_TRUE(serve_until([&] { return host.entered == 1; }));
}

TEST_F(Receiving, EverythingAtOnce)
{
	make();
	std::vector<std::unique_ptr<Caller>> callers;
	for (int i = 0; i < 20; i++) {
		callers.push_back(std::make_unique<Caller>(reception->port()));
		callers.back()->send_record();
		callers.back()->send_mark();
	}
	EXPECT_TRUE(serve_until([&] { return host.entered == 20; }));
	EXPECT_EQ(host.alive, 0);
}

TEST_F(Receiving, RubbishEndsAtOnce)
{
	make();
	Caller caller(reception->port());
	caller.send(std::vector<std::byte>(4096, std::byte{'x'}));
	ASSERT_TRUE(serve_until([&] { return host.refusals == 1; }));
	EXPECT_EQ(host.last.code, EBADMSG);
	EXPECT_EQ(host.met, 0);
	EXPECT_EQ(reception->pending(), 0u);
	EXPECT_TRUE(wait_until([&] { return caller.link.peer_gone(); }));
}

TEST_F(Receiving, AWrongMarkEnds)
{
	make();
	Caller caller(reception->port());
	caller.send_record();
	caller.send(std::array{std::byte{1}});
	ASSERT_TRUE(serve_until([&] { return host.refusals == 1; }));
	EXPECT_EQ(host.last.code, EBADMSG);
	EXPECT_EQ(host.alive, 0);
	EXPECT_EQ(host.entered, 0);
}

TEST_F(Receiving, WhoGoesAwayIsForgotten)
{
	make();
	const std::vector<std::byte> record = client_record().serialize().value();
	for (const std::size_t sent : {std::size_t{0}, std::size_t{5}, std::size_t{30}, record.size()}) {
		const int before = host.refusals;
		{
			Caller caller(reception->port());
			caller.send(std::span(record).first(sent));
			ASSERT_TRUE(serve_until([&] { return reception->pending() == 1; }));
		}
		ASSERT_TRUE(serve_until([&] { return host.refusals == before + 1; })) << sent;
		EXPECT_EQ(reception->pending(), 0u);
	}
	EXPECT_EQ(host.met, 1) << "the last one had told its record";
	EXPECT_EQ(host.alive, 0);
}

TEST_F(Receiving, TimeIsUpForTheSilent)
{
	make(100ms);
	Caller silent(reception->port()), half_way(reception->port());
	half_way.send_record();
	const auto begin = std::chrono::steady_clock::now();
	ASSERT_TRUE(serve_until([&] { return host.alive == 1; }));
	ASSERT_TRUE(serve_until([&] { return host.refusals == 2; }));
	EXPECT_GE(std::chrono::steady_clock::now() - begin, 90ms);
	EXPECT_EQ(host.last.code, ETIMEDOUT);
	EXPECT_EQ(host.alive, 0);
	EXPECT_EQ(host.entered, 0);
}

TEST_F(Receiving, ThereIsRoomInAMoment)
{
	make();
	host.busy = 5;
	Caller caller(reception->port());
	caller.send_record();
	caller.send_mark();
	ASSERT_TRUE(serve_until([&] { return host.entered == 1; }));
	EXPECT_EQ(host.met, 6);
	EXPECT_EQ(host.refusals, 0);
}

TEST_F(Receiving, TheReasonReachesTheClient)
{
	make();
	host.refusal = make_error(ENOBUFS, "no place for \033[31mthis one");
	Caller caller(reception->port());
	caller.send_record();
	caller.send_mark();
	ASSERT_TRUE(serve_until([&] { return host.refusals == 1; }));
	std::vector<std::byte> bytes = caller.receive(ConnectionRecord::max_size);
	ASSERT_FALSE(bytes.empty());
	EXPECT_EQ(bytes.back(), ready_mark) << "so that a client that has connected its queue pair gets to read it";
	bytes.pop_back();
	const ConnectionRecord answer = ConnectionRecord::parse(bytes).value();
	apps::Hello wanted{kind};
	const Result<apps::Hello> expected = wanted.expect(answer, "the server");
	ASSERT_FALSE(expected);
	EXPECT_EQ(expected.error().code, ENOBUFS);
	EXPECT_NE(expected.error().message.find("the server refuses: no place for ?[31mthis one"), std::string::npos)
		<< expected.error().message;
	EXPECT_EQ(reception->pending(), 1u) << "it is given the time to read that";
	EXPECT_EQ(answer.endpoint.qp_num, client_record().endpoint.qp_num) << "its own: nobody else's";
	wanted.kind.number++;
	EXPECT_EQ(wanted.expect(answer, "the server").error().code, EPROTONOSUPPORT) << "that is said first";
	caller = Caller(reception->port());
	EXPECT_TRUE(serve_until([&] { return reception->pending() == 1; }));
}

TEST_F(Receiving, NobodyIsTurnedAwayForACrowdOfSilentOnes)
{
	make(1h);
	std::vector<std::unique_ptr<Caller>> crowd;
	while (crowd.size() < apps::Reception::max_pending) {
		crowd.push_back(std::make_unique<Caller>(reception->port()));
		reception->serve(host);
	}
	ASSERT_TRUE(serve_until([&] { return reception->pending() == apps::Reception::max_pending; }));
	Caller caller(reception->port());
	caller.send_record();
	caller.send_mark();
	EXPECT_TRUE(serve_until([&] { return host.entered == 1; }));
	EXPECT_EQ(host.refusals, 1) << "the place of one that said nothing";
	EXPECT_EQ(host.last.code, EBUSY);
	EXPECT_TRUE(crowd.front()->receive(1).empty());
	EXPECT_TRUE(crowd.front()->link.peer_gone()) << "the first to come";
	EXPECT_FALSE(crowd.back()->link.peer_gone());
}

/**
 * Tests several times as many silent clients as there is room for, which come all the time, beside clients that talk.
 */
TEST_F(Receiving, ACrowdOfSilentOnesThatGrowsKeepsNobodyOut)
{
	make(1h);
	std::vector<std::unique_ptr<Caller>> crowd, spoken;
	for (unsigned clients = 1; clients <= 5; clients++) {
		for (std::size_t i = 0; i < apps::Reception::max_pending / 2; i++) {
			crowd.push_back(std::make_unique<Caller>(reception->port()));
			reception->serve(host);
		}
		spoken.push_back(std::make_unique<Caller>(reception->port()));
		spoken.back()->send_record();
		spoken.back()->send_mark();
		EXPECT_TRUE(serve_until([&] { return host.entered == static_cast<int>(clients); })) << clients;
		EXPECT_LE(reception->pending(), apps::Reception::max_pending);
	}
}

/** Tests as many clients as there is room for that were refused, and stay: they have been told why. */
TEST_F(Receiving, WhoWasRefusedMakesRoomFirst)
{
	make(1h);
	host.refusal = make_error(EPROTONOSUPPORT, "this is another store");
	Caller silent(reception->port());
	ASSERT_TRUE(serve_until([&] { return reception->pending() == 1; }));
	std::vector<std::unique_ptr<Caller>> strangers;
	while (reception->pending() < apps::Reception::max_pending) {
		strangers.push_back(std::make_unique<Caller>(reception->port()));
		strangers.back()->send_record();
		reception->serve(host);
	}
	const int all = static_cast<int>(strangers.size());
	ASSERT_TRUE(serve_until([&] { return host.refusals == all; }));
	host.refusal = {};
	Caller caller(reception->port());
	caller.send_record();
	caller.send_mark();
	EXPECT_TRUE(serve_until([&] { return host.entered == 1; }));
	EXPECT_EQ(host.refusals, all) << "it was refused before";
	EXPECT_FALSE(silent.link.peer_gone());
}

/** Tests as many clients as there is room for, of which all but one have spoken. */
TEST_F(Receiving, WhoHasSpokenMakesRoomAfterTheSilentOnes)
{
	make(1h);
	std::vector<std::unique_ptr<Caller>> crowd;
	while (crowd.size() < apps::Reception::max_pending - 1) {
		crowd.push_back(std::make_unique<Caller>(reception->port()));
		crowd.back()->send_record();
		reception->serve(host);
	}
	const int all = static_cast<int>(crowd.size());
	ASSERT_TRUE(serve_until([&] { return host.alive == all; }));
	Caller silent(reception->port());
	ASSERT_TRUE(serve_until([&] { return reception->pending() == apps::Reception::max_pending; }));
	std::vector<std::unique_ptr<Caller>> next;
	for (int i = 1; i <= 2; i++) {
		next.push_back(std::make_unique<Caller>(reception->port()));
		next.back()->send_record();
		ASSERT_TRUE(serve_until([&] { return host.refusals == i; }));
		EXPECT_EQ(host.alive, all + 1) << "the silent one goes first, then one that has spoken";
	}
	(void)crowd.front()->receive(4096);
	(void)crowd.back()->receive(4096);
	EXPECT_TRUE(silent.link.peer_gone());
	EXPECT_TRUE(crowd.front()->link.peer_gone()) << "the first to come";
	EXPECT_FALSE(crowd.back()->link.peer_gone());
	next.back()->send_mark();
	EXPECT_TRUE(serve_until([&] { return host.entered == 1; }));
}

/** Tests a server that may open no more files: the clients that say nothing have them. */
TEST_F(Receiving, TheSilentMakeRoomWhereDescriptorsAreShort)
{
	make(1h);
	std::vector<std::unique_ptr<Caller>> silent;
	for (int i = 0; i < 3; i++)
		silent.push_back(std::make_unique<Caller>(reception->port()));
	ASSERT_TRUE(serve_until([&] { return reception->pending() == silent.size(); }));
	Caller next(reception->port());
	next.send_record();
	{
		const prism::test::DescriptorLimit none;
		EXPECT_TRUE(serve_until([&] { return host.alive == 1; }));
	}
	EXPECT_EQ(host.refusals, 1);
	EXPECT_TRUE(silent.front()->link.peer_gone()) << "the first to come";
	EXPECT_FALSE(silent.back()->link.peer_gone());
}

TEST_F(Receiving, TheSilentLeaveDescriptorsToOtherPorts)
{
	{
		const prism::test::DescriptorLimit few(64);
		make(1h);
	}
	std::vector<std::unique_ptr<Caller>> silent;
	for (int i = 0; i < 20; i++)
		silent.push_back(std::make_unique<Caller>(reception->port()));
	EXPECT_TRUE(serve_until([&] { return host.refusals == 4; }));
	EXPECT_EQ(reception->pending(), 16U);
}

/** Tests a server whose only place is kept by a client that goes no further. */
TEST_F(Receiving, WhoIsSlowGivesItsPlaceToTheNext)
{
	make(800ms);
	host.places = 1;
	Caller slow(reception->port());
	slow.send_record();
	ASSERT_TRUE(serve_until([&] { return host.alive == 1; }));
	std::this_thread::sleep_for(150ms);
	Caller next(reception->port());
	next.send_record();
	next.send_mark();
	EXPECT_TRUE(serve_until([&] { return host.entered == 1; }));
	EXPECT_EQ(host.refusals, 1);
	EXPECT_EQ(host.last.code, EBUSY);
	Caller late(reception->port());
	late.send_record();
	EXPECT_TRUE(serve_until([&] { return host.refusals == 2; })) << "nobody is slow";
	EXPECT_EQ(host.last.code, EMFILE);
}

TEST_F(Receiving, WhoGoesAwayDoesNotWaitForRoom)
{
	make(1h);
	host.busy = 1 << 30;
	{
		Caller caller(reception->port());
		caller.send_record();
		ASSERT_TRUE(serve_until([&] { return host.met > 3; }));
	}
	EXPECT_TRUE(serve_until([&] { return reception->pending() == 0; }));
	EXPECT_EQ(host.last.code, ECONNRESET);
}

/* Tests with whole servers */

template <typename Store>
class Crowds : public testing::Test
{
};

using Both = testing::Types<Rpc, Pilaf>;
TYPED_TEST_SUITE(Crowds, Both);

TYPED_TEST(Crowds, SilentAndSenselessClientsDelayNobody)
{
	Served<TypeParam> served(64, 1 << 20, [](rpc::ServerOptions &options) { options.setup_timeout = 60s; });
	std::vector<std::unique_ptr<Caller>> silent;
	for (int i = 0; i < 10; i++)
		silent.push_back(std::make_unique<Caller>(served.port()));
	Caller senseless(served.port());
	senseless.send(std::vector<std::byte>(100, std::byte{'x'}));
	const auto begin = std::chrono::steady_clock::now();
	auto client = served.client();
	EXPECT_EQ(put(*client, "k", "v"), Outcome::ok);
	EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
	EXPECT_TRUE(wait_until([&] { return served.stats().refused == 1; }));
	EXPECT_TRUE(served.log.has("connection record"));
	EXPECT_TRUE(wait_until([&] { return served.stats().open == 1; })) << "and no more";
}

/* 8 receive buffers: two clients with 4 calls at once, or one with 8. */
TYPED_TEST(Crowds, ReceiveBuffersArePromisedOnce)
{
	Served<TypeParam> served(64, 1 << 20, [](rpc::ServerOptions &options) { options.receive_buffers = 8; });
	const auto attempt = [&](std::uint32_t depth) {
		ClientOptions options;
		options.depth = depth;
		return TypeParam::Client::connect(served.client_context, "127.0.0.1", served.port(), options);
	};
	auto one = served.client(4), two = served.client(4);
	for (const std::uint32_t depth : {1u, 4u}) {
		const auto refused = attempt(depth);
		ASSERT_FALSE(refused);
		EXPECT_EQ(refused.error().code, ENOBUFS);
		EXPECT_NE(refused.error().message.find("0 of 8 receive buffers left"), std::string::npos)
			<< refused.error().message;
	}
	EXPECT_EQ(put(*one, "k", "v"), Outcome::ok);
	one.reset();
	ASSERT_TRUE(wait_until([&] { return served.stats().open == 1; }));
	EXPECT_EQ(attempt(5).error().code, ENOBUFS);
	EXPECT_TRUE(attempt(4).ok());
	two.reset();
	ASSERT_TRUE(wait_until([&] { return served.stats().open == 0; }));
	EXPECT_TRUE(attempt(8).ok());
}

TYPED_TEST(Crowds, OneClientTooManyIsToldSo)
{
	Served<TypeParam> served(64, 1 << 20, [](rpc::ServerOptions &options) { options.max_connections = 1; });
	auto client = served.client();
	const auto refused = TypeParam::Client::connect(served.client_context, "127.0.0.1", served.port());
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, EMFILE);
	EXPECT_NE(refused.error().message.find("1 connections already"), std::string::npos) << refused.error().message;
}

} // namespace
