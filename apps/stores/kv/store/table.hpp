/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <span>

#include "layout.hpp"

namespace prism::kv
{

/** A count of the table's slots. Clients go on meanwhile. */
struct TableCount {
	std::uint64_t members = 0;
	std::uint64_t at_home = 0; /**< of these, in their home slots, so hit directly */
	std::uint64_t claims = 0;
	std::uint64_t stray = 0; /**< in a bucket that is not the key's: damage */
};

/** The slots as the server's CPU sees them. Reads only: changes go through a queue pair. */
class Table
{
public:
	Table(Slot *first, Geometry geometry) noexcept : slots_(first, geometry.slot_count()), geometry_(geometry) {}

	[[nodiscard]] const Geometry &geometry() const noexcept { return geometry_; }

	/** A copy of slot @p index, torn if a client is changing it just now. */
	[[nodiscard]] Slot at(std::uint64_t index) const noexcept;
	[[nodiscard]] TableCount count() const noexcept;

private:
	std::span<Slot> slots_;
	Geometry geometry_;
};

} // namespace prism::kv
