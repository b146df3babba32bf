/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that the processor changes while peers READ it. They may see a mixture of versions, which a checksum reveals.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace prism::apps
{

/** Returns the CRC-64 (ECMA-182, reflected) of @p bytes, continuing @p crc, that of the bytes before them (0: none). */
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc = 0) noexcept;

/**
 * Stores into memory that peers may be reading. Hidden from the thread sanitizer, as the checksums protect the readers.
 */
void publish(void *to, const void *from, std::size_t bytes) noexcept;

} // namespace prism::apps
