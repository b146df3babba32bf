/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "ucma.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/c_boundary.hpp"
#include "ucm_messages.hpp"

namespace prism::cm
{

namespace
{

constexpr std::uint32_t max_backlog = 1024;
constexpr std::size_t max_events = 1 << 16;

template <typename Message>
constexpr std::size_t private_size = std::tuple_size_v<decltype(Message::private_data)>;

std::span<const std::uint8_t> private_data(const rdma_ucm_conn_param &param)
{
	return {param.private_data, param.private_data_len};
}

/** Takes one event off the count of its channel. Does not block if the program has read its descriptor itself. */
void uncount_event(int channel)
{
	pollfd counted{channel, POLLIN, 0};
	eventfd_t one;
	if (::poll(&counted, 1, 0) > 0)
		::eventfd_read(channel, &one);
}

} // namespace

/* Channels ------------------------------------------------------------------------------------------------------ */

std::unique_ptr<Ucma> Ucma::start()
{
	std::unique_ptr<Ucma> ucma(new Ucma);
	ucma->service_ = Service::start(*ucma);
	return ucma->service_ ? std::move(ucma) : nullptr;
}

Ucma::~Ucma()
{
	service_.reset();
}

int Ucma::open_channel(int flags)
{
	const int options = (flags & O_CLOEXEC ? EFD_CLOEXEC : 0) | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0);
	soft::FileDescriptor made(::eventfd(0, EFD_SEMAPHORE | options));
	soft::FileDescriptor own(made ? ::fcntl(made.get(), F_DUPFD_CLOEXEC, 0) : -1);
	if (!own)
		return -1;
	const int fd = made.get();
	const std::lock_guard guard(service_->lock);
	end_channel(fd); /* a channel that ended without our being told */
	Channel &channel = channels_[fd];
	channel.serial = next_serial_++;
	channel.own = std::move(own);
	return made.release();
}

void Ucma::close_channel(int fd)
{
	/* Returns at once for the descriptor of a file that a command opened for a moment: its number was that of a
	 * former channel. */
	if (service_->lock.is_ours())
		return;
	const std::lock_guard guard(service_->lock);
	end_channel(fd);
}

/** Allocates no memory. */
void Ucma::end_channel(ChannelId fd)
{
	const auto channel = channels_.find(fd);
	if (channel == channels_.end())
		return;
	while (!channel->second.events.empty())
		forget_request(channel->second.events.pop());
	std::set<IdNumber> &members = channel->second.members;
	while (!members.empty()) {
		const IdNumber number = *members.begin();
		remove(number);
		members.erase(number);
	}
	channels_.erase(channel);
}

ssize_t Ucma::write(int fd, const void *command, std::size_t size)
try {
	rdma_ucm_cmd_hdr header;
	if (size < sizeof(header)) {
		errno = EINVAL;
		return -1;
	}
	std::memcpy(&header, command, sizeof(header));
	const Call call{fd, {static_cast<const std::uint8_t *>(command) + sizeof(header), header.in}, header.out};
	int error = EINVAL;
	if (header.in + sizeof(header) <= size)
		error = header.cmd == RDMA_USER_CM_CMD_GET_EVENT ? wait_for_event(call) : dispatch(header, call);
	if (!error)
		return static_cast<ssize_t>(size);
	errno = error;
	return -1;
} catch (const std::bad_alloc &) {
	errno = ENOMEM;
	return -1;
}

