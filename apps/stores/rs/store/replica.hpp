/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rs/store/epoch.hpp"
#include "rs/store/founding.hpp"
#include "rs/store/layout.hpp"
#include "rs/volume/configuration.hpp"
#include "rs/volume/introduction.hpp"
#include "service/one_sided_server.hpp"

namespace prism::rs
{

/** Meaning of a replica's memory when it begins. */
enum class Beginning : std::uint8_t {
	lost,       /**< it has lost its memory: it does not serve until it is repaired */
	new_volume, /**< nothing was ever written to the volume, if the others agree: it serves once they have
		       (Founding) */
	founded,    /**< as if the others had agreed: for tests, whose replicas all begin at once and never twice */
};

struct ReplicaOptions : apps::OneSidedServerOptions {
	Configuration volume;
	unsigned replica = 0; /**< number of this replica in the volume */
	Beginning beginning = Beginning::lost;
	/** Called after the repair, before the replica serves; an error prevents that. Null: nothing to do. */
	std::function<Result<void>()> before_serving;
	/** Buffers beside one for each block: for writes under way and for buffers on their way back. */
	std::uint32_t spare_buffers = 8192;
};

/**
 * The memory of one replica of a PRISM-RS volume, and all services that its clients cannot do themselves. Construct,
 * serve() on one thread, stop() from any.
 */
class Replica final : public apps::OneSidedServer
{
public:
	/**
	 * Listens at the replica's port of the configuration, or at options.port if that is not 0. @p context: with
	 * Progress::engine_thread, if it is a userspace device. Errors: EINVAL, ENOMEM, those of FreeList::create() and
	 * TcpListener::create().
	 */
	static Result<std::unique_ptr<Replica>> create(const Context &context, const ReplicaOptions &options);

	[[nodiscard]] std::string stats_json() const override;
	/** Returns the slot of @p block, as the CPU sees it: torn if a client is changing it at this time. */
	[[nodiscard]] Slot at(std::uint64_t block) const noexcept { return memory().as<Slot>()[block]; }

	[[nodiscard]] const Configuration &volume() const noexcept { return volume_; }
	[[nodiscard]] unsigned number() const noexcept { return replica_; }

	/* Any thread */

	/** True if its answers to reads count. */
	[[nodiscard]] bool serving() const noexcept { return state_.serving(); }
	/** Returns the founding. Only of Beginning::new_volume. */
	[[nodiscard]] Founding &founding() const noexcept { return *founding_; }
	/** Lets clients in. Call after the volume is founded and that is on record. Only of Beginning::new_volume. */
	void serve_as_founder();

private:
	Replica(Parts parts, const ReplicaOptions &options);

	/* apps::OneSidedServer */
	Result<void> introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine) override;
	int hear(std::uint32_t number, const apps::ControlMessage &message,
		std::optional<apps::ControlMessage> &answer) override;
	[[nodiscard]] std::uint64_t slots() const override { return volume_.blocks; }
	void look_at(std::uint64_t index) override;

	Result<void> answer_founder(const Introduction &asker, Introduction &own) const;
	Result<void> admit(const Introduction &client, std::uint32_t number);
	[[nodiscard]] Error refusal(int error) const;
	int hear_of_repair(std::uint32_t number, const apps::ControlMessage &message);
	int begin_epoch(std::uint32_t number, std::uint64_t epoch);
	int begin_serving(std::uint32_t number, std::uint64_t epoch);
	void drop_others();

	const Configuration volume_;
	const unsigned replica_;
	const std::unique_ptr<Founding> founding_; /* null unless the replica began as a new one */
	const std::function<Result<void>()> before_serving_;
	EpochState state_;
	RepairTurn turn_{repair_lease};
};

} // namespace prism::rs
