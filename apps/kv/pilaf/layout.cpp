/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "layout.hpp"

#include "kv/two_sided/key_hash.hpp"

#include <cstring>
#include <isa-l/crc64.h>

namespace prism::kv::pilaf
{

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc) noexcept
{
	return crc64_ecma_refl(crc, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
}

std::uint64_t Entry::compute_crc() const noexcept
{
	return crc64({reinterpret_cast<const std::byte *>(this), offsetof(Entry, crc)});
}

Candidates candidates(std::uint64_t hash, std::uint64_t entries) noexcept
{
	Candidates places;
	for (std::size_t way = 0; way < ways; way++)
		places[way] = reduce(mix(hash + way * 0x9e3779b97f4a7c15), entries);
	return places;
}

#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"), noinline)) void publish(void *to, const void *from, std::size_t bytes) noexcept
{
	/* volatile: a loop that the compiler took for memcpy would be looked at again. */
	auto *out = static_cast<volatile unsigned char *>(to);
	const auto *in = static_cast<const unsigned char *>(from);
	for (std::size_t i = 0; i < bytes; i++)
		out[i] = in[i];
}
#else
void publish(void *to, const void *from, std::size_t bytes) noexcept
{
	if (bytes)
		std::memcpy(to, from, bytes);
}
#endif

} // namespace prism::kv::pilaf