int Ucma::dispatch(const rdma_ucm_cmd_hdr &header, const Call &call)
{
	static const std::map<std::uint32_t, Handler> handlers{
		{RDMA_USER_CM_CMD_CREATE_ID, &Ucma::create_id},
		{RDMA_USER_CM_CMD_DESTROY_ID, &Ucma::destroy_id},
		{RDMA_USER_CM_CMD_BIND, &Ucma::bind_address},
		{RDMA_USER_CM_CMD_RESOLVE_ADDR, &Ucma::resolve_address},
		{RDMA_USER_CM_CMD_RESOLVE_ROUTE, &Ucma::resolve_route},
		{RDMA_USER_CM_CMD_QUERY, &Ucma::query},
		{RDMA_USER_CM_CMD_CONNECT, &Ucma::connect},
		{RDMA_USER_CM_CMD_LISTEN, &Ucma::listen},
		{RDMA_USER_CM_CMD_ACCEPT, &Ucma::accept},
		{RDMA_USER_CM_CMD_REJECT, &Ucma::reject},
		{RDMA_USER_CM_CMD_DISCONNECT, &Ucma::disconnect},
		{RDMA_USER_CM_CMD_INIT_QP_ATTR, &Ucma::init_qp_attr},
		{RDMA_USER_CM_CMD_SET_OPTION, &Ucma::set_option},
		{RDMA_USER_CM_CMD_NOTIFY, &Ucma::notify},
		{RDMA_USER_CM_CMD_JOIN_MCAST, &Ucma::join_group},
		{RDMA_USER_CM_CMD_LEAVE_MCAST, &Ucma::leave_group},
		{RDMA_USER_CM_CMD_MIGRATE_ID, &Ucma::migrate_id},
	};
	const auto handler = handlers.find(header.cmd);
	if (handler == handlers.end())
		return ENOSYS;
	const WithoutCancellation whole;
	const std::lock_guard guard(service_->lock);
	if (!channels_.contains(call.channel))
		return EBADF;
	return (this->*handler->second)(call);
}

/** Waits as for a file of the kernel's: if another thread closes the channel, the waiting one waits on. */
int Ucma::wait_for_event(const Call &call)
{
	std::optional<unsigned> serial;
	for (;;) {
		pollfd event{call.channel, POLLIN, 0};
		{
			const WithoutCancellation whole;
			const std::lock_guard guard(service_->lock);
			const auto channel = channels_.find(call.channel);
			if (!serial && channel != channels_.end())
				serial = channel->second.serial;
			if (channel == channels_.end() || channel->second.serial != *serial)
				event.fd = -1; /* watch no channel, however often its number is used again */
			else if (!channel->second.events.empty())
				return get_event(call);
		}
		if (event.fd >= 0 && (::fcntl(event.fd, F_GETFL) & O_NONBLOCK))
			return EAGAIN;
		if (::poll(&event, 1, -1) < 0)
			return errno;
	}
}

/* Ids ----------------------------------------------------------------------------------------------------------- */

Ucma::Id *Ucma::find(IdNumber number, ChannelId channel)
{
	const auto found = ids_.find(number);
	return found == ids_.end() || found->second.channel != channel ? nullptr : &found->second;
}

void Ucma::attach(IdNumber number, ConnectionId connection)
{
	owner_of_[connection] = number;
	ids_.at(number).connection = connection;
}

Ucma::IdNumber Ucma::new_number()
{
	while (next_id_ == 0 || ids_.contains(next_id_) || groups_.contains(next_id_))
		next_id_++;
	return next_id_++;
}

Ucma::IdNumber Ucma::insert(Id id)
{
	const IdNumber number = new_number();
	id.psn = service_->agent().random_psn();
	std::set<IdNumber> &members = channels_.at(id.channel).members;
	members.insert(number);
	try {
		ids_.emplace(number, std::move(id));
	} catch (...) {
		members.erase(number);
		throw;
	}
	return number;
}

/** Accounts for an event that has left the queue of its channel. */
void Ucma::count_off(ChannelId channel, const Pending &pending)
{
	uncount_event(channels_.at(channel).own.get());
	if (pending.born)
		ids_.at(pending.owner).unheard--;
}

/** Removes the events of an id that @p chosen selects from its channel, and returns them in order. */
template <typename Chosen>
std::vector<Ucma::Pending> Ucma::take_events(ChannelId channel, IdNumber owner, const Chosen &chosen)
{
	std::vector<Pending> taken = channels_.at(channel).events.take(owner, chosen);
	for (const Pending &pending : taken)
		count_off(channel, pending);
	return taken;
}

/** Forgets a request that the program has not heard of, if @p unheard is one: it is undecided. Its client asks
 * again, and then finds the listener of that time. */
void Ucma::forget_request(const Pending &unheard)
{
	if (!unheard.born || !ids_.contains(*unheard.born))
		return;
	service_->agent().forget(ids_.at(*unheard.born).connection);
	erase(*unheard.born);
}

