/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "base/saturating.hpp"

namespace prism::apps
{

namespace
{

constexpr std::uint64_t kib = 1024;

std::optional<std::uint64_t> number_of(std::string_view text)
{
	std::uint64_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (error != std::errc{} || end == text.data())
		return std::nullopt;
	return number;
}

/** Returns the number in @p file, which has nothing else; no value if it says "max". */
std::optional<std::uint64_t> number_in(const std::filesystem::path &file)
{
	std::ifstream in(file);
	std::string text;
	return in >> text ? number_of(text) : std::nullopt;
}

/** Returns the number after @p name in a file of lines "NAME NUMBER ...". */
std::optional<std::uint64_t> number_in(const std::filesystem::path &file, std::string_view name)
{
	std::ifstream in(file);
	std::string word, number;
	for (std::string rest; in >> word >> number; std::getline(in, rest)) {
		if (word == name)
			return number_of(number);
	}
	return std::nullopt;
}

/** Likewise from a file that counts KiB, in bytes. */
std::optional<std::uint64_t> kib_in(const std::filesystem::path &file, std::string_view name)
{
	const auto number = number_in(file, name);
	return number ? std::optional(product_of(*number, kib)) : std::nullopt;
}

/** The file names of the two versions of cgroups. */
struct CgroupFiles {
	const char *limit;
	const char *usage;
	const char *inactive; /* its line in memory.stat: file pages, which are given up for others */
	const char *active;
};
constexpr CgroupFiles version_1{
	"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"};
constexpr CgroupFiles version_2{"memory.max", "memory.current", "inactive_file", "active_file"};

void add_group(const std::filesystem::path &folder, const CgroupFiles &names, std::vector<MemoryLimit> &limits)
{
	const auto limit = number_in(folder / names.limit);
	const auto used = number_in(folder / names.usage);
	if (!limit || !used)
		return;
	const std::uint64_t files = sum_of(number_in(folder / "memory.stat", names.inactive).value_or(0),
		number_in(folder / "memory.stat", names.active).value_or(0));
	const std::uint64_t taken = *used - std::min(files, *used);
	limits.push_back({*limit - std::min(taken, *limit),
		fmt::format("what {} leaves of {}", (folder / names.limit).string(), readable_bytes(*limit))});
}

/** Adds the limits of the cgroup in @p line of /proc/self/cgroup, and those of all its parents. */
void add_groups(const std::string &line, const std::filesystem::path &root, std::vector<MemoryLimit> &limits)
{
	const std::size_t first = line.find(':'), second = line.find(':', first + 1);
	if (first == std::string::npos || second == std::string::npos)
		return;
	const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
	const bool is_version_1 = controllers.find(",memory,") != std::string::npos;
	if (!is_version_1 && controllers != ",,")
		return;
	const std::filesystem::path top = root / (is_version_1 ? "sys/fs/cgroup/memory" : "sys/fs/cgroup");
	std::filesystem::path group = std::filesystem::path(line.substr(second + 1)).relative_path();
	for (; !group.empty(); group = group.parent_path())
		add_group(top / group, is_version_1 ? version_1 : version_2, limits);
	add_group(top, is_version_1 ? version_1 : version_2, limits);
}

std::uint64_t left_of(const rlimit &limit, std::uint64_t used)
{
	return limit.rlim_cur - std::min<std::uint64_t>(used, limit.rlim_cur);
}

void add_process_limits(bool pinned, const std::filesystem::path &root, std::vector<MemoryLimit> &limits)
{
	const std::filesystem::path status = root / "proc/self/status";
	rlimit limit{};
	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		limits.push_back(
			{left_of(limit, kib_in(status, "VmSize:").value_or(0)), "what RLIMIT_AS leaves (ulimit -v)"});
	/* Root has CAP_IPC_LOCK, which lifts this limit. */
	if (pinned && geteuid() && !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		limits.push_back({left_of(limit, kib_in(status, "VmPin:").value_or(0)),
			"what RLIMIT_MEMLOCK leaves (ulimit -l, or LimitMEMLOCK= of a unit)"});
}

} // namespace

void MemoryPlan::add(const std::string &what, std::uint64_t bytes)
{
	parts_.push_back({what, bytes});
	total_ = sum_of(total_, bytes);
}

std::string MemoryPlan::text() const
{
	std::string text = readable_bytes(total_) + ":";
	for (const Part &part : parts_)
		text += fmt::format(
			"{} {} {}", &part == &parts_.front() ? "" : ",", part.what, readable_bytes(part.bytes));
	return text;
}

std::string readable_bytes(std::uint64_t bytes)
{
	constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	if (bytes < kib)
		return fmt::format("{} bytes", bytes);
	double value = static_cast<double>(bytes) / kib;
	std::size_t unit = 0;
	for (; value >= kib && unit + 1 < units.size(); unit++)
		value /= kib;
	return fmt::format("{:.1f} {}", value, units[unit]);
}

std::vector<MemoryLimit> memory_limits(bool pinned, const std::filesystem::path &root)
{
	std::vector<MemoryLimit> limits;
	if (const auto available = kib_in(root / "proc/meminfo", "MemAvailable:"))
		limits.push_back({*available, "MemAvailable of /proc/meminfo"});
	std::ifstream groups(root / "proc/self/cgroup");
	for (std::string line; std::getline(groups, line);)
		add_groups(line, root, limits);
	add_process_limits(pinned, root, limits);
	return limits;
}

Result<void> check_memory(const MemoryPlan &plan, const std::vector<MemoryLimit> &limits, std::string_view next_step)
{
	const auto less = [](const MemoryLimit &one, const MemoryLimit &other) { return one.bytes < other.bytes; };
	const auto least = std::min_element(limits.begin(), limits.end(), less);
	if (least == limits.end() || plan.total() <= least->bytes)
		return {};
	return make_error(ENOMEM,
		fmt::format("memory: {}; there are {}, {}", plan.text(), readable_bytes(least->bytes), least->what),
		next_step);
}

Result<void> announce_memory(
	const MemoryPlan &plan, const Context &context, const LogSink &log, std::string_view next_step)
{
	if (Result<void> checked = check_memory(plan, memory_limits(!context.is_userspace()), next_step); !checked)
		return checked;
	log_to(log, LogLevel::info, "memory: " + plan.text());
	return {};
}

std::uint32_t spare_buffers(std::uint64_t live, std::uint64_t buffer_size) noexcept
{
	constexpr std::uint64_t usual = 4096, least = 16, bytes = 64 << 20;
	const std::uint64_t fill = bytes / std::max<std::uint64_t>(buffer_size, 1);
	return static_cast<std::uint32_t>(std::clamp(std::max(fill, live / 4), least, usual));
}

} // namespace prism::apps
