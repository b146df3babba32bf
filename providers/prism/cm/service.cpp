/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service.hpp"

#include <linux/rtnetlink.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "../soft/verbs/gid.hpp"
#include "../soft/verbs/soft_device.h"
#include "base/random.hpp"
#include "base/signals.hpp"
#include "host.hpp"
#include "net/socket_address.hpp"

namespace prism::cm
{

using soft::from_gid;
using soft::to_gid;

namespace
{

/* The range from which Linux chooses ports by default. */
constexpr std::uint16_t first_free_port = 32768;
constexpr std::uint16_t last_free_port = 60999;
constexpr int port_tries = 256;

constexpr std::uint16_t last_process = 0xffff;
/** Most messages that wait in the inbox, and that the thread handles in one turn. */
constexpr std::size_t inbox_limit = 8192;
/** Most requests kept while looking for a listener, and how long and how often to look. */
constexpr std::size_t unclaimed_limit = 256;
constexpr Time search_time = 1'000'000'000;
constexpr Time search_interval = 50'000'000;
constexpr int datagrams_a_turn = 64;

static_assert(mad_size == PRISM_SOFT_MAD_SIZE);

/**
 * Watches addresses and interfaces: addresses of interfaces that are down do not count. Returns none where the kernel
 * does not report changes; new addresses are then found when they are asked for.
 */
FileDescriptor watch_addresses()
{
	sockaddr_nl name{};
	name.nl_family = AF_NETLINK;
	name.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_LINK;
	FileDescriptor made(::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
	if (!made || ::bind(made.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)) < 0)
		return {};
	return made;
}

ibv_context *open_soft_device(const std::string &name)
{
	int count = 0;
	ibv_device **list = ibv_get_device_list(&count);
	ibv_context *context = nullptr;
	errno = ENODEV;
	for (int i = 0; i < count && !context; i++)
		if (name == list[i]->name && prismdv_is_soft_device(list[i]))
			context = ibv_open_device(list[i]);
	const int error = errno;
	if (list)
		ibv_free_device_list(list);
	errno = error;
	return context;
}

std::vector<Address> gids_of(ibv_context *context)
{
	std::vector<Address> gids;
	ibv_port_attr attributes{};
	if (ibv_query_port(context, 1, &attributes))
		return gids;
	for (int i = 0; i < attributes.gid_tbl_len; i++) {
		ibv_gid gid;
		if (prismdv_soft_query_gid(context, 1, i, &gid) == 0)
			gids.push_back(from_gid(gid));
	}
	return gids;
}

} // namespace

/* Beginning and end --------------------------------------------------------------------------------------------- */

std::unique_ptr<Service> Service::start(Observer &observer)
{
	std::unique_ptr<Service> service(new Service);
	std::random_device entropy;
	service->random_.seed(static_cast<std::uint64_t>(entropy()) << 32 | entropy());
	service->wake_fd_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	service->epoll_fd_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
	if (!service->wake_fd_ || !service->epoll_fd_ || !service->claim_process())
		return nullptr;
	if (!service->watch(service->wake_fd_.get()) || !service->watch(service->process_socket_.get()))
		return nullptr;
	service->address_fd_ = watch_addresses();
	if (service->address_fd_ && !service->watch(service->address_fd_.get()))
		return nullptr;
	service->agent_ =
		std::make_unique<Agent>(*service, observer, service->process_, service->random_(), random_number);

	try {
		service->thread_ =
			without_signals([raw = service.get()] { return std::thread([raw] { raw->run(); }); });
	} catch (const std::system_error &failure) {
		errno = failure.code().value();
		service.reset();
	}
	return service;
}

/**
 * Returns false if the thread cannot be woken, as the program has closed our descriptors: it then runs until the
 * process ends, and needs all that it has.
 */
bool Service::stop_thread()
{
	if (!thread_.joinable())
		return true;
	stopping_ = true;
	if (!wake()) {
		thread_.detach();
		return false;
	}
	thread_.join();
	return true;
}

void Service::stop()
{
	if (!stop_thread())
		return;
	const std::lock_guard guard(lock);
	if (agent_)
		agent_->close_all();
	ports_.clear();
}

Service::Port::~Port()
{
	if (context)
		ibv_close_device(context);
}

bool Service::claim_process()
{
	for (int tries = 0; tries < last_process; tries++) {
		process_ = static_cast<std::uint16_t>(1 + random_() % last_process);
		process_socket_ = claim_name(process_name(process_));
		if (process_socket_)
			return true;
		if (errno != EADDRINUSE)
			return false;
	}
	return false;
}

/* Ports and addresses ------------------------------------------------------------------------------------------- */

std::uint16_t Service::random_port()
{
	return static_cast<std::uint16_t>(first_free_port + random_() % (last_free_port - first_free_port + 1));
}

int Service::claim_name_for(Claimed &claimed, const std::string &name)
{
	if (claimed.sockets.contains(name)) /* two interfaces may have one address */
		return 0;
	FileDescriptor socket = claim_name(name);
	if (!socket)
		return errno;
	const auto at = claimed.sockets.emplace(name, std::move(socket)).first;
	try {
		if (claimed.listens)
			read_claimed(at->second.get());
	} catch (const std::bad_alloc &) {
		claimed.sockets.erase(at); /* clients would find it, unread, before the name for all addresses */
		throw;
	}
	return 0;
}

/** Claims the name of each address too: clients look for it first, so nobody else may have it. */
int Service::claim_all(Claimed &claimed, bool ipv4)
{
	int error = claim_name_for(claimed, any_service_name(claimed.space, claimed.port, ipv4));
	for (const Address &local : local_addresses(ipv4)) {
		const int failure = claim_name_for(claimed, service_name(claimed.space, claimed.port, local));
		error = error ? error : failure;
	}
	return error;
}

/** Binding one address takes its name and then looks for an owner of all addresses; binding all takes the name for
 * all and then each address's: of two at the same time at least one sees the other. */
int Service::claim_names(Claimed &claimed, const Address &address)
{
	if (claimed.all_of.empty()) {
		const int error = claim_name_for(claimed, service_name(claimed.space, claimed.port, address));
		return error ? error : name_in_use(any_service_name(claimed.space, claimed.port, address.is_ipv4()));
	}
	for (const bool ipv4 : claimed.all_of)
		if (const int error = claim_all(claimed, ipv4))
			return error;
	return 0;
}

int Service::claim(PortSpace space, std::uint16_t &port, const Address &address, bool ipv4_too, Claim &claim)
{
	const bool choose = port == 0;
	std::vector<bool> all_of;
	if (is_any(address))
		all_of.push_back(address.is_ipv4());
	if (is_any(address) && !address.is_ipv4() && ipv4_too)
		all_of.push_back(true);
	int error = EADDRINUSE;
	for (int tries = 0; error == EADDRINUSE && tries < (choose ? port_tries : 1); tries++) {
		Claimed claimed{.space = space, .port = choose ? random_port() : port, .all_of = all_of, .sockets = {}};
		error = claim_names(claimed, address);
		if (error)
			continue;
		port = claimed.port;
		claim = next_claim_++;
		claims_.emplace(claim, std::move(claimed));
	}
	return error;
}

void Service::release(Claim claim)
{
	for (const auto &[name, socket] : claims_.at(claim).sockets)
		listening_.erase(socket.get());
	claims_.erase(claim);
}

void Service::listen(Claim claim)
{
	Claimed &claimed = claims_.at(claim);
	claimed.listens = true;
	for (const auto &[name, socket] : claimed.sockets)
		read_claimed(socket.get());
}

void Service::read_claimed(int socket)
{
	if (!watch(socket))
		throw std::bad_alloc();
	listening_.insert(socket);
}

int Service::open_device(const std::string &name, unsigned interface)
{
	if (const auto open = ports_.find(name); open != ports_.end()) {
		if (open->second->interface == interface) {
			open->second->gids = gids_of(open->second->context);
			return 0;
		}
		ports_.erase(open); /* its interface is gone, and another one has the name */
	}
	auto port = std::make_unique<Port>();
	port->interface = interface;
	port->context = open_soft_device(name);
	if (!port->context)
		return errno;
	port->gids = gids_of(port->context);
	ports_.emplace(name, std::move(port));
	return 0;
}

void Service::open_all_devices()
{
	all_devices_ = true;
	for (const auto &[name, interface] : network_devices())
		static_cast<void>(open_device(name, interface));
}

/* Sending ------------------------------------------------------------------------------------------------------- */

/** Returns false if nobody has that name. */
bool Service::send_on_host(const std::string &name, const Envelope &envelope)
{
	return outbox_.send(name, envelope, monotonic_ns());
}

/** Returns the device with that address, opening it if need be; null if it is gone. */
Service::Port *Service::port_with(const Address &local)
{
	const auto has_it = [&](const auto &each) {
		return std::ranges::find(each.second->gids, local) != each.second->gids.end();
	};
	auto found = std::ranges::find_if(ports_, has_it);
	if (found != ports_.end())
		return found->second.get();
	const std::optional<Device> device = find_device(local);
	if (!device || open_device(device->name, device->interface))
		return nullptr;
	found = std::ranges::find_if(ports_, has_it);
	return found != ports_.end() ? found->second.get() : nullptr;
}

/** Sends over the network; on failure the message is lost, as in any network. */
void Service::send_over_network(const Path &path, const Mad &mad)
{
	const Port *const port = port_with(path.local);
	if (!port)
		return;
	const ibv_gid to = to_gid(path.remote);
	const auto index = std::ranges::find(port->gids, path.local) - port->gids.begin();
	prismdv_soft_gsi_send(port->context, static_cast<unsigned>(index), &to, mad.data());
}

bool Service::send(const Path &path, const Datagram &datagram)
{
	const Mad mad = encode(datagram);
	wake();
	if (!path.same_host) {
		send_over_network(path, mad);
		return true;
	}
	Envelope envelope;
	envelope.magic = Envelope::expected_magic;
	envelope.from = path.local;
	envelope.to = path.remote;
	envelope.mad = mad;
	const ConnectionId to = destination(datagram.message);
	/* A request, and what withdraws it, goes to the listener. */
	if (to != 0) {
		const auto process_of_peer = static_cast<std::uint16_t>(to >> process_shift);
		return may_live(process_of_peer) && send_on_host(process_name(process_of_peer), envelope);
	}
	const std::vector<std::string> names = service_names(path);
	return std::ranges::any_of(names, [&](const std::string &name) { return send_on_host(name, envelope); });
}

void Service::note_drop(const Arrival &arrival)
{
	if (!arrival.same_host)
		note_drop(arrival.to);
}

/** Counts a message from the network, which is lost, at the device that has the address. */
void Service::note_drop(const Address &to)
{
	if (const Port *const port = port_with(to))
		prismdv_soft_gsi_note_drop(port->context);
}

/** A peer that cannot be asked for now, for want of descriptors, does not count as gone. */
bool Service::is_alive(ConnectionId id)
{
	const auto peer = static_cast<std::uint16_t>(id >> process_shift);
	return may_live(peer) && name_in_use(process_name(peer)) != 0;
}

/** Returns false if the process that had that name when it last wrote to us has ended: another may have the name by
 * now. */
bool Service::may_live(std::uint16_t peer) const
{
	const auto known = senders_.find(peer);
	return known == senders_.end() || cm::may_live(known->second);
}

/** Handles a name that has changed hands: its former owner is gone. */
void Service::note_sender(const Sender &sender)
{
	if (sender.process == 0 || sender.pid == 0)
		return;
	const auto [known, is_new] = senders_.try_emplace(sender.process, sender.pid);
	if (is_new || known->second == sender.pid)
		return;
	agent_->lose_process(sender.process, monotonic_ns());
	known->second = sender.pid;
}

bool Service::wake()
{
	return eventfd_write(wake_fd_.get(), 1) == 0;
}

/* Receiving ----------------------------------------------------------------------------------------------------- */

bool Service::watch(int fd)
{
	epoll_event event{};
	event.events = EPOLLIN;
	event.data.fd = fd;
	return ::epoll_ctl(epoll_fd_.get(), EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST;
}

/** Returns the milliseconds until the next deadline, rounded up; -1: no limit. */
int Service::poll_timeout()
{
	constexpr Time busy_interval = 1'000'000;
	const Time at = monotonic_ns();
	std::optional<Time> first = agent_->next_deadline();
	if (!unclaimed_.empty())
		first = std::min(first.value_or(next_search_), next_search_);
	if (!outbox_.empty())
		first = std::min(first.value_or(at + busy_interval), at + busy_interval);
	if (!first)
		return -1;
	if (*first <= at)
		return 0;
	return static_cast<int>(std::min<Time>((*first - at - 1) / 1'000'000 + 1, std::numeric_limits<int>::max()));
}

/** Runs one step. A message that there is no memory for is lost: its sender repeats it, or times out. */
template <typename Step>
void Service::step(const Step &step) noexcept
{
	const std::lock_guard guard(lock);
	try {
		step();
	} catch (const std::bad_alloc &) {
	}
}

void Service::run()
{
	std::array<epoll_event, 64> events;
	while (!stopping_) {
		int timeout = 100; /* used if memory runs out */
		step([&] {
			agent_->expire(monotonic_ns());
			outbox_.retry(monotonic_ns());
			search_again();
			timeout = poll_timeout();
		});
		const int count = ::epoll_wait(epoll_fd_.get(), events.data(), events.size(), timeout);
		for (int i = 0; i < count; i++)
			step([&] { read(events[static_cast<std::size_t>(i)].data.fd); });
	}
}

/** Reads one descriptor; does nothing for one that was closed in the meantime. */
void Service::read(int fd)
{
	eventfd_t ignored;
	if (fd == wake_fd_.get()) {
		/* In this order: a message that arrives in between wakes us again. */
		eventfd_read(wake_fd_.get(), &ignored);
		read_inbox();
	} else if (fd == address_fd_.get())
		read_addresses();
	else if (fd == process_socket_.get() || listening_.contains(fd))
		read_socket(fd);
}

void Service::read_socket(int socket)
{
	int budget = datagrams_a_turn;
	while (const std::optional<Received> received = receive_from(socket, budget)) {
		const Envelope &envelope = received->envelope;
		note_sender(received->sender);
		if (const std::optional<Datagram> datagram = decode(envelope.mad))
			agent_->receive(
				{envelope.from, envelope.to, !envelope.from_network, *datagram}, monotonic_ns());
	}
}

bool Service::arrive(const Address &from, const Address &to, const Mad &mad)
{
	{
		const std::lock_guard guard(inbox_lock_);
		if (inbox_.size() >= inbox_limit)
			return false;
		inbox_.push_back({from, to, mad});
	}
	eventfd_write(wake_fd_.get(), 1);
	return true;
}

void Service::read_inbox()
{
	std::deque<Parcel> parcels;
	{
		const std::lock_guard guard(inbox_lock_);
		parcels.swap(inbox_);
	}
	for (const Parcel &parcel : parcels)
		take_from_network(parcel);
}

/** Takes in new addresses. An IPv6 address counts only after a while, when the kernel has found that nobody else has
 * it. */
void Service::read_addresses()
{
	std::array<char, 4096> ignored;
	ssize_t got;
	do /* ENOBUFS: the kernel had more messages than there was room for */
		got = ::recv(address_fd_.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
	while (got > 0 || (got < 0 && (errno == EINTR || errno == ENOBUFS)));
	renew_devices();
	if (all_devices_)
		open_all_devices();
	/* Another process that owns a new address's name keeps it. */
	for (auto &[number, claimed] : claims_)
		for (const bool ipv4 : claimed.all_of)
			static_cast<void>(claim_all(claimed, ipv4));
}

void Service::take_from_network(const Parcel &parcel)
{
	if (hand_on(parcel))
		return;
	const std::optional<Datagram> datagram = decode(parcel.mad);
	if (!datagram || !is_request(datagram->message) || unclaimed_.size() >= unclaimed_limit) {
		receive(parcel); /* no listener matches; the agent rejects it */
		return;
	}
	if (unclaimed_.empty())
		next_search_ = monotonic_ns() + search_interval;
	unclaimed_.push_back({parcel, monotonic_ns() + search_time});
}

/** Returns true if we read the messages sent to that name. */
bool Service::is_own(const std::string &name) const
{
	if (name == process_name(process_))
		return true;
	return std::ranges::any_of(
		claims_, [&](const auto &each) { return each.second.listens && each.second.sockets.contains(name); });
}

/** Hands a message on. Ours takes no socket, which holds too little. A busy receiver gets it later. */
bool Service::hand_on(const Parcel &parcel)
{
	const auto send = [&](const std::string &name, const Envelope &envelope) {
		if (!is_own(name))
			return send_on_host(name, envelope);
		receive(parcel);
		return true;
	};
	return cm::hand_on(send, parcel.from, parcel.to, parcel.mad);
}

void Service::receive(const Parcel &parcel)
{
	if (const std::optional<Datagram> datagram = decode(parcel.mad))
		agent_->receive({parcel.from, parcel.to, false, *datagram}, monotonic_ns());
}

/** Looks again for a listener: a server may be about to listen again, as in Agent::repeat(). */
void Service::search_again()
{
	const Time at = monotonic_ns();
	if (unclaimed_.empty() || at < next_search_)
		return;
	next_search_ = at + search_interval;
	std::erase_if(unclaimed_, [&](const Unclaimed &each) {
		if (hand_on(each.parcel))
			return true;
		if (at < each.refuse_at)
			return false;
		receive(each.parcel);
		return true;
	});
}

} // namespace prism::cm
