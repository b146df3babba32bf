/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/directory/lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/wire.hpp"
#include "gam/coherence/execute.hpp"

namespace prism::gam::directory
{

namespace
{

constexpr std::size_t evictions_at_a_time = 16;

bool is_readable(LineState state) noexcept
{
	return state == LineState::shared || state == LineState::dirty;
}

/** Returns true for a line whose value its home may ask for when it returns. */
bool has_value(LineState state) noexcept
{
	return is_readable(state) || state == LineState::doubtful;
}

/** Returns the state that the home is told: it decides whether a doubtful line is still dirty. */
LineState told(LineState state) noexcept
{
	return state == LineState::doubtful ? LineState::dirty : state;
}

bool is_in_transit(LineState state) noexcept
{
	return state > LineState::dirty;
}

/** Returns true if an answer of the home or of an owner is to come. */
bool awaits_answer(LineState state) noexcept
{
	return is_in_transit(state) && state != LineState::to_invalid;
}

bool suffices(LineState state, AccessKind kind) noexcept
{
	if (kind == AccessKind::write_back)
		return false; /* the home has to confirm that it has the value */
	return state == LineState::dirty || (state == LineState::shared && !is_exclusive(kind));
}

bool wants_alone(Type type) noexcept
{
	return type == Type::invalidate || type == Type::fetch_invalidate || type == Type::forward_write;
}

/** Returns true for an error of the home's log: the uncached access was done, but is not in the log. */
bool is_of_log(int error) noexcept
{
	return error == ENOSPC || error == EIO || error == EROFS;
}

bool is_demand(const Access &access) noexcept
{
	return access.progress == 1;
}

} // namespace

Lines::Lines(Context &context, std::span<std::byte> memory, std::size_t limit)
	: context_(context), cache_(memory), limit_(limit)
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
		starved_.push(access);
	else if (!find_place(access))
		starved_.push(access);
}

