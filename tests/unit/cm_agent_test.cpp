/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two processes' communication management with a network between them that loses, repeats and forges messages. */
#include <gtest/gtest.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <random>
#include <set>

#include "cm/agent.hpp"

using namespace prism::cm;

namespace
{

constexpr Time millisecond = 1'000'000;
constexpr Time second = 1'000'000'000;
constexpr std::uint16_t port = 7174;

Address host(std::uint8_t last)
{
	return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}};
}

struct Heard {
	ConnectionId id;
	Event event;
};

/** A message under way. */
struct Letter {
	Path path; /* the sender's */
	Datagram datagram;
};

class Process : public Carrier, public Observer
{
public:
	Process(std::uint16_t number, std::uint8_t address)
		: gid(host(address)), agent(*this, *this, number, number, std::mt19937_64(1000 + number))
	{
	}

	bool send(const Path &path, const Datagram &datagram) override
	{
		if (nobody_there)
			return false;
		outbox.push_back({path, datagram});
		return true;
	}
	bool is_alive(ConnectionId) override
	{
		probes++;
		return !nobody_there;
	}
	void note_drop(const Arrival &) override { drops++; }
	void on_event(ConnectionId id, const Event &event) override { events.push_back({id, event}); }
	Reception on_request(ConnectionId id, const Incoming &incoming, const Event &event) override
	{
		last_incoming = incoming;
		if (reception == Reception::pending)
			events.push_back({id, event});
		return reception;
	}

	/** Returns the type and id of the next event, which must be there. */
	Heard next()
	{
		if (events.empty()) {
			ADD_FAILURE() << "no event";
			return {};
		}
		Heard first = events.front();
		events.pop_front();
		return first;
	}
	void expect(EventType type, int status = 0)
	{
		const Heard heard = next();
		EXPECT_EQ(heard.event.type, type);
		EXPECT_EQ(heard.event.status, status);
	}

	Address gid;
	Agent agent;
	std::deque<Letter> outbox;
	std::deque<Heard> events;
	std::optional<Incoming> last_incoming;
	Reception reception = Reception::pending;
	bool nobody_there = false;
	int probes = 0;
	int drops = 0;
};

Endpoint endpoint(std::uint32_t qpn, std::uint32_t psn)
{
	Endpoint end;
	end.qpn = qpn;
	end.starting_psn = psn;
	end.responder_resources = 3;
	end.initiator_depth = 4;
	end.retry_count = 7;
	end.rnr_retry_count = 6;
	end.path_mtu = 3;
	end.ack_timeout = 15;
	return end;
}

class CmAgent : public testing::Test
{
protected:
	Process client{1, 1}, server{2, 2};
	Time now = second;
	bool same_host = false;
	std::function<bool(const Letter &)> lose = [](const Letter &) { return false; };
	const std::vector<std::uint8_t> words{'h', 'e', 'l', 'l', 'o'};

	void deliver(Process &from, Process &to, const Letter &letter) const
	{
		to.agent.receive({letter.path.local, to.gid, same_host, letter.datagram}, now);
		static_cast<void>(from);
	}

	/** Delivers messages until none is under way. */
	void run()
	{
		for (int rounds = 0; rounds < 100 && (!client.outbox.empty() || !server.outbox.empty()); rounds++) {
			flush(client, server);
			flush(server, client);
		}
		EXPECT_TRUE(client.outbox.empty() && server.outbox.empty()) << "an endless exchange";
	}

	void flush(Process &from, Process &to)
	{
		std::deque<Letter> letters;
		letters.swap(from.outbox);
		for (const Letter &letter : letters)
			if (!lose(letter))
				deliver(from, to, letter);
	}

	/** Lets time pass in small steps. */
	void pass(Time time)
	{
		for (const Time end = now + time; now < end; now += 10 * millisecond) {
			client.agent.expire(now);
			server.agent.expire(now);
			run();
		}
	}

	Path path() const
	{
		return {client.gid, server.gid, same_host, make_service_id(PortSpace::tcp, port), server.gid};
	}

	ConnectionId connect()
	{
		const auto id = client.agent.connect(
			path(), PortSpace::tcp, {client.gid, 4000, server.gid}, endpoint(0x111, 0x1000), words, now);
		EXPECT_TRUE(id);
		return id.value_or(0);
	}

