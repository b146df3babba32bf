/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/driver/driver_nodes.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/seconds.hpp"
#include "gam/api/lenders.hpp"

namespace prism::gam
{

namespace
{

constexpr double least_cache = 256 * block_size; /* locks keep their blocks there */

JoinOptions join_options(const DriverOptions &options, const DriverStore &store)
{
	JoinOptions join;
	join.master = store.master;
	join.address = options.address;
	join.protocol = store.protocol;
	const double cache = static_cast<double>(store.bytes) * options.cache / 100;
	join.cache_bytes = static_cast<std::size_t>(std::max(cache, least_cache));
	join.node.bytes = least_lent;
	join.timeout = apps::milliseconds(store.timeout);
	return join;
}

} // namespace

Result<std::shared_ptr<DriverNodes>> DriverNodes::join(const DriverOptions &options, const DriverStore &store)
{
	std::shared_ptr<DriverNodes> nodes(new DriverNodes(store)); /* private constructor */
	for (unsigned i = 0; i < options.nodes; i++) {
		const Result<Context> context = store.device.empty() ? Context::open() : Context::open(store.device);
		if (!context)
			return context.error();
		Result<std::unique_ptr<JoinedNode>> joined = JoinedNode::join(*context, join_options(options, store));
		if (!joined)
			return joined.error();
		nodes->joined_.push_back(*std::move(joined));
	}
	return nodes;
}

DriverNodes::~DriverNodes()
{
	for (const auto &joined : joined_) {
		if (const Result<void> left = joined->leave(); !left)
			cli::complain("leaving the global memory: " + left.error().message);
	}
}

Result<Address> DriverNodes::find(unsigned client, const Make &make, const IsWhole &is_whole)
{
	constexpr std::chrono::milliseconds pause{20};
	JoinedNode &joined = joined_of(client);
	const bool makes = client == 0 && store_.loads;
	const auto patience = makes ? std::chrono::milliseconds(0) : apps::milliseconds(store_.timeout);
	const auto until = std::chrono::steady_clock::now() + patience;
	for (;;) {
		Result<Address> found = joined.get_address(store_.name, patience);
		const bool is_missing = found ? !is_usable(joined, *found, is_whole) : found.error().code == ETIMEDOUT;
		if (is_missing && makes)
			return this->make(joined, make);
		if (is_missing && !store_.loads)
			return make_error(ENOENT,
				fmt::format("there is no store '{}' in the global memory", store_.name),
				"load it first: without --no-load");
		if (!found || !is_missing)
			return found;
		if (std::chrono::steady_clock::now() >= until)
			return make_error(
				ETIMEDOUT, "a part of the store has gone with a node, and nobody has made another");
		std::this_thread::sleep_for(pause);
	}
}

bool DriverNodes::is_usable(JoinedNode &joined, Address store, const IsWhole &is_whole) const
{
	if (!store_.loads)
		return true;
	Session session(joined.node());
	return is_whole(session, store);
}

Result<Address> DriverNodes::make(JoinedNode &joined, const Make &make)
{
	const std::vector<NodeId> nodes = await_lenders(joined, apps::milliseconds(store_.timeout));
	if (nodes.empty())
		return make_error(ENODEV, "no node of the global memory lends any", "start prism-gam-node");
	Session session(joined.node());
	Result<Address> made = make(session, nodes);
	if (!made)
		return made;
	if (Result<void> told = joined.put(store_.name, *made); !told)
		return told.error();
	return made;
}

} // namespace prism::gam
