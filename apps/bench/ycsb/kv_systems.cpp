/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/kv_systems.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "base/seconds.hpp"
#include "bench/frame/thread_context.hpp"
#include "jakiro/jakiro_client.hpp"
#include "kv/store/prism_client.hpp"
#include "kv_calls/rpc_store.hpp"
#include "pilaf/pilaf_client.hpp"

namespace prism::ycsb
{

namespace
{

using Client = std::unique_ptr<apps::StoreClient>;

template <typename Store, typename Options>
Result<std::unique_ptr<Store>> connect(const SystemOptions &options, Options client)
{
	Result<Context> context = bench::context_of_thread(options.device);
	if (!context)
		return context.error();
	client.depth = options.depth;
	client.timeout = apps::milliseconds(options.timeout);
	return Store::connect(*context, options.host, options.port, client);
}

Result<Client> connect_prism(const SystemOptions &options)
{
	kv::PrismClientOptions client;
	client.max_value_size = static_cast<std::uint32_t>(options.value_size);
	auto connected = connect<kv::PrismClient>(options, client);
	if (!connected)
		return connected.error();
	return Client(*std::move(connected));
}

/** Checks if a store of calls takes the longest keys and values. Errors: EINVAL. */
Result<void> check_sizes(const SystemOptions &options, const apps::Hello &server)
{
	if (options.key_size > server.max_key_size || options.value_size > server.max_value_size)
		return make_error(EINVAL,
			fmt::format("keys of {} and values of {} bytes: the server takes {} and {}", options.key_size,
				options.value_size, server.max_key_size, server.max_value_size),
			"ask for shorter ones, or raise the server's limits");
	return {};
}

/** Returns a function that connects clients of a store whose calls travel by @p way. */
template <typename Store>
auto by_calls(rpc::Way way)
{
	return [way](const SystemOptions &options) -> Result<Client> {
		rpc::ClientOptions client;
		client.way = way;
		auto connected = connect<Store>(options, client);
		if (!connected)
			return connected.error();
		if (Result<void> checked = check_sizes(options, (*connected)->limits()); !checked)
			return checked.error();
		return Client(*std::move(connected));
	};
}

/** Returns a name such as "jakiro-fetch". */
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
