/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "calling_client.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include "tx/transaction/shards.hpp"
#include "tx_calls/calling_transaction.hpp"

namespace prism::tx
{

namespace
{

constexpr auto farewell = std::chrono::seconds(1);

} // namespace

Event CallingClient::settled(std::uint32_t number, std::uint32_t left) noexcept
{
	Lane &lane = lanes_[number];
	lane.left = left;
	lane.waits = lane.under_way > left;
	return {waiter(number), Time::max(), !lane.waits};
}

CallingClient::Port::Port(
	CallingClient &owner, std::uint32_t number, std::unique_ptr<rpc::TwoSidedLink> connected, std::size_t lanes)
	: client(owner), shard(number), link(std::move(connected)), of_lane(lanes)
{
}

void CallingClient::Port::on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept
{
	/* After a bad response, the call ends with all that is under way to this shard. */
	if (client.transactions_[slot]->answered(shard, response))
		client.end(slot, *this, 1);
	else
		link->break_off(EBADMSG);
}

void CallingClient::Port::on_read(std::uint32_t slot) noexcept
{
	client.end((slot - static_cast<std::uint32_t>(client.depth())) / client.readers_, *this, 1);
}

CallingClient::CallingClient(Links links, const CallingClientOptions &options, std::uint32_t readers_a_lane)
	: TransactionClient(options.depth, options.retry), readers_(readers_a_lane), lanes_(options.depth)
{
	ready_.reserve(options.depth);
	for (std::unique_ptr<rpc::TwoSidedLink> &link : links)
		ports_.push_back(std::make_unique<Port>(
			*this, static_cast<std::uint32_t>(ports_.size()), std::move(link), options.depth));
}

CallingClient::~CallingClient() = default;

void CallingClient::add(std::unique_ptr<CallingTransaction> transaction)
{
	transactions_.push_back(std::move(transaction));
}

Transaction &CallingClient::transaction(std::uint32_t lane) noexcept
{
	return *transactions_[lane];
}

Result<void> CallingClient::check_place(std::uint32_t shard, std::uint32_t shards, std::size_t wanted, std::size_t all)
{
	if (shard != wanted || shards != all)
		return make_error(EBADMSG, "is shard " + std::to_string(shard) + " of " + std::to_string(shards) +
						   ", and was named as shard " + std::to_string(wanted) + " of " +
						   std::to_string(all));
	return {};
}

Result<CallingClient::Links> CallingClient::connect_all(const Context &context,
	std::span<const apps::ServerAddress> shards, const apps::Hello &wanted, const CallingClientOptions &options,
	std::uint32_t readers_a_lane, const Measure &measure)
{
	if (shards.empty() || shards.size() > max_shards)
		return make_error(EINVAL, "a store of " + std::to_string(shards.size()) + " shards", "1 to 4095");
	rpc::ClientOptions link_options;
	link_options.depth = options.depth;
	link_options.readers = options.depth * readers_a_lane;
	link_options.timeout = options.timeout;
	link_options.patience = options.patience;
	Links links;
	for (std::size_t shard = 0; shard < shards.size(); shard++) {
		Result<std::unique_ptr<rpc::TwoSidedLink>> link =
			rpc::TwoSidedLink::connect(context, shards[shard].host, shards[shard].port, wanted,
				link_options, [&](const ConnectionRecord &record, const apps::Hello &hello) {
					return measure(shard, record, hello);
				});
		if (!link)
			return link.error();
		links.push_back(*std::move(link));
	}
	return links;
}

bool CallingClient::begin(std::uint32_t number, Port &port) noexcept
{
	Lane &lane = lanes_[number];
	if (const int error = port.link->broken()) {
		if (!lane.error)
			lane.error = error;
		return false;
	}
	lane.under_way++;
	port.under_way++;
	port.of_lane[number]++;
	return true;
}

void CallingClient::end(std::uint32_t number, Port &port, std::uint32_t count) noexcept
{
	Lane &lane = lanes_[number];
	lane.under_way -= count;
	port.under_way -= count;
	port.of_lane[number] -= count;
	if (lane.waits && lane.under_way <= lane.left) {
		lane.waits = false;
		ready_.push_back(number);
	}
}

void CallingClient::fail(Port &port) noexcept
{
	for (std::uint32_t lane = 0; lane < lanes_.size(); lane++) {
		if (!port.of_lane[lane])
			continue;
		if (!lanes_[lane].error)
			lanes_[lane].error = port.link->broken();
		end(lane, port, port.of_lane[lane]);
	}
}

void CallingClient::call(std::uint32_t lane, std::uint32_t shard, std::size_t size) noexcept
{
	if (begin(lane, *ports_[shard]))
		ports_[shard]->link->call(lane, size);
}

void CallingClient::read(std::uint32_t lane, std::uint32_t shard, std::uint32_t reader, RemoteAddress from,
	std::uint32_t length) noexcept
{
	if (begin(lane, *ports_[shard]))
		ports_[shard]->link->read(read_slot(lane, reader), from, length);
}

/* Lanes resume only here, when no link is in the middle of its work. */
void CallingClient::drive() noexcept
{
	for (const std::unique_ptr<Port> &port : ports_) {
		if (!port->under_way)
			continue;
		port->link->poll(*port);
		if (port->link->broken())
			fail(*port);
	}
	if (ready_.empty())
		return;
	for (const std::uint32_t lane : ready_)
		resume(lane);
	ready_.clear();
	/* Flush: nobody might poll again soon, and the last calls release locks. */
	for (const std::unique_ptr<Port> &port : ports_) {
		if (port->under_way)
			port->link->flush();
	}
}

void CallingClient::finish() noexcept
{
	abandon();
	for (Lane &lane : lanes_)
		lane.waits = false;
	ready_.clear();
	const auto busy = [](const std::unique_ptr<Port> &port) { return port->under_way != 0; };
	const auto end = std::chrono::steady_clock::now() + farewell;
	while (std::any_of(ports_.begin(), ports_.end(), busy) && std::chrono::steady_clock::now() < end)
		drive();
}

} // namespace prism::tx