	/** Connects until the request is in the server's queue. */
	std::pair<ConnectionId, ConnectionId> ask()
	{
		const ConnectionId id = connect();
		run();
		const Heard request = server.next();
		EXPECT_EQ(request.event.type, EventType::connect_request);
		return {id, request.id};
	}

	std::pair<ConnectionId, ConnectionId> establish()
	{
		const auto [id, peer] = ask();
		EXPECT_EQ(server.agent.accept(peer, server.gid, endpoint(0x222, 0x2000), words, now), 0);
		run();
		client.expect(EventType::connect_response);
		EXPECT_EQ(client.agent.establish(id), 0);
		run();
		server.expect(EventType::established);
		return {id, peer};
	}

	/** Delivers a message that the network makes up. */
	void forge(Process &to, const Address &from, const Message &message) const
	{
		to.agent.receive({from, to.gid, same_host, {1, message}}, now);
	}
};

template <typename Type>
bool is(const Letter &letter)
{
	return std::holds_alternative<Type>(letter.datagram.message);
}

/** Loses the first @p count messages of a type. */
template <typename Type>
std::function<bool(const Letter &)> lose_first(int count)
{
	return [left = count](const Letter &letter) mutable { return is<Type>(letter) && left-- > 0; };
}

} // namespace

/* One connection's starting PSN must not reveal another's (W.1.1). */
TEST_F(CmAgent, starting_psns_lie_anywhere)
{
	constexpr std::uint32_t all = 1 << 24;
	constexpr unsigned drawn = 1000;
	std::set<std::uint32_t> steps, quarters;
	std::uint32_t last = 0;
	for (unsigned i = 0; i < drawn; i++) {
		const std::uint32_t psn = client.agent.random_psn();
		ASSERT_LT(psn, all);
		steps.insert((psn - last) % all);
		quarters.insert(psn / (all / 4));
		last = psn;
	}
	EXPECT_EQ(quarters.size(), 4u);
	EXPECT_GT(steps.size(), drawn / 2) << "they count up";
}

TEST_F(CmAgent, connects)
{
	const ConnectionId id = connect();
	run();
	const Heard request = server.next();
	ASSERT_EQ(request.event.type, EventType::connect_request);
	EXPECT_EQ(request.event.peer.qpn, 0x111U);
	EXPECT_EQ(request.event.peer.starting_psn, 0x1000U);
	EXPECT_EQ(request.event.peer.initiator_depth, 4);
	EXPECT_EQ(request.event.private_data.size(), 56U);
	EXPECT_TRUE(std::equal(words.begin(), words.end(), request.event.private_data.begin()));
	EXPECT_EQ(server.last_incoming->port, port);
	EXPECT_EQ(server.last_incoming->ip.source, client.gid);
	EXPECT_EQ(server.last_incoming->ip.source_port, 4000);

	ASSERT_EQ(server.agent.accept(request.id, server.gid, endpoint(0x222, 0x2000), words, now), 0);
	run();
	const Heard response = client.next();
	ASSERT_EQ(response.event.type, EventType::connect_response);
	EXPECT_EQ(response.id, id);
	EXPECT_EQ(response.event.private_data.size(), 196U);
	EXPECT_EQ(client.agent.peer(id).qpn, 0x222U);
	EXPECT_EQ(client.agent.peer(id).starting_psn, 0x2000U);
	EXPECT_EQ(client.agent.peer(id).path_mtu, 3) << "what the client said, as a reply has none";

	EXPECT_EQ(client.agent.establish(id), 0);
	EXPECT_EQ(client.agent.establish(id), EINVAL) << "once";
	run();
	server.expect(EventType::established);
	EXPECT_FALSE(client.agent.next_deadline());
	EXPECT_FALSE(server.agent.next_deadline());
}

TEST_F(CmAgent, disconnects_from_either_side)
{
	for (const bool by_client : {true, false}) {
		const auto [id, peer] = establish();
		if (by_client)
			EXPECT_EQ(client.agent.disconnect(id, now), 0);
		else
			EXPECT_EQ(server.agent.disconnect(peer, now), 0);
		run();
		client.expect(EventType::disconnected);
		server.expect(EventType::disconnected);
		pass(second);
		client.expect(EventType::timewait_exit);
		server.expect(EventType::timewait_exit);
		EXPECT_EQ(client.agent.disconnect(id, now), EINVAL);
		client.agent.close(id);
		server.agent.close(peer);
		run();
		EXPECT_TRUE(client.events.empty() && server.events.empty());
	}
}

