/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Jakiro cache through the network, by each way in which calls can travel. */
#include "support.hpp"

#include "jakiro/jakiro_client.hpp"
#include "jakiro/jakiro_server.hpp"
#include "jakiro/kind.hpp"

#include <atomic>
#include <map>
#include <random>

namespace
{

using namespace rivals;

/* Types for Served. */
template <Way by>
struct Jakiro {
	using Server = JakiroServer;
	using Client = JakiroClient;
	static constexpr Way way = by;
	static Result<std::unique_ptr<Server>> create(
		const Context &context, const rpc::ServerOptions &server, std::uint64_t slots, std::size_t memory)
	{
		JakiroOptions options;
		options.server = server;
		options.server.way = way;
		options.slots = slots;
		options.memory = memory;
		return Server::create(context, options);
	}
	static ClientOptions client_options(std::uint32_t depth = 1)
	{
		ClientOptions options;
		options.way = way;
		options.depth = depth;
		return options;
	}
};

template <typename Store>
class Cache : public testing::Test
{
protected:
	using Client = std::unique_ptr<JakiroClient>;

	Result<Client> attempt(Served<Store> &served, const ClientOptions &options)
	{
		return JakiroClient::connect(served.client_context, "127.0.0.1", served.port(), options);
	}
	Client connect(Served<Store> &served, std::uint32_t depth = 1)
	{
		return attempt(served, Store::client_options(depth)).value();
	}
};

/* Each way of rpc::ways has a line here. */
using AllWays = testing::Types<Jakiro<Way::two_sided>, Jakiro<Way::reply>, Jakiro<Way::fetch>, Jakiro<Way::slots>,
	Jakiro<Way::window>, Jakiro<Way::datagram>>;
TYPED_TEST_SUITE(Cache, AllWays);

TYPED_TEST(Cache, PutGetErase)
{
	Served<TypeParam> served;
	auto client = this->connect(served);
	EXPECT_EQ(client->partitions(), 2u);
	for (unsigned i = 0; i < 20; i++) { /* of both partitions */
		const std::string key = "key" + std::to_string(i);
		EXPECT_EQ(get(*client, key).outcome, Outcome::not_found);
		EXPECT_EQ(erase(*client, key), Outcome::not_found);
		EXPECT_EQ(put(*client, key, "value of " + key), Outcome::ok);
		EXPECT_EQ(get(*client, key).value, "value of " + key);
	}
	EXPECT_EQ(served.server().stats().partitions.objects, 20u);
	for (unsigned i = 0; i < 20; i++) {
		const std::string key = "key" + std::to_string(i);
		EXPECT_EQ(get(*client, key).value, "value of " + key);
		EXPECT_EQ(erase(*client, key), Outcome::ok);
		EXPECT_EQ(get(*client, key).outcome, Outcome::not_found);
	}
	const jakiro::PartitionStats stats = served.server().stats().partitions;
	EXPECT_EQ(stats.objects, 0u);
	EXPECT_EQ(stats.hits, 40u);
	EXPECT_EQ(stats.misses, 40u);
	EXPECT_EQ(served.stats().open, 2u);
}

TYPED_TEST(Cache, KeysAndValuesAreBytes)
{
	Served<TypeParam> served;
	auto client = this->connect(served);
	const std::string key = binary(64, 0), near = binary(63, 0), value = binary(4096, 5);
	ASSERT_EQ(put(*client, key, value), Outcome::ok);
	ASSERT_EQ(put(*client, near, std::string(3, '\0')), Outcome::ok);
	EXPECT_EQ(get(*client, key).value, value);
	EXPECT_EQ(get(*client, near).value, std::string(3, '\0'));
	const Answer answer = run(*client, OperationKind::get, key, {}, 10);
	EXPECT_EQ(answer.length, 4096u);
	EXPECT_EQ(answer.value, value.substr(0, 10));
}

TYPED_TEST(Cache, SizesAtAndBeyondTheLimits)
{
	Served<TypeParam> served;
	auto client = this->connect(served);
	EXPECT_EQ(client->limits().max_key_size, 64u);
	const auto attempt = [&](OperationKind kind, std::size_t key, std::size_t value) {
		return run(*client, kind, std::string(key, 'k'), std::string(value, 'v'));
	};
	EXPECT_EQ(attempt(OperationKind::put, 0, 1).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::get, 65, 0).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::put, 1, 4097).error, EINVAL);
	EXPECT_EQ(attempt(OperationKind::put, 64, 4096).outcome, Outcome::ok);
	EXPECT_EQ(attempt(OperationKind::put, 1, 0).outcome, Outcome::ok);
	EXPECT_EQ(get(*client, "k").outcome, Outcome::ok);
	EXPECT_EQ(get(*client, "k").length, 0u);
}

