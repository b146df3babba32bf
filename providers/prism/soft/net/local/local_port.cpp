/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* LocalPort: the data path. local_peers.cpp has the arrival and departure of peers. */
#include "local_port.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/c_boundary.hpp"

namespace prism::soft
{

namespace
{

/* Limits of the packets that wait for one peer that takes nothing, and for all. Honest peers stay below by the
 * packets that they have under way. */
constexpr std::size_t max_backlog = 8 << 20;
constexpr std::size_t max_backlogs = 64 << 20;

/** Longest time between two looks that counts as a stop of the peer: in more we may have stood still ourselves, or
 * both. Sleepers look more often. */
constexpr Time longest_look = longest_stop / 5;

/* Publish early: an awake consumer can begin before all is there. */
constexpr std::uint32_t early_publish = 2 << 10;

} // namespace

/* Returns null if the packet cannot go by rings now. */
LocalPort::Peer *LocalPort::attached(unsigned source, const Address &address, std::uint32_t qpn)
{
	const unsigned slot = qpn >> qpn_index_bits;
	if (slot < first_slot || slot >= slot_limit || here_.in_child())
		return nullptr;
	Peer *peer = peers_[slot].get();
	if (!peer || peer->state != State::attached) [[unlikely]] {
		if (slot != slot_ || !(peer = ourselves(address))) {
			want(peers_[slot].get(), slot, address);
			return nullptr;
		}
	}
	if (source >= peer->addresses_told || peer->gone)
		return nullptr;
	if (peer->addresses[peer->last_address] == address)
		return peer;
	const auto found = std::ranges::find(peer->addresses, address);
	if (found == peer->addresses.end())
		return nullptr;
	peer->last_address = static_cast<std::size_t>(found - peer->addresses.begin());
	return peer;
}

std::uint8_t *LocalPort::begin(unsigned source, const Address &address, std::uint32_t qpn, std::size_t size)
{
	Peer *const peer = attached(source, address, qpn);
	if (!peer)
		return nullptr;
	sending_ = peer;
	sending_size_ = size;
	place_ = Place::ring;
	const RecordHeader header{.length = static_cast<std::uint32_t>(size),
		.source = static_cast<std::uint8_t>(source),
		.destination = static_cast<std::uint8_t>(peer->last_address)};
	if (peer->backlog.empty()) [[likely]]
		if (std::uint8_t *const room = peer->out.begin(header)) [[likely]]
			return room;
	return begin_behind(*peer, header);
}

std::uint8_t *LocalPort::begin_behind(Peer &peer, const RecordHeader &header)
{
	count_.local_tx_waited.add();
	if (peer.backlog.size() < max_backlog && backlogs_ < max_backlogs) {
		try {
			std::uint8_t *const room = peer.backlog.begin(header);
			place_ = Place::backlog;
			return room;
		} catch (const std::bad_alloc &) {
			/* lost, as it would be in a network */
		}
	}
	place_ = Place::nowhere;
	return discard_.data();
}

void LocalPort::commit()
{
	Peer &peer = *sending_;
	if (place_ == Place::nowhere) {
		count_.local_tx_dropped.add();
		return;
	}
	count_.local_tx_packets.add();
	total_.tx_packets.add();
	total_.tx_bytes.add(sending_size_);
	mark_dirty(peer);
	if (place_ == Place::ring) {
		peer.out.commit();
		if (peer.out.unpublished() >= early_publish)
			publish(peer);
	} else {
		peer.backlog.commit();
		backlogs_ += sizeof(RecordHeader) + sending_size_;
	}
}

void LocalPort::mark_dirty(Peer &peer)
{
	if (peer.dirty)
		return;
	peer.dirty = true;
	dirty_.push_back(&peer); /* capacity was reserved */
}

void LocalPort::publish(Peer &peer)
{
	if (!peer.out.has_unpublished())
		return;
	peer.out.publish();
	wake(peer);
}

/* Wakes the peer if it sleeps. */
void LocalPort::wake(Peer &peer)
{
	if (!ring_bell(*peer.bell))
		return;
	count_.local_tx_wakeups.add();
	const WithoutCancellation whole;
	const char anything = 0;
	(void)::send(peer.connection.get(), &anything, sizeof(anything), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void LocalPort::flush()
{
	if (dirty_.empty() || here_.in_child())
		return;
	std::size_t left = 0;
	for (Peer *const peer : dirty_) {
		if (!peer->backlog.empty()) [[unlikely]] {
			const std::size_t before = peer->backlog.size();
			peer->backlog.move_to(peer->out);
			backlogs_ -= before - peer->backlog.size();
		}
		publish(*peer);
		peer->dirty = !peer->backlog.empty();
		if (peer->dirty)
			dirty_[left++] = peer;
		if (peer->out.broken() && !peer->gone) {
			count_.local_broken.add();
			peer->gone = true;
			look_soon();
		}
	}
	dirty_.resize(left);
}

Room LocalPort::room(unsigned source, const Address &address, std::uint32_t qpn)
{
	Peer *const peer = attached(source, address, qpn);
	if (!peer)
		return Room::unknown;
	if (peer->backlog.empty() && peer->out.has_room(1))
		return Room::yes;
	peer->starving = true;
	/* When we already sleep we have not asked to be told about room here: ask now, and look again. */
	if (bell_->attention.load(std::memory_order_seq_cst) == Attention::asleep) {
		peer->out.starve(true);
		if (peer->backlog.empty() && peer->out.has_room(1))
			return Room::yes;
	}
	return peer->out.broken() ? Room::unknown : Room::no;
}

bool LocalPort::loses(unsigned source, const Address &address, std::uint32_t qpn, Time now)
{
	Peer *const peer = attached(source, address, qpn);
	if (!peer || (*siblings_)[peer->slot]) /* we take what is ours, if only later */
		return false;
	const std::uint32_t taken = peer->out.taken();
	if (taken != peer->stopped_behind)
		peer->stopped_for = peer->stop_seen = 0;
	peer->stopped_behind = taken;
	const Time before = std::exchange(peer->stop_seen, std::max(now, peer->stop_seen));
	if (before)
		peer->stopped_for += std::min(peer->stop_seen - before, longest_look);
	if (peer->stopped_for < longest_stop)
		return false;
	count_.local_tx_dropped.add();
	return true;
}

bool LocalPort::prepares(std::uint32_t qpn, Time now)
{
	const unsigned slot = qpn >> qpn_index_bits;
	const Peer *const peer = slot < slot_limit ? peers_[slot].get() : nullptr;
	return peer && (peer->state == State::wanted || (peer->state == State::greeted && now < peer->retry));
}

bool LocalPort::newcomer_waits()
{
	if (!fresh_ || here_.in_child()) [[likely]]
		return false;
	bool any = false;
	for (Peer *const peer : attached_) {
		if (!peer->fresh || !peer->in.is_waiting())
			continue;
		peer->fresh = false;
		fresh_--;
		any = true;
	}
	return any;
}

int LocalPort::receive(PacketHandler &handler, Time now, int max_packets)
{
	if (attached_.empty() || here_.in_child())
		return 0;
	int total = 0;
	const std::size_t count = attached_.size();
	if (++turn_ >= count)
		turn_ = 0;
	for (std::size_t i = 0; i < count; i++) {
		const std::size_t at = turn_ + i;
		Peer &peer = *attached_[at < count ? at : at - count];
		if (!peer.fresh)
			total += receive_from(peer, handler, now, max_packets);
	}
	return total;
}

int LocalPort::receive_from(Peer &peer, PacketHandler &handler, Time now, int max_packets)
{
	int taken = 0;
	bool sound = true;
	while (taken < max_packets && sound) {
		const RecordHeader header = peer.in.take(packet_.data());
		if (!header.length)
			break;
		taken++;
		sound = deliver(peer, header, handler, now);
	}
	if (peer.in.release())
		wake(peer);
	if ((peer.in.broken() || !sound) && !peer.gone) [[unlikely]] {
		count_.local_broken.add();
		peer.gone = true;
		look_soon();
	}
	return taken;
}

bool LocalPort::deliver(const Peer &peer, const RecordHeader &header, PacketHandler &handler, Time now)
{
	if (header.source >= peer.addresses.size() || header.destination >= addresses_.size())
		return false;
	count_.local_rx_packets.add();
	total_.rx_packets.add();
	total_.rx_bytes.add(header.length);
	const Route route{peer.addresses[header.source], addresses_[header.destination], source_port_of(peer.slot)};
	handler.receive(route, {packet_.data(), header.length}, now);
	return true;
}

/* Sets the state, then checks the rings, in one total order with the producers, which publish, then read the state. */
bool LocalPort::prepare_sleep()
{
	if (here_.in_child())
		return true;
	if (!wanted_.empty() || more_visitors_ || !next_look_.load(std::memory_order_relaxed))
		return false;
	bell_->attention.store(Attention::asleep, std::memory_order_seq_cst);
	for (Peer *const peer : attached_) {
		if (peer->in.is_waiting())
			return attend(), false;
		if (!peer->starving && peer->backlog.empty())
			continue;
		peer->starving = false;
		peer->out.starve(true);
		if (peer->out.has_room(1))
			return attend(), false;
	}
	return true;
}

bool LocalPort::own_packets_wait() const
{
	Peer *const self = peers_[slot_].get();
	return self && self->state == State::attached && !here_.in_child() && self->in.is_waiting();
}

/* Leaves ourselves out: what we send to ourselves needs nobody else to wake us. */
bool LocalPort::awaits_peers() const
{
	const Peer *const self = peers_[slot_].get();
	return attached_.size() > (self && self->state == State::attached ? 1 : 0) || greeted_;
}

std::vector<unsigned> LocalPort::peers() const
{
	std::vector<unsigned> list;
	for (const Peer *const peer : attached_)
		list.push_back(peer->slot);
	return list;
}

} // namespace prism::soft
