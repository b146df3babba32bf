/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service/self_verifying.hpp"

#include <cstring>
#include <isa-l/crc64.h>

namespace prism::apps
{

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc) noexcept
{
	return crc64_ecma_refl(crc, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
}

#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"), noinline)) void publish(void *to, const void *from, std::size_t bytes) noexcept
{
	/* volatile keeps the compiler from turning this loop into memcpy(), which the sanitizer checks. */
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

} // namespace prism::apps
