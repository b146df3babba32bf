/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RPC layer between a well-behaved side and one that is not. */
#include "support.hpp"

#include "base/wire.hpp"
#include "kv_calls/kind.hpp"
#include "pilaf/kind.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

using namespace rivals;

/* Side of a connection that uses verbs correctly and sends anything. */
class RawPeer
{
public:
	static constexpr std::size_t buffer = 70000;
	static constexpr std::uint64_t receive_id = 1000;

	explicit RawPeer(const Context &context)
		: pd_(ProtectionDomain::create(context).value()), cq_(CompletionQueue::create(context, 256).value()),
		  qp_(QueuePair::create(pd_, cq_, cq_).value()), memory_(Buffer::create(pd_, 2 * buffer).value())
	{
	}

	/* Returns false if the other side broke off. */
	bool establish(TcpRendezvous link, const std::vector<std::byte> &introduction)
	{
		rendezvous_.emplace(std::move(link));
		ConnectionRecord record;
		record.private_data = introduction;
		Result<ConnectionRecord> established = prism::establish(*rendezvous_, qp_, record, 2s);
		if (!established)
			return false;
		peer_ = *std::move(established);
		return qp_.post_receive(receive_id, memory_.slice(buffer, buffer)) == 0;
	}

	/* Returns the record that the other side has sent. */
	const ConnectionRecord &record() const { return peer_; }

	void send(std::span<const std::byte> message)
	{
		std::memcpy(memory_.data(), message.data(), message.size());
		ASSERT_EQ(qp_.post_send(
				  1, memory_.slice(0, static_cast<std::uint32_t>(message.size())), IBV_SEND_SIGNALED),
			0);
	}

	/* Returns the next message; nothing if there is none. */
	std::optional<std::vector<std::byte>> receive()
	{
		Completion completion;
		while (cq_.wait(completion, 3s) == 0) {
			if (completion.failed())
				return std::nullopt;
			if (completion.wr_id != receive_id)
				continue;
			const std::byte *from = memory_.data() + buffer;
			std::vector<std::byte> message(from, from + completion.byte_len);
			EXPECT_EQ(qp_.post_receive(receive_id, memory_.slice(buffer, buffer)), 0);
			return message;
		}
		return std::nullopt;
	}

	bool gone()
	{
		return wait_until([&] { return rendezvous_->peer_gone(); });
	}
	TcpRendezvous &tcp() { return *rendezvous_; }

private:
	ProtectionDomain pd_;
	CompletionQueue cq_;
	QueuePair qp_;
	Buffer memory_;
	std::optional<TcpRendezvous> rendezvous_;
	ConnectionRecord peer_;
};

std::vector<std::byte> message_of(
	OperationKind kind, const std::string &key, const std::string &value, std::uint64_t id = 1)
{
	const Request request{kind, id, bytes_of(key), bytes_of(value)};
	std::vector<std::byte> bytes(request.size());
	request.serialize(bytes.data());
	return bytes;
}

std::vector<std::byte> client_hello(std::uint32_t depth = 1)
{
	return apps::Hello{rpc_kind, 0, 0, depth}.serialize();
}

class HostileClient : public testing::Test
{
protected:
	void connect(std::uint32_t depth = 1)
	{
		ASSERT_TRUE(peer.establish(
			TcpRendezvous::connect("127.0.0.1", served.port(), 2s).value(), client_hello(depth)));
	}

	/* Checks that a new client is served, whatever happened to the others. */
	void expect_service()
	{
		auto client = served.client();
		EXPECT_EQ(put(*client, "still", "there"), Outcome::ok);
		EXPECT_EQ(get(*client, "still").value, "there");
	}

	void expect_closed(const std::vector<std::byte> &message, const std::string &reason)
	{
		connect();
		peer.send(message);
		EXPECT_TRUE(peer.gone());
		EXPECT_TRUE(wait_until([&] { return served.stats().malformed == 1; }));
		EXPECT_TRUE(served.log.has("malformed request: " + reason));
		EXPECT_TRUE(wait_until([&] { return served.stats().open == 0; }));
		expect_service();
	}

	Served<Rpc> served{64, 1 << 20};
	RawPeer peer{served.client_context};
};

TEST_F(HostileClient, WellBehavedIsAnswered)
{
	connect();
	peer.send(message_of(OperationKind::put, "key", "value", 42));
	const auto answer = peer.receive();
	ASSERT_TRUE(answer);
	Response response;
	ASSERT_EQ(response.parse(*answer, 4096), nullptr);
	EXPECT_EQ(response.id, 42u);
	EXPECT_EQ(response.outcome, Outcome::ok);
}

TEST_F(HostileClient, ShortMessage)
{
	expect_closed(std::vector<std::byte>(5), "shorter than a header");
}

TEST_F(HostileClient, WrongMagic)
{
	expect_closed(std::vector<std::byte>(100), "wrong magic");
}

TEST_F(HostileClient, LengthsThatLie)
{
	std::vector<std::byte> message = message_of(OperationKind::put, "key", "value");
	apps::store(&message[8], std::uint32_t{4000});
	expect_closed(message, "length differs");
}

