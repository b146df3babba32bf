/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Histories of the recovery of a home: a cluster in which anybody dies at any moment. The cluster is a model of the
 * effects of both protocols on a block (terms, transfers, copies), with the contents of real logs, and with real
 * witnesses and recoveries; its network delivers messages of different pairs in any order.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gam/membership/home_recovery.hpp"
#include "gam/membership/witness.hpp"

using namespace prism;
using namespace prism::gam;

namespace
{

using Kind = Verdict::Kind;

enum class Flaw : std::uint8_t {
	none,
	no_transfers,     /* the home's transfers are ignored */
	one_transfer,     /* all transfers but the last are ignored */
	no_counters,      /* an owner's newest entry is accepted, whatever its term */
	trusted_tail,     /* an incomplete entry is accepted */
	only_written,     /* an owner logs nothing if it has written nothing */
	dead_have_spoken, /* values that only a dead node might have are not waited for */
	late_log,         /* a value leaves before it is in the log */
	early_transfer,   /* a transfer is logged while the previous owner still owns the block */
};

constexpr NodeId home = 0;
constexpr NodeId node_count = 4;
constexpr std::uint64_t block_count = 3;

using Value = std::array<std::byte, block_size>;

Value value_of(std::uint64_t version)
{
	Value value{};
	for (std::size_t at = 0; at < value.size(); at += sizeof(version))
		std::memcpy(&value[at], &version, sizeof(version));
	return value;
}

/* Returns nothing for a mixture of several versions */
std::optional<std::uint64_t> version_of(std::span<const std::byte> value)
{
	std::uint64_t version = 0;
	std::memcpy(&version, value.data(), sizeof(version));
	const Value whole = value_of(version);
	if (!std::equal(whole.begin(), whole.end(), value.begin(), value.end()))
		return std::nullopt;
	return version;
}

/* Entry of a log, as the world keeps it */
struct Logged {
	EntryKind kind = EntryKind::data;
	std::uint64_t block = 0;
	std::uint64_t counter = 0;
	NodeId owner = no_node;
	Value value{};
	bool torn = false;
	std::uint64_t owner_life = 0;
};

class World
{
public:
	World(std::uint64_t seed, Flaw flaw)
		: random_(static_cast<std::uint32_t>(seed * 2654435761U + 1)), flaw_(flaw),
		  plain_(seed % 3 || flaw != Flaw::none ? no_node : node_count - 1)
	{
	}

	/* Runs the world. Returns the first error, or an empty string */
	std::string run(unsigned steps)
	{
		for (unsigned i = 0; i < steps && wrong_.empty(); i++)
			step();
		/* All nodes return; afterwards nothing waits any more. */
		for (NodeId node = 1; node < node_count && wrong_.empty(); node++) {
			if (!nodes_[node].alive)
				return_node(node);
		}
		finish_recovery();
		if (!home_alive_)
			return_home();
		finish_recovery();
		recover_orphans();
		finish_recovery();
		for (std::uint64_t block = 0; block < block_count && wrong_.empty(); block++) {
			if (blocks_[block].waits)
				fail("block " + std::to_string(block) + " waits for ever");
		}
		return wrong_;
	}

	unsigned deaths = 0;
	unsigned recoveries = 0;
	unsigned waits = 0;
	unsigned owned = 0;
	unsigned taken = 0;
	unsigned lost = 0;

private:
	enum class State : std::uint8_t {
		none,
		shared,
		dirty,
		leaving, /* evicted; the node has not heard that the home has it */
		doubtful /* likewise, and the home has died */
	};
	struct Line {
		State state = State::none;
		std::uint64_t counter = 0;
		std::uint64_t version = 0;
		bool written = false;
	};
	struct Node : Witness::Node {
		World *world = nullptr;
		NodeId self = 0;
		bool alive = true;
		std::array<Line, block_count> lines;
		std::vector<Logged> log;
		std::unique_ptr<Witness> witness;
		Value data{}; /* of the last line looked at */

