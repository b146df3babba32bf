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
	std::uint32_t spare_buffers = 64;    /* beside one a block */
	soft::Time repair_lease = 4'000'000; /* ns: as prism::rs::repair_lease */
	Flaw flaw = Flaw::none;
};

/** What the memory of one replica is, and who may use it when: prism::rs::Replica, on a simulated device. */
class Replica final : public simulation::Store
{
public:
	/** @p is_new: nothing was ever written to the volume; otherwise it has lost what it knew. */
	Replica(test::Node &node, simulation::Surroundings &around, const ReplicaOptions &options, bool is_new);

	struct Request {
		std::uint64_t epoch = 0; /* the newest that the client knows */
		bool repairs = false;
	};
	/** Connects @p pair; nothing: it is refused. */
	std::optional<Admission> admit(Pair &pair, const Request &request);

	/** What connection @p number, a repair's, says; the answer is an errno. */
	int hear(std::uint32_t number, const prism::apps::ControlMessage &message);

	[[nodiscard]] bool serving() const noexcept { return state_.serving(); }
	[[nodiscard]] prism::rs::Slot at_block(std::uint64_t block) const noexcept;
	/** Buffers that are not in the free list. */
	[[nodiscard]] std::uint64_t buffers_in_use() const noexcept;

	/** Every slot has a whole block, under its tag; tells what is wrong. */
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