void Ucma::drop_events(ChannelId channel, IdNumber number)
{
	for (const Pending &pending : take_events(channel, number, [](const Pending &) { return true; }))
		forget_request(pending);
}

void Ucma::remove(IdNumber number)
{
	const auto found = ids_.find(number);
	if (found == ids_.end())
		return;
	const Id &id = found->second;
	drop_events(id.channel, number);
	if (id.connection)
		service_->agent().close(id.connection);
	if (id.claim)
		service_->release(id.claim);
	erase(number);
}

/** Removes an id from all tables that find it. */
void Ucma::erase(IdNumber number)
{
	const auto found = ids_.find(number);
	const Id &id = found->second;
	channels_.at(id.channel).members.erase(number);
	owner_of_.erase(id.connection);
	for (const IdNumber group : id.groups)
		groups_.erase(group);
	if (id.state == State::listening)
		remove_listener({id.space, id.local->port}, number);
	ids_.erase(found);
}

void Ucma::remove_listener(const Port &port, IdNumber number)
{
	const auto listening = listeners_.find(port);
	listening->second.erase(number);
	if (listening->second.empty())
		listeners_.erase(listening);
}

int Ucma::create_id(const Call &call)
{
	const auto command = parse<rdma_ucm_create_id>(call.in);
	const auto space = static_cast<PortSpace>(command.ps);
	if (space != PortSpace::tcp && space != PortSpace::udp && space != PortSpace::ib)
		return EPROTONOSUPPORT;
	Id id;
	id.uid = command.uid;
	id.channel = call.channel;
	id.space = space;
	id.qp_type = qp_type_of(space, command.qp_type);
	respond(command.response, call.out, rdma_ucm_create_id_resp{insert(std::move(id))});
	return 0;
}

int Ucma::destroy_id(const Call &call)
{
	const auto command = parse<rdma_ucm_destroy_id>(call.in);
	const Id *id = find(command.id, call.channel);
	if (!id)
		return EINVAL;
	const rdma_ucm_destroy_id_resp response{id->events_reported};
	remove(command.id);
	respond(command.response, call.out, response);
	return 0;
}

/** Moves an id to this channel from the channel @p command.fd. */
int Ucma::migrate_id(const Call &call)
{
	const auto command = parse<rdma_ucm_migrate_id>(call.in);
	const ChannelId before = static_cast<ChannelId>(command.fd);
	Id *id = find(command.id, before);
	if (!id)
		return EINVAL;
	const auto moved = take_events(before, command.id, [](const Pending &) { return true; });
	move(command.id, call.channel);
	for (const Pending &pending : moved) {
		if (pending.born && ids_.contains(*pending.born))
			move(*pending.born, call.channel);
		post(pending);
	}
	respond(command.response, call.out, rdma_ucm_migrate_resp{id->events_reported});
	return 0;
}

void Ucma::move(IdNumber number, ChannelId channel)
{
	Id &id = ids_.at(number);
	channels_.at(id.channel).members.erase(number);
	id.channel = channel;
	channels_.at(channel).members.insert(number);
}

int Ucma::set_option(const Call &call)
{
	const auto command = parse<rdma_ucm_set_option>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id)
		return EINVAL;
	if (command.level != RDMA_OPTION_ID)
		return ENOSYS;
	const auto *value = reinterpret_cast<const std::uint8_t *>(command.optval);
	int number = 0;
	if (command.optlen == sizeof(number))
		std::memcpy(&number, value, sizeof(number));
	else if (command.optlen == 1)
		number = *value;
	else
		return EINVAL;
	switch (command.optname) {
	case RDMA_OPTION_ID_TOS:
		id->traffic_class = static_cast<std::uint8_t>(number);
		return 0;
	case RDMA_OPTION_ID_REUSEADDR: /* no port lingers here */
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		id->ipv4_too = !number;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		id->ack_timeout = static_cast<std::uint8_t>(number & 31);
		return 0;
	default:
		return ENOSYS;
	}
}

/**
 * Joins a multicast group. Without a subnet manager there is nobody to ask: the group's GID is its address (annex A17).
 * The event reports it, and librdmacm attaches the queue pair.
 */
