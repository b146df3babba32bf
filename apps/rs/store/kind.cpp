/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kind.hpp"

#include "rs/store/layout.hpp"
#include "rs/store/protocol.hpp"

namespace prism::rs
{

VolumeKind prism_rs(const Configuration &volume, bool exclusive)
{
	VolumeKind kind;
	kind.kind = apps::StoreKind::rs;
	kind.slot_size = sizeof(Slot);
	kind.buffer_size = buffer_size(volume.block_size);
	kind.requests_of_a_leg = 3;
	ProtocolOptions options;
	options.replicas = static_cast<unsigned>(volume.replicas.size());
	options.exclusive = exclusive;
	kind.make_protocol = [options](Carrier &carrier, std::uint64_t client) {
		ProtocolOptions mine = options;
		mine.client = client;
		return std::make_unique<Protocol>(mine, carrier);
	};
	return kind;
}

} // namespace prism::rs
