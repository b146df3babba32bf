/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/two_sided/link.hpp"

#include "base/saturating.hpp"

#include <array>
#include <cerrno>

namespace prism::rpc
{

namespace
{

/* Work request IDs: a receive has its number and this bit, any other request its sequence number. */
constexpr std::uint64_t receive_tag = std::uint64_t{1} << 63;

} // namespace

TwoSidedLink::TwoSidedLink(Introduced introduced, std::vector<Memory> made)
	: QueuedLink(std::move(introduced), needs(introduced.parts.settings).lanes, std::move(made)),
	  early_(settings().depth), reading_(settings().depth + settings().readers), inline_(settings().depth)
{
	place_requests({memory().data(), depth() * sizes().request}, sizes().request);
}

Result<std::unique_ptr<TwoSidedLink>> TwoSidedLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	return enter_as<TwoSidedLink>(introduce({context, host, port, wanted, options, measure}, needs(options)));
}

Result<std::unique_ptr<TwoSidedLink>> TwoSidedLink::create(Introduced introduced)
{
	const ClientOptions &options = introduced.parts.settings;
	SlotSizes &sizes = introduced.parts.sizes;
	sizes.request = apps::rounded_up(sizes.request, 64);
	sizes.response = apps::rounded_up(sizes.response, 64);
	sizes.read = apps::rounded_up(sizes.read, 64);
	Result<Memory> made = introduced.device->allocate(
		options.depth * (sizes.request + sizes.response) + needs(options).lanes * sizes.read, access::local);
	if (!made)
		return made.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<TwoSidedLink>(new TwoSidedLink(std::move(introduced), {*std::move(made)}));
}

Result<void> TwoSidedLink::start()
{
	if (Result<void> connected = connect_port(false); !connected)
		return connected;
	for (std::uint32_t receive = 0; receive < depth(); receive++) {
		if (const int error = post_receive(receive))
			return make_error(error, "cannot post receives");
	}
	return {};
}

int TwoSidedLink::post_receive(std::uint64_t receive) noexcept
{
	return port().post_receive(receive_tag | receive,
		memory().slice(response_offset(receive), static_cast<std::uint32_t>(sizes().response)));
}

void TwoSidedLink::send(std::uint32_t slot, std::uint32_t size) noexcept
{
	inline_[slot] = size <= port().max_inline_data();
	ibv_send_wr &wr = queue().begin(slot, memory().slice(slot * sizes().request, size)).wr;
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
	ibv_send_wr &wr = queue().begin(slot, memory().slice(read_offset(slot), length)).wr;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = from.address;
	wr.wr.rdma.rkey = from.rkey;
	reading_[slot] = 1;
	began();
}

void TwoSidedLink::hand_over(
	std::uint32_t slot, std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept
{
	early_[slot].receive = nothing;
	deliver(slot, {memory().data() + response_offset(receive), length}, listener);
	if (const int error = post_receive(receive))
		break_off(error);
}

void TwoSidedLink::take_response(std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept
{
	const std::optional<std::uint32_t> slot = slot_of({memory().data() + response_offset(receive), length});
	if (!slot)
		return;
	if (queue().waits(*slot) || early_[*slot].receive != nothing) {
		break_off(EBADMSG);
		return;
	}
	/* The device may have to retransmit the request, so its bytes must not change. */
	if (!inline_[*slot] && !queue().done(*slot))
		early_[*slot] = {receive, length};
	else
		hand_over(*slot, receive, length, listener);
}

/* Takes the end of the slot's request. Returns false if the link is broken. */
bool TwoSidedLink::take_sent(std::uint32_t slot, const Completion & /*completion*/, Listener &listener) noexcept
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

void TwoSidedLink::take_any(const Completion &completion, Listener &listener) noexcept
{
	if (!completion.failed() && (completion.wr_id & receive_tag))
		take_response(completion.wr_id & ~receive_tag, completion.byte_len, listener);
	else
		take(completion, listener);
}

void TwoSidedLink::drive(Listener &listener) noexcept
{
	std::array<Completion, 32> taken;
	/* Wait while others are under way: their answers bring more requests, which can share the doorbell. */
	if (queue().begun() == active())
		flush();
	const int got = device().poll(taken);
	if (got < 0)
		break_off(-got);
	for (int i = 0; i < got && !broken(); i++) {
		take_any(taken[static_cast<std::size_t>(i)], listener);
		/* Send half of them while the server works on the other half. */
		if (active() > 1 && 2 * queue().begun() >= active())
			flush();
	}
	if (!got)
		flush();
}

} // namespace prism::rpc
