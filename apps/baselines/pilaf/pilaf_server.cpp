/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "pilaf_server.hpp"

#include "base/wire.hpp"
#include "pilaf/kind.hpp"

#include <cerrno>
#include <new>

namespace prism::kv
{

using apps::OperationKind;
using apps::Outcome;

namespace
{

rpc::StoreIdentity identity_of(const pilaf::CuckooTable &table, std::uint64_t seed)
{
	rpc::StoreIdentity identity;
	identity.kind = pilaf::store_kind;
	identity.own.resize(pilaf::own_part_size);
	apps::store(identity.own.data(), seed);
	identity.regions = {{pilaf::table_region, table.table()}, {pilaf::extent_region, table.extent_memory()}};
	identity.access_flags = access::remote_read;
	return identity;
}

} // namespace

PilafServer::~PilafServer() = default;

Result<std::unique_ptr<PilafServer>> PilafServer::create(const Context &context, const PilafOptions &options)
{
	apps::MemoryPlan plan;
	plan.add("table", options.table.entries * sizeof(pilaf::Entry));
	plan.add("extents", options.table.memory);
	if (Result<void> taken = rpc::Server::announce_memory(plan, context, 0, options.server); !taken)
		return taken.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	try {
		Result<std::unique_ptr<pilaf::CuckooTable>> table_ = pilaf::CuckooTable::create(*pd, options.table);
		if (!table_)
			return table_.error();
		rpc::StoreIdentity identity = identity_of(**table_, options.table.seed);
		std::unique_ptr<PilafServer> made(new PilafServer(*std::move(table_))); /* private constructor */
		Result<std::unique_ptr<rpc::Server>> server_ =
			rpc::Server::create(*pd, *made, std::move(identity), options.server);
		if (!server_)
			return server_.error();
		made->server_ = *std::move(server_);
		return made;
	} catch (const std::bad_alloc &) {
		return make_error(ENOMEM, "cannot allocate the table", "ask for fewer entries or less memory");
	}
}

Outcome PilafServer::handle(const Request &request, std::span<std::byte> value, std::uint32_t &value_size) noexcept
{
	switch (request.kind) {
	case OperationKind::get:
		return table_->get(request.key, value, value_size);
	case OperationKind::put:
		return table_->put(request.key, request.value);
	case OperationKind::erase:
		break;
	}
	return table_->erase(request.key);
}

} // namespace prism::kv
