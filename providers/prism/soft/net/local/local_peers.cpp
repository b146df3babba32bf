/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* LocalPort: peers come and go. None of this is on the data path, and each call does a bounded part. */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "../interfaces.hpp"
#include "base/c_boundary.hpp"
#include "local_port.hpp"

namespace prism::soft
{

namespace
{

/* One page of indices, then the records of both directions; the first direction is that of the side that made the
 * memory. */
constexpr std::size_t indices_bytes = 4096;
constexpr std::size_t rings_bytes = indices_bytes + 2 * std::size_t{ring_bytes};
constexpr std::size_t own_ring_bytes = indices_bytes + ring_bytes;
static_assert(2 * sizeof(RingIndices) <= indices_bytes && rings_bytes <= 256 << 10);

/* Intervals of looking while nothing is expected, and while an answer is. */
constexpr Time look_interval = 1'000'000;
constexpr Time short_interval = 50'000;

constexpr int introductions_a_look = 4;
constexpr int visitors_a_look = 8;
constexpr std::size_t max_guests = 64;
constexpr Time visitor_patience = 1'000'000'000;
constexpr int messages_a_look = 16;

/* Pauses before a peer that could not be reached is tried again; they double. */
constexpr Time busy_pause = 2'000'000;
constexpr Time accept_pause = 10'000'000;
constexpr Time min_pause = 100'000'000;
constexpr Time max_pause = 10'000'000'000;

constexpr std::size_t max_elsewhere = 64;
constexpr Time elsewhere_time = 10'000'000'000;

/* Most packets taken from a peer that is gone; a full ring has no more. */
constexpr int last_packets = ring_bytes / record_alignment;

constexpr std::uint64_t by_listener = 0;
constexpr std::uint64_t by_visitor = ~std::uint64_t{0}; /* else by slot */

Ring ring_of(const Mapping &rings, unsigned which)
{
	return {reinterpret_cast<RingIndices *>(rings.get()) + which,
		rings.get() + indices_bytes + which * std::size_t{ring_bytes}};
}

/* Limits the peers of all ports: each takes a descriptor, and the program needs half of them. */
std::size_t most_peers()
{
	rlimit limit{};
	return ::getrlimit(RLIMIT_NOFILE, &limit) < 0 ? slot_limit : limit.rlim_cur / 2;
}

} // namespace

LocalPort::LocalPort(unsigned slot, std::vector<Address> addresses, const PortCounts &counts, const LocalPort *sibling)
	: slot_(slot), siblings_(sibling ? sibling->siblings_ : std::make_shared<decltype(siblings_)::element_type>()),
	  addresses_(std::move(addresses)), total_(counts.all ? *counts.all : own_total_),
	  count_(counts.local ? *counts.local : own_count_), shown_(counts.peers ? *counts.peers : own_shown_),
	  most_peers_(most_peers())
{
	siblings_->at(slot_) = true;
}

LocalPort::~LocalPort()
{
	siblings_->at(slot_) = false;
}

std::unique_ptr<LocalPort> LocalPort::open(
	unsigned slot, std::vector<Address> addresses, const PortCounts &counts, const LocalPort *sibling)
{
	std::unique_ptr<LocalPort> port(new LocalPort(slot, std::move(addresses), counts, sibling));
	return port->prepare() ? std::move(port) : nullptr;
}

bool LocalPort::prepare()
{
	/* Reserve now: a later shortage of memory then harms nothing. */
	attached_.reserve(slot_limit);
	dirty_.reserve(slot_limit);
	wanted_.reserve(slot_limit);
	refused_.reserve(slot_limit);
	elsewhere_.reserve(max_elsewhere);
	visitors_.reserve(max_guests);
	bell_file_ = create_shared_file("prism-bell", bell_bytes);
	events_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
	if (!here_ || !bell_file_ || !events_)
		return false;
	bell_page_ = Mapping(bell_file_.get(), bell_bytes);
	if (!bell_page_)
		return false;
	bell_ = new (bell_page_.get()) Bell;
	/* If another process has the name, we can still introduce ourselves to others. */
	listener_ = listen_for_introductions(slot_);
	return !listener_ || watch(listener_.get(), by_listener);
}

/* The listener is edge-triggered: a connection that cannot be accepted, for want of descriptors, keeps nobody awake. */
bool LocalPort::watch(int fd, std::uint64_t what) const
{
	epoll_event event{};
	event.events = what == by_listener ? EPOLLIN | EPOLLET : EPOLLIN;
	event.data.u64 = what;
	return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Stops watching. A child may hold the same connection, so closing it here is not enough. */
void LocalPort::unwatch(int fd) const
{
	epoll_event ignored{};
	(void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, fd, &ignored);
}

/* Choice of peers ------------------------------------------------------------------------------------------------ */

LocalPort::Peer *LocalPort::make_peer(unsigned slot)
try {
	std::unique_ptr<Peer> &place = peers_[slot];
	if (!place) {
		place = std::make_unique<Peer>();
		place->slot = slot;
	}
	return place.get();
} catch (const std::bad_alloc &) {
	return nullptr;
}

/* Notes that we want the peer. On the data path of all that goes by UDP: little work, and no system call. */
void LocalPort::want(Peer *known, unsigned slot, const Address &address)
{
	if (known && known->state != State::unknown &&
		(known->state != State::elsewhere || known->asked_for == address))
		return;
	Peer *const peer = make_peer(slot);
	if (!peer)
		return;
	peer->asked_for = address;
	peer->state = State::elsewhere;
	if (std::ranges::find(elsewhere_, address) != elsewhere_.end())
		return;
	try {
		wanted_.push_back(slot);
		peer->state = State::wanted;
		look_soon();
	} catch (const std::bad_alloc &) {
		peer->state = State::unknown;
	}
}

/* Returns nothing if it cannot find out now. */
std::optional<bool> LocalPort::is_here(const Address &address, Time now)
{
	if (is_ipv4_loopback(address) || std::ranges::find(addresses_, address) != addresses_.end())
		return true;
	if (now >= forget_elsewhere_ || elsewhere_.size() >= max_elsewhere) {
		elsewhere_.clear();
		forget_elsewhere_ = now + elsewhere_time;
	}
	const auto here = addresses_of_this_host();
	if (!here)
		return {};
	if (std::ranges::find(*here, address) != here->end())
		return true;
	elsewhere_.push_back(address);
	return false;
}

/* Replaces addresses of other hosts by none: a peer may speak for this host alone. False if it cannot find out now. */
bool LocalPort::vet(std::vector<Address> &claimed) const
{
	std::optional<std::vector<Address>> here;
	for (Address &each : claimed) {
		if (is_ipv4_loopback(each) || std::ranges::find(addresses_, each) != addresses_.end())
			continue;
		if (!here)
			here = addresses_of_this_host();
		if (!here)
			return false;
		if (std::ranges::find(*here, each) == here->end())
			each = {};
	}
	return true;
}

void LocalPort::refuse(Peer &peer, Time now, Time pause)
{
	let_go(peer);
	peer.state = State::refused;
	peer.retry = now + pause;
	if (std::ranges::find(refused_, peer.slot) == refused_.end())
		refused_.push_back(peer.slot);
}

void LocalPort::forgive(Time now)
{
	std::erase_if(refused_, [&](unsigned slot) {
		Peer &peer = *peers_[slot];
		if (peer.state == State::refused && now < peer.retry)
			return false;
		if (peer.state == State::refused)
			peer.state = State::unknown;
		return true;
	});
}

/* Arrival ------------------------------------------------------------------------------------------------------- */

void LocalPort::look_after(PacketHandler &handler, Time now)
{
	const WithoutCancellation whole;
	if (here_.in_child()) {
		next_look_ = ~Time{0};
		return;
	}
	next_look_ = now + look_interval;
	for (std::size_t i = 0; i < attached_.size();) {
		Peer &peer = *attached_[i];
		if (peer.gone)
			close(peer, handler, now);
		if (i < attached_.size() && attached_[i] == &peer)
			i++;
	}
	take_events(handler, now);
	look_at_visitors(handler, now);
	introduce_wanted(now);
	forgive(now);
	if (more_visitors_ || !wanted_.empty())
		look_soon();
	else if (greeted_ || !visitors_.empty())
		next_look_ = now + short_interval;
}

void LocalPort::take_events(PacketHandler &handler, Time now)
{
	std::array<epoll_event, 32> events;
	const int count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
	for (int i = 0; i < count; i++) {
		const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
		if (what == by_listener)
			more_visitors_ = true;
		if (what >= slot_limit || !peers_[what])
			continue;
		Peer &peer = *peers_[what];
		if (peer.state == State::greeted)
			take_answer(peer, now);
		else if (peer.state == State::attached)
			take_message(peer);
		if (peer.gone)
			close(peer, handler, now);
	}
	if (accept_again_ && now >= accept_again_) {
		accept_again_ = 0;
		more_visitors_ = true;
	}
	if (more_visitors_)
		accept_visitors(now);
}

void LocalPort::accept_visitors(Time now)
{
	for (int i = 0; i < visitors_a_look; i++) {
		FileDescriptor connection = accept_introduction(listener_.get());
		if (!connection && errno == EACCES)
			continue;
		if (!connection) {
			more_visitors_ = false;
			if (errno != EAGAIN)
				accept_again_ = now + accept_pause;
			return;
		}
		if (visitors_.size() >= max_guests) {
			/* A genuine visitor speaks at once: close the one that has been silent longest. */
			unwatch(visitors_.front().connection.get());
			visitors_.erase(visitors_.begin());
			count_.local_refused.add();
		}
		if (watch(connection.get(), by_visitor))
			visitors_.push_back({std::move(connection), now + visitor_patience});
	}
}

void LocalPort::look_at_visitors(PacketHandler &handler, Time now)
{
	for (std::size_t i = 0; i < visitors_.size();) {
		Introduced guest = receive_hello(visitors_[i].connection.get(), 2);
		if (guest.state == Introduced::State::waiting && now < visitors_[i].until) {
			i++;
			continue;
		}
		FileDescriptor connection = std::move(visitors_[i].connection);
		visitors_.erase(visitors_.begin() + static_cast<std::ptrdiff_t>(i));
		unwatch(connection.get());
		if (guest.state == Introduced::State::left)
			continue;
		if (guest.state == Introduced::State::done && may_come(guest.slot, handler, now) &&
			is_of_slot(connection.get(), guest.slot))
			welcome(guest, std::move(connection), now);
		else
			count_.local_refused.add();
	}
}

/* Returns true if that peer may introduce itself. Of two that do so to each other at once, the one with the lower
 * number prevails. */
bool LocalPort::may_come(unsigned slot, PacketHandler &handler, Time now)
{
	Peer *const known = make_peer(slot);
	if (!known || slot == slot_ || Connection::of_process >= most_peers_)
		return false;
	if (known->state == State::greeted)
		return slot < slot_;
	if (known->state != State::attached)
		return true;
	/* The slot was another context's before. */
	take_message(*known);
	if (known->gone)
		close(*known, handler, now);
	return known->state != State::attached;
}

void LocalPort::welcome(Introduced &guest, FileDescriptor connection, Time now)
{
	Peer &peer = *peers_[guest.slot];
	let_go(peer);
	const int file = bell_file_.get();
	peer.connection = Connection(std::move(connection));
	const bool sound = is_shared_file(guest.files[0].get(), rings_bytes);
	if (sound && attach(peer, guest, Mapping(guest.files[0].get(), rings_bytes), guest.files[1], false) &&
		send_hello(peer.connection.get(), slot_, addresses_, {&file, 1}))
		return;
	count_.local_refused.add();
	refuse(peer, now, min_pause);
}

/* Attaches, at both ends, once each knows the other. False if not possible; the caller then lets the peer go. */
bool LocalPort::attach(Peer &peer, Introduced &introduced, Mapping rings, const FileDescriptor &bell, bool ours)
{
	if (!rings || !is_shared_file(bell.get(), bell_bytes) || !vet(introduced.addresses))
		return false;
	peer.bell_page = Mapping(bell.get(), bell_bytes);
	if (!peer.bell_page || (!ours && !watch(peer.connection.get(), peer.slot)))
		return false;
	peer.bell = reinterpret_cast<Bell *>(peer.bell_page.get());
	peer.rings = std::move(rings);
	peer.out = RingProducer(ring_of(peer.rings, ours ? 0 : 1), &staging_);
	peer.in = RingConsumer(ring_of(peer.rings, ours ? 1 : 0));
	enlist(peer, std::move(introduced.addresses));
	return true;
}

/* Lists a peer whose rings stand among the attached ones. */
void LocalPort::enlist(Peer &peer, std::vector<Address> addresses)
{
	peer.addresses = std::move(addresses);
	peer.addresses_told = std::min(addresses_.size(), max_local_addresses);
	peer.state = State::attached;
	peer.fresh = true;
	peer.pause = 0;
	attached_.push_back(&peer);
	fresh_++;
	show(peer.slot, true);
}

void LocalPort::introduce_wanted(Time now)
{
	for (int i = 0; i < introductions_a_look && !wanted_.empty(); i++) {
		Peer &peer = *peers_[wanted_.back()];
		wanted_.pop_back();
		if (peer.state != State::wanted)
			continue;
		const std::optional<bool> here = is_here(peer.asked_for, now);
		if (!here)
			refuse(peer, now, min_pause);
		else if (!*here)
			peer.state = State::elsewhere;
		else if (peer.slot != slot_)
			introduce(peer, now);
		else if (!attach_self(peer))
			refuse(peer, now, min_pause);
	}
}

/*
 * Returns ourselves as a peer, for queue pairs that communicate within the context; null if that is not possible now.
 * Nobody needs to be introduced, so no packet goes by UDP before.
 */
LocalPort::Peer *LocalPort::ourselves(const Address &address)
{
	if (std::ranges::find(addresses_, address) == addresses_.end())
		return nullptr;
	Peer *const self = make_peer(slot_);
	return self && self->state == State::unknown && attach_self(*self) ? self : nullptr;
}

/* Attaches ourselves: one ring, whose both ends are ours. False if there is no memory for it. */
bool LocalPort::attach_self(Peer &peer)
{
	const WithoutCancellation whole;
	const FileDescriptor file = create_shared_file("prism-rings", own_ring_bytes);
	Mapping rings(file.get(), own_ring_bytes);
	if (!rings)
		return false;
	peer.bell = &awake_;
	peer.in = RingConsumer(ring_of(rings, 0));
	peer.out = RingProducer(ring_of(rings, 0), nullptr);
	peer.rings = std::move(rings);
	enlist(peer, addresses_);
	return true;
}

void LocalPort::introduce(Peer &peer, Time now)
{
	if (Connection::of_process >= most_peers_) {
		refuse(peer, now, max_pause);
		return;
	}
	peer.pause = std::clamp(peer.pause * 2, min_pause, max_pause);
	peer.connection = Connection(connect_to_slot(peer.slot));
	if (!peer.connection) {
		refuse(peer, now, errno == EAGAIN ? busy_pause : peer.pause);
		return;
	}
	const FileDescriptor rings = create_shared_file("prism-rings", rings_bytes);
	peer.rings = Mapping(rings.get(), rings_bytes);
	const std::array<int, 2> files{rings.get(), bell_file_.get()};
	if (!peer.rings || !send_hello(peer.connection.get(), slot_, addresses_, files) ||
		!watch(peer.connection.get(), peer.slot)) {
		refuse(peer, now, peer.pause);
		return;
	}
	peer.state = State::greeted;
	peer.retry = now + longest_stop;
	greeted_++;
}

void LocalPort::take_answer(Peer &peer, Time now)
{
	Introduced answer = receive_hello(peer.connection.get(), 1);
	if (answer.state == Introduced::State::waiting)
		return;
	const bool right = answer.state == Introduced::State::done && answer.slot == peer.slot;
	Mapping rings = std::move(peer.rings);
	if (right) {
		greeted_--;
		if (attach(peer, answer, std::move(rings), answer.files[0], true))
			return;
		greeted_++;
	}
	count_.local_refused.add();
	refuse(peer, now, peer.pause);
}

/* Departure ----------------------------------------------------------------------------------------------------- */

/* Takes wake-ups, or the end. Takes a limited number, so that others have their turn: the rest is an event again. */
void LocalPort::take_message(Peer &peer)
{
	std::array<char, 8> message;
	for (int i = 0; i < messages_a_look; i++) {
		const ssize_t size = ::recv(peer.connection.get(), message.data(), message.size(), MSG_DONTWAIT);
		if (size < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (size != 1) {
			peer.gone = true;
			return;
		}
	}
}

/* Closes a peer that is gone, after taking its last packets; those that it sent before by UDP come first. */
void LocalPort::close(Peer &peer, PacketHandler &handler, Time now)
{
	const bool sound = !peer.out.broken() && !peer.in.broken();
	if (sound && peer.fresh && peer.in.is_waiting()) {
		look_soon();
		return;
	}
	if (sound)
		receive_from(peer, handler, now, last_packets);
	refuse(peer, now, std::max(peer.pause, min_pause));
}

/* Releases all that a peer has but its slot. */
void LocalPort::let_go(Peer &peer)
{
	if (peer.connection)
		unwatch(peer.connection.get());
	if (peer.state == State::greeted)
		greeted_--;
	if (peer.state == State::attached) {
		std::erase(attached_, &peer);
		std::erase(dirty_, &peer);
		fresh_ -= peer.fresh;
		backlogs_ -= peer.backlog.size();
		show(peer.slot, false);
	}
	Peer bare;
	bare.slot = peer.slot;
	bare.asked_for = peer.asked_for;
	bare.pause = peer.pause;
	peer = std::move(bare);
}

void LocalPort::show(unsigned slot, bool attached)
{
	static_assert(std::tuple_size_v<LocalPeers> * 64 == slot_limit);
	Counter &word = shown_[slot / 64];
	const std::uint64_t mark = std::uint64_t{1} << slot % 64;
	if (attached)
		word.add(mark);
	else
		word.subtract(mark);
}

} // namespace prism::soft