		void send(NodeId to, const Message &message) override { world->send(self, to, message); }
		void for_each_line(NodeId, const std::function<void(Address, const HeldLine &)> &visit) override
		{
			for (std::uint64_t block = 0; block < block_count; block++) {
				if (const auto held = line(Address(home, block * block_size)))
					visit(Address(home, block * block_size), *held);
			}
		}
		std::optional<HeldLine> line(Address block) override
		{
			const Line &line = lines.at(block.block_number());
			if (line.state == State::none || line.state == State::leaving)
				return std::nullopt;
			data = value_of(line.version);
			return HeldLine{line.state != State::shared, line.counter, data};
		}
		void drop(Address block) override { lines.at(block.block_number()) = {}; }
		[[nodiscard]] std::uint64_t since() const override { return self == world->plain_ ? world->life_ : 1; }
		std::unique_ptr<LoggedBlocks> logged(NodeId, std::uint64_t) override
		{
			auto blocks = world->read_log(log, false);
			if (self == world->plain_)
				blocks->miss(std::array{Missing{0, 0, 1, 0, false}});
			return blocks;
		}
		void recovered(NodeId) override
		{
			for (Line &line : lines)
				line.state = line.state == State::doubtful ? State::dirty : line.state;
		}
	};
	/* State of a block at the home while it lives, and state for the checks that no node knows */
	struct Block {
		bool dirty = false;
		NodeId owner = no_node;
		std::uint64_t counter = 0;
		std::uint64_t memory = 0;         /* version */
		std::uint64_t memory_counter = 0; /* term of that version */
		bool has_memory = true;           /* it is not lost with the home */
		bool logged = true;               /* the memory's value is somewhere in a log */
		bool waits = false;               /* cannot be used yet */
		std::uint64_t granted = 0;        /* version on its way to the owner */
		bool on_its_way = false;
		/* For the checks */
		std::uint64_t promised = 0; /* version that another node has seen, or that was to be durable */
		std::uint64_t latest = 0;
		bool may_be_lost = false; /* the node without a log has had it */
		std::uint64_t taken_along =
			0; /* version that this node had when it died, or gave to the home that died */
	};
	struct Recovery : HomeRecovery::Home {
		explicit Recovery(World &of) : world(of) {}
		World &world;
		std::unique_ptr<HomeRecovery> machine;
		HomeRecovery::Scope scope = HomeRecovery::Scope::all;
		unsigned told = 0; /* bit set of blocks */

		void send(NodeId to, const Message &message) override { world.send(home, to, message); }
		[[nodiscard]] std::uint64_t since() const override { return 1; }
		[[nodiscard]] std::uint64_t life_of(NodeId node) const override
		{
			return node == world.plain_ ? world.life_ : 1;
		}
		void settled(
			Address block, const Verdict &verdict, std::span<const std::byte, block_size> value) override
		{
			told |= 1U << block.block_number();
			world.settled(block.block_number(), verdict, value);
		}
	};

	std::uint64_t pick(std::uint64_t below) { return random_() % below; }
	void fail(const std::string &what)
	{
		if (wrong_.empty())
			wrong_ = what;
	}

	std::unique_ptr<LoggedBlocks> read_log(const std::vector<Logged> &log, bool is_home)
	{
		auto blocks = std::make_unique<LoggedBlocks>(home);
		std::uint64_t sequence = 0;
		for (const Logged &logged : log) {
			sequence++;
			if (logged.torn && flaw_ != Flaw::trusted_tail)
				continue;
			if (logged.kind == EntryKind::transfer && flaw_ == Flaw::no_transfers)
				continue;
			Entry entry{logged.kind, logged.owner, Address(home, logged.block * block_size), logged.counter,
				sequence, sequence, {}, logged.kind == EntryKind::transfer && logged.owner != plain_,
				logged.owner_life};
			if (flaw_ == Flaw::no_counters && !is_home)
				entry.counter = last_transfer(logged.block);
			if (logged.kind == EntryKind::data)
				entry.data = logged.value;
			if (logged.kind == EntryKind::transfer && flaw_ == Flaw::one_transfer &&
				logged.counter != last_transfer(logged.block))
				continue;
			blocks->add(entry);
		}
		sequence++;
		if (is_home)
			blocks->add({EntryKind::allocation, no_node, Address(home, 0), block_count * block_size,
				sequence, sequence, {}, false, 0, 1});
		return blocks;
	}
	/* Returns the newest version of the block that is in any log */
	std::uint64_t newest_logged(std::uint64_t block) const
	{
		std::uint64_t newest = 0;
		const auto look = [&](const std::vector<Logged> &log) {
			for (const Logged &logged : log) {
				if (logged.kind == EntryKind::data && logged.block == block && !logged.torn)
					newest = std::max(newest, version_of(logged.value).value_or(0));
			}
		};
		look(home_log_);
		for (const Node &node : nodes_)
			look(node.log);
		return newest;
	}
	std::uint64_t last_transfer(std::uint64_t block) const
	{
		std::uint64_t last = 0;
		for (const Logged &logged : home_log_) {
			if (logged.kind == EntryKind::transfer && logged.block == block)
				last = std::max(last, logged.counter);
		}
		return last;
	}

