/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UdpPort: incoming packets, and those that came to the wrong process. No incoming data is trusted. */
#include <netinet/udp.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/c_boundary.hpp"
#include "base/clock.hpp"
#include "udp_port.hpp"
#include "udp_port_private.hpp"

namespace prism::soft
{

namespace
{

/* Interval of checking quiet sockets: 0.4 us at this rate does not matter. */
constexpr Time quiet_interval = 20'000;

/*
 * Most questions of a port without an answer yet. The answers come by the socket for forwarded packets, whose queue
 * holds ten datagrams (net.unix.max_dgram_qlen) and takes no more.
 */
constexpr unsigned max_questions = 6;

/* Time after which an answer counts as lost: its question is asked once more. */
constexpr Time answer_patience = 2'000'000;

/* Time after which members that do not answer count as stopped. */
constexpr Time round_patience = 50'000'000;
constexpr Time min_round_pause = 10'000'000;
constexpr Time max_round_pause = 1'000'000'000;

/*
 * Interval of rounds without a cause. A killed member says nothing, and nobody sees packets that go to a stopped one.
 * So one member of a group asks in each interval, all in turn.
 */
constexpr Time routine_interval = 500'000'000;

/* Most channels to other slots that stay open. */
constexpr std::size_t max_channels = 64;

/*
 * Most lookups of channels in an interval. A lookup takes system calls, with the context's lock held, and anybody can
 * send packets to unused slots. This many suffice for the slots in use.
 */
constexpr unsigned max_lookups = 8;
constexpr Time lookup_interval = 10'000'000;

constexpr std::size_t min_wire_size = bth_size + icrc_size;

std::size_t segment_of(msghdr &message, std::size_t size)
{
	for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
		if (part->cmsg_level != IPPROTO_UDP || part->cmsg_type != UDP_GRO)
			continue;
		int segment = 0;
		std::memcpy(&segment, CMSG_DATA(part), sizeof(segment));
		if (segment > 0)
			return static_cast<std::size_t>(segment);
	}
	return std::max<std::size_t>(size, 1);
}

} // namespace

namespace
{

/* Receives datagrams. For one, where latency counts, the call for many would cost more. */
int receive_datagrams(int fd, mmsghdr *messages, int room)
{
	if (room > 1)
		return ::recvmmsg(fd, messages, static_cast<unsigned>(room), MSG_DONTWAIT, nullptr);
	/* Not libc's function, which is a cancellation point: that would slow down every empty check. */
	const ssize_t size = ::syscall(SYS_recvmsg, fd, &messages->msg_hdr, MSG_DONTWAIT);
	messages->msg_len = static_cast<unsigned>(std::max<ssize_t>(size, 0));
	return size < 0 ? -1 : 1;
}

} // namespace

UdpPort::ReceiveBuffers::ReceiveBuffers()
{
	for (unsigned i = 0; i < batch; i++) {
		piece[i] = {data(i), size};
		message[i].msg_hdr.msg_iov = &piece[i];
		message[i].msg_hdr.msg_iovlen = 1;
		message[i].msg_hdr.msg_name = &from[i];
		message[i].msg_hdr.msg_control = &control[i];
		rearm(i);
	}
}

/* Resets the sizes, which the kernel overwrites. */
void UdpPort::ReceiveBuffers::rearm(unsigned index)
{
	message[index].msg_hdr.msg_namelen = sizeof(SocketAddress);
	message[index].msg_hdr.msg_controllen = sizeof(Control);
}

int UdpPort::receive(PacketHandler &handler, Time now, int max_trains)
{
	const WithoutCancellation whole;
	if (now - quiet_checked_ >= quiet_interval || check_all_.load(std::memory_order_relaxed))
		return receive_all(handler, now, max_trains);
	return receive_from(hot_, handler, now, max_trains);
}

int UdpPort::receive_all(PacketHandler &handler, Time now, int max_trains)
{
	const WithoutCancellation whole;
	if (!early_.empty())
		deliver_early(handler, now);
	quiet_checked_ = now;
	check_all_.store(false, std::memory_order_relaxed);
	const auto sources = static_cast<unsigned>(sockets_.size() + 1);
	/* The busy one last: it would use up the limit. */
	const unsigned first = hot_ + 1;
	int total = 0;
	for (unsigned i = 0; i < sources && total < max_trains; i++) {
		const unsigned source = (first + i) % sources;
		const int trains = receive_from(source, handler, now, max_trains - total);
		if (trains > 0)
			hot_ = source;
		total += trains;
	}
	look_after_rounds(now);
	return total;
}

