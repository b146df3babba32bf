/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flaw.hpp"
#include "link.hpp"
#include "simulation/store.hpp"
#include "tx/store/layout.hpp"

namespace tx_sim
{

struct ShardOptions : simulation::StoreOptions {
	std::uint16_t shard = 0; /* number of the shard */
	prism::tx::ShardGeometry geometry;
	prism::tx::StoreView store; /* of shard 0, without the secret */
	Flaw flaw = Flaw::none;
};

/** Memory of one shard and all work that clients cannot do themselves: prism::tx::PrismShard on a simulated device. */
class Shard final : public simulation::Store
{
public:
	Shard(test::Node &node, simulation::Surroundings &around, const ShardOptions &options);

	/**
	 * Connects @p pair of a client to which shard 0 has given @p first; null at shard 0 itself. Returns nothing if
	 * it is refused.
	 */
	std::optional<Admission> admit(Pair &pair, const Admission *first);

	[[nodiscard]] const prism::tx::ShardGeometry &geometry() const noexcept { return options_.geometry; }
	[[nodiscard]] prism::tx::Cell cell(std::uint64_t number) const noexcept;
	/** Returns the number of log entries that are not cleared. */
	[[nodiscard]] std::uint64_t entries() const noexcept;

private:
	struct Client {
		std::uint32_t connection = 0; /* 0: none yet */
		std::uint32_t incarnation = 0;
	};

	/* Store */
	[[nodiscard]] std::uint64_t slots() const override { return entry_slots() + options_.geometry.cells; }
	void look_at(std::uint64_t index) override;
	[[nodiscard]] std::uint64_t buffer_of(std::uint64_t index) const override;

	[[nodiscard]] std::uint64_t entry_slots() const noexcept;
	[[nodiscard]] bool is_over(std::uint64_t index) const;
	[[nodiscard]] prism::tx::LogEntry entry(std::uint64_t index) const noexcept;
	bool number_client(Admission &client) const;
	bool take_client(Admission &client);

	const ShardOptions options_;
	std::vector<Client> clients_; /* by client number */
	std::array<unsigned char, 16> secret_{};
};

} // namespace tx_sim