	/* One step of a random node */
	void step()
	{
		const auto what = pick(100);
		const NodeId node = static_cast<NodeId>(1 + pick(node_count - 1));
		if (recovery_) {
			if (what < 70)
				deliver();
			else if (what < 73 && nodes_[node].alive)
				kill_node(node);
			else if (what < 76 && !nodes_[node].alive)
				return_node(node);
			else if (what < 78)
				kill_home();
			return;
		}
		if (what < 2) {
			home_alive_ ? kill_home() : return_home();
		} else if (what < 4) {
			if (nodes_[node].alive)
				kill_node(node);
		} else if (what < 8) {
			if (!nodes_[node].alive)
				return_node(node);
		} else if (!home_alive_) {
			if (what < 30)
				return_home();
			else if (what < 60 && nodes_[node].alive)
				owner_writes(node, pick(block_count), what < 40);
		} else {
			access(node, pick(block_count), what);
		}
	}

	void access(NodeId node, std::uint64_t number, std::uint64_t what)
	{
		Block &block = blocks_[number];
		if (Line &line = nodes_[node].lines[number]; line.state == State::leaving) {
			if (what < 20)
				line = {};
			return;
		}
		if (what < 50 && nodes_[node].alive && nodes_[node].lines[number].state == State::dirty)
			owner_writes(node, number, what < 20);
		else if (block.on_its_way && nodes_[block.owner].alive)
			arrive(number);
		else if (block.waits || (block.dirty && !nodes_[block.owner].alive))
			return;
		else if (what < 55)
			home_writes(number, what < 20);
		else if (what < 65)
			evict(number);
		else if (!nodes_[node].alive || nodes_[node].lines[number].state == State::dirty)
			return;
		else if (what < 80)
			read(node, number);
		else
			ask_for_it(node, number);
	}

	void append(std::vector<Logged> &log, const Logged &entry) { log.push_back(entry); }
	void log_value(NodeId node, std::uint64_t number, std::uint64_t counter, std::uint64_t version)
	{
		if (node == plain_)
			return;
		append(node == home ? home_log_ : nodes_[node].log,
			{EntryKind::data, number, counter, no_node, value_of(version), false});
	}
	void has_been_seen(Block &block, std::uint64_t version) { block.promised = std::max(block.promised, version); }

	void owner_writes(NodeId node, std::uint64_t number, bool durable)
	{
		Line &line = nodes_[node].lines[number];
		if (line.state != State::dirty)
			return;
		line.version = blocks_[number].latest = ++versions_;
		line.written = true;
		if (durable && node != plain_) {
			log_value(node, number, line.counter, line.version);
			has_been_seen(blocks_[number], line.version);
		}
	}

	/* Ends the owner's term: the value is in the log before another node gets it. */
	void end_term(NodeId node, std::uint64_t number)
	{
		const Line &line = nodes_[node].lines[number];
		if (flaw_ == Flaw::late_log || (flaw_ == Flaw::only_written && !line.written))
			return;
		log_value(node, number, line.counter, line.version);
	}

	void leave_memory(std::uint64_t number)
	{
		Block &block = blocks_[number];
		if (!block.logged && flaw_ != Flaw::late_log)
			log_value(home, number, block.counter, block.memory);
		block.logged = true;
	}

	void home_writes(std::uint64_t number, bool durable)
	{
		Block &block = blocks_[number];
		if (block.dirty)
			return_to_home(number, State::none);
		if (!block.dirty && !block.waits)
			drop_copies(number);
		block.memory = block.latest = ++versions_;
		block.memory_counter = block.counter;
		block.logged = false;
		if (durable) {
			leave_memory(number);
			has_been_seen(block, block.memory);
		}
	}

