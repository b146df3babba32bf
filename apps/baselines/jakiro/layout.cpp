/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "layout.hpp"

#include "base/wire.hpp"

#include <cerrno>
#include <string>

namespace prism::kv::jakiro
{

std::vector<std::byte> Layout::serialize() const
{
	std::vector<std::byte> own(size);
	apps::store(&own[0], seed);
	apps::store(&own[8], partitions);
	return own;
}

Result<Layout> Layout::parse(std::span<const std::byte> own)
{
	if (own.size() != size)
		return make_error(EBADMSG, "does not say how keys are shared out");
	Layout layout;
	layout.seed = apps::load<std::uint64_t>(&own[0]);
	layout.partitions = apps::load<std::uint32_t>(&own[8]);
	if (layout.partitions == 0 || layout.partitions > partition_limit)
		return make_error(EBADMSG, "has " + std::to_string(layout.partitions) + " partitions");
	return layout;
}

} // namespace prism::kv::jakiro
