/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/kv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "kv/store/sharded_client.hpp"
#include "service/hello.hpp"
#include "service/size_class.hpp"
#include "sharing.hpp"

namespace prism::capi
{

namespace
{

using apps::Operation;
using apps::OperationKind;
using apps::Outcome;

constexpr std::size_t first_options_size = sizeof(prism_kv_options);

/**
 * An operation under way. If a thread waits for it, it has copies of the caller's data, as the caller may return before
 * it ends. A submitted one uses the caller's memory.
 */
struct Call {
	Operation operation;
	kv::Version version;
	bool with_version = false;
	std::vector<std::byte> key, value; /* the copies; their room is kept for the next call */
	prism_kv_operation *submitted = nullptr;
	bool begun = false;
	bool ended = false;
	bool abandoned = false;
};

std::span<const std::byte> copy(const void *data, std::size_t size, std::vector<std::byte> &room)
{
	if (room.size() < size)
		room.resize(size);
	if (size)
		std::memcpy(room.data(), data, size);
	return {room.data(), size};
}

Result<std::vector<apps::ServerAddress>> parse_servers(const std::string &text)
{
	std::vector<apps::ServerAddress> servers;
	std::istringstream list(text);
	for (std::string item; std::getline(list, item, ',');) {
		Result<apps::ServerAddress> server = apps::ServerAddress::parse(item, apps::default_store_port);
		if (!server)
			return server.error();
		servers.push_back(*std::move(server));
	}
	return servers;
}

/** Returns true if a GET has found a value that is longer than its client handles, whatever the caller's room. */
bool is_beyond_limit(const Operation &operation) noexcept
{
	return operation.outcome == Outcome::failed && operation.error == EMSGSIZE;
}

/** Returns the error of a conditional change whose key does not have the expected version. */
int other_version(std::uint64_t expected, bool absent)
{
	if (!expected)
		return fail(EEXIST, "there is such a key already");
	if (absent)
		return fail(ENOENT, "there is no such key");
	return fail(ESTALE, "the key has another version");
}

} // namespace

/** A client for several threads. */
class KvStore
{
public:
	KvStore(std::unique_ptr<kv::ShardedClient> connected, Milliseconds wait)
		: client_(std::move(connected)), timeout_(wait), keeper_([this] {
			  const std::lock_guard guard(lock_);
			  poll();
		  })
	{
	}

	int get(std::span<const std::byte> key, void *value, std::size_t &value_size, std::uint64_t *version);
	/** A PUT or an ERASE. */
	int change(OperationKind kind, std::span<const std::byte> key, std::span<const std::byte> value);
	int change_if(OperationKind kind, std::span<const std::byte> key, std::span<const std::byte> value,
		std::uint64_t version);
	int submit(prism_kv_operation &operation);
	int take(std::span<prism_kv_operation *> room, Milliseconds wait);
	std::size_t max_size(std::uint32_t kv::ServerView::*which);

private:
	/** A call, while a thread waits for it. */
	class Waiting
	{
	public:
		Waiting(KvStore &owner, OperationKind kind, std::span<const std::byte> key) : store_(owner)
		{
			const std::lock_guard guard(store_.lock_);
			call_ = &store_.take_call();
			call_->operation.kind = kind;
			try {
				call_->operation.key = copy(key.data(), key.size(), call_->key);
			} catch (...) {
				store_.give_back(*call_);
				throw;
			}
		}
		~Waiting()
		{
			const std::lock_guard guard(store_.lock_);
			if (call_->begun && !call_->ended)
				call_->abandoned = true; /* poll() will give it back */
			else
				store_.give_back(*call_);
		}
		Waiting(const Waiting &) = delete;
		Waiting &operator=(const Waiting &) = delete;

		Call &operator*() const noexcept { return *call_; }
		Call *operator->() const noexcept { return call_; }

	private:
		KvStore &store_;
		Call *call_ = nullptr;
	};

	Call &take_call();
	void give_back(Call &call) noexcept;
	void poll() noexcept;
	int start(Call &call) noexcept;
	std::size_t max_value_size_for(std::span<const std::byte> key);
	/** Waits for the end of @p call. Returns 0, then see its outcome; or -errno if it has failed. */
	int run(Call &call, Deadline deadline);
	int find(Call &call, std::uint64_t expected, Deadline deadline);
	static int error_of(const Call &call) noexcept;
	[[nodiscard]] int result_of(const Call &call);
	[[nodiscard]] std::string server_of(std::span<const std::byte> key) const;
	[[nodiscard]] std::string why_absent(std::span<const std::byte> key) const;
	int not_started(int error, std::span<const std::byte> key) const;

