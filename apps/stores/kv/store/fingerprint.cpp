/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "fingerprint.hpp"

#include <sodium.h>

namespace prism::kv
{

static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof(HashKey));
static_assert(crypto_shorthash_siphashx24_BYTES == sizeof(Fingerprint));

HashKey random_hash_key() noexcept
{
	HashKey secret;
	randombytes_buf(secret.data(), secret.size());
	return secret;
}

Fingerprint fingerprint_of(const HashKey &secret, std::span<const std::byte> key) noexcept
{
	Fingerprint hash;
	crypto_shorthash_siphashx24(reinterpret_cast<unsigned char *>(&hash),
		reinterpret_cast<const unsigned char *>(key.data()), key.size(), secret.data());
	if (!hash.claim().low && !hash.high) /* would look like an empty slot */
		hash.high = 1;
	return hash.member();
}

} // namespace prism::kv
