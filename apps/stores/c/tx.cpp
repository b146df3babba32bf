/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/tx.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "sharing.hpp"
#include "tx/store/prism_client.hpp"

namespace prism::capi
{

class TxStore;

/** The next step of the body of a transaction. */
enum class Step : std::uint8_t {
	none,
	fetch,
	commit,
	repeat, /* another attempt */
	fail,   /* with the attempt's error: the client decides if another attempt may succeed */
	abort,
};

} // namespace prism::capi

/* A job whose body carries out the calls of the interface, step by step. */
struct prism_tx_transaction {
	explicit prism_tx_transaction(prism::capi::TxStore &owner) : store(owner) {}

	prism::capi::TxStore &store;
	prism::tx::Job job;
	prism::tx::Transaction *attempt = nullptr; /* current attempt */
	unsigned attempts = 0;                     /* attempts begun */
	prism::capi::Step step = prism::capi::Step::none;
	bool asleep = false;    /* the body waits for a step */
	bool ended = false;     /* the job has ended */
	bool abandoned = false; /* nobody waits for its end any more */
	bool of_run = false;    /* prism_tx_run() ends it */
	bool late = false;      /* a step was late: the rest belongs to the thread that drives the client */
	int broken = 0;         /* error for which the attempt cannot commit; only while the body waits for a step */
	std::vector<std::byte> copies;
	std::vector<prism::tx::Bytes> keys; /* keys to fetch; in the copies */
};

namespace prism::capi
{

namespace
{

using Transaction = prism_tx_transaction;
using tx::Bytes;
using tx::Outcome;

constexpr std::size_t first_options_size = sizeof(prism_tx_options);

int fail_for(int error)
{
	switch (error) {
	case EINVAL:
		return fail(error, "the key or the value is not one of this store: see prism_tx_max_key_size()");
	case EAGAIN:
		return fail(error, "a conflict with another transaction; nothing was changed");
	case E2BIG:
		return fail(error, "too large: a transaction reads and writes " + std::to_string(tx::max_accesses) +
					   " cells at most");
	case ENOBUFS:
		return fail(error, "the store has no buffer left for this");
	case ENOSPC:
		return fail(error, "what shares a cell with it does not fit the store's largest buffer");
	case EHOSTUNREACH:
		return fail(error, "a shard cannot be reached");
	case ETIMEDOUT:
		return fail(error, "it took longer than the store's timeout");
	default:
		return fail_with_reason(error, "the transaction has failed");
	}
}

/** Converts the outcome of a job to the result of the functions. */
int result_of(const tx::Job &job)
{
	switch (job.outcome) {
	case Outcome::committed:
		return 0;
	case Outcome::unknown:
		return fail(outcome_unknown,
			make_error(job.error, "it is not known whether all was changed or nothing").message);
	case Outcome::conflict:
		return fail_for(job.error == ENOBUFS ? ENOBUFS : EAGAIN);
	case Outcome::rolled_back:
	case Outcome::failed:
		break;
	}
	return fail_for(job.error);
}

/** Copies @p keys, which belong to the caller, to memory that stays. */
void keep_keys(Transaction &mine, std::span<const prism_tx_key> keys)
{
	mine.keys.clear();
	std::size_t total = 0;
	for (const prism_tx_key &key : keys)
		total += key.size;
	mine.copies.resize(total);
	std::byte *place = mine.copies.data();
	for (const prism_tx_key &key : keys) {
		std::memcpy(place, key.data, key.size);
		mine.keys.emplace_back(place, key.size);
		place += key.size;
	}
}

} // namespace

/** A client for several threads. */
class TxStore
{
public:
	TxStore(std::unique_ptr<tx::PrismClient> connected, Milliseconds wait)
		: client_(std::move(connected)), timeout_(wait), keeper_([this] {
			  const std::lock_guard guard(lock_);
			  poll();
		  })
	{
	}

	/** Begins a transaction. Returns null on failure; @p result is the error. */
	Transaction *begin(unsigned attempts, int &result);
	int fetch(Transaction &mine, std::span<const prism_tx_key> keys);
	int read(Transaction &mine, const prism_tx_key &key, void *value, std::size_t &value_size);
	int change(Transaction &mine, Bytes key, std::optional<Bytes> value);
	int commit(Transaction &mine);
	void abort(Transaction &mine) noexcept;
	int run(prism_tx_body body, void *argument, unsigned attempts);

