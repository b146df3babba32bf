/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/server/server_way.hpp"

#include "rpc/datagram/channel.hpp"
#include "rpc/fetch/channel.hpp"
#include "rpc/fetch/layout.hpp"
#include "rpc/slots/channel.hpp"
#include "rpc/two_sided/channel.hpp"
#include "rpc/window/channel.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

namespace prism::rpc
{

namespace
{

/** Returns true if requests come as messages into shared buffers. */
bool receives(Way way) noexcept
{
	return way == Way::two_sided || way == Way::window;
}

/** Returns the bytes of a message, with the way's prefix. */
std::size_t message_size(Way way, const ChannelSizes &sizes) noexcept
{
	return sizes.request + (way == Way::window ? window::prefix_size : 0);
}

/** Returns the sizes for one worker. Its buffers are for the load of all its clients together. */
slots::PoolSizes pool_sizes(const ServerOptions &options, const ChannelSizes &sizes) noexcept
{
	const std::uint32_t buffers = std::max(options.receive_buffers / options.threads, options.max_depth);
	return slots::PoolSizes::of(
		sizes, static_cast<std::uint32_t>(options.connections_of_worker()) * options.max_depth, buffers);
}

/** Returns the receive buffers of one worker: for as many requests as the options say, each in all its fragments. */
std::uint32_t datagrams(const ServerOptions &options, const ChannelSizes &sizes) noexcept
{
	constexpr std::uint64_t most = 8192;
	const datagram::Cut cut{
		datagram::fragment_size(IBV_MTU_1024, IBV_MTU_1024), static_cast<std::uint32_t>(sizes.request)};
	const std::uint64_t requests = std::max(options.receive_buffers / options.threads, options.max_depth);
	return static_cast<std::uint32_t>(std::min(requests * cut.most(), most));
}

} // namespace

Result<ServerWay> ServerWay::create(
	const ProtectionDomain &pd, const ServerOptions &options, const ChannelSizes &sizes, unsigned access_flags)
{
	ServerWay made(pd, options, sizes, access_flags);
	if (!receives(options.way))
		return made;
	Result<std::unique_ptr<VerbsReceivePool>> pool =
		VerbsReceivePool::create(pd, message_size(options.way, sizes), options.receive_buffers);
	if (!pool)
		return pool.error();
	made.pool_ = *std::move(pool);
	return made;
}

void ServerWay::plan(apps::MemoryPlan &plan, const ServerOptions &options, const ChannelSizes &sizes)
{
	const std::string connections = std::to_string(options.max_connections) + " connections";
	const std::uint64_t calls = std::uint64_t{options.max_connections} * options.max_depth;
	if (receives(options.way))
		plan.add(std::to_string(options.receive_buffers) + " receive buffers",
			message_size(options.way, sizes) * options.receive_buffers);
	if (options.way == Way::reply || options.way == Way::fetch) {
		const fetch::Layout layout{options.max_depth, sizes.request, sizes.response};
		plan.add("requests of " + connections, options.max_connections * layout.requests_size());
		plan.add("answers of " + connections, options.max_connections * layout.responses_size());
	} else if (options.way == Way::slots) {
		plan.add("slots and buffers of " + std::to_string(options.threads) + " workers",
			options.threads * pool_sizes(options, sizes).bytes());
	} else if (options.way == Way::window) {
		plan.add("answers of " + connections,
			options.max_connections *
				window::ring_size(options.max_depth, sizes.response, window::Ring::page_size()));
	} else if (options.way == Way::datagram) {
		constexpr std::uint64_t longest = datagram::Socket::grh_size + 4096;
		plan.add("datagrams of " + std::to_string(options.threads) + " workers",
			options.threads * datagrams(options, sizes) * longest);
		plan.add("requests of " + connections, calls * sizes.request);
		const datagram::Cut cut{datagram::least_fragment, static_cast<std::uint32_t>(sizes.response)};
		plan.add("answers of " + connections, calls * cut.bytes());
	} else {
		plan.add("answers of " + connections, calls * sizes.response);
	}
}

/*
 * Counts all receives, as one worker may get them all, and the entries of closed connections, which stay until they are
 * removed.
 */
std::size_t ServerWay::completions() const noexcept
{
	if (options_.way == Way::datagram)
		return datagram::DatagramTransport::most_sends + datagrams(options_, sizes_);
	return options_.receive_buffers + 2 * options_.connections_of_worker() * std::size_t{options_.max_depth};
}

Result<std::unique_ptr<Transport>> ServerWay::transport(const CompletionQueue &cq, CallDevice &device) const
{
	switch (options_.way) {
	case Way::reply:
	case Way::fetch:
		return std::unique_ptr<Transport>(
			std::make_unique<fetch::FetchTransport>(device, sizes_, access_, options_.torn_limit));
	case Way::slots: {
		Result<std::unique_ptr<slots::CallPool>> pool =
			slots::CallPool::create(device, pool_sizes(options_, sizes_), options_.lost_after);
		if (!pool)
			return pool.error();
		return std::unique_ptr<Transport>(
			std::make_unique<slots::SlotsTransport>(device, *std::move(pool), sizes_, access_));
	}
	case Way::window:
		return std::unique_ptr<Transport>(
			std::make_unique<window::WindowTransport>(device, *pool_, sizes_, access_));
	case Way::datagram: {
		Result<std::unique_ptr<datagram::DatagramTransport>> transport =
			datagram::DatagramTransport::create(pd_, cq, sizes_, datagrams(options_, sizes_));
		if (!transport)
			return transport.error();
		return std::unique_ptr<Transport>(*std::move(transport));
	}
	case Way::two_sided:
		return std::unique_ptr<Transport>(std::make_unique<TwoSidedTransport>(device, *pool_, sizes_, access_));
	default:
		break;
	}
	return make_error(EINVAL, "calls by way " + std::to_string(static_cast<unsigned>(options_.way)));
}

} // namespace prism::rpc
