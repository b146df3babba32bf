/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "engine.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "random.hpp"

namespace prism::serializability
{

namespace
{

constexpr std::uint32_t opening_balance = 1000;
constexpr std::size_t most_operations = 4; /* of a transaction, on different keys */
constexpr double audits = 10;              /* percent of a bank's transactions */
constexpr double repeated = 5;             /* percent of changes that are made twice, or read again */
constexpr std::size_t keys_of_last_reads = 8;

constexpr std::array<std::pair<Fault, std::string_view>, 10> fault_names{{
	{Fault::lost_update, "lost-update"},
	{Fault::write_skew, "write-skew"},
	{Fault::dirty_read, "dirty-read"},
	{Fault::fractured_read, "fractured-read"},
	{Fault::stale_read, "stale-read"},
	{Fault::backward_timestamp, "backward-timestamp"},
	{Fault::intermediate_read, "intermediate-read"},
	{Fault::repeated_timestamp, "repeated-timestamp"},
	{Fault::half_applied, "half-applied"},
	{Fault::wrong_balance, "wrong-balance"},
}};

class Engine
{
public:
	Engine(const EngineOptions &options, const std::function<void(const Draft &)> &record)
		: options_(options), record_(record), random_(options.seed), clients_(options.clients),
		  sequences_(std::size_t{options.clients} + 3)
	{
		for (std::uint64_t i = 0; i < options.keys; i++)
			open_key();
	}

	void run()
	{
		if (options_.bank)
			open_bank();
		bool faulty = options_.fault == Fault::none;
		for (done_ = 0; done_ < options_.transactions;) {
			if (!faulty && done_ >= options_.transactions / 2) {
				faulty = true;
				make_fault();
			}
			step(static_cast<std::uint32_t>(random_.below(options_.clients)));
		}
		/* No transaction is under way when the last reads begin. */
		for (std::uint32_t client = 0; client < options_.clients; client++) {
			if (clients_[client].active)
				step(client);
		}
		read_all();
	}

private:
	using Key = std::uint32_t; /* an index; its name is one more */

	struct State {
		Value value = absent;
		std::uint64_t changes = 0;
		std::vector<Value> list;
	};
	struct Client {
		bool active = false;
		std::uint64_t begun = 0;
		Draft draft;
		std::vector<std::pair<Key, std::uint64_t>> seen; /* keys, and how often they had been changed */
	};

	[[nodiscard]] bool lists() const { return options_.kind == HistoryKind::lists; }

	std::uint64_t tick() { return time_ += random_.between(4, 40); }

	void open_key()
	{
		open_.push_back(static_cast<Key>(states_.size()));
		states_.emplace_back();
	}

	Key any_key() { return open_[random_.below(open_.size())]; }

	void start(Draft &draft, std::uint32_t client)
	{
		draft.clear();
		draft.client = client;
		draft.sequence = ++sequences_[client];
		draft.invoked = tick();
	}

	/* Reads the key without the changes of the draft itself. */
	void see(Draft &draft, Key key) const
	{
		if (lists())
			draft.read_list(key + 1, states_[key].list);
		else
			draft.read(key + 1, states_[key].value);
	}

	/* Reads the key as if @p other, which has changed only that key, were committed. */
	void see_with(Draft &draft, const Draft &other, Key key)
	{
		const State before = states_[key];
		apply(other);
		see(draft, key);
		states_[key] = before;
	}

	/* Reads the key as a transaction sees it that has changed it already. */
	void see_own(Draft &draft, Key key) const
	{
		Value value = states_[key].value;
		std::vector<Value> list = states_[key].list;
		for (const Operation &operation : draft.operations) {
			if (operation.key != key + 1 || operation.action == Action::read)
				continue;
			value = operation.value;
			list.push_back(operation.value);
		}
		if (lists())
			draft.read_list(key + 1, list);
		else
			draft.read(key + 1, value);
	}

	Value change(Draft &draft, Key key, std::int64_t difference = 0)
	{
		const auto place = static_cast<std::uint32_t>(draft.operations.size());
		Value value = unique_value(draft.client, draft.sequence, place);
		if (options_.bank)
			value = account_value(draft.client, draft.sequence,
				static_cast<std::uint32_t>(balance_of(states_[key].value) + difference));
		if (lists())
			draft.append(key + 1, value);
		else
			draft.write(key + 1, value);
		return value;
	}

