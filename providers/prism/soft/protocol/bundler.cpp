/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bundler.hpp"

#include <cstring>
#include <utility>

namespace prism::soft
{

namespace
{

/** Size of an empty READ_RESPONSE_ONLY; no request is shorter. */
constexpr std::uint32_t shortest_entry = PRISM_ENTRY_HEADER_SIZE + PRISM_READ_RESPONSE_HEADER - PRISM_BTH_SIZE;

/** Size of the longest packet that shares a bundle with another entry. */
constexpr std::uint32_t longest_sharing(std::uint32_t mtu)
{
	return PRISM_MAX_ENTRY_PACKET(mtu) - shortest_entry;
}

std::uint32_t psn_of(const std::uint8_t *packet)
{
	return get_unaligned_be32(packet + 8) & PRISM_PSN_MASK;
}

} // namespace

std::uint8_t *Bundler::begin_from(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size)
{
	close();
	next_from_ = has_room_for_ = nullptr;
	goes_at_once_ = false;
	return sink_.begin_from(source, peer, qpn, size);
}

std::uint8_t *Bundler::begin_for(const QueuePair &qp, std::uint8_t opcode, std::size_t size, bool awaited)
{
	const std::uint32_t mtu = qp.attr.mtu;
	const std::uint8_t bundle = prism_bundle_opcode_of(opcode);
	const bool at_once = bundle && awaited && goes_at_once(qp);
	if (at_once || !bundle || !qp.bundles(bundle) || size > longest_sharing(mtu)) {
		std::uint8_t *const packet = begin_from(qp.attr.source, qp.attr.peer, qp.attr.dest_qpn, size);
		goes_at_once_ = at_once;
		return packet;
	}
	restore();
	next_from_ = &qp;
	next_opcode_ = bundle;
	next_size_ = size;
	std::uint8_t *const packet = end() - PRISM_ENTRY_OFFSET;
	std::memcpy(overwritten_.data(), packet, overwritten_.size());
	return packet;
}

/** Restores what the packet last begun has overwritten. */
void Bundler::restore()
{
	if (next_from_)
		std::memcpy(end() - PRISM_ENTRY_OFFSET, overwritten_.data(), overwritten_.size());
	next_from_ = nullptr;
}

bool Bundler::goes_at_once(const QueuePair &qp)
{
	return went_at_once_ < most_at_once && !entries_ && room(qp) != Room::unknown;
}

/** Returns true if the packet with @p psn, the last one begun, is the next entry for the gathered packets. */
bool Bundler::joins(std::uint32_t psn, std::uint32_t entry_size) const
{
	return entries_ < PRISM_BUNDLE_MAX_ENTRIES && size_ + entry_size <= flow_.mtu + PRISM_BUNDLE_HEADERS &&
	       from_ == next_from_ && psn == psn_add(last_psn_, 1) && opcode_ == next_opcode_;
}

void Bundler::commit()
{
	if (!next_from_) {
		sink_.commit();
		if (std::exchange(goes_at_once_, false)) {
			went_at_once_++;
			sink_.flush();
		}
		return;
	}
	const QueuePair &from = *next_from_;
	const auto size = static_cast<std::uint32_t>(next_size_);
	std::uint8_t *const entry = end(), *const packet = entry - PRISM_ENTRY_OFFSET;
	const bool takes = prism_bundle_takes(packet, size, from.attr.mtu);
	const std::uint32_t psn = psn_of(packet);
	std::array<std::uint8_t, PRISM_BTH_SIZE> bth;
	std::memcpy(bth.data(), packet, bth.size());
	const std::uint32_t entry_size = prism_bundle_make_entry(packet, size);
	const bool joined = entries_ && takes && joins(psn, entry_size);
	restore();
	if (!joined) {
		close();
		std::memmove(end(), entry, entry_size);
		open(from);
		first_bth_ = bth;
		first_size_ = size;
	}
	last_psn_ = psn;
	size_ += entry_size;
	entries_++;
	if (!takes)
		close();
}

/** Begins a bundle for the packet last begun. */
void Bundler::open(const QueuePair &from)
{
	from_ = &from;
	flow_ = {from.attr.peer, from.attr.source, from.attr.dest_qpn, from.attr.mtu};
	opcode_ = next_opcode_;
}

void Bundler::close()
{
	restore();
	if (!entries_)
		return;
	has_room_for_ = nullptr;
	if (entries_ == 1)
		emit_packet();
	else
		emit_bundle();
	entries_ = 0;
	size_ = PRISM_BTH_SIZE;
}

/** Sends the first entry as the packet that it was: an entry lacks the last zeros of some. */
void Bundler::emit_packet()
{
	std::uint8_t *const packet = sink_.begin_from(flow_.source, flow_.peer, flow_.qpn, first_size_);
	std::uint8_t *const body = packet + PRISM_BTH_SIZE;
	const std::uint32_t length = size_ - PRISM_BTH_SIZE - PRISM_ENTRY_HEADER_SIZE;
	std::memcpy(packet, first_bth_.data(), first_bth_.size());
	std::memcpy(body, bundle_.data() + PRISM_BTH_SIZE + PRISM_ENTRY_HEADER_SIZE, length);
	std::memset(body + length, 0, first_size_ - PRISM_BTH_SIZE - length);
	sink_.commit();
}

void Bundler::emit_bundle()
{
	std::uint8_t *const bundle = sink_.begin_from(flow_.source, flow_.peer, flow_.qpn, size_);
	prism_bundle_put_header(bundle_.data(), first_bth_.data());
	std::memcpy(bundle, bundle_.data(), size_);
	sink_.commit();
	counters_.tx_bundles++;
	counters_.tx_bundled.add(entries_);
}

void Bundler::flush()
{
	close();
	sink_.flush();
	has_room_for_ = nullptr;
	went_at_once_ = 0;
}

} // namespace prism::soft