/* Sixteen slots for a hundred keys: the keys found have the right values, the others were evicted. */
TYPED_TEST(Cache, EvictsWhatDoesNotFit)
{
	Served<TypeParam> served(16);
	auto client = this->connect(served);
	for (unsigned i = 0; i < 100; i++)
		ASSERT_EQ(put(*client, std::to_string(i), "of " + std::to_string(i)), Outcome::ok);
	unsigned found = 0;
	for (unsigned i = 0; i < 100; i++) {
		const Answer answer = get(*client, std::to_string(i));
		ASSERT_NE(answer.outcome, Outcome::failed);
		if (answer.outcome == Outcome::ok) {
			EXPECT_EQ(answer.value, "of " + std::to_string(i));
			found++;
		}
	}
	EXPECT_EQ(found, 16u);
	EXPECT_EQ(get(*client, "99").outcome, Outcome::ok);
	const jakiro::PartitionStats stats = served.server().stats().partitions;
	EXPECT_EQ(stats.objects, 16u);
	EXPECT_EQ(stats.evicted_by_bucket, 84u);
	EXPECT_EQ(stats.misses, 84u);
}

TYPED_TEST(Cache, MemoryThatIsUsedUpEvicts)
{
	Served<TypeParam> served(1000, 64 * 1024);
	auto client = this->connect(served);
	for (unsigned i = 0; i < 50; i++)
		ASSERT_EQ(put(*client, std::to_string(i), binary(4000)), Outcome::ok);
	EXPECT_EQ(get(*client, "49").value, binary(4000));
	const jakiro::PartitionStats stats = served.server().stats().partitions;
	EXPECT_GT(stats.objects, 4u);
	EXPECT_LT(stats.objects, 17u);
	EXPECT_EQ(stats.objects + stats.evicted_by_memory, 50u);
}

/* The depth is that of all partitions together. */
TYPED_TEST(Cache, ManyUnderWayAtOnce)
{
	constexpr std::uint32_t depth = 16;
	Served<TypeParam> served(4096);
	auto client = this->connect(served, depth);
	ASSERT_EQ(client->depth(), depth);
	keep_busy(*client, test::rounds(4000), 3); /* fewer than end at once */
}

/* A reader never sees a mixture of two values, nor a version older than one that it, or a finished put, has seen. */
TYPED_TEST(Cache, VersionsAreWholeAndNeverGoBack)
{
	Served<TypeParam> served(64, 1 << 20);
	constexpr unsigned readers = 2, versions = test::rounds(500);
	std::atomic<unsigned> installed{0};
	std::atomic<bool> over{false};
	const auto contents = [](unsigned version) {
		return std::to_string(version) + std::string(version % 900, static_cast<char>('a' + version % 26));
	};
	std::vector<std::thread> threads;
	for (unsigned reader = 0; reader < readers; reader++) {
		threads.emplace_back([&] {
			auto client = this->connect(served);
			unsigned last = 0;
			while (!over) {
				const unsigned before = installed;
				const Answer answer = get(*client, "key");
				if (before == 0 && answer.outcome == Outcome::not_found)
					continue;
				ASSERT_EQ(answer.outcome, Outcome::ok);
				const auto version = static_cast<unsigned>(std::stoul(answer.value));
				ASSERT_EQ(answer.value, contents(version));
				ASSERT_GE(version, std::max(before, last));
				last = version;
			}
		});
	}
	auto client = this->connect(served);
	for (unsigned version = 1; version <= versions; version++) {
		EXPECT_EQ(put(*client, "key", contents(version)), Outcome::ok);
		installed = version;
	}
	over = true;
	for (std::thread &thread : threads)
		thread.join();
}

