/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Connections that are lost and made again, and the outcomes of the operations that were under way. */
#include "support.hpp"

#include <sys/socket.h>

#include <map>
#include <set>

namespace
{

using namespace kv_test;
using namespace std::chrono_literals;

/** Cuts this process' TCP connections to @p port: both ends see it, as if the network had reset them. */
unsigned cut_connections_to(std::uint16_t port)
{
	unsigned cut = 0;
	for (const int fd : connections_to(port))
		cut += test::cut(fd);
	return cut;
}

PrismServerOptions store_at(std::uint16_t port)
{
	PrismServerOptions options = small_store();
	options.port = port;
	return options;
}

Outcome conditional(Client &client, OperationKind kind, const std::string &key, const Version &version)
{
	Operation operation;
	operation.kind = kind;
	operation.key = operation.value = bytes_of(key);
	return kind == OperationKind::put ? client.api->put_if(operation, version)
					  : client.api->erase_if(operation, version);
}

TEST(Reconnect, AfterACutEverythingIsThere)
{
	Server server;
	Client client(server, 1, 20s);
	for (unsigned round = 1; round <= 3; round++) {
		ASSERT_EQ(client.put("k", std::to_string(round)), Outcome::ok);
		ASSERT_GE(cut_connections_to(server.store->port()), 1u);
		/* Until the server has seen the cut, it still serves over the old connection. */
		const auto deadline = std::chrono::steady_clock::now() + 10s;
		do {
			EXPECT_EQ(client.get("k"), std::to_string(round));
		} while (client.api->stats().connections == round && std::chrono::steady_clock::now() < deadline);
		EXPECT_EQ(client.api->broken(), 0);
		EXPECT_EQ(client.api->stats().connections, 1 + round);
	}
	std::string room(8, ' ');
	const std::string key = "k";
	Version version;
	Operation get = Client::getting(key, room);
	ASSERT_EQ(client.api->get_versioned(get, version), Outcome::ok);
	ASSERT_GE(cut_connections_to(server.store->port()), 1u);
	ASSERT_EQ(client.api->get_versioned(get, version), Outcome::ok) << "a GET that waits is repeated too";
	const std::uint64_t connections = client.api->stats().connections;
	ASSERT_GE(cut_connections_to(server.store->port()), 1u);
	while (!client.api->broken() && client.api->stats().connections == connections)
		client.api->poll({}); /* until it has seen the cut, and perhaps connected again */
	EXPECT_EQ(conditional(client, OperationKind::put, "k", version), Outcome::ok) << "the object is the same";
}

TEST(Reconnect, ToAServerThatHasLostItsMemory)
{
	auto server = std::make_unique<Server>();
	const std::uint16_t port = server->store->port();
	Client client(*server, 1, 20s);
	std::string room(8, ' ');
	const std::string key = "k";
	ASSERT_EQ(client.put("k", "before"), Outcome::ok);
	Version version;
	Operation get = Client::getting(key, room);
	ASSERT_EQ(client.api->get_versioned(get, version), Outcome::ok);
	server.reset();
	server = std::make_unique<Server>(store_at(port));
	EXPECT_EQ(client.get("k"), "<not found>");
	EXPECT_EQ(client.put("k", "after"), Outcome::ok);
	EXPECT_EQ(conditional(client, OperationKind::put, "k", version), Outcome::not_found) << "of another life";
	EXPECT_EQ(conditional(client, OperationKind::erase, "k", version), Outcome::not_found);
	EXPECT_EQ(client.get("k"), "after");
	EXPECT_TRUE(client.api->server_stats().ok());
}

TEST(Reconnect, WhatIsBegunMeanwhileWaitsForAsLongAsIsSaid)
{
	auto server = std::make_unique<Server>();
	const std::uint16_t port = server->store->port();
	Client patient(*server, 1, 20s), hasty(*server, 1, 0ms);
	server.reset();
	while (!hasty.api->broken())
		hasty.api->poll({});
	std::this_thread::sleep_for(1ms);
	const std::string key = "k";
	Operation put;
	put.kind = OperationKind::put;
	put.key = put.value = bytes_of(key);
	EXPECT_EQ(hasty.api->start(put), ENOTCONN);
	EXPECT_EQ(hasty.api->server_stats().error().code, ENOTCONN);
	while (!patient.api->broken())
		patient.api->poll({});
	ASSERT_EQ(patient.api->start(put), 0);
	Operation *ended = nullptr;
	for (unsigned i = 0; i < 1000; i++)
		ASSERT_EQ(patient.api->poll({&ended, 1}), 0u);
	server = std::make_unique<Server>(store_at(port));
	const auto deadline = std::chrono::steady_clock::now() + 20s;
	while (!patient.api->poll({&ended, 1}) && std::chrono::steady_clock::now() < deadline)
		;
	ASSERT_EQ(ended, &put);
	EXPECT_EQ(put.outcome, Outcome::ok) << "it was not sent before";
	while (hasty.api->broken() && std::chrono::steady_clock::now() < deadline)
		hasty.api->poll({});
	EXPECT_EQ(hasty.get("k"), "k");
}

TEST(Reconnect, AServerOfAnotherNumberIsNotTheSame)
{
	auto server = std::make_unique<Server>();
	const std::uint16_t port = server->store->port();
	Client client(*server, 1, 300ms);
	EXPECT_EQ(client.api->why_disconnected().code, 0);
	server.reset();
	PrismServerOptions other = store_at(port);
	other.shard = {1, 2, ""};
	server = std::make_unique<Server>(other);
	EXPECT_EQ(client.get("k"), "<failed>");
	EXPECT_EQ(client.last.error, ENOTCONN);
	const Error why = client.api->why_disconnected();
	EXPECT_EQ(why.code, EPROTONOSUPPORT);
	EXPECT_NE(why.message.find("this is shard 1 of 2, not shard 0 of 1"), std::string::npos) << why.message;
	const Result<std::string> stats = client.api->server_stats();
	EXPECT_EQ(stats.error().code, ENOTCONN);
	EXPECT_NE(stats.error().message.find("not shard 0 of 1"), std::string::npos) << stats.error().message;
}

/**
 * Nobody polls an idle client: an operation begun when the server is back must not suffer from a loss that the client
 * has not seen.
 */
TEST(Reconnect, AnIdleClientNoticesALossBeforeItBegins)
{
	auto server = std::make_unique<Server>();
	const std::uint16_t port = server->store->port();
	Client client(*server, 1, 20s);
	for (std::uint64_t round = 1; round <= 3; round++) {
		ASSERT_EQ(client.put("k", "before"), Outcome::ok);
		server.reset();
		server = std::make_unique<Server>(store_at(port));
		std::this_thread::sleep_for(100ms);
		EXPECT_EQ(client.put("k", "after"), Outcome::ok) << client.last.error;
		EXPECT_EQ(client.api->stats().losses, round);
	}
}

/** A connection is ready: an operation takes it, though connecting was given up long ago. */
TEST(Reconnect, TheFirstOperationTakesAConnectionThatIsReady)
{
	auto server = std::make_unique<Server>();
	const std::uint16_t port = server->store->port();
	Client client(*server, 1, 50ms);
	ASSERT_EQ(client.put("k", "before"), Outcome::ok);
	for (unsigned round = 0; round < 3; round++) {
		server.reset();
		EXPECT_EQ(client.get("k"), "<failed>");
		EXPECT_EQ(client.last.error, ENOTCONN);
		server = std::make_unique<Server>(store_at(port));
		while (!server->has_clients())
			std::this_thread::sleep_for(1ms);
		std::this_thread::sleep_for(100ms);
		EXPECT_EQ(client.put("k", "after"), Outcome::ok) << client.last.error;
	}
}

/** A connection that has been ready for long may have been lost since. */
TEST(Reconnect, AReadyConnectionThatWasLostAgainIsNoTrap)
{
	auto server = std::make_unique<Server>();
	const std::uint16_t port = server->store->port();
	Client client(*server, 1, 20s);
	ASSERT_EQ(client.put("k", "before"), Outcome::ok);
	server.reset();
	while (!client.api->broken())
		client.api->poll({});
	for (unsigned life = 0; life < 2; life++) {
		server = std::make_unique<Server>(store_at(port));
		while (!server->has_clients() && !life)
			std::this_thread::sleep_for(1ms);
		if (!life)
			server.reset();
	}
	EXPECT_EQ(client.put("k", "after"), Outcome::ok) << client.last.error;
}

/**
 * Tests a server that hangs: operations that were sent are in doubt, those that could not even be sent were not done.
 */
TEST(Reconnect, WhatWasSentIsInDoubtAndWhatWasNotIsNot)
{
	Server server;
	constexpr unsigned depth = 2;
	Client client(server, depth, 0ms);
	ASSERT_EQ(client.put("k", "before"), Outcome::ok);
	const std::string key = "k", value = "after";
	std::vector<Operation> operations(depth);
	for (Operation &put : operations) {
		put.kind = OperationKind::put;
		put.key = bytes_of(key);
		put.value = bytes_of(value);
	}
	ASSERT_EQ(client.api->start(operations[0]), 0);
	client.api->poll({}); /* sends it */
	ASSERT_GE(cut_connections_to(server.store->port()), 1u);
	server.end();
	Operation *ended = nullptr;
	const auto deadline = std::chrono::steady_clock::now() + 20s;
	while (!client.api->poll({&ended, 1}) && std::chrono::steady_clock::now() < deadline)
		;
	ASSERT_EQ(ended, &operations[0]);
	if (ended->outcome != Outcome::ok) { /* its answer may have been quicker */
		EXPECT_EQ(ended->outcome, Outcome::unknown);
		EXPECT_NE(ended->error, ENOTCONN);
		EXPECT_NE(ended->error, 0);
	}
	std::this_thread::sleep_for(5ms);
	EXPECT_EQ(client.api->start(operations[1]), ENOTCONN);
}

/**
 * Checks many operations on a connection that is cut again and again: each ends once, with the outcome that is
 * promised.
 */
TEST(Reconnect, GetsAreRepeatedAndChangesAreDoneOnceOrNotAtAll)
{
	Server server;
	constexpr unsigned depth = 8, cuts = 10;
	Client client(server, depth, 20s);
	struct Job {
		std::string key, value, room = std::string(64, ' ');
		Operation operation;
		bool busy = false;
	};
	std::vector<Job> jobs(depth);
	std::map<std::string, std::set<std::string>> may_be; /* values that a key may have; each job has a key */
	unsigned ended = 0, failed = 0, next_cut = 100, values = 0, serial = 0;
	const auto start = [&](Job &job) {
		job.operation = Client::getting(job.key, job.room);
		job.operation.context = &job;
		job.operation.kind = serial++ % 3 ? OperationKind::put : OperationKind::get;
		job.value = "value " + std::to_string(++values);
		job.operation.value = bytes_of(job.value);
		ASSERT_EQ(client.api->start(job.operation), 0);
	};
	for (unsigned i = 0; i < depth; i++) {
		jobs[i].key = "key " + std::to_string(i);
		may_be[jobs[i].key] = {"<not found>"};
		start(jobs[i]);
	}
	const auto deadline = std::chrono::steady_clock::now() + 60s;
	while (client.api->stats().losses < cuts && std::chrono::steady_clock::now() < deadline) {
		if (ended >= next_cut) {
			cut_connections_to(server.store->port());
			next_cut = ended + 100;
		}
		Operation *done = nullptr;
		if (!client.api->poll({&done, 1}))
			continue;
		ended++;
		Job &job = *static_cast<Job *>(done->context);
		if (done->kind == OperationKind::get) {
			ASSERT_NE(done->outcome, Outcome::failed) << "a GET is repeated";
			const std::string got =
				done->outcome == Outcome::ok ? job.room.substr(0, done->length) : "<not found>";
			ASSERT_TRUE(may_be[job.key].contains(got)) << got;
			may_be[job.key] = {got};
		} else if (done->outcome == Outcome::ok) {
			may_be[job.key] = {job.value};
		} else {
			ASSERT_EQ(done->outcome, Outcome::unknown);
			ASSERT_NE(done->error, ENOTCONN);
			may_be[job.key].insert(job.value);
			failed++;
		}
		start(job);
	}
	EXPECT_EQ(client.api->stats().losses, cuts);
	EXPECT_GT(failed + client.api->stats().repeated, 0u) << "nothing was under way at any cut";
	client.api.reset();
	Client last(server);
	for (const auto &[key, values_of_key] : may_be)
		EXPECT_FALSE(last.get(key).empty());
	last.api.reset();
	const auto settled = std::chrono::steady_clock::now() + 20s;
	while (!server.store->deserted() && std::chrono::steady_clock::now() < settled)
		std::this_thread::sleep_for(10ms);
	server.end();
	EXPECT_EQ(server.store->buffers_in_use(), server.store->table().count().members) << "a buffer is lost";
	EXPECT_EQ(server.store->table().count().claims, 0u);
}

} // namespace
