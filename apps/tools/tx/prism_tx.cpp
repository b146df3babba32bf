/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-tx: transactions of a PRISM-TX store from the shell.
 * Exit codes: 0; 1 failed, nothing was changed; 2 an error of usage; 3 no such key, 4 a key that is there already, 5
 * given up after conflicts: nothing was changed; 6 something was changed, or may have been.
 */
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/command_line.hpp"
#include "base/seconds.hpp"
#include "base/terminal.hpp"
#include "common/standard_input.hpp"
#include "service/size_class.hpp"
#include "tx/store/prism_client.hpp"

namespace
{

using namespace prism;
using namespace prism::tx;

enum ExitCode {
	done = 0,
	failed = 1,
	usage = 2,
	not_found = 3,
	exists = 4,
	conflict = 5,
	unknown = cli::changed
};

/* Longest line of run: a command with a key, and a value of the longest */
constexpr std::size_t longest_line = 2 * std::size_t{apps::longest_object};

struct Options {
	std::string shards;
	std::string device;
	double timeout = 5; /* seconds */
	unsigned attempts = 0;
	std::vector<std::string> words;
	bool json = false;
	std::vector<unsigned> adopted; /* shards */
};

enum class Kind : std::uint8_t {
	get,
	put,
	insert,
	erase,
	add,
	abort
};

/** One thing that a transaction does. */
struct Statement {
	Kind kind = Kind::get;
	std::string key;
	std::string value; /* of put and insert */
	std::int64_t amount = 0;
};
using Statements = std::vector<Statement>;

int complain(const std::string &text, int code = failed)
{
	cli::complain(text);
	return code;
}

template <typename Number>
bool parse_number(std::string_view text, Number &number)
{
	const char *const end = text.data() + text.size();
	const auto [rest, error] = std::from_chars(text.data(), end, number);
	return error == std::errc{} && rest == end;
}

Bytes bytes_of(const std::string &text)
{
	return std::as_bytes(std::span(text));
}

/* Statements ------------------------------------------------------------------------------------------------------- */

/** Adds the statement of "KEY=VALUE"; the value may be anything. Returns false if the text has no such form. */
bool add_assignment(Kind kind, const std::string &text, Statements &statements)
{
	const std::size_t equals = text.find('=');
	if (equals == std::string::npos || equals == 0)
		return false;
	statements.push_back({kind, text.substr(0, equals), text.substr(equals + 1), 0});
	return true;
}

bool add_amount(const std::string &key, const std::string &text, Statements &statements)
{
	Statement statement{Kind::add, key, {}, 0};
	if (!parse_number(text.starts_with('+') ? std::string_view(text).substr(1) : text, statement.amount))
		return false;
	statements.push_back(std::move(statement));
	return true;
}

/** Parses the words of a command. Returns what is wrong with them; empty if nothing is. */
std::string parse_words(Kind kind, const std::vector<std::string> &words, Statements &statements)
{
	if (kind == Kind::add && words.size() % 2)
		return "add takes pairs: KEY AMOUNT...";
	for (std::size_t i = 0; i < words.size(); i++) {
		if (kind == Kind::get || kind == Kind::erase) {
			statements.push_back({kind, words[i], {}, 0});
		} else if (kind != Kind::add) {
			if (!add_assignment(kind, words[i], statements))
				return "'" + words[i] + "' is no assignment: write KEY=VALUE";
		} else if (i % 2 && !add_amount(words[i - 1], words[i], statements)) {
			return "'" + words[i] + "' is no amount: write a whole number of 64 bits";
		}
	}
	return {};
}

/**
 * Parses a line of `run`; the value of an assignment extends to its end. Returns what is wrong; empty if nothing is.
 */
std::string parse_line(const std::string &line, Statements &statements)
{
	static const std::map<std::string, Kind> kinds{{"get", Kind::get}, {"put", Kind::put}, {"insert", Kind::insert},
		{"erase", Kind::erase}, {"add", Kind::add}, {"abort", Kind::abort}};
	std::istringstream words(line);
	std::string name;
	words >> name;
	const auto found = kinds.find(name);
	if (found == kinds.end())
		return "'" + name + "' is no command: get, put, insert, erase, add, abort";
	const Kind kind = found->second;
	if (kind == Kind::put || kind == Kind::insert) {
		words >> std::ws;
		return parse_words(kind, {std::string(std::istreambuf_iterator<char>(words), {})}, statements);
	}
	const std::vector<std::string> rest{std::istream_iterator<std::string>(words), {}};
	if (kind == Kind::abort) {
		statements.push_back({kind, {}, {}, 0});
		return rest.empty() ? std::string() : "abort stands alone";
	}
	return rest.empty() ? name + " needs a key" : parse_words(kind, rest, statements);
}

/** Parses all lines of the standard input. Returns an exit code. */
int parse_lines(Statements &statements)
{
	constexpr std::size_t most_statements = 1 << 16, most_bytes = std::size_t{64} << 20;
	unsigned number = 0;
	std::size_t bytes = 0;
	std::string wrong;
	const Result<void> read = apps::read_lines(longest_line, [&](const std::string &line) {
		number++;
		bytes += line.size();
		if (bytes > most_bytes || statements.size() > most_statements) {
			wrong = "no transaction has more than 65,536 keys or 64 MiB";
			return false;
		}
		if (line.empty() || line.front() == '#')
			return true;
		const bool is_over = !statements.empty() && statements.back().kind == Kind::abort;
		wrong = is_over ? "nothing comes after abort" : parse_line(line, statements);
		return wrong.empty();
	});
	if (!read)
		return complain(read.error().message);
	return wrong.empty() ? int{done} : complain(fmt::format("line {}: {}", number, wrong), usage);
}

/* The transaction -------------------------------------------------------------------------------------------------- */

/**
 * Tool that executes statements as one transaction. A problem with a value is certain only when the transaction has
 * committed: until then the values that it has read may not be consistent. So an attempt that finds a problem commits
 * its reads, without a change.
 */
class Tool
{
public:
	Tool(PrismClient &client, Shards shards, const Options &options)
		: client_(client), shards_(std::move(shards)), options_(options)
	{
	}