	std::mutex lock_; /* protects all members below */
	std::vector<std::unique_ptr<Call>> calls_;
	std::vector<Call *> idle_;
	std::vector<prism_kv_operation *>
		ended_;             /* ended ones of the submitted operations; has room for all under way */
	std::size_t submitted_ = 0; /* submitted operations under way */
	std::unique_ptr<kv::ShardedClient> client_;
	const Milliseconds timeout_;
	Keeper keeper_; /* declared last: its thread uses the others */
};

Call &KvStore::take_call()
{
	if (idle_.empty()) {
		calls_.push_back(std::make_unique<Call>());
		idle_.reserve(calls_.size());
		idle_.push_back(calls_.back().get());
	}
	Call &call = *idle_.back();
	idle_.pop_back();
	call.operation = {};
	call.operation.context = &call;
	call.version = {};
	call.with_version = call.begun = call.ended = call.abandoned = false;
	call.submitted = nullptr;
	return call;
}

void KvStore::give_back(Call &call) noexcept
{
	idle_.push_back(&call);
}

/** Drives the operations under way. */
void KvStore::poll() noexcept
{
	std::array<Operation *, 64> completed;
	const std::size_t count = client_->poll(completed);
	for (std::size_t i = 0; i < count; i++) {
		Call &call = *static_cast<Call *>(completed[i]->context);
		call.ended = true;
		if (call.submitted) {
			submitted_--;
			ended_.push_back(call.submitted);
			call.submitted->result = -error_of(call);
			if (call.operation.kind == OperationKind::get)
				call.submitted->value_size = call.operation.length;
		}
		if (call.submitted || call.abandoned)
			give_back(call);
	}
}

int KvStore::start(Call &call) noexcept
{
	const int error = client_->start(call.operation, call.with_version ? &call.version : nullptr);
	call.begun = !error;
	return error;
}

std::string KvStore::server_of(std::span<const std::byte> key) const
{
	return client_->address(client_->shard_of(key)).text();
}

/** Converts @p error of start(). */
int KvStore::not_started(int error, std::span<const std::byte> key) const
{
	if (error == EINVAL)
		return fail(EINVAL, "the key or the value is longer than the store takes");
	return fail(error, "nothing was done, as there is no connection: " + why_absent(key));
}

/** Returns the reason why there is no connection to the server of @p key. */
std::string KvStore::why_absent(std::span<const std::byte> key) const
{
	const std::string why = client_->absence(client_->shard_of(key)).message;
	return why.empty() ? server_of(key) : why;
}

/** Returns 0, or the errno value that the functions return for the call's outcome. */
int KvStore::error_of(const Call &call) noexcept
{
	const Operation &operation = call.operation;
	switch (operation.outcome) {
	case Outcome::ok:
		return operation.length > operation.result.size() ? EMSGSIZE : 0;
	case Outcome::not_found:
		return ENOENT;
	case Outcome::full:
		return ENOSPC;
	case Outcome::failed:
		return operation.error;
	case Outcome::unknown:
		break;
	}
	return outcome_unknown;
}

/** Returns the result of the functions. */
int KvStore::result_of(const Call &call)
{
	const int error = error_of(call);
	switch (error) {
	case 0:
		return 0;
	case EMSGSIZE:
		return fail(EMSGSIZE, is_beyond_limit(call.operation)
					      ? "the value is longer than the options' max_value_size"
					      : "the value is longer than the room for it");
	case ENOENT:
		return fail(ENOENT, "there is no such key");
	case ENOSPC:
		return fail(ENOSPC, "the store has no slot or no buffer for it");
	case ENOTCONN: {
		const std::lock_guard guard(lock_);
		return not_started(error, call.operation.key);
	}
	case outcome_unknown:
		return fail(error, make_error(call.operation.error, server_of(call.operation.key),
					   "it is not known whether this was done")
					   .message);
	default:
		return fail_with_reason(error, server_of(call.operation.key));
	}
}

int KvStore::run(Call &call, Deadline deadline)
{
	int error = 0;
	call.ended = false;
	const bool done = wait_until(
		lock_, deadline, [this] { poll(); },
		[&] {
			if (!call.begun)
				error = start(call);
			return call.ended || (error && error != EAGAIN);
		});
	const std::lock_guard guard(lock_);
	if (!call.begun && done)
		return not_started(error, call.operation.key);
	if (done)
		return 0;
	const bool may_be_done = call.begun && call.operation.kind != OperationKind::get;
	return fail(may_be_done ? outcome_unknown : ETIMEDOUT,
		"the operation took longer than the store's timeout (" + server_of(call.operation.key) + ")");
}

int KvStore::get(std::span<const std::byte> key, void *value, std::size_t &value_size, std::uint64_t *version)
{
	Waiting call(*this, OperationKind::get, key);
	call->with_version = version;
	const std::size_t room = std::min<std::size_t>(value_size, apps::longest_object); /* longest on any server */
	if (call->value.size() < room)
		call->value.resize(room);
	call->operation.result = {call->value.data(), room};
	if (const int failed = run(*call, deadline_in(timeout_)))
		return failed;
	const Operation &operation = call->operation;
	if (is_beyond_limit(operation))
		value_size = operation.length;
	if (operation.outcome == Outcome::ok) {
		value_size = operation.length;
		const std::size_t had = std::min<std::size_t>(operation.length, room);
		if (had)
			std::memcpy(value, call->value.data(), had);
	}
	if (version)
		*version = call->version.number;
	return result_of(*call);
}

int KvStore::change(OperationKind kind, std::span<const std::byte> key, std::span<const std::byte> value)
{
	Waiting call(*this, kind, key);
	call->operation.value = copy(value.data(), value.size(), call->value);
	if (const int failed = run(*call, deadline_in(timeout_)))
		return failed;
	return result_of(*call);
}

/**
 * Finds the slot and the object of @p expected for the call's version. Returns 0, or -errno: the key has another
 * version.
 */
int KvStore::find(Call &call, std::uint64_t expected, Deadline deadline)
{
	call.with_version = true;
	if (const int failed = run(call, deadline))
		return failed;
	const bool absent = call.operation.outcome == Outcome::not_found;
	if (!absent && call.operation.outcome != Outcome::ok)
		return result_of(call);
	return call.version.number == expected ? 0 : other_version(expected, absent);
}

int KvStore::change_if(
	OperationKind kind, std::span<const std::byte> key, std::span<const std::byte> value, std::uint64_t version)
{
	const Deadline deadline = deadline_in(timeout_);
	kv::Version expected;
	if (value.size() > max_value_size_for(key))
		return not_started(EINVAL, key);
	if (version) {
		Waiting call(*this, OperationKind::get, key);
		if (const int failed = find(*call, version, deadline))
			return failed;
		expected = call->version;
	}
	Waiting call(*this, kind, key);
	call->operation.value = copy(value.data(), value.size(), call->value);
	call->version = expected;
	call->with_version = true;
	if (const int failed = run(*call, deadline))
		return failed;
	return call->operation.outcome == Outcome::not_found ? other_version(version, false) : result_of(*call);
}

int KvStore::submit(prism_kv_operation &given)
{
	const std::lock_guard guard(lock_);
	ended_.reserve(ended_.size() + submitted_ + 1);
	Call &call = take_call();
	call.submitted = &given;
	call.operation.key = bytes(given.key, given.key_size);
	switch (static_cast<prism_kv_kind>(given.kind)) {
	case PRISM_KV_GET:
		call.operation.kind = OperationKind::get;
		call.operation.result = {static_cast<std::byte *>(given.value), given.value_size};
		break;
	case PRISM_KV_PUT:
		call.operation.kind = OperationKind::put;
		call.operation.value = bytes(given.value, given.value_size);
		break;
	case PRISM_KV_REMOVE:
		call.operation.kind = OperationKind::erase;
		break;
	}
	const int error = start(call);
	if (!error) {
		submitted_++;
		return 0;
	}
	give_back(call);
	if (error == EAGAIN)
		return fail(EAGAIN, "as many operations are under way as the options' depth: poll");
	return not_started(error, call.operation.key);
}

int KvStore::take(std::span<prism_kv_operation *> room, Milliseconds wait)
{
	std::size_t count = 0;
	(void)wait_until(
		lock_, deadline_in(wait), [this] { poll(); },
		[&] {
			count = std::min(room.size(), ended_.size());
			std::copy_n(ended_.begin(), count, room.begin());
			ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
			return count || !submitted_;
		});
	return static_cast<int>(count);
}

/** Returns the greatest value size of the server of @p key; if that is absent, the limit of all servers. */
std::size_t KvStore::max_value_size_for(std::span<const std::byte> key)
{
	const std::lock_guard guard(lock_);
	const kv::PrismClient *const one = client_->client(client_->shard_of(key));
	return one ? one->server().max_value_size : apps::longest_object;
}

/** Returns the least size of the present servers. */
std::size_t KvStore::max_size(std::uint32_t kv::ServerView::*which)
{
	const std::lock_guard guard(lock_);
	std::size_t least = std::numeric_limits<std::uint32_t>::max();
	for (std::size_t shard = 0; shard < client_->shards(); shard++) {
		if (const kv::PrismClient *const one = client_->client(shard))
			least = std::min<std::size_t>(least, one->server().*which);
	}
	return least;
}

} // namespace prism::capi

