/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-gam: the global memory from the shell. It joins as a node that lends next to nothing, does one thing, and
 * leaves. Exit codes: 0; 1 failed, nothing was changed; 2 an error of usage; 3 a lock that was tried is another's;
 * 6 something was changed, or may have been.
 */
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/command_line.hpp"
#include "base/seconds.hpp"
#include "base/terminal.hpp"
#include "common/standard_input.hpp"
#include "gam/api/errors.hpp"
#include "gam/api/lenders.hpp"
#include "gam/membership/master_location.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;

enum ExitCode {
	done = 0,
	failed = 1,
	usage = 2,
	busy = 3
};

struct Options {
	JoinOptions join;
	std::string device;
	double timeout = 10;
	bool json = false;
	std::string address; /* argument of a command */
	std::uint64_t bytes = 0;
	std::uint64_t locked = 1; /* bytes to lock */
	std::string text;
	std::string on = "remote";
	bool hex = false;
	bool writes = false; /* lock for writing */
	bool tries = false;
	double hold = 0;
	std::uint64_t operand = 0;
	NodeId node = 0; /* node to give up */
};

/* Most bytes read or written at once */
constexpr std::uint64_t longest_piece = 65536;

int complain(const std::string &text, int code = failed)
{
	cli::complain(text);
	return code;
}

/** Reports the outcome of @p what at @p address, and returns the exit code. */
int outcome(int error, const std::string &what, Address address)
{
	if (!error)
		return done;
	return complain(
		fmt::format("{} {:#x}: {}", what, address.value, describe(error)), error == EBUSY ? busy : failed);
}

/** Does the same for a change of @p bytes bytes, which is noted unless the error shows that there was none. */
int outcome_of_change(int error, const std::string &what, Address address, std::size_t bytes = 1)
{
	const bool one_block = address.in_block() + bytes <= block_size;
	const bool refused = error == EINVAL || (error == EFAULT && one_block);
	if (!refused)
		cli::note_change();
	return outcome(error, what, address);
}

std::optional<std::uint64_t> parse_number(const std::string &text)
{
	std::size_t used = 0;
	try {
		const std::uint64_t number = std::stoull(text, &used, 0);
		const bool is_number = used == text.size() && text[0] >= '0' && text[0] <= '9';
		return is_number ? std::optional(number) : std::nullopt;
	} catch (const std::exception &) {
		return std::nullopt;
	}
}

std::string check_address(const std::string &text)
{
	return parse_number(text) ? std::string()
				  : "'" + text + "' is no address: they are numbers such as 0x1000000000200";
}

std::string check_place(const std::string &text)
{
	return text == "remote" || text == "random" || parse_number(text).value_or(max_nodes) < max_nodes
		       ? std::string()
		       : "'" + text + "' is not remote, random, or the number of a node";
}

Address address_of(const Options &options)
{
	return Address(parse_number(options.address).value_or(0));
}

/* The commands ----------------------------------------------------------------------------------------------------- */

int free(Session &session, const Options &options)
{
	return outcome_of_change(session.free(address_of(options)), "free", address_of(options));
}

/** Prints lines of 32 bytes. */
void print_hex(std::span<const std::byte> bytes)
{
	for (std::size_t i = 0; i < bytes.size(); i++)
		fmt::print("{:02x}{}", bytes[i], i % 32 == 31 || i + 1 == bytes.size() ? "\n" : "");
}

/** Reads in pieces, so that nothing has to hold all of it. */
int read(Session &session, const Options &options)
{
	std::vector<std::byte> piece;
	for (std::uint64_t offset = 0; offset < options.bytes && !std::ferror(stdout); offset += piece.size()) {
		piece.resize(std::min(options.bytes - offset, longest_piece));
		const Address from = address_of(options) + offset;
		if (const int error = session.read(from, piece))
			return outcome(error, "read", from);
		if (options.hex)
			print_hex(piece);
		else
			std::fwrite(piece.data(), 1, piece.size(), stdout);
	}
	if (!options.hex)
		apps::end_line(piece);
	return done;
}

int write_text(Session &session, Address to, const std::string &text)
{
	int error = session.write(to, std::as_bytes(std::span(text)));
	if (!error)
		error = session.mfence(); /* for errors that a write finds only at its home */
	return outcome_of_change(error, "write", to, text.size());
}

/** Writes in pieces, too. */
int write(Session &session, const Options &options)
{
	if (options.text != "-")
		return write_text(session, address_of(options), options.text);
	for (std::uint64_t offset = 0;;) {
		const Result<std::string> piece = apps::read_standard_input(longest_piece - 1);
		if (!piece)
			return complain(piece.error().message);
		if (piece->empty())
			return offset ? done : complain("nothing to write: the standard input is empty");
		if (const int code = write_text(session, address_of(options) + offset, *piece))
			return code;
		offset += piece->size();
	}
}

int gam_add(Session &session, const Options &options)
{
	std::uint64_t old = 0;
	const int error = session.atomic(address_of(options), sizeof(old), Function::add, options.operand, old);
	if (!error)
		fmt::print("{}\n", old);
	return outcome_of_change(error, "add", address_of(options));
}