int UdpPort::receive_from(unsigned source, PacketHandler &handler, Time now, int max_trains)
{
	if (source == sockets_.size())
		return receive_forwarded(handler, now, max_trains);
	return receive_socket(source, handler, now, max_trains);
}

int UdpPort::receive_socket(unsigned index, PacketHandler &handler, Time now, int max_trains)
{
	ReceiveBuffers &buffers = *receiving_;
	const int fd = sockets_[index].fd.get();
	int total = 0;
	while (total < max_trains) {
		/* Looking for a datagram that is not there costs as much as the call itself: ask for as many as came
		 * last.
		 */
		const int room = std::min<int>(max_trains - total, static_cast<int>(appetite_));
		const int got = receive_datagrams(fd, buffers.message.data(), room);
		for (int i = 0; i < got; i++)
			take_datagram(index, static_cast<unsigned>(i), handler, now);
		total += std::max(got, 0);
		if (got < room) {
			appetite_ = static_cast<unsigned>(std::max(got, 1));
			break;
		}
		appetite_ = std::min(appetite_ * 2, ReceiveBuffers::batch);
		if (room == 1)
			break;
	}
	return total;
}

void UdpPort::take_datagram(unsigned socket, unsigned at, PacketHandler &handler, Time now)
{
	ReceiveBuffers &buffers = *receiving_;
	mmsghdr &message = buffers.message[at];
	const std::size_t size = message.msg_len;
	Arrival arrival{.data = {buffers.data(at), size},
		.segment = segment_of(message.msg_hdr, size),
		.socket = socket,
		.route = {address_from(buffers.from[at].any), sockets_[socket].local, buffers.from[at].port()}};
	buffers.rearm(at);
	count_.rx_trains.add();
	if (const auto probe = SteeringProbe::decode(arrival.data))
		answer_probe(arrival, *probe, now);
	else
		take_apart(arrival, handler, now);
}

/* Splits what arrived; hands runs of packets for one other process on as one. */
void UdpPort::take_apart(const Arrival &arrival, PacketHandler &handler, Time now)
{
	if (arrival.data.empty())
		count_.rx_too_short.add();
	unsigned position = arrival.first;
	SeedMemo memo;
	std::span<const std::uint8_t> data = arrival.data;
	const std::size_t tail = data.size() > arrival.segment ? data.size() % arrival.segment : 0;
	if (tail >= min_wire_size && handler.last_overtakes(data, arrival.segment) &&
		!foreign_run(data.last(tail), tail)) {
		const auto ahead = static_cast<unsigned>(data.size() / arrival.segment);
		deliver(arrival, data.last(tail), position + ahead, memo, handler, now);
		data = data.first(data.size() - tail);
	}
	for (std::size_t at = 0; at < data.size();) {
		const std::size_t run = foreign_run(data.subspan(at), arrival.segment);
		const auto wire = data.subspan(at, std::min(run ? run : arrival.segment, data.size() - at));
		if (run)
			forward(arrival, wire, position, memo, now);
		else
			deliver(arrival, wire, position, memo, handler, now);
		position += static_cast<unsigned>((wire.size() + arrival.segment - 1) / arrival.segment);
		at += wire.size();
	}
}

/* Returns the packet's slot; 0: none, or a group. Management datagrams may be for another process that takes them. */
unsigned UdpPort::owner_of(std::span<const std::uint8_t> wire) const
{
	const std::uint32_t qpn = qpn_of(wire);
	if (qpn == multicast_qpn)
		return 0;
	return qpn == gsi_qpn && hands_management_on() ? manager_ : qpn >> qpn_index_bits;
}

/* Returns the bytes at the start of @p data that are whole packets for one foreign slot; 0 if the first is not. */
std::size_t UdpPort::foreign_run(std::span<const std::uint8_t> data, std::size_t segment) const
{
	unsigned owner = 0;
	std::size_t run = 0;
	while (run < data.size()) {
		const auto wire = data.subspan(run, std::min(segment, data.size() - run));
		if (wire.size() < min_wire_size)
			break;
		const unsigned slot = owner_of(wire);
		if (slot < first_slot || slot == claim_.number() || (run && slot != owner))
			break;
		owner = slot;
		run += wire.size();
	}
	return run;
}

