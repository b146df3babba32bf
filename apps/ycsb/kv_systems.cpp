/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "ycsb/kv_systems.hpp"

#include "bench/thread_context.hpp"
#include "common/seconds.hpp"
#include "kv/calls/rpc_store.hpp"
#include "kv/pilaf/pilaf_client.hpp"
#include "kv/store/prism_client.hpp"

namespace prism::ycsb
{

namespace
{

using Client = std::unique_ptr<apps::StoreClient>;

template <typename Store, typename Options>
Result<Client> connect(const SystemOptions &options, Options client)
{
	Result<Context> context = bench::context_of_thread(options.device);
	if (!context)
		return context.error();
	client.depth = options.depth;
	client.timeout = apps::milliseconds(options.timeout);
	auto connected = Store::connect(*context, options.host, options.port, client);
	if (!connected)
		return connected.error();
	return Client(*std::move(connected));
}

Result<Client> connect_prism(const SystemOptions &options)
{
	kv::PrismClientOptions client;
	client.max_value_size = static_cast<std::uint32_t>(options.value_size);
	return connect<kv::PrismClient>(options, client);
}

template <typename Store>
Result<Client> connect_by_calls(const SystemOptions &options)
{
	return connect<Store>(options, rpc::ClientOptions{});
}

template <typename Connect>
void add_store(Systems &systems, const char *name, const char *text, Connect connect)
{
	systems.add({name, text, apps::default_store_port,
		[connect](const SystemOptions &options) -> Result<ClientFactory> {
			return ClientFactory([options, connect](unsigned) { return connect(options); });
		}});
}

} // namespace

void add_kv_systems(Systems &systems)
{
	add_store(systems, "prism", "PRISM-KV: every operation by PRISM requests", connect_prism);
	add_store(systems, "pilaf", "Pilaf: GET by READs, the rest by calls", connect_by_calls<kv::PilafClient>);
	add_store(systems, "rpc", "every operation a call over SEND and RECV", connect_by_calls<kv::RpcStoreClient>);
}

} // namespace prism::ycsb