	/* Constant for a store. */
	[[nodiscard]] std::size_t max_key_size() const noexcept
	{
		return client_->store().numbered ? sizeof(std::uint64_t) : client_->store().max_key_size;
	}
	[[nodiscard]] std::size_t max_value_size() const noexcept { return client_->store().max_value_size; }

private:
	apps::Task<int> steps(Transaction &mine, tx::Transaction &attempt);
	void poll() noexcept;
	bool make(Transaction &mine, Step step);
	int check(const Transaction &mine, std::span<const prism_tx_key> keys);
	int end(Transaction &mine, Step step);
	void release(Transaction &mine) noexcept;

	std::mutex lock_; /* protects all members below */
	std::vector<std::unique_ptr<Transaction>> transactions_;
	std::unique_ptr<tx::PrismClient> client_;
	const Milliseconds timeout_;
	Keeper keeper_; /* declared last: its thread uses the others */
};

/* Transactions --------------------------------------------------------------------------------------------------- */

/** The body of a transaction. */
apps::Task<int> TxStore::steps(Transaction &mine, tx::Transaction &attempt)
{
	mine.attempt = &attempt;
	mine.attempts++;
	mine.broken = 0;
	for (;;) {
		mine.asleep = true;
		while (mine.step == Step::none)
			co_await client_->asleep(mine.job);
		mine.asleep = false;
		const Step step = std::exchange(mine.step, Step::none);
		if (step == Step::fetch) {
			mine.broken = co_await attempt.fetch(mine.keys);
			continue;
		}
		mine.attempt = nullptr;
		switch (step) {
		case Step::commit:
			co_return 0;
		case Step::repeat:
			co_return EAGAIN;
		case Step::fail:
			co_return mine.broken;
		default:
			co_return ECANCELED;
		}
	}
}

/** Drives the jobs under way. */
void TxStore::poll() noexcept
{
	std::array<tx::Job *, 16> ended;
	const std::size_t count = client_->poll(ended);
	for (std::size_t i = 0; i < count; i++) {
		Transaction &mine = *static_cast<Transaction *>(ended[i]->context);
		mine.ended = true;
		if (mine.abandoned)
			release(mine);
	}
}

/** Releases @p mine, which nobody uses any more. */
void TxStore::release(Transaction &mine) noexcept
{
	mine.abandoned = true;
	if (mine.ended)
		std::erase_if(transactions_, [&mine](const auto &one) { return one.get() == &mine; });
}

/**
 * Has the body do @p step, and waits until it is done. Returns false if it is late: then the body does it when it can,
 * but nobody waits for it any more.
 */
bool TxStore::make(Transaction &mine, Step step)
{
	{
		const std::lock_guard guard(lock_);
		mine.step = step;
		if (mine.asleep && step != Step::none)
			client_->wake(mine.job);
		if (mine.late)
			return false;
	}
	const bool done = wait_until(
		lock_, deadline_in(timeout_), [this] { poll(); },
		[&mine] { return mine.ended || (mine.asleep && mine.step == Step::none); });
	mine.late |= !done;
	return done;
}

Transaction *TxStore::begin(unsigned attempts, int &result)
{
	Transaction *mine = nullptr;
	{
		const std::lock_guard guard(lock_);
		transactions_.push_back(std::make_unique<Transaction>(*this));
		mine = transactions_.back().get();
		mine->job.max_attempts = attempts;
		mine->job.context = mine;
		mine->job.body = [this, mine](tx::Transaction &attempt) { return steps(*mine, attempt); };
		if (client_->start(mine->job)) {
			transactions_.pop_back();
			result = fail(EBUSY,
				"as many transactions have not ended as the options' depth: commit or abort one");
			return nullptr;
		}
	}
	if (make(*mine, Step::none))
		return mine;
	result = fail_for(ETIMEDOUT);
	abort(*mine);
	return nullptr;
}

/** Returns 0, or -errno if nothing more can be done in @p mine, or with @p keys. */
int TxStore::check(const Transaction &mine, std::span<const prism_tx_key> keys)
{
	if (mine.late || mine.broken)
		return fail_for(mine.late ? ETIMEDOUT : mine.broken);
	const std::lock_guard guard(lock_);
	for (const prism_tx_key &key : keys) {
		tx::KeyPlace place;
		if (client_->place_of(bytes(key.data, key.size), place) == EINVAL)
			return fail_for(EINVAL);
	}
	return 0;
}

int TxStore::fetch(Transaction &mine, std::span<const prism_tx_key> keys)
{
	if (const int failed = check(mine, keys))
		return failed;
	keep_keys(mine, keys);
	if (!make(mine, Step::fetch))
		return fail_for(ETIMEDOUT);
	return mine.broken ? fail_for(mine.broken) : 0;
}

int TxStore::read(Transaction &mine, const prism_tx_key &key, void *value, std::size_t &value_size)
{
	if (const int failed = fetch(mine, {&key, 1}))
		return failed;
	const std::lock_guard guard(lock_);
	const std::optional<Bytes> found = mine.attempt->value(bytes(key.data, key.size));
	if (!found)
		return fail(ENOENT, "there is no such key");
	const std::size_t room = std::exchange(value_size, found->size());
	if (const std::size_t size = std::min(room, found->size()))
		std::memcpy(value, found->data(), size);
	return found->size() > room ? fail(EMSGSIZE, "the value is longer than the room for it") : 0;
}

int TxStore::change(Transaction &mine, Bytes key, std::optional<Bytes> value)
{
	const prism_tx_key checked{key.data(), key.size()};
	if (const int failed = check(mine, {&checked, 1}))
		return failed;
	if (value && value->size() > max_value_size())
		return fail_for(EINVAL);
	const std::lock_guard guard(lock_);
	mine.broken = value ? mine.attempt->write(key, *value) : mine.attempt->erase(key);
	return mine.broken ? fail_for(mine.broken) : 0;
}

/** Ends the attempt by @p step, which commits if it can. Returns the outcome; also 0 if there is another attempt. */
int TxStore::end(Transaction &mine, Step step)
{
	if (mine.late)
		step = Step::abort;
	else if (step == Step::commit && mine.broken)
		step = Step::fail;
	const bool in_time = make(mine, step);
	if (in_time && !mine.ended)
		return 0;
	if (step == Step::abort)
		return mine.late ? fail_for(ETIMEDOUT) : 0;
	if (!in_time)
		return step == Step::commit ? fail(outcome_unknown, "the commit took longer than the store's timeout")
					    : fail_for(ETIMEDOUT);
	return result_of(mine.job);
}

int TxStore::commit(Transaction &mine)
{
	const int result = end(mine, Step::commit);
	const std::lock_guard guard(lock_);
	release(mine);
	return result;
}

void TxStore::abort(Transaction &mine) noexcept
{
	(void)make(mine, Step::abort);
	const std::lock_guard guard(lock_);
	release(mine);
}

int TxStore::run(prism_tx_body body, void *argument, unsigned attempts)
{
	int result = 0;
	Transaction *const mine = begin(attempts, result);
	if (!mine)
		return result;
	const auto ends = [this](Transaction *ended) { abort(*ended); }; /* aborts in any case */
	const std::unique_ptr<Transaction, decltype(ends)> owner(mine, ends);
	mine->of_run = true;
	for (bool ended = false; !ended;) {
		const int said = body(mine, argument);
		const bool says_why = mine->broken && said == -mine->broken;
		const Step step = !said || says_why ? Step::commit : said == -EAGAIN ? Step::repeat : Step::abort;
		result = end(*mine, step);
		if (step == Step::abort)
			result = said;
		const std::lock_guard guard(lock_);
		ended = mine->ended || mine->late;
	}
	return result;
}

} // namespace prism::capi