/** Finds a line for @p access. Returns true if it has one, or has ended as there is none; else it waits for one. */
bool Lines::find_place(Access &access)
{
	const Address block = access.at.block();
	Line *line = cache_.find(block);
	if (!line && !make_room()) {
		if (in_transit_ > 0)
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
	if (cache_.is_full() && evicting_ == 0) {
		if (Line *const oldest = cache_.least_recently_used())
			evict(*oldest);
	}
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
	Pending &pending = Lines::pending(line);
	if (const int error = pending.lock.refusal(access)) {
		context_.end(access, error);
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
		if (!pending.lock.allows(wants_alone(pending.demand.type)))
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
		take_demand_out(pending);
		obey(line, pending.demand.message);
		return true;
	}
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
	if (access.kind == AccessKind::unlock)
		line.pending->lock.give_back(access.thread);
	else if (is_lock(access.kind))
		line.pending->lock.take(access);
	cache_.touch(line);
	context_.end(access, log_if_durable(line, access));
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

/** Returns the record of the line. Hides the line: from now on reads take their turn. */
Lines::Pending &Lines::pending(Line &line)
{
	cache_.hide(line);
	if (!line.pending)
		line.pending = std::make_unique<Pending>();
	return *line.pending;
}

void Lines::push(Pending &pending, Access &access)
{
	pending.waiting.push(access);
	pending.length++;
	waiting_++;
}

Access &Lines::pop(Pending &pending)
{
	pending.length--;
	waiting_--;
	pending.early -= pending.early > 0;
	return pending.waiting.pop();
}

void Lines::enter(Line &line, LineState state)
{
	in_transit_ += is_in_transit(state);
	in_transit_ -= is_in_transit(line.state);
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
	line.pending.reset();
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
	line.pending.reset();
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

bool Lines::trim()
{
	for (std::size_t evicted = 0; cache_.used() - evicting_ > limit_; evicted++) {
		Line *const oldest = cache_.least_recently_used();
		if (!oldest)
			return false;
		if (evicted == evictions_at_a_time)
			return true;
		evict(*oldest);
	}
	return false;
}

void Lines::flush()
{
	while (Line *const oldest = cache_.least_recently_used())
		evict(*oldest);
}

/* Messages ------------------------------------------------------------------------------------------------------- */

bool Lines::hear(NodeId from, const Message &message)
{
	const auto type = static_cast<Type>(message.type);
	Line *const line = cache_.find(message.block);
	if (type == Type::invalidate)
		return from == message.block.home() && invalidate(line, message);
	const bool is_answer = type >= Type::shared_data && type <= Type::failed;
	if (is_answer && (!line || !awaits_answer(line->state) || line->pending->request != message.request))
		return message.request <= requests_; /* answer to a request that has ended because another node died */
	if (!line)
		return false;
	if (type == Type::shared_data)
		return take_shared(*line, message);
	if (type == Type::handed_over)
		return take_over(*line, message);
	return from == message.block.home() && hear_from_home(*line, message);
}

bool Lines::hear_from_home(Line &line, const Message &message)
{
	switch (static_cast<Type>(message.type)) {
	case Type::grant:
		return take_grant(line, message);
	case Type::permission:
		return take_permission(line, message);
	case Type::done:
		return take_done(line, message);
	case Type::answered:
		return take_answer(line, message);
	case Type::busy:
	case Type::failed:
		return take_refusal(line, message);
	case Type::evicted:
		return take_evicted(line);
	case Type::fetch_shared:
	case Type::fetch_invalidate:
	case Type::forward_read:
	case Type::forward_write:
		return give_up(line, message);
	default:
		return false;
	}
}

bool Lines::take_shared(Line &line, const Message &message)
{
	if (line.state != LineState::to_shared || message.data.empty())
		return false;
	store_words(line.data(), message.data);
	line.counter = message.counter;
	Pending &pending = *line.pending;
	if (!pending.dropped || !context_.rules().drop_invalidated) {
		enter(line, LineState::shared);
		advance(line);
		return true;
	}
	/*
	 * Serves only the reads that waited before the invalidation. A lock would keep the copy, so locks start over.
	 */
	while (pending.early > 0 && pending.waiting.front().kind == AccessKind::read) {
		Access &read = pop(pending);
		execute(read, line.data());
		context_.end(read, 0);
	}
	pending.early = 0;
	enter(line, LineState::invalid);
	advance(line);
	return true;
}

void Lines::own(Line &line)
{
	enter(line, LineState::dirty);
	advance(line);
}

bool Lines::take_grant(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || message.data.empty())
		return false;
	store_words(line.data(), message.data);
	line.counter = message.counter;
	context_.stats().lost_values += message.flags & older ? 1 : 0;
	own(line);
	return true;
}

bool Lines::take_permission(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || (!line.pending->has_copy && context_.rules().upgrade_without_copy))
		return false;
	line.counter = message.counter;
	own(line);
	return true;
}

bool Lines::take_over(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || message.data.empty() || line.pending->is_here)
		return false;
	store_words(line.data(), message.data);
	line.pending->is_here = true;
	line.pending->has_copy = false;
	own_if_complete(line);
	return true;
}

bool Lines::take_done(Line &line, const Message &message)
{
	if (line.state != LineState::to_dirty || line.pending->is_done || message.node >= max_nodes)
		return false;
	line.pending->is_done = true;
	line.counter = message.counter;
	line.pending->old_owner = message.node;
	if (context_.is_dead(message.node) && !line.pending->is_here)
		ask_again(line, message.node);
	else
		own_if_complete(line);
	return true;
}

void Lines::own_if_complete(Line &line)
{
	const Pending &pending = *line.pending;
	if (pending.is_here && (pending.is_done || !context_.rules().await_done))
		own(line);
}

bool Lines::take_answer(Line &line, const Message &message)
{
	if (line.state != LineState::to_uncached)
		return false;
	Access &access = line.pending->waiting.front();
	if (message.data.empty() != (access.kind != AccessKind::read))
		return false;
	if (access.kind == AccessKind::read)
		std::copy_n(&message.data[access.at.in_block()], access.length, access.bytes);
	access.old_value = message.counter;
	context_.end(pop(*line.pending), 0);
	enter(line, LineState::invalid);
	advance(line);
	return true;
}