int lock(Session &session, const Options &options)
{
	const Address at = address_of(options);
	const std::size_t bytes = std::max<std::uint64_t>(options.locked, 1);
	const int error = options.writes ? (options.tries ? session.try_wlock(at, bytes) : session.wlock(at, bytes))
					 : (options.tries ? session.try_rlock(at, bytes) : session.rlock(at, bytes));
	if (error)
		return outcome(error, "lock", at);
	fmt::print("locked\n");
	std::fflush(stdout);
	std::this_thread::sleep_for(apps::milliseconds(options.hold));
	return outcome(session.unlock(at, bytes), "unlock", at);
}

const char *name_of(const Member &member)
{
	if (!member.live())
		return member.is_away() ? "away" : "dead";
	return member.state == NodeState::serving ? "serving" : "joining";
}

/** Waits for the free bytes of all nodes, which they tell a moment after a node joins. */
void await_news(JoinedNode &joined)
{
	const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
	joined.node().wait_until([&] {
		const View view = joined.view();
		return std::chrono::steady_clock::now() > end ||
		       std::all_of(view.members.begin(), view.members.end(), [&](const Member &member) {
			       return member.state != NodeState::serving || joined.node().available(member.life.node);
		       });
	});
}

/** Explains that the named node, or no node, lends memory. */
std::string why_nobody_lends(JoinedNode &joined, const Options &options)
{
	const std::string waited = fmt::format("waited {} s", options.timeout);
	const std::optional<std::uint64_t> number = parse_number(options.on);
	if (!number)
		return fmt::format("no node lends memory ({}): start prism-gam-node", waited);
	const View view = joined.view();
	const Member *const member = view.find(static_cast<NodeId>(*number));
	if (!member || *number == joined.node().self())
		return fmt::format("there is no node {} ({}): 'prism-gam stat' lists them", *number, waited);
	if (member->is_away())
		return fmt::format("node {} is away ({}): start it again, with its log", *number, waited);
	return fmt::format("node {} {} ({}): 'prism-gam stat' lists the others", *number,
		member->live() ? "is only joining" : "is dead", waited);
}

NodeId choose(JoinedNode &joined, const std::vector<NodeId> &nodes, const std::string &on)
{
	if (on == "random")
		return nodes[std::random_device()() % nodes.size()];
	return *std::max_element(nodes.begin(), nodes.end(), [&](NodeId left, NodeId right) {
		return joined.node().available(left) < joined.node().available(right);
	});
}

/** Allocates. Waits for nodes that were just started and are still joining. */
int allocate(JoinedNode &joined, const Options &options)
{
	const std::vector<NodeId> nodes =
		await_lenders(joined, apps::milliseconds(options.timeout), parse_number(options.on));
	if (nodes.empty())
		return complain(
			fmt::format("cannot allocate {} bytes: {}", options.bytes, why_nobody_lends(joined, options)));
	await_news(joined);
	Session session(joined.node());
	const NodeId home = choose(joined, nodes, options.on);
	Address address;
	if (const int error = session.malloc(options.bytes, address, Placement::near(Address(home, 0))))
		return complain(
			fmt::format("cannot allocate {} bytes on node {}: {}", options.bytes, home, describe(error)));
	fmt::print("{:#x}\n", address.value);
	if (std::fflush(stdout)) { /* otherwise nobody would know the address */
		const int error = session.free(address);
		return error ? outcome_of_change(error, "free", address) : done;
	}
	cli::note_change();
	return done;
}

int stat(JoinedNode &joined, const Options &options)
{
	await_news(joined);
	const View view = joined.view();
	nlohmann::json members = nlohmann::json::array();
	if (!options.json)
		fmt::print("{:>4} {:8} {:22} {:>14} {:>14}\n", "node", "state", "address", "bytes lent", "bytes free");
	for (const Member &member : view.members) {
		if (member.life.node == joined.node().self())
			continue; /* this program */
		const std::uint64_t available = joined.node().available(member.life.node);
		const std::string address =
			member.host.empty() ? "unknown" : fmt::format("{}:{}", member.host, member.port);
		if (options.json)
			members.push_back({{"node", member.life.node}, {"state", name_of(member)}, {"address", address},
				{"lent", member.lent}, {"free", available}});
		else
			fmt::print("{:>4} {:8} {:22} {:>14} {:>14}\n", member.life.node, name_of(member), address,
				member.lent, available);
	}
	if (options.json)
		fmt::print("{}\n", nlohmann::json{{"epoch", view.epoch}, {"members", members}}.dump(2));
	return done;
}

int forget(JoinedNode &joined, const Options &options)
{
	const Result<void> given_up = joined.give_up(options.node);
	if (!given_up)
		return complain(given_up.error().message);
	cli::note_change();
	return done;
}

using Body = std::function<int(JoinedNode &joined, const Options &options)>;

