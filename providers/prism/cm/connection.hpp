/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The connections of an Agent, and the keys by which each is found: its communication id, the request that it came
 * with, the time when something is due, the process of this host that it is with. The cost of a message grows with
 * their number only by the depth of a tree.
 */
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "mad.hpp"

namespace prism::cm
{

/** Our end of a connection: a communication id. Never 0. */
using ConnectionId = std::uint32_t;

/** The upper half of a communication id says which process of the host it belongs to. */
inline constexpr unsigned process_shift = 16;

/** The two ends that a connection runs between. */
struct Path {
	Address local;  /**< GIDs that the QPs use; on loopback not the addresses that the programs gave */
	Address remote; /**< */
	bool same_host = false;
	std::uint64_t service_id = 0;
	Address service_address; /**< of the listener, as the client gave it */
};

/** Attributes that one side gives of its QP. */
struct Endpoint {
	TransportType transport = TransportType::rc;
	std::uint32_t qpn = 0;
	std::uint32_t qkey = 0;
	std::uint32_t starting_psn = 0; /**< of the packets that it receives */
	std::uint8_t responder_resources = 0;
	std::uint8_t initiator_depth = 0;
	std::uint8_t retry_count = 0;
	std::uint8_t rnr_retry_count = 0;
	std::uint8_t path_mtu = 0;    /**< enum ibv_mtu; of a request alone */
	std::uint8_t ack_timeout = 0; /**< of a request alone */
	bool flow_control = false;
	bool srq = false;
};

enum class ConnectionState {
	request_sent,
	request_received,
	reply_sent,
	reply_received,
	established,
	disconnect_sent,
	time_wait,
	service_request_sent,
	service_request_received,
	service_reply_sent,
	over,
};

struct Connection {
	ConnectionId id = 0;
	ConnectionState state = ConnectionState::over;
	bool is_client = false;
	Path path;
	Endpoint local, peer;
	ConnectionId remote_id = 0; /**< 0: not known; of a SIDR_REQ its request id */
	std::uint64_t remote_guid = 0;
	std::uint64_t transaction = 0;
	Datagram last; /**< repeated until it is answered */
	unsigned sends = 0;
	unsigned searches = 0;        /**< for a listener that was not there */
	bool extended = false;        /**< the peer asked for more time, since the last try */
	std::optional<Time> deadline; /**< changed by ConnectionTable::set_deadline() alone */
};

/** A pointer to a connection is valid until that one is erased. */
class ConnectionTable
{
public:
	/** Creates a connection; @p id must not be taken. */
	Connection &create(ConnectionId id, const Path &path);
	void erase(ConnectionId id);
	void clear();
	[[nodiscard]] std::size_t size() const { return connections_.size(); }
	[[nodiscard]] bool contains(ConnectionId id) const { return connections_.contains(id); }
	/** Returns a connection that must exist. */
	[[nodiscard]] const Connection &at(ConnectionId id) const { return connections_.at(id); }

	/** Returns null if there is none. */
	[[nodiscard]] Connection *find(ConnectionId id);

	/** Key of a client's request: its id, and the client's address, or on this host the transaction. */
	struct Request {
		ConnectionId remote_id = 0;
		bool same_host = false;
		Address from;
		std::uint64_t transaction = 0;
	};
	/** Returns null if there was no such request, or its connection is over. */
	[[nodiscard]] Connection *find_request(const Request &request);
	/** Makes find_request() find @p connection; its remote id and path must be filled in. */
	void add_request(const Connection &connection);
	void drop_request(const Connection &connection);

	void set_deadline(Connection &connection, std::optional<Time> at);
	[[nodiscard]] std::optional<Time> next_deadline() const;
	/** Returns the connections whose deadline has come. */
	[[nodiscard]] std::vector<ConnectionId> due(Time now);

	/** Adds the connection to those whose peer's process is watched. There are few such processes, so each is
	 * asked once. */
	void watch(const Connection &connection);
	void unwatch(const Connection &connection);
	/** Returns one connection with each process that is watched. */
	[[nodiscard]] std::vector<ConnectionId> watched_processes() const;
	[[nodiscard]] bool watches() const { return !neighbours_.empty(); }
	/** Returns all watched connections with the process of @p peer. */
	[[nodiscard]] std::vector<ConnectionId> with_process_of(ConnectionId peer) const;

	[[nodiscard]] std::vector<ConnectionId> all() const;

	/** Number of connections looked at since the beginning. Tests count the cost of a message by it. */
	[[nodiscard]] std::uint64_t visits() const { return visited_; }

private:
	using RequestKey = std::tuple<ConnectionId, bool, Address, std::uint64_t>;
	static RequestKey key_of(const Request &request);
	static RequestKey key_of(const Connection &connection);
	static std::uint16_t process_of(ConnectionId id) { return static_cast<std::uint16_t>(id >> process_shift); }

	std::unordered_map<ConnectionId, Connection> connections_;
	/* Peers choose these keys, but cannot make a tree slow. */
	std::map<RequestKey, ConnectionId> requests_;
	std::set<std::pair<Time, ConnectionId>> deadlines_;
	std::set<std::pair<std::uint16_t, ConnectionId>> neighbours_; /* by the peer's process */
	mutable std::uint64_t visited_ = 0;
};

} // namespace prism::cm
