/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include "base/descriptor.hpp"

namespace prism::rs
{

/**
 * The right to be a volume's only writer, held while this object, or a process that has inherited it, lives. It is a
 * lock on the file CONFIGURATION.lock, which stays and holds the number of its owner. The lock is advisory: it binds
 * only writers that take it on the same file. The protocol detects any other writer, and the owner stops writing
 * (ESTALE).
 */
class ExclusiveLock
{
public:
	/**
	 * @p location: of the configuration, as in Configuration::load(). Errors: EBUSY (another process has it),
	 * EOPNOTSUPP (the configuration is in etcd), EOVERFLOW (after 2^24 owners), those of realpath(3), open(2) and
	 * flock(2).
	 */
	static Result<ExclusiveLock> take(const std::string &location);

	/**
	 * Returns the number of this owner of the lock: 1 for the first, increasing from one to the next. It puts the
	 * tags of its writes above those that a predecessor, which may have died, has under way.
	 */
	[[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }

private:
	explicit ExclusiveLock(Descriptor fd) noexcept : fd_(std::move(fd)) {}

	Result<void> begin_generation(const std::string &path);

	Descriptor fd_;
	std::uint32_t generation_ = 0;
};

} // namespace prism::rs
