/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "replay.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

namespace prism::serializability
{

namespace
{

constexpr std::string_view replay_check = "replay";

bool only_reads(const Index &index, const Transaction &transaction)
{
	return std::ranges::all_of(index.history().operations_of(transaction),
		[](const Operation &operation) { return operation.action == Action::read; });
}

class Replay
{
public:
	Replay(const Index &index, Findings &findings)
		: index_(index), operations_(index.history().operations()), findings_(findings),
		  current_(index.keys(), Index::initial), ambiguous_(index.keys()), blind_(index.keys()),
		  fits_(index.keys()), vague_(index.keys()), vague_erases_(index.keys()),
		  last_reader_(index.keys(), Index::nobody), floating_(index.history().transactions().size()),
		  started_(index.versions().size())
	{
		if (index.lists())
			lists_.resize(index.keys());
		chronicle_.resize(index.keys());
	}

	ReplayResult run()
	{
		sort_out();
		if (order_.empty())
			return result_;
		check_stamps();
		check_sessions();
		for (const std::uint32_t transaction : order_) {
			moment_ += 2;
			apply(transaction);
		}
		result_.replayed = order_.size();
		result_.unplaced -= result_.placed;
		for (const std::uint32_t reader : readers_)
			check_reader(reader);
		return result_;
	}

private:
	/* A version that a key holds from a moment on. Floating transactions are at odd moments. */
	struct Change {
		std::uint32_t moment;
		std::uint32_t version;
	};

	[[nodiscard]] const Transaction &at(std::uint32_t transaction) const { return index_.transaction(transaction); }

	void sort_out()
	{
		for (std::uint32_t i = 0; i < index_.history().transactions().size(); i++) {
			if (!index_.visible(i)) {
				if (at(i).outcome == Outcome::unknown)
					note_vague(i);
				continue;
			}
			if (at(i).stamp.known()) {
				order_.push_back(i);
			} else if (only_reads(index_, at(i))) {
				readers_.push_back(i);
			} else {
				floating_[i] = true;
				result_.unplaced++;
				note_vague(i);
			}
		}
		result_.readers = readers_.size();
		keeps_chronicle_ = !readers_.empty();
		std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return at(i).stamp; });
	}

	/*
	 * Notes erases without a place: an erase leaves no trace of its transaction, so it may be done at any time,
	 * once.
	 */
	void note_vague(std::uint32_t transaction)
	{
		const Transaction &of = at(transaction);
		for (std::uint64_t i = of.first; i < of.first + of.count; i++)
			if (operations_[i].action == Action::erase) {
				vague_erases_[index_.key_of(i)]++;
				vague_[index_.key_of(i)] = true;
			}
	}

	void check_stamps()
	{
		for (std::size_t i = 1; i < order_.size(); i++) {
			if (at(order_[i - 1]).stamp != at(order_[i]).stamp)
				continue;
			findings_.add(replay_check, "timestamp repeated", [&] {
				return fmt::format("{}\n{}", index_.history().describe(order_[i - 1]),
					index_.history().describe(order_[i]));
			});
		}
	}

	void check_sessions()
	{
		std::uint32_t before = Index::nobody;
		for (const std::uint32_t next : index_.history().sessions()) {
			if (!index_.visible(next) || !at(next).stamp.known())
				continue;
			if (before != Index::nobody && at(before).client == at(next).client &&
				at(before).stamp > at(next).stamp)
				findings_.add(replay_check, "timestamp not growing", [&] {
					return fmt::format("{}\n{}", index_.history().describe(before),
						index_.history().describe(next));
				});
			before = next;
		}
	}

