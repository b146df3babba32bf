/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/frame/workload.hpp"

namespace prism::echo
{

/** The sizes of responses, each with its share. Not changed after it was read. */
class Sizes
{
public:
	Sizes() : Sizes({{32, 1}}) {}

	/**
	 * Reads "32,64:3,8192": sizes in bytes, each with its weight, or 1.
	 * @return what is wrong with @p text, or nothing.
	 */
	[[nodiscard]] std::string parse(const std::string &text);

	/** Draws the index of the next response's size. */
	[[nodiscard]] std::size_t next(bench::Random &random) const noexcept;
	[[nodiscard]] std::uint32_t operator[](std::size_t place) const noexcept { return shares_[place].size; }
	[[nodiscard]] std::size_t count() const noexcept { return shares_.size(); }
	[[nodiscard]] std::uint32_t largest() const noexcept;
	/** Returns the text, as parse() reads it. */
	[[nodiscard]] std::string text() const;

private:
	struct Share {
		std::uint32_t size = 0;
		std::uint32_t weight = 1;
	};

	explicit Sizes(std::vector<Share> shares);

	std::vector<Share> shares_; /* at least one, of different sizes, in their order */
	std::uint64_t sum_ = 0;     /* of the weights */
};

} // namespace prism::echo