/* C -------------------------------------------------------------------------------------------------------------- */

/* The type by its C name. */
struct prism_kv final : prism::capi::KvStore {
	using KvStore::KvStore;
};

namespace prism::capi
{

namespace
{

int open(prism_kv *&store, const char *servers, const prism_kv_options &options)
{
	Result<std::vector<apps::ServerAddress>> addresses = parse_servers(servers);
	if (!addresses)
		return fail(addresses.error());
	kv::PrismClientOptions wanted;
	wanted.depth = options.depth ? options.depth : default_depth;
	wanted.max_value_size = options.max_value_size;
	if (options.timeout_ms)
		wanted.timeout = Milliseconds(options.timeout_ms);
	if (options.patience_ms)
		wanted.patience = Milliseconds(options.patience_ms);
	Result<Context> context = Context::open(options.device ? options.device : "", Progress::caller);
	if (!context)
		return fail(context.error());
	auto connected = kv::ShardedClient::connect(*context, *addresses, wanted);
	if (!connected)
		return fail(connected.error());
	store = std::make_unique<prism_kv>(*std::move(connected), wanted.timeout).release();
	return 0;
}

/** Returns the error of the arguments of a call, or null. */
const char *wrong(const prism_kv *store, const void *key, std::size_t key_size)
{
	if (!store)
		return "the store is NULL";
	return is_key(key, key_size) ? nullptr : "the key is empty or NULL";
}

const char *wrong(
	const prism_kv *store, const void *key, std::size_t key_size, const void *value, std::size_t value_size)
{
	if (const char *const what = wrong(store, key, key_size))
		return what;
	return wrong_bytes(value, value_size);
}

const char *wrong(const prism_kv *store, const prism_kv_operation *operation)
{
	if (!store || !operation)
		return store ? "the operation is NULL" : "the store is NULL";
	if (operation->kind > PRISM_KV_REMOVE)
		return "the operation's kind is none of enum prism_kv_kind";
	return wrong(store, operation->key, operation->key_size, operation->value,
		operation->kind == PRISM_KV_REMOVE ? 0 : operation->value_size);
}

} // namespace

} // namespace prism::capi