	void apply(std::uint32_t transaction)
	{
		const Transaction &of = at(transaction);
		if (result_.placed < result_.unplaced)
			place_before(of);
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			const std::uint32_t key = index_.key_of(i);
			switch (operations_[i].action) {
			case Action::read:
				if (!(index_.lists() ? list_holds(i) : register_holds(i)))
					report(transaction, i);
				last_reader_[key] = transaction;
				break;
			case Action::append:
				append(i);
				break;
			case Action::write:
			case Action::erase:
				set(key, index_.version_of(i), last_reader_[key] != transaction);
				drop_alternatives(key);
				break;
			}
		}
	}

	void set(std::uint32_t key, std::uint32_t version, bool blind)
	{
		current_[key] = version;
		blind_[key] = blind_[key] || blind;
		note(key);
	}

	void append(std::uint64_t operation)
	{
		const std::uint32_t key = index_.key_of(operation);
		lists_[key].push_back(operations_[operation].value);
		current_[key] = index_.version_of(operation);
		note(key);
	}

	void note(std::uint32_t key)
	{
		if (!keeps_chronicle_)
			return;
		if (current_[key] < Index::initial)
			started_[current_[key]] = moment_;
		std::vector<Change> &changes = chronicle_[key];
		if (!changes.empty() && changes.back().moment == moment_)
			changes.back().version = current_[key];
		else
			changes.push_back({moment_, current_[key]});
	}

	bool register_holds(std::uint64_t operation)
	{
		const std::uint32_t key = index_.key_of(operation), version = index_.version_of(operation);
		const bool vague = version == Index::initial && vague_erases_[key] > 0;
		if (version != current_[key] && (is_alternative(key, version) || vague)) {
			if (!is_alternative(key, version))
				vague_erases_[key]--;
			current_[key] = version;
			note(key);
		}
		drop_alternatives(key);
		return version == current_[key];
	}

	[[nodiscard]] bool is_alternative(std::uint32_t key, std::uint32_t version) const
	{
		if (!ambiguous_[key])
			return false;
		const std::vector<std::uint32_t> &versions = alternatives_.at(key);
		return std::ranges::find(versions, version) != versions.end();
	}

	void drop_alternatives(std::uint32_t key)
	{
		if (ambiguous_[key])
			alternatives_.erase(key);
		ambiguous_[key] = false;
	}

	[[nodiscard]] bool list_holds(std::uint64_t operation) const
	{
		return std::ranges::equal(
			index_.history().list_of(operations_[operation]), lists_[index_.key_of(operation)]);
	}

	/* Returns true for a version of a transaction that has no timestamp, and has not been replayed. */
	[[nodiscard]] bool is_waiting(std::uint32_t version) const
	{
		return version < Index::initial && floating_[index_.versions()[version].transaction];
	}

	/*
	 * Places transactions that must come before @p transaction: before all of it, as it must not see them by
	 * halves.
	 */
	void place_before(const Transaction &of)
	{
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			const Action action = operations_[i].action;
			const std::uint32_t version = index_.version_of(i);
			if (action == Action::append)
				place_elements(index_.key_of(i), index_.longest(index_.key_of(i)));
			else if (action == Action::read && index_.lists())
				place_elements(index_.key_of(i), index_.history().list_of(operations_[i]));
			else if (action == Action::read && is_waiting(version))
				place(index_.versions()[version].transaction);
		}
	}

	/* Places transactions whose elements come next in @p list. */
	void place_elements(std::uint32_t key, std::span<const Value> list)
	{
		while (lists_[key].size() < list.size()) {
			const std::uint32_t next = index_.find(key, list[lists_[key].size()]);
			if (!is_waiting(next))
				return;
			place(index_.versions()[next].transaction);
		}
	}

	/*
	 * Replays a transaction without a timestamp now, which is as late as possible, after those that it depends on.
	 * The search for cycles decides if its own reads fit.
	 */
	void place(std::uint32_t first)
	{
		std::vector<std::uint32_t> waiting;
		const auto push = [&](std::uint32_t transaction) {
			floating_[transaction] = false;
			waiting.push_back(transaction);
		};
		push(first);
		moment_--;
		while (!waiting.empty()) {
			const std::uint32_t needed = find_needed(waiting.back());
			if (needed != Index::nobody) {
				push(needed);
				continue;
			}
			apply_floating(waiting.back());
			waiting.pop_back();
			result_.placed++;
		}
		moment_++;
	}

	/* Returns a transaction that must come before, or nobody. */
	[[nodiscard]] std::uint32_t find_needed(std::uint32_t transaction) const
	{
		const Transaction &of = at(transaction);
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			const std::uint32_t version = index_.version_of(i);
			if (operations_[i].action == Action::read && is_waiting(version))
				return index_.versions()[version].transaction;
			if (operations_[i].action != Action::append)
				continue;
			const std::uint32_t key = index_.key_of(i);
			const std::span<const std::uint32_t> order = index_.order(key);
			const std::size_t next = lists_[key].size();
			if (next < order.size() && order[next] != version && is_waiting(order[next]))
				return index_.versions()[order[next]].transaction;
		}
		return Index::nobody;
	}

	void apply_floating(std::uint32_t transaction)
	{
		const Transaction &of = at(transaction);
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			const Action action = operations_[i].action;
			const std::uint32_t key = index_.key_of(i);
			if (action == Action::read) {
				last_reader_[key] = transaction;
				fits_[key] = holds_only_now(key, index_.version_of(i));
			} else if (action == Action::append) {
				append(i);
			} else if (action == Action::erase) {
				continue; /* among the vague ones */
			} else if (blind_[key] && !(fits_[key] && last_reader_[key] == transaction)) {
				/*
				 * It comes before or after the one that has overwritten the key unread: the next read
				 * tells.
				 */
				alternatives_[key].push_back(index_.version_of(i));
				ambiguous_[key] = true;
			} else {
				set(key, index_.version_of(i), last_reader_[key] != transaction);
			}
		}
	}

	/* An absence made by a transaction that did not read the key is like the one before. */
	[[nodiscard]] bool holds_only_now(std::uint32_t key, std::uint32_t version) const
	{
		return version == current_[key] && !(version == Index::initial && blind_[key]);
	}

	void report(std::uint32_t transaction, std::uint64_t operation)
	{
		const std::uint32_t key = index_.key_of(operation);
		std::uint32_t seen = index_.version_of(operation), expected = current_[key];
		if (index_.lists()) {
			const std::span<const Value> list = index_.history().list_of(operations_[operation]);
			const auto [mine, held] = std::ranges::mismatch(list, lists_[key]);
			if (mine != list.end())
				seen = index_.find(key, *mine);
			if (held != lists_[key].end())
				expected = index_.find(key, *held);
		}
		findings_.add(replay_check, name_read(operation, transaction, seen, expected), [&] {
			std::string text = fmt::format(
				"key {:#x} of {}", index_.name_of_key(key), index_.history().describe(transaction));
			for (const auto &[title, version] :
				{std::pair("expected", expected), std::pair("read", seen)}) {
				if (version < Index::initial)
					text += fmt::format("\n{} {:#x} of {}", title, index_.versions()[version].value,
						index_.history().describe(index_.versions()[version].transaction));
				else
					text += fmt::format("\n{} {}", title,
						version == Index::initial ? "nothing" : "what nobody wrote");
			}
			return text;
		});
	}

	/* Returns the name of the anomaly if @p reader has read @p seen instead of @p expected. */
	std::string_view name_read(
		std::uint64_t operation, std::uint32_t reader, std::uint32_t seen, std::uint32_t expected) const
	{
		const std::uint32_t last = index_.version_of(operation); /* of a list */
		if (seen == Index::nobody)
			return "value from nowhere";
		if (seen != Index::initial) {
			const Version &version = index_.versions()[seen];
			if (version.transaction == reader)
				return "own write not seen";
			if (at(version.transaction).outcome == Outcome::aborted)
				return "aborted read";
		}
		if (last < Index::initial && !index_.versions()[last].last)
			return "intermediate read";
		if (expected < Index::initial && sees(reader, index_.versions()[expected].transaction))
			return at(index_.versions()[expected].transaction).outcome == Outcome::unknown
				       ? "unknown transaction half visible"
				       : "fractured read";
		if (seen < Index::initial && at(index_.versions()[seen].transaction).stamp > at(reader).stamp)
			return "read from the future";
		return "stale read";
	}

	[[nodiscard]] bool sees(std::uint32_t reader, std::uint32_t writer) const
	{
		const Transaction &of = at(reader);
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			const std::uint32_t version = index_.version_of(i);
			if (operations_[i].action == Action::read && version < Index::initial &&
				index_.versions()[version].transaction == writer)
				return true;
		}
		return false;
	}

	/* Checks that a transaction without a timestamp that only reads has a moment at which all of its reads hold. */
	void check_reader(std::uint32_t reader)
	{
		const Transaction &of = at(reader);
		std::uint32_t latest = 0;
		bool possible = true;
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			const std::uint32_t version = index_.version_of(i);
			if (has_no_place(index_.key_of(i), version)) {
				result_.skipped++;
				return;
			}
			if (version == Index::initial)
				continue;
			possible = possible && version != Index::nobody && started_[version] != 0 && is_prefix(i);
			if (version != Index::nobody)
				latest = std::max(latest, started_[version]);
		}
		if (possible && (holds_at(of, latest) || holds_later(of, latest)))
			return;
		findings_.add(
			replay_check, "reads of different moments", [&] { return index_.history().describe(reader); });
	}

	/* Returns true if the version is of a transaction without a timestamp, whose place is only one of several. */
	[[nodiscard]] bool has_no_place(std::uint32_t key, std::uint32_t version) const
	{
		if (version == Index::initial)
			return vague_[key];
		if (version == Index::nobody)
			return false;
		const std::uint32_t writer = index_.versions()[version].transaction;
		return index_.visible(writer) && !at(writer).stamp.known();
	}

	[[nodiscard]] bool is_prefix(std::uint64_t operation) const
	{
		if (!index_.lists())
			return true;
		const std::span<const Value> list = index_.history().list_of(operations_[operation]);
		const std::vector<Value> &held = lists_[index_.key_of(operation)];
		return list.size() <= held.size() && std::ranges::equal(list, std::span(held).first(list.size()));
	}

	[[nodiscard]] bool holds_at(const Transaction &of, std::uint32_t moment) const
	{
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			const std::vector<Change> &changes = chronicle_[index_.key_of(i)];
			const auto after = std::ranges::upper_bound(changes, moment, {}, &Change::moment);
			const std::uint32_t held =
				after == changes.begin() ? Index::initial : std::prev(after)->version;
			if (held != index_.version_of(i))
				return false;
		}
		return true;
	}

	/* An absent key may have become absent later, by an erase. */
	[[nodiscard]] bool holds_later(const Transaction &of, std::uint32_t moment) const
	{
		for (std::uint64_t i = of.first; i < of.first + of.count; i++) {
			if (index_.version_of(i) != Index::initial)
				continue;
			const std::vector<Change> &changes = chronicle_[index_.key_of(i)];
			const auto after = std::ranges::upper_bound(changes, moment, {}, &Change::moment);
			if (std::any_of(after, changes.end(), [&](const Change &change) {
				    return change.version == Index::initial && holds_at(of, change.moment);
			    }))
				return true;
		}
		return false;
	}

	const Index &index_;
	const std::span<const Operation> operations_;
	Findings &findings_;
	ReplayResult result_;
	std::vector<std::uint32_t> order_, readers_;

	/* By key */
	std::vector<std::uint32_t> current_;
	std::vector<bool> ambiguous_; /* the key may as well have one of its alternatives */
	std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> alternatives_;
	std::vector<bool> blind_;                 /* a transaction has overwritten it without reading it */
	std::vector<bool> fits_;                  /* the placed transaction had read current, and follows it */
	std::vector<bool> vague_;                 /* a transaction may have erased it at any time */
	std::vector<std::uint32_t> vague_erases_; /* not yet noticed by a read */
	std::vector<std::uint32_t> last_reader_;
	std::vector<std::vector<Value>> lists_;
	std::vector<std::vector<Change>> chronicle_; /* only if needed */

	std::vector<bool> floating_; /* by transaction: to be replayed when needed */
	std::vector<std::uint32_t> started_;
	std::uint32_t moment_ = 0;
	bool keeps_chronicle_ = false;
};

} // namespace