	/** @p lines: prints each value on a line of its own. */
	int transact(const Statements &statements, bool lines);
	int status();
	int recover();

private:
	struct Problem {
		int code = done;
		std::string text;
	};
	using Value = std::optional<std::string>;

	int check(const Statement &statement);
	[[nodiscard]] std::string key_of(const std::string &text) const;
	apps::Task<int> attempt(Transaction &transaction, const Statements &statements);
	void look(const Statement &statement, const Value &value);
	void add(const Statement &statement, const Value &value);
	void object(int code, const std::string &key, const std::string &what);
	int report(const Job &job) const;
	[[nodiscard]] std::string lost_shards() const;

	PrismClient &client_;
	const Shards shards_;
	const Options &options_;
	bool lines_ = false;
	std::vector<std::string> keys_;        /* of the statements, as the store has them */
	std::map<std::string, Value> changes_; /* by the store's key */
	std::vector<Problem> problems_;
	std::string output_;
};

/** Returns the key as the store has it: a text that the store takes for a number has 8 bytes. */
std::string Tool::key_of(const std::string &text) const
{
	std::uint64_t number = 0;
	if (!client_.store().numbered || !parse_number(text, number))
		return text;
	return {reinterpret_cast<const char *>(&number), sizeof(number)};
}

int Tool::check(const Statement &statement)
{
	const StoreView &store = client_.store();
	std::uint64_t number = 0;
	if (store.numbered && !parse_number(statement.key, number))
		return complain(fmt::format("'{}' is no key: those of this store are numbers", statement.key));
	if (statement.key.empty() || (!store.numbered && statement.key.size() > store.max_key_size))
		return complain(fmt::format("'{}' is no key: it has {} bytes, those of this store have 1 to {}",
			statement.key, statement.key.size(), store.max_key_size));
	KeyPlace place;
	if (client_.place_of(bytes_of(key_of(statement.key)), place) == EINVAL)
		return complain(fmt::format("'{}' is no key: this store ends before", statement.key));
	if (statement.value.size() > store.max_value_size)
		return complain(fmt::format("{}: a value of {} bytes is too long, {} fit", statement.key,
			statement.value.size(), store.max_value_size));
	return done;
}

void Tool::object(int code, const std::string &key, const std::string &what)
{
	problems_.push_back({code, key + ": " + what});
}

void Tool::add(const Statement &statement, const Value &value)
{
	std::int64_t number = 0;
	if (!value)
		object(not_found, statement.key, "no such key");
	else if (!parse_number(*value, number))
		object(failed, statement.key, "'" + *value + "' is no number that can be added to");
	else if (__builtin_add_overflow(number, statement.amount, &number))
		object(failed, statement.key, "the sum has more than 64 bits");
	else if (const std::string sum = std::to_string(number); sum.size() > client_.store().max_value_size)
		object(failed, statement.key, "the sum is longer than a value may be");
	else
		changes_[key_of(statement.key)] = sum;
	if (problems_.empty())
		output_ += fmt::format("{} {}\n", statement.key, number);
}

/** Executes one statement; @p value is the current value of its key. */
void Tool::look(const Statement &statement, const Value &value)
{
	switch (statement.kind) {
	case Kind::get:
		if (value)
			output_ += *value + (lines_ ? "\n" : "");
		else
			object(not_found, statement.key, "no such key");
		break;
	case Kind::put:
		changes_[key_of(statement.key)] = statement.value;
		break;
	case Kind::insert:
		if (value)
			object(exists, statement.key, "is there already");
		changes_[key_of(statement.key)] = statement.value;
		break;
	case Kind::erase:
		if (!value)
			object(not_found, statement.key, "no such key");
		changes_[key_of(statement.key)] = std::nullopt;
		break;
	case Kind::add:
		add(statement, value);
		break;
	case Kind::abort:
		changes_.clear();
	}
}

apps::Task<int> Tool::attempt(Transaction &transaction, const Statements &statements)
{
	changes_.clear();
	problems_.clear();
	output_.clear();
	std::vector<Bytes> wanted;
	for (std::size_t i = 0; i < statements.size(); i++) {
		if (statements[i].kind != Kind::put && statements[i].kind != Kind::abort)
			wanted.push_back(bytes_of(keys_[i]));
	}
	if (const int error = co_await transaction.fetch(wanted))
		co_return error;
	for (std::size_t i = 0; i < statements.size(); i++) {
		const auto changed = changes_.find(keys_[i]);
		Value value;
		if (changed != changes_.end())
			value = changed->second;
		else if (const std::optional<Bytes> found = transaction.value(bytes_of(keys_[i])))
			value.emplace(reinterpret_cast<const char *>(found->data()), found->size());
		look(statements[i], value);
	}
	if (!problems_.empty())
		co_return 0;
	for (const auto &[key, value] : changes_) {
		const int error =
			value ? transaction.write(bytes_of(key), bytes_of(*value)) : transaction.erase(bytes_of(key));
		if (error)
			co_return error;
	}
	co_return 0;
}

/** Returns " (shard 1 at one:18621 is gone)", or an empty text. */
std::string Tool::lost_shards() const
{
	std::map<std::size_t, std::string> lost;
	for (const std::string &key : keys_) {
		KeyPlace place;
		if (client_.place_of(bytes_of(key), place) == EHOSTUNREACH)
			lost[place.shard] = shards_[place.shard].text();
	}
	std::string text;
	for (const auto &[shard, address] : lost)
		text += fmt::format("{}shard {} at {}", text.empty() ? " (" : ", ", shard, address);
	return text.empty() ? text : text + " is gone)";
}

int Tool::report(const Job &job) const
{
	if (job.outcome == Outcome::unknown)
		return complain("it is not known whether all was changed or nothing" + lost_shards(), unknown);
	if (job.outcome == Outcome::conflict && job.error != ENOBUFS)
		return complain(fmt::format("given up after {} attempts: others change the same keys; nothing was "
					    "changed",
					job.attempts),
			conflict);
	std::string why = std::strerror(job.error);
	if (job.error == ENOBUFS)
		why = "the store has no buffer left for this";
	else if (job.error == E2BIG)
		why = fmt::format("too large: a transaction reads and writes {} cells at most", max_accesses);
	else if (job.error == ENOSPC)
		why = "too large: what shares a cell with it does not fit the largest buffer (prism-tx-server --class)";
	else if (job.error == EOVERFLOW)
		why = "a client's clock was at its end: nothing can be written behind that";
	else if (job.error == EHOSTUNREACH)
		why = "a shard cannot be reached" + lost_shards();
	return complain(why + "; nothing was changed");
}

int Tool::transact(const Statements &statements, bool lines)
{
	lines_ = lines;
	for (const Statement &statement : statements) {
		if (const int code = statement.kind == Kind::abort ? done : check(statement))
			return code;
		keys_.push_back(key_of(statement.key));
	}
	Job job;
	job.max_attempts = options_.attempts;
	job.body = [this, &statements](Transaction &transaction) { return attempt(transaction, statements); };
	if (client_.run(job) != Outcome::committed)
		return report(job);
	int code = done;
	for (const Problem &problem : problems_)
		code = complain(problem.text, problem.code);
	const bool only_reads =
		std::ranges::all_of(statements, [](const Statement &statement) { return statement.kind == Kind::get; });
	if (code && !only_reads)
		return complain("nothing was changed", code);
	if (!changes_.empty() && !code)
		cli::note_change();
	(void)std::fwrite(output_.data(), 1, output_.size(), stdout);
	if (!output_.empty())
		apps::end_line(bytes_of(output_));
	return code;
}

/* The shards ------------------------------------------------------------------------------------------------------- */

int Tool::status()
{
	nlohmann::json all = nlohmann::json::array();
	for (std::size_t shard = 0; shard < shards_.size(); shard++) {
		Result<std::string> text = client_.stats_of(shard);
		if (!text)
			return complain(shards_[shard].text() + ": " + text.error().message);
		const nlohmann::json stats = nlohmann::json::parse(*text, nullptr, false);
		if (stats.is_discarded())
			return complain(fmt::format(
				"shard {} at {} tells statistics that are none", shard, shards_[shard].text()));
		all.push_back(stats);
	}
	if (options_.json) {
		fmt::print("{}\n", all.dump(2));
		return done;
	}
	for (std::size_t shard = 0; shard < shards_.size(); shard++) {
		const nlohmann::json &stats = all[shard];
		std::uint64_t buffers = 0, available = 0;
		for (const nlohmann::json &one : stats.at("classes")) {
			buffers += one.at("buffers").get<std::uint64_t>();
			available += one.at("available").get<std::uint64_t>();
		}
		const nlohmann::json &cells = stats.at("cells");
		fmt::print(
			"shard {} at {}: {} of {} cells have keys, {} prepared; {} of {} buffers in use; {} clients\n",
			shard, shards_[shard].text(), cells.at("written").get<std::uint64_t>(),
			cells.at("number").get<std::uint64_t>(), cells.at("prepared").get<std::uint64_t>(),
			buffers - available, buffers, stats.at("connections").at("open").get<std::uint64_t>());
	}
	return done;
}

int Tool::recover()
{
	int code = done;
	const auto deadline = std::chrono::steady_clock::now() + apps::milliseconds(options_.timeout);
	for (std::size_t shard = 0; shard < shards_.size(); shard++) {
		Result<void> begun = client_.request_recovery(shard);
		/* Another recovery is under way, and may have begun before the loss that this one is to find. */
		while (!begun && begun.error().code == EBUSY && std::chrono::steady_clock::now() < deadline) {
			(void)client_.poll({});
			begun = client_.request_recovery(shard);
		}
		if (!begun)
			code = complain(shards_[shard].text() + ": " + begun.error().message);
	}
	return code;
}

int run(const Options &options, const std::function<int(Tool &)> &command)
{
	const Shards shards = parse_shards(options.shards).value(); /* check_shards() has checked it */
	Result<Context> context = Context::open(options.device, Progress::caller);
	if (!context)
		return complain(context.error().message);
	PrismClientOptions client;
	client.setup_timeout = apps::milliseconds(options.timeout);
	client.retry.timeout = client.setup_timeout;
	client.adopt.assign(options.adopted.begin(), options.adopted.end());
	auto connected = PrismClient::connect(*context, shards, client);
	if (!connected)
		return complain(connected.error().message);
	if (!options.adopted.empty())
		cli::note_change();
	Tool tool(**connected, shards, options);
	return command(tool);
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app{"Transactions of a PRISM-TX store from the shell."};
	app.add_version("prism-tx");
	app.footer("Exit codes: 0; 1 failed; 2 usage; 3 no such key; 4 a key that is there already; 5 given up after "
		   "conflicts; 6 something was changed, or may have been. After 1 to 5 nothing was changed.");
	app.add_option(
		   "SHARDS", options.shards, "HOST:PORT of each, separated by commas, in the order of their numbers")
		.check(check_shards)
		.required();
	app.add_option("-d,--ib-dev", options.device, "RDMA device (default: the first userspace device)");
	app.add_option("--timeout", options.timeout, "Seconds to wait for a shard, and to try")
		.check(cli::Seconds())
		.check(cli::PositiveNumber())
		.capture_default_str();
	app.add_option(
		"--attempts", options.attempts, "Give up after so many (default: as many as the timeout has room for)");
	app.require_subcommand(1);

	struct Command {
		const char *name;
		Kind kind;
		const char *help;
		const char *argument;
		const char *words; /* placeholder of the argument in the help */
	};
	static constexpr Command changes[] = {
		{"get", Kind::get, "Print the values of keys, each on a line; a single one as it is", "KEY", ""},
		{"put", Kind::put, "Store values", "PAIR", "KEY=VALUE"},
		{"insert", Kind::insert, "Store values of keys that are not there", "PAIR", "KEY=VALUE"},
		{"erase", Kind::erase, "Remove keys", "KEY", ""},
		{"add", Kind::add, "Add to values that are numbers, and print them", "PAIR", "KEY AMOUNT"},
	};
	Statements statements;
	std::function<int(Tool &)> command;
	int wrong = done;
	for (const Command &one : changes) {
		cli::Command sub = app.add_subcommand(one.name, one.help);
		sub.add_option(one.argument, options.words, one.words).required();
		sub.callback([&, one] {
			const std::string what = parse_words(one.kind, options.words, statements);
			wrong = what.empty() ? done : complain(what, usage);
			command = [&](Tool &tool) { return tool.transact(statements, statements.size() > 1); };
		});
	}
	app.add_subcommand("run", "Do the commands of the standard input, one a line, as one transaction")
		.callback([&] {
			wrong = parse_lines(statements);
			command = [&](Tool &tool) { return tool.transact(statements, true); };
		});
	cli::Command status = app.add_subcommand("status", "Tell how the shards are");
	status.add_flag("--json", options.json, "Their statistics, as JSON");
	status.callback([&] { command = [](Tool &tool) { return tool.status(); }; });
	app.add_subcommand("recover", "Have the shards look for buffers that dead clients held").callback([&] {
		command = [](Tool &tool) { return tool.recover(); };
	});
	cli::Command adopt =
		app.add_subcommand("adopt", "Take in shards that have come back empty: their keys are gone");
	adopt.add_option("SHARD", options.adopted, "The numbers of all of them; not 0")
		.required()
		.check(cli::Range(1, 4094));
	adopt.callback([&] { command = [](Tool &tool) { return tool.status(); }; });
	if (const auto early = app.parse("prism-tx", argc, argv))
		return early->print();
	if (wrong)
		return wrong;
	return cli::run_program([&] {
		try {
			return run(options, command);
		} catch (const nlohmann::json::exception &error) {
			return complain(std::string("a shard tells statistics that make no sense: ") + error.what());
		}
	});
}
