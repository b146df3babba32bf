/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "ycsb/kv_systems.hpp"

#include "bench/thread_context.hpp"
#include "common/seconds.hpp"
#include "kv/calls/rpc_store.hpp"
#include "kv/jakiro/jakiro_client.hpp"
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

/** How clients of a store with calls connect that travel by @p way. */
template <typename Store>
auto by_calls(rpc::Way way)
{
	return [way](const SystemOptions &options) {
		rpc::ClientOptions client;
		client.way = way;
		return connect<Store>(options, client);
	};
}

/** Such as "jakiro-fetch". */
std::string name_of(const char *store, const rpc::WayName &way)
{
	return std::string(store) + "-" + std::string(way.name);
}

template <typename Connect>
void add_store(Systems &systems, std::string name, std::string text, Connect connect)
{
	systems.add({std::move(name), std::move(text), apps::default_store_port,
		[connect](const SystemOptions &options) -> Result<ClientFactory> {
			return ClientFactory([options, connect](unsigned) { return connect(options); });
		}});
}

} // namespace

void add_kv_systems(Systems &systems)
{
	add_store(systems, "prism", "PRISM-KV: every operation by PRISM requests", connect_prism);
	add_store(systems, "pilaf", "Pilaf: GET by READs, the rest by calls",
		by_calls<kv::PilafClient>(rpc::Way::two_sided));
	add_store(systems, "rpc", "RPC: every operation a call, SEND in, SEND out",
		by_calls<kv::RpcStoreClient>(rpc::Way::two_sided));
	for (const rpc::WayName &way : rpc::ways) {
		if (way.way != rpc::Way::two_sided)
			add_store(systems, name_of("rpc", way), "RPC, " + std::string(way.description),
				by_calls<kv::RpcStoreClient>(way.way));
	}
	for (const rpc::WayName &way : rpc::ways)
		add_store(systems, name_of("jakiro", way), "Jakiro's cache, " + std::string(way.description),
			by_calls<kv::JakiroClient>(way.way));
}

} // namespace prism::ycsb
