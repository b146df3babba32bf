/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/node/home.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include "gam/coherence/block_log.hpp"
#include "gam/node/node.hpp"

namespace prism::gam
{

namespace
{

/** The time that a malloc waits while it finds only pieces in locked blocks. */
constexpr std::chrono::seconds patience{1};

} // namespace

Home::Home(Node &node, std::uint64_t bytes) : node_(node), allocator_(bytes)
{
	zero_.access.kind = AccessKind::write;
	zero_.access.bytes = nothing_.data();
	zero_.access.is_logged = true; /* otherwise a restart could restore the old content */
	zero_.access.tries = true;
	zero_.done = true;
}

void Home::begin(HomeRequest &request)
{
	const bool is_own = request.to == node_.self();
	std::unique_lock guard(lock_);
	const std::uint64_t number = next_request_++;
	try {
		requests_.emplace(number, &request);
	} catch (const std::bad_alloc &) {
		request.error = ENOMEM;
		request.done = true;
		return;
	}
	/* Sent under the lock: a loss that is noted later ends the request in lost(). */
	const bool is_gone = !is_own && (!node_.is_member(request.to) || node_.was_lost(request.to, request.losses));
	if (!is_own && !is_gone)
		send(number, request);
	guard.unlock();
	if (is_own)
		serve(node_.self(), request.type, number, request.counter, request.alignment);
	else if (is_gone)
		finish(request.to, number, 0, EHOSTUNREACH);
	else
		node_.network_.flush();
}

void Home::send(std::uint64_t number, const HomeRequest &request)
{
	Message message;
	message.type = static_cast<std::uint8_t>(request.type);
	message.flags = request.alignment;
	message.counter = request.counter;
	message.request = number;
	node_.network_.send(request.to, message);
}

void Home::heard(NodeId from, const Message &message)
{
	const auto type = static_cast<HomeMessage>(message.type);
	switch (type) {
	case HomeMessage::malloc:
	case HomeMessage::free:
		return serve(from, type, message.request, message.counter, message.flags);
	case HomeMessage::malloced:
	case HomeMessage::freed:
		return finish(from, message.request, message.counter, message.error);
	case HomeMessage::available:
		if (from < max_nodes)
			others_[from].store(message.counter, std::memory_order_relaxed);
	}
}

void Home::serve(NodeId asker, HomeMessage type, std::uint64_t request, std::uint64_t counter, unsigned alignment)
{
	const bool is_malloc = type == HomeMessage::malloc;
	try {
		is_malloc ? allocate(asker, request, counter, alignment) : free(asker, request, Address(counter));
	} catch (const std::bad_alloc &) { /* the piece may be lost */
		answer(asker, request, is_malloc ? HomeMessage::malloced : HomeMessage::freed, 0, ENOMEM);
	}
}

void Home::allocate(NodeId asker, std::uint64_t request, std::uint64_t bytes, unsigned alignment)
{
	int error = 0;
	const std::optional<Allocator::Piece> piece = take(bytes, alignment, error);
	if (!piece)
		return answer(asker, request, HomeMessage::malloced, 0, error);
	if (piece->fresh && lend(*piece))
		return answer(asker, request, HomeMessage::malloced, Address(node_.self(), piece->offset).value, 0);
	const std::scoped_lock guard(lock_);
	zeroing_.push_back({*piece, 0, asker, request, bytes, alignment});
}

void Home::free(NodeId asker, std::uint64_t request, Address address)
{
	answer(asker, request, HomeMessage::freed, 0, address.home() == node_.self() ? give_back(address) : EINVAL);
}

std::optional<Allocator::Piece> Home::take(std::uint64_t bytes, unsigned alignment, int &error)
{
	const std::scoped_lock guard(logging_);
	std::optional<Allocator::Piece> piece;
	if (alignment < 64)
		piece = allocator_.allocate(bytes, std::uint64_t{1} << alignment);
	error = piece ? log(piece->offset, piece->bytes) : ENOMEM;
	if (piece && error) {
		(void)allocator_.free(piece->offset);
		piece.reset();
	}
	return piece;
}

/** Frees the piece at @p address. If that cannot be logged, the piece is allocated again after a restart. */
int Home::give_back(Address address)
{
	std::uint64_t bytes = 0;
	{
		const std::scoped_lock guard(logging_);
		if (const int error = allocator_.free(address.offset(), &bytes))
			return error;
		(void)log(address.offset(), bytes);
	}
	withdraw(address, bytes);
	return 0;
}

/**
 * Logs that an object of @p bytes has been allocated or freed at @p offset. What is not logged must not be allocated,
 * even if the node is not durable: the next life of the node would give the memory away again.
 */
int Home::log(std::uint64_t offset, std::uint64_t bytes)
{
	BlockLog *const log = node_.options_.log;
	if (!log)
		return 0;
	const Address block = Address(node_.self(), offset).block();
	return log->allocated(block, bytes, allocator_.objects(block.block_number(), bytes));
}

/** Lends all blocks of @p piece. Returns false if one is not lent yet; the caller must try again. */
bool Home::lend(const Allocator::Piece &piece)
{
	const Address end(node_.self(), piece.offset + piece.bytes);
	bool all = true;
	for (Address block = Address(node_.self(), piece.offset).block(); block < end; block = block + block_size)
		all &= node_.lend(block);
	return all;
}

void Home::withdraw(Address first, std::uint64_t bytes)
{
	for (Address block = first.block(); block < first + bytes; block = block + block_size) {
		if (!is_allocated(block))
			node_.withdraw(block);
	}
}

void Home::answer(NodeId asker, std::uint64_t request, HomeMessage type, std::uint64_t result, int error)
{
	if (asker == node_.self())
		return finish(asker, request, result, error);
	Message message;
	message.type = static_cast<std::uint8_t>(type);
	message.error = static_cast<std::uint8_t>(error);
	message.counter = result;
	message.request = request;
	node_.network_.send(asker, message);
}

void Home::finish(NodeId from, std::uint64_t request, std::uint64_t result, int error)
{
	const std::scoped_lock guard(lock_);
	const auto found = requests_.find(request);
	if (found == requests_.end() || found->second->to != from)
		return; /* not requested from that node */
	HomeRequest &asked = *found->second;
	requests_.erase(found);
	asked.result = result;
	asked.error = error;
	if (!error && asked.type == HomeMessage::malloc && Address(result).home() != from)
		asked.error = EPROTO;
	asked.done.store(true, std::memory_order_release);
}

void Home::lost(NodeId node)
{
	const std::scoped_lock guard(lock_);
	for (auto request = requests_.begin(); request != requests_.end();) {
		if (request->second->to != node) {
			++request;
			continue;
		}
		request->second->error = EHOSTUNREACH;
		request->second->done.store(true, std::memory_order_release);
		request = requests_.erase(request);
	}
	others_[node].store(0, std::memory_order_relaxed);
	for (Zeroing &each : zeroing_) /* else another node that gets the number would be answered */
		each.asker = each.asker == node ? no_node : each.asker;
}

bool Home::poll()
{
	const bool zeroed = zero();
	return tell_available() || zeroed;
}

/** Zeroes the next piece, a block at a time, until a write has to wait. Returns true if there was progress. */
bool Home::zero()
{
	bool happened = false;
	while (zero_.is_done()) {
		std::unique_lock guard(lock_);
		if (zeroing_.empty())
			return happened;
		Zeroing &next = zeroing_.front();
		const bool is_wanted = next.asker != no_node;
		guard.unlock(); /* the first element stays: only this thread removes it */
		int error = std::exchange(zero_.access.error, 0);
		if (error && put_off(next, error))
			return happened;
		happened = true;
		if (error || !is_wanted || next.done == next.piece.bytes) {
			end_first(next, error);
			continue;
		}
		Access &access = zero_.access;
		access.at = Address(node_.self(), next.piece.offset + next.done);
		if (!node_.lend(access.at.block()))
			return happened;
		access.length = static_cast<std::uint16_t>(
			std::min<std::uint64_t>(next.piece.bytes - next.done, block_size - access.at.in_block()));
		next.done += access.length;
		zero_.done = false;
		if (node_.start(access))
			zero_.done = true;
	}
	return happened;
}

/**
 * Handles @p error, for which a block cannot be zeroed now: takes another piece, or puts this one off. Returns false if
 * the error is final, or the request has waited long enough.
 */
bool Home::put_off(Zeroing &first, int &error)
{
	if (error == ENOBUFS) { /* all lines are locked: another piece would need one too */
		first.done -= zero_.access.length;
	} else if (error == EBUSY || error == EOWNERDEAD) {
		int full = 0;
		const std::optional<Allocator::Piece> other = take(first.bytes, first.alignment, full);
		first.passed_over.push_back(first.piece);
		first.piece = other ? *other : first.passed_over.front();
		first.done = 0;
		if (other)
			return true;
		first.passed_over.pop_front();
	} else {
		return false;
	}
	first.until = first.until.value_or(Clock::now() + patience);
	if (Clock::now() >= *first.until) {
		first.passed_over.push_back(first.piece);
		error = error == EBUSY ? ENOMEM : error;
		return false;
	}
	const std::scoped_lock guard(lock_);
	std::rotate(zeroing_.begin(), zeroing_.begin() + 1, zeroing_.end());
	return true;
}

/** Answers who has asked for @p first; if that node is dead, frees the piece. One that cannot be zeroed is not used. */
void Home::end_first(Zeroing &first, int error)
{
	for (const Allocator::Piece &piece : first.passed_over)
		(void)give_back(Address(node_.self(), piece.offset));
	const Address address(node_.self(), first.piece.offset);
	std::unique_lock guard(lock_);
	const NodeId asker = first.asker;
	const std::uint64_t request = first.request, result = error ? 0 : address.value;
	if (asker != node_.self() && asker != no_node) /* under the lock: its loss, and the next life, come later */
		answer(asker, request, HomeMessage::malloced, result, error);
	zeroing_.pop_front();
	guard.unlock();
	if (asker == node_.self())
		finish(asker, request, result, error);
	else if (asker == no_node && !error)
		(void)give_back(address);
}

std::uint64_t Home::available() const noexcept
{
	const BlockLog *const log = node_.options_.log;
	return log && log->has_failed() ? 0 : allocator_.available(); /* see log() */
}

/**
 * Tells how much is free: to nodes that have joined since, and to all others if it has changed by a sixteenth. They use
 * it to choose where to allocate.
 */
bool Home::tell_available()
{
	const std::uint64_t now = available();
	const std::uint64_t members = node_.members_.load(std::memory_order_relaxed);
	const std::uint64_t change = now > told_ ? now - told_ : told_ - now;
	/* Tell at once that there is nothing more, as nobody then asks for it, and that there is something again. */
	if (change > node_.options_.bytes / 16 || (now == 0) != (told_ == 0)) {
		told_ = now;
		told_to_ = 0;
	}
	const std::uint64_t untold = members & ~told_to_ & ~bit(node_.self());
	told_to_ = members;
	Message message;
	message.type = static_cast<std::uint8_t>(HomeMessage::available);
	message.counter = now;
	for (std::uint64_t left = untold; left; left &= left - 1)
		node_.network_.send(static_cast<NodeId>(std::countr_zero(left)), message);
	return untold != 0;
}

} // namespace prism::gam