	void drop_copies(std::uint64_t number)
	{
		for (Node &node : nodes_) {
			if (node.lines[number].state == State::shared)
				node.lines[number] = {};
		}
	}

	/* Lets the owner send the value to the home and keep a copy or nothing. */
	void return_to_home(std::uint64_t number, State keeps)
	{
		Block &block = blocks_[number];
		const bool is_plain = block.owner == plain_;
		end_term(block.owner, number);
		Line &line = nodes_[block.owner].lines[number];
		block.memory = line.version;
		block.logged = true;
		has_been_seen(block, line.version);
		line.state = keeps;
		line.counter += keeps == State::shared;
		block.dirty = false;
		block.owner = no_node;
		block.memory_counter = ++block.counter;
		block.has_memory = true;
		if (is_plain)
			log_value(home, number, block.counter, block.memory);
	}

	void evict(std::uint64_t number)
	{
		Block &block = blocks_[number];
		if (!block.dirty) {
			Line &line = nodes_[1 + pick(node_count - 1)].lines[number];
			if (line.state != State::leaving)
				line = {};
			return;
		}
		if (pick(4) == 0)
			die_before_it_comes(number);
		else
			return_to_home(number, pick(2) ? State::leaving : State::none);
	}

	/* Lets the home die with the value on its way to it, or by way of it to another node. */
	void die_before_it_comes(std::uint64_t number)
	{
		Block &block = blocks_[number];
		Line &line = nodes_[block.owner].lines[number];
		end_term(block.owner, number);
		if (pick(2)) {
			line.state = State::leaving;
		} else {
			block.taken_along = block.owner == plain_ ? line.version : 0;
			line = {};
		}
		kill_home();
	}

	void read(NodeId node, std::uint64_t number)
	{
		Block &block = blocks_[number];
		if (block.dirty) {
			return_to_home(number, State::shared);
			nodes_[node].lines[number] = {State::shared, block.counter, block.memory, false};
			return;
		}
		leave_memory(number);
		has_been_seen(block, block.memory);
		nodes_[node].lines[number] = {State::shared, block.counter, block.memory, false};
	}

	void ask_for_it(NodeId node, std::uint64_t number)
	{
		Block &block = blocks_[number];
		const bool transfer_first = flaw_ == Flaw::early_transfer;
		const bool home_logs = block.dirty && block.owner == plain_;
		const std::uint64_t counter = block.counter + (home_logs ? 2 : 1);
		const auto log_transfer = [&] {
			append(home_log_,
				{EntryKind::transfer, number, counter, node, {}, false, node == plain_ ? life_ : 1});
		};
		if (block.dirty) {
			const NodeId owner = block.owner;
			if (transfer_first) {
				log_transfer();
				if (pick(8) == 0) {
					kill_home(); /* the owner has heard nothing */
					return;
				}
			}
			if (pick(8) == 0) {
				die_before_it_comes(number);
				return;
			}
			end_term(owner, number);
			block.granted = block.memory = nodes_[owner].lines[number].version; /* by way of the home */
			block.memory_counter = counter - 1;
			block.has_memory = true;
			nodes_[owner].lines[number] = {};
			if (home_logs)
				log_value(home, number, counter - 1, block.granted);
			if (!transfer_first)
				log_transfer();
		} else {
			drop_copies(number);
			leave_memory(number);
			log_transfer();
			block.granted = block.memory;
		}
		block.counter = counter;
		block.dirty = true;
		block.owner = node;
		block.on_its_way = true;
		block.may_be_lost = block.may_be_lost || node == plain_;
	}

	void arrive(std::uint64_t number)
	{
		Block &block = blocks_[number];
		block.on_its_way = false;
		has_been_seen(block, block.granted);
		nodes_[block.owner].lines[number] = {State::dirty, block.counter, block.granted, false};
	}

	/* Deaths. The last append may be incomplete. */
	void tear(std::vector<Logged> &log)
	{
		if (pick(2))
			return;
		Logged entry{
			EntryKind::data, pick(block_count), ++tears_ + 1000000, no_node, value_of(++versions_), true};
		if (pick(2))
			entry.counter = last_transfer(entry.block);
		entry.value[pick(block_size)] ^= std::byte{0xff};
		log.push_back(entry);
	}

