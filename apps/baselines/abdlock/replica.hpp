/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "abdlock/layout.hpp"
#include "rs/volume/configuration.hpp"
#include "rs/volume/introduction.hpp"
#include "service/one_sided_server.hpp"

namespace prism::rs
{

struct LockReplicaOptions : apps::OneSidedServerOptions {
	Configuration volume;
	unsigned replica = 0; /**< number of this replica in the volume */
};

/**
 * The memory of one replica of an ABDLOCK volume, which is new: all blocks are zeros. There is no repair: a replica
 * that has lost its memory must not come back to its volume. Construct, serve() on one thread, stop() from any.
 */
class LockReplica final : public apps::OneSidedServer
{
public:
	/**
	 * Listens at the replica's port of the configuration, or at options.port if that is not 0. Errors: EINVAL,
	 * ENOMEM, those of TcpListener::create().
	 */
	static Result<std::unique_ptr<LockReplica>> create(const Context &context, const LockReplicaOptions &options);

	[[nodiscard]] std::string stats_json() const override;
	/** Returns the record of @p block, as the CPU sees it: torn if a client is changing it at this time. */
	[[nodiscard]] RecordHead at(std::uint64_t block) const noexcept;

private:
	LockReplica(Parts parts, const LockReplicaOptions &options);

	/* apps::OneSidedServer */
	Result<void> introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine) override;
	int hear(std::uint32_t number, const apps::ControlMessage &message,
		std::optional<apps::ControlMessage> &answer) override;
	[[nodiscard]] std::uint64_t slots() const override { return 0; } /* no slot points at a buffer */
	void look_at(std::uint64_t index) override;

	[[nodiscard]] std::size_t bytes() const noexcept { return volume_.blocks * record_size(volume_.block_size); }

	const Configuration volume_;
	const unsigned replica_;
};

} // namespace prism::rs
