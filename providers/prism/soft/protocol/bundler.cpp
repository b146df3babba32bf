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
	next_from_ = &qp;
	next_bundle_ = bundle;
	next_size_ = size;
	return buffer_.data() + (entries_ ? ends_[entries_ - 1] : 0);
}

bool Bundler::goes_at_once(const QueuePair &qp)
{
	return went_at_once_ < most_at_once && !entries_ && room(qp) != Room::unknown;
}

std::span<const std::uint8_t> Bundler::gathered(unsigned index) const
{
	const std::size_t begin = index ? ends_[index - 1] : 0;
	return std::span(buffer_).subspan(begin, ends_[index] - begin);
}

/** Returns true if the packet with @p psn, the last one begun, is the next entry for the gathered packets. */
bool Bundler::joins(std::uint32_t psn, std::uint32_t entry_size) const
{
	return entries_ < PRISM_BUNDLE_MAX_ENTRIES && bundle_size_ + entry_size <= flow_.mtu + PRISM_BUNDLE_HEADERS &&
	       from_ == next_from_ && psn == psn_add(last_psn_, 1) && bundle_ == next_bundle_;
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
	const auto size = static_cast<std::uint32_t>(next_size_);
	const std::uint32_t mtu = next_from_->attr.mtu;
	std::uint8_t *packet = buffer_.data() + (entries_ ? ends_[entries_ - 1] : 0);
	const bool takes = prism_bundle_takes(packet, size, mtu);
	const std::uint32_t entry_size = prism_bundle_entry_size(packet, size), psn = psn_of(packet);
	if (entries_ && (!takes || !joins(psn, entry_size))) {
		close();
		std::memmove(buffer_.data(), packet, size);
		packet = buffer_.data();
	}
	if (!entries_)
		open();
	next_from_ = nullptr;
	last_psn_ = psn;
	bundle_size_ += entry_size;
	ends_[entries_] = static_cast<std::uint16_t>(packet + size - buffer_.data());
	entries_++;
	if (!takes)
		close();
}

/** Begins a bundle for the packet last begun. */
void Bundler::open()
{
	from_ = next_from_;
	flow_ = {from_->attr.peer, from_->attr.source, from_->attr.dest_qpn, from_->attr.mtu};
	bundle_ = next_bundle_;
	bundle_size_ = PRISM_BTH_SIZE;
}

void Bundler::close()
{
	if (!entries_)
		return;
	has_room_for_ = nullptr;
	if (entries_ == 1)
		emit_packet(gathered(0));
	else
		emit_bundle();
	entries_ = 0;
}

void Bundler::emit_packet(std::span<const std::uint8_t> packet)
{
	std::memcpy(sink_.begin_from(flow_.source, flow_.peer, flow_.qpn, packet.size()), packet.data(), packet.size());
	sink_.commit();
}

void Bundler::emit_bundle()
{
	std::uint8_t *bundle = sink_.begin_from(flow_.source, flow_.peer, flow_.qpn, bundle_size_);
	prism_bundle_put_header(bundle, gathered(0).data());
	std::uint8_t *to = bundle + PRISM_BTH_SIZE;
	for (unsigned i = 0; i < entries_; i++) {
		const auto packet = gathered(i);
		to += prism_bundle_put_entry(to, packet.data(), static_cast<std::uint32_t>(packet.size()));
	}
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
