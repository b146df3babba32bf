/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "farm_server.hpp"

#include "message.hpp"
#include "tx/rpc/body.hpp"
#include "tx/rpc/key_set.hpp"

#include <array>
#include <cerrno>
#include <vector>

namespace prism::tx
{

using farm::Call;
using farm::Lock;
using farm::LockKind;
using farm::LockResult;
using farm::MarkKind;

namespace
{

void count(std::atomic<std::uint64_t> &counter, std::uint64_t by = 1) noexcept
{
	counter.fetch_add(by, std::memory_order_relaxed);
}

Result<void> check(const FarmOptions &options)
{
	const std::uint64_t longest =
		sizeof(farm::ObjectHeader) + std::uint64_t{options.server.max_key_size} + options.value_size;
	if (options.message_size < farm::least_message_size || options.message_size > kv::max_message_size)
		return make_error(EINVAL, "messages of " + std::to_string(options.message_size) + " bytes",
			"they may have 16,384 to 65,536");
	if (longest + kv::message_header_size + farm::lock_item_size > options.message_size)
		return make_error(EINVAL, "a value of " + std::to_string(options.value_size) + " bytes with its key",
			"it does not fit a message: raise its size, of at most 65,536, or lower the value's");
	if (options.shard >= options.shards)
		return make_error(EINVAL,
			"shard " + std::to_string(options.shard) + " of " + std::to_string(options.shards),
			"shards are counted from 0");
	return {};
}

kv::StoreIdentity identity_of(const farm::ObjectTable &table, const FarmOptions &options)
{
	farm::Geometry geometry = table.geometry();
	geometry.message_size = options.message_size;
	geometry.shard = options.shard;
	geometry.shards = options.shards;
	kv::StoreIdentity identity;
	identity.kind = apps::StoreKind::farm;
	identity.version = farm::protocol_version;
	identity.own.resize(farm::Geometry::size);
	geometry.serialize(std::span(identity.own).first<farm::Geometry::size>());
	identity.regions = {{farm::index_region, table.index()}, {farm::object_region, table.objects()}};
	identity.access_flags = access::remote_read;
	identity.message_size = options.message_size;
	return identity;
}

} // namespace

/** A connection and what its lanes have locked. */
class FarmServer::Session final : public kv::CallSession
{
public:
	Session(FarmServer &server, const kv::Limits &limits, std::uint32_t lanes)
		: table_(*server.table_), counts_(server.counts_), limits_(limits), lanes_(lanes)
	{
		for (Locks &locks : lanes_)
			locks.reserve(max_transaction_keys);
	}

	~Session() override
	{
		for (Locks &locks : lanes_) {
			count(counts_.abandoned, locks.size());
			release(locks);
		}
	}

	const char *handle(std::span<const std::byte> request, std::span<std::byte> response,
		std::uint32_t &size) noexcept override
	{
		kv::MessageHeader header;
		if (const char *wrong = header.parse_request(request))
			return wrong;
		if (header.detail >= lanes_.size())
			return "a lane beyond what was announced";
		BodyReader body(request.subspan(kv::message_header_size));
		BodyWriter items(response.data() + kv::message_header_size);
		kv::MessageHeader answer{header.call, 0, 0, header.id};
		if (const char *wrong = execute(header, body, items, answer))
			return wrong;
		if (!body.empty())
			return "longer than what the header announces";
		answer.serialize_response(response.data());
		size = static_cast<std::uint32_t>(kv::message_header_size + items.size());
		return nullptr;
	}

private:
	using Locks = std::vector<Lock>;

	const char *execute(const kv::MessageHeader &header, BodyReader &body, BodyWriter &items,
		kv::MessageHeader &answer) noexcept
	{
		Locks &locks = lanes_[header.detail];
		switch (static_cast<Call>(header.call)) {
		case Call::lock:
			return lock(locks, header.size, body, items, answer);
		case Call::validate:
			return validate(header.size, body, answer);
		case Call::update:
			return update(locks, header.size, body);
		case Call::abort:
			count(counts_.aborts);
			release(locks);
			return header.size ? "an abort of something" : nullptr;
		}
		return "unknown call";
	}

	void release(Locks &locks) noexcept
	{
		for (const Lock &lock : locks)
			table_.release(lock);
		locks.clear();
	}

	/* All of them, or none. What comes after the first one refused is read all the same: it may be malformed. */
	const char *lock(Locks &locks, std::uint32_t number, BodyReader &body, BodyWriter &items,
		kv::MessageHeader &answer) noexcept
	{
		if (!locks.empty())
			return "a lane that holds locks already";
		if (number > max_transaction_keys)
			return "too many keys";
		count(counts_.locks);
		LockResult result = LockResult::ok;
		for (std::uint32_t i = 0; i < number; i++) {
			if (const char *wrong = lock_one(locks, body, items, answer, result))
				return wrong;
		}
		if (result != LockResult::ok) {
			count(counts_.conflicts);
			release(locks);
			items = BodyWriter(items.start());
			answer.size = 0;
		}
		answer.detail = static_cast<std::uint16_t>(result);
		return nullptr;
	}

