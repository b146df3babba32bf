/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The memory that a server or a client needs: logged, and checked against the machine's memory, before it is taken. */
#pragma once

#include <prism/device.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "service/log.hpp"

namespace prism::apps
{

/** Parts of a program's memory, and their sum. */
class MemoryPlan
{
public:
	void add(const std::string &what, std::uint64_t bytes);

	/** Returns the bytes; the largest number if the sum overflows. */
	[[nodiscard]] std::uint64_t total() const noexcept { return total_; }
	/** Returns a text such as "1.5 GiB: table 512.0 MiB, 1100 buffers of 1048640 bytes 1.0 GiB". */
	[[nodiscard]] std::string text() const;

private:
	struct Part {
		std::string what;
		std::uint64_t bytes = 0;
	};
	std::vector<Part> parts_;
	std::uint64_t total_ = 0;
};

/** Returns a text such as "1.5 GiB". */
std::string readable_bytes(std::uint64_t bytes);

/** Memory that one limit still leaves. */
struct MemoryLimit {
	std::uint64_t bytes = 0;
	std::string what; /**< such as "MemAvailable of /proc/meminfo" */
};

/**
 * Returns all limits that this process has now: MemAvailable, those of its memory cgroup and the groups around it,
 * RLIMIT_AS, and, if @p pinned, RLIMIT_MEMLOCK. Limits that cannot be read are ignored. @p root: of /proc and /sys, for
 * tests.
 */
std::vector<MemoryLimit> memory_limits(bool pinned, const std::filesystem::path &root = "/");

/** Errors: ENOMEM, if @p plan is above one of @p limits. @p next_step names the options that make it smaller. */
Result<void> check_memory(const MemoryPlan &plan, const std::vector<MemoryLimit> &limits, std::string_view next_step);

/**
 * Checks @p plan against the limits of this process, and logs it if it fits. Devices of the kernel pin registered
 * memory. Call it before the memory is taken. Errors: those of check_memory().
 */
Result<void> announce_memory(
	const MemoryPlan &plan, const Context &context, const LogSink &log, std::string_view next_step);

/**
 * Returns the number of buffers of @p buffer_size bytes to have beside those of @p live objects: for operations under
 * way, and for buffers on their way back, which clients report in batches. 4096; fewer if they are large: as many as
 * fill 64 MiB, or a quarter of @p live if that is more; at least 16.
 */
std::uint32_t spare_buffers(std::uint64_t live, std::uint64_t buffer_size) noexcept;

} // namespace prism::apps
