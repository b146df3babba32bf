/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include <nlohmann/json.hpp>

namespace prism::bench
{

/** Failures by errno value; add() does not allocate. */
class ErrorCounts
{
public:
	void add(int error) noexcept;
	void merge(const ErrorCounts &other) noexcept;

	/** Conversion for the pipe between processes, and the reverse, which throws nlohmann::json::exception. */
	[[nodiscard]] nlohmann::json to_json() const { return counts_; }
	void assign(const nlohmann::json &json) { json.get_to(counts_); }

	/** Returns the counts by errno value; values without room of their own are under 0. */
	[[nodiscard]] std::map<int, std::uint64_t> all() const;

private:
	static constexpr std::size_t room = 160; /* Linux's errno values */
	std::array<std::uint64_t, room> counts_{};
};

} // namespace prism::bench