/* C -------------------------------------------------------------------------------------------------------------- */

/* The type by its C name. */
struct prism_tx final : prism::capi::TxStore {
	using TxStore::TxStore;
};

namespace prism::capi
{

namespace
{

int open(prism_tx *&store, const char *servers, const prism_tx_options &options)
{
	Result<tx::Shards> shards = tx::parse_shards(servers);
	if (!shards)
		return fail(shards.error());
	tx::PrismClientOptions wanted;
	wanted.depth = options.depth ? options.depth : default_depth;
	if (options.timeout_ms)
		wanted.setup_timeout = Milliseconds(options.timeout_ms);
	wanted.retry.timeout = wanted.setup_timeout;
	Result<Context> context = Context::open(options.device ? options.device : "", Progress::caller);
	if (!context)
		return fail(context.error());
	auto connected = tx::PrismClient::connect(*context, *shards, wanted);
	if (!connected)
		return fail(connected.error());
	store = std::make_unique<prism_tx>(*std::move(connected), wanted.setup_timeout).release();
	return 0;
}

/** Returns the error of the arguments of a call, or null. @p value: that of the value */
const char *wrong(const Transaction *transaction, bool is_key, const char *value = nullptr)
{
	if (!transaction)
		return "the transaction is NULL";
	if (!is_key)
		return "the key is empty or NULL";
	return value;
}

} // namespace

} // namespace prism::capi