using namespace prism::capi;

int prism_kv_open(struct prism_kv **store, const char *servers, const struct prism_kv_options *given)
{
	return open_store(store, servers ? nullptr : "the servers are NULL", given, first_options_size,
		[&](const prism_kv_options &options) { return open(*store, servers, options); });
}

void prism_kv_close(struct prism_kv *store)
{
	close_store(store);
}

size_t prism_kv_max_key_size(struct prism_kv *store)
{
	return store ? store->max_size(&prism::kv::ServerView::max_key_size) : 0;
}

size_t prism_kv_max_value_size(struct prism_kv *store)
{
	return store ? store->max_size(&prism::kv::ServerView::max_value_size) : 0;
}

int prism_kv_get(
	struct prism_kv *store, const void *key, size_t key_size, void *value, size_t *value_size, uint64_t *version)
{
	const char *const what =
		value_size ? wrong(store, key, key_size, value, *value_size) : "the place for the value's size is NULL";
	return checked(what, [&] { return store->get(bytes(key, key_size), value, *value_size, version); });
}

int prism_kv_put(struct prism_kv *store, const void *key, size_t key_size, const void *value, size_t value_size)
{
	return checked(wrong(store, key, key_size, value, value_size),
		[&] { return store->change(OperationKind::put, bytes(key, key_size), bytes(value, value_size)); });
}

int prism_kv_put_if(struct prism_kv *store, const void *key, size_t key_size, const void *value, size_t value_size,
	uint64_t version)
{
	return checked(wrong(store, key, key_size, value, value_size), [&] {
		return store->change_if(OperationKind::put, bytes(key, key_size), bytes(value, value_size), version);
	});
}

int prism_kv_remove(struct prism_kv *store, const void *key, size_t key_size)
{
	return checked(wrong(store, key, key_size),
		[&] { return store->change(OperationKind::erase, bytes(key, key_size), {}); });
}

int prism_kv_remove_if(struct prism_kv *store, const void *key, size_t key_size, uint64_t version)
{
	const char *const what = version ? wrong(store, key, key_size) : "the version 0 is that of no key";
	return checked(what, [&] { return store->change_if(OperationKind::erase, bytes(key, key_size), {}, version); });
}

int prism_kv_submit(struct prism_kv *store, struct prism_kv_operation *operation)
{
	return checked(wrong(store, operation), [&] { return store->submit(*operation); });
}

int prism_kv_poll(struct prism_kv *store, struct prism_kv_operation **ended, unsigned int max, uint32_t timeout_ms)
{
	const char *const what = !store                            ? "the store is NULL"
				 : !ended || !max || max > INT_MAX ? "there is no room for operations that have ended"
								   : nullptr;
	return checked(what, [&] { return store->take({ended, max}, Milliseconds(timeout_ms)); });
}
