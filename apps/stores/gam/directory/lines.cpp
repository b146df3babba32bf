/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/directory/lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include "base/wire.hpp"
#include "gam/coherence/execute.hpp"

namespace prism::gam::directory
{

namespace
{

constexpr std::size_t evictions_at_a_time = 16;

bool suffices(LineState state, AccessKind kind) noexcept
{
	if (kind == AccessKind::write_back)
		return false; /* the home has to confirm that it has the value */
	return state == LineState::dirty || (state == LineState::shared && !is_exclusive(kind));
}

} // namespace

Lines::Lines(Context &context, std::span<std::byte> memory, std::size_t limit, std::size_t requests)
	: context_(context), cache_(memory), limit_(limit), most_requests_(requests)
{
}

Lines::~Lines() = default;

LineState Lines::state(Address block, const std::byte **data) noexcept
{
	const Line *const line = cache_.find(block);
	if (!line)
		return LineState::invalid;
	if (data && has_value(line->state))
		*data = line->data();
	return told(line->state);
}

/* Accesses ------------------------------------------------------------------------------------------------------- */

void Lines::start(Access &access)
{
	const Address block = access.at.block();
	Line *const line = cache_.find(block);
	if (line) {
		if (!line->pending && suffices(line->state, access.kind) && access.kind <= AccessKind::atomic) {
			int error = 0;
			show(*line);
			cache_.use(*line, [&] {
				execute(access, line->data());
				error = log_if_durable(*line, access);
			});
			cache_.touch(*line);
			context_.end(access, error);
			return;
		}
	}
	const bool may_need_home = !line || !(access.kind == AccessKind::unlock || suffices(line->state, access.kind));
	if (block.home() >= max_nodes)
		context_.end(access, EFAULT);
	else if (context_.is_dead(block.home()) && may_need_home)
		context_.end(access, EHOSTUNREACH);
	else if (!cache_.find(block) && access.kind == AccessKind::unlock)
		context_.end(access, EPERM);
	else if (!starved_.empty() && !cache_.find(block))
		starve(access);
	else if (!find_place(access))
		starve(access);
}

void Lines::starve(Access &access)
{
	starved_.push(access);
	overdue_ = std::min(overdue_, access.room_until);
}

/** Ends accesses of threads whose locks others may wait for, in the lines that they want, and wait for good. */
Time Lines::end_overdue(Time now)
{
	if (now < overdue_)
		return overdue_;
	AccessQueue over;
	overdue_ = starved_.remove_overdue(now, over);
	while (!over.empty())
		context_.end(over.pop(), ENOBUFS);
	to_ask_.for_each([&](Address block) { end_overdue(*cache_.find(block), now); });
	return overdue_;
}

/** Does so in a line that waits to be asked for; so none of its accesses has a request under way. */
void Lines::end_overdue(Line &line, Time now)
{
	AccessQueue over;
	overdue_ = std::min(overdue_, line.pending->waiting.remove_overdue(now, over));
	if (over.empty())
		return;
	line.pending->to_ask.unlink(); /* the next access may wait for something else */
	while (!over.empty()) {
		line.pending->length--;
		waiting_--;
		context_.end(over.pop(), ENOBUFS);
	}
	advance(line);
}

/** Finds a line for @p access. Returns true if it has one, or has ended as there is none; else it waits for one. */
bool Lines::find_place(Access &access)
{
	const Address block = access.at.block();
	Line *line = cache_.find(block);
	if (!line && !make_room()) {
		if (in_transit_ > 0 || waits_for_room() || cache_.least_recently_used()) /* the last's home has none */
			return false;
		context_.end(access, ENOBUFS);
		return true;
	}
	if (!line) {
		line = cache_.take(block);
		line->state = LineState::invalid;
	}
	arrive(*line, access);
	trim();
	return true;
}

/** Tries to free a line. Returns true if one is free. */
bool Lines::make_room()
{
	if (cache_.is_full() && evicting_ == 0)
		(void)evict_oldest();
	return !cache_.is_full();
}

/**
 * Gives free lines to waiting accesses; all that wait for the same block go together, as later accesses find the line
 * and must not overtake them.
 */
void Lines::serve_starved()
{
	while (!starved_.empty()) {
		const Address block = starved_.front().at.block();
		bool has_place = true;
		starved_.remove_if([&](Access &access) {
			return access.at.block() == block && has_place && (has_place = find_place(access));
		});
		if (!has_place)
			return;
	}
}

void Lines::arrive(Line &line, Access &access)
{
	if (!line.pending)
		line.pending.reset(new (std::nothrow) Pending);
	if (!line.pending) {
		if (line.state == LineState::invalid)
			cache_.release(line);
		return context_.end(access, ENOMEM);
	}
	Pending &pending = Lines::pending(line);
	if (const int error = pending.lock.refusal(access)) {
		context_.end(access, error);
	} else if (pending.is_lost) {
		return fail(line, access);
	} else if (pending.lock.holds(access.thread)) {
		perform(line, access);
	} else if (access.tries &&
		   (is_in_transit(line.state) || !pending.waiting.empty() || !pending.lock.admits(access))) {
		context_.end(access, EBUSY);
	} else {
		push(pending, access);
	}
	advance(line);
}

/** Performs queued accesses as far as the line's state allows, in order, and asks for what the next one lacks. */
void Lines::advance(Line &line)
{
	while (do_next(line))
		;
	settle(line);
}

bool Lines::do_next(Line &line)
{
	Pending &pending = *line.pending;
	if (is_in_transit(line.state) || pending.waiting.empty())
		return false;
	Access &next = pending.waiting.front();
	if (is_demand(next)) {
		if (!pending.lock.allows(wants_alone(pending.demand.type)) ||
			!has_room_to_obey(line, pending.demand.message))
			return false;
		pop(pending);
		pending.demand.is_queued = false;
		obey(line, pending.demand.message);
		return true;
	}
	if (const int error = pending.lock.refusal(next)) {
		context_.end(pop(pending), error);
		return true;
	}
	const bool may_ask = !context_.rules().readers_hold_upgrades && !suffices(line.state, next.kind);
	if (!pending.lock.admits(next) && !may_ask)
		return false;
	const bool believes =
		next.kind == AccessKind::write_back && line.state != LineState::dirty && !context_.rules().receipts;
	if (suffices(line.state, next.kind) || believes) {
		perform(line, pop(pending));
		return true;
	}
	if (pending.demand.is_queued && context_.rules().copies_yield) {
		/* Be invalidated first: the home serves no request of this node before the acknowledgement. */
		if (!has_room_to_obey(line, pending.demand.message))
			return false;
		take_demand_out(pending);
		obey(line, pending.demand.message);
		return true;
	}
	if (next.tries && asked_[line.block().home()] >= most_requests_) {
		context_.end(pop(pending), EBUSY); /* the others may wait for locks */
		return true;
	}
	if (has_room_to_ask(line, next))
		ask(line, next);
	return false;
}

void Lines::take_demand_out(Pending &pending)
{
	pending.waiting.remove_if(is_demand);
	pending.length--;
	waiting_--;
	pending.demand.is_queued = false;
}

void Lines::perform(Line &line, Access &access)
{
	execute(access, line.data());
	int error = 0;
	if (access.kind == AccessKind::unlock)
		line.pending->lock.give_back(access.thread);
	else if (is_lock(access.kind))
		error = line.pending->lock.take(access);
	cache_.touch(line);
	context_.end(access, error ? error : log_if_durable(line, access));
}

int Lines::log_if_durable(const Line &line, const Access &access)
{
	if (!writes(access.kind) || !context_.is_durable())
		return 0;
	return context_.log_value(line.block(), line.counter, line.data());
}

/** Logs the value, as the term ends, even if nothing was written; then recovery need not know earlier terms. */
void Lines::log_before_it_leaves(const Line &line)
{
	if (line.state == LineState::dirty)
		(void)context_.log_value(line.block(), line.counter, line.data());
}

/** Returns true if the home of @p line takes @p access, the first one; else resume() goes on with the line. */
bool Lines::has_room_to_ask(Line &line, const Access &access)
{
	const NodeId home = line.block().home();
	Pending &pending = *line.pending;
	if (takes_more(home)) {
		if (context_.rules().asked_wait_no_more)
			pending.to_ask.unlink();
		return true;
	}
	to_ask_.add(home, line.block(), pending.to_ask);
	overdue_ = pending.length > 1 ? Time() : std::min(overdue_, access.room_until);
	return false;
}

void Lines::resume()
{
	const auto has_room = [this](NodeId node) { return context_.has_room(node); };
	const auto go_on = [this](Address block) { advance(*cache_.find(block)); };
	to_obey_.resume(has_room, go_on);
	to_ask_.resume([this](NodeId home) { return takes_more(home); }, go_on);
}

void Lines::ask(Line &line, const Access &access)
{
	Pending &pending = *line.pending;
	if (access.kind == AccessKind::write_back && line.state == LineState::dirty)
		return evict(line);
	pending.request = ++requests_;
	if (access.kind == AccessKind::write_back)
		return ask_for_receipt(line, access);
	if (access.uncached && line.state == LineState::invalid) {
		enter(line, LineState::to_uncached);
		ask_home_to_do(line, access);
		return;
	}
	Message message;
	message.block = line.block();
	message.request = pending.request;
	message.flags = access.tries ? tries : 0;
	pending.dropped = pending.is_here = pending.is_done = false;
	pending.has_copy = line.state == LineState::shared;
	const bool alone = is_exclusive(access.kind);
	enter(line, alone ? LineState::to_dirty : LineState::to_shared);
	context_.send(line.block().home(),
		!alone             ? Type::read
		: pending.has_copy ? Type::upgrade
				   : Type::write,
		message);
}

/** Asks the home for a receipt: earlier data may still be under way, and the answer comes after it. */
void Lines::ask_for_receipt(Line &line, const Access &access)
{
	if (line.state == LineState::shared) {
		Message message;
		message.block = line.block();
		context_.send(line.block().home(), Type::evict_shared, message);
	}
	enter(line, LineState::to_uncached);
	ask_home_to_do(line, access);
}

void Lines::ask_home_to_do(Line &line, const Access &access)
{
	const Operation operation{static_cast<std::uint8_t>(access.kind), static_cast<std::uint8_t>(access.function),
		static_cast<std::uint16_t>(access.at.in_block()), access.length};
	std::array<std::byte, block_size> data{};
	Message message;
	message.block = line.block();
	message.request = line.pending->request;
	message.counter = operation.packed();
	if (access.kind == AccessKind::write)
		std::copy_n(access.bytes, access.length, &data[operation.offset]);
	if (access.kind == AccessKind::atomic) {
		apps::store(data.data(), access.operand);
		apps::store(data.data() + sizeof(access.operand), access.compare);
	}
	if (writes(access.kind))
		message.data = data;
	context_.send(line.block().home(), Type::uncached, message);
}

/* Lines ---------------------------------------------------------------------------------------------------------- */

/**
 * Returns the record of the line; if there is none, the spare one, for as long as the call takes. Hides the line: from
 * now on reads take their turn.
 */
Lines::Pending &Lines::pending(Line &line)
{
	cache_.hide(line);
	if (!line.pending)
		line.pending = spare_ ? std::move(spare_) : std::make_unique<Pending>();
	return *line.pending;
}

/** Drops the record of the line. One always stays: what the home demands of an idle line must not need memory. */
void Lines::drop_record(Line &line) noexcept
{
	if (!spare_ && line.pending) {
		wait_no_more(*line.pending);
		*line.pending = Pending();
		spare_ = std::move(line.pending);
	}
	line.pending.reset();
}

/** Gives up the turns of a line for which nothing waits. */
void Lines::wait_no_more(Pending &pending) noexcept
{
	pending.to_obey.unlink();
	pending.to_ask.unlink();
}

void Lines::push(Pending &pending, Access &access)
{
	pending.waiting.push(access);
	overdue_ = std::min(overdue_, access.room_until);
	pending.length++;
	waiting_++;
}

Access &Lines::pop(Pending &pending)
{
	pending.length--;
	waiting_--;
	pending.early -= pending.early > 0;
	pending.to_ask.unlink(); /* the next access may wait for something else */
	return pending.waiting.pop();
}

void Lines::enter(Line &line, LineState state)
{
	in_transit_ += is_in_transit(state);
	in_transit_ -= is_in_transit(line.state);
	std::size_t &asked = asked_[line.block().home()];
	asked += awaits_answer(state);
	asked -= awaits_answer(line.state);
	evicting_ += state == LineState::to_invalid;
	evicting_ -= line.state == LineState::to_invalid;
	cache_.hide(line);
	line.state = state;
}

/** Frees the record and the line if they are not needed, and tells the cache what may be evicted. */
void Lines::settle(Line &line)
{
	const Pending &pending = *line.pending;
	if (is_in_transit(line.state) || !pending.waiting.empty() || pending.lock.is_held()) {
		cache_.pin(line);
		return;
	}
	drop_record(line);
	if (line.state == LineState::invalid)
		cache_.release(line);
	else if (is_kept(line))
		cache_.pin(line);
	else
		cache_.unpin(line);
	if (is_readable(line.state))
		show(line);
}

/** Shows a line with which nothing is under way to all threads. It is not opened if writes have to be logged. */
void Lines::show(Line &line)
{
	cache_.show(line);
	if (line.state == LineState::dirty && !context_.is_durable())
		cache_.open(line);
}

void Lines::free(Line &line)
{
	enter(line, LineState::invalid);
	drop_record(line);
	cache_.release(line);
}

/** Evicts a line that is not locked. Accesses that wait for it continue when the home has answered. */
void Lines::evict(Line &line)
{
	Message message;
	message.block = line.block();
	cache_.hide(line);
	if (line.state == LineState::shared) {
		context_.stats().evictions_shared++;
		context_.send(line.block().home(), Type::evict_shared, message);
		free(line);
		return;
	}
	context_.stats().evictions_dirty++;
	log_before_it_leaves(line);
	message.data = {line.data(), block_size};
	enter(line, LineState::to_invalid);
	cache_.pin(line);
	context_.send(line.block().home(), Type::evict_dirty, message);
}

/** Evicts the least recently used line whose home has room. Returns false if there is none among the first. */
bool Lines::evict_oldest()
{
	for (std::size_t looked = 0; looked < evictions_at_a_time; looked++) {
		Line *const oldest = cache_.least_recently_used();
		if (!oldest)
			return false;
		if (context_.has_room(oldest->block().home())) {
			evict(*oldest);
			return true;
		}
		cache_.touch(*oldest); /* so that a home that takes nothing keeps nobody from the others */
	}
	return false;
}

bool Lines::trim()
{
	for (std::size_t evicted = 0; cache_.used() - evicting_ > limit_; evicted++) {
		if (evicted == evictions_at_a_time)
			return true;
		if (!evict_oldest())
			return false;
	}
	return false;
}

void Lines::flush()
{
	to_flush_ = cache_.used();
	(void)flush_more();
}

bool Lines::flush_more()
{
	while (to_flush_ > 0 && evict_oldest())
		to_flush_--;
	if (to_flush_ > 0 && !cache_.least_recently_used())
		to_flush_ = 0;
	return to_flush_ > 0;
}

} // namespace prism::gam::directory
