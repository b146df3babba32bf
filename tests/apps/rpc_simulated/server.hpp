/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calls.hpp"
#include "device.hpp"
#include "flaw.hpp"
#include "rpc/server/worker.hpp"

namespace prism::rpc::slots
{
class CallPool;
}

namespace rpc_sim
{

struct ServerOptions : DeviceOptions {
	rpc::Way way = rpc::Way::two_sided;
	std::uint32_t depth = 4;       /* calls under way on a connection, at most */
	std::uint32_t connections = 8; /* at most */
	std::uint32_t buffers = 16;    /* for requests of all connections */
	Sizes sizes;
	Flaw flaw = Flaw::none;
};

/** rpc::Server with one worker, without sockets and threads. */
class Server
{
public:
	Server(test::Node &node, Around &around, const ServerOptions &options, Ledger &ledger);
	~Server();
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;

	/** What a client is told; errors: ESTALE and those of Transport::open(). */
	prism::Result<prism::ConnectionRecord> admit(
		const prism::ConnectionRecord &theirs, const rpc::Introduction &who, std::uint32_t calls);
	/** The client is gone: that is how a server learns of its death. */
	void end_of(const rpc::ClientId &client);
	/** Whether the connection of @p client was closed. */
	[[nodiscard]] bool has_closed(const rpc::ClientId &client) const;

	/** A turn of the worker. False: there was nothing to do. @p busy: for so long the worker is busy with it. */
	bool turn(soft::Time &busy);
	[[nodiscard]] std::uint64_t repeated() const noexcept { return worker_->repeated; }
	[[nodiscard]] std::uint64_t malformed() const noexcept { return worker_->malformed; }
	[[nodiscard]] Device &device() noexcept { return *device_; }
	/** slots: responses that were not said to be fetched. */
	[[nodiscard]] bool holds_responses() const;

	/** Whether the state of every buffer is known: not if the device has taken one back that was not handed out
	 * again since. */
	[[nodiscard]] bool exact() const;
	/** Checks, once all clients are gone and lost buffers were found, that each buffer is at one place. */
	void account();

private:
	using ConnectionPointer = rpc::Worker::ConnectionPointer;

	std::unique_ptr<rpc::Transport> make_transport();

	Around &around_;
	const ServerOptions options_;
	Ledger &ledger_;
	std::string refusal_; /* why the last connection was closed */
	rpc::ServerState state_;
	std::unique_ptr<Device::Pool> receives_;
	Device *device_;                             /* the worker's */
	const rpc::slots::CallPool *pool_ = nullptr; /* the transport's */
	std::unique_ptr<rpc::Worker> worker_;
	std::map<rpc::ClientId, ConnectionPointer> connections_; /* of clients that are there, or may come back */
};

} // namespace rpc_sim
