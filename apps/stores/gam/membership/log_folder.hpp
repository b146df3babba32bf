/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "gam/coherence/address.hpp"
#include "gam/membership/process_lock.hpp"

namespace prism::gam
{

/** The owner of a log, and the last life that has written it. */
struct LogOwner {
	std::uint64_t cluster = 0;
	NodeId node = no_node;
	std::uint64_t incarnation = 0;
};

/** The folder of a log. Nobody else can use it while this object lives, and the process that opened it. */
class LogFolder
{
public:
	/**
	 * Opens @p path, and makes it if necessary. Errors: EBUSY (another process or object has it), those of the file
	 * system.
	 */
	static Result<LogFolder> open(const std::filesystem::path &path);

	[[nodiscard]] const std::filesystem::path &path() const noexcept { return path_; }
	/** Returns the owner; nothing: the log is new, or is_unreadable(). */
	[[nodiscard]] const std::optional<LogOwner> &owner() const noexcept { return owner_; }
	/** Returns true if there are segments, but none tells whose they are. */
	[[nodiscard]] bool is_unreadable() const noexcept { return is_unreadable_; }

private:
	LogFolder(std::filesystem::path path, ProcessLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
	Result<void> find_owner();

	std::filesystem::path path_;
	ProcessLock lock_;
	std::optional<LogOwner> owner_;
	bool is_unreadable_ = false;
};

} // namespace prism::gam