TEST_F(CmAgent, every_message_may_get_lost)
{
	const std::function<bool(const Letter &)> losses[] = {
		lose_first<Req>(7), lose_first<Rep>(7), lose_first<Rtu>(7), lose_first<Mra>(1)};
	for (const auto &loss : losses) {
		lose = loss;
		const ConnectionId id = connect();
		for (int i = 0; server.events.empty() && i < 20; i++)
			pass(second);
		const Heard request = server.next();
		ASSERT_EQ(server.agent.accept(request.id, server.gid, endpoint(0x222, 0), {}, now), 0);
		for (int i = 0; client.events.empty() && i < 20; i++)
			pass(second);
		client.expect(EventType::connect_response);
		EXPECT_EQ(client.agent.establish(id), 0);
		for (int i = 0; server.events.empty() && i < 20; i++)
			pass(second);
		server.expect(EventType::established);
		EXPECT_TRUE(client.events.empty() && server.events.empty());
		client.agent.close(id);
		server.agent.close(request.id);
		run();
	}
}

/** The server resends it without waiting for its own timer. */
TEST_F(CmAgent, a_repeated_request_brings_the_reply_again)
{
	lose = lose_first<Rep>(1);
	const ConnectionId peer = ask().second;
	server.agent.accept(peer, server.gid, endpoint(0x222, 0), {}, now);
	run();
	EXPECT_TRUE(client.events.empty());
	now += 2 * second;
	client.agent.expire(now);
	run();
	client.expect(EventType::connect_response);
}

TEST_F(CmAgent, disconnecting_survives_losses)
{
	lose = lose_first<Dreq>(2);
	const ConnectionId id = establish().first;
	client.agent.disconnect(id, now);
	pass(4 * second);
	client.expect(EventType::disconnected);
	server.expect(EventType::disconnected);

	server.events.clear();
	client.events.clear();
	lose = lose_first<Drep>(3);
	client.agent.disconnect(establish().first, now);
	pass(6 * second);
	client.expect(EventType::disconnected);
	server.expect(EventType::disconnected);
	server.expect(EventType::timewait_exit);
	EXPECT_TRUE(server.events.empty()) << "a repeated DREQ is answered and says nothing new";
}

TEST_F(CmAgent, duplicates_change_nothing)
{
	lose = [this](const Letter &letter) {
		if (letter.path.local == client.gid)
			server.agent.receive({client.gid, server.gid, false, letter.datagram}, now);
		else
			client.agent.receive({server.gid, client.gid, false, letter.datagram}, now);
		return false;
	};
	const ConnectionId id = establish().first;
	client.agent.disconnect(id, now);
	run();
	client.expect(EventType::disconnected);
	server.expect(EventType::disconnected);
	EXPECT_TRUE(client.events.empty() && server.events.empty());
}

TEST_F(CmAgent, slow_server_is_waited_for)
{
	const ConnectionId peer = ask().second;
	pass(15 * second); /* longer than all tries together would take */
	EXPECT_TRUE(client.events.empty());
	EXPECT_EQ(server.agent.accept(peer, server.gid, endpoint(0x222, 0), {}, now), 0);
	run();
	client.expect(EventType::connect_response);
}

TEST_F(CmAgent, nobody_is_waited_for_for_ever)
{
	const ConnectionId id = connect();
	client.outbox.clear();
	/* A peer that asks for patience again and again. */
	int asked = 0;
	for (int seconds = 0; seconds < 1000 && client.events.empty(); seconds++) {
		now += second;
		client.agent.expire(now);
		client.outbox.clear();
		forge(client, server.gid, Mra{1, id, About::req, 31});
		asked++;
	}
	EXPECT_LT(asked, 700);
	client.expect(EventType::unreachable, -ETIMEDOUT);
}

TEST_F(CmAgent, silence_is_unreachable_in_time)
{
	lose = [](const Letter &letter) { return is<Req>(letter); };
	connect();
	const Time asked = now;
	for (int i = 0; client.events.empty() && i < 60; i++)
		pass(second);
	client.expect(EventType::unreachable, -ETIMEDOUT);
	EXPECT_LE(now - asked, 13 * second);
	EXPECT_TRUE(server.events.empty());
}

