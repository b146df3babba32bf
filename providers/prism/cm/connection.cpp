/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "connection.hpp"

#include <algorithm>
#include <iterator>

namespace prism::cm
{

namespace
{

constexpr ConnectionId last_id = ~ConnectionId{0};

} // namespace

Connection &ConnectionTable::create(ConnectionId id, const Path &path)
{
	Connection &made = connections_[id];
	made.id = id;
	made.path = path;
	return made;
}

void ConnectionTable::erase(ConnectionId id)
{
	Connection *connection = find(id);
	if (!connection)
		return;
	set_deadline(*connection, {});
	drop_request(*connection);
	unwatch(*connection);
	connections_.erase(id);
}

void ConnectionTable::clear()
{
	connections_.clear();
	requests_.clear();
	deadlines_.clear();
	neighbours_.clear();
}

Connection *ConnectionTable::find(ConnectionId id)
{
	visited_++;
	const auto found = connections_.find(id);
	return found == connections_.end() ? nullptr : &found->second;
}

/* Requests ------------------------------------------------------------------------------------------------------ */

/** Keys a request by its id and the client's address, or on this host the transaction. */
ConnectionTable::RequestKey ConnectionTable::key_of(const Request &request)
{
	if (request.same_host)
		return {request.remote_id, true, {}, request.transaction};
	return {request.remote_id, false, request.from, 0};
}

ConnectionTable::RequestKey ConnectionTable::key_of(const Connection &connection)
{
	const Path &path = connection.path;
	return key_of(Request{connection.remote_id, path.same_host, path.remote, connection.transaction});
}

Connection *ConnectionTable::find_request(const Request &request)
{
	const auto found = requests_.find(key_of(request));
	return found == requests_.end() ? nullptr : find(found->second);
}

void ConnectionTable::add_request(const Connection &connection)
{
	requests_[key_of(connection)] = connection.id;
}

void ConnectionTable::drop_request(const Connection &connection)
{
	const auto found = requests_.find(key_of(connection));
	/* A newer connection may have the same key. */
	if (found != requests_.end() && found->second == connection.id)
		requests_.erase(found);
}

/* Time ---------------------------------------------------------------------------------------------------------- */

void ConnectionTable::set_deadline(Connection &connection, std::optional<Time> at)
{
	if (connection.deadline == at)
		return;
	if (at)
		deadlines_.emplace(*at, connection.id);
	if (connection.deadline)
		deadlines_.erase({*connection.deadline, connection.id});
	connection.deadline = at;
}

std::optional<Time> ConnectionTable::next_deadline() const
{
	if (deadlines_.empty())
		return {};
	return deadlines_.begin()->first;
}

std::vector<ConnectionId> ConnectionTable::due(Time now)
{
	std::vector<ConnectionId> ids;
	for (auto each = deadlines_.begin(); each != deadlines_.end() && each->first <= now; each++)
		ids.push_back(each->second);
	visited_ += ids.size();
	return ids;
}

/* Processes of this host ---------------------------------------------------------------------------------------- */

void ConnectionTable::watch(const Connection &connection)
{
	neighbours_.insert({process_of(connection.remote_id), connection.id});
}

void ConnectionTable::unwatch(const Connection &connection)
{
	neighbours_.erase({process_of(connection.remote_id), connection.id});
}

std::vector<ConnectionId> ConnectionTable::watched_processes() const
{
	std::vector<ConnectionId> peers;
	for (auto each = neighbours_.begin(); each != neighbours_.end();
		each = neighbours_.upper_bound({each->first, last_id}))
		peers.push_back(at(each->second).remote_id);
	visited_ += peers.size();
	return peers;
}

std::vector<ConnectionId> ConnectionTable::with_process_of(ConnectionId peer) const
{
	const std::uint16_t process = process_of(peer);
	std::vector<ConnectionId> ids;
	for (auto each = neighbours_.lower_bound({process, 0}); each != neighbours_.end() && each->first == process;
		each++)
		ids.push_back(each->second);
	visited_ += ids.size();
	return ids;
}

std::vector<ConnectionId> ConnectionTable::all() const
{
	std::vector<ConnectionId> ids;
	std::ranges::transform(connections_, std::back_inserter(ids), [](const auto &each) { return each.first; });
	visited_ += ids.size();
	return ids;
}

} // namespace prism::cm
