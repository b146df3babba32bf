/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kind.hpp"

#include "rs/store/layout.hpp"
#include "rs/store/protocol.hpp"

namespace prism::rs
{

namespace
{

VolumeKind kind_of(const Configuration &volume, ProtocolOptions options)
{
	VolumeKind kind;
	kind.kind = prism_kind;
	kind.needs_prism = true;
	kind.slot_size = sizeof(Slot);
	kind.buffer_size = buffer_size(volume.block_size);
	kind.longest_chain = 3;
	kind.repairs = options.repairs;
	options.replicas = static_cast<unsigned>(volume.replicas.size());
	kind.make_protocol = [options](VolumeSession &session, std::uint64_t client) {
		ProtocolOptions mine = options;
		mine.client = client;
		return std::make_unique<Protocol>(mine, session);
	};
	return kind;
}

} // namespace

VolumeKind prism_rs(const Configuration &volume, std::uint32_t exclusive, bool everywhere)
{
	ProtocolOptions options;
	options.exclusive = exclusive;
	options.everywhere = everywhere;
	return kind_of(volume, options);
}

VolumeKind repair_of(const Configuration &volume, unsigned replica)
{
	ProtocolOptions options;
	options.repairs = replica;
	return kind_of(volume, options);
}

} // namespace prism::rs