	void kill_home()
	{
		if (!home_alive_)
			return;
		deaths++;
		home_alive_ = false;
		recovery_.reset();
		wire_.clear();
		tear(home_log_);
		for (Block &block : blocks_)
			block.on_its_way = false;
		for (Node &node : nodes_) {
			if (node.witness)
				node.witness->lost(home);
			for (Line &line : node.lines)
				line.state = line.state == State::leaving ? State::doubtful : line.state;
		}
	}

	void kill_node(NodeId number)
	{
		deaths++;
		Node &node = nodes_[number];
		node.alive = false;
		for (std::uint64_t block = 0; block < block_count && number == plain_; block++) {
			if (node.lines[block].state != State::none && node.lines[block].state != State::shared)
				blocks_[block].taken_along = node.lines[block].version;
		}
		node.lines = {};
		tear(node.log);
		for (auto &[pair, queue] : wire_) {
			if (pair.first == number || pair.second == number)
				queue.clear();
		}
		for (Block &block : blocks_) {
			if (block.owner != number)
				continue;
			block.on_its_way = false;
			if (number == plain_ && home_alive_ && !(recovery_ && !recovery_->machine->is_done()))
				go_back_to_memory(block);
			else if (block.dirty)
				block.waits = true;
		}
		if (recovery_)
			recovery_->machine->lost(number);
		if (recovery_ && number == plain_)
			recovery_->machine->give_up(number);
	}

	/* Serves the home's memory in place of the value of a dead owner that keeps no log. */
	void go_back_to_memory(Block &block)
	{
		if (!block.dirty)
			return;
		if (block.memory < block.promised)
			fail("the memory has version " + std::to_string(block.memory) + ", " +
				std::to_string(block.promised) + " was promised");
		block.dirty = false;
		block.owner = no_node;
		block.memory_counter = ++block.counter;
		block.taken_along = 0; /* it is said to be lost */
		log_value(home, static_cast<std::uint64_t>(&block - blocks_.data()), block.counter, block.memory);
		block.logged = true;
	}

	void return_node(NodeId number)
	{
		Node &node = nodes_[number];
		node.alive = true;
		life_ += number == plain_;
		node.witness = std::make_unique<Witness>(node);
		if (recovery_)
			recovery_->machine->returned(number);
		else if (home_alive_)
			recover_orphans();
	}

	std::uint64_t alive() const
	{
		std::uint64_t set = 0;
		for (NodeId node = 1; node < node_count; node++)
			set |= std::uint64_t{nodes_[node].alive || flaw_ == Flaw::dead_have_spoken} << node;
		return set;
	}

	void begin(HomeRecovery::Scope scope, std::unique_ptr<LoggedBlocks> log)
	{
		recoveries++;
		if (scope == HomeRecovery::Scope::all)
			needed_ = log->owners_with_logs();
		recovery_ = std::make_unique<Recovery>(*this);
		recovery_->scope = scope;
		recovery_->machine = std::make_unique<HomeRecovery>(
			home, ++recovery_number_, block_count, scope, std::move(log), *recovery_);
		recovery_->machine->begin(alive());
		if (plain_ != no_node && !nodes_[plain_].alive)
			recovery_->machine->give_up(plain_);
	}

	void return_home()
	{
		home_alive_ = true;
		for (Block &block : blocks_) {
			block.dirty = false;
			block.waits = true;
			block.owner = no_node;
			block.logged = true;
			block.has_memory = false;
		}
		begin(HomeRecovery::Scope::all, read_log(home_log_, true));
		settle_if_done();
	}

	/*
	 * Recovers blocks of dead owners while the home lives: it asks the others, and the former owner if it has
	 * returned.
	 */
	void recover_orphans()
	{
		auto log = std::make_unique<LoggedBlocks>(home);
		const auto known = read_log(home_log_, true);
		bool any = false;
		for (std::uint64_t number = 0; number < block_count; number++) {
			const Block &block = blocks_[number];
			if (!block.waits)
				continue;
			any = true;
			const auto *logged = known->find(number);
			for (std::size_t i = logged ? logged->transfers.size() : 0; i-- > 0;) {
				const Transfer &transfer = logged->transfers[i];
				if (transfer.counter)
					log->add({EntryKind::transfer, transfer.owner,
						Address(home, number * block_size), transfer.counter, transfer.order,
						transfer.order, {}, transfer.owner_logs, transfer.owner_life});
			}
			if (block.has_memory)
				log->set_value(number, block.memory_counter, value_of(block.memory));
			else if (logged && logged->has_value)
				log->set_value(number, logged->counter, logged->value);
		}
		if (any)
			begin(HomeRecovery::Scope::logged, std::move(log));
		settle_if_done();
	}

