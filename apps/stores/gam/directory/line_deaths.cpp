/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Lines of homes that die and return, and of owners that die. */
#include "gam/directory/lines.hpp"

#include <cerrno>

namespace prism::gam::directory
{

void Lines::lost(NodeId node)
{
	cache_.for_each([&](Line &line) {
		if (line.block().home() == node) {
			end_all(line, EHOSTUNREACH);
			if (!keep(line))
				forget(line);
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

void Lines::log_all()
{
	cache_.for_each([this](Line &line) {
		cache_.hide(line);
		log_before_it_leaves(line);
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
	forget(*line);
}

/** Frees a line whose value is gone. If it is locked, it stays for those who still have to give the locks back. */
void Lines::forget(Line &line)
{
	if (!line.pending || !line.pending->lock.is_held())
		return free(line);
	enter(line, LineState::invalid);
	line.pending->is_lost = true;
}

/** Ends an access to a block whose lock is lost. */
void Lines::fail(Line &line, Access &access)
{
	BlockLock &lock = line.pending->lock;
	if (access.kind == AccessKind::unlock)
		lock.give_back(access.thread);
	context_.end(access, EHOSTUNREACH);
	if (!lock.is_held())
		free(line);
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
		if (is_demand(access))
			line.pending->demand.is_queued = false;
		else
			context_.end(access, error);
	}
	if (line.pending)
		wait_no_more(*line.pending);
}

} // namespace prism::gam::directory