/* Each partition has its own owner: clients of all of them at once cause no race (thread sanitizer). */
TYPED_TEST(Cache, ClientsOfAllPartitionsAtOnce)
{
	Served<TypeParam> served(256, 1 << 20);
	std::vector<std::thread> threads;
	for (unsigned t = 0; t < 4; t++) {
		threads.emplace_back([&, t] {
			auto client = this->connect(served);
			std::mt19937 random(t);
			for (int i = 0; i < test::rounds(300); i++) {
				const std::string key = "shared" + std::to_string(random() % 300);
				const unsigned choice = random() % 10;
				if (choice < 4) {
					ASSERT_EQ(
						put(*client, key, key + std::string(random() % 500, '.')), Outcome::ok);
				} else if (choice < 5) {
					ASSERT_FALSE(has_failed(erase(*client, key)));
				} else {
					const Answer answer = get(*client, key);
					ASSERT_FALSE(has_failed(answer.outcome));
					ASSERT_EQ(answer.value.substr(0, key.size()),
						answer.outcome == Outcome::ok ? key : "");
				}
				ASSERT_LE(served.server().stats().partitions.objects, 256u);
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
}

/* More clients than there are places, one after another: each place becomes free again. */
TYPED_TEST(Cache, ClientsComeAndGo)
{
	Served<TypeParam> served(16, 1 << 20, [](rpc::ServerOptions &options) {
		options.max_connections = 4;
		options.receive_buffers = 16;
	});
	for (unsigned i = 0; i < 20; i++) {
		ASSERT_TRUE(wait_until([&] { return served.stats().open == 0; }));
		auto client = this->connect(served, 4);
		ASSERT_EQ(put(*client, "key", std::to_string(i)), Outcome::ok);
		const std::string key = "key", value = binary(4000);
		std::array<Operation, 4> operations;
		start_puts(*client, key, value, operations);
		client->poll({});
	}
	auto client = this->connect(served);
	EXPECT_EQ(put(*client, "other", "last"), Outcome::ok);
	EXPECT_EQ(get(*client, "other").value, "last");
}

TYPED_TEST(Cache, ServerStopsUnderAClient)
{
	Served<TypeParam> served;
	auto client = this->connect(served, 4);
	ASSERT_EQ(put(*client, "key", "value"), Outcome::ok);
	const std::uint32_t partition = client->partition_of(bytes_of("key"));
	EXPECT_EQ(client->broken(partition), 0);
	served.stop();
	const Answer answer = run(*client, OperationKind::put, "key", "value");
	EXPECT_EQ(answer.outcome, Outcome::unknown) << "the call may have been served";
	EXPECT_NE(answer.error, 0);
	EXPECT_NE(client->broken(partition), 0);
	EXPECT_EQ(get(*client, "key").error, ENOTCONN) << "broken for good, and nothing is done";
	EXPECT_EQ(run(*client, OperationKind::put, "key", "value").error, ENOTCONN);
	EXPECT_EQ(client->poll({}), 0u);
}

TYPED_TEST(Cache, ConnectionsThatCannotBe)
{
	Served<TypeParam> served;
	ClientOptions options = TypeParam::client_options(17);
	options.timeout = 2s;
	EXPECT_EQ(this->attempt(served, options).error().code, EINVAL);
	options.depth = 0;
	EXPECT_EQ(this->attempt(served, options).error().code, EINVAL);
	options = TypeParam::client_options();
	options.way = TypeParam::way == Way::reply ? Way::two_sided : Way::reply;
	EXPECT_EQ(this->attempt(served, options).error().code, EPROTONOSUPPORT);
	Served<Rpc> rpc;
	EXPECT_EQ(JakiroClient::connect(rpc.client_context, "127.0.0.1", rpc.port()).error().code, EPROTONOSUPPORT);
	EXPECT_EQ(
		RpcStoreClient::connect(served.client_context, "127.0.0.1", served.port(), TypeParam::client_options())
			.error()
			.code,
		EPROTONOSUPPORT);
}

/* Listener that holds a worker up in the middle of a PUT that evicts. */
class Gate final : public jakiro::EvictionListener
{
public:
	void on_evicted(std::span<const std::byte>) noexcept override
	{
		while (closed)
			std::this_thread::sleep_for(1ms);
	}

	std::atomic<bool> closed{true};
};

/* The caller gets an operation back in time; its place and its call's memory are used again later. */
TYPED_TEST(Cache, CallsThatTakeTooLong)
{
	ServerLog log;
	const Context context = open_context(Progress::engine_thread),
		      client_context = open_context(Progress::engine_thread);
	Gate gate;
	const std::array<jakiro::EvictionListener *, 1> listeners{&gate};
	JakiroOptions store;
	store.server = small_server(log);
	store.server.way = TypeParam::way;
	store.server.threads = 1;
	store.slots = 8;
	store.memory = 1 << 20;
	store.listeners = listeners;
	auto server = JakiroServer::create(context, store).value();
	std::thread thread([&] { EXPECT_TRUE(server->run()); });
	ClientOptions options = TypeParam::client_options();
	options.call_limit = 100ms;
	auto client = JakiroClient::connect(client_context, "127.0.0.1", server->port(), options).value();
	for (unsigned i = 0; i < 8; i++)
		EXPECT_EQ(put(*client, std::to_string(i), "old"), Outcome::ok);

	const Answer answer = run(*client, OperationKind::put, "new", "value");
	EXPECT_EQ(answer.outcome, Outcome::unknown);
	EXPECT_EQ(answer.error, ETIMEDOUT);
	EXPECT_EQ(get(*client, "1").error, EAGAIN) << "the call is still under way";
	gate.closed = false;
	EXPECT_TRUE(wait_until([&] {
		client->poll({});
		return get(*client, "1").outcome == Outcome::ok;
	}));
	EXPECT_EQ(get(*client, "new").value, "value");
	EXPECT_EQ(get(*client, "0").outcome, Outcome::not_found);

	/* The same with a server that ends meanwhile. */
	gate.closed = true;
	EXPECT_EQ(run(*client, OperationKind::put, "newer", "value").error, ETIMEDOUT);
	std::thread stopper([&server] { server->stop(); });
	gate.closed = false;
	stopper.join();
	thread.join();
	EXPECT_TRUE(wait_until([&] {
		client->poll({});
		const int error = get(*client, "1").error;
		return error != EAGAIN && error != 0;
	})) << "broken, and the place is not taken for ever";
}

/* One of two connections finds no place: the client gives up the first one, too. */
TYPED_TEST(Cache, AllConnectionsOrNone)
{
	Served<TypeParam> served(16, 1 << 20, [](rpc::ServerOptions &options) { options.max_connections = 3; });
	auto first = this->connect(served);
	ClientOptions options = TypeParam::client_options();
	options.timeout = 2s;
	EXPECT_FALSE(this->attempt(served, options));
	EXPECT_TRUE(wait_until([&] { return served.stats().open == 2; }));
	EXPECT_EQ(put(*first, "k", "v"), Outcome::ok);
	first.reset();
	EXPECT_TRUE(wait_until([&] { return served.stats().open == 0; }));
	EXPECT_EQ(put(*this->connect(served), "k", "v"), Outcome::ok);
}

TYPED_TEST(Cache, OptionsThatContradict)
{
	ServerLog log;
	const Context context = open_context(Progress::engine_thread);
	rpc::ServerOptions options = small_server(log);
	options.max_value_size = 65536;
	EXPECT_EQ(TypeParam::create(context, options, 16, 1 << 20).error().code, EINVAL);
	options = small_server(log);
	options.threads = 0;
	EXPECT_EQ(TypeParam::create(context, options, 16, 1 << 20).error().code, EINVAL);
	options = small_server(log);
	EXPECT_EQ(TypeParam::create(context, options, 0, 1 << 20).error().code, EINVAL);
	EXPECT_EQ(TypeParam::create(context, options, 16, 0).error().code, EINVAL);
	EXPECT_EQ(TypeParam::create(context, options, 16, 10000).error().code, EINVAL)
		<< "not two of the longest pairs in each partition";
}

Result<SlotSizes> longest_messages(const ConnectionRecord &, const apps::Hello &server)
{
	return SlotSizes{message_header_size + server.max_key_size + server.max_value_size,
		message_header_size + server.max_value_size, 0};
}

/* Client that sends any bytes to one worker of a server; only the messages are wrong. */
class RawClient final : private ClientLink::Listener
{
public:
	RawClient(const Context &context, std::uint16_t port, const ClientOptions &options)
		: link_(ClientLink::connect(
			  context, "127.0.0.1", port, apps::Hello{jakiro::store_kind}, options, longest_messages)
				  .value())
	{
	}

	/** Returns the response; nothing if the connection was closed. */
	std::optional<Response> call(const std::vector<std::byte> &message)
	{
		answered_ = false;
		std::copy(message.begin(), message.end(), link_->request(0).begin());
		link_->call(0, message.size());
		const auto end = std::chrono::steady_clock::now() + test::patience;
		while (!answered_ && !link_->broken() && std::chrono::steady_clock::now() < end)
			link_->poll(*this);
		return answered_ ? std::optional(response_) : std::nullopt;
	}
	[[nodiscard]] int broken() const { return link_->broken(); }

private:
	void on_response(std::uint32_t, std::span<const std::byte> message) noexcept override
	{
		answered_ = true;
		EXPECT_EQ(response_.parse(message, 4096), nullptr);
	}

	std::unique_ptr<ClientLink> link_;
	bool answered_ = false;
	Response response_;
};

std::vector<std::byte> message_of(OperationKind kind, const std::string &key, const std::string &value)
{
	const Request request{kind, 1, bytes_of(key), bytes_of(value)};
	std::vector<std::byte> bytes(request.size());
	request.serialize(bytes.data());
	return bytes;
}

template <typename Store>
class HostileCacheClient : public Cache<Store>
{
protected:
	ClientOptions options_for(std::uint32_t worker)
	{
		ClientOptions options = Store::client_options();
		options.worker = worker;
		return options;
	}

	void expect_closed(const std::vector<std::byte> &message, std::uint32_t worker, const std::string &reason)
	{
		const std::uint64_t before = served.stats().malformed;
		RawClient raw(served.client_context, served.port(), options_for(worker));
		EXPECT_FALSE(raw.call(message));
		EXPECT_NE(raw.broken(), 0);
		EXPECT_TRUE(wait_until([&] { return served.stats().malformed == before + 1; }));
		EXPECT_TRUE(served.log.has("malformed request: " + reason)) << reason;
		auto client = this->connect(served);
		EXPECT_EQ(put(*client, "still", "there"), Outcome::ok) << "others are served";
	}

	Served<Store> served;
};
TYPED_TEST_SUITE(HostileCacheClient, AllWays);

TYPED_TEST(HostileCacheClient, KeysOfAnotherPartition)
{
	auto client = this->connect(this->served);
	const std::uint32_t owner = client->partition_of(bytes_of("key"));
	ASSERT_EQ(put(*client, "key", "value"), Outcome::ok);
	for (const OperationKind kind : {OperationKind::get, OperationKind::put, OperationKind::erase}) {
		const std::string value = kind == OperationKind::put ? "forged" : "";
		this->expect_closed(message_of(kind, "key", value), 1 - owner, "key of another partition");
	}
	RawClient raw(this->served.client_context, this->served.port(), this->options_for(owner));
	EXPECT_TRUE(raw.call(message_of(OperationKind::get, "key", ""))) << "the owner answers";
	EXPECT_EQ(get(*client, "key").value, "value");
}

TYPED_TEST(HostileCacheClient, MessagesThatAreNone)
{
	const std::vector<std::byte> good = message_of(OperationKind::put, "key", "value");
	const auto changed = [&good](std::size_t at, unsigned char to) {
		std::vector<std::byte> bytes = good;
		bytes[at] = std::byte{to};
		return bytes;
	};
	this->expect_closed(changed(0, 0), 0, "wrong magic");
	this->expect_closed(changed(4, 9), 0, "unknown version");
	this->expect_closed(changed(5, 0), 0, "unknown call");
	this->expect_closed(changed(5, 200), 0, "unknown call");
	this->expect_closed(changed(7, 0), 0, "key of a forbidden size");
	this->expect_closed(changed(6, 1), 0, "key of a forbidden size");
	this->expect_closed(changed(8, 1), 0, "value of a forbidden size");
	this->expect_closed(changed(11, 4), 0, "length differs from what the header announces");
	this->expect_closed(changed(15, 1), 0, "reserved field is not 0");
	this->expect_closed(message_of(OperationKind::get, "key", "value"), 0, "a value where none belongs");
	this->expect_closed(message_of(OperationKind::get, std::string(65, 'k'), ""), 0, "key of a forbidden size");
}

TYPED_TEST(HostileCacheClient, NoSuchWorker)
{
	ClientOptions options = this->options_for(2);
	options.timeout = 2s;
	const auto link = ClientLink::connect(this->served.client_context, "127.0.0.1", this->served.port(),
		apps::Hello{jakiro::store_kind}, options, longest_messages);
	EXPECT_FALSE(link);
	EXPECT_TRUE(wait_until([&] { return this->served.stats().refused == 1; }));
	EXPECT_TRUE(this->served.log.has("a client of worker 2"));
}

/* Server that describes its partitions in an impossible way. */
template <typename Store>
class HostileCacheServer : public testing::Test, private rpc::CallHandler
{
protected:
	Result<std::unique_ptr<JakiroClient>> meet(std::vector<std::byte> own)
	{
		ServerLog log;
		const Context context = open_context(Progress::engine_thread),
			      client_context = open_context(Progress::engine_thread);
		const ProtectionDomain pd = ProtectionDomain::create(context).value();
		rpc::StoreIdentity identity;
		identity.kind = jakiro::store_kind;
		identity.own = std::move(own);
		rpc::ServerOptions options = small_server(log);
		options.way = Store::way;
		const std::unique_ptr<rpc::Server> server =
			rpc::Server::create(pd, *this, std::move(identity), options).value();
		std::thread thread([&server] { EXPECT_TRUE(server->run()); });
		ClientOptions client = Store::client_options();
		client.timeout = 2s;
		auto connected = JakiroClient::connect(client_context, "127.0.0.1", server->port(), client);
		server->stop();
		thread.join();
		return connected;
	}

private:
	class Session final : public rpc::CallSession
	{
	public:
		const char *handle(std::span<const std::byte>, std::span<std::byte>, std::uint32_t &) noexcept override
		{
			return "no call is expected";
		}
	};
	std::unique_ptr<rpc::CallSession> open(const Limits &, const SessionPlace &) override
	{
		return std::make_unique<Session>();
	}
};
TYPED_TEST_SUITE(HostileCacheServer, AllWays);

TYPED_TEST(HostileCacheServer, PartitionsThatCannotBe)
{
	EXPECT_TRUE(this->meet(jakiro::Layout{1, 2}.serialize())) << "the control";
	EXPECT_EQ(this->meet({}).error().code, EBADMSG);
	EXPECT_EQ(this->meet(std::vector<std::byte>(11)).error().code, EBADMSG);
	EXPECT_EQ(this->meet(jakiro::Layout{1, 0}.serialize()).error().code, EBADMSG);
	EXPECT_EQ(this->meet(jakiro::Layout{1, 257}.serialize()).error().code, EBADMSG);
	EXPECT_FALSE(this->meet(jakiro::Layout{1, 3}.serialize())) << "more than it has workers";
}

} // namespace
