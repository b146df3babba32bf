/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/client/queued_link.hpp"

#include "rpc/device/verbs_call_device.hpp"

#include <array>
#include <cerrno>

namespace prism::rpc
{

Result<QueuedLink::Introduced> QueuedLink::introduce(const Target &server, const Needs &needs)
{
	if (Result<void> checked = check(server.options); !checked)
		return checked.error();
	const PortOptions options = needs.port();
	Result<ProtectionDomain> pd = ProtectionDomain::create(server.context);
	if (!pd)
		return pd.error();
	Result<CompletionQueue> cq =
		CompletionQueue::create(server.context, static_cast<int>(options.max_send_wr + options.max_recv_wr));
	if (!cq)
		return cq.error();
	auto device = std::make_unique<VerbsCallDevice>(*std::move(pd), *std::move(cq), nullptr);
	Result<std::unique_ptr<Port>> port = device->open(options);
	if (!port)
		return port.error();
	Result<Parts> parts = meet(server, (*port)->endpoint());
	if (!parts)
		return parts.error();
	return Introduced{std::move(device), *std::move(port), *std::move(parts)};
}

QueuedLink::QueuedLink(Introduced introduced, std::uint32_t lanes, std::vector<Memory> memory)
	: ClientLink(std::move(introduced.parts)), device_(std::move(introduced.device)), memory_(std::move(memory)),
	  port_(std::move(introduced.port)), queue_(lanes)
{
}

Result<void> QueuedLink::connect_port(bool needs_prism)
{
	if (Result<void> connected = port_->connect(record().endpoint); !connected)
		return connected;
	if (needs_prism && !port_->peer_speaks_prism())
		return make_error(
			EOPNOTSUPP, "the server's device does not speak PRISM", "use a way of calls without PRISM");
	return {};
}

void QueuedLink::stop() noexcept
{
	port_->fail();
}

void QueuedLink::flush() noexcept
{
	if (broken())
		return;
	if (const int error = queue_.flush(*port_))
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
	const int got = device_->poll(completions);
	if (got < 0)
		break_off(-got);
	for (int i = 0; i < got && !broken(); i++)
		take(completions[static_cast<std::size_t>(i)], listener);
	return got;
}

} // namespace prism::rpc