TEST_F(CmAgent, unanswered_reply)
{
	lose = [](const Letter &letter) { return is<Rep>(letter); };
	const ConnectionId peer = ask().second;
	pass(2 * second); /* the client has been asked to wait, and does not give up first */
	server.agent.accept(peer, server.gid, endpoint(0x222, 0), {}, now);
	for (int i = 0; server.events.empty() && i < 60; i++)
		pass(second);
	server.expect(EventType::unreachable, -ETIMEDOUT);
	run();
	EXPECT_FALSE(client.events.empty()) << "the client hears that the server gave up";
}

TEST_F(CmAgent, refusals)
{
	server.reception = Reception::nobody;
	connect();
	run();
	client.expect(EventType::rejected, 8);

	server.reception = Reception::pending;
	const ConnectionId peer = ask().second;
	EXPECT_EQ(server.agent.reject(peer, words), 0);
	EXPECT_EQ(server.agent.reject(peer, words), EINVAL);
	run();
	const Heard refusal = client.next();
	EXPECT_EQ(refusal.event.type, EventType::rejected);
	EXPECT_EQ(refusal.event.status, 28);
	EXPECT_EQ(refusal.event.private_data.size(), 148U);
	EXPECT_TRUE(std::equal(words.begin(), words.end(), refusal.event.private_data.begin()));
}

/* As the kernel does. A thousand clients that were turned away together do not return together. */
TEST_F(CmAgent, who_finds_a_server_full_asks_again)
{
	constexpr int clients = 1000;
	server.reception = Reception::full;
	for (int i = 0; i < clients; i++)
		connect();
	run();
	EXPECT_EQ(server.drops, clients);
	for (int before = clients; server.drops < 2 * clients && !HasFailure(); before = server.drops) {
		pass(10 * millisecond);
		EXPECT_LT(server.drops - before, clients / 10);
		EXPECT_LT(now, 3 * second);
	}
	EXPECT_TRUE(client.events.empty());
	server.reception = Reception::pending;
	pass(2 * second);
	EXPECT_EQ(server.events.size(), std::size_t{clients});
	EXPECT_TRUE(client.events.empty());
}

TEST_F(CmAgent, whoever_closes_tells_the_other)
{
	auto [id, peer] = ask();
	client.agent.close(id);
	run();
	server.expect(EventType::rejected, 4);

	std::tie(id, peer) = ask();
	server.agent.close(peer);
	run();
	client.expect(EventType::rejected, 28);

	std::tie(id, peer) = ask();
	server.agent.accept(peer, server.gid, endpoint(0x222, 0), {}, now);
	run();
	client.expect(EventType::connect_response);
	client.agent.close(id);
	run();
	server.expect(EventType::rejected, 28);

	std::tie(id, peer) = establish();
	client.agent.close_all();
	run();
	server.expect(EventType::disconnected);
	EXPECT_FALSE(client.agent.exists(id));
}

TEST_F(CmAgent, a_forgotten_request_is_asked_again)
{
	const ConnectionId peer = ask().second;
	server.agent.forget(peer);
	pass(2 * second);
	server.expect(EventType::connect_request);
	EXPECT_TRUE(client.events.empty());
}

/** On one host every user can send with any address, and can guess the ids: processes and serial numbers are few. */
TEST_F(CmAgent, on_the_same_host_only_the_transaction_proves)
{
	same_host = true;
	const ConnectionId waiting = connect();
	const auto refuse = [](ConnectionId local, ConnectionId remote) {
		Rej rej;
		rej.local_id = local;
		rej.remote_id = remote;
		return rej;
	};
	forge(client, server.gid, refuse(0, waiting));
	Rep rep;
	rep.local_id = 7;
	rep.remote_id = waiting;
	forge(client, server.gid, rep);
	EXPECT_TRUE(client.events.empty());
	run();
	server.events.clear();

	const auto [id, peer] = establish();
	forge(client, server.gid, refuse(0, id));
	forge(client, server.gid, refuse(peer, id));
	forge(server, client.gid, refuse(id, peer));
	forge(server, client.gid, Dreq{id, peer, 0x222});
	forge(client, server.gid, Dreq{peer, id, 0x111});
	EXPECT_TRUE(client.events.empty() && server.events.empty());
	EXPECT_TRUE(client.outbox.empty() && server.outbox.empty());
	EXPECT_EQ(client.agent.disconnect(id, now), 0);
	run();
	server.expect(EventType::disconnected);
}