	void end(Draft &draft, Outcome outcome)
	{
		const std::uint64_t now = tick();
		draft.outcome = outcome;
		draft.responded = outcome == Outcome::unknown ? 0 : now;
		if (outcome != Outcome::aborted)
			draft.stamp = {now, std::uint64_t{draft.client} + 1};
	}

	void apply(const Operation &operation)
	{
		if (operation.action == Action::read)
			return;
		const Key key = static_cast<Key>(operation.key - 1);
		State &state = states_[key];
		state.changes++;
		state.value = operation.value;
		if (lists())
			state.list.push_back(operation.value);
	}

	void apply(const Draft &draft)
	{
		for (const Operation &operation : draft.operations)
			apply(operation);
	}

	void commit(Draft &draft)
	{
		end(draft, Outcome::committed);
		apply(draft);
		record_(draft);
	}

	/* Begins a client's transaction, with all reads, or ends the one that it has begun. */
	void step(std::uint32_t number)
	{
		Client &client = clients_[number];
		if (client.active) {
			finish(client);
			client.active = false;
			done_++;
			return;
		}
		client.active = true;
		client.seen.clear();
		start(client.draft, number);
		client.begun = time_;
		if (options_.bank)
			plan_bank(client);
		else
			plan(client);
	}

	std::vector<Key> pick_keys(std::size_t count)
	{
		std::vector<Key> keys;
		for (std::size_t i = 0; i < count; i++) {
			const Key key = any_key();
			if (std::ranges::find(keys, key) == keys.end())
				keys.push_back(key);
		}
		return keys;
	}

	void read(Client &client, Key key)
	{
		see(client.draft, key);
		client.seen.emplace_back(key, states_[key].changes);
	}

	void plan(Client &client)
	{
		for (const Key key : pick_keys(random_.between(1, most_operations))) {
			if (random_.chance(options_.reads)) {
				read(client, key);
				continue;
			}
			if (!random_.chance(options_.blind))
				read(client, key);
			if (!lists() && random_.chance(options_.erases)) {
				client.draft.erase(key + 1);
				continue;
			}
			change(client.draft, key);
			if (random_.chance(repeated))
				change(client.draft, key);
			if (!random_.chance(repeated))
				continue;
			see_own(client.draft, key);
			if (lists()) /* this shows elements that others have appended, too */
				client.seen.emplace_back(key, states_[key].changes);
		}
	}

	void plan_bank(Client &client)
	{
		if (random_.chance(audits)) {
			for (const Key key : open_)
				read(client, key);
			return;
		}
		const std::vector<Key> keys = pick_keys(2);
		for (const Key key : keys)
			read(client, key);
		if (keys.size() < 2)
			return;
		const auto amount = static_cast<std::int64_t>(random_.below(balance_of(states_[keys[0]].value) + 1));
		change(client.draft, keys[0], -amount);
		change(client.draft, keys[1], amount);
	}

	[[nodiscard]] bool is_current(const Client &client) const
	{
		return std::ranges::all_of(
			client.seen, [&](const auto &seen) { return states_[seen.first].changes == seen.second; });
	}

	void finish(Client &client)
	{
		Draft &draft = client.draft;
		const bool only_reads = std::ranges::all_of(
			draft.operations, [](const Operation &of) { return of.action == Action::read; });
		if (random_.chance(options_.aborts)) {
			end(draft, Outcome::aborted);
		} else if (only_reads && random_.chance(options_.late)) {
			/* Serializable at the time of its reads, which was before its invocation. */
			draft.invoked = tick();
			end(draft, Outcome::committed);
			draft.stamp.clock = client.begun;
		} else if (!is_current(client)) {
			end(draft, Outcome::aborted);
		} else if (random_.chance(options_.unknown)) {
			end(draft, Outcome::unknown);
			if (random_.chance(50))
				apply(draft);
		} else {
			end(draft, Outcome::committed);
			apply(draft);
		}
		if ((only_reads || draft.outcome == Outcome::unknown) && random_.chance(options_.unstamped))
			draft.stamp = {};
		record_(draft);
		if (lists())
			close_long_lists(draft);
	}

	void close_long_lists(const Draft &draft)
	{
		for (const Operation &operation : draft.operations) {
			const Key key = static_cast<Key>(operation.key - 1);
			if (operation.action != Action::append || states_[key].list.size() < options_.list_length)
				continue;
			const auto open = std::ranges::find(open_, key);
			if (open == open_.end())
				continue;
			*open = static_cast<Key>(states_.size());
			states_.emplace_back();
		}
	}

