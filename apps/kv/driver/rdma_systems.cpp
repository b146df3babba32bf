/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv/driver/rdma_systems.hpp"

#include "pilaf/pilaf_client.hpp"
#include "store/prism_client.hpp"
#include "two_sided/rpc_store.hpp"

namespace prism::kv
{

namespace
{

using Client = std::unique_ptr<apps::StoreClient>;

std::chrono::milliseconds milliseconds(double seconds)
{
	return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/* Each client has a device context of its own, which it drives itself. */

template <typename Store, typename Options>
Result<Client> connect(const SystemOptions &options, Options client)
{
	Result<Context> context = Context::open(options.device, Progress::caller);
	if (!context)
		return context.error();
	client.depth = options.depth;
	client.timeout = milliseconds(options.timeout);
	auto connected = Store::connect(*context, options.host, options.port, client);
	if (!connected)
		return connected.error();
	return Client(*std::move(connected));
}

Result<Client> connect_prism(const SystemOptions &options)
{
	PrismClientOptions client;
	client.max_value_size = static_cast<std::uint32_t>(options.value_size);
	return connect<PrismClient>(options, client);
}

template <typename Store>
Result<Client> connect_by_calls(const SystemOptions &options)
{
	return connect<Store>(options, ClientOptions{});
}

template <typename Connect>
void add(Systems &systems, const char *name, const char *text, Connect connect)
{
	systems.add({name, text, apps::default_store_port,
		[connect](const SystemOptions &options) -> Result<ClientFactory> {
			return ClientFactory([options, connect](unsigned) { return connect(options); });
		}});
}

} // namespace

void add_rdma_systems(Systems &systems)
{
	add(systems, "prism", "PRISM-KV: every operation by PRISM requests", connect_prism);
	add(systems, "pilaf", "Pilaf: GET by READs, the rest by calls", connect_by_calls<PilafClient>);
	add(systems, "rpc", "every operation a call over SEND and RECV", connect_by_calls<RpcStoreClient>);
}

} // namespace prism::kv