bool Lines::take_refusal(Line &line, const Message &message)
{
	Pending &pending = *line.pending;
	const bool is_busy = static_cast<Type>(message.type) == Type::busy;
	const bool is_allowed = is_busy ? pending.waiting.front().tries && line.state != LineState::to_uncached
					: message.error == EFAULT || message.error == ENOBUFS ||
						  message.error == EOWNERDEAD || is_of_log(message.error);
	if (!is_allowed)
		return false;
	context_.end(pop(pending), is_busy ? EBUSY : message.error);
	const bool has_copy = line.state == LineState::to_dirty && pending.has_copy;
	enter(line, has_copy ? LineState::shared : LineState::invalid);
	advance(line);
	return true;
}

bool Lines::take_evicted(Line &line)
{
	if (line.state != LineState::to_invalid)
		return false;
	AccessQueue &waiting = pending(line).waiting;
	while (!waiting.empty() && waiting.front().kind == AccessKind::write_back && !is_demand(waiting.front()))
		context_.end(pop(*line.pending), 0);
	enter(line, LineState::invalid);
	advance(line);
	return true;
}

/* Demands of the home -------------------------------------------------------------------------------------------- */

bool Lines::invalidate(Line *line, const Message &message)
{
	const Rules &rules = context_.rules();
	const LineState state = line ? line->state : LineState::invalid;
	switch (state) {
	case LineState::invalid:
	case LineState::to_uncached:
		if (rules.ack_without_copy)
			answer(message, Type::ack);
		return true;
	case LineState::to_shared:
		if (!line->pending->dropped)
			line->pending->early = line->pending->length;
		line->pending->dropped = true;
		break;
	case LineState::to_dirty:
		line->pending->has_copy = false;
		break;
	case LineState::shared:
		pending(*line);
		return obey_or_queue(*line, message, line->pending->lock.allows(true));
	default:
		return false;
	}
	const bool acks = state == LineState::to_shared ? rules.ack_while_reading : rules.ack_while_writing;
	if (!acks)
		return obey_or_queue(*line, message, false);
	answer(message, Type::ack);
	return true;
}

/** Hands over the data of this node, the owner or the next one. */
bool Lines::give_up(Line &line, const Message &message)
{
	const bool is_forward = message.type >= static_cast<std::uint8_t>(Type::forward_read);
	if (is_forward && (message.node >= max_nodes || message.node == context_.self()))
		return false;
	switch (line.state) {
	case LineState::to_invalid:
		if (context_.rules().serve_while_evicting) {
			pending(line);
			obey(line, message);
		}
		return true;
	case LineState::to_dirty:
		if (context_.rules().serve_after_grant)
			return obey_or_queue(line, message, false);
		obey(line, message);
		return true;
	case LineState::dirty:
		pending(line);
		return obey_or_queue(
			line, message, line.pending->lock.allows(wants_alone(static_cast<Type>(message.type))));
	default:
		return false;
	}
}

bool Lines::obey_or_queue(Line &line, const Message &message, bool admitted)
{
	Pending &pending = *line.pending;
	if (pending.demand.is_queued)
		return false; /* the home has one demand at a time */
	if ((admitted && pending.waiting.empty()) || (!context_.rules().locks_hold && !is_in_transit(line.state))) {
		obey(line, message);
	} else if (message.flags & tries) {
		answer(message, Type::locked);
	} else {
		pending.demand.progress = 1;
		pending.demand.is_queued = true;
		pending.demand.type = static_cast<Type>(message.type);
		pending.demand.message = message;
		pending.demand.message.data = {};
		push(pending, pending.demand);
	}
	advance(line);
	return true;
}

