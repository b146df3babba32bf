/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-kv: a PRISM-KV store from the shell.
 * Exit codes: 0; 1 something failed, and nothing was changed; 2 an error of usage; 3 no such key; 4 the store is full;
 * 5 another version; 6 something was changed, or may have been.
 */
#include <cstdio>
#include <functional>
#include <iterator>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/seconds.hpp"
#include "base/terminal.hpp"
#include "common/run_all.hpp"
#include "common/standard_input.hpp"
#include "kv/store/sharded_client.hpp"
#include "service/hello.hpp"
#include "service/size_class.hpp"

namespace
{

using namespace prism;
using namespace prism::kv;
using apps::Operation;
using apps::OperationKind;
using apps::Outcome;

enum ExitCode {
	done = 0,
	failed = 1,
	usage = 2,
	not_found = 3,
	full = 4,
	other_version = 5,
	unknown = cli::changed
};

/* Longest line of batch: a command with a key, and a value of the greatest length */
constexpr std::size_t longest_line = 2 * std::size_t{apps::longest_object};

struct Options {
	std::vector<std::string> servers{"127.0.0.1"};
	std::string device;
	double timeout = 5; /* seconds */
	std::vector<std::string> keys;
	std::string key, value;
	std::optional<std::uint64_t> version;
	bool show_version = false;
};

std::span<const std::byte> bytes_of(const std::string &text)
{
	return std::as_bytes(std::span(text));
}

Operation operation_on(OperationKind kind, const std::string &key)
{
	Operation operation;
	operation.kind = kind;
	operation.key = bytes_of(key);
	return operation;
}

int complain(const Error &error)
{
	cli::complain(error.message);
	return failed;
}

class Tool
{
public:
	explicit Tool(ShardedClient &store) : store_(store) {}

	int get(const std::vector<std::string> &keys, bool lines);
	int get_versioned(const std::vector<std::string> &keys);
	int put(const std::string &key, const std::string &value, const std::optional<std::uint64_t> &version);
	int put_input(const std::string &key, const std::optional<std::uint64_t> &version);
	int erase(const std::string &key, const std::optional<std::uint64_t> &version);
	int stats();
	int recover();
	int batch();

private:
	int report(const Operation &operation, const std::string &key) const;
	int report_change(const Operation &operation, const std::string &key) const;
	[[nodiscard]] std::string why_failed(const Operation &operation) const;
	int change(Operation operation, const std::string &key, const std::optional<std::uint64_t> &version);
	int line(const std::string &text);
	[[nodiscard]] std::vector<std::byte> room_for(const std::string &key);
	template <typename Call>
	Outcome at_shard(Operation &operation, Call call);
	template <typename Call>
	int everywhere(Call call);
	std::optional<int> read_version(
		const std::string &key, std::uint64_t wanted, bool may_be_absent, Version &version);

