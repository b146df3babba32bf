/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rs/store/layout.hpp"
#include "rs/volume/configuration.hpp"
#include "rs/volume/introduction.hpp"
#include "service/one_sided_server.hpp"

namespace prism::rs
{

struct ReplicaOptions : apps::OneSidedServerOptions {
	Configuration volume;
	unsigned replica = 0; /**< which one of the volume's */
	/**
	 * The volume is new: nothing was ever written to it. Otherwise the replica has lost what it knew, and neither
	 * serves nor takes part before it was repaired. A replica that has been part of its volume must never begin as
	 * new.
	 */
	bool is_new = false;
	/** Buffers beside one a block: for writes under way and buffers on their way back. */
	std::uint32_t spare_buffers = 8192;
};

/**
 * The memory of one replica of a PRISM-RS volume and everything that its clients cannot do themselves. Construct,
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
	/** What it has of @p block, as its CPU sees it: torn if a client is changing it just now. */
	[[nodiscard]] Slot at(std::uint64_t block) const noexcept { return memory().as<Slot>()[block]; }

private:
	Replica(Parts parts, const ReplicaOptions &options);

	/* apps::OneSidedServer */
	Result<void> introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine) override;
	int hear(std::uint32_t number, const apps::ControlMessage &message,
		std::optional<apps::ControlMessage> &answer) override;
	[[nodiscard]] std::uint64_t slots() const override { return volume_.blocks; }
	void look_at(std::uint64_t index) override;

	Result<void> admit(const Introduction &client, std::uint32_t number);
	int begin_epoch(std::uint64_t epoch);
	int begin_serving(std::uint64_t epoch);

	const Configuration volume_;
	const unsigned replica_;
	bool serving_;
	std::uint64_t epoch_;        /* 0: none yet */
	std::uint32_t repairer_ = 0; /* number of its connection */
};

/** The epoch of a volume that is new. */
constexpr std::uint64_t first_epoch = std::uint64_t{1} << 24;

/** An epoch after @p epoch, which no other repair chooses: a number, and 24 random bits. */
std::uint64_t next_epoch(std::uint64_t epoch);

} // namespace prism::rs