	const char *lock_one(Locks &locks, BodyReader &body, BodyWriter &items, kv::MessageHeader &answer,
		LockResult &result) noexcept
	{
		std::uint8_t kind_code = 0, reply = 0;
		std::uint16_t key_size = 0;
		std::uint32_t number = 0;
		std::uint64_t word = 0;
		std::span<const std::byte> key;
		if (!body.take(kind_code) || !body.take(reply) || !body.take(key_size) || !body.take(number) ||
			!body.take(word) || !body.take(key_size, key))
			return "shorter than what the header announces";
		const auto kind = static_cast<LockKind>(kind_code);
		if (kind < LockKind::object || kind > LockKind::any_key || reply > (kind == LockKind::object ? 0 : 1))
			return "unknown kind of lock";
		if (kind == LockKind::object ? key_size != 0 : (key_size == 0 || key_size > limits_.max_key_size))
			return "key of a forbidden size";
		if (kind != LockKind::object && number > limits_.max_value_size)
			return "value of a forbidden size";
		if (result != LockResult::ok)
			return nullptr;
		Lock taken;
		farm::BucketChange change;
		result = kind == LockKind::object ? table_.lock_object(number, word, taken)
						  : table_.lock_key(key, kind, number, taken, change);
		if (result == LockResult::ok)
			locks.push_back(taken);
		if (reply) {
			items.put(change.before);
			items.put(change.after.word);
			items.put(change.after.crc);
			answer.size++;
		}
		return nullptr;
	}

	const char *validate(std::uint32_t number, BodyReader &body, kv::MessageHeader &answer) noexcept
	{
		count(counts_.validates);
		bool unchanged = true;
		for (std::uint32_t i = 0; i < number; i++) {
			std::uint32_t kind = 0, which = 0;
			farm::Mark mark;
			if (!body.take(kind) || !body.take(which) || !body.take(mark.word) || !body.take(mark.crc))
				return "shorter than what the header announces";
			if (kind != static_cast<std::uint32_t>(MarkKind::object) &&
				kind != static_cast<std::uint32_t>(MarkKind::bucket))
				return "unknown kind of mark";
			unchanged = unchanged && table_.unchanged(static_cast<MarkKind>(kind), which, mark);
		}
		if (!unchanged)
			count(counts_.conflicts);
		answer.detail = static_cast<std::uint16_t>(unchanged ? LockResult::ok : LockResult::conflict);
		return nullptr;
	}

	/* Everything is checked before anything is changed. */
	const char *update(Locks &locks, std::uint32_t number, BodyReader &body) noexcept
	{
		if (number != locks.size())
			return "another number of values than of locks";
		BodyReader check = body;
		std::span<const std::byte> value;
		for (std::uint32_t i = 0; i < number; i++) {
			std::uint32_t value_size = 0;
			if (!check.take(value_size))
				return "shorter than what the header announces";
			if (value_size == farm::erase_mark)
				continue;
			if (value_size > limits_.max_value_size)
				return "value of a forbidden size";
			if (!check.take(value_size, value))
				return "shorter than what the header announces";
		}
		if (!check.empty())
			return "longer than what the header announces";
		count(counts_.updates);
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

	farm::ObjectTable &table_;
	Counts &counts_;
	const kv::Limits limits_;
	std::vector<Locks> lanes_;
};

FarmServer::~FarmServer() = default;

std::unique_ptr<kv::CallSession> FarmServer::open(const kv::Limits &limits, std::uint32_t calls)
{
	return std::make_unique<Session>(*this, limits, calls);
}

Result<std::unique_ptr<FarmServer>> FarmServer::create(const Context &context, const FarmOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	Result<std::unique_ptr<farm::ObjectTable>> table =
		farm::ObjectTable::create(*pd, {options.objects, options.server.max_key_size, options.value_size});
	if (!table)
		return table.error();
	kv::StoreIdentity identity = identity_of(**table, options);
	kv::RpcServerOptions server_options = options.server;
	server_options.max_value_size = options.value_size;
	std::unique_ptr<FarmServer> made(new FarmServer(*std::move(table))); /* private constructor */
	Result<std::unique_ptr<kv::RpcServer>> server =
		kv::RpcServer::create(*pd, *made, std::move(identity), std::move(server_options));
	if (!server)
		return server.error();
	made->server_ = *std::move(server);
	return made;
}

FarmStats FarmServer::stats() const noexcept
{
	const auto value = [](const std::atomic<std::uint64_t> &counter) {
		return counter.load(std::memory_order_relaxed);
	};
	FarmStats sum;
	sum.server = server_->stats();
	sum.objects = table_->used();
	sum.locks = value(counts_.locks);
	sum.validates = value(counts_.validates);
	sum.updates = value(counts_.updates);
	sum.aborts = value(counts_.aborts);
	sum.conflicts = value(counts_.conflicts);
	sum.abandoned = value(counts_.abandoned);
	return sum;
}

} // namespace prism::tx
