/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "locking_server.hpp"

#include "tx/rpc/body.hpp"
#include "tx/rpc/key_set.hpp"

#include <cerrno>
#include <limits>
#include <new>
#include <vector>

namespace prism::tx
{

using locking::Call;
using locking::Held;
using locking::LockResult;
using locking::Mode;

namespace
{

constexpr std::uint32_t least_message_size = 4096;

void count(std::atomic<std::uint64_t> &counter, std::uint64_t by = 1) noexcept
{
	counter.fetch_add(by, std::memory_order_relaxed);
}

Result<void> check(const LockingOptions &options)
{
	const std::uint64_t longest = kv::message_header_size + locking::commit_item_size +
				      std::uint64_t{options.server.max_key_size} + options.value_size;
	if (options.objects == 0 || options.objects >= std::numeric_limits<std::uint32_t>::max() / 2)
		return make_error(EINVAL, "a store for " + std::to_string(options.objects) + " objects",
			"from 1 to 2,147,483,646 are possible");
	if (options.message_size < least_message_size || options.message_size > kv::max_message_size)
		return make_error(EINVAL, "messages of " + std::to_string(options.message_size) + " bytes",
			"they may have 4096 to 65,536");
	if (longest > options.message_size)
		return make_error(EINVAL, "a value of " + std::to_string(options.value_size) + " bytes with its key",
			"it does not fit a message: raise its size, of at most 65,536, or lower the value's");
	if (options.shard >= options.shards)
		return make_error(EINVAL,
			"shard " + std::to_string(options.shard) + " of " + std::to_string(options.shards),
			"shards are counted from 0");
	return {};
}

kv::StoreIdentity identity_of(const LockingOptions &options)
{
	kv::StoreIdentity identity;
	identity.kind = apps::StoreKind::locking;
	identity.version = locking::protocol_version;
	identity.own.resize(locking::own_part_size);
	BodyWriter own(identity.own.data());
	own.put(options.message_size);
	own.put(options.shard);
	own.put(options.shards);
	identity.message_size = options.message_size;
	return identity;
}

constexpr const char *too_short = "shorter than what the header announces";

} // namespace

/** A connection and what its lanes have locked. */
class LockingServer::Session final : public kv::CallSession
{
public:
	Session(LockingServer &server, const kv::Limits &limits, std::uint32_t lanes)
		: table_(server.table_), counts_(server.counts_), limits_(limits),
		  room_(server.message_size_ - kv::message_header_size), lanes_(lanes)
	{
		for (Locks &locks : lanes_)
			locks.reserve(max_transaction_keys);
		changes_.reserve(max_transaction_keys);
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
		LockResult result = LockResult::ok;
		if (const char *wrong = execute(header, body, items, result))
			return wrong;
		kv::MessageHeader answer{header.call, static_cast<std::uint16_t>(result), 0, header.id};
		if (result != LockResult::ok) {
			count(counts_.conflicts);
			release(lanes_[header.detail]);
			items = BodyWriter(items.start());
		} else if (static_cast<Call>(header.call) == Call::fetch) {
			answer.size = header.size;
		}
		answer.serialize_response(response.data());
		size = static_cast<std::uint32_t>(kv::message_header_size + items.size());
		return nullptr;
	}

private:
	using Locks = std::vector<Held>;
	/** An item of PREPARE or COMMIT. */
	struct Change {
		std::uint32_t position = 0;
		std::span<const std::byte> key;
		std::span<const std::byte> value;
		bool erase = false;
	};

	const char *execute(
		const kv::MessageHeader &header, BodyReader &body, BodyWriter &items, LockResult &result) noexcept
	{
		Locks &locks = lanes_[header.detail];
		switch (static_cast<Call>(header.call)) {
		case Call::fetch:
			count(counts_.fetches);
			return fetch(locks, header.size, body, items, result);
		case Call::prepare:
			count(counts_.prepares);
			return change(locks, header.size, body, false, result);
		case Call::commit:
			count(counts_.commits);
			return change(locks, header.size, body, true, result);
		case Call::release:
			count(counts_.releases);
			release(locks);
			return header.size || !body.empty() ? "a release with something in it" : nullptr;
		}
		return "unknown call";
	}

	void release(Locks &locks) noexcept
	{
		for (const Held &held : locks)
			table_.unlock(held);
		locks.clear();
	}

	/* What comes after the first lock refused is read all the same: it may be malformed. */
	const char *fetch(
		Locks &locks, std::uint32_t number, BodyReader &body, BodyWriter &items, LockResult &result) noexcept
	{
		std::uint8_t code = 0;
		if (!body.take(code))
			return too_short;
		const auto mode = static_cast<Mode>(code);
		if (mode != Mode::shared && mode != Mode::exclusive)
			return "unknown kind of lock";
		if (number > max_transaction_keys - locks.size())
			return "too many keys";
		if (number > room_ / (locking::answer_item_size + limits_.max_value_size))
			return "more keys than an answer has room for";
		for (std::uint32_t i = 0; i < number; i++) {
			std::uint16_t key_size = 0;
			std::span<const std::byte> key;
			if (!body.take(key_size) || !body.take(key_size, key))
				return too_short;
			if (key_size == 0 || key_size > limits_.max_key_size)
				return "key of a forbidden size";
			if (result == LockResult::ok)
				result = fetch_one(locks, key, mode, items);
		}
		return body.empty() ? nullptr : "longer than what the header announces";
	}