/** A refusal of a request has no local id; once there is a connection, 0 is not its id. */
TEST_F(CmAgent, a_refusal_names_the_right_connection)
{
	const auto [id, peer] = establish();
	Rej rej;
	rej.remote_id = id;
	for (const ConnectionId wrong : {ConnectionId{0}, peer + 1}) {
		rej.local_id = wrong;
		forge(client, server.gid, rej);
	}
	EXPECT_TRUE(client.events.empty());
	rej.local_id = peer;
	forge(client, server.gid, rej);
	client.expect(EventType::disconnected);
}

TEST_F(CmAgent, process_on_the_same_host_that_is_gone)
{
	same_host = true;
	establish();
	client.nobody_there = true;
	pass(2 * second);
	client.expect(EventType::disconnected);

	client.events.clear();
	const Time asked = now;
	connect();
	while (client.events.empty() && now < asked + 60 * second)
		pass(100 * millisecond);
	client.expect(EventType::rejected, 8);
	EXPECT_LE(now - asked, 2 * second) << "not after all tries";

	/* A listener that appears while the agent looks for it is found. */
	connect();
	pass(300 * millisecond);
	server.events.clear();
	client.nobody_there = false;
	pass(200 * millisecond);
	server.expect(EventType::connect_request);
	EXPECT_TRUE(client.events.empty());
}

/** Its name belongs to another process by now, so no probe would notice. */
TEST_F(CmAgent, process_on_the_same_host_that_is_said_to_be_gone)
{
	same_host = true;
	const auto [id, peer] = establish();
	client.agent.lose_process(static_cast<std::uint16_t>((peer >> process_shift) + 1), now);
	EXPECT_TRUE(client.events.empty()) << "another process's end";
	client.agent.lose_process(static_cast<std::uint16_t>(peer >> process_shift), now);
	client.expect(EventType::disconnected);
}

/** A connection costs the same, from request to end, however many others there are. */
TEST_F(CmAgent, others_connections_are_not_looked_at)
{
	const auto life = [this] {
		const std::uint64_t before = client.agent.visits() + server.agent.visits();
		const auto [id, peer] = establish();
		EXPECT_EQ(client.agent.disconnect(id, now), 0);
		run();
		client.expect(EventType::disconnected);
		server.expect(EventType::disconnected);
		pass(200 * millisecond);
		client.expect(EventType::timewait_exit);
		server.expect(EventType::timewait_exit);
		client.agent.close(id);
		server.agent.close(peer);
		return client.agent.visits() + server.agent.visits() - before;
	};
	const std::uint64_t alone = life();
	for (int i = 0; i < 10000; i++)
		establish();
	EXPECT_EQ(life(), alone);
	/* The ten-thousandth costs as little as the first. */
	EXPECT_LE(alone, 60U);
}

/** All connections are with one process, which is probed once for all of them. */
TEST_F(CmAgent, a_process_is_probed_not_its_connections)
{
	same_host = true;
	for (int i = 0; i < 1000; i++)
		establish();
	pass(5 * second);
	EXPECT_GE(client.probes, 9);
	EXPECT_LE(client.probes, 11);
	client.nobody_there = true;
	pass(second);
	for (int i = 0; i < 1000; i++)
		client.expect(EventType::disconnected);
	const int probes = client.probes;
	client.events.clear();
	pass(5 * second);
	EXPECT_EQ(client.probes, probes) << "nobody is left to ask for";
	EXPECT_FALSE(client.agent.next_deadline());
}

/** Its old connection is over, but the server's program has not closed it yet. */
TEST_F(CmAgent, a_client_may_ask_again_with_the_same_id)
{
	const auto [id, peer] = ask();
	static_cast<void>(id);
	EXPECT_EQ(server.agent.reject(peer, {}), 0);
	server.outbox.clear();
	now += 2 * second;
	client.agent.expire(now);
	run();
	const Heard again = server.next();
	EXPECT_EQ(again.event.type, EventType::connect_request);
	EXPECT_NE(again.id, peer);
	server.agent.close(peer);
	EXPECT_EQ(server.agent.accept(again.id, server.gid, endpoint(0x222, 0), {}, now), 0);
	now += 2 * second;
	client.agent.expire(now); /* the reply was lost: it is still known which request this is */
	run();
	EXPECT_TRUE(server.events.empty());
	client.expect(EventType::connect_response);
}

