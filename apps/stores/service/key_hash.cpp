/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service/key_hash.hpp"

#include <isa-l/crc64.h>

namespace prism::apps
{

std::uint64_t hash_key(std::span<const std::byte> key, std::uint64_t seed) noexcept
{
	return mix(crc64_jones_refl(seed, reinterpret_cast<const unsigned char *>(key.data()), key.size()) ^ seed);
}

} // namespace prism::apps
