/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace prism::rs
{

/** Address that a replica listens at. */
struct ReplicaAddress {
	std::string host; /**< name or address */
	std::uint16_t port = 0;

	friend bool operator==(const ReplicaAddress &, const ReplicaAddress &) = default;
};

/**
 * The description of a volume, fixed when the volume is made. Replicas and clients compare their configurations, so
 * that no client writes to another volume, or to one with other replicas.
 */
struct Configuration {
	static constexpr std::uint32_t smallest_block = 512;
	static constexpr std::uint32_t largest_block = 64 << 10;
	static constexpr std::size_t most_replicas = 15;

	std::uint64_t volume = 0;     /**< random, not 0 */
	std::uint32_t block_size = 0; /**< bytes: a power of two, 512 to 65536 */
	std::uint64_t blocks = 0;
	std::vector<ReplicaAddress> replicas; /**< 2f+1: an odd number */

	friend bool operator==(const Configuration &, const Configuration &) = default;

	/** Returns f: the number of replicas that may be gone. */
	[[nodiscard]] unsigned failures() const noexcept { return static_cast<unsigned>(replicas.size() - 1) / 2; }
	/** Returns f+1. */
	[[nodiscard]] unsigned quorum() const noexcept { return failures() + 1; }
	/** Returns the bytes of the volume. */
	[[nodiscard]] std::uint64_t size() const noexcept { return blocks * block_size; }

	/** Makes a new volume with a number of its own. Errors: EINVAL, see check(). */
	static Result<Configuration> make(
		std::uint32_t block_size, std::uint64_t blocks, std::vector<ReplicaAddress> replicas);

	/** Errors: EINVAL; the message names the impossible value. */
	[[nodiscard]] Result<void> check() const;

	[[nodiscard]] std::string to_json() const;
	/** Errors: EINVAL (no configuration, or one that check() refuses). */
	static Result<Configuration> from_json(const std::string &text);

	/**
	 * Reads the configuration at @p location: a path, or etcd://HOST:PORT/KEY. @p patience: time to wait for etcd's
	 * answer. Errors: ENOENT, those of open(2), ECONNREFUSED and the like (etcd does not answer), those of
	 * from_json().
	 */
	static Result<Configuration> load(
		const std::string &location, std::chrono::milliseconds patience = std::chrono::seconds(5));

	/** Writes it to @p location, where there must be none yet. @p patience and errors: as above, and EEXIST. */
	[[nodiscard]] Result<void> create(
		const std::string &location, std::chrono::milliseconds patience = std::chrono::seconds(5)) const;
};

} // namespace prism::rs
