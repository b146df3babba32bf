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
	Connection &made = connections[id];
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
	connections.erase(id);
}

void ConnectionTable::clear()
{
	connections.clear();
	requests.clear();
	deadlines.clear();
	neighbours.clear();
}

Connection *ConnectionTable::find(ConnectionId id)
{
	visited++;
	const auto found = connections.find(id);
	return found == connections.end() ? nullptr : &found->second;
}

/* Requests ------------------------------------------------------------------------------------------------------ */

/** What does not count is left out of it. */
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
	const auto found = requests.find(key_of(request));
	return found == requests.end() ? nullptr : find(found->second);
}

void ConnectionTable::add_request(const Connection &connection)
{
	requests[key_of(connection)] = connection.id;
}

void ConnectionTable::drop_request(const Connection &connection)
{
	const auto found = requests.find(key_of(connection));
	/* Another one may have come since, with the same name. */
	if (found != requests.end() && found->second == connection.id)
		requests.erase(found);
}

/* Time ---------------------------------------------------------------------------------------------------------- */

void ConnectionTable::set_deadline(Connection &connection, std::optional<Time> at)
{
	if (connection.deadline == at)
		return;
	if (at)
		deadlines.emplace(*at, connection.id);
	if (connection.deadline)
		deadlines.erase({*connection.deadline, connection.id});
	connection.deadline = at;
}

std::optional<Time> ConnectionTable::next_deadline() const
{
	if (deadlines.empty())
		return {};
	return deadlines.begin()->first;
}

std::vector<ConnectionId> ConnectionTable::due(Time now)
{
	std::vector<ConnectionId> ids;
	for (auto each = deadlines.begin(); each != deadlines.end() && each->first <= now; each++)
		ids.push_back(each->second);
	visited += ids.size();
	return ids;
}

/* Processes of this host ---------------------------------------------------------------------------------------- */

void ConnectionTable::watch(const Connection &connection)
{
	neighbours.insert({process_of(connection.remote_id), connection.id});
}

void ConnectionTable::unwatch(const Connection &connection)
{
	neighbours.erase({process_of(connection.remote_id), connection.id});
}

std::vector<ConnectionId> ConnectionTable::watched_processes() const
{
	std::vector<ConnectionId> peers;
	for (auto each = neighbours.begin(); each != neighbours.end();
		each = neighbours.upper_bound({each->first, last_id}))
		peers.push_back(at(each->second).remote_id);
	visited += peers.size();
	return peers;
}

std::vector<ConnectionId> ConnectionTable::with_process_of(ConnectionId peer) const
{
	const std::uint16_t process = process_of(peer);
	std::vector<ConnectionId> ids;
	for (auto each = neighbours.lower_bound({process, 0}); each != neighbours.end() && each->first == process;
		each++)
		ids.push_back(each->second);
	visited += ids.size();
	return ids;
}

std::vector<ConnectionId> ConnectionTable::all() const
{
	std::vector<ConnectionId> ids;
	std::ranges::transform(connections, std::back_inserter(ids), [](const auto &each) { return each.first; });
	visited += ids.size();
	return ids;
}

} // namespace prism::cm