/** Carries out a demand; changes the line, but looks at nothing that waits. */
void Lines::obey(Line &line, const Message &message)
{
	auto type = static_cast<Type>(message.type);
	const std::span<const std::byte> data{line.data(), block_size};
	if (type == Type::invalidate) {
		answer(message, Type::ack);
		enter(line, LineState::invalid);
		return;
	}
	log_before_it_leaves(line);
	const bool is_forward = type == Type::forward_read || type == Type::forward_write;
	const bool reaches = is_forward && !context_.is_dead(message.node);
	if (reaches) {
		Message to_requester = message;
		to_requester.data = data;
		context_.send(
			message.node, type == Type::forward_read ? Type::shared_data : Type::handed_over, to_requester);
	}
	if (type == Type::forward_write && reaches)
		answer(message, Type::transferred);
	else
		answer(message, Type::data, data);
	if (line.state != LineState::to_invalid)
		enter(line, wants_alone(type) ? LineState::invalid : LineState::shared);
}

void Lines::answer(const Message &message, Type type, std::span<const std::byte> data)
{
	Message answer;
	answer.block = message.block;
	answer.request = message.request;
	answer.data = data;
	context_.send(message.block.home(), type, answer);
}

/* Deaths --------------------------------------------------------------------------------------------------------- */

void Lines::lost(NodeId node)
{
	cache_.for_each([&](Line &line) {
		if (line.block().home() == node) {
			end_all(line, EHOSTUNREACH);
			if (!keep(line))
				free(line);
		} else if (line.state == LineState::to_shared ||
			   (line.state == LineState::to_dirty && !line.pending->is_here &&
				   (!line.pending->is_done || line.pending->old_owner == node))) {
			ask_again(line, node);
		}
	});
	starved_.remove_if([&](Access &access) {
		const bool is_of_it = access.at.home() == node;
		if (is_of_it)
			context_.end(access, EHOSTUNREACH);
		return is_of_it;
	});
}

/**
 * Keeps the line of a dead home that has a log, which asks for it when it returns. Until then it is used, but not
 * evicted if dirty. If it was being evicted, nobody knows if the data arrived, or who has the block since.
 */
bool Lines::keep(Line &line)
{
	if (line.state == LineState::to_invalid)
		enter(line, LineState::doubtful);
	if (!context_.keeps_log(line.block().home()) || !has_value(line.state))
		return false;
	pending(line);
	settle(line);
	return true;
}

bool Lines::is_kept(const Line &line) const noexcept
{
	return (line.state == LineState::dirty || line.state == LineState::doubtful) &&
	       context_.is_dead(line.block().home());
}

void Lines::unpin(NodeId home)
{
	cache_.for_each([&](Line &line) {
		if (line.block().home() != home || line.pending)
			return;
		if (line.state == LineState::doubtful) {
			enter(line, LineState::dirty);
			show(line);
		}
		if (line.state == LineState::dirty)
			cache_.unpin(line);
	});
}

void Lines::for_each(
	NodeId home, const std::function<void(Address, LineState, std::uint64_t, const std::byte *)> &visit)
{
	cache_.for_each([&](Line &line) {
		if (line.block().home() != home || !has_value(line.state))
			return;
		cache_.hide(line);
		visit(line.block(), told(line.state), line.counter, line.data());
	});
}

std::optional<std::uint64_t> Lines::term(Address block, const std::byte *&data) noexcept
{
	Line *const line = cache_.find(block);
	if (!line || !has_value(line->state))
		return std::nullopt;
	cache_.hide(*line);
	data = line->data();
	return line->counter;
}

void Lines::drop(Address block)
{
	Line *const line = cache_.find(block);
	if (!line || !has_value(line->state))
		return;
	end_all(*line, EHOSTUNREACH);
	free(*line);
}

/** Asks the home again for data that the dead node may have had to send. */
void Lines::ask_again(Line &line, NodeId dead)
{
	Message message;
	message.node = dead;
	message.block = line.block();
	message.request = line.pending->request;
	if (line.state == LineState::to_dirty)
		message.flags = line.pending->is_done ? exclusive | has_done : exclusive;
	context_.send(line.block().home(), Type::again, message);
}

void Lines::end_all(Line &line, int error)
{
	while (line.pending && !line.pending->waiting.empty()) {
		Access &access = pop(*line.pending);
		if (!is_demand(access))
			context_.end(access, error);
	}
}

} // namespace prism::gam::directory