	void settled(std::uint64_t number, const Verdict &verdict, std::span<const std::byte, block_size> value)
	{
		Block &block = blocks_[number];
		const std::string name =
			"block " + std::to_string(number) + " (recovery " + std::to_string(recovery_number_) + "): ";
		const auto version = version_of(value);
		block.waits = false;
		block.dirty = false;
		block.owner = no_node;
		block.counter = verdict.next;
		switch (verdict.kind) {
		case Kind::owned: {
			owned++;
			const Line &line = nodes_[verdict.node].lines[number];
			if (!nodes_[verdict.node].alive ||
				(line.state != State::dirty && line.state != State::doubtful) ||
				line.counter != verdict.counter)
				fail(name + "its owner does not own it");
			for (const Node &node : nodes_) {
				if (node.alive && node.lines[number].state == State::shared)
					fail(name + "a copy is dropped that is valid");
			}
			if (line.version < block.promised)
				fail(name + "an old owner");
			block.dirty = true;
			block.owner = verdict.node;
			block.counter = std::max(verdict.counter, verdict.next - 1);
			block.memory = version.value_or(0);
			block.memory_counter = block.counter - 1;
			block.has_memory = true;
			break;
		}
		case Kind::waits:
			waits++;
			block.waits = true; /* even if that node has returned but not answered yet */
			if (recovery_->scope == HomeRecovery::Scope::all && verdict.node != plain_ &&
				!(needed_ & bit(verdict.node)))
				fail(name + "waits for a node that a new master would not know");
			break;
		case Kind::lost:
			lost++;
			if (!block.may_be_lost)
				fail(name + "is said to be lost");
			block.promised = newest_logged(number);
			block.taken_along = 0;
			[[fallthrough]];
		case Kind::taken:
			taken += verdict.kind == Kind::taken;
			[[fallthrough]];
		case Kind::own:
			block.may_be_lost = false;
			if (!version) {
				fail(name + "a mixture");
				break;
			}
			if (*version < block.promised)
				fail(name + "version " + std::to_string(*version) + ", " +
					std::to_string(block.promised) + " was promised");
			if (*version < block.taken_along)
				fail(name + "a newer version is lost, and nobody says so");
			if (*version > block.latest)
				fail(name + "a version that was never written");
			for (NodeId node = 1; node < node_count; node++) {
				const Line &line = nodes_[node].lines[number];
				if ((verdict.sharers >> node & 1) && nodes_[node].alive &&
					(line.state != State::shared || line.version != *version) &&
					line.state != State::none)
					fail(name + "a copy of another version");
				/* It may be locked for reading. */
				if (!(verdict.sharers >> node & 1) && nodes_[node].alive &&
					line.state == State::shared && line.version == *version &&
					recovery_->scope == HomeRecovery::Scope::all && flaw_ == Flaw::none)
					fail(name + "a copy is dropped that is valid");
			}
			block.memory = block.latest = *version;
			if (verdict.is_to_log())
				log_value(home, number, block.counter, *version);
			else
				block.counter--;
			block.memory_counter = block.counter;
			block.has_memory = true;
			block.logged = true;
			block.promised = *version;
			break;
		}
	}

	void send(NodeId from, NodeId to, const Message &message)
	{
		std::vector<std::byte> bytes(message.size());
		message.serialize(bytes.data());
		wire_[{from, to}].push_back(std::move(bytes));
	}

	bool deliver()
	{
		std::vector<std::pair<NodeId, NodeId>> ready;
		for (const auto &[pair, queue] : wire_) {
			if (!queue.empty())
				ready.push_back(pair);
		}
		if (ready.empty())
			return false;
		const auto [from, to] = ready[pick(ready.size())];
		const auto bytes = wire_[{from, to}].front();
		wire_[{from, to}].pop_front();
		const auto message = Message::parse(bytes);
		if (!message) {
			fail("a message that cannot be read");
		} else if (to == home) {
			if (recovery_ && !recovery_->machine->hear(from, *message) && flaw_ == Flaw::none)
				fail("the home refuses a message");
			settle_if_done();
		} else if (!nodes_[to].alive) {
			/* Answers as a node that has nothing */
			Node nothing;
			nothing.world = this;
			nothing.self = to;
			(void)Witness(nothing).hear(from, *message);
		} else {
			if (!nodes_[to].witness)
				nodes_[to].witness = std::make_unique<Witness>(nodes_[to]);
			if (!nodes_[to].witness->hear(from, *message) && flaw_ == Flaw::none)
				fail("a node refuses a message");
		}
		return true;
	}

