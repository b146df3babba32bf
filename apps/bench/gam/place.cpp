/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/place.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace prism::gam::micro
{

Result<void> Place::meet(const std::string &step, std::size_t nodes)
{
	const auto key = [&step](std::size_t node) { return "bench/" + step + "/" + std::to_string(node); };
	Result<void> told = put(key(node().self()), Address(1));
	for (std::size_t i = 0; i < nodes && told; i++) {
		if (const Result<Address> there = get(key(i)); !there)
			return there.error();
	}
	return told;
}

Result<void> Place::begin_together()
{
	constexpr auto head_start = std::chrono::milliseconds(50);
	const std::string key = "bench/start";
	const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
	if (node().self() == 0) {
		const auto start = std::chrono::nanoseconds(now() + head_start);
		if (Result<void> told = put(key, Address(static_cast<std::uint64_t>(start.count()))); !told)
			return told;
	}
	const Result<Address> start = get(key);
	if (!start)
		return start.error();
	const auto left = std::chrono::nanoseconds(static_cast<std::int64_t>(start->value)) - now();
	if (left.count() > 0 && left <= head_start) /* otherwise it is of another clock, or past */
		std::this_thread::sleep_for(left);
	return {};
}

} // namespace prism::gam::micro
