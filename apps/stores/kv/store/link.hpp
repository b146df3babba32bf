/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/completion.hpp>
#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "protocol.hpp"
#include "service/server_address.hpp"
#include "service/server_link.hpp"

namespace prism::kv
{

using apps::ServerAddress;

/** The common options of all connections of one client. */
struct LinkOptions {
	ProtectionDomain pd;
	CompletionQueue cq;
	ServerAddress server;
	std::uint32_t depth = 1;                                       /**< operations under way at once */
	ShardName shard;                                               /**< the wanted shard; its store is ignored */
	std::optional<std::string> store;                              /**< name of the store; empty: any */
	std::chrono::milliseconds timeout = std::chrono::seconds(5);   /**< for the whole set-up */
	std::chrono::milliseconds listening = std::chrono::seconds(5); /**< of that, until the server listens */
};

/** A client's connection to a PRISM-KV server. */
class Link final : public apps::ServerLink
{
public:
	/** Returns the most work requests that a client of this depth has on its queue pair. */
	static std::uint32_t work_requests(std::uint32_t depth) noexcept;

	/**
	 * Connects. Errors: EPROTONOSUPPORT (another kind of server, another shard or store; a device without PRISM),
	 * those of establish() and TcpRendezvous::connect().
	 */
	static Result<std::unique_ptr<Link>> connect(const LinkOptions &options);

	[[nodiscard]] const ServerView &view() const noexcept { return view_; }

private:
	Link(TcpRendezvous rendezvous, QueuePair qp, ServerView view);

	ServerView view_;
};

} // namespace prism::kv
