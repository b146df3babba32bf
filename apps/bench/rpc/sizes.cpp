/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/sizes.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "bench/rpc/echo.hpp"

namespace prism::echo
{

namespace
{

constexpr std::uint32_t heaviest = 1'000'000;
constexpr std::size_t most_sizes = 64;

/** Returns true if all of @p text is a number from @p least to @p most. */
bool read_number(std::string_view text, std::uint32_t least, std::uint32_t most, std::uint32_t &number) noexcept
{
	const char *const end = text.data() + text.size();
	const auto [rest, error] = std::from_chars(text.data(), end, number);
	return error == std::errc{} && rest == end && number >= least && number <= most;
}

} // namespace

Sizes::Sizes(std::vector<Share> shares) : shares_(std::move(shares))
{
	std::sort(shares_.begin(), shares_.end(), [](const Share &a, const Share &b) { return a.size < b.size; });
	for (const Share &share : shares_)
		sum_ += share.weight;
}

std::string Sizes::parse(const std::string &text)
{
	std::vector<Share> shares;
	for (std::size_t begin = 0; begin <= text.size();) {
		const std::size_t end = std::min(text.find(',', begin), text.size());
		const std::string part = text.substr(begin, end - begin);
		const std::size_t colon = std::min(part.find(':'), part.size());
		Share share;
		if (!read_number(std::string_view(part).substr(0, colon), 0, longest_payload, share.size))
			return fmt::format("'{}' is no size: write bytes, 0 to {}", part, longest_payload);
		if (colon < part.size() &&
			!read_number(std::string_view(part).substr(colon + 1), 1, heaviest, share.weight))
			return fmt::format("'{}' has no weight: write BYTES:WEIGHT, 1 to {}", part, heaviest);
		for (const Share &other : shares) {
			if (other.size == share.size)
				return fmt::format("{} bytes are there twice: give them one weight", share.size);
		}
		shares.push_back(share);
		begin = end + 1;
	}
	if (shares.size() > most_sizes)
		return fmt::format("at most {} sizes are possible", most_sizes);
	*this = Sizes(std::move(shares));
	return {};
}

std::size_t Sizes::next(bench::Random &random) const noexcept
{
	if (shares_.size() == 1)
		return 0;
	std::uint64_t drawn = random() % sum_;
	std::size_t place = 0;
	for (; drawn >= shares_[place].weight; place++)
		drawn -= shares_[place].weight;
	return place;
}

std::uint32_t Sizes::largest() const noexcept
{
	return shares_.back().size;
}

std::string Sizes::text() const
{
	std::string text;
	for (const Share &share : shares_) {
		text += fmt::format("{}{}", text.empty() ? "" : ",", share.size);
		if (share.weight != 1)
			text += fmt::format(":{}", share.weight);
	}
	return text;
}

} // namespace prism::echo
