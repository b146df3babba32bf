/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/thread_context.hpp"

#include <map>
#include <string_view>

#include "common/device_counters.hpp"

namespace prism::bench
{

namespace
{

thread_local std::map<std::string, Context> contexts; /* by device */

} // namespace

Result<Context> context_of_thread(const std::string &device)
{
	if (const auto kept = contexts.find(device); kept != contexts.end())
		return kept->second;
	Result<Context> context = Context::open(device, Progress::caller);
	if (context)
		contexts.emplace(device, *context);
	return context;
}

Traffic traffic_of(const Context &context)
{
	Traffic sum;
	for (const prismdv_counter &counter : apps::device_counters(context)) {
		for (const auto &[name, member] : Traffic::counters) {
			if (std::string_view(name) == counter.name)
				sum.*member += counter.value;
		}
	}
	return sum;
}

Traffic traffic_of_thread()
{
	Traffic sum;
	for (const auto &[device, context] : contexts)
		sum += traffic_of(context);
	return sum;
}

} // namespace prism::bench
