/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "farm_server.hpp"

#include "farm/kind.hpp"
#include "message.hpp"

#include <cerrno>

namespace prism::tx
{

using farm::Call;
using farm::Lock;
using farm::LockKind;
using farm::MarkKind;

namespace
{

rpc::StoreIdentity identity_of(const farm::ObjectTable &table, const CalledShardOptions &options)
{
	farm::Geometry geometry = table.geometry();
	geometry.message_size = options.message_size;
	geometry.shard = options.shard;
	geometry.shards = options.shards;
	rpc::StoreIdentity identity;
	identity.kind = farm::store_kind;
	identity.own.resize(farm::Geometry::size);
	geometry.serialize(std::span(identity.own).first<farm::Geometry::size>());
	identity.regions = {{farm::index_region, table.index()}, {farm::object_region, table.objects()}};
	identity.access_flags = access::remote_read;
	identity.message_size = options.message_size;
	return identity;
}

} // namespace

class FarmServer::Session final : public LaneSession<farm::ObjectTable, Lock>
{
public:
	Session(FarmServer &server, const rpc::Limits &limits, std::uint32_t lanes)
		: LaneSession(*server.table_, server.counters_, lanes), counters_(server.counters_), limits_(limits)
	{
	}

private:
	const char *execute(Request &request, Answer &answer) noexcept override
	{
		switch (static_cast<Call>(request.call)) {
		case Call::lock:
			return lock(request, answer);
		case Call::validate:
			return validate(request, answer);
		case Call::update:
			return update(request.locks, request.items, request.body);
		case Call::abort:
			counters_.aborts.add();
			release(request.locks);
			return request.items ? "an abort of something" : nullptr;
		}
		return "unknown call";
	}

	/* Takes all of the locks, or none. Reads the items after the first refused one too: they may be malformed. */
	const char *lock(Request &request, Answer &answer) noexcept
	{
		if (!request.locks.empty())
			return "a lane that holds locks already";
		if (request.items > max_transaction_keys)
			return "too many keys";
		counters_.locks.add();
		for (std::uint32_t i = 0; i < request.items; i++) {
			if (const char *wrong = lock_one(request.locks, request.body, answer))
				return wrong;
		}
		if (answer.result != LockResult::ok)
			refuse(request.locks, answer, answer.result);
		return nullptr;
	}

	const char *lock_one(Locks &locks, BodyReader &body, Answer &answer) noexcept
	{
		std::uint8_t kind_code = 0, reply = 0;
		std::uint16_t key_size = 0;
		std::uint32_t number = 0;
		std::uint64_t word = 0;
		std::span<const std::byte> key;
		if (!body.take(kind_code) || !body.take(reply) || !body.take(key_size) || !body.take(number) ||
			!body.take(word) || !body.take(key_size, key))
			return too_short;
		const auto kind = static_cast<LockKind>(kind_code);
		if (kind < LockKind::object || kind > LockKind::any_key || reply > (kind == LockKind::object ? 0 : 1))
			return "unknown kind of lock";
		if (kind == LockKind::object ? key_size != 0 : (key_size == 0 || key_size > limits_.max_key_size))
			return "key of a forbidden size";
		if (kind != LockKind::object && number > limits_.max_value_size)
			return "value of a forbidden size";
		if (answer.result != LockResult::ok)
			return nullptr;
		Lock taken;
		farm::BucketChange change;
		answer.result = kind == LockKind::object ? table_.lock_object(number, word, taken)
							 : table_.lock_key(key, kind, number, taken, change);
		if (answer.result == LockResult::ok)
			locks.push_back(taken);
		if (reply) {
			answer.body.put(change.before);
			answer.body.put(change.after.word);
			answer.body.put(change.after.crc);
			answer.items++;
		}
		return nullptr;
	}

	const char *validate(Request &request, Answer &answer) noexcept
	{
		counters_.validates.add();
		for (std::uint32_t i = 0; i < request.items; i++) {
			std::uint32_t kind = 0, which = 0;
			farm::Mark mark;
			if (!request.body.take(kind) || !request.body.take(which) || !request.body.take(mark.word) ||
				!request.body.take(mark.crc))
				return too_short;
			if (kind != static_cast<std::uint32_t>(MarkKind::object) &&
				kind != static_cast<std::uint32_t>(MarkKind::bucket))
				return "unknown kind of mark";
			if (answer.result == LockResult::ok &&
				!table_.unchanged(static_cast<MarkKind>(kind), which, mark))
				answer.result = LockResult::conflict;
		}
		if (answer.result != LockResult::ok)
			counters_.conflicts.add();
		return nullptr;
	}

	/* Checks everything before it changes anything. */
	const char *update(Locks &locks, std::uint32_t number, BodyReader &body) noexcept
	{
		if (number != locks.size())
			return "another number of values than of locks";
		BodyReader check = body;
		std::span<const std::byte> value;
		for (std::uint32_t i = 0; i < number; i++) {
			std::uint32_t value_size = 0;
			if (!check.take(value_size))
				return too_short;
			if (value_size == farm::erase_mark)
				continue;
			if (value_size > limits_.max_value_size)
				return "value of a forbidden size";
			if (!check.take(value_size, value))
				return too_short;
		}
		if (!check.empty())
			return too_long;
		counters_.updates.add();
		for (const Lock &lock : locks) {
			std::uint32_t value_size = 0;
			(void)body.take(value_size);
			if (value_size == farm::erase_mark) {
				table_.erase(lock);
				continue;
			}
			(void)body.take(value_size, value);
			table_.update(lock, value);
		}
		locks.clear();
		return nullptr;
	}

	Counters &counters_;
	const rpc::Limits limits_;
};

FarmServer::~FarmServer() = default;

std::unique_ptr<rpc::CallSession> FarmServer::open(const rpc::Limits &limits, const rpc::SessionPlace &place)
{
	return std::make_unique<Session>(*this, limits, place.calls);
}

Result<void> FarmServer::check(const CalledShardOptions &options)
{
	constexpr std::size_t overhead = sizeof(farm::ObjectHeader) + rpc::message_header_size + farm::lock_item_size;
	return tx::check(options, farm::least_message_size, overhead);
}

Result<std::unique_ptr<FarmServer>> FarmServer::create(const Context &context, const CalledShardOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	const farm::ObjectTableOptions objects{options.objects, options.server.max_key_size, options.value_size};
	if (Result<void> taken = rpc::Server::announce_memory(
		    farm::ObjectTable::memory(objects), context, options.message_size, server_options(options));
		!taken)
		return taken.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	Result<std::unique_ptr<farm::ObjectTable>> table = farm::ObjectTable::create(*pd, objects);
	if (!table)
		return table.error();
	rpc::StoreIdentity identity = identity_of(**table, options);
	std::unique_ptr<FarmServer> made(new FarmServer(*std::move(table))); /* private constructor */
	Result<std::unique_ptr<rpc::Server>> server =
		rpc::Server::create(*pd, *made, std::move(identity), server_options(options));
	if (!server)
		return server.error();
	made->server_ = *std::move(server);
	return made;
}

FarmStats FarmServer::stats() const noexcept
{
	FarmStats sum;
	sum.server = server_->stats();
	sum.objects = table_->used();
	sum.locks = counters_.locks.value();
	sum.validates = counters_.validates.value();
	sum.updates = counters_.updates.value();
	sum.aborts = counters_.aborts.value();
	sum.conflicts = counters_.conflicts.value();
	sum.abandoned = counters_.abandoned.value();
	return sum;
}

} // namespace prism::tx
