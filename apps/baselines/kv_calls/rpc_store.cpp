/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv_calls/rpc_store.hpp"
#include "kv_calls/kind.hpp"

#include <cerrno>
#include <new>

namespace prism::kv
{

using apps::OperationKind;
using apps::Outcome;

RpcStoreServer::~RpcStoreServer() = default;

Result<std::unique_ptr<RpcStoreServer>> RpcStoreServer::create(const Context &context, const RpcStoreOptions &options)
{
	if (options.capacity == 0 || options.memory == 0)
		return make_error(EINVAL, "a store without room", "give it a capacity and memory");
	rpc::StoreIdentity identity;
	identity.kind = rpc_kind;
	if (Result<void> checked = rpc::Server::check(identity, options.server); !checked)
		return checked.error();
	apps::MemoryPlan plan;
	plan.add("records", options.memory);
	if (Result<void> taken = rpc::Server::announce_memory(plan, context, 0, options.server); !taken)
		return taken.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	std::unique_ptr<RpcStoreServer> store;
	try {
		store.reset(new RpcStoreServer(options)); /* the constructor is private: no make_unique */
	} catch (const std::bad_alloc &) {
		return make_error(ENOMEM, "cannot allocate the table", "ask for less capacity or memory");
	}
	Result<std::unique_ptr<rpc::Server>> server_ =
		rpc::Server::create(*pd, *store, std::move(identity), options.server);
	if (!server_)
		return server_.error();
	store->server_ = *std::move(server_);
	return store;
}

Outcome RpcStoreServer::handle(const Request &request, std::span<std::byte> value, std::uint32_t &value_size) noexcept
{
	switch (request.kind) {
	case OperationKind::get:
		return table_.get(request.key, value, value_size);
	case OperationKind::put:
		return table_.put(request.key, request.value);
	case OperationKind::erase:
		break;
	}
	return table_.erase(request.key);
}

Result<std::unique_ptr<RpcStoreClient>> RpcStoreClient::connect(
	const Context &context, const std::string &host, std::uint16_t port, const rpc::ClientOptions &options)
{
	const apps::Hello wanted{rpc_kind};
	Result<std::unique_ptr<rpc::ClientLink>> link = rpc::ClientLink::connect(context, host, port, wanted, options,
		[](const ConnectionRecord &, const apps::Hello &server) { return measure(server); });
	if (!link)
		return link.error();
	return std::unique_ptr<RpcStoreClient>(new RpcStoreClient(*std::move(link)));
}

} // namespace prism::kv
