/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace prism::tx
{

/**
 * Secret that only the shards of a store know. Clients carry words from one shard to another; the signature shows the
 * receiver that a shard of its own store has said them. Signatures are keyed BLAKE2b of 64 bits: each guess needs a
 * question to a shard. docs/prism-tx.md, "Who may do what".
 */
class StoreSecret
{
public:
	static constexpr std::size_t shortest = 16; /**< bytes */
	static constexpr std::size_t longest = 4096;

	/** Makes a secret that no other shard has: for a store with a single shard. */
	static StoreSecret random();
	/** Makes the secret from @p bytes, the same for all shards. Errors: EINVAL (too few of them, or too many). */
	static Result<StoreSecret> of(std::span<const std::byte> bytes);
	/** Likewise, from the contents of @p file. Errors: those of open(2) and read(2), too. */
	static Result<StoreSecret> read(const std::string &file);

	/**
	 * Returns the signature of shard 0, of identity @p store: it has admitted client number @p client of
	 * @p incarnation.
	 */
	[[nodiscard]] std::uint64_t ticket(
		std::uint64_t store, std::uint32_t client, std::uint32_t incarnation) const noexcept;
	/** Returns the signature of the shard of @p identity: it belongs to the store of that shard 0. */
	[[nodiscard]] std::uint64_t proof_of_life(std::uint64_t store, std::uint64_t identity) const noexcept;
	/** Compares in constant time. */
	static bool same(std::uint64_t signature, std::uint64_t other) noexcept;

private:
	enum class Word : std::uint64_t {
		ticket = 1,
		life = 2
	};

	[[nodiscard]] std::uint64_t sign(Word word, std::uint64_t store, std::uint64_t what) const noexcept;

	std::array<unsigned char, 32> key_{};
};

} // namespace prism::tx