int Ucma::join_group(const Call &call)
{
	const auto command = parse<rdma_ucm_join_mcast>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id || !id->device || !id->local || command.join_flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		return EINVAL;
	const std::optional<SocketName> name = to_name(command.addr);
	if (!name)
		return EAFNOSUPPORT;
	if (!name->address.is_multicast() || name->address.is_ipv4() != id->local->address.is_ipv4())
		return EINVAL;
	const IdNumber number = new_number();
	groups_.emplace(number, Group{command.uid, command.id});
	id->groups.insert(number);
	respond(command.response, call.out, rdma_ucm_create_id_resp{number});
	Pending pending{command.id, {}, number, {}};
	pending.event.event = static_cast<std::uint32_t>(EventType::multicast_join);
	Path path = id->path;
	path.remote = name->address;
	rdma_ucm_ud_param &param = pending.event.param.ud;
	param.qp_num = soft::multicast_qpn;
	param.qkey = default_udp_qkey;
	fill_address(param.ah_attr, path, *id->device);
	post(pending);
	return 0;
}

int Ucma::leave_group(const Call &call)
{
	const auto command = parse<rdma_ucm_destroy_id>(call.in);
	const auto found = groups_.find(command.id);
	Id *const id = found == groups_.end() ? nullptr : find(found->second.id, call.channel);
	if (!id)
		return EINVAL;
	take_events(
		call.channel, found->second.id, [&](const Pending &pending) { return pending.group == command.id; });
	id->groups.erase(command.id);
	respond(command.response, call.out, rdma_ucm_destroy_id_resp{found->second.events_reported});
	groups_.erase(found);
	return 0;
}

/* Addresses ----------------------------------------------------------------------------------------------------- */

int Ucma::bind(Id &id, const SocketName &name)
{
	if (id.state != State::idle)
		return EINVAL;
	std::optional<Device> device;
	if (!is_any(name.address) && !is_local(name.address))
		return EADDRNOTAVAIL;
	/* As in the kernel (cma_any_addr): a loopback address names no device either. libfabric relies on that. */
	if (!is_any(name.address) && !is_loopback(name.address)) {
		device = find_device(name.address);
		if (!device)
			return ENODEV;
	}
	SocketName bound = name;
	const int error = service_->claim(id.space, bound.port, bound.address, id.ipv4_too, id.claim);
	if (error)
		return error;
	id.local = bound;
	id.device = device;
	id.state = State::bound;
	return 0;
}

int Ucma::bind_address(const Call &call)
{
	const auto command = parse<rdma_ucm_bind>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id)
		return EINVAL;
	if (command.addr.ss_family == AF_IB && id->space == PortSpace::ib && id->state == State::idle) {
		id->state = State::bound; /* librdmacm only asks whether this command exists */
		return 0;
	}
	const std::optional<SocketName> name = to_name(command.addr);
	return name ? bind(*id, *name) : EAFNOSUPPORT;
}

/** Resolves an address. Puts an error into the event, as if a resolver had been asked. */
int Ucma::resolve(Id &id, const std::optional<SocketName> &source, const SocketName &destination)
{
	SocketName local = id.local ? *id.local : SocketName{destination.address, service_->random_port(), 0};
	if (!id.local || is_any(id.local->address)) {
		if (source && !is_any(source->address)) {
			local.address = source->address;
		} else if (const auto found = source_for(destination.address, destination.scope)) {
			local.address = *found;
		} else {
			return errno;
		}
	}
	if (!is_local(local.address))
		return EADDRNOTAVAIL;
	id.device = find_device(local.address);
	if (!id.device)
		return ENODEV;
	local.scope = id.device->interface;
	id.local = local;
	id.remote = destination;
	id.path.local = local.address;
	id.path.remote = id.path.service_address = destination.address;
	id.path.same_host = is_local(destination.address);
	id.path.service_id = make_service_id(id.space, destination.port);
	id.state = State::address_resolved;
	return 0;
}

int Ucma::resolve_address(const Call &call)
{
	const auto command = parse<rdma_ucm_resolve_addr>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id)
		return EINVAL;
	const std::optional<SocketName> source = command.src_size ? to_name(command.src_addr) : std::nullopt;
	const std::optional<SocketName> destination = to_name(command.dst_addr);
	if (!destination)
		return EAFNOSUPPORT;
	if (is_any(destination->address))
		return EINVAL;
	if (id->state == State::idle && source && source->port)
		if (const int error = bind(*id, *source))
			return error;
	if (id->state != State::idle && id->state != State::bound)
		return EINVAL;
	const int error = resolve(*id, source, *destination);
	post(command.id, error ? EventType::address_error : EventType::address_resolved, -error);
	return 0;
}