Body on_session(int (*command)(Session &session, const Options &options))
{
	return [command](JoinedNode &joined, const Options &options) {
		Session session(joined.node());
		return command(session, options);
	};
}

int run(Options &options, const Body &body)
{
	const Result<Context> context = options.device.empty() ? Context::open() : Context::open(options.device);
	if (!context)
		return complain(context.error().message);
	options.join.node.bytes = least_lent;
	/* Twice of what is locked, all of which has to be there: blocks need not be spread evenly over the shards. */
	options.join.cache_bytes =
		(std::size_t{1} << 20) + 2 * std::min(options.locked, Session::max_locked_blocks * block_size);
	options.join.timeout = apps::milliseconds(options.timeout);
	const Result<std::unique_ptr<JoinedNode>> joined = JoinedNode::join(*context, options.join);
	if (!joined)
		return complain(joined.error().message);
	const int code = body(**joined, options);
	if (const Result<void> member = joined.value()->check(); !member)
		return complain(member.error().message);
	if (const Result<void> left = joined.value()->leave(); !left)
		return complain(left.error().message);
	return code;
}

class Commands
{
public:
	Commands(cli::CommandLine &app, Options &options) : app_(app), options_(options) {}

	void add_all()
	{
		cli::Command command = add("malloc", "allocate, and print the address", allocate);
		command.add_option("BYTES", options_.bytes, "how many").required();
		command.add_option("--on", options_.on,
			       "which node: its number, remote (the one with most free memory) or random")
			.capture_default_str()
			.check(check_place);
		with_address(add("free", "give back what malloc gave", on_session(free)));
		command = with_address(add("read", "print what is there", on_session(read)));
		command.add_option("BYTES", options_.bytes, "how many").required();
		command.add_flag("--hex", options_.hex, "as hexadecimal digits, 32 bytes a line");
		command = with_address(add("write", "write text", on_session(write)));
		command.add_option("TEXT", options_.text, "what; -: the standard input")
			.required()
			.check(cli::NotEmpty());
		command = with_address(
			add("add", "add to 8 bytes, atomically, and print what they were", on_session(gam_add)));
		command.add_option("NUMBER", options_.operand, "what").required();
		for (const bool writes : {false, true}) {
			command = with_address(add(writes ? "wlock" : "rlock",
				writes ? "lock for writing, for a while" : "lock for reading, for a while",
				[writes](JoinedNode &joined, const Options &options) {
					Options mine = options;
					mine.writes = writes;
					Session session(joined.node());
					return lock(session, mine);
				}));
			command.add_option("BYTES", options_.locked, "all blocks of so many bytes")
				.capture_default_str();
			command.add_option("--hold", options_.hold, "seconds").check(cli::Seconds());
			command.add_flag("--try", options_.tries, "do not wait: exit with 3 if another holds it");
		}
		command = add("forget", "say that a dead node that keeps a log will not come back", forget);
		command.add_option("NODE", options_.node, "its number")
			.required()
			.check(cli::Range(0, int{max_nodes} - 1));
		add("stat", "list the nodes", stat).add_flag("--json", options_.json, "as JSON");
		app_.require_subcommand(1);
	}

	[[nodiscard]] const Body &chosen() const { return chosen_; }

private:
	cli::Command add(const std::string &name, const std::string &help, Body body)
	{
		cli::Command command = app_.add_subcommand(name, help);
		command.callback([this, body = std::move(body)] { chosen_ = body; });
		return command;
	}
	cli::Command with_address(cli::Command command)
	{
		command.add_option("ADDRESS", options_.address, "as malloc prints it").required().check(check_address);
		return command;
	}

	cli::CommandLine &app_;
	Options &options_;
	Body chosen_;
};

} // namespace

int main(int argc, char **argv)
{
	Options options;
	cli::CommandLine app("Uses a global memory from the shell.");
	app.add_help_and_version("prism-gam");
	app.footer("Exit codes: 0; 1 failed, nothing was changed; 2 usage; 3 --try: another holds the lock; "
		   "6 something was changed, or may have been.");
	app.add_option("-m,--master", options.join.master, "HOST:PORT of prism-gam-master, or etcd://HOST:PORT/KEY")
		.check(check_master)
		.capture_default_str();
	app.add_option("-a,--address", options.join.address, "where the nodes reach this program")
		.capture_default_str();
	app.add_option("-d,--ib-dev", options.device, "device; the first, if it is not given");
	app.add_choice<Protocol>("--protocol", options.join.protocol,
		{{"directory", Protocol::directory}, {"latch", Protocol::latch}}, "which the nodes speak");
	app.add_option(
		   "--timeout", options.timeout, "seconds to reach the nodes, and of malloc to wait for one that lends")
		.capture_default_str()
		.check(cli::Seconds())
		.check(cli::PositiveNumber());
	Commands commands(app, options);
	commands.add_all();
	if (const auto ended = app.parse("prism-gam", argc, argv))
		return ended->print();
	cli::outlive_outputs(); /* a killed node costs the others a lease, and its allocations stay */
	return cli::run_program([&] { return run(options, commands.chosen()); });
}
