/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "layout.hpp"

namespace prism::kv
{

/** The secret of a server's fingerprints; its clients learn it when they connect. */
using HashKey = std::array<unsigned char, 16>;

/** Returns a new secret. */
HashKey random_hash_key() noexcept;

/**
 * Returns the member's fingerprint of @p key: SipHash-2-4 with 128 bits, so that without the secret no client can
 * choose keys that collide. Its claim() is never zero. Thread-safe.
 */
Fingerprint fingerprint_of(const HashKey &secret, std::span<const std::byte> key) noexcept;

} // namespace prism::kv
