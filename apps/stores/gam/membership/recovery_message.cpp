/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/recovery_message.hpp"

#include <algorithm>

#include "base/wire.hpp"

namespace prism::gam
{

namespace
{

constexpr unsigned holding_at = 56;

} // namespace

std::vector<std::byte> serialize(std::span<const Item> items)
{
	std::vector<std::byte> data(block_size);
	std::byte *to = data.data();
	for (const Item &item : items.first(std::min(items.size(), Item::in_message))) {
		apps::store(to, item.block | std::uint64_t{static_cast<std::uint8_t>(item.holding)} << holding_at);
		apps::store(to + 8, item.counter);
		to += Item::size;
	}
	return data;
}

std::optional<std::vector<Item>> parse_items(std::span<const std::byte> data, std::uint64_t blocks)
{
	std::vector<Item> items;
	for (std::size_t at = 0; at + Item::size <= data.size(); at += Item::size) {
		const auto word = apps::load<std::uint64_t>(&data[at]);
		const auto holding = static_cast<std::uint8_t>(word >> holding_at);
		if (!holding)
			break;
		Item item;
		item.block = word & ((std::uint64_t{1} << holding_at) - 1);
		item.holding = static_cast<Holding>(holding);
		item.counter = apps::load<std::uint64_t>(&data[at + 8]);
		if (item.holding > Holding::logged_doubtful || item.block >= blocks)
			return std::nullopt;
		items.push_back(item);
	}
	return items;
}

} // namespace prism::gam