	void settle_if_done()
	{
		if (!recovery_ || !recovery_->machine->is_done())
			return;
		settle_unused();
		bool idle = true;
		for (const auto &[pair, queue] : wire_)
			idle = idle && queue.empty();
		/* Waiting blocks go on when their node returns: in this recovery, or as orphans. */
		if (idle && pick(2))
			recovery_.reset();
	}

	/* The recovery says nothing about blocks that were never used. */
	void settle_unused()
	{
		for (std::uint64_t number = 0; number < block_count; number++) {
			Block &block = blocks_[number];
			if (recovery_->scope != HomeRecovery::Scope::all || (recovery_->told >> number & 1))
				continue;
			recovery_->told |= 1U << number;
			if (block.promised)
				fail("block " + std::to_string(number) + " is said to be unused");
			block = {};
		}
	}

	void finish_recovery()
	{
		for (int i = 0; i < 100000 && recovery_ && wrong_.empty(); i++) {
			if (deliver())
				continue;
			if (!recovery_->machine->is_done())
				fail("a recovery does not end");
			settle_unused();
			recovery_.reset();
		}
	}

	std::minstd_rand random_;
	const Flaw flaw_;
	const NodeId plain_;     /* node without a log; when it has died, another gets its number. Or none */
	std::uint64_t life_ = 1; /* its life */
	std::array<Node, node_count> nodes_ = [this] {
		std::array<Node, node_count> nodes;
		for (NodeId node = 0; node < node_count; node++) {
			nodes[node].world = this;
			nodes[node].self = node;
		}
		return nodes;
	}();
	std::array<Block, block_count> blocks_;
	std::vector<Logged> home_log_;
	bool home_alive_ = true;
	std::map<std::pair<NodeId, NodeId>, std::deque<std::vector<std::byte>>> wire_;
	std::unique_ptr<Recovery> recovery_;
	std::uint64_t recovery_number_ = 0;
	std::uint64_t needed_ = 0; /* nodes that the home has named to the master */
	std::uint64_t versions_ = 0;
	std::uint64_t tears_ = 0;
	std::string wrong_;
};

TEST(RecoveryHistories, NothingThatWasSeenIsLost)
{
	unsigned deaths = 0;
	unsigned recoveries = 0;
	unsigned waits = 0;
	unsigned owned = 0;
	unsigned taken = 0;
	unsigned lost = 0;
	for (std::uint64_t seed = 1; seed <= 3000; seed++) {
		World world(seed, Flaw::none);
		ASSERT_EQ(world.run(400), "") << "seed " << seed;
		deaths += world.deaths;
		recoveries += world.recoveries;
		waits += world.waits;
		owned += world.owned;
		taken += world.taken;
		lost += world.lost;
	}
	EXPECT_GT(deaths, 10000U);
	EXPECT_GT(recoveries, 3000U);
	EXPECT_GT(waits, 1000U);
	EXPECT_GT(owned, 1000U);
	EXPECT_GT(taken, 1000U);
	EXPECT_GT(lost, 100U);
}

class RecoveryFlaw : public testing::TestWithParam<Flaw>
{
};

TEST_P(RecoveryFlaw, IsFound)
{
	for (std::uint64_t seed = 1; seed <= 3000; seed++) {
		if (const std::string wrong = World(seed, GetParam()).run(400); !wrong.empty()) {
			std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
			return;
		}
	}
	FAIL() << "nothing was found to be wrong";
}

INSTANTIATE_TEST_SUITE_P(RecoveryHistories, RecoveryFlaw,
	testing::Values(Flaw::no_transfers, Flaw::one_transfer, Flaw::no_counters, Flaw::trusted_tail,
		Flaw::only_written, Flaw::dead_have_spoken, Flaw::late_log, Flaw::early_transfer));

} // namespace
