/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "jakiro_server.hpp"

#include "base/saturating.hpp"
#include "jakiro/kind.hpp"
#include "kv_calls/request_handler.hpp"

#include <cerrno>
#include <new>

namespace prism::kv
{

using apps::OperationKind;
using jakiro::Layout;
using jakiro::PairLog;
using jakiro::Partition;

namespace
{

std::uint64_t buckets_of_partition(const JakiroOptions &options) noexcept
{
	const std::uint64_t slots = std::uint64_t{options.server.threads} * Partition::slots_of_bucket;
	return options.slots / slots + (options.slots % slots != 0);
}

std::size_t memory_of_partition(const JakiroOptions &options) noexcept
{
	return options.memory / options.server.threads;
}

/* Requires room for two pairs: then no pair is ever too long, and a partition holds more than the last one stored. */
Result<void> check(const JakiroOptions &options)
{
	const std::uint64_t longest = PairLog::size_of(options.server.max_key_size, options.server.max_value_size);
	if (options.slots == 0 || memory_of_partition(options) < 2 * longest)
		return make_error(EINVAL, "a cache without room",
			"give it slots, and for each thread memory for two of the longest pairs");
	return {};
}

} // namespace

/** A connection whose calls are executed by the owner of one partition. */
class JakiroServer::Session final : public RequestSession
{
public:
	Session(const rpc::Limits &limits, const Layout &layout, std::uint32_t number, Partition &mine)
		: RequestSession(limits), layout_(layout), number_(number), partition_(mine)
	{
	}

private:
	const char *execute(const Request &request, std::span<std::byte> value, Response &response) noexcept override
	{
		const std::uint64_t hash = layout_.hash_of(request.key);
		if (layout_.partition_of(hash) != number_)
			return "key of another partition";
		if (request.kind == OperationKind::get)
			response.outcome = partition_.get(hash, request.key, value, response.value_size);
		else if (request.kind == OperationKind::put)
			response.outcome = partition_.put(hash, request.key, request.value);
		else
			response.outcome = partition_.erase(hash, request.key);
		return nullptr;
	}

	const Layout layout_;
	const std::uint32_t number_;
	Partition &partition_;
};

JakiroServer::JakiroServer(const JakiroOptions &options) : layout_{options.seed, options.server.threads}
{
	for (std::uint32_t number = 0; number < layout_.partitions; number++)
		partitions_.push_back(
			std::make_unique<Partition>(buckets_of_partition(options), memory_of_partition(options),
				number < options.listeners.size() ? options.listeners[number] : nullptr));
}

JakiroServer::~JakiroServer() = default;

Result<std::unique_ptr<JakiroServer>> JakiroServer::create(const Context &context, const JakiroOptions &options)
{
	rpc::StoreIdentity identity;
	identity.kind = jakiro::store_kind;
	if (Result<void> checked = rpc::Server::check(identity, options.server); !checked)
		return checked.error();
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	apps::MemoryPlan plan;
	plan.add("buckets",
		apps::product_of(buckets_of_partition(options), options.server.threads * Partition::bucket_size));
	plan.add("pairs", options.memory);
	if (Result<void> taken = rpc::Server::announce_memory(plan, context, 0, options.server); !taken)
		return taken.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	std::unique_ptr<JakiroServer> store;
	try {
		store.reset(new JakiroServer(options)); /* the constructor is private: no make_unique */
		identity.own = store->layout_.serialize();
	} catch (const std::bad_alloc &) {
		return make_error(ENOMEM, "cannot allocate the partitions", "ask for fewer slots or less memory");
	}
	Result<std::unique_ptr<rpc::Server>> server_ =
		rpc::Server::create(*pd, *store, std::move(identity), options.server);
	if (!server_)
		return server_.error();
	store->server_ = *std::move(server_);
	return store;
}

std::unique_ptr<rpc::CallSession> JakiroServer::open(const rpc::Limits &limits, const rpc::SessionPlace &place)
{
	return std::make_unique<Session>(limits, layout_, place.worker, *partitions_[place.worker]);
}

JakiroStats JakiroServer::stats() const noexcept
{
	JakiroStats sum;
	sum.server = server_->stats();
	for (const auto &partition : partitions_)
		sum.partitions += partition->stats();
	return sum;
}

} // namespace prism::kv