TEST_F(CmAgent, data_before_the_last_message)
{
	lose = [](const Letter &letter) { return is<Rtu>(letter); };
	const auto [id, peer] = ask();
	server.agent.accept(peer, server.gid, endpoint(0x222, 0), {}, now);
	run();
	client.expect(EventType::connect_response);
	client.agent.establish(id);
	run();
	EXPECT_EQ(server.agent.notify_established(peer), 0);
	EXPECT_EQ(server.agent.notify_established(peer), EISCONN);
	server.expect(EventType::established);
}

TEST_F(CmAgent, datagram_service)
{
	Path to = path();
	to.service_id = make_service_id(PortSpace::udp, port);
	lose = lose_first<SidrRep>(1);
	const auto id = client.agent.connect(
		to, PortSpace::udp, {client.gid, 4000, server.gid}, endpoint(0x111, 0), words, now);
	ASSERT_TRUE(id);
	run();
	const Heard request = server.next();
	EXPECT_EQ(request.event.type, EventType::connect_request);
	EXPECT_EQ(request.event.private_data.size(), 180U);
	EXPECT_EQ(server.last_incoming->space, PortSpace::udp);
	Endpoint end = endpoint(0x222, 0);
	end.qkey = 0x01234567;
	EXPECT_EQ(server.agent.accept(request.id, server.gid, end, words, now), 0);
	pass(3 * second);
	const Heard reply = client.next();
	EXPECT_EQ(reply.event.type, EventType::established);
	EXPECT_EQ(reply.event.peer.qpn, 0x222U);
	EXPECT_EQ(reply.event.peer.qkey, 0x01234567U);
	EXPECT_EQ(reply.event.private_data.size(), 136U);
	EXPECT_TRUE(server.events.empty()) << "the request that was sent again is no new one";

	const auto refused = client.agent.connect(
		to, PortSpace::udp, {client.gid, 4000, server.gid}, endpoint(0x111, 0), words, now);
	run();
	ASSERT_TRUE(refused);
	server.agent.reject(server.next().id, {});
	run();
	client.expect(EventType::unreachable, 2);
}

/* Messages from strangers ------------------------------------------------------------------------------------------ */

TEST_F(CmAgent, strangers_cannot_speak_for_a_peer)
{
	const Address stranger = host(66);
	auto [id, peer] = ask();
	Rep rep;
	rep.local_id = 1;
	rep.remote_id = id;
	forge(client, stranger, rep);
	Rej rej;
	rej.remote_id = id;
	forge(client, stranger, rej);
	rej.remote_id = peer;
	forge(server, stranger, rej);
	rej.remote_id = 0;
	rej.local_id = id;
	rej.reason = RejectReason::timeout;
	forge(server, stranger, rej);
	EXPECT_TRUE(client.events.empty() && server.events.empty());

	server.agent.accept(peer, server.gid, endpoint(0x222, 0), {}, now);
	forge(server, stranger, Rtu{id, peer});
	EXPECT_TRUE(server.events.empty());
	run();
	client.expect(EventType::connect_response);
	client.agent.establish(id);
	run();
	server.expect(EventType::established);

	forge(server, stranger, Dreq{id, peer, 0x222});
	forge(server, client.gid, Dreq{id + 1, peer, 0x222});
	forge(server, client.gid, Dreq{id, peer, 0x223});
	forge(client, server.gid, Drep{peer, id});
	EXPECT_TRUE(client.events.empty() && server.events.empty());
	EXPECT_EQ(server.agent.disconnect(peer, now), 0) << "the connection is still there";
}

