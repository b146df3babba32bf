/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Communication management of one process: the state of its connections, without sockets, threads or clocks. It is
 * given messages and the time; it passes messages to the Carrier and events for the program to the Observer.
 *
 * IBTA 12.9 has the states. Two things are simpler here. A DREQ is answered at once, not when the program says
 * rdma_disconnect(): by then the program has been told, and a peer need not wait for it. There are no alternate paths.
 *
 * Not thread-safe: the caller serialises.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "connection.hpp"

namespace prism::cm
{

/** Events with rdma_cm's numbers and meanings. */
enum class EventType : std::uint32_t {
	address_resolved,
	address_error,
	route_resolved,
	route_error,
	connect_request,
	connect_response,
	connect_error,
	unreachable,
	rejected,
	established,
	disconnected,
	device_removal,
	multicast_join,
	multicast_error,
	address_change,
	timewait_exit,
};

struct Event {
	EventType type = EventType::connect_error;
	int status = 0;                         /**< 0, -errno, or a RejectReason or SidrStatus that the peer sent */
	Endpoint peer;                          /**< as the peer sees it: its resources, its QP */
	std::vector<std::uint8_t> private_data; /**< the whole field */
};

/** A request from a client. */
struct Incoming {
	PortSpace space;
	std::uint16_t port;
	IpHeader ip;
	Path path;
};

enum class Reception {
	pending, /**< the program will accept or reject */
	nobody,  /**< no listener there */
	full,    /**< as many requests wait as the program said: the client may ask again */
	mtu,     /**< the interface's MTU is smaller */
};

/** A message with the addresses that it came from and to. */
struct Arrival {
	Address from;
	Address to;
	bool same_host = false;
	Datagram datagram;
};

class Carrier
{
public:
	virtual ~Carrier() = default;

	/** @return false if certainly nobody received it. A message may get lost all the same. */
	virtual bool send(const Path &path, const Datagram &datagram) = 0;

	/** Returns true if the process that @p id belongs to may still live; asked of peers on the same host. */
	virtual bool is_alive(ConnectionId id) = 0;

	/** Counts a message that is dropped for want of room; its sender repeats it. */
	virtual void note_drop(const Arrival &arrival) = 0;
};

class Observer
{
public:
	virtual ~Observer() = default;
	/** Called before the connection changes state; if this throws it keeps its state. Must not change the agent. */
	virtual void on_event(ConnectionId id, const Event &event) = 0;
	virtual Reception on_request(ConnectionId id, const Incoming &incoming, const Event &event) = 0;
};

class Agent
{
public:
	using Random = std::function<std::uint64_t()>;

	/**
	 * @param process the upper half of this process's communication ids
	 * @param guid of this host
	 * @param random makes ids, transactions and PSNs; must be unpredictable
	 */
	Agent(Carrier &carrier_, Observer &observer_, std::uint16_t process_, std::uint64_t guid_, Random random_);

	/** Sends a REQ, or a SIDR_REQ. Returns nothing if there are too many connections. */
	std::optional<ConnectionId> connect(const Path &path, PortSpace space, const IpHeader &ip,
		const Endpoint &local, std::span<const std::uint8_t> private_data, Time now);

	/* All of these return 0 or an errno value: EINVAL if the connection is not in a state for it. */
	/** Sends a REP or SIDR_REP. @p gid is the address of the QP. */
	int accept(ConnectionId id, const Address &gid, const Endpoint &local,
		std::span<const std::uint8_t> private_data, Time now);
	/** Sends the RTU, for a client that has got a response. */
	int establish(ConnectionId id);
	/** Tells a server's connection that data came before the RTU did. */
	int notify_established(ConnectionId id);
	int reject(ConnectionId id, std::span<const std::uint8_t> private_data);
	int disconnect(ConnectionId id, Time now);
	/** Ends the connection for the program, and tells the peer. */
	void close(ConnectionId id);
	/** Ends it without telling the peer, which then asks again. */
	void forget(ConnectionId id) { connections_.erase(id); }
	/** Calls close() for all, when the process ends. */
	void close_all();

	void receive(const Arrival &arrival, Time now);

	/** Ends the connections with process @p peer of this host, which has ended. */
	void lose_process(std::uint16_t peer, Time now);

	/** Does what is due by @p now. */
	void expire(Time now);
	/** Returns the next deadline, or nothing if there is none. */
	[[nodiscard]] std::optional<Time> next_deadline() const;

	/* For a connection that exists: */
	[[nodiscard]] const Path &path(ConnectionId id) const { return connections_.at(id).path; }
	[[nodiscard]] const Endpoint &peer(ConnectionId id) const { return connections_.at(id).peer; }
	[[nodiscard]] bool exists(ConnectionId id) const { return connections_.contains(id); }

	/** Number of connections looked at since the beginning, for tests. */
	[[nodiscard]] std::uint64_t visits() const { return connections_.visits(); }

	/** Returns 24 random bits for a new connection. */
	[[nodiscard]] std::uint32_t random_psn() { return static_cast<std::uint32_t>(random_() & 0xffffff); }

private:
	using State = ConnectionState;

	Connection *find(ConnectionId id);
	Connection *find_request(ConnectionId remote_id, const Arrival &arrival);
	Connection *create(const Path &path);
	template <typename Use>
	auto use_new(ConnectionId created, const Use &use) -> decltype(use());
	void note_request(Connection &connection, ConnectionId remote_id, const Arrival &arrival);
	bool is_from_peer(const Connection &connection, const Arrival &arrival) const;

	bool send(Connection &connection, const Message &message);
	[[nodiscard]] Time next_repeat(Time now);
	void send_and_repeat(Connection &connection, const Message &message, Time now);
	void answer(const Arrival &arrival, const Message &message);
	void refuse(const Arrival &arrival, const Req &req, RejectReason reason);
	void settle(Connection &connection, State state);
	void end(Connection &connection);
	void enter_time_wait(Connection &connection, Time now);
	void watch(const Connection &connection, Time now);
	void give_up(Connection &connection, Time now);
	void abandon(Connection &connection);
	void lose_peer(Connection &connection, Time now);
	void repeat(Connection &connection, Time now);
	void probe(Time now);
	void notify(ConnectionId id, EventType type, int status = 0);

	void receive(const Arrival &arrival, const Req &req, Time now);
	void receive(const Arrival &arrival, const Mra &mra, Time now);
	void receive(const Arrival &arrival, const Rej &rej, Time now);
	void receive(const Arrival &arrival, const Rep &rep, Time now);
	void receive(const Arrival &arrival, const Rtu &rtu, Time now);
	void receive(const Arrival &arrival, const Dreq &dreq, Time now);
	void receive(const Arrival &arrival, const Drep &drep, Time now);
	void receive(const Arrival &arrival, const SidrReq &request, Time now);
	void receive(const Arrival &arrival, const SidrRep &reply, Time now);
	void receive_again(Connection &connection, const Req &req);
	void receive_again(Connection &connection, const Rep &rep);

	Carrier &carrier_;
	Observer &observer_;
	const std::uint16_t process_;
	const std::uint64_t guid_;
	Random random_;
	std::uint16_t next_serial_;
	ConnectionTable connections_;
	std::optional<Time> next_probe_; /* the time to ask for peers' processes again */
};

} // namespace prism::cm
