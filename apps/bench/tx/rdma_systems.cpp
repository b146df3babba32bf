/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/tx/rdma_systems.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/seconds.hpp"
#include "bench/frame/thread_context.hpp"
#include "farm/farm_client.hpp"
#include "locking/locking_client.hpp"
#include "tx/store/prism_client.hpp"

namespace prism::tx
{

namespace
{

using Client = std::unique_ptr<TransactionClient>;

Result<Client> connect_prism(const SystemOptions &options, unsigned number)
{
	Result<Context> context = bench::context_of_thread(options.device);
	if (!context)
		return context.error();
	PrismClientOptions client;
	client.depth = options.depth;
	client.setup_timeout = apps::milliseconds(options.timeout);
	client.retry = retry_of(options, number);
	Result<std::unique_ptr<PrismClient>> connected = PrismClient::connect(*context, options.shards, client);
	if (!connected)
		return connected.error();
	return Client(*std::move(connected));
}

template <typename Rival, typename Options>
Result<Client> connect_by_calls(const SystemOptions &options, unsigned number, Options client)
{
	Result<Context> context = bench::context_of_thread(options.device);
	if (!context)
		return context.error();
	client.depth = options.depth;
	client.timeout = apps::milliseconds(options.timeout);
	client.retry = retry_of(options, number);
	Result<std::unique_ptr<Rival>> connected = Rival::connect(*context, options.shards, client);
	if (!connected)
		return connected.error();
	return Client(*std::move(connected));
}

Result<Client> connect_farm(const SystemOptions &options, unsigned number)
{
	return connect_by_calls<FarmClient>(options, number, FarmClientOptions());
}

template <bool exclusive>
Result<Client> connect_locking(const SystemOptions &options, unsigned number)
{
	LockingClientOptions client;
	client.exclusive_fetch = exclusive;
	return connect_by_calls<LockingClient>(options, number, client);
}

template <typename Connect>
void add(Systems &systems, const char *name, const char *text, Connect connect)
{
	systems.add({name, text, [connect](const SystemOptions &options) -> Result<ClientFactory> {
			     return ClientFactory(
				     [options, connect](unsigned number) { return connect(options, number); });
		     }});
}

} // namespace

void add_rdma_systems(Systems &systems)
{
	add(systems, "prism", "PRISM-TX: every step by PRISM requests", connect_prism);
	add(systems, "farm", "FaRM's protocol: reads by READs, locks and updates by calls", connect_farm);
	add(systems, "locking", "two-phase locking by calls: shared locks first", connect_locking<false>);
	add(systems, "locking-exclusive", "the same, with exclusive locks from the first fetch on",
		connect_locking<true>);
}

} // namespace prism::tx