	ShardedClient &store_;
};

/** Reports an error, if there was one. */
int Tool::report(const Operation &operation, const std::string &key) const
{
	switch (operation.outcome) {
	case Outcome::ok:
		return done;
	case Outcome::not_found:
		cli::complain(key + ": no such key");
		return not_found;
	case Outcome::full:
		cli::complain(key + ": the store has no slot or no buffer for it");
		return full;
	case Outcome::failed:
		cli::complain(key + ": " + why_failed(operation));
		return failed;
	case Outcome::unknown:
		break;
	}
	cli::complain(fmt::format(
		"{}: was done once or not at all, and 'prism-kv get' tells which: lost the connection to {}: {}", key,
		store_.address(store_.shard_of(bytes_of(key))).text(), std::strerror(operation.error)));
	return unknown;
}

/** Does the same for a PUT or an ERASE. */
int Tool::report_change(const Operation &operation, const std::string &key) const
{
	if (operation.outcome == Outcome::ok || operation.outcome == Outcome::unknown)
		cli::note_change();
	return report(operation, key);
}

std::string Tool::why_failed(const Operation &operation) const
{
	const std::size_t shard = store_.shard_of(operation.key);
	const std::string server = store_.address(shard).text();
	switch (operation.error) {
	case EINVAL:
		return "the key is empty, or key or value is too long; 'prism-kv stats' tells the limits";
	case EBADMSG:
		return "its slot or object is damaged; a put replaces it";
	case EBUSY:
		return "was not done, as others change the key all the time; try again";
	case ENOTCONN:
		return "was not done, as there is no connection: " + store_.absence(shard).message;
	default:
		return fmt::format("{} (its server is {})", std::strerror(operation.error), server);
	}
}

/**
 * Runs @p call, which waits, at the shard of @p operation's key. Returns its outcome, or failed if that shard is
 * absent.
 */
template <typename Call>
Outcome Tool::at_shard(Operation &operation, Call call)
{
	const std::size_t shard = store_.shard_of(operation.key);
	store_.poll({}); /* takes a connection that has come late */
	if (PrismClient *const client = store_.client(shard))
		return call(*client);
	operation.error = ENOTCONN;
	return operation.outcome = Outcome::failed;
}

/** Returns room for the longest value of the key's shard. */
std::vector<std::byte> Tool::room_for(const std::string &key)
{
	PrismClient *const client = store_.client(store_.shard_of(bytes_of(key)));
	return std::vector<std::byte>(client ? client->server().max_value_size : 0);
}

/** Gets all keys at once. @p lines: prints each value on a line of its own. */
int Tool::get(const std::vector<std::string> &keys, bool lines)
{
	std::vector<Operation> operations;
	std::vector<std::vector<std::byte>> values(keys.size());
	for (std::size_t i = 0; i < keys.size(); i++) {
		values[i] = room_for(keys[i]);
		operations.push_back(operation_on(OperationKind::get, keys[i]));
		operations.back().result = values[i];
	}
	apps::run_all(store_, operations);
	int worst = done;
	for (std::size_t i = 0; i < keys.size(); i++) {
		if (const int code = report(operations[i], keys[i])) {
			worst = code;
			continue;
		}
		std::fwrite(values[i].data(), 1, operations[i].length, stdout);
		if (lines)
			std::putchar('\n');
		else
			apps::end_line(std::span(values[i]).first(operations[i].length));
	}
	return worst;
}

/** Gets the keys one after another; prints each value on a line of its own after its version. */
int Tool::get_versioned(const std::vector<std::string> &keys)
{
	int worst = done;
	for (const std::string &key : keys) {
		std::vector<std::byte> value = room_for(key);
		Operation operation = operation_on(OperationKind::get, key);
		operation.result = value;
		Version version;
		at_shard(operation, [&](PrismClient &shard) { return shard.get_versioned(operation, version); });
		if (const int code = report(operation, key)) {
			worst = code;
			continue;
		}
		fmt::print("{} ", version.number);
		std::fwrite(value.data(), 1, operation.length, stdout);
		std::putchar('\n');
	}
	return worst;
}

/** Reads the key's version, to be changed on that condition. Returns nothing, or an exit code. Version 0: it is absent.
 */
std::optional<int> Tool::read_version(
	const std::string &key, std::uint64_t wanted, bool may_be_absent, Version &version)
{
	Operation get = operation_on(OperationKind::get, key);
	at_shard(get, [&](PrismClient &shard) { return shard.get_versioned(get, version); });
	const bool absent = get.outcome == Outcome::not_found;
	if (get.outcome != Outcome::ok && !(absent && may_be_absent && !wanted))
		return report(get, key);
	if (version.number == wanted)
		return std::nullopt;
	cli::complain(fmt::format("{}: its version is {}", key, version.number));
	return other_version;
}

/** Runs a PUT or an ERASE, on a condition if there is one. */
int Tool::change(Operation operation, const std::string &key, const std::optional<std::uint64_t> &version)
{
	if (!version) {
		apps::run_all(store_, {&operation, 1});
		return report_change(operation, key);
	}
	Version expected;
	const bool puts = operation.kind == OperationKind::put;
	if (const std::optional<int> code = read_version(key, *version, puts, expected))
		return *code;
	const Outcome outcome = at_shard(operation, [&](PrismClient &shard) {
		return puts ? shard.put_if(operation, expected) : shard.erase_if(operation, expected);
	});
	return outcome == Outcome::not_found ? other_version : report_change(operation, key);
}

int Tool::put(const std::string &key, const std::string &value, const std::optional<std::uint64_t> &version)
{
	Operation operation = operation_on(OperationKind::put, key);
	operation.value = bytes_of(value);
	return change(operation, key, version);
}

/** Stores the standard input; the store refuses too long values. */
int Tool::put_input(const std::string &key, const std::optional<std::uint64_t> &version)
{
	const Result<std::string> value = apps::read_standard_input(apps::longest_object);
	return value ? put(key, *value, version) : complain(value.error());
}

int Tool::erase(const std::string &key, const std::optional<std::uint64_t> &version)
{
	return change(operation_on(OperationKind::erase, key), key, version);
}

/** Runs @p call with every present server, and complains of the others. */
template <typename Call>
int Tool::everywhere(Call call)
{
	int code = done;
	for (std::size_t shard = 0; shard < store_.shards(); shard++) {
		PrismClient *const client = store_.client(shard);
		const Result<void> called = client ? call(*client) : Result<void>(store_.absence(shard));
		if (!called)
			code = complain(called.error());
	}
	return code;
}

int Tool::stats()
{
	return everywhere([](PrismClient &shard) -> Result<void> {
		Result<std::string> text = shard.server_stats();
		if (!text)
			return text.error();
		fmt::print("{}\n", *text);
		return {};
	});
}

int Tool::recover()
{
	return everywhere([](PrismClient &shard) { return shard.request_recovery(); });
}

/** Runs a line: "get KEY...", "put KEY VALUE", "delete KEY"; the value is the rest of its line. */
int Tool::line(const std::string &text)
{
	std::istringstream words(text);
	std::string command, key;
	words >> command >> key;
	if (command == "put" && words.get() == ' ')
		return put(key, {std::istreambuf_iterator<char>(words), {}}, std::nullopt);
	std::vector<std::string> keys{key};
	keys.insert(keys.end(), std::istream_iterator<std::string>(words), {});
	if (command == "get" && !key.empty())
		return get(keys, true);
	if (command == "delete" && !key.empty() && keys.size() == 1)
		return erase(key, std::nullopt);
	cli::complain("'" + text + "' is no command: get KEY..., put KEY VALUE, delete KEY");
	return usage;
}

int Tool::batch()
{
	int worst = done;
	const Result<void> read = apps::read_lines(longest_line, [&](const std::string &text) {
		const bool is_command = !text.empty() && text.front() != '#';
		if (const int code = is_command ? line(text) : done)
			worst = code;
		return true;
	});
	return read ? worst : complain(read.error());
}

int run(const Options &options, const std::function<int(Tool &)> &command)
{
	Result<Context> context = Context::open(options.device, Progress::caller);
	if (!context)
		return complain(context.error());
	std::vector<ServerAddress> servers;
	for (const std::string &text : options.servers) /* check_server() has checked them */
		servers.push_back(ServerAddress::parse(text, apps::default_store_port).value());
	PrismClientOptions client;
	client.depth = 16;
	client.hints = 4096;
	client.timeout = apps::milliseconds(options.timeout);
	auto store = ShardedClient::connect(*context, servers, client);
	if (!store)
		return complain(store.error());
	Tool tool(**store);
	return command(tool);
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	std::function<int(Tool &)> command;
	cli::CommandLine app{"A PRISM-KV store from the shell."};
	app.add_version("prism-kv");
	app.footer(
		"Exit codes: 0; 1 failed, nothing was changed; 2 usage; 3 no such key; 4 the store is full; 5 another "
		"version; 6 something was changed, or may have been.");
	app.add_option("-s,--server", options.servers,
		   "HOST or HOST:PORT; several are shards of one store, named alike and in one order by all clients")
		.check(apps::check_server)
		.capture_default_str();
	app.add_option("-d,--ib-dev", options.device, "RDMA device (default: the first userspace device)");
	app.add_option("--timeout", options.timeout, "Seconds to wait for a server")
		.check(cli::Seconds())
		.check(cli::PositiveNumber())
		.capture_default_str();
	app.require_subcommand(1);

	cli::Command get = app.add_subcommand("get",
		"Print the values of keys, each on a line of its own; a single one as it is, unless on a terminal");
	get.add_option("KEY", options.keys).required();
	get.add_flag("--show-version", options.show_version, "Print the version first");
	cli::Command put = app.add_subcommand("put", "Store a value");
	cli::Command erase = app.add_subcommand("delete", "Remove a key");
	put.add_option("KEY", options.key).required();
	put.add_option("VALUE", options.value, "- for the standard input").required();
	erase.add_option("KEY", options.key).required();
	for (cli::Command changes : {put, erase})
		changes.add_option("--if-version", options.version,
			"Only if this is the key's version; of put, 0: only if there is no such key");
	cli::Command stats = app.add_subcommand("stats", "Print the servers' statistics as JSON");
	cli::Command recover =
		app.add_subcommand("recover", "Have the servers look for buffers that dead clients held");
	cli::Command batch = app.add_subcommand("batch", "Read commands from the standard input, one a line");

	get.callback([&] {
		command = [&](Tool &tool) {
			return options.show_version ? tool.get_versioned(options.keys)
						    : tool.get(options.keys, options.keys.size() > 1);
		};
	});
	put.callback([&] {
		command = [&](Tool &tool) {
			return options.value == "-" ? tool.put_input(options.key, options.version)
						    : tool.put(options.key, options.value, options.version);
		};
	});
	erase.callback([&] { command = [&](Tool &tool) { return tool.erase(options.key, options.version); }; });
	stats.callback([&] { command = [](Tool &tool) { return tool.stats(); }; });
	recover.callback([&] { command = [](Tool &tool) { return tool.recover(); }; });
	batch.callback([&] { command = [](Tool &tool) { return tool.batch(); }; });
	if (const auto early = app.parse("prism-kv", argc, argv))
		return early->print();
	return cli::run_program([&] { return run(options, command); });
}
