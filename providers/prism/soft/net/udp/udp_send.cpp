/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UdpPort: outgoing packets. A packet that cannot leave is lost and counted; the protocol retransmits it. */
#include <netinet/udp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/c_boundary.hpp"
#include "udp_port.hpp"
#include "udp_port_private.hpp"

namespace prism::soft
{

namespace
{

/* Returns true if the kernel would send these bytes, but not split them: too old, or an interface without checksum
 * offload. */
bool refuses_segments(int why)
{
	return why == EINVAL || why == EIO || why == EOPNOTSUPP || why == ENOPROTOOPT;
}

} // namespace

int UdpPort::source_for(const Address &peer) const
{
	int fallback = -1;
	for (std::size_t i = 0; i < own_; i++) {
		const Address &local = sockets_[i].local;
		if (local.is_ipv4() != peer.is_ipv4())
			continue;
		if (peer.is_ipv4() || is_link_local(local) == is_link_local(peer))
			return static_cast<int>(i);
		if (fallback < 0)
			fallback = static_cast<int>(i);
	}
	return fallback;
}

const IcrcSeed &UdpPort::seed_for(const IcrcFlow &flow, std::size_t size)
{
	std::uint64_t from;
	std::uint64_t to;
	std::memcpy(&from, flow.source.gid.data() + 8, sizeof(from));
	std::memcpy(&to, flow.destination.gid.data() + 8, sizeof(to));
	std::uint64_t hash = (from * 3 ^ to ^ flow.source_port ^ size << 20) * 0x9e3779b97f4a7c15U;
	CachedSeed &cached = seeds_[(hash >> 32) % seed_cache_size];
	if (cached.size != size || cached.flow != flow)
		cached = {flow, size, IcrcSeed(flow, size)};
	return cached.seed;
}

std::uint8_t *UdpPort::begin(const Address &peer, std::size_t size)
{
	const int source = source_for(peer);
	if (source >= 0)
		return begin_from(static_cast<unsigned>(source), peer, 0, size);
	next_packet_ = nullptr;
	return sending_->discard.data();
}

std::uint8_t *UdpPort::begin_from(unsigned source, const Address &peer, std::uint32_t, std::size_t size)
{
	assert(source < own_ && size >= bth_size && size <= max_packet_size);
	next_peer_ = peer;
	next_source_ = source;
	next_size_ = size;
	next_packet_ = queue_.reserve(size);
	if (!next_packet_) {
		flush();
		next_packet_ = queue_.reserve(size);
	}
	return next_packet_;
}

void UdpPort::commit()
{
	if (!next_packet_) {
		count_.tx_errors.add();
		count_.tx_no_route.add();
		return;
	}
	const Socket &socket = sockets_[next_source_];
	const TrainKey key{next_peer_, next_source_,
		static_cast<std::uint16_t>(qpn_of({next_packet_, next_size_}) >> qpn_index_bits)};
	const unsigned position = queue_.append(key, next_size_, socket.segments ? max_train_packets : 1);
	/* Most packets have the train and size of the one before. */
	if (next_size_ != sending_seed_.size || key != sending_key_) {
		sending_seed_ = {seed_for({socket.local, next_peer_, source_port_of(slot()), roce_port}, next_size_),
			next_size_};
		sending_key_ = key;
	}
	/* The segments of a train leave with IPv4 identifications that count up from 0. */
	const std::uint32_t value =
		sending_seed_.seed->icrc({next_packet_, next_size_}, static_cast<std::uint16_t>(position));
	store_icrc(next_packet_ + next_size_, value);
}

void UdpPort::flush()
{
	std::span<Train> rest = queue_.pending();
	while (!rest.empty()) {
		std::size_t same = 1;
		while (same < rest.size() && rest[same].key.socket == rest[0].key.socket)
			same++;
		send_run(rest.first(same));
		rest = rest.subspan(same);
	}
	queue_.clear();
}

void UdpPort::describe(Train &train, unsigned at)
{
	SocketAddress &to = sending_->to[at];
	to = to_socket_address(train.key.peer, roce_port, info_.index);
	msghdr &message = sending_->message[at].msg_hdr;
	message = {};
	message.msg_name = &to;
	message.msg_namelen = to.size();
	message.msg_iov = train.piece.data();
	message.msg_iovlen = train.pieces;
	if (train.packets == 1)
		return;
	SendBuffers::Control &control = sending_->control[at];
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	control.header.cmsg_level = IPPROTO_UDP;
	control.header.cmsg_type = UDP_SEGMENT;
	control.header.cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
	const auto segment = static_cast<std::uint16_t>(train.segment);
	std::memcpy(CMSG_DATA(&control.header), &segment, sizeof(segment));
}

namespace
{

int send_datagrams(int fd, mmsghdr *messages, std::size_t how_many)
{
	if (how_many > 1)
		return ::sendmmsg(fd, messages, static_cast<unsigned>(how_many), MSG_NOSIGNAL);
	const msghdr &message = messages->msg_hdr;
	if (message.msg_iovlen > 1 || message.msg_control)
		return ::sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -1 : 1;
	/* A single packet, where latency counts: the plainest call costs least. */
	const iovec &only = *message.msg_iov;
	return ::syscall(SYS_sendto, fd, only.iov_base, only.iov_len, MSG_NOSIGNAL, message.msg_name,
		       message.msg_namelen) < 0
		       ? -1
		       : 1;
}

} // namespace

/* Sends trains of one socket, in order. */
void UdpPort::send_run(std::span<Train> run)
{
	const WithoutCancellation whole;
	for (std::size_t i = 0; i < run.size(); i++)
		describe(run[i], static_cast<unsigned>(i));
	const int fd = sockets_[run[0].key.socket].out.get();
	std::size_t done = 0;
	while (done < run.size()) {
		const int sent = send_datagrams(fd, &sending_->message[done], run.size() - done);
		if (sent > 0) {
			count_sent(run.subspan(done, static_cast<std::size_t>(sent)));
			done += static_cast<std::size_t>(sent);
		} else if (errno != EINTR) {
			send_failed(run[done++], errno);
		}
	}
}

void UdpPort::count_sent(std::span<const Train> trains)
{
	for (const Train &train : trains) {
		count_.tx_trains.add();
		count_.tx_packets.add(train.packets);
		count_.tx_bytes.add(train.bytes);
	}
}

void UdpPort::count_lost(std::uint32_t packets, int why)
{
	count_.tx_errors.add(packets);
	if (why == EMSGSIZE)
		count_.tx_too_big.add(packets);
}

void UdpPort::send_failed(Train &train, int why)
{
	if (train.packets == 1 || !refuses_segments(why)) {
		count_lost(train.packets, why);
		return;
	}
	/* EINVAL may concern this train alone (a segment above the MTU); the other errors will recur. */
	if (why != EINVAL)
		sockets_[train.key.socket].segments = false;
	count_.tx_segment_fallbacks.add();
	send_singly(train);
}

void UdpPort::send_singly(Train &train)
{
	for (unsigned i = 0; i < train.pieces; i++) {
		auto *at = static_cast<std::uint8_t *>(train.piece[i].iov_base);
		for (std::size_t left = train.piece[i].iov_len; left > 0;) {
			const std::size_t wire_size = std::min<std::size_t>(left, train.segment);
			send_one(train.key, {at, wire_size});
			at += wire_size;
			left -= wire_size;
		}
	}
}

/* Sends one packet. Outside a train its identification is 0, so the ICRC changes. */
void UdpPort::send_one(const TrainKey &key, std::span<std::uint8_t> wire)
{
	const auto packet = wire.first(wire.size() - icrc_size);
	const IcrcFlow flow{sockets_[key.socket].local, key.peer, source_port_of(slot()), roce_port};
	store_icrc(wire.data() + packet.size(), seed_for(flow, packet.size()).icrc(packet, 0));
	const SocketAddress to = to_socket_address(key.peer, roce_port, info_.index);
	const int fd = sockets_[key.socket].out.get();
	if (::sendto(fd, wire.data(), wire.size(), MSG_NOSIGNAL, &to.any, to.size()) < 0) {
		count_lost(1, errno);
		return;
	}
	count_.tx_trains.add();
	count_.tx_packets.add();
	count_.tx_bytes.add(wire.size());
}

} // namespace prism::soft
