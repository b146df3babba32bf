/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "agent.hpp"

#include <cerrno>
#include <new>

namespace prism::cm
{

namespace
{

/* 4.096 us * 2^18 is about a second, and eight tries are made, 9 to 13 s in all. A program that takes longer to accept
 * has its first repeated request answered with an MRA, which asks for 17 s more. */
constexpr std::uint8_t response_timeout = 18;
constexpr unsigned max_retries = 7;
constexpr std::uint8_t service_timeout = 22;
/** Longest extension that a peer's MRA gets; the field allows hours. */
constexpr std::uint8_t longest_service_timeout = 24;

/** Time that packets of a closed connection may still be under way. */
constexpr Time time_wait_time = 100'000'000;
/** Interval at which peers on this host are checked: one may end without a word. */
constexpr Time probe_interval = 500'000'000;

/** Number of times that a client on this host looks for a listener. perftest's servers close one and open the next
 * on the same port while their client connects, and the client does not survive a refusal. */
constexpr unsigned max_searches = 20;
constexpr Time search_interval = 50'000'000;

constexpr std::size_t max_connections = 0xf000;
constexpr std::uint8_t hop_limit = 64;

constexpr Time timeout_of(std::uint8_t exponent)
{
	return Time{4096} << exponent;
}

template <std::size_t size>
std::vector<std::uint8_t> without_ip_header(const PrivateData<size> &data)
{
	return {data.begin() + IpHeader::size, data.end()};
}

template <std::size_t size>
std::optional<IpHeader> ip_header_of(const PrivateData<size> &data)
{
	return decode_ip_header(std::span(data).template first<IpHeader::size>());
}

template <std::size_t size>
void fill_after_ip_header(PrivateData<size> &to, const IpHeader &ip, std::span<const std::uint8_t> data)
{
	to.fill(0);
	encode_ip_header(ip, std::span(to).template first<IpHeader::size>());
	std::copy_n(data.begin(), std::min(data.size(), size - IpHeader::size), to.begin() + IpHeader::size);
}

/**
 * Returns true if a client can be where a request says that it comes from. From another host the request must name the
 * packet's own receiver and sender. On this host the sender may give any address: false for a group and for none, which
 * no queue pair could be connected to.
 */
bool is_plausible(const Arrival &arrival, const IpHeader &ip)
{
	if (!arrival.same_host)
		return ip.destination == arrival.to && ip.source == arrival.from;
	return arrival.from != Address{} && !arrival.from.is_multicast() &&
	       arrival.from.is_ipv4() == ip.destination.is_ipv4();
}

/** Returns the reason for refusing a request that the program is not told of. */
RejectReason reason_of(Reception reception)
{
	return reception == Reception::mtu ? RejectReason::invalid_mtu : RejectReason::invalid_service_id;
}

bool is_mtu(std::uint8_t value)
{
	constexpr std::uint8_t smallest = 1, largest = 5; /* enum ibv_mtu: 256 to 4096 */
	return value >= smallest && value <= largest;
}

Req make_req(ConnectionId id, const Path &path, const Endpoint &local, std::uint64_t guid)
{
	Req req;
	req.local_id = id;
	req.service_id = path.service_id;
	req.ca_guid = guid;
	req.qkey = local.qkey;
	req.qpn = local.qpn;
	req.responder_resources = local.responder_resources;
	req.initiator_depth = local.initiator_depth;
	req.remote_response_timeout = req.local_response_timeout = response_timeout;
	req.transport = local.transport;
	req.flow_control = local.flow_control;
	req.starting_psn = local.starting_psn;
	req.retry_count = local.retry_count;
	req.path_mtu = local.path_mtu;
	req.rnr_retry_count = local.rnr_retry_count;
	req.max_cm_retries = max_retries;
	req.srq = local.srq;
	req.local_gid = path.local;
	req.remote_gid = path.remote;
	req.hop_limit = hop_limit;
	req.ack_timeout = local.ack_timeout;
	return req;
}

Endpoint endpoint_of(const Req &req)
{
	Endpoint peer;
	peer.transport = req.transport;
	peer.qpn = req.qpn;
	peer.qkey = req.qkey;
	peer.starting_psn = req.starting_psn;
	peer.responder_resources = req.responder_resources;
	peer.initiator_depth = req.initiator_depth;
	peer.retry_count = req.retry_count;
	peer.rnr_retry_count = req.rnr_retry_count;
	peer.path_mtu = req.path_mtu;
	peer.ack_timeout = req.ack_timeout;
	peer.flow_control = req.flow_control;
	peer.srq = req.srq;
	return peer;
}

Rep make_rep(ConnectionId id, ConnectionId remote_id, const Endpoint &local, std::uint64_t guid)
{
	Rep rep;
	rep.local_id = id;
	rep.remote_id = remote_id;
	rep.qkey = local.qkey;
	rep.qpn = local.qpn;
	rep.starting_psn = local.starting_psn;
	rep.responder_resources = local.responder_resources;
	rep.initiator_depth = local.initiator_depth;
	rep.flow_control = local.flow_control;
	rep.rnr_retry_count = local.rnr_retry_count;
	rep.srq = local.srq;
	rep.ca_guid = guid;
	return rep;
}

Rej make_rej(ConnectionId id, ConnectionId remote_id, About about, RejectReason reason)
{
	Rej rej;
	rej.local_id = id;
	rej.remote_id = remote_id;
	rej.about = about;
	rej.reason = reason;
	return rej;
}

} // namespace

Agent::Agent(Carrier &to, Observer &program, std::uint16_t process_number, std::uint64_t host_guid, Random source)
	: carrier_(to), observer_(program), process_(process_number), guid_(host_guid), random_(std::move(source)),
	  next_serial_(static_cast<std::uint16_t>(random_()))
{
}

Connection *Agent::find(ConnectionId id)
{
	Connection *const found = connections_.find(id);
	return found && found->state != State::over ? found : nullptr;
}

/** Finds the connection of an earlier request with the same id by the same client. */
Connection *Agent::find_request(ConnectionId remote_id, const Arrival &arrival)
{
	return connections_.find_request({remote_id, arrival.same_host, arrival.from, arrival.datagram.transaction});
}

Connection *Agent::create(const Path &path)
{
	if (connections_.size() >= max_connections)
		return nullptr;
	ConnectionId id;
	do
		id = static_cast<ConnectionId>(process_) << process_shift | next_serial_++;
	while (id == 0 || connections_.contains(id));
	return &connections_.create(id, path);
}

/** Returns the result of @p use. If memory runs out, erases the new connection: a repeated request is then a new
 * one. */
template <typename Use>
auto Agent::use_new(ConnectionId created, const Use &use) -> decltype(use())
{
	try {
		return use();
	} catch (...) {
		connections_.erase(created);
		throw;
	}
}

/** Registers the request, so that a repeated one is recognised. */
void Agent::note_request(Connection &connection, ConnectionId remote_id, const Arrival &arrival)
{
	connection.remote_id = remote_id;
	connection.transaction = arrival.datagram.transaction;
	connections_.add_request(connection);
}

bool Agent::is_from_peer(const Connection &connection, const Arrival &arrival) const
{
	/* Addresses prove nothing on this host. But all messages of a connection carry the transaction that its
	 * client drew: 64 bits that only the two ends know. */
	if (connection.path.same_host || arrival.same_host)
		return connection.path.same_host == arrival.same_host &&
		       connection.transaction == arrival.datagram.transaction;
	return connection.path.remote == arrival.from;
}

/* Sending ------------------------------------------------------------------------------------------------------- */

bool Agent::send(Connection &connection, const Message &message)
{
	return carrier_.send(connection.path, {connection.transaction, message});
}

/** Returns one response timeout from now, and up to half as much more at random: requests that overran a server must
 * not all come again at once. */
Time Agent::next_repeat(Time now)
{
	constexpr Time timeout = timeout_of(response_timeout);
	return now + timeout + static_cast<Time>(random_() % static_cast<std::uint64_t>(timeout / 2));
}

/** Sends, and sets the deadline even if nobody is there: expire() deals with that, not this function. */
void Agent::send_and_repeat(Connection &connection, const Message &message, Time now)
{
	connection.last = {connection.transaction, message};
	connection.sends = 1;
	connection.extended = false;
	const bool sent = carrier_.send(connection.path, connection.last);
	connections_.set_deadline(connection, sent ? next_repeat(now) : now);
	connection.searches = 0;
}

/** Replies to a peer we have no connection to. */
void Agent::answer(const Arrival &arrival, const Message &message)
{
	Path path;
	path.local = arrival.to;
	path.remote = arrival.from;
	path.same_host = arrival.same_host;
	carrier_.send(path, {arrival.datagram.transaction, message});
}

void Agent::refuse(const Arrival &arrival, const Req &req, RejectReason reason)
{
	answer(arrival, make_rej(0, req.local_id, About::req, reason));
}

/** Enters a state in which we wait for the program alone. */
void Agent::settle(Connection &connection, State state)
{
	connection.state = state;
	connections_.set_deadline(connection, {});
}

/** Marks the connection as over: no message follows, but the program still knows of it. */
void Agent::end(Connection &connection)
{
	settle(connection, State::over);
	connections_.drop_request(connection);
	connections_.unwatch(connection);
}

void Agent::enter_time_wait(Connection &connection, Time now)
{
	connection.state = State::time_wait;
	connections_.set_deadline(connection, now + time_wait_time);
	connections_.unwatch(connection);
}

/** Watches the process of a peer on this host, which may end without a word. */
void Agent::watch(const Connection &connection, Time now)
{
	if (!connection.path.same_host)
		return;
	if (!connections_.watches())
		next_probe_ = now + probe_interval;
	connections_.watch(connection);
}

/** Reports an event. Call before changing the connection: if memory runs out all is as before, and the message or
 * deadline comes again. */
void Agent::notify(ConnectionId id, EventType type, int status)
{
	Event event;
	event.type = type;
	event.status = status;
	observer_.on_event(id, event);
}

/* Calls by programs --------------------------------------------------------------------------------------------- */

std::optional<ConnectionId> Agent::connect(const Path &path, PortSpace space, const IpHeader &ip, const Endpoint &local,
	std::span<const std::uint8_t> private_data, Time now)
{
	Connection *const created = create(path);
	if (!created)
		return {};
	Connection &connection = *created;
	const ConnectionId id = connection.id;
	connection.is_client = true;
	connection.local = local;
	connection.transaction = random_();
	use_new(id, [&] {
		if (space == PortSpace::udp) {
			SidrReq request;
			request.request_id = id;
			request.service_id = path.service_id;
			fill_after_ip_header(request.private_data, ip, private_data);
			connection.state = State::service_request_sent;
			send_and_repeat(connection, request, now);
		} else {
			Req req = make_req(id, path, local, guid_);
			fill_after_ip_header(req.private_data, ip, private_data);
			connection.state = State::request_sent;
			send_and_repeat(connection, req, now);
		}
	});
	return id;
}

int Agent::accept(ConnectionId id, const Address &gid, const Endpoint &local,
	std::span<const std::uint8_t> private_data, Time now)
{
	Connection *connection = find(id);
	if (!connection)
		return EINVAL;
	connection->path.local = gid;
	connection->local = local;
	if (connection->state == State::service_request_received) {
		SidrRep reply;
		reply.request_id = connection->remote_id;
		reply.qpn = local.qpn;
		reply.service_id = connection->path.service_id;
		reply.qkey = local.qkey;
		fill(reply.private_data, private_data);
		connection->last = {connection->transaction, reply};
		settle(*connection, State::service_reply_sent);
		carrier_.send(connection->path, connection->last);
		return 0;
	}
	if (connection->state != State::request_received)
		return EINVAL;
	Rep rep = make_rep(id, connection->remote_id, local, guid_);
	fill(rep.private_data, private_data);
	connection->state = State::reply_sent;
	send_and_repeat(*connection, rep, now);
	return 0;
}

int Agent::establish(ConnectionId id)
{
	Connection *connection = find(id);
	if (!connection || connection->state != State::reply_received)
		return EINVAL;
	settle(*connection, State::established);
	connection->last = {connection->transaction, Rtu{id, connection->remote_id}};
	carrier_.send(connection->path, connection->last);
	return 0;
}

int Agent::notify_established(ConnectionId id)
{
	Connection *connection = find(id);
	if (!connection)
		return EINVAL;
	if (connection->state == State::established)
		return EISCONN;
	if (connection->state != State::reply_sent)
		return EINVAL;
	notify(id, EventType::established);
	settle(*connection, State::established);
	return 0;
}

int Agent::reject(ConnectionId id, std::span<const std::uint8_t> private_data)
{
	Connection *connection = find(id);
	if (!connection)
		return EINVAL;
	if (connection->state == State::service_request_received) {
		SidrRep reply;
		reply.request_id = connection->remote_id;
		reply.status = SidrStatus::rejected;
		reply.service_id = connection->path.service_id;
		fill(reply.private_data, private_data);
		send(*connection, reply);
	} else if (connection->state == State::request_received || connection->state == State::reply_received) {
		const About about = connection->is_client ? About::rep : About::req;
		Rej rej = make_rej(id, connection->remote_id, about, RejectReason::consumer_defined);
		fill(rej.private_data, private_data);
		send(*connection, rej);
	} else {
		return EINVAL;
	}
	end(*connection);
	return 0;
}

int Agent::disconnect(ConnectionId id, Time now)
{
	Connection *connection = find(id);
	if (!connection)
		return EINVAL;
	switch (connection->state) {
	case State::established:
	case State::reply_sent:
		connection->state = State::disconnect_sent;
		connections_.unwatch(*connection);
		send_and_repeat(*connection, Dreq{id, connection->remote_id, connection->peer.qpn}, now);
		return 0;
	case State::disconnect_sent:
	case State::time_wait:
		return 0;
	default:
		return EINVAL;
	}
}

/** Tells a peer that may be waiting that there is nothing more to wait for. */
void Agent::abandon(Connection &connection)
{
	const ConnectionId id = connection.id;
	switch (connection.state) {
	case State::request_sent:
		send(connection, make_rej(id, 0, About::req, RejectReason::timeout));
		break;
	case State::request_received:
		send(connection, make_rej(id, connection.remote_id, About::req, RejectReason::consumer_defined));
		break;
	case State::reply_sent:
		send(connection, make_rej(id, connection.remote_id, About::other, RejectReason::timeout));
		break;
	case State::reply_received:
		send(connection, make_rej(id, connection.remote_id, About::rep, RejectReason::consumer_defined));
		break;
	case State::established:
		send(connection, Dreq{id, connection.remote_id, connection.peer.qpn});
		break;
	case State::service_request_received: {
		SidrRep reply;
		reply.request_id = connection.remote_id;
		reply.status = SidrStatus::rejected;
		reply.service_id = connection.path.service_id;
		send(connection, reply);
		break;
	}
	default:
		break;
	}
}

void Agent::close(ConnectionId id)
{
	try {
		if (Connection *connection = find(id))
			abandon(*connection);
	} catch (const std::bad_alloc &) { /* lost, as it may be in any network: the peer finds out */
	}
	connections_.erase(id);
}

void Agent::close_all()
{
	for (const ConnectionId id : connections_.all())
		close(id);
}

/* Time ---------------------------------------------------------------------------------------------------------- */

std::optional<Time> Agent::next_deadline() const
{
	const std::optional<Time> first = connections_.next_deadline();
	if (!connections_.watches() || (first && *first < *next_probe_))
		return first;
	return next_probe_;
}

void Agent::expire(Time now)
{
	for (const ConnectionId id : connections_.due(now)) {
		Connection *const connection = find(id);
		if (connection && connection->deadline && *connection->deadline <= now)
			repeat(*connection, now);
	}
	if (connections_.watches() && *next_probe_ <= now)
		probe(now);
}

/** Repeats a message whose answer is late. */
void Agent::repeat(Connection &connection, Time now)
{
	if (connection.state == State::time_wait) {
		notify(connection.id, EventType::timewait_exit);
		end(connection);
		return;
	}
	if (connection.sends > max_retries) {
		give_up(connection, now);
		return;
	}
	const bool is_request =
		connection.state == State::request_sent || connection.state == State::service_request_sent;
	connection.extended = false;
	if (carrier_.send(connection.path, connection.last)) {
		connection.sends++;
		connections_.set_deadline(connection, next_repeat(now));
	} else if (is_request && connection.searches++ < max_searches) {
		connections_.set_deadline(connection, now + search_interval);
	} else {
		lose_peer(connection, now);
	}
}

void Agent::give_up(Connection &connection, Time now)
{
	if (connection.state == State::disconnect_sent) {
		notify(connection.id, EventType::disconnected);
		enter_time_wait(connection, now);
		return;
	}
	abandon(connection);
	notify(connection.id, EventType::unreachable, -ETIMEDOUT);
	end(connection);
}

/** Asks once for each process that we have connections with. */
void Agent::probe(Time now)
{
	next_probe_ = now + probe_interval;
	for (const ConnectionId peer : connections_.watched_processes())
		if (!carrier_.is_alive(peer))
			lose_process(static_cast<std::uint16_t>(peer >> process_shift), now);
}

void Agent::lose_process(std::uint16_t peer, Time now)
{
	for (const ConnectionId id : connections_.with_process_of(ConnectionId{peer} << process_shift))
		if (Connection *const connection = find(id))
			lose_peer(*connection, now);
}

/** Handles a peer that is gone: reports what a kernel that knows of connections would have said on the peer's host. */
void Agent::lose_peer(Connection &connection, Time now)
{
	const State state = connection.state;
	if (state == State::established || state == State::disconnect_sent) {
		notify(connection.id, EventType::disconnected);
		enter_time_wait(connection, now);
		return;
	}
	if (state == State::request_sent)
		notify(connection.id, EventType::rejected, static_cast<int>(RejectReason::invalid_service_id));
	else if (state == State::service_request_sent)
		notify(connection.id, EventType::unreachable, static_cast<int>(SidrStatus::unsupported));
	else
		notify(connection.id, EventType::rejected, static_cast<int>(RejectReason::timeout));
	end(connection);
}

/* Messages ------------------------------------------------------------------------------------------------------ */

void Agent::receive(const Arrival &arrival, Time now)
{
	std::visit([&](const auto &message) { receive(arrival, message, now); }, arrival.datagram.message);
}

void Agent::receive(const Arrival &arrival, const Req &req, Time now)
{
	if (Connection *known = find_request(req.local_id, arrival)) {
		receive_again(*known, req);
		return;
	}
	const std::optional<IpHeader> ip = ip_header_of(req.private_data);
	const std::optional<PortSpace> space = port_space_of(req.service_id);
	if (!ip || !space || *space == PortSpace::udp) {
		refuse(arrival, req, RejectReason::invalid_service_id);
		return;
	}
	if (req.transport != TransportType::rc && req.transport != TransportType::uc) {
		refuse(arrival, req, RejectReason::invalid_transport_type);
		return;
	}
	if (!is_plausible(arrival, *ip)) {
		refuse(arrival, req, RejectReason::invalid_gid);
		return;
	}
	if (!is_mtu(req.path_mtu)) {
		refuse(arrival, req, RejectReason::invalid_mtu);
		return;
	}
	Connection *const connection =
		create({arrival.to, arrival.from, arrival.same_host, req.service_id, ip->destination});
	if (!connection) {
		refuse(arrival, req, RejectReason::no_resources);
		return;
	}
	const ConnectionId created = connection->id;
	connection->state = State::request_received;
	connection->remote_guid = req.ca_guid;
	connection->peer = endpoint_of(req);
	const Reception reception = use_new(created, [&] {
		note_request(*connection, req.local_id, arrival);
		watch(*connection, now);
		const Event event{EventType::connect_request, 0, connection->peer, without_ip_header(req.private_data)};
		return observer_.on_request(created, {*space, port_of(req.service_id), *ip, connection->path}, event);
	});
	if (reception == Reception::pending)
		return;
	connections_.erase(created);
	if (reception == Reception::full)
		carrier_.note_drop(arrival);
	else
		refuse(arrival, req, reason_of(reception));
}

/** Answers a repeated request: our answer got lost, or there is none yet. */
void Agent::receive_again(Connection &connection, const Req &req)
{
	if (connection.state == State::request_received)
		send(connection, Mra{connection.id, req.local_id, About::req, service_timeout});
	else if (connection.state == State::reply_sent)
		carrier_.send(connection.path, connection.last);
}

void Agent::receive(const Arrival &arrival, const Mra &mra, Time now)
{
	Connection *connection = find(mra.remote_id);
	if (!connection || !is_from_peer(*connection, arrival))
		return;
	const bool about_req = connection->state == State::request_sent && mra.about == About::req;
	const bool about_rep = connection->state == State::reply_sent && mra.about == About::rep;
	/* Only once for each try, so that no peer makes us wait for ever. */
	if (!(about_req || about_rep) || connection->extended)
		return;
	connection->extended = true;
	const Time asked = timeout_of(std::min(mra.service_timeout, longest_service_timeout));
	connections_.set_deadline(*connection, now + asked + timeout_of(response_timeout));
}

void Agent::receive(const Arrival &arrival, const Rep &rep, Time now)
{
	Connection *connection = find(rep.remote_id);
	if (!connection || !connection->is_client || !is_from_peer(*connection, arrival))
		return;
	if (connection->state != State::request_sent) {
		receive_again(*connection, rep);
		return;
	}
	connections_.unwatch(*connection); /* there may have been no memory for a reply before */
	connection->remote_id = rep.local_id;
	connection->remote_guid = rep.ca_guid;
	connection->path.remote = arrival.from;
	Endpoint &peer = connection->peer;
	peer = connection->local; /* transport, MTU and timeout were ours to choose */
	peer.qpn = rep.qpn;
	peer.qkey = rep.qkey;
	peer.starting_psn = rep.starting_psn;
	peer.responder_resources = rep.responder_resources;
	peer.initiator_depth = rep.initiator_depth;
	peer.rnr_retry_count = rep.rnr_retry_count;
	peer.flow_control = rep.flow_control;
	peer.srq = rep.srq;
	watch(*connection, now);
	observer_.on_event(rep.remote_id,
		{EventType::connect_response, 0, peer, {rep.private_data.begin(), rep.private_data.end()}});
	settle(*connection, State::reply_received);
}

void Agent::receive_again(Connection &connection, const Rep &rep)
{
	const ConnectionId id = connection.id;
	if (rep.local_id != connection.remote_id)
		return;
	if (connection.state == State::reply_received)
		send(connection, Mra{id, rep.local_id, About::rep, service_timeout});
	else if (connection.state == State::established)
		send(connection, Rtu{id, rep.local_id});
}

void Agent::receive(const Arrival &arrival, const Rtu &rtu, Time)
{
	Connection *connection = find(rtu.remote_id);
	if (!connection || connection->state != State::reply_sent || connection->remote_id != rtu.local_id ||
		!is_from_peer(*connection, arrival))
		return;
	notify(rtu.remote_id, EventType::established);
	settle(*connection, State::established);
}

void Agent::receive(const Arrival &arrival, const Rej &rej, Time now)
{
	ConnectionId id = rej.remote_id;
	/* A client that stopped waiting does not know our id. */
	if (id == 0 && rej.reason == RejectReason::timeout)
		if (const Connection *asked = find_request(rej.local_id, arrival))
			id = asked->id;
	Connection *connection = find(id);
	if (!connection || !is_from_peer(*connection, arrival))
		return;
	/* A peer that refuses a request has no id to name. Later it has one, and it must be right. */
	if (connection->remote_id && connection->remote_id != rej.local_id)
		return;
	switch (connection->state) {
	case State::request_sent:
	case State::request_received:
	case State::reply_sent:
	case State::reply_received:
		break;
	case State::established:
		notify(id, EventType::disconnected);
		enter_time_wait(*connection, now);
		return;
	default:
		return;
	}
	observer_.on_event(id, {EventType::rejected, static_cast<int>(rej.reason), connection->peer,
				       {rej.private_data.begin(), rej.private_data.end()}});
	end(*connection);
}

void Agent::receive(const Arrival &arrival, const Dreq &dreq, Time now)
{
	Connection *connection = find(dreq.remote_id);
	if (!connection) {
		/* Most likely the answer was lost. */
		answer(arrival, Drep{dreq.remote_id, dreq.local_id});
		return;
	}
	if (!is_from_peer(*connection, arrival) || connection->remote_id != dreq.local_id ||
		connection->local.qpn != dreq.remote_qpn)
		return;
	const State state = connection->state;
	if (state == State::request_received || state == State::request_sent)
		return;
	if (state != State::time_wait) {
		notify(dreq.remote_id, EventType::disconnected);
		enter_time_wait(*connection, now);
	}
	send(*connection, Drep{dreq.remote_id, dreq.local_id});
}

void Agent::receive(const Arrival &arrival, const Drep &drep, Time now)
{
	Connection *connection = find(drep.remote_id);
	if (!connection || connection->state != State::disconnect_sent || connection->remote_id != drep.local_id ||
		!is_from_peer(*connection, arrival))
		return;
	notify(drep.remote_id, EventType::disconnected);
	enter_time_wait(*connection, now);
}

void Agent::receive(const Arrival &arrival, const SidrReq &request, Time)
{
	if (const Connection *known = find_request(request.request_id, arrival)) {
		if (known->state == State::service_reply_sent)
			carrier_.send(known->path, known->last);
		return;
	}
	SidrRep refusal;
	refusal.request_id = request.request_id;
	refusal.service_id = request.service_id;
	refusal.status = SidrStatus::unsupported;
	const std::optional<IpHeader> ip = ip_header_of(request.private_data);
	Connection *connection = nullptr;
	if (ip && is_plausible(arrival, *ip) && port_space_of(request.service_id) == PortSpace::udp)
		connection = create({arrival.to, arrival.from, arrival.same_host, request.service_id, ip->destination});
	if (!connection) {
		answer(arrival, refusal);
		return;
	}
	const ConnectionId created = connection->id;
	connection->state = State::service_request_received;
	const Reception reception = use_new(created, [&] {
		note_request(*connection, request.request_id, arrival);
		const Event event{EventType::connect_request, 0, {}, without_ip_header(request.private_data)};
		return observer_.on_request(
			created, {PortSpace::udp, port_of(request.service_id), *ip, connection->path}, event);
	});
	if (reception == Reception::pending)
		return;
	connections_.erase(created);
	if (reception == Reception::full)
		carrier_.note_drop(arrival);
	else
		answer(arrival, refusal);
}

void Agent::receive(const Arrival &arrival, const SidrRep &reply, Time)
{
	Connection *connection = find(reply.request_id);
	if (!connection || connection->state != State::service_request_sent || !is_from_peer(*connection, arrival))
		return;
	connection->path.remote = arrival.from;
	connection->peer.qpn = reply.qpn;
	connection->peer.qkey = reply.qkey;
	Event event{
		EventType::established, 0, connection->peer, {reply.private_data.begin(), reply.private_data.end()}};
	if (reply.status != SidrStatus::success) {
		event.type = EventType::unreachable;
		event.status = static_cast<int>(reply.status);
	}
	observer_.on_event(reply.request_id, event);
	end(*connection);
}

} // namespace prism::cm
