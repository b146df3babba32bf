/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/queued_link.hpp"

#include "common/queue_pair.hpp"

#include <array>
#include <cerrno>

namespace prism::rpc
{

Result<QueuedLink::Introduced> QueuedLink::introduce(const Target &server, const Needs &needs)
{
	if (Result<void> checked = check(server.options); !checked)
		return checked.error();
	QueuePairOptions options;
	options.max_send_wr = SendQueue::size_for(needs.lanes);
	options.max_recv_wr = needs.receives;
	options.access_flags = needs.access_flags;
	Result<Queues> queues = make_queues(server.context, options);
	if (!queues)
		return queues.error();
	Result<Parts> parts = meet(server, queues->qp.endpoint());
	if (!parts)
		return parts.error();
	return Introduced{*std::move(queues), *std::move(parts)};
}

QueuedLink::QueuedLink(Introduced introduced, std::uint32_t lanes, std::vector<Buffer> memory)
	: ClientLink(std::move(introduced.parts)), memory_(std::move(memory)), cq_(std::move(introduced.queues.cq)),
	  qp_(std::move(introduced.queues.qp)), queue_(lanes)
{
}

Result<void> QueuedLink::connect_pair(bool needs_prism)
{
	if (Result<void> connected = qp_.connect(record().endpoint); !connected)
		return connected;
	if (needs_prism && !qp_.peer_speaks_prism())
		return make_error(
			EOPNOTSUPP, "the server's device does not speak PRISM", "use a way of calls without PRISM");
	return {};
}

void QueuedLink::stop() noexcept
{
	apps::move_to_error(qp_);
}

void QueuedLink::flush() noexcept
{
	if (broken())
		return;
	if (const int error = queue_.flush(qp_))
		break_off(error);
}

void QueuedLink::take(const Completion &completion, Listener &listener) noexcept
{
	if (completion.failed())
		break_off(completion.error == IBV_WC_RETRY_EXC_ERR ? ETIMEDOUT : EIO);
	else
		queue_.complete(
			completion.wr_id, [&](std::uint32_t lane) { return take_sent(lane, completion, listener); });
}

int QueuedLink::take_completions(Listener &listener) noexcept
{
	std::array<Completion, 32> completions;
	const int got = cq_.poll(completions);
	if (got < 0)
		break_off(-got);
	for (int i = 0; i < got && !broken(); i++)
		take(completions[static_cast<std::size_t>(i)], listener);
	return got;
}

} // namespace prism::rpc
