/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "jakiro_client.hpp"

#include "jakiro/kind.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/clock.hpp"

namespace prism::kv
{

using jakiro::Layout;

/** The calls to one worker. */
class JakiroClient::Connection final : public RpcClient
{
public:
	static Result<std::unique_ptr<Connection>> connect(
		const Context &context, const std::string &host, std::uint16_t port, const rpc::ClientOptions &options)
	{
		const apps::Hello wanted{jakiro::store_kind};
		Layout told;
		const auto look = [&told](const ConnectionRecord &record,
					  const apps::Hello &server) -> Result<rpc::SlotSizes> {
			const Result<Layout> layout = Layout::parse(apps::Hello::own_part(record.private_data));
			if (!layout)
				return layout.error();
			told = *layout;
			return measure(server);
		};
		Result<std::unique_ptr<rpc::ClientLink>> link =
			rpc::ClientLink::connect(context, host, port, wanted, options, look);
		if (!link)
			return link.error();
		return std::unique_ptr<Connection>(new Connection(*std::move(link), told));
	}

	[[nodiscard]] const Layout &layout() const noexcept { return layout_; }
	[[nodiscard]] int broken() noexcept { return link().broken(); }

private:
	Connection(std::unique_ptr<rpc::ClientLink> connected, const Layout &layout)
		: RpcClient(std::move(connected)), layout_(layout)
	{
	}

	const Layout layout_;
};

JakiroClient::JakiroClient(const Layout &layout, std::vector<std::unique_ptr<Connection>> connections)
	: layout_(layout), connections_(std::move(connections)), depth_(connections_.front()->depth())
{
}

JakiroClient::~JakiroClient() = default;

Result<std::unique_ptr<JakiroClient>> JakiroClient::connect(
	const Context &context, const std::string &host, std::uint16_t port, const rpc::ClientOptions &options)
{
	const auto end = std::chrono::steady_clock::now() + options.timeout;
	rpc::ClientOptions each = options;
	Layout layout;
	std::vector<std::unique_ptr<Connection>> connections;
	do {
		each.worker = static_cast<std::uint32_t>(connections.size());
		each.timeout = std::max(time_left(end), std::chrono::milliseconds(1));
		Result<std::unique_ptr<Connection>> made = Connection::connect(context, host, port, each);
		if (!made)
			return made.error();
		if (connections.empty())
			layout = (*made)->layout();
		else if ((*made)->layout() != layout)
			return make_error(EBADMSG, "the server at " + host + " shares out its keys in two ways",
				"connect again: it may have been started again meanwhile");
		connections.push_back(*std::move(made));
	} while (connections.size() < layout.partitions);
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<JakiroClient>(new JakiroClient(layout, std::move(connections)));
}

const apps::Hello &JakiroClient::limits() const noexcept
{
	return connections_.front()->limits();
}

bool JakiroClient::has_ended() const noexcept
{
	return std::all_of(connections_.begin(), connections_.end(), [](const auto &each) { return each->broken(); });
}

int JakiroClient::broken(std::uint32_t partition) const noexcept
{
	return connections_[partition]->broken();
}

int JakiroClient::start(apps::Operation &operation) noexcept
{
	if (under_way_ == depth_)
		return EAGAIN;
	Connection &owner = *connections_[partition_of(operation.key)];
	if (owner.broken())
		return ENOTCONN;
	const int error = owner.start(operation);
	under_way_ += error == 0;
	return error;
}

/*
 * Polls another connection first each time, so that no partition's results wait for ever if there is little room for
 * them.
 */
std::size_t JakiroClient::poll(std::span<apps::Operation *> completed) noexcept
{
	std::size_t count = 0;
	for (std::size_t i = 0; i < connections_.size(); i++)
		count += connections_[(first_ + i) % connections_.size()]->poll(completed.subspan(count));
	first_ = (first_ + 1) % connections_.size();
	under_way_ -= count;
	return count;
}

} // namespace prism::kv
