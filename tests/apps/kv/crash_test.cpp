/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients that vanish, slots that are damaged, servers that are replaced. */
#include "support.hpp"

#include <endian.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "kv/store/introduction.hpp"
#include "kv/store/kind.hpp"

namespace
{

using namespace kv_test;

using namespace std::chrono_literals;

template <typename Condition>
bool within(std::chrono::milliseconds time, Client &client, Condition condition)
{
	const auto deadline = std::chrono::steady_clock::now() + time;
	while (!condition()) {
		if (std::chrono::steady_clock::now() > deadline)
			return false;
		client.api->poll({});
	}
	return true;
}

nlohmann::json stats(Client &client)
{
	return nlohmann::json::parse(client.api->server_stats().value());
}

TEST(Crash, WhatAClientHeldIsFoundWhileOthersGoOn)
{
	Server server;
	Client other(server);
	for (unsigned i = 0; i < 100; i++)
		ASSERT_EQ(other.put("stays " + std::to_string(i), "value"), Outcome::ok);
	constexpr unsigned depth = 16;
	for (unsigned round = 0; round < 20; round++) {
		Client client(server, depth);
		std::vector<std::string> keys(depth);
		std::vector<Operation> operations(depth);
		for (unsigned i = 0; i < depth; i++) {
			keys[i] = "goes " + std::to_string(round) + " " + std::to_string(i);
			operations[i].kind = OperationKind::put;
			operations[i].key = operations[i].value = bytes_of(keys[i]);
			ASSERT_EQ(client.api->start(operations[i]), 0);
		}
		Operation *ended = nullptr;
		for (unsigned polls = 0; polls < 3 * round; polls++)
			client.api->poll({&ended, 1});
	}
	ASSERT_TRUE(within(10s, other, [&] { return stats(other)["connections"]["open"] == 1; }));
	const auto done = [&] {
		const std::uint64_t before = stats(other)["recovery"]["scans"];
		(void)other.api->request_recovery();
		return within(10s, other, [&] { return stats(other)["recovery"]["scans"] > before; });
	};
	ASSERT_TRUE(done());
	ASSERT_TRUE(done()); /* the first scan may have begun before the last client was gone */
	for (unsigned i = 0; i < 100; i++)
		EXPECT_EQ(other.get("stays " + std::to_string(i)), "value");
	server.end();
	const TableCount count = server.store->table().count();
	EXPECT_EQ(count.claims, 0u);
	EXPECT_EQ(server.store->buffers_in_use(), count.members);
	EXPECT_GT(server.store->recovery_stats().recovered, 0u) << "no client was caught with a buffer";
}

/* Damages a slot without any synchronization, so the thread sanitizer must not look. */

[[gnu::noinline, gnu::no_sanitize_thread]] void damage_slot(const ServerView &view, std::uint64_t slot)
{
	reinterpret_cast<Slot *>(view.table.address)[slot].object.ptr = 8; /* outside the region */
}

[[gnu::noinline, gnu::no_sanitize_thread]] void damage_object(const ServerView &view, std::uint64_t slot)
{
	const std::uint64_t object = reinterpret_cast<const Slot *>(view.table.address)[slot].object.ptr;
	reinterpret_cast<ObjectHeader *>(object)->value_size = 1 << 30;
}

/**
 * Checks that a client that never stops talking is heard in turns: others, and a stop of the server, come in between.
 */
TEST(Crash, WhoNeverStopsTalkingIsHeardInTurns)
{
	Server server;
	Client talker(server);
	const std::vector<int> fds = connections_to(server.store->port());
	ASSERT_EQ(fds.size(), 1u);
	constexpr std::size_t count = 65536; /* more than sockets hold: some are heard before the last is sent */
	const std::array<std::uint32_t, 4> unasked{
		htobe32(static_cast<std::uint32_t>(apps::ControlKind::settled)), 0, 0, 0};
	const std::vector<std::array<std::uint32_t, 4>> messages(count, unasked);
	const auto bytes = std::as_bytes(std::span(messages));
	ASSERT_EQ(::send(fds[0], bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
	server.end();
	EXPECT_LT(server.store->stats().messages.count(), count);
}

/** Operations that poll() has not handed back by then belong to the caller, who may have freed them. */
TEST(Crash, WhoIsDestroyedLeavesOperationsAlone)
{
	Server server;
	constexpr unsigned depth = 8;
	const std::string key = "k";
	for (unsigned round = 0; round < 50; round++) {
		auto client = std::make_unique<Client>(server, depth);
		for (unsigned i = 0; i < 2; i++) /* the second one leaves a buffer to report */
			ASSERT_EQ(client->put(key, "value"), Outcome::ok);
		std::array<Operation, depth> operations;
		for (Operation &operation : operations) {
			operation.kind = OperationKind::put;
			operation.key = operation.value = bytes_of(key);
			operation.outcome = Outcome::not_found; /* an outcome that no PUT has */
			ASSERT_EQ(client->api->start(operation), 0);
		}
		client->api->poll({});
		const auto outcome = [](const Operation &operation) { return operation.outcome; };
		std::array<Outcome, depth> before;
		std::ranges::transform(operations, before.begin(), outcome);
		client.reset();
		EXPECT_TRUE(std::ranges::equal(operations, before, {}, outcome));
	}
}

TEST(Crash, AScanWaitsForWhoIsAboutToEnter)
{
	Server server;
	Client client(server);
	ASSERT_EQ(client.put("k", "v"), Outcome::ok);
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const ProtectionDomain pd = ProtectionDomain::create(context).value();
	const CompletionQueue cq = CompletionQueue::create(context, 8).value();
	const QueuePair pair = QueuePair::create(pd, cq, cq, {}).value();
	{
		TcpRendezvous link = TcpRendezvous::connect("127.0.0.1", server.store->port(), 2s).value();
		ConnectionRecord mine;
		mine.endpoint = pair.endpoint();
		mine.private_data = apps::Hello{prism_kind}.serialize(Introduction{}.serialize());
		ASSERT_TRUE(link.swap(mine, std::chrono::steady_clock::now() + 2s).ok());
		ASSERT_TRUE(client.api->request_recovery().ok());
		EXPECT_FALSE(within(200ms, client, [&] { return stats(client)["recovery"]["scans"] > 0; }));
	}
	EXPECT_TRUE(within(10s, client, [&] { return stats(client)["recovery"]["scans"] > 0; }));
	EXPECT_EQ(client.get("k"), "v");
}

/** Dies while it holds @p count buffers: its requests have allocated one each, and nobody reads the answers. */
void die_with_buffers(const Server &server, unsigned count)
{
	Client client(server, count);
	std::vector<std::string> keys(count);
	std::vector<Operation> operations(count);
	for (unsigned i = 0; i < count; i++) {
		keys[i] = "lost " + std::to_string(i);
		operations[i].kind = OperationKind::put;
		operations[i].key = operations[i].value = bytes_of(keys[i]);
		ASSERT_EQ(client.api->start(operations[i]), 0);
	}
	Operation *ended = nullptr;
	for (unsigned polls = 0; polls < 20; polls++)
		client.api->poll({&ended, 1});
}

/** Returns true if every buffer not in its list belongs to the table. */
bool nothing_is_lost(Client &client)
{
	const nlohmann::json now = stats(client);
	std::uint64_t in_use = 0;
	for (const nlohmann::json &size_class : now["classes"])
		in_use += size_class["buffers"].get<std::uint64_t>() - size_class["available"].get<std::uint64_t>();
	return now["recovery"]["scans"] > 0 && in_use == now["table"]["members"];
}

TEST(Crash, WhoDoesNotAnswerIsCutOffAndKeepsNothingLost)
{
	PrismServerOptions options = small_store();
	options.answer_timeout = 500ms;
	Server server(options);
	Client other(server), silent(server);
	ASSERT_EQ(silent.put("k", "v"), Outcome::ok);
	for (unsigned round = 0; round < 3; round++)
		die_with_buffers(server, 20);
	EXPECT_TRUE(within(10s, other, [&] { return nothing_is_lost(other); }));
	EXPECT_GE(stats(other)["recovery"]["cut_off"], 1);
	EXPECT_EQ(silent.api->stats().losses, 0u) << "it has not looked yet";
	EXPECT_EQ(silent.put("k", "later"), Outcome::ok) << "by another connection";
	EXPECT_EQ(silent.api->stats().connections, 2u);
	EXPECT_EQ(other.get("k"), "later");
}

TEST(Crash, ADamagedSlotIsAnErrorOfThatOperation)
{
	Server server;
	Client victim(server), other(server), vandal(server);
	ASSERT_EQ(victim.put("k", "value"), Outcome::ok);
	ASSERT_EQ(other.put("other", "value"), Outcome::ok);
	const ServerView &view = vandal.api->server();
	const std::string key = "k";
	const std::uint64_t home = view.geometry.home_of(fingerprint_of(view.secret, bytes_of(key)));
	damage_slot(view, home); /* as any client could, since the store trusts them */
	EXPECT_EQ(victim.get("k"), "<failed>");
	EXPECT_EQ(victim.last.error, EBADMSG);
	EXPECT_EQ(victim.get("k"), "<failed>") << "the connection was lost and made again, the damage stays";
	EXPECT_EQ(victim.last.error, EBADMSG);
	EXPECT_EQ(victim.api->stats().losses, 2u);
	EXPECT_EQ(victim.get("other"), "value") << "what follows is done on the next connection";
	EXPECT_EQ(other.get("other"), "value");
	Client reconnected(server);
	EXPECT_EQ(reconnected.get("other"), "value");
	EXPECT_EQ(reconnected.put("k", "mended"), Outcome::ok) << "a PUT replaces the pointer, whatever it was";
	EXPECT_EQ(reconnected.get("k"), "mended");
}

TEST(Crash, ADamagedObjectIsAnError)
{
	Server server;
	Client victim(server);
	ASSERT_EQ(victim.put("k", "value"), Outcome::ok);
	const ServerView &view = victim.api->server();
	const std::string key = "k";
	const std::uint64_t home = view.geometry.home_of(fingerprint_of(view.secret, bytes_of(key)));
	damage_object(view, home);
	EXPECT_EQ(victim.get("k"), "<failed>");
	EXPECT_EQ(victim.last.error, EBADMSG);
}

TEST(Crash, AServerThatEndsIsAnError)
{
	auto server = std::make_unique<Server>();
	Client client(*server);
	ASSERT_EQ(client.put("k", "value"), Outcome::ok);
	server.reset();
	EXPECT_EQ(client.get("k"), "<failed>");
	EXPECT_EQ(client.last.error, ENOTCONN);
	EXPECT_NE(client.api->broken(), 0);
	Operation again = client.last;
	EXPECT_EQ(client.api->start(again), ENOTCONN) << "it has been gone for longer than operations wait";
}

/** Checks that operations under way are done, that no more begin, and that none is left in doubt. */
TEST(Crash, AServerThatIsDrainedLetsOperationsEnd)
{
	for (unsigned round = 0; round < 10; round++) {
		Server server;
		constexpr unsigned depth = 16;
		Client client(server, depth, 50ms);
		std::vector<std::string> keys(depth);
		std::vector<Operation> operations(depth);
		unsigned under_way = 0, done = 0, failed = 0, held = 0;
		const auto begin = [&](Operation &operation) { under_way += client.api->start(operation) == 0; };
		for (unsigned i = 0; i < depth; i++) {
			keys[i] = "key " + std::to_string(i);
			operations[i].kind = OperationKind::put;
			operations[i].key = operations[i].value = bytes_of(keys[i]);
			begin(operations[i]);
		}
		bool asked = false;
		while (under_way) {
			Operation *ended = nullptr;
			if (!client.api->poll({&ended, 1}))
				continue;
			under_way--;
			done += ended->outcome == Outcome::ok;
			held += ended->outcome == Outcome::failed && ended->error == ENOTCONN;
			failed += ended->outcome != Outcome::ok;
			if (done > 200 && !std::exchange(asked, true))
				server.store->drain(5s);
			if (ended->outcome == Outcome::ok)
				begin(*ended);
		}
		EXPECT_GT(held, 0u) << "those that would have begun later";
		EXPECT_EQ(failed, held) << "an operation that had begun has failed";
		EXPECT_FALSE(TcpRendezvous::connect("127.0.0.1", server.store->port(), 10ms).ok());
		server.wait();
	}
}

TEST(Crash, AServerThatIsDrainedWaitsForNobodyLongerThanItWasTold)
{
	Server server;
	Client silent(server);
	server.store->drain(100ms);
	const auto begin = std::chrono::steady_clock::now();
	server.wait();
	EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
	EXPECT_EQ(silent.get("k"), "<failed>");
}

TEST(Crash, OneClientTooMany)
{
	PrismServerOptions options = small_store();
	options.max_connections = 2;
	Server server(options);
	Client first(server), second(server);
	const Context context = Context::open("prism_lo", Progress::caller).value();
	PrismClientOptions short_time;
	short_time.timeout = 500ms;
	const auto refused = PrismClient::connect(context, "127.0.0.1", server.store->port(), short_time);
	ASSERT_FALSE(refused.ok());
	EXPECT_EQ(refused.error().code, EMFILE);
	EXPECT_NE(refused.error().message.find("2 connections already"), std::string::npos) << refused.error().message;
	EXPECT_EQ(first.put("k", "v"), Outcome::ok);
	second.api.reset();
	std::this_thread::sleep_for(100ms);
	Client third(server);
	EXPECT_EQ(third.get("k"), "v");
}

TEST(Crash, ClientsThatVanishedMakeRoomWhenNoPlaceIsLeft)
{
	PrismServerOptions options = small_store();
	options.max_connections = 2;
	options.answer_timeout = 500ms;
	Server server(options);
	const Client vanished(server), gone(server); /* their connections stay, and they never answer */
	const Context context = Context::open("prism_lo", Progress::caller).value();
	bool connected = false;
	for (const auto end = std::chrono::steady_clock::now() + 20s; !connected;) {
		ASSERT_LT(std::chrono::steady_clock::now(), end);
		connected = PrismClient::connect(context, "127.0.0.1", server.store->port()).ok();
		std::this_thread::sleep_for(50ms);
	}
}

TEST(Crash, SilentAndSenselessClientsDelayNobody)
{
	PrismServerOptions options = small_store();
	options.setup_timeout = 60s;
	options.max_connections = 2;
	Server server(options);
	std::vector<TcpRendezvous> silent;
	for (int i = 0; i < 10; i++)
		silent.push_back(TcpRendezvous::connect("127.0.0.1", server.store->port(), 2s).value());
	const std::string rubbish(100, 'x');
	ASSERT_EQ(::send(silent.back().fd(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL), 100);
	const auto begin = std::chrono::steady_clock::now();
	Client client(server);
	EXPECT_EQ(client.put("k", "v"), Outcome::ok);
	EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
	ASSERT_TRUE(within(10s, client, [&] { return stats(client)["connections"]["refused"] == 1; }));
	EXPECT_TRUE(within(10s, client, [&] { return silent.back().peer_gone(); }));
	EXPECT_EQ(stats(client)["connections"]["open"], 1) << "who is silent has no connection yet";
}

/** Lets clients give up after sending their records, when the server makes queue pairs for them. */
TEST(Crash, ClientsThatStopHalfWayLeaveNothing)
{
	PrismServerOptions options = small_store();
	options.max_connections = 2;
	Server server(options);
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const ProtectionDomain pd = ProtectionDomain::create(context).value();
	const CompletionQueue cq = CompletionQueue::create(context, 16).value();
	for (unsigned i = 0; i < 10; i++) {
		const QueuePair qp = QueuePair::create(pd, cq, cq).value();
		TcpRendezvous link = TcpRendezvous::connect("127.0.0.1", server.store->port(), 2s).value();
		ConnectionRecord mine;
		mine.endpoint = qp.endpoint();
		const apps::Hello hello{prism_kind};
		mine.private_data = hello.serialize(Introduction{}.serialize());
		const auto peer = link.swap(mine, std::chrono::steady_clock::now() + 2s);
		ASSERT_TRUE(peer.ok());
		/* The previous client may still be leaving. */
		const auto view = view_of(*peer, "the server");
		ASSERT_TRUE(view.ok() || view.error().code == EMFILE) << view.error().message;
	}
	std::this_thread::sleep_for(100ms);
	Client first(server), second(server);
	EXPECT_EQ(first.put("k", "v"), Outcome::ok);
	EXPECT_EQ(second.get("k"), "v");
}

TEST(Crash, AServerOfAnotherKindIsNamed)
{
	/* Answers like a store of its own kind. */
	TcpListener listener = TcpListener::create(0, "127.0.0.1").value();
	std::thread other([&] {
		const Context context = Context::open("prism_lo", Progress::caller).value();
		const ProtectionDomain pd = ProtectionDomain::create(context).value();
		const CompletionQueue cq = CompletionQueue::create(context, 16).value();
		QueuePair qp = QueuePair::create(pd, cq, cq).value();
		TcpRendezvous link = listener.accept(5s).value();
		ConnectionRecord mine;
		mine.private_data = apps::Hello{{apps::Application::kv, 9, "pilaf", 1}, 8, 8, 1}.serialize();
		(void)establish(link, qp, mine, 2s);
		while (!link.peer_gone())
			std::this_thread::sleep_for(1ms);
	});
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto client = PrismClient::connect(context, "127.0.0.1", listener.port());
	ASSERT_FALSE(client.ok());
	EXPECT_EQ(client.error().code, EPROTONOSUPPORT);
	EXPECT_NE(client.error().message.find("pilaf store"), std::string::npos) << client.error().message;
	other.join();
}

TEST(Crash, OptionsThatContradictEachOther)
{
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto refuses = [&](auto change) {
		PrismServerOptions options = small_store();
		change(options);
		const auto made = PrismServer::create(context, options);
		return !made.ok() && made.error().code == EINVAL;
	};
	EXPECT_TRUE(refuses([](auto &options) { options.classes.clear(); }));
	EXPECT_TRUE(refuses([](auto &options) { options.classes = {{100, 1}}; }));
	EXPECT_TRUE(refuses([](auto &options) { options.classes = {{128, 1}}; }));
	EXPECT_TRUE(refuses([](auto &options) { options.max_key_size = 0; }));
	EXPECT_TRUE(refuses([](auto &options) { options.max_value_size = 2 << 20; }));
	EXPECT_TRUE(refuses([](auto &options) { options.max_connections = 0; }));
}

} // namespace