int Ucma::resolve_route(const Call &call)
{
	const auto command = parse<rdma_ucm_resolve_route>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id || id->state != State::address_resolved)
		return EINVAL;
	id->state = State::route_resolved;
	post(command.id, EventType::route_resolved);
	return 0;
}

int Ucma::query(const Call &call)
{
	const auto command = parse<rdma_ucm_query>(call.in);
	const Id *id = find(command.id, call.channel);
	if (!id)
		return EINVAL;
	if (command.option == RDMA_USER_CM_QUERY_PATH) {
		PathResponse paths{};
		if (id->state == State::route_resolved || id->state == State::connected)
			paths = describe_path(id->path, id->device->mtu, id->traffic_class);
		respond(command.response, call.out, paths);
		return 0;
	}
	rdma_ucm_query_addr_resp response{};
	put_device(id->device, response);
	if (command.option == RDMA_USER_CM_QUERY_ADDR) {
		response.src_size = put_name(id->local, response.src_addr);
		response.dst_size = put_name(id->remote, response.dst_addr);
	} else if (command.option == RDMA_USER_CM_QUERY_GID) {
		response.src_size = put_gid(id->path.local, response.src_addr);
		response.dst_size = put_gid(id->path.remote, response.dst_addr);
	} else {
		return ENOSYS;
	}
	respond(command.response, call.out, response);
	return 0;
}

/* Connections --------------------------------------------------------------------------------------------------- */

/** Opens the devices whose QP 1 gets requests from other hosts. */
void Ucma::listen_on_network(const Id &id)
{
	if (is_loopback(id.local->address))
		return;
	if (!id.device)
		service_->open_all_devices();
	else if (!id.device->is_loopback)
		static_cast<void>(
			service_->open_device(id.device->name, id.device->interface)); /* if it can be opened */
}

int Ucma::listen(const Call &call)
{
	const auto command = parse<rdma_ucm_listen>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id)
		return EINVAL;
	if (id->state == State::idle)
		if (const int error = bind(*id, {soft::address_from_ipv4(in_addr{INADDR_ANY}), 0, 0}))
			return error;
	if (id->state != State::bound)
		return EINVAL;
	if (!id->local)
		return EOPNOTSUPP; /* an address of AF_IB */
	id->backlog = command.backlog && command.backlog < max_backlog ? command.backlog : max_backlog;
	listeners_[{id->space, id->local->port}].insert(command.id);
	id->state = State::listening;
	service_->listen(id->claim);
	listen_on_network(*id);
	return 0;
}

Endpoint Ucma::local_endpoint(const Id &id, const rdma_ucm_conn_param &param) const
{
	Endpoint local;
	local.transport = id.qp_type == uc ? TransportType::uc : TransportType::rc;
	local.qpn = param.qp_num & 0xffffff;
	local.qkey = param.qkey ? param.qkey : id.space == PortSpace::udp ? default_udp_qkey : 0;
	local.starting_psn = id.psn;
	local.responder_resources = param.responder_resources;
	local.initiator_depth = param.initiator_depth;
	local.retry_count = std::min<std::uint8_t>(param.retry_count, 7);
	local.rnr_retry_count = std::min<std::uint8_t>(param.rnr_retry_count, 7);
	local.path_mtu = id.device->mtu;
	local.ack_timeout = id.ack_timeout ? id.ack_timeout : default_ack_timeout;
	local.flow_control = param.flow_control;
	local.srq = param.srq;
	return local;
}

int Ucma::connect(const Call &call)
{
	const auto command = parse<rdma_ucm_connect>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id || id->state != State::route_resolved || !command.conn_param.valid)
		return EINVAL;
	const std::size_t room = id->space == PortSpace::udp ? private_size<SidrReq> : private_size<Req>;
	if (command.conn_param.private_data_len > room - IpHeader::size)
		return EINVAL;
	id->path.local = qp_gid(*id->device, id->local->address, command.conn_param.qp_num);
	const IpHeader ip{id->local->address, id->local->port, id->remote->address};
	const auto connection = service_->agent().connect(id->path, id->space, ip,
		local_endpoint(*id, command.conn_param), private_data(command.conn_param), monotonic_ns());
	if (!connection)
		return ENOMEM;
	attach(command.id, *connection);
	id->state = State::connected;
	return 0;
}

