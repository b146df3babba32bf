/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "server_link.hpp"

#include <cerrno>

namespace prism::apps
{

namespace
{

constexpr unsigned messages_a_turn = 64;
/* Questions that wait for take_question(); more is no server of ours. */
constexpr std::size_t most_questions = 1024;

} // namespace

ServerLink::ServerLink(TcpRendezvous rendezvous, QueuePair qp)
	: rendezvous_(std::move(rendezvous)), control_(rendezvous_.fd()), qp_(std::move(qp))
{
}

Result<void> ServerLink::report_to(const std::vector<FreeListInfo> &lists)
{
	for (const FreeListInfo &list : lists) {
		Result<FreeReporter> reporter = FreeReporter::create(qp_, list.number);
		if (!reporter)
			return reporter.error();
		lists_.push_back({list.buffers, *std::move(reporter)});
	}
	return {};
}

void ServerLink::release(std::uint64_t address) noexcept
{
	for (List &list : lists_) {
		if (list.buffers.contains(address, 1)) {
			if (list.reporter.report(address) == ENOMEM)
				waiting_.push_back(address);
			return;
		}
	}
}

void ServerLink::flush(std::uint64_t wr_id) noexcept
{
	for (List &list : lists_) {
		if (list.reporter.pending() && !list.reporter.flush(wr_id))
			flushes_++;
	}
}

std::optional<ControlMessage> ServerLink::take_question() noexcept
{
	if (questions_.empty())
		return std::nullopt;
	const ControlMessage first = questions_.front();
	questions_.erase(questions_.begin());
	return first;
}

int ServerLink::talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept
{
	for (const std::uint64_t address : std::exchange(waiting_, {}))
		release(address);
	ControlMessage message;
	int got = 0;
	/* A server that sends without end holds nobody up. */
	for (unsigned heard = 0; heard < messages_a_turn && !answer_ && (got = control_.receive(message)) > 0;
		heard++) {
		if (message.kind == ControlKind::settle && !lists_.empty())
			settling_ = {message.value, newest, 0};
		else if (is_question(message.kind))
			questions_.push_back(message);
		else if (message.kind == ControlKind::stop)
			stop_after_ = newest;
		else
			answer_ = message;
	}
	if (got < 0)
		return -got;
	if (questions_.size() > most_questions)
		return EPROTO;
	if (stop_after_ && oldest > *stop_after_)
		return ESHUTDOWN;
	return settling_ ? settle(oldest, flush_id) : 0;
}

/**
 * Answers the server's recovery scan. Once the requests under way at the time of its question have ended, each buffer
 * of this client is in a slot or has been reported. The completion of a flush, even an empty one, proves that earlier
 * reports arrived.
 */
int ServerLink::settle(std::uint64_t oldest, std::uint64_t flush_id) noexcept
{
	if (oldest <= settling_->before || !waiting_.empty())
		return 0;
	for (; settling_->flushed < lists_.size(); settling_->flushed++) {
		if (lists_[settling_->flushed].reporter.flush(flush_id))
			return 0; /* no room in the send queue yet */
		flushes_++;
	}
	if (flushes_)
		return 0;
	const std::uint64_t value = settling_->value;
	settling_.reset();
	return control_.send({ControlKind::settled, value});
}

} // namespace prism::apps