using namespace prism::capi;

int prism_tx_open(struct prism_tx **store, const char *shards, const struct prism_tx_options *given)
{
	return open_store(store, shards ? nullptr : "the shards are NULL", given, first_options_size,
		[&](const prism_tx_options &options) { return open(*store, shards, options); });
}

void prism_tx_close(struct prism_tx *store)
{
	close_store(store);
}

size_t prism_tx_max_key_size(struct prism_tx *store)
{
	return store ? store->max_key_size() : 0;
}

size_t prism_tx_max_value_size(struct prism_tx *store)
{
	return store ? store->max_value_size() : 0;
}

int prism_tx_begin(struct prism_tx *store, struct prism_tx_transaction **transaction)
{
	if (transaction)
		*transaction = nullptr;
	return checked(store && transaction ? nullptr : "the store, or the place for the transaction, is NULL", [&] {
		int result = 0;
		*transaction = store->begin(1, result);
		return result;
	});
}

int prism_tx_fetch(struct prism_tx_transaction *transaction, const struct prism_tx_key *keys, size_t count)
{
	bool are_keys = keys || !count;
	for (size_t i = 0; are_keys && i < count; i++)
		are_keys = is_key(keys[i].data, keys[i].size);
	return checked(wrong(transaction, are_keys), [&] {
		return transaction->store.fetch(*transaction, {keys, count});
	});
}

int prism_tx_read(
	struct prism_tx_transaction *transaction, const void *key, size_t key_size, void *value, size_t *value_size)
{
	const char *const what = value_size ? wrong(transaction, is_key(key, key_size), wrong_bytes(value, *value_size))
					    : "the place for the value's size is NULL";
	return checked(what, [&] {
		return transaction->store.read(*transaction, {key, key_size}, value, *value_size);
	});
}

int prism_tx_write(struct prism_tx_transaction *transaction, const void *key, size_t key_size, const void *value,
	size_t value_size)
{
	return checked(wrong(transaction, is_key(key, key_size), wrong_bytes(value, value_size)), [&] {
		return transaction->store.change(*transaction, bytes(key, key_size), bytes(value, value_size));
	});
}

int prism_tx_remove(struct prism_tx_transaction *transaction, const void *key, size_t key_size)
{
	return checked(wrong(transaction, is_key(key, key_size)),
		[&] { return transaction->store.change(*transaction, bytes(key, key_size), std::nullopt); });
}

int prism_tx_commit(struct prism_tx_transaction *transaction)
{
	if (transaction && transaction->of_run)
		return fail(EINVAL, "prism_tx_run() ends its transaction itself");
	return checked(wrong(transaction, true), [&] { return transaction->store.commit(*transaction); });
}

void prism_tx_abort(struct prism_tx_transaction *transaction)
{
	if (!transaction || transaction->of_run)
		return;
	(void)guarded([&] {
		transaction->store.abort(*transaction);
		return 0;
	});
}

int prism_tx_run(struct prism_tx *store, prism_tx_body body, void *argument, unsigned int attempts)
{
	return checked(store && body ? nullptr : "the store or the body is NULL",
		[&] { return store->run(body, argument, attempts); });
}