ReplayResult replay(const Index &index, Findings &findings)
{
	return Replay(index, findings).run();
}

std::uint64_t check_bank(const Index &index, std::uint64_t total, Findings &findings)
{
	std::uint64_t audits = 0;
	std::vector<std::uint32_t> seen_by(index.keys(), Index::nobody);
	const std::span<const Operation> operations = index.history().operations();
	for (std::uint32_t i = 0; i < index.history().transactions().size(); i++) {
		const Transaction &of = index.transaction(i);
		if (of.outcome != Outcome::committed || of.count < index.keys())
			continue;
		std::uint64_t sum = 0, keys = 0;
		bool open = false;
		for (std::uint64_t j = of.first; j < of.first + of.count; j++) {
			if (seen_by[index.key_of(j)] == i)
				continue;
			seen_by[index.key_of(j)] = i;
			if (operations[j].action != Action::read)
				continue;
			keys++;
			open = open || operations[j].value != absent;
			sum += balance_of(operations[j].value);
		}
		if (keys != index.keys() || !open)
			continue;
		audits++;
		if (sum != total)
			findings.add("bank", "wrong total", [&] {
				return fmt::format("{} instead of {} in {}", sum, total, index.history().describe(i));
			});
	}
	return audits;
}

} // namespace prism::serializability