void UdpPort::deliver(const Arrival &arrival, std::span<const std::uint8_t> wire, unsigned position, SeedMemo &memo,
	PacketHandler &handler, Time now)
{
	if (wire.size() < min_wire_size) {
		count_.rx_too_short.add();
		return;
	}
	if (wire.size() > max_wire_size) {
		count_.rx_too_long.add();
		return;
	}
	const IcrcVerdict verdict = verdict_of(arrival, wire, position, memo);
	if (verdict == IcrcVerdict::bad) {
		count_.rx_bad_icrc.add();
		return;
	}
	if (verdict == IcrcVerdict::id_unknown)
		count_.rx_icrc_id_unknown.add();
	count_.rx_packets.add();
	count_.rx_bytes.add(wire.size());
	handler.receive(arrival.route, wire.first(wire.size() - icrc_size), now);
}

IcrcVerdict UdpPort::verdict_of(
	const Arrival &arrival, std::span<const std::uint8_t> wire, unsigned position, SeedMemo &memo)
{
	const std::size_t size = wire.size() - icrc_size;
	if (memo.size != size) {
		const IcrcFlow flow{arrival.route.from, arrival.route.to, arrival.route.source_port, roce_port};
		memo = {seed_for(flow, size), size};
	}
	return memo.seed->check(wire, static_cast<std::uint16_t>(position));
}

/* Returns -1 if the slot is unused, or another user's, who must not see the packets, or if there were too many
 * lookups. */
int UdpPort::channel_to(unsigned slot, Time now)
{
	const auto known = channels_.find(slot);
	if (known != channels_.end())
		return known->second.get();
	if (now - first_lookup_ >= lookup_interval) {
		first_lookup_ = now;
		lookups_ = 0;
	}
	if (lookups_++ >= max_lookups)
		return -1;
	const auto name = names_.find(slot);
	FileDescriptor channel = Slot::open_channel(slot, name == names_.end() ? 0 : name->second);
	if (!channel)
		return -1;
	if (channels_.size() == max_channels)
		channels_.clear();
	return channels_.emplace(slot, std::move(channel)).first->second.get();
}

/* Sends to the owner of a slot without waiting, as more will come; only a closing port has nothing else to do. */
bool UdpPort::send_through(int channel, std::span<iovec> parts) const
{
	if (Slot::send_through(channel, parts))
		return true;
	const Time now = monotonic_ns();
	if (errno != EAGAIN || now >= closing_until_)
		return false;
	pollfd full{channel, POLLOUT, 0};
	const timespec left{0, static_cast<long>(closing_until_ - now)};
	return ::ppoll(&full, 1, &left, nullptr) > 0 && Slot::send_through(channel, parts);
}

void UdpPort::forward(
	const Arrival &arrival, std::span<const std::uint8_t> run, unsigned position, SeedMemo &memo, Time now)
{
	const std::size_t packets = (run.size() + arrival.segment - 1) / arrival.segment;
	Socket &socket = sockets_[arrival.socket];
	/* On an address of our own, or handed on before: the QPN is simply wrong. */
	if (!socket.shared || arrival.forwarded) {
		count_.rx_misdirected_dropped.add(packets);
		return;
	}
	/* Check the ICRC first: anybody can send noise, which should cause no work. */
	if (verdict_of(arrival, run.first(std::min(arrival.segment, run.size())), position, memo) == IcrcVerdict::bad) {
		count_.rx_bad_icrc.add(packets);
		return;
	}
	if (!socket.round.under_way && now >= socket.next_round)
		begin_round(arrival.socket, now, round_patience);
	Forwarded header{.segment = static_cast<std::uint16_t>(std::min(arrival.segment, run.size())),
		.first = static_cast<std::uint16_t>(position),
		.source_port = arrival.route.source_port,
		.from = arrival.route.from,
		.to = arrival.route.to};
	std::array<iovec, 2> parts{
		{{&header, sizeof(header)}, {const_cast<std::uint8_t *>(run.data()), run.size()}}}; /* only read */
	const unsigned owner = owner_of(run);
	const int channel = channel_to(owner, now);
	if (channel >= 0 && send_through(channel, parts)) {
		count_.rx_misdirected_forwarded.add(packets);
		return;
	}
	if (channel >= 0 && errno == ECONNREFUSED)
		channels_.erase(owner);
	count_.rx_misdirected_dropped.add(packets);
}