	void open_bank()
	{
		Draft draft;
		start(draft, 0);
		for (const Key key : open_)
			change(draft, key, opening_balance);
		commit(draft);
	}

	void read_all()
	{
		const std::size_t at_once = options_.bank ? states_.size() : keys_of_last_reads;
		Draft draft;
		for (std::size_t key = 0; key < states_.size();) {
			start(draft, 0);
			for (std::size_t i = 0; i < at_once && key < states_.size(); i++)
				see(draft, static_cast<Key>(key++));
			commit(draft);
		}
	}

	/* Makes one fault, by clients of its own, on two keys that all use. */
	void make_fault();

	const EngineOptions &options_;
	const std::function<void(const Draft &)> &record_;
	test::Random random_;
	std::vector<Client> clients_;
	std::vector<std::uint64_t> sequences_; /* by client */
	std::vector<State> states_;            /* by key */
	std::vector<Key> open_;                /* keys that new transactions use */
	std::uint64_t time_ = 1000;
	std::uint64_t done_ = 0;
};

void Engine::make_fault()
{
	const std::uint32_t one = options_.clients, two = one + 1;
	const Key x = open_[random_.below(open_.size())];
	const Key y = *std::ranges::find_if(open_, [&](Key key) { return key != x; });
	/* Begins with values of its own: several erases may have caused an absence. */
	Draft first, second;
	start(first, one + 2);
	for (const Key key : {x, y}) {
		see(first, key);
		change(first, key);
	}
	commit(first);

	const std::uint64_t early = tick();
	start(first, one);
	start(second, options_.fault == Fault::stale_read || options_.fault == Fault::backward_timestamp ? one : two);
	switch (options_.fault) {
	case Fault::none:
		return;
	case Fault::lost_update:
		see(first, x);
		see(second, x);
		change(first, x);
		change(second, x);
		break;
	case Fault::write_skew:
		for (Draft *draft : {&first, &second}) {
			see(*draft, x);
			see(*draft, y);
		}
		change(first, x);
		change(second, y);
		break;
	case Fault::dirty_read:
		see(first, x);
		change(first, x);
		see_with(second, first, x);
		end(first, Outcome::aborted);
		record_(first);
		commit(second);
		return;
	case Fault::fractured_read:
	case Fault::half_applied:
		see(first, x);
		see(first, y);
		change(first, x);
		change(first, y);
		see(second, y);
		if (options_.fault == Fault::fractured_read) {
			commit(first);
		} else {
			end(first, Outcome::unknown);
			if (random_.chance(options_.unstamped))
				first.stamp = {};
			apply(first.operations[2]);
			record_(first);
		}
		see(second, x);
		commit(second);
		return;
	case Fault::stale_read:
	case Fault::backward_timestamp:
		see(first, x);
		see(second, x);
		change(first, x);
		commit(first);
		second.invoked = tick();
		end(second, Outcome::committed);
		if (options_.fault == Fault::backward_timestamp)
			second.stamp.clock = early;
		record_(second);
		return;
	case Fault::intermediate_read:
		see(first, x);
		change(first, x);
		see_with(second, first, x);
		change(first, x);
		break;
	case Fault::repeated_timestamp:
		see(first, x);
		change(first, x);
		see(second, y);
		change(second, y);
		commit(first);
		end(second, Outcome::committed);
		second.stamp = first.stamp;
		apply(second);
		record_(second);
		return;
	case Fault::wrong_balance:
		see(first, x);
		change(first, x, 1);
		break;
	}
	commit(first);
	commit(second);
}

} // namespace

const std::vector<Fault> &all_faults()
{
	static const std::vector<Fault> faults = [] {
		std::vector<Fault> all;
		for (const auto &[fault, name] : fault_names)
			all.push_back(fault);
		return all;
	}();
	return faults;
}

std::string_view name_of(Fault fault) noexcept
{
	const auto found = std::ranges::find(fault_names, fault, &std::pair<Fault, std::string_view>::first);
	return found == fault_names.end() ? "none" : found->second;
}

std::optional<Fault> find_fault(std::string_view name) noexcept
{
	const auto found = std::ranges::find(fault_names, name, &std::pair<Fault, std::string_view>::second);
	return found == fault_names.end() ? std::nullopt : std::optional(found->first);
}

std::uint64_t total_of(const EngineOptions &options) noexcept
{
	return options.keys * opening_balance;
}

void run_engine(const EngineOptions &options, const std::function<void(const Draft &)> &record)
{
	Engine(options, record).run();
}

} // namespace prism::serializability
