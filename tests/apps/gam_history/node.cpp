/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "node.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include <fmt/core.h>

#include "bank.hpp"
#include "pairs.hpp"
#include "registers.hpp"

namespace gam_history
{

using namespace std::chrono_literals;
using prism::Context;
using prism::Result;
using prism::gam::Address;
using prism::gam::JoinedNode;
using prism::gam::JoinOptions;
using prism::gam::Placement;
using prism::gam::Session;

namespace
{

constexpr auto patience = 20s;
constexpr std::size_t history_capacity = 200'000; /* operations of a thread */
constexpr unsigned burst = 16;                    /* accesses between two pauses, as the machine has other work */
constexpr auto pause = 2ms;
constexpr const char *journal_key = "journal";
constexpr const char *table_key = "table";

std::string key_of(Life life, std::size_t place)
{
	return fmt::format("place/{}/{}", life, place);
}

} // namespace

Node::Node(const Options &options, Stage &stage, Life life, Place place, std::string master)
	: options_(options), stage_(stage), life_(life), place_(place), master_(std::move(master))
{
}

void Node::fail(const std::string &what)
{
	if (ending_.exchange(failed) != failed)
		fmt::print("FAIL: life {}: {}\n", life_, what);
	std::fflush(stdout);
}

void Node::find(const std::string &what)
{
	Ending none = good;
	if (ending_.compare_exchange_strong(none, wrong))
		fmt::print("life {} finds: {}\n", life_, what);
	std::fflush(stdout);
}

bool Node::is_over() const
{
	return stage_.over || joined_->is_expelled();
}

bool Node::expects(int error, const char *what)
{
	switch (error) {
	case 0:
	case ENOSPC: /* the history is full */
		return true;
	case ESTALE:
		if (!joined_->is_expelled())
			fail(fmt::format("{} is ESTALE on a node that is a member", what));
		return false;
	case EOWNERDEAD:
		if (options_.logs)
			return false;
		break;
	case EFAULT: /* another node has the number of the dead home */
	case EHOSTUNREACH:
		if (options_.work == Work::registers)
			return false;
		if (options_.work == Work::table && options_.logs && error == EHOSTUNREACH) {
			stage_.homeless = true;
			return false;
		}
		break;
	}
	if (!joined_->is_expelled()) /* without a lease errors other than ESTALE may come */
		fail(fmt::format("{}: {}", what, std::generic_category().message(error)));
	return false;
}

Result<void> Node::join()
{
	Result<Context> context = Context::open();
	if (!context)
		return context.error();
	JoinOptions join;
	join.master = master_;
	join.protocol = options_.protocol;
	join.through_home = options_.flaw != Flaw::forwards;
	join.looks_at_lease = options_.flaw != Flaw::lease;
	join.node.bytes = std::uint64_t{1} << 20;
	join.timeout = patience;
	if (options_.logs) {
		join.log.folder = options_.folder / fmt::format("log-{}", place_);
		join.log.durable = options_.flaw != Flaw::durable;
	}
	Result<std::unique_ptr<JoinedNode>> joined = JoinedNode::join(*context, join);
	if (!joined)
		return joined.error();
	joined_ = *std::move(joined);
	return {};
}

/** Returns true if transfers use a journal: accounts in several blocks, and the journal, survive only by logs. */
bool Node::has_journal() const noexcept
{
	return options_.work == Work::bank && options_.logs && options_.flaw != Flaw::apart;
}

bool Node::allocate_journal()
{
	Session session(joined_->node());
	Journal journal;
	Address address;
	return !session.malloc(prism::gam::block_size, address) && !session.write(address, bytes_of(journal)) &&
	       !session.mfence() && joined_->put(journal_key, address).ok();
}

bool Node::make_table()
{
	Session session(joined_->node());
	prism::gam::TableOptions options;
	options.buckets = 1;
	options.nodes = {joined_->node().self()};
	const auto table = prism::gam::Table::create(session, options);
	return table && joined_->put(table_key, table->catalogue()).ok();
}

/** Allocates registers on each of the first lives, or the bank or the table on the very first. */
bool Node::allocate()
{
	if (options_.work == Work::table)
		return life_ != 0 || make_table();
	Session session(joined_->node());
	const bool keeps_bank = options_.work == Work::bank && life_ == 0;
	const std::size_t count = options_.work == Work::registers ? Registers::of_each_node
				  : keeps_bank                     ? Bank::accounts
								   : 0;
	Address together;
	if (keeps_bank && session.malloc(count * sizeof(std::uint64_t), together))
		return false;
	for (std::size_t place = 0; place < count; place++) {
		Address address = together + place * sizeof(std::uint64_t);
		/* Some registers share a block, others have one each. */
		const bool is_alone = keeps_bank ? has_journal() || options_.flaw == Flaw::apart : place > 1;
		if ((!keeps_bank || is_alone) && session.malloc(is_alone ? prism::gam::block_size : 8, address))
			return false;
		const std::uint64_t deposit = Bank::deposit;
		if (keeps_bank && session.write(address, std::as_bytes(std::span(&deposit, 1))))
			return false;
		if (session.mfence() || !joined_->put(key_of(life_, place), address))
			return false;
	}
	return !keeps_bank || !has_journal() || allocate_journal();
}

Result<void> Node::set_up()
{
	if (life_ < options_.nodes && !allocate())
		return prism::make_error(ENOMEM, "it cannot allocate");
	const std::size_t homes = options_.work == Work::registers ? options_.nodes : 1;
	const std::size_t places = options_.work == Work::registers ? Registers::of_each_node
				   : options_.work == Work::bank    ? Bank::accounts
								    : 0;
	for (std::size_t i = 0; i < homes * places; i++) {
		const Result<Address> address =
			joined_->get_address(key_of(static_cast<Life>(i / places), i % places), patience);
		if (!address)
			return address.error();
		places_.push_back(*address);
	}
	std::sort(places_.begin(), places_.end());
	if (has_journal() || options_.work == Work::table) {
		const Result<Address> address = joined_->get_address(has_journal() ? journal_key : table_key, patience);
		if (!address)
			return address.error();
		(has_journal() ? journal_ : catalogue_) = *address;
	}
	return {};
}

/** Works in bursts: a process that is stopped mostly goes on in the middle of one. */
void Node::work(unsigned thread)
{
	const auto in_bursts = [this](const auto &act) {
		for (unsigned count = 1; !is_over() && act(); count++) {
			if (count % burst == 0)
				std::this_thread::sleep_for(pause);
		}
	};
	if (options_.work == Work::bank) {
		Bank bank(*this, thread);
		return in_bursts([&bank] {
			bank.act();
			return true;
		});
	}
	Result<prism::test::HistoryWriter> writer = prism::test::HistoryWriter::create(
		options_.folder / fmt::format("{}-{}.history", life_, thread), history_capacity);
	if (!writer)
		return fail(writer.error().message);
	if (options_.work == Work::table) {
		Pairs pairs(*this, thread, *std::move(writer));
		return in_bursts([&pairs] { return pairs.act(); });
	}
	Registers registers(*this, thread, *std::move(writer));
	in_bursts([&registers] { return registers.act(); });
}

/** Waits until the other nodes have left, for the last look at their results. */
void Node::await_the_others()
{
	const auto end = std::chrono::steady_clock::now() + patience;
	const auto is_alone = [this] {
		const prism::gam::View view = joined_->view();
		return std::count_if(view.members.begin(), view.members.end(),
			       [](const prism::gam::Member &member) { return member.live(); }) == 1;
	};
	while (!is_alone() && !joined_->is_expelled()) {
		if (std::chrono::steady_clock::now() > end)
			return fail("the others do not leave");
		std::this_thread::sleep_for(10ms);
	}
}

/** Checks that all calls return ESTALE, for blocks of this node and of others, cached or not. */
void Node::check_that_all_is_stale()
{
	Session session(joined_->node());
	std::uint64_t word = 0;
	Address address;
	const auto must_be_stale = [this](int error, const char *what) {
		if (error != ESTALE)
			fail(fmt::format("{} on an expelled node: {}", what, error));
	};
	must_be_stale(session.malloc(8, address), "an allocation");
	must_be_stale(session.malloc(8, address, Placement::remote()), "a remote allocation");
	for (const Address place : places_) {
		must_be_stale(session.read(place, std::as_writable_bytes(std::span(&word, 1))), "a read");
		must_be_stale(session.write(place, std::as_bytes(std::span(&word, 1))), "a write");
		must_be_stale(session.mfence(), "a fence");
		must_be_stale(session.atomic(place, 8, prism::gam::Function::add, 1, word), "an atomic");
		must_be_stale(session.wlock(place, 8), "a lock");
		must_be_stale(session.free(place), "a free");
	}
}

Ending Node::run()
{
	Result<void> begun = join();
	if (begun)
		begun = set_up();
	if (!begun && begun.error().code == ESTALE)
		return expelled;
	if (!begun) {
		fail(begun.error().message);
		return failed;
	}
	stage_.ready++;
	while (!stage_.begun)
		std::this_thread::sleep_for(1ms);
	{
		std::vector<std::jthread> threads;
		for (unsigned thread = 0; thread < options_.threads; thread++)
			threads.emplace_back([this, thread] { work(thread); });
	}
	if (life_ == 0 && ending_ != failed) /* findings that a flaw explains end nothing early */
		await_the_others();
	if (joined_->is_expelled()) {
		if (options_.flaw != Flaw::lease)
			check_that_all_is_stale();
		return ending_ == good ? expelled : Ending{ending_};
	}
	if (life_ == 0 && options_.work == Work::bank) {
		Bank bank(*this, options_.threads);
		bank.audit();
	}
	if (const Result<void> left = joined_->leave(); !left && !joined_->is_expelled())
		fail(left.error().message);
	return Ending{ending_};
}

} // namespace gam_history