TEST_F(HostileClient, KeyBeyondTheLimit)
{
	expect_closed(message_of(OperationKind::get, std::string(65, 'k'), ""), "key of a forbidden size");
}

TEST_F(HostileClient, ValueBeyondTheLimit)
{
	std::vector<std::byte> message = message_of(OperationKind::put, "key", "value");
	apps::store(&message[8], ~std::uint32_t{0});
	expect_closed(message, "value of a forbidden size");
}

TEST_F(HostileClient, MessageLongerThanAnyBuffer)
{
	connect();
	peer.send(std::vector<std::byte>(60000));
	EXPECT_TRUE(peer.gone());
	EXPECT_TRUE(wait_until([&] { return served.stats().vanished == 1; }));
	expect_service();
}

/* The client never takes its answers, so that they pile up at the server. */
TEST_F(HostileClient, MoreCallsThanTheDepth)
{
	Served<Rpc> &server = served;
	RawPeer flood(server.client_context);
	ASSERT_TRUE(flood.establish(TcpRendezvous::connect("127.0.0.1", server.port(), 2s).value(), client_hello()));
	const std::vector<std::byte> message = message_of(OperationKind::get, "none", "");
	for (int i = 0; i < 100; i++)
		flood.send(message);
	EXPECT_TRUE(flood.gone());
	EXPECT_TRUE(server.log.has("more requests at once than the 1 that it announced"));
	EXPECT_EQ(server.stats().malformed, 1u);
	expect_service();
}

TEST_F(HostileClient, TalksOnTheSocket)
{
	connect();
	const char byte = 'x';
	ASSERT_EQ(::send(peer.tcp().fd(), &byte, 1, MSG_NOSIGNAL), 1);
	EXPECT_TRUE(peer.gone());
	EXPECT_TRUE(wait_until([&] { return served.stats().open == 0; }));
	expect_service();
}

TEST_F(HostileClient, NoIntroduction)
{
	EXPECT_FALSE(peer.establish(TcpRendezvous::connect("127.0.0.1", served.port(), 2s).value(), {}));
	EXPECT_TRUE(wait_until([&] { return served.stats().refused == 1; }));
	EXPECT_TRUE(served.log.has("does not introduce itself"));
	expect_service();
}

TEST_F(HostileClient, WantsTooMuch)
{
	ASSERT_TRUE(peer.establish(TcpRendezvous::connect("127.0.0.1", served.port(), 2s).value(), client_hello(17)));
	const apps::Hello wanted{rpc_kind};
	const Result<apps::Hello> answer = wanted.expect(peer.record(), "the server");
	ASSERT_FALSE(answer);
	EXPECT_EQ(answer.error().code, EINVAL);
	EXPECT_NE(answer.error().message.find("takes 1 to 16"), std::string::npos) << answer.error().message;
	EXPECT_TRUE(wait_until([&] { return served.stats().refused == 1; }));
	expect_service();
}

TEST(SilentClient, IsDropped)
{
	Served<Rpc> served(64, 1 << 20, [](rpc::ServerOptions &options) { options.setup_timeout = 500ms; });
	const TcpRendezvous silent = TcpRendezvous::connect("127.0.0.1", served.port(), 2s).value();
	EXPECT_TRUE(wait_until([&] { return served.stats().refused == 1; }));
	EXPECT_TRUE(served.log.has("does not go on with its set-up"));
	EXPECT_EQ(put(*served.client(), "key", "value"), Outcome::ok);
}

/* Server of the test, which answers one request as a test wants. */
class HostileServer : public testing::Test
{
protected:
	using Answer = std::function<std::vector<std::byte>(const Request &)>;

	/* Returns the result of a client's GET, or of another operation. */
	rivals::Answer ask(
		const Answer &answer, OperationKind kind = OperationKind::get, std::chrono::milliseconds patience = 10s)
	{
		std::thread server([&] { serve(answer); });
		ClientOptions options;
		options.patience = patience;
		auto client = RpcStoreClient::connect(context, "127.0.0.1", listener.port(), options).value();
		const rivals::Answer got = run(*client, kind, "key", kind == OperationKind::put ? "v" : "");
		client.reset();
		server.join();
		return got;
	}

	void serve(const Answer &answer)
	{
		RawPeer peer(context);
		const apps::Hello hello{rpc_kind, 64, 990, 4};
		ASSERT_TRUE(peer.establish(listener.accept(5s).value(), hello.serialize()));
		const auto message = peer.receive();
		ASSERT_TRUE(message);
		Request request;
		ASSERT_EQ(request.parse(*message, 64, 990), nullptr);
		const std::vector<std::byte> bytes = answer(request);
		if (!bytes.empty())
			peer.send(bytes);
		peer.gone();
	}

	static std::vector<std::byte> response(
		OperationKind kind, Outcome outcome, std::uint64_t id, std::uint32_t value_size)
	{
		std::vector<std::byte> bytes(message_header_size + value_size);
		Response{kind, outcome, id, value_size}.serialize_header(bytes.data());
		return bytes;
	}

	Context context = open_context(Progress::engine_thread);
	TcpListener listener = TcpListener::create(0, "127.0.0.1").value();
};