/** Accepts, for a server; a client says with it that its QP is ready. */
int Ucma::accept(const Call &call)
{
	const auto command = parse<rdma_ucm_accept>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id || !id->connection)
		return EINVAL;
	if (!command.conn_param.valid)
		return service_->agent().establish(id->connection);
	const std::size_t room = id->space == PortSpace::udp ? private_size<SidrRep> : private_size<Rep>;
	if (command.conn_param.private_data_len > room)
		return EINVAL;
	const Address gid = qp_gid(*id->device, id->local->address, command.conn_param.qp_num);
	const int error = service_->agent().accept(id->connection, gid, local_endpoint(*id, command.conn_param),
		private_data(command.conn_param), monotonic_ns());
	if (!error)
		id->uid = command.uid;
	return error;
}

int Ucma::reject(const Call &call)
{
	const auto command = parse<rdma_ucm_reject>(call.in);
	Id *id = find(command.id, call.channel);
	if (!id || !id->connection || command.private_data_len > private_size<Rej>)
		return EINVAL;
	return service_->agent().reject(id->connection, {command.private_data, command.private_data_len});
}

int Ucma::disconnect(const Call &call)
{
	const auto command = parse<rdma_ucm_disconnect>(call.in);
	const Id *id = find(command.id, call.channel);
	if (!id || !id->connection)
		return EINVAL;
	return service_->agent().disconnect(id->connection, monotonic_ns());
}

int Ucma::notify(const Call &call)
{
	const auto command = parse<rdma_ucm_notify>(call.in);
	const Id *id = find(command.id, call.channel);
	if (!id || !id->connection)
		return EINVAL;
	if (command.event != IBV_EVENT_COMM_EST)
		return EINVAL;
	return service_->agent().notify_established(id->connection);
}

/** Returns the attributes that a QP needs to enter a state, including what the peer has said so far. */
int Ucma::init_qp_attr(const Call &call)
{
	const auto command = parse<rdma_ucm_init_qp_attr>(call.in);
	const Id *id = find(command.id, call.channel);
	if (!id || !id->device)
		return EINVAL;
	const bool connected = id->connection && service_->agent().exists(id->connection);
	ib_uverbs_qp_attr attr{};
	attr.qp_state = command.qp_state;
	attr.qp_attr_mask = IBV_QP_STATE;
	switch (command.qp_state) {
	case IBV_QPS_INIT:
		to_init(attr, id->qp_type);
		break;
	case IBV_QPS_RTR:
		if (id->qp_type == ud)
			break;
		if (!connected)
			return EINVAL;
		to_ready_to_receive(attr, id->qp_type, service_->agent().path(id->connection),
			service_->agent().peer(id->connection), *id->device);
		attr.ah_attr.grh.traffic_class = id->traffic_class;
		attr.rq_psn = id->psn;
		break;
	case IBV_QPS_RTS:
		if (id->qp_type != ud && !connected)
			return EINVAL;
		to_ready_to_send(attr, id->qp_type, connected ? service_->agent().peer(id->connection) : Endpoint{});
		break;
	default:
		return EINVAL;
	}
	respond(command.response, call.out, attr);
	return 0;
}

/* Events -------------------------------------------------------------------------------------------------------- */

void Ucma::post(const Pending &pending)
{
	Id &owner = ids_.at(pending.owner);
	Channel &channel = channels_.at(owner.channel);
	/* The program asks for much and reads no events. */
	if (channel.events.size() >= max_events)
		return;
	channel.events.push(pending.owner, pending);
	if (pending.born)
		owner.unheard++;
	::eventfd_write(channel.own.get(), 1);
}

void Ucma::post(IdNumber owner, EventType type, int status)
{
	Pending pending{owner, {}, {}, {}};
	pending.event.event = static_cast<std::uint32_t>(type);
	pending.event.status = static_cast<std::uint32_t>(status);
	post(pending);
}

