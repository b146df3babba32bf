/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/log_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "gam/membership/log_segment.hpp"

namespace prism::gam
{

namespace
{

/* Returns true for a segment of which a power failure has kept only the name. */
bool is_blank(std::span<const std::byte> bytes) noexcept
{
	const auto head = bytes.first(std::min(bytes.size(), SegmentHead::size));
	return std::all_of(head.begin(), head.end(), [](std::byte byte) { return byte == std::byte{}; });
}

} // namespace

Result<LogFolder> LogFolder::open(const std::filesystem::path &path)
{
	std::error_code code;
	std::filesystem::create_directories(path, code);
	if (code)
		return failed(code, path);
	Result<ProcessLock> lock = ProcessLock::take(path / "lock");
	if (!lock && lock.error().code == EBUSY)
		return make_error(
			EBUSY, "the log in " + path.string(), "another node uses it: give each a folder of its own");
	if (!lock)
		return lock.error();
	LogFolder folder(path, *std::move(lock));
	if (auto found = folder.find_owner(); !found)
		return found.error();
	return folder;
}

Result<void> LogFolder::find_owner()
{
	std::error_code code;
	std::uint64_t newest = 0;
	bool has_damaged = false;
	for (std::filesystem::directory_iterator at(path_, code), end; !code && at != end; at.increment(code)) {
		if (!number_of(at->path()) || at->path().extension() != ".log")
			continue;
		const auto segment = Segment::open(at->path());
		if (!segment)
			return segment.error();
		const auto head = SegmentHead::parse(segment->bytes());
		has_damaged |= !head && !is_blank(segment->bytes());
		if (!head || (owner_ && head->number < newest))
			continue;
		newest = head->number;
		owner_ = {head->cluster, head->node, head->incarnation};
	}
	if (code)
		return failed(code, path_);
	is_unreadable_ = !owner_ && has_damaged;
	return {};
}

} // namespace prism::gam
