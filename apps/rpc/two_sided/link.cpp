/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/two_sided/link.hpp"

#include "common/queue_pair.hpp"
#include "common/saturating.hpp"

#include <array>
#include <cerrno>

namespace prism::rpc
{

namespace
{

/* Work request IDs: a receive has its number and this bit, any other request its sequence number. */
constexpr std::uint64_t receive_tag = std::uint64_t{1} << 63;

} // namespace

TwoSidedLink::TwoSidedLink(Parts parts, Queues queues, Buffer memory)
	: ClientLink(std::move(parts)), memory_(std::move(memory)), cq_(std::move(queues.cq)),
	  qp_(std::move(queues.qp)), queue_(settings().depth + settings().readers), early_(settings().depth),
	  reading_(settings().depth + settings().readers), inline_(settings().depth)
{
	place_requests({memory_.data(), depth() * sizes().request}, sizes().request);
}

Result<std::unique_ptr<TwoSidedLink>> TwoSidedLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	const std::uint32_t lanes = options.depth + options.readers;
	QueuePairOptions pair;
	pair.max_send_wr = SendQueue::size_for(lanes);
	pair.max_recv_wr = options.depth;
	pair.access_flags = 0; /* the server has nothing to do here */
	Result<Queues> queues = make_queues(context, pair);
	if (!queues)
		return queues.error();
	Result<Parts> parts = meet({context, host, port, wanted, options, measure}, queues->qp.endpoint());
	if (!parts)
		return parts.error();
	SlotSizes &sizes = parts->sizes;
	sizes.request = apps::rounded_up(sizes.request, 64);
	sizes.response = apps::rounded_up(sizes.response, 64);
	sizes.read = apps::rounded_up(sizes.read, 64);
	Result<Buffer> memory =
		Buffer::create(queues->pd, options.depth * (sizes.request + sizes.response) + lanes * sizes.read);
	if (!memory)
		return memory.error();
	const Deadline deadline = parts->deadline;
	/* The constructor is private: no make_unique. */
	std::unique_ptr<TwoSidedLink> made(new TwoSidedLink(*std::move(parts), *std::move(queues), *std::move(memory)));
	if (Result<void> finished = made->finish(deadline); !finished)
		return finished.error();
	return made;
}

Result<void> TwoSidedLink::finish(Deadline deadline)
{
	if (Result<void> connected = qp_.connect(record().endpoint); !connected)
		return connected;
	for (std::uint32_t receive = 0; receive < depth(); receive++) {
		if (const int error = post_receive(receive))
			return make_error(error, "cannot post receives");
	}
	return enter(deadline);
}

int TwoSidedLink::post_receive(std::uint64_t receive) noexcept
{
	return qp_.post_receive(receive_tag | receive,
		memory_.slice(response_offset(receive), static_cast<std::uint32_t>(sizes().response)));
}

void TwoSidedLink::stop() noexcept
{
	apps::move_to_error(qp_);
}

void TwoSidedLink::send(std::uint32_t slot, std::uint32_t size) noexcept
{
	inline_[slot] = size <= qp_.max_inline_data();
	ibv_send_wr &wr = queue_.begin(slot, memory_.slice(slot * sizes().request, size)).wr;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = inline_[slot] ? unsigned{IBV_SEND_INLINE} : 0u;
}

void TwoSidedLink::read(std::uint32_t slot, RemoteAddress from, std::uint32_t length) noexcept
{
	if (broken())
		return;
	if (length > sizes().read) {
		break_off(EPROTO);
		return;
	}
	ibv_send_wr &wr = queue_.begin(slot, memory_.slice(read_offset(slot), length)).wr;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = from.address;
	wr.wr.rdma.rkey = from.rkey;
	reading_[slot] = 1;
	began();
}

void TwoSidedLink::flush() noexcept
{
	if (broken())
		return;
	if (const int error = queue_.flush(qp_))
		break_off(error);
}

void TwoSidedLink::hand_over(
	std::uint32_t slot, std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept
{
	early_[slot].receive = nothing;
	deliver(slot, {memory_.data() + response_offset(receive), length}, listener);
	if (const int error = post_receive(receive))
		break_off(error);
}

void TwoSidedLink::take_response(std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept
{
	const std::optional<std::uint32_t> slot = slot_of({memory_.data() + response_offset(receive), length});
	if (!slot)
		return;
	if (queue_.waits(*slot) || early_[*slot].receive != nothing) {
		break_off(EBADMSG);
		return;
	}
	/* The device may have to retransmit the request, so its bytes must not change. */
	if (!inline_[*slot] && !queue_.done(*slot))
		early_[*slot] = {receive, length};
	else
		hand_over(*slot, receive, length, listener);
}

/* The request of the slot has ended. False: the link is broken. */
bool TwoSidedLink::take_sent(std::uint32_t slot, Listener &listener) noexcept
{
	if (reading_[slot]) {
		reading_[slot] = 0;
		ended();
		listener.on_read(slot);
	} else if (slot < depth() && early_[slot].receive != nothing) {
		hand_over(slot, early_[slot].receive, early_[slot].length, listener);
	}
	return !broken();
}

void TwoSidedLink::take(const Completion &completion, Listener &listener) noexcept
{
	if (completion.failed())
		break_off(completion.error == IBV_WC_RETRY_EXC_ERR ? ETIMEDOUT : EIO);
	else if (completion.wr_id & receive_tag)
		take_response(completion.wr_id & ~receive_tag, completion.byte_len, listener);
	else
		queue_.complete(completion.wr_id, [&](std::uint32_t slot) { return take_sent(slot, listener); });
}

bool TwoSidedLink::drive(Listener &listener) noexcept
{
	std::array<Completion, 32> completions;
	/* While others are under way, their answers bring more requests, which can share the doorbell. */
	if (queue_.begun() == active())
		flush();
	const int got = cq_.poll(completions);
	if (got < 0)
		break_off(-got);
	for (int i = 0; i < got && !broken(); i++) {
		take(completions[static_cast<std::size_t>(i)], listener);
		/* Send half of them while the server works on the other half. */
		if (active() > 1 && 2 * queue_.begun() >= active())
			flush();
	}
	if (!got)
		flush();
	return got > 0;
}

} // namespace prism::rpc
