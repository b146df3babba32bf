/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kind.hpp"

#include "abdlock/layout.hpp"

namespace prism::rs
{

VolumeKind abdlock(const Configuration &volume, const LockOptions &options)
{
	VolumeKind kind;
	kind.kind = abdlock_kind;
	kind.slot_size = record_size(volume.block_size);
	kind.longest_chain = 2;
	LockOptions all = options;
	all.replicas = static_cast<unsigned>(volume.replicas.size());
	all.block_size = volume.block_size;
	kind.make_protocol = [all](VolumeSession &session, std::uint64_t client) {
		return std::make_unique<LockProtocol>(all, client, session);
	};
	return kind;
}

} // namespace prism::rs
