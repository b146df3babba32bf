/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "locking_server.hpp"

#include "locking/kind.hpp"
#include "message.hpp"

#include <cerrno>
#include <limits>
#include <new>
#include <vector>

namespace prism::tx
{

using locking::Call;
using locking::Held;
using locking::Mode;

namespace
{

constexpr std::uint32_t least_message_size = 4096;

/* Checks the limit: places of the table have 32-bit numbers, and there are some more places than objects. */
Result<void> check_objects(std::uint64_t objects)
{
	if (objects == 0 || objects >= std::numeric_limits<std::uint32_t>::max() / 2)
		return make_error(EINVAL, "a store for " + std::to_string(objects) + " objects (--keys)",
			"from 1 to 2,147,483,646 are possible");
	return {};
}

rpc::StoreIdentity identity_of(const CalledShardOptions &options)
{
	rpc::StoreIdentity identity;
	identity.kind = locking::store_kind;
	identity.own.resize(locking::own_part_size);
	BodyWriter own(identity.own.data());
	own.put(options.message_size);
	own.put(options.shard);
	own.put(options.shards);
	identity.message_size = options.message_size;
	return identity;
}

} // namespace

class LockingServer::Session final : public LaneSession<locking::LockTable, Held>
{
public:
	Session(LockingServer &server, const rpc::Limits &limits, std::uint32_t lanes)
		: LaneSession(server.table_, server.counters_, lanes), counters_(server.counters_), limits_(limits),
		  room_(server.message_size_ - rpc::message_header_size)
	{
		changes_.reserve(max_transaction_keys);
	}

private:
	/** An item of PREPARE or COMMIT. */
	struct Change {
		std::uint32_t position = 0;
		std::span<const std::byte> key;
		std::span<const std::byte> value;
		bool erase = false;
	};

	const char *execute(Request &request, Answer &answer) noexcept override
	{
		const char *const wrong = execute_call(request, answer);
		if (!wrong && answer.result != LockResult::ok)
			refuse(request.locks, answer, answer.result);
		return wrong;
	}

	const char *execute_call(Request &request, Answer &answer) noexcept
	{
		switch (static_cast<Call>(request.call)) {
		case Call::fetch:
			counters_.fetches.add();
			return fetch(request, answer);
		case Call::prepare:
			counters_.prepares.add();
			return change(request, false, answer.result);
		case Call::commit:
			counters_.commits.add();
			return change(request, true, answer.result);
		case Call::release:
			counters_.releases.add();
			release(request.locks);
			return request.items ? "a release of something" : nullptr;
		}
		return "unknown call";
	}

	/*
	 * Takes the locks and reads the values. Reads the items after the first refused lock too: they may be
	 * malformed.
	 */
	const char *fetch(Request &request, Answer &answer) noexcept
	{
		std::uint8_t code = 0;
		if (!request.body.take(code))
			return too_short;
		const auto mode = static_cast<Mode>(code);
		if (mode != Mode::shared && mode != Mode::exclusive)
			return "unknown kind of lock";
		if (request.items > max_transaction_keys - request.locks.size())
			return "too many keys";
		if (request.items > room_ / (locking::answer_item_size + limits_.max_value_size))
			return "more keys than an answer has room for";
		for (std::uint32_t i = 0; i < request.items; i++) {
			std::uint16_t key_size = 0;
			std::span<const std::byte> key;
			if (!request.body.take(key_size) || !request.body.take(key_size, key))
				return too_short;
			if (key_size == 0 || key_size > limits_.max_key_size)
				return "key of a forbidden size";
			if (answer.result == LockResult::ok)
				answer.result = fetch_one(request.locks, key, mode, answer.body);
		}
		answer.items = request.items;
		return nullptr;
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

	/*
	 * Takes the locks for PREPARE, or the missing ones for COMMIT, which changes something only when it has all of
	 * them.
	 */
	const char *change(Request &request, bool commit, LockResult &result) noexcept
	{
		Locks &locks = request.locks;
		if (request.items > max_transaction_keys - locks.size())
			return "too many keys";
		changes_.clear();
		for (std::uint32_t i = 0; i < request.items; i++) {
			Change parsed;
			if (const char *wrong = parse_change(locks, request.body, commit, parsed))
				return wrong;
			changes_.push_back(parsed);
		}
		if (!request.body.empty())
			return too_long;
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

	Counters &counters_;
	const rpc::Limits limits_;
	const std::size_t room_;      /* of a message */
	std::vector<Change> changes_; /* changes of the current call */
};

LockingServer::~LockingServer() = default;

std::unique_ptr<rpc::CallSession> LockingServer::open(const rpc::Limits &limits, const rpc::SessionPlace &place)
{
	return std::make_unique<Session>(*this, limits, place.calls);
}

Result<void> LockingServer::check(const CalledShardOptions &options)
{
	constexpr std::size_t overhead = rpc::message_header_size + locking::commit_item_size;
	const Result<void> checked = check_objects(options.objects);
	return checked ? tx::check(options, least_message_size, overhead) : checked;
}

Result<std::unique_ptr<LockingServer>> LockingServer::create(const Context &context, const CalledShardOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	apps::MemoryPlan plan;
	plan.add("records", options.objects * (std::uint64_t{options.server.max_key_size} + options.value_size));
	if (Result<void> taken =
			rpc::Server::announce_memory(plan, context, options.message_size, server_options(options));
		!taken)
		return taken.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	std::unique_ptr<LockingServer> made;
	try {
		made.reset(new LockingServer(options)); /* the constructor is private: no make_unique */
	} catch (const std::bad_alloc &) {
		return make_error(ENOMEM, "cannot allocate the table", "ask for fewer objects or shorter values");
	}
	Result<std::unique_ptr<rpc::Server>> server =
		rpc::Server::create(*pd, *made, identity_of(options), server_options(options));
	if (!server)
		return server.error();
	made->server_ = *std::move(server);
	return made;
}

LockingStats LockingServer::stats() const noexcept
{
	LockingStats sum;
	sum.server = server_->stats();
	sum.objects = table_.objects();
	sum.fetches = counters_.fetches.value();
	sum.prepares = counters_.prepares.value();
	sum.commits = counters_.commits.value();
	sum.releases = counters_.releases.value();
	sum.conflicts = counters_.conflicts.value();
	sum.abandoned = counters_.abandoned.value();
	return sum;
}

} // namespace prism::tx