TEST_F(CmAgent, requests_that_make_no_sense)
{
	struct {
		const char *what;
		std::function<void(Req &)> change;
		int reason;
	} const table[] = {
		{"another version of the IP header", [](Req &req) { req.private_data[0] = 1; }, 8},
		{"no version of IP", [](Req &req) { req.private_data[1] = 0; }, 8},
		{"no port space", [](Req &req) { req.service_id = 0x2000; }, 8},
		{"the datagrams' port space", [](Req &req) { req.service_id = make_service_id(PortSpace::udp, port); },
			8},
		{"reliable datagrams", [](Req &req) { req.transport = TransportType::rd; }, 9},
		{"another transport", [](Req &req) { req.transport = TransportType::extended; }, 9},
		{"another host's address", [](Req &req) { req.private_data[35] = 99; }, 12},
		{"from another host than it says", [](Req &req) { req.private_data[19] = 99; }, 12},
		{"no MTU", [](Req &req) { req.path_mtu = 0; }, 26},
		{"an MTU that there is not", [](Req &req) { req.path_mtu = 6; }, 26},
	};
	for (const auto &row : table) {
		SCOPED_TRACE(row.what);
		connect();
		Letter letter = client.outbox.front();
		client.outbox.clear();
		row.change(std::get<Req>(letter.datagram.message));
		deliver(client, server, letter);
		EXPECT_TRUE(server.events.empty());
		run();
		client.expect(EventType::rejected, row.reason);
	}
}

TEST_F(CmAgent, a_request_of_too_large_an_mtu)
{
	server.reception = Reception::mtu;
	connect();
	run();
	EXPECT_TRUE(server.events.empty());
	client.expect(EventType::rejected, 26);
}

/** Envelopes that another user of the host may forge, with addresses that no queue pair can be connected to. */
TEST_F(CmAgent, requests_from_where_nobody_can_be)
{
	same_host = true;
	const Address group{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 0, 0, 1}};
	const Address other_family{{0xfd, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
	for (const Address &from : {Address{}, group, other_family}) {
		connect();
		Letter letter = client.outbox.front();
		client.outbox.clear();
		letter.path.local = from;
		deliver(client, server, letter);
		EXPECT_TRUE(server.events.empty());
		run();
		client.expect(EventType::rejected, 12);
	}
	ask();
}

TEST_F(CmAgent, a_flood_of_requests_is_bounded)
{
	Req req;
	req.path_mtu = 3;
	req.service_id = make_service_id(PortSpace::tcp, port);
	encode_ip_header({host(9), 1, server.gid}, std::span(req.private_data).first<IpHeader::size>());
	int accepted = 0, refused = 0;
	server.reception = Reception::nobody;
	for (req.local_id = 1; req.local_id <= 70000; req.local_id++) {
		forge(server, host(9), req);
		refused += static_cast<int>(server.outbox.size());
		server.outbox.clear();
	}
	EXPECT_EQ(refused, 70000);
	server.reception = Reception::pending;
	for (req.local_id = 1; req.local_id <= 300; req.local_id++)
		forge(server, host(9), req);
	accepted = static_cast<int>(server.events.size());
	EXPECT_EQ(accepted, 300);
	for (const Heard &heard : server.events)
		server.agent.close(heard.id);
	server.events.clear();
	server.outbox.clear();
	establish();
}

/** Each message gets at most one answer, and no answer is larger than its message. */
TEST_F(CmAgent, garbage)
{
	std::mt19937 random(47);
	const auto byte = [&random] { return static_cast<std::uint8_t>(random()); };
	std::vector<Mad> seeds;
	const auto [id, peer] = establish();
	for (const Message &message : {Message(Req{}), Message(Mra{0, peer}), Message(Rej{0, peer}),
		     Message(Rep{0, peer}), Message(Rtu{id, peer}), Message(Dreq{id, peer, 1}), Message(Drep{id, peer}),
		     Message(SidrReq{}), Message(SidrRep{peer})})
		seeds.push_back(encode({random(), message}));
	int understood = 0;
	for (int i = 0; i < 20000; i++) {
		Mad mad = seeds[random() % seeds.size()];
		for (unsigned changes = random() % 12; changes > 0; changes--)
			mad[random() % 4 ? 24 + random() % 80 : random() % mad.size()] = byte();
		if (random() % 8 == 0)
			std::generate(mad.begin() + 24, mad.end(), byte);
		const auto datagram = decode(mad);
		if (!datagram)
			continue;
		understood++;
		server.outbox.clear();
		server.agent.receive({host(byte() % 4), server.gid, random() % 2 == 0, *datagram}, now);
		EXPECT_LE(server.outbox.size(), 1U);
		now += millisecond;
		server.agent.expire(now);
	}
	EXPECT_GT(understood, 10000);
	server.agent.close_all();
	server.outbox.clear();
	server.events.clear();
	client.agent.close_all();
	run();
	server.events.clear();
	establish();
}
