/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stat/kernel_devices.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/regular_file.hpp"
#include "stat/proc.hpp"
#include "uverbs/counter_name.hpp"

namespace prism::stat
{

namespace
{

namespace fs = std::filesystem;

constexpr std::size_t longest_count = 64; /* of the text */

/* Throws if @p error is a lack of this process, which would look like a lack of devices. */
void check(const std::error_code &error, const fs::path &path)
{
	errno = error.value();
	throw_if_short(path);
}

/* Reads the counters. Leaves out the file "lifespan", the greatest age of the other values. */
std::vector<Count> read_counts(const fs::path &folder)
{
	std::vector<Count> all;
	std::error_code error; /* a device may vanish at any time */
	fs::directory_iterator file(folder, error);
	for (; !error && file != fs::directory_iterator(); file.increment(error)) {
		const std::string name = file->path().filename();
		std::uint64_t value;
		if (name == "lifespan")
			continue;
		std::string text;
		const int unread = read_regular_file(file->path(), longest_count, text);
		check({unread, std::generic_category()}, file->path());
		if (std::istringstream(text) >> value)
			all.push_back({printable(std::string(uverbs::our_name(name))), value, false});
	}
	check(error, folder);
	std::ranges::sort(all, {}, &Count::name);
	return all;
}

} // namespace

void add_kernel_devices(const std::string &folder, const Filter &filter, Snapshot &snapshot)
{
	if (filter.pid)
		return;
	std::vector<Source> found;
	std::error_code error;
	fs::directory_iterator device(folder, error);
	for (; !error && device != fs::directory_iterator(); device.increment(error)) {
		const fs::path counters = device->path() / "ports/1/hw_counters";
		Source source;
		source.kernel = true;
		source.device = printable(device->path().filename());
		std::error_code none; /* as of a loop of links */
		const bool is_prism = fs::exists(counters / "prism_reads", none);
		check(none, counters);
		if (!is_prism || (!filter.device.empty() && filter.device != source.device))
			continue;
		source.counts = read_counts(counters);
		found.push_back(std::move(source));
	}
	check(error, folder);
	std::ranges::sort(found, {}, &Source::device);
	std::ranges::move(found, std::back_inserter(snapshot.sources));
}

} // namespace prism::stat
