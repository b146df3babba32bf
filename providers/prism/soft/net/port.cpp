/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "port.hpp"

#include <algorithm>

namespace prism::soft
{

namespace
{

/* Packets of a ring that count as one train. Few: both ends work at the same time if neither waits for many. */
constexpr int packets_a_train = 1;

/*
 * Interval of checking quiet sockets while rings are busy: doubles while nothing comes, as a check takes a system call
 * for each socket.
 */
constexpr Time min_sockets_interval = 20'000;
constexpr Time max_sockets_interval = 160'000;
/* Time that rings count as busy after a packet. */
constexpr Time busy_time = 100'000;

/* Limit of a sleep, in case somebody has kept a peer from waking us. */
constexpr std::int64_t longest_sleep = 100'000'000;

} // namespace

std::unique_ptr<Port> Port::open(const std::string &interface, bool with_rings, bool takes_management,
	std::string &error, const PortCounts &counts)
{
	return make(UdpPort::open(interface, error, counts.all, takes_management), with_rings, counts);
}

std::unique_ptr<Port> Port::open_beside(
	const InterfaceInfo &first, std::uint64_t network, const LocalPort *sibling, const PortCounts &counts)
{
	return make(UdpPort::open_beside(first, network, counts.all), sibling != nullptr, counts, sibling);
}

std::unique_ptr<Port> Port::make(
	std::unique_ptr<UdpPort> udp, bool with_rings, const PortCounts &counts, const LocalPort *sibling)
{
	if (!udp)
		return nullptr;
	std::unique_ptr<LocalPort> local;
	if (with_rings)
		local = LocalPort::open(udp->slot(), udp->addresses(), counts, sibling);
	return std::unique_ptr<Port>(new Port(std::move(udp), std::move(local)));
}

int Port::add(const Address &address)
{
	const int index = udp_->add(address);
	if (index >= 0 && local_)
		local_->add(address);
	return index;
}

std::uint8_t *Port::begin(const Address &peer, std::size_t size)
{
	by_ring_ = false;
	return udp_->begin(peer, size);
}

std::uint8_t *Port::begin_from(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size)
{
	if (local_) {
		std::uint8_t *const room = local_->begin(source, peer, qpn, size);
		by_ring_ = room;
		if (room)
			return room;
	}
	return udp_->begin_from(source, peer, qpn, size);
}

Room Port::room(unsigned source, const Address &peer, std::uint32_t qpn)
{
	return local_ ? local_->room(source, peer, qpn) : Room::unknown;
}

bool Port::loses(unsigned source, const Address &peer, std::uint32_t qpn, Time now)
{
	return local_ && local_->loses(source, peer, qpn, now);
}

bool Port::prepares(std::uint32_t qpn, Time now)
{
	return local_ && local_->prepares(qpn, now);
}

void Port::commit()
{
	if (by_ring_)
		local_->commit();
	else
		udp_->commit();
}

void Port::flush()
{
	udp_->flush();
	if (local_)
		local_->flush();
}

int Port::receive_local(PacketHandler &handler, Time now, int max_trains)
{
	int trains = 0;
	if (local_->is_due(now)) {
		udp_->flush(); /* packets to new peers by rings come after these */
		local_->look_after(handler, now);
	}
	/* On one host a sent datagram has arrived: so any that was sent before a packet that we have is here. */
	if (local_->newcomer_waits())
		for (int got = 1, most = udp_->most_waiting(); got && trains < most; trains += got)
			got = udp_->receive_all(handler, now, most - trains);
	const int packets = local_->receive(handler, now, max_trains * packets_a_train);
	if (packets)
		rings_busy_ = now;
	return trains + (packets + packets_a_train - 1) / packets_a_train;
}

bool Port::sockets_are_due(Time now) const
{
	return now - sockets_looked_ >= sockets_interval_ || now - rings_busy_ >= busy_time;
}

/* Notes a check of the sockets; the next is due at once if something came. */
void Port::note_look(bool came, Time now)
{
	sockets_looked_ = now;
	sockets_interval_ = came ? 0 : std::clamp(2 * sockets_interval_, min_sockets_interval, max_sockets_interval);
}

int Port::receive(PacketHandler &handler, Time now, int max_trains)
{
	if (!local_)
		return udp_->receive(handler, now, max_trains);
	int trains = receive_local(handler, now, max_trains);
	if (sockets_are_due(now)) {
		const int got = udp_->receive(handler, now, max_trains);
		note_look(got > 0, now);
		trains += got;
	}
	return trains;
}

int Port::receive_all(PacketHandler &handler, Time now, int max_trains)
{
	const int trains = local_ ? receive_local(handler, now, max_trains) : 0;
	return trains + udp_->receive_all(handler, now, max_trains);
}

bool Port::prepare_sleep()
{
	awaits_peers_ = local_ && local_->awaits_peers();
	return !local_ || local_->prepare_sleep();
}

bool Port::wait(std::int64_t timeout_ns, int wake_fd)
{
	if (awaits_peers_)
		timeout_ns = timeout_ns < 0 ? longest_sleep : std::min(timeout_ns, longest_sleep);
	const bool ready = udp_->wait(timeout_ns, wake_fd, local_ ? local_->wait_fd() : -1);
	if (local_) {
		local_->attend();
		local_->look_soon();
	}
	return ready;
}

} // namespace prism::soft
