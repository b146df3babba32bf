/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "server.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/core.h>

#include "base/saturating.hpp"
#include "rpc/fetch/channel.hpp"
#include "rpc/slots/channel.hpp"
#include "rpc/two_sided/channel.hpp"
#include "rpc/window/channel.hpp"

namespace rpc_sim
{

using prism::Result;
using rpc::Way;

namespace
{

/* Longest time for an ALLOCATE to end on a queue pair that was destroyed */
constexpr auto lost_after = std::chrono::milliseconds(20);

rpc::ServerOptions server_options(const ServerOptions &options, std::string &refusal)
{
	rpc::ServerOptions made;
	made.way = options.way;
	made.max_depth = options.depth;
	made.max_connections = options.connections;
	made.receive_buffers = options.buffers;
	made.lost_after = lost_after;
	made.log = [&refusal](prism::apps::LogLevel, std::string_view message) { refusal = message; };
	return made;
}

rpc::ChannelSizes channel_sizes(const ServerOptions &options)
{
	rpc::ChannelSizes sizes;
	sizes.request = rpc::message_header_size + sizeof(Wish) + options.sizes.request;
	sizes.response = prism::apps::rounded_up(rpc::message_header_size + options.sizes.response, 64);
	sizes.depth = options.depth;
	return sizes;
}

/** Session that executes calls and records them. */
class Session final : public rpc::CallSession
{
public:
	Session(Around &around, Device &device, Ledger &ledger) : around_(around), device_(device), ledger_(ledger) {}

	const char *handle(std::span<const std::byte> request, std::span<std::byte> response,
		std::uint32_t &size) noexcept override
	{
		constexpr std::size_t before = rpc::message_header_size + sizeof(Wish);
		rpc::MessageHeader header;
		Wish wish;
		if (header.parse_request(request) || request.size() < before)
			return spoiled();
		std::memcpy(&wish, &request[rpc::message_header_size], sizeof(wish));
		if (!ledger_.knows(wish.id) || header.size != request.size() - rpc::message_header_size ||
			wish.response > response.size() - rpc::message_header_size ||
			!fits(request.subspan(before), wish.id))
			return spoiled();
		if (ledger_.executed(wish.id) > 1)
			around_.find("a call was executed twice");
		device_.be_busy(wish.busy);
		header.size = wish.response;
		header.serialize_response(response.data());
		fill(response.subspan(rpc::message_header_size, wish.response), wish.id);
		size = static_cast<std::uint32_t>(rpc::message_header_size) + wish.response;
		return nullptr;
	}

private:
	const char *spoiled()
	{
		around_.find("a request was executed that is not whole");
		return "not whole";
	}

	Around &around_;
	Device &device_;
	Ledger &ledger_;
};

} // namespace

Server::Server(test::Node &node, Around &around, const ServerOptions &options, Ledger &ledger)
	: around_(around), options_(options), ledger_(ledger), state_{server_options(options, refusal_)}
{
	auto device = std::make_unique<Device>(node, around, options);
	device_ = device.get();
	const std::size_t prefix = options.way == Way::window ? rpc::window::prefix_size : 0;
	receives_ = device->make_pool(channel_sizes(options).request + prefix, options.buffers);
	std::unique_ptr<rpc::Transport> transport = make_transport();
	worker_ = std::make_unique<rpc::Worker>(state_, std::move(device), std::move(transport));
}

Server::~Server() = default;

std::unique_ptr<rpc::Transport> Server::make_transport()
{
	const rpc::ChannelSizes sizes = channel_sizes(options_);
	switch (options_.way) {
	case Way::reply:
	case Way::fetch:
		return std::make_unique<rpc::fetch::FetchTransport>(*device_, sizes, 0, state_.settings.torn_limit);
	case Way::slots: {
		const auto shape =
			rpc::slots::PoolSizes::of(sizes, options_.connections * options_.depth, options_.buffers);
		auto pool = *rpc::slots::CallPool::create(*device_, shape, lost_after);
		pool_ = pool.get();
		return std::make_unique<rpc::slots::SlotsTransport>(*device_, std::move(pool), sizes, 0);
	}
	case Way::window:
		return std::make_unique<rpc::window::WindowTransport>(*device_, *receives_, sizes, 0);
	default:
		return std::make_unique<rpc::TwoSidedTransport>(*device_, *receives_, sizes, 0);
	}
}

/* Server::connect() and find_again() */
Result<prism::ConnectionRecord> Server::admit(
	const prism::ConnectionRecord &theirs, const rpc::Introduction &who, std::uint32_t calls)
{
	const auto before = connections_.find(who.client);
	if (who.stay == rpc::Stay::again && before == connections_.end())
		return prism::make_error(ESTALE, "a client comes back that this server does not know");
	if (before != connections_.end())
		worker_->remove(before->second);
	prism::ConnectionRecord mine;
	Result<std::unique_ptr<rpc::Channel>> channel = worker_->transport().open(theirs, calls, mine);
	if (!channel)
		return channel.error();
	auto session = std::make_unique<Session>(around_, *device_, ledger_);
	rpc::Introduction client = who;
	if (options_.flaw == Flaw::forgetful)
		client.stay = rpc::Stay::kept;
	auto connection = std::make_shared<rpc::Connection>(
		nullptr, *std::move(channel), std::move(session), calls, client, *worker_);
	if (Result<void> connected = connection->channel->connect(theirs.endpoint); !connected)
		return connected.error();
	worker_->add(connection);
	connections_[who.client] = std::move(connection);
	return mine;
}

void Server::end_of(const rpc::ClientId &client)
{
	const auto connection = connections_.find(client);
	if (connection == connections_.end())
		return;
	worker_->remove(connection->second);
	connections_.erase(connection);
}

bool Server::turn(soft::Time &busy)
{
	const std::uint64_t malformed = worker_->malformed;
	const bool worked = worker_->turn();
	if (worker_->malformed != malformed)
		around_.find(refusal_);
	busy = device_->end_turn();
	return worked;
}

bool Server::holds_responses() const
{
	return pool_ && pool_->free_responses() != pool_->sizes().responses;
}

bool Server::exact() const
{
	simulation::List *const list = device_->list();
	if (list)
		list->refresh();
	return !list || list->exact();
}

void Server::account()
{
	const std::uint32_t posted = receives_->queue().queue.size();
	if (posted != options_.buffers)
		around_.find(fmt::format("{} of {} receive buffers are posted", posted, options_.buffers));
	if (!pool_)
		return;
	if (pool_->free_responses() != pool_->sizes().responses)
		around_.find(fmt::format(
			"{} of {} buffers for responses are free", pool_->free_responses(), pool_->sizes().responses));
	std::vector<std::uint64_t> listed = device_->list()->take_all();
	std::ranges::sort(listed);
	if (std::ranges::adjacent_find(listed) != listed.end())
		around_.find("a buffer for requests is in the list twice");
	if (listed.size() != pool_->sizes().requests)
		around_.find(fmt::format(
			"{} of {} buffers for requests are in the list", listed.size(), pool_->sizes().requests));
}

} // namespace rpc_sim
