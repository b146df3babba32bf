/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/fetch/layout.hpp"

#include <cstring>
#include <isa-l/crc.h>

namespace prism::rpc::fetch
{

std::optional<Layout> Layout::of(std::uint32_t calls, std::uint64_t requests_size, std::uint64_t responses_size)
{
	const Layout empty{calls, 0, 0};
	const std::uint64_t before = empty.request_offset(0);
	if (calls == 0 || requests_size <= before)
		return std::nullopt;
	const std::uint64_t request = (requests_size - before) / calls;
	const std::uint64_t response = responses_size / calls;
	if (request < frame_size || response < frame_size)
		return std::nullopt;
	const Layout layout{calls, request - frame_size, response - frame_size};
	if (layout.requests_size() != requests_size || layout.responses_size() != responses_size)
		return std::nullopt;
	return layout;
}

std::uint32_t Registration::checksum() const noexcept
{
	Registration fields = *this;
	fields.crc = 0;
	return ~crc32_iscsi(reinterpret_cast<unsigned char *>(&fields), sizeof(fields), ~std::uint32_t{0});
}

} // namespace prism::rpc::fetch
