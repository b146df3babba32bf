/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "counters.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "../verbs/direct_verbs.hpp"
#include "counter_name.hpp"

namespace prism::uverbs
{

namespace
{

std::string_view name_of(const prismdv_counter &counter)
{
	return counter.name;
}

/** Returns the counters that the kernel shows; none if it shows none. Leaves out the file "lifespan", the greatest
 * age of the other values. */
std::vector<prismdv_counter> read_folder(const std::string &folder)
{
	std::vector<prismdv_counter> all;
	std::error_code error; /* a device may vanish at any time */
	std::filesystem::directory_iterator file(folder, error);
	for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
		const std::string name = file->path().filename();
		std::uint64_t value;
		if (name != "lifespan" && std::ifstream(file->path()) >> value)
			all.push_back(make_counter(our_name(name), value));
	}
	std::ranges::sort(all, {}, name_of);
	return all;
}

} // namespace

Counters::Counters(const std::string &device_path)
	: folder_(device_path + "/ports/1/hw_counters"), before_(read_folder(folder_))
{
}

std::vector<prismdv_counter> Counters::read() const
{
	std::vector<prismdv_counter> all = read_folder(folder_);
	for (prismdv_counter &counter : all) {
		const auto old = std::ranges::lower_bound(before_, name_of(counter), {}, name_of);
		if (old != before_.end() && name_of(*old) == name_of(counter))
			counter.value -= old->value;
	}
	return all;
}

} // namespace prism::uverbs