int UdpPort::receive_forwarded(PacketHandler &handler, Time now, int max_trains)
{
	int total = 0;
	while (total < max_trains) {
		const std::span<std::uint8_t> buffer(receiving_->data(0), ReceiveBuffers::size);
		const auto size = claim_.receive(buffer);
		if (!size)
			break;
		accept_forwarded(buffer.first(*size), handler, now);
		total++;
	}
	return total;
}

void UdpPort::accept_forwarded(std::span<const std::uint8_t> datagram, PacketHandler &handler, Time now)
{
	Forwarded header;
	if (datagram.size() < sizeof(header))
		return;
	std::memcpy(static_cast<void *>(&header), datagram.data(), sizeof(header));
	const int socket = socket_of(header.to);
	if (header.magic != Forwarded::expected_magic || socket < 0)
		return;
	if (header.kind == Forwarded::Kind::answer) {
		note_name(header.slot, header.nonce);
		note_answer(static_cast<unsigned>(socket), header.slot, header.index, header.segment != 0);
		return;
	}
	if (header.segment == 0 || header.from.is_ipv4() != header.to.is_ipv4())
		return;
	count_.rx_trains.add();
	count_.rx_forwarded_to_us.add();
	take_apart({.data = datagram.subspan(sizeof(header)),
			   .segment = header.segment,
			   .first = header.first,
			   .socket = static_cast<unsigned>(socket),
			   .route = {header.from, header.to, header.source_port},
			   .forwarded = true},
		handler, now);
}

int UdpPort::socket_of(const Address &local) const
{
	for (std::size_t i = 0; i < sockets_.size(); i++)
		if (sockets_[i].shared && sockets_[i].local == local)
			return static_cast<int>(i);
	return -1;
}

/* Asks every member of the group, ourselves included, for its slot. */
void UdpPort::begin_round(unsigned index, Time now, Time patience)
{
	sockets_[index].round = {.under_way = true, .repeat = now + answer_patience, .deadline = now + patience};
	ask_more(sockets_[index]);
	note_next_duty();
}

void UdpPort::ask(const Socket &socket, unsigned member) const
{
	const SocketAddress to = to_socket_address(socket.local, roce_port, info_.index);
	const auto probe = SteeringProbe{static_cast<std::uint16_t>(claim_.number()), member, claim_.nonce()}.encode();
	(void)::sendto(socket.out.get(), probe.data(), probe.size(), MSG_NOSIGNAL, &to.any, to.size());
}

void UdpPort::ask_more(Socket &socket)
{
	unsigned pending = 0;
	for (const Socket &each : sockets_)
		pending += each.round.pending();
	for (Round &round = socket.round; round.asked < round.end && pending < max_questions; pending++)
		ask(socket, round.asked++);
}

/* Asks once more for one index that was not answered: answers that are only late must find room as well. */
void UdpPort::ask_again(Socket &socket, Time now)
{
	Round &round = socket.round;
	for (unsigned member = round.lowest_unanswered(); member < std::min(round.asked, round.end); member++) {
		if (round.answered[member] || round.repeated[member])
			continue;
		round.repeated.set(member);
		ask(socket, member);
		break;
	}
	round.repeat = now + answer_patience;
	ask_more(socket);
}

void UdpPort::answer_probe(const Arrival &arrival, const SteeringProbe &probe, Time now)
{
	Socket &socket = sockets_[arrival.socket];
	if (!socket.shared || arrival.route.from != socket.local || probe.index >= slot_limit)
		return;
	if (probe.asker >= slot_limit || arrival.route.source_port != source_port_of(probe.asker))
		return;
	if (probe.asker == claim_.number()) {
		note_answer(arrival.socket, claim_.number(), probe.index, takes_management());
		return;
	}
	note_name(probe.asker, probe.nonce);
	Forwarded answer{.kind = Forwarded::Kind::answer,
		.segment = takes_management(),
		.slot = static_cast<std::uint16_t>(claim_.number()),
		.index = static_cast<std::uint16_t>(probe.index),
		.nonce = claim_.nonce(),
		.to = socket.local};
	iovec part{&answer, sizeof(answer)};
	claim_.tell(probe.asker, probe.nonce, {&part, 1});
	if (socket.members == 1) { /* not alone any more */
		socket.members = 2;
		plan_routine(socket, now);
	}
}

