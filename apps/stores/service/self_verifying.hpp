/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory that the processor changes while peers READ it: they may see a mixture, and a checksum tells them. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::apps
{

/** CRC-64 (ECMA-182, reflected) of @p bytes, continuing @p crc, that of what stands before them (0: nothing). */
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc = 0) noexcept;

/** Stores into memory that peers may be reading: no concern of the thread sanitizer, as the checksums tell. */
void publish(void *to, const void *from, std::size_t bytes) noexcept;

} // namespace prism::apps