	LockResult fetch_one(Locks &locks, std::span<const std::byte> key, Mode mode, BodyWriter &items) noexcept
	{
		Held held;
		const LockResult result = table_.lock(key, mode, held);
		if (result != LockResult::ok)
			return result;
		locks.push_back(held);
		const std::optional<std::span<const std::byte>> value = table_.value(held);
		items.put(value ? static_cast<std::uint32_t>(value->size()) : locking::no_value);
		if (value)
			items.put(*value);
		return result;
	}

	const char *parse_change(const Locks &locks, BodyReader &body, bool with_value, Change &change) const noexcept
	{
		std::uint16_t key_size = 0;
		std::uint32_t value_size = locking::no_value;
		if (!body.take(change.position) || !body.take(key_size) || !body.take(key_size, change.key))
			return too_short;
		if (change.position == locking::no_position ? (key_size == 0 || key_size > limits_.max_key_size)
							    : key_size != 0)
			return "key of a forbidden size";
		if (change.position != locking::no_position && change.position >= locks.size())
			return "a lock that the lane does not hold";
		if (with_value && !body.take(value_size))
			return too_short;
		change.erase = value_size == locking::no_value;
		if (change.erase)
			return nullptr;
		if (value_size > limits_.max_value_size)
			return "value of a forbidden size";
		return body.take(value_size, change.value) ? nullptr : too_short;
	}

	/* PREPARE takes the locks, COMMIT those that are missing; it changes something only when it has all of them. */
	const char *change(
		Locks &locks, std::uint32_t number, BodyReader &body, bool commit, LockResult &result) noexcept
	{
		if (number > max_transaction_keys - locks.size())
			return "too many keys";
		changes_.clear();
		for (std::uint32_t i = 0; i < number; i++) {
			Change parsed;
			if (const char *wrong = parse_change(locks, body, commit, parsed))
				return wrong;
			changes_.push_back(parsed);
		}
		if (!body.empty())
			return "longer than what the header announces";
		for (std::size_t i = 0; i < changes_.size() && result == LockResult::ok; i++)
			result = lock(locks, changes_[i]);
		if (!commit || result != LockResult::ok)
			return nullptr;
		for (const Change &made : changes_) {
			if (made.erase)
				table_.erase(locks[made.position]);
			else
				table_.write(locks[made.position], made.value);
		}
		release(locks);
		return nullptr;
	}

	LockResult lock(Locks &locks, Change &change) noexcept
	{
		if (change.position != locking::no_position)
			return table_.upgrade(locks[change.position]);
		Held held;
		const LockResult result = table_.lock(change.key, Mode::exclusive, held);
		if (result != LockResult::ok)
			return result;
		change.position = static_cast<std::uint32_t>(locks.size());
		locks.push_back(held);
		return result;
	}

	locking::LockTable &table_;
	Counts &counts_;
	const kv::Limits limits_;
	const std::size_t room_; /* of a message */
	std::vector<Locks> lanes_;
	std::vector<Change> changes_; /* of the call that is executed */
};

LockingServer::~LockingServer() = default;

std::unique_ptr<kv::CallSession> LockingServer::open(const kv::Limits &limits, std::uint32_t calls)
{
	return std::make_unique<Session>(*this, limits, calls);
}

Result<std::unique_ptr<LockingServer>> LockingServer::create(const Context &context, const LockingOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	std::unique_ptr<LockingServer> made;
	try {
		made.reset(new LockingServer(options)); /* the constructor is private: no make_unique */
	} catch (const std::bad_alloc &) {
		return make_error(ENOMEM, "cannot allocate the table", "ask for fewer objects or shorter values");
	}
	kv::RpcServerOptions server_options = options.server;
	server_options.max_value_size = options.value_size;
	Result<std::unique_ptr<kv::RpcServer>> server =
		kv::RpcServer::create(*pd, *made, identity_of(options), std::move(server_options));
	if (!server)
		return server.error();
	made->server_ = *std::move(server);
	return made;
}

LockingStats LockingServer::stats() const noexcept
{
	const auto value = [](const std::atomic<std::uint64_t> &counter) {
		return counter.load(std::memory_order_relaxed);
	};
	LockingStats sum;
	sum.server = server_->stats();
	sum.objects = table_.objects();
	sum.fetches = value(counts_.fetches);
	sum.prepares = value(counts_.prepares);
	sum.commits = value(counts_.commits);
	sum.releases = value(counts_.releases);
	sum.conflicts = value(counts_.conflicts);
	sum.abandoned = value(counts_.abandoned);
	return sum;
}

} // namespace prism::tx