int Ucma::get_event(const Call &call)
{
	const auto command = parse<rdma_ucm_get_event>(call.in);
	Pending pending = channels_.at(call.channel).events.pop();
	count_off(call.channel, pending);
	Id &owner = ids_.at(pending.owner);
	owner.events_reported++;
	pending.event.uid = owner.uid;
	pending.event.id = pending.born.value_or(pending.owner);
	if (pending.group) {
		Group &group = groups_.at(*pending.group);
		group.events_reported++;
		pending.event.uid = group.uid;
		pending.event.id = *pending.group;
	}
	respond(command.response, call.out, pending.event);
	return 0;
}

void Ucma::on_event(ConnectionId connection, const Event &event)
{
	const auto number = owner_of_.find(connection);
	/* The program has no name for a request that it has not accepted yet. */
	if (number == owner_of_.end() || !ids_.at(number->second).uid)
		return;
	const Id &id = ids_.at(number->second);
	Pending pending{number->second, {}, {}, {}};
	pending.event.event = static_cast<std::uint32_t>(event.type);
	pending.event.status = static_cast<std::uint32_t>(event.status);
	if (id.qp_type == ud)
		fill_datagram(pending.event.param.ud, event, service_->agent().path(connection), *id.device);
	else
		fill_connection(pending.event.param.conn, event);
	post(pending);
}

/** Returns the listener; one on the address itself comes before one on all. */
std::optional<Ucma::IdNumber> Ucma::find_listener(const Incoming &incoming) const
{
	const auto listening = listeners_.find({incoming.space, incoming.port});
	if (listening == listeners_.end())
		return {};
	std::optional<IdNumber> general;
	for (const IdNumber number : listening->second) {
		const Id &id = ids_.at(number);
		const Address &bound = id.local->address;
		if (bound == incoming.ip.destination)
			return number;
		const bool ipv4 = incoming.ip.destination.is_ipv4();
		if (is_any(bound) && (bound.is_ipv4() == ipv4 || (ipv4 && id.ipv4_too)))
			general = number;
	}
	return general;
}

Reception Ucma::on_request(ConnectionId connection, const Incoming &incoming, const Event &event)
{
	const std::optional<IdNumber> listener = find_listener(incoming);
	if (!listener)
		return Reception::nobody;
	const Id &parent = ids_.at(*listener);
	if ((event.peer.transport == TransportType::uc) != (parent.qp_type == uc))
		return Reception::nobody;
	/* A local user may only speak for its host's addresses. */
	if (incoming.path.same_host && !are_local({incoming.ip.source, incoming.path.remote}))
		return Reception::nobody;
	if (parent.unheard >= parent.backlog || channels_.at(parent.channel).events.size() >= max_events)
		return Reception::full;
	Id id;
	id.device = find_device(incoming.ip.destination);
	if (!id.device)
		return Reception::nobody;
	if (event.peer.path_mtu > id.device->mtu) /* the queue pair would refuse it, and the program fail */
		return Reception::mtu;
	id.channel = parent.channel;
	id.space = parent.space;
	id.qp_type = parent.qp_type;
	id.state = State::connected;
	id.traffic_class = parent.traffic_class;
	id.local = SocketName{incoming.ip.destination, incoming.port, id.device->interface};
	id.remote = SocketName{incoming.ip.source, incoming.ip.source_port, id.device->interface};
	id.path = incoming.path;
	id.path.local = incoming.ip.destination;
	const Device device = *id.device;
	const IdNumber born = insert(std::move(id));
	try {
		attach(born, connection);
		tell_of_request(*listener, born, incoming, event, device);
	} catch (...) {
		erase(born);
		throw;
	}
	return Reception::pending;
}

void Ucma::tell_of_request(
	IdNumber listener, IdNumber born, const Incoming &incoming, const Event &event, const Device &device)
{
	Pending pending{listener, born, {}, {}};
	pending.event.event = static_cast<std::uint32_t>(event.type);
	if (incoming.space == PortSpace::udp)
		fill_datagram(pending.event.param.ud, event, incoming.path, device);
	else
		fill_connection(pending.event.param.conn, event);
	post(pending);
}

} // namespace prism::cm
