/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flaw.hpp"
#include "link.hpp"
#include "rs/store/epoch.hpp"
#include "rs/store/layout.hpp"
#include "rs/volume/introduction.hpp"
#include "simulation/store.hpp"

namespace rs_sim
{

struct ReplicaOptions : simulation::StoreOptions {
	std::uint64_t blocks = 4;
	std::uint32_t block_size = 512;
	std::uint32_t spare_buffers = 64;    /* beside one for each block */
	soft::Time repair_lease = 4'000'000; /* ns; like prism::rs::repair_lease */
	Flaw flaw = Flaw::none;
};

/** Memory of one replica, and its rules of access: prism::rs::Replica on a simulated device. */
class Replica final : public simulation::Store
{
public:
	/** @p is_new: true if nothing was ever written to the volume; false if the replica has lost its memory. */
	Replica(test::Node &node, simulation::Surroundings &around, const ReplicaOptions &options, bool is_new);

	struct Request {
		std::uint64_t epoch = 0; /* newest epoch that the client knows */
		bool repairs = false;
	};
	/** Connects @p pair. Returns nothing if the client is refused. */
	std::optional<Admission> admit(Pair &pair, const Request &request);

	/** Handles a message on connection @p number, a repair's. Returns an errno. */
	int hear(std::uint32_t number, const prism::apps::ControlMessage &message);

	[[nodiscard]] bool serving() const noexcept { return state_.serving(); }
	[[nodiscard]] prism::rs::Slot at_block(std::uint64_t block) const noexcept;
	/** Returns the number of buffers outside the free list. */
	[[nodiscard]] std::uint64_t buffers_in_use() const noexcept;

	/** Checks that every slot has a whole block under its tag; reports errors. */
	void check_blocks();

private:
	/* Store */
	[[nodiscard]] std::uint64_t slots() const override { return options_.blocks; }
	void look_at(std::uint64_t index) override;
	[[nodiscard]] std::uint64_t buffer_of(std::uint64_t index) const override { return at_block(index).block.ptr; }

	bool admits(const Request &request, std::uint32_t number);
	int begin_epoch(std::uint32_t number, std::uint64_t epoch);
	int begin_serving(std::uint32_t number, std::uint64_t epoch);
	[[nodiscard]] std::chrono::nanoseconds now() const { return std::chrono::nanoseconds(around_.time()); }

	const ReplicaOptions options_;
	prism::rs::EpochState state_;
	prism::rs::RepairTurn turn_;
};

} // namespace rs_sim
