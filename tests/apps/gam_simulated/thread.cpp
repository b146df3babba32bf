/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "begin.hpp"
#include "gam/coherence/lock.hpp"

namespace gam_sim
{

using prism::gam::block_size;
using prism::gam::Function;
using prism::test::Kind;
using prism::test::Outcome;

Thread::Thread(Shared &shared, const ThreadOptions &options, unsigned nodes, ThreadId id)
	: shared_(shared), options_(options), nodes_(nodes), id_(id), left_(options.operations)
{
}

bool Thread::chance(double percent)
{
	return std::uniform_real_distribution<>(0, 100)(shared_.random) < percent;
}

Address Thread::any_word()
{
	const auto below = [this](unsigned end) { return shared_.random() % end; };
	const auto home = static_cast<NodeId>(below(options_.homes ? std::min(options_.homes, nodes_) : nodes_));
	return {home, below(options_.blocks) * block_size + below(options_.words) * sizeof(std::uint64_t)};
}

Thread::Op &Thread::op(AccessKind kind, Address at)
{
	Op &op = *std::find_if(ops_.begin(), ops_.end(), [](const Op &one) { return !one.is_used; });
	op = Op();
	op.is_used = true;
	op.kind = kind;
	op.at = at;
	op.length = sizeof(op.word);
	op.bytes = reinterpret_cast<std::byte *>(&op.word);
	op.thread = id_;
	op.context = this;
	return op;
}

void Thread::act(Coherence &node)
{
	if (stage_ != Stage::none) {
		if (under_way_ == 0)
			go_on(node);
	} else if (left_ > 0 && under_way_ < ops_.size()) {
		begin(node);
	}
}

void Thread::begin(Coherence &node)
{
	if (!chance(options_.locks)) {
		left_--;
		begin_plain(node);
	} else if (under_way_ == 0) { /* locks wait for the thread's other accesses */
		left_--;
		begin_lock(node);
	}
}

/** Begins a write-back. Once it has ended, a death does not lose writes that ended before it began. */
void Thread::begin_write_back(Coherence &node)
{
	Op &op = this->op(AccessKind::write_back, any_word());
	op.written = std::exchange(written_[op.at.block()], {});
	if (options_.writes_back)
		return start(node, op);
	under_way_++;
	end(op);
}

void Thread::begin_plain(Coherence &node)
{
	if (options_.write_backs > 0 && chance(options_.write_backs))
		return begin_write_back(node);
	const bool changes = chance(options_.atomics);
	const AccessKind kind = changes                   ? AccessKind::atomic
				: chance(options_.writes) ? AccessKind::write
							  : AccessKind::read;
	Op &op = this->op(kind, any_word());
	op.uncached = chance(options_.uncached);
	if (kind != AccessKind::read)
		op.word = op.operand = ++shared_.last_value;
	op.function = chance(50) ? Function::swap : Function::compare_swap;
	op.compare = seen_[op.at];
	record(op);
	start(node, op);
}

void Thread::begin_lock(Coherence &node)
{
	alone_ = chance(50);
	locked_ = any_word();
	stage_ = Stage::locking;
	Op &op = this->op(alone_ ? AccessKind::write_lock : AccessKind::read_lock, locked_);
	op.tries = chance(options_.tries);
	start(node, op);
}

/** Begins the next access under the lock. */
void Thread::go_on(Coherence &node)
{
	const AccessKind kind = stage_ == Stage::writing     ? AccessKind::write
				: stage_ == Stage::unlocking ? AccessKind::unlock
							     : AccessKind::read;
	Op &op = this->op(kind, locked_);
	if (kind == AccessKind::write)
		op.word = expected_ = ++shared_.last_value;
	if (kind == AccessKind::unlock)
		shared_.locks.give_back(lock_, alone_);
	else
		record(op);
	start(node, op);
}

void Thread::start(Coherence &node, Op &op)
{
	under_way_++;
	if (prism::gam::begin(node, op))
		end(op);
}

void Thread::die()
{
	if (stage_ > Stage::locking)
		shared_.locks.give_back(lock_, alone_);
	stage_ = Stage::none;
}

void Thread::record(Op &op)
{
	prism::test::Operation operation;
	operation.key = op.at.value + 1;
	operation.client = id_;
	operation.value = op.kind == AccessKind::read ? 0 : op.word;
	operation.kind = op.kind == AccessKind::read ? Kind::get : Kind::put;
	if (op.kind == AccessKind::atomic && op.function == Function::compare_swap)
		operation.kind = Kind::conditional_put;
	operation.expected = op.compare;
	op.record = shared_.history.begin(operation);
}

void Thread::ended(Access &access)
{
	static_cast<Thread *>(access.context)->end(static_cast<Op &>(access));
}

void Thread::end(Op &op)
{
	under_way_--;
	shared_.ended++;
	op.is_used = false;
	const bool is_forgotten = op.error == EPERM && op.kind == AccessKind::unlock; /* the lock went with the home */
	const bool may_fail = op.error == ENOBUFS || (op.error == EBUSY && op.tries) ||
			      ((op.error == EHOSTUNREACH || is_forgotten) && shared_.somebody_died);
	shared_.busy += op.error == EBUSY;
	if (op.error && !may_fail)
		shared_.find(fmt::format("an access failed: {}", std::strerror(op.error)));
	const bool is_recorded = op.kind <= AccessKind::atomic;
	if (is_recorded)
		end_recorded(op);
	if (op.kind == AccessKind::write_back && !op.error)
		shared_.kept.insert(op.written.begin(), op.written.end());
	if (stage_ != Stage::none)
		end_stage(op);
}

void Thread::end_recorded(Op &op)
{
	if (op.error == EHOSTUNREACH)
		return; /* it may have happened before the home died */
	if (op.error) {
		shared_.history.end(op.record, Outcome::no_effect);
		return;
	}
	if (op.kind == AccessKind::atomic) {
		const bool swaps = op.function == Function::swap;
		if (swaps)
			shared_.history.expect(op.record, op.old_value);
		const bool done = swaps || op.old_value == op.compare;
		if (done)
			written_[op.at.block()].push_back(op.operand);
		shared_.history.end(op.record, done ? Outcome::ok : Outcome::mismatch);
		seen_[op.at] = done ? op.operand : op.old_value;
		return;
	}
	if (op.kind == AccessKind::write)
		written_[op.at.block()].push_back(op.word);
	const bool found = op.kind == AccessKind::write || op.word;
	shared_.history.end(op.record, found ? Outcome::ok : Outcome::not_found, op.word);
	seen_[op.at] = op.word;
}

void Thread::end_stage(Op &op)
{
	if (op.error && stage_ != Stage::locking) { /* the home has died; the lock may still be there */
		stage_ = stage_ == Stage::unlocking ? Stage::none : Stage::unlocking;
		return;
	}
	switch (stage_) {
	case Stage::locking:
		stage_ = op.error ? Stage::none : Stage::reading;
		lock_ = shared_.life_of(locked_.block());
		/*
		 * Until a node knows of a home's death, that home's locks exclude nobody: they protect nothing any more
		 */
		if (!op.error && !shared_.locks.take(lock_, alone_) && !shared_.dead.contains(locked_.home()))
			shared_.find("a lock has two holders");
		break;
	case Stage::reading:
		expected_ = op.word;
		stage_ = alone_ ? Stage::writing : Stage::checking;
		break;
	case Stage::writing:
		stage_ = Stage::checking;
		break;
	case Stage::checking:
		if (op.word != expected_ && lock_ == shared_.life_of(locked_.block()))
			shared_.find("a word has changed under a lock");
		stage_ = Stage::unlocking;
		break;
	case Stage::unlocking:
	case Stage::none:
		stage_ = Stage::none;
	}
}

} // namespace gam_sim
