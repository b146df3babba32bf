/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "client.hpp"
#include "flaw.hpp"
#include "kv/store/table.hpp"
#include "simulation/store.hpp"

namespace kv_sim
{

using simulation::Surroundings;

struct ServerOptions : simulation::StoreOptions {
	std::uint32_t buckets = 2;
	std::uint32_t max_value_size = 0;
	Flaw flaw = Flaw::none;
};

struct ServerFigures : simulation::StoreFigures {
	std::uint64_t claims = 0;
};

/** Memory and server of a store, like PrismServer, on a simulated device. */
class Server final : public simulation::Store
{
public:
	Server(test::Node &node, Surroundings &around, const ServerOptions &options);

	/** Connects @p pair. */
	Admission admit(Pair &pair);

	[[nodiscard]] ServerFigures figures() const { return {Store::figures(), claims_}; }
	[[nodiscard]] const prism::kv::Table &table() const noexcept { return table_; }
	[[nodiscard]] const prism::kv::HashKey &secret() const noexcept { return secret_; }

private:
	/* Store */
	[[nodiscard]] std::uint64_t slots() const override { return table_.geometry().slot_count(); }
	void look_at(std::uint64_t index) override;
	[[nodiscard]] std::uint64_t buffer_of(std::uint64_t index) const override
	{
		return table_.at(index).object.ptr;
	}

	bool empty_claim(std::uint64_t index, const prism::kv::Slot &claim);

	const ServerOptions options_;
	prism::kv::Table table_;
	prism::kv::HashKey secret_{};
	std::shared_ptr<std::uint64_t> next_version_ = std::make_shared<std::uint64_t>(1);
	std::uint64_t claims_ = 0;
};

} // namespace kv_sim
