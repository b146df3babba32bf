/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/thread_context.hpp"

#include <map>

namespace prism::bench
{

Result<Context> context_of_thread(const std::string &device)
{
	static thread_local std::map<std::string, Context> contexts; /* by device */
	if (const auto kept = contexts.find(device); kept != contexts.end())
		return kept->second;
	Result<Context> context = Context::open(device, Progress::caller);
	if (context)
		contexts.emplace(device, *context);
	return context;
}

} // namespace prism::bench