/* Notes a slot's name, as its owner says: it sends from the slot's port, or is our own user. */
void UdpPort::note_name(unsigned slot, std::uint32_t nonce)
{
	if (slot >= slot_limit)
		return;
	const auto known = names_.find(slot);
	if ((known == names_.end() ? 0 : known->second) == nonce)
		return;
	channels_.erase(slot);
	names_[slot] = nonce;
}

void UdpPort::note_answer(unsigned index, unsigned slot, unsigned member, bool takes_management)
{
	Socket &socket = sockets_[index];
	Round &round = socket.round;
	if (!round.under_way || slot >= slot_limit || member >= round.asked)
		return;
	round.answered.set(member);
	const unsigned before = round.heard[slot] ? socket.table.index_of(slot) : member;
	if (before != member)
		round.end = std::min(round.end, std::max(before, member));
	if (before >= member)
		round.changed |= socket.table.set(slot, member);
	round.heard.set(slot);
	if (takes_management && slot != claim_.number())
		manager_ = slot;
	for (Socket &each : sockets_)
		if (each.round.under_way)
			ask_more(each);
}

void UdpPort::look_after_rounds(Time now)
{
	if (now < next_duty_.load(std::memory_order_relaxed) &&
		std::ranges::none_of(sockets_, [](const Socket &socket) { return socket.round.under_way; }))
		return;
	claim_.dismiss_visitors();
	for (unsigned i = 0; i < sockets_.size(); i++) {
		Socket &socket = sockets_[i];
		if (!socket.shared)
			continue;
		if (socket.round.under_way)
			go_on(socket, now);
		else if (socket.members > 1 && now >= socket.routine)
			begin_round(i, now, round_patience);
	}
}

/*
 * Puts our table in place for the group. Management datagrams, which are for all, come to us, or to another that takes
 * them if we do not, or are about to leave.
 */
void UdpPort::steer(const Socket &socket) const
{
	const bool is_ours = !closing_until_ && !hands_management_on();
	socket.table.attach(socket.fd.get(), is_ours ? claim_.number() : manager_);
}

/* Ends the round if it is over, and asks again if an answer is late. */
void UdpPort::go_on(Socket &socket, Time now)
{
	const Round &round = socket.round;
	const bool is_late = now >= round.repeat;
	/* Wait a moment for answers about what lies beyond the group, so that they are not found later. */
	if (now >= round.deadline || (round.is_complete() && (is_late || !round.pending())))
		end_round(socket, now);
	else if (is_late)
		ask_again(socket, now);
}

void UdpPort::end_round(Socket &socket, Time now)
{
	Round &round = socket.round;
	/* Merged packets of two slots are misdirected with any table: ask ever more rarely. */
	socket.pause = round.changed ? min_round_pause : std::min(socket.pause * 2, max_round_pause);
	socket.next_round = now + std::max(socket.pause, min_round_pause);
	if (!round.heard[manager_])
		manager_ = 0;
	/* Attach even an unchanged table: another member may have put one in place that knew less. */
	steer(socket);
	round.under_way = false;
	socket.members = static_cast<unsigned>(std::max<std::size_t>(round.heard.count(), 1));
	plan_routine(socket, now);
}

/* Plans the next routine round at a time of its own, so that not all of a group ask at once, every time. */
void UdpPort::plan_routine(Socket &socket, Time now)
{
	const Time turn = socket.members * routine_interval;
	socket.routine = now + turn / 2 + now % turn;
	note_next_duty();
}

void UdpPort::note_next_duty()
{
	Time next = no_duty;
	for (const Socket &socket : sockets_) {
		if (socket.round.under_way)
			next = std::min({next, socket.round.deadline, socket.round.repeat});
		else if (socket.shared && socket.members > 1)
			next = std::min(next, socket.routine);
	}
	next_duty_.store(next, std::memory_order_relaxed);
}

} // namespace prism::soft
