/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "store_secret.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sodium.h>

#include "base/wire.hpp"
#include "common/regular_file.hpp"

namespace prism::tx
{

StoreSecret StoreSecret::random()
{
	StoreSecret made;
	randombytes_buf(made.key_.data(), made.key_.size());
	return made;
}

Result<StoreSecret> StoreSecret::of(std::span<const std::byte> bytes)
{
	if (bytes.size() < shortest || bytes.size() > longest)
		return make_error(EINVAL,
			fmt::format("a secret has {} to {} bytes, not {}{}", shortest, longest, bytes.size(),
				bytes.size() > longest ? " or more" : ""),
			"make one: head -c 32 /dev/urandom >FILE");
	StoreSecret made;
	crypto_generichash(made.key_.data(), made.key_.size(), reinterpret_cast<const unsigned char *>(bytes.data()),
		bytes.size(), nullptr, 0);
	return made;
}

Result<StoreSecret> StoreSecret::read(const std::string &file)
{
	const Result<std::string> bytes = apps::read_regular_file(file, longest, "the secret in");
	if (!bytes)
		return bytes.error();
	Result<StoreSecret> made = of(std::as_bytes(std::span(*bytes)));
	return made ? made : Error{made.error().code, file + ": " + made.error().message};
}

std::uint64_t StoreSecret::sign(Word word, std::uint64_t store, std::uint64_t what) const noexcept
{
	std::array<std::byte, 3 * sizeof(std::uint64_t)> said;
	apps::store(&said[0], static_cast<std::uint64_t>(word));
	apps::store(&said[8], store);
	apps::store(&said[16], what);
	/* The library's shortest hash has 16 bytes. */
	std::array<std::byte, 16> hash;
	crypto_generichash(reinterpret_cast<unsigned char *>(hash.data()), hash.size(),
		reinterpret_cast<const unsigned char *>(said.data()), said.size(), key_.data(), key_.size());
	return apps::load<std::uint64_t>(hash.data());
}

std::uint64_t StoreSecret::ticket(std::uint64_t store, std::uint32_t client, std::uint32_t incarnation) const noexcept
{
	return sign(Word::ticket, store, std::uint64_t{client} << 32 | incarnation);
}

std::uint64_t StoreSecret::proof_of_life(std::uint64_t store, std::uint64_t identity) const noexcept
{
	return sign(Word::life, store, identity);
}

bool StoreSecret::same(std::uint64_t signature, std::uint64_t other) noexcept
{
	return sodium_memcmp(&signature, &other, sizeof(signature)) == 0;
}

} // namespace prism::tx