TEST_F(HostileServer, HonestAnswersAreTaken)
{
	const rivals::Answer got =
		ask([](const Request &request) { return response(request.kind, Outcome::ok, request.id, 7); });
	EXPECT_EQ(got.outcome, Outcome::ok);
	EXPECT_EQ(got.length, 7u);
}

TEST_F(HostileServer, WrongIds)
{
	for (const std::uint64_t change : {std::uint64_t{1}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
		const rivals::Answer got = ask([change](const Request &request) {
			return response(request.kind, Outcome::not_found, request.id ^ change, 0);
		});
		EXPECT_EQ(got.outcome, Outcome::failed);
		EXPECT_EQ(got.error, EBADMSG);
	}
}

TEST_F(HostileServer, AnswerToAnotherCall)
{
	const rivals::Answer got =
		ask([](const Request &request) { return response(OperationKind::put, Outcome::ok, request.id, 0); });
	EXPECT_EQ(got.error, EBADMSG);
}

TEST_F(HostileServer, ImpossibleOutcomes)
{
	EXPECT_EQ(
		ask([](const Request &request) { return response(request.kind, Outcome::full, request.id, 0); }).error,
		EBADMSG);
	EXPECT_EQ(ask([](const Request &request) { return response(request.kind, Outcome::not_found, request.id, 0); },
			  OperationKind::put)
			  .error,
		EBADMSG);
}

TEST_F(HostileServer, ValueBeyondItsOwnLimit)
{
	/* Fits into the padded receive buffer, so that the client must notice it. */
	EXPECT_EQ(
		ask([](const Request &request) { return response(request.kind, Outcome::ok, request.id, 991); }).error,
		EBADMSG);
}

TEST_F(HostileServer, MessageBeyondTheBuffer)
{
	const rivals::Answer got =
		ask([](const Request &request) { return response(request.kind, Outcome::ok, request.id, 5000); });
	EXPECT_EQ(got.outcome, Outcome::failed);
}

TEST_F(HostileServer, Garbage)
{
	EXPECT_EQ(ask([](const Request &) { return std::vector<std::byte>(3); }).error, EBADMSG);
	EXPECT_EQ(ask([](const Request &) { return std::vector<std::byte>(100); }).error, EBADMSG);
}

TEST_F(HostileServer, NoAnswerAtAll)
{
	const rivals::Answer got =
		ask([](const Request &) { return std::vector<std::byte>(); }, OperationKind::get, 300ms);
	EXPECT_EQ(got.outcome, Outcome::failed);
	EXPECT_EQ(got.error, ETIMEDOUT);
}

TEST_F(HostileServer, LimitsThatNoMessageKeeps)
{
	std::thread server([&] {
		RawPeer peer(context);
		const apps::Hello hello{rpc_kind, 64, 65536, 4};
		EXPECT_FALSE(peer.establish(listener.accept(5s).value(), hello.serialize()));
	});
	const auto client = RpcStoreClient::connect(context, "127.0.0.1", listener.port());
	ASSERT_FALSE(client);
	EXPECT_EQ(client.error().code, EBADMSG);
	server.join();
}

/* Pilaf server whose regions are missing, or whose entries point outside them. */
TEST_F(HostileServer, PilafWithoutRegions)
{
	std::thread server([&] {
		RawPeer peer(context);
		const apps::Hello hello{pilaf::store_kind, 64, 1000, 4};
		const std::vector<std::byte> seed(8);
		peer.establish(listener.accept(5s).value(), hello.serialize(seed));
	});
	const auto client = PilafClient::connect(context, "127.0.0.1", listener.port());
	ASSERT_FALSE(client);
	EXPECT_EQ(client.error().code, EBADMSG);
	server.join();
}

TEST_F(HostileServer, PilafEntryThatLeadsElsewhere)
{
	const ProtectionDomain pd = ProtectionDomain::create(context).value();
	const Buffer memory = Buffer::create(pd, 4096, access::local | access::remote_read).value();
	auto *entry = memory.as<pilaf::Entry>();
	*entry = {memory.remote().address + 4090, 3, 100, 0, 0};
	entry->seal();
	std::thread server([&] {
		const CompletionQueue cq = CompletionQueue::create(context, 16).value();
		QueuePair qp = QueuePair::create(pd, cq, cq).value();
		TcpRendezvous link = listener.accept(5s).value();
		ConnectionRecord record;
		const std::vector<std::byte> seed(8);
		record.private_data = apps::Hello{pilaf::store_kind, 64, 1000, 4}.serialize(seed);
		record.regions = {
			{pilaf::table_region, {memory.remote().address, sizeof(*entry), memory.remote().rkey}},
			{pilaf::extent_region, memory.remote()}};
		ASSERT_TRUE(prism::establish(link, qp, record, 5s));
		EXPECT_TRUE(wait_until([&] { return link.peer_gone(); }));
	});
	auto client = PilafClient::connect(context, "127.0.0.1", listener.port()).value();
	EXPECT_EQ(get(*client, "key").error, EBADMSG);
	client.reset();
	server.join();
}

} // namespace
