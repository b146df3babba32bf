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
	std::uint32_t depth = 4;       /* most calls under way on a connection */
	std::uint32_t connections = 8; /* most connections */
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

	/** Accepts a client. Returns the record for it; errors: ESTALE and those of Transport::open(). */
	prism::Result<prism::ConnectionRecord> admit(
		const prism::ConnectionRecord &theirs, const rpc::Introduction &who, std::uint32_t calls);
	/** Tells the server that the client is gone; so it learns of the client's death. */
	void end_of(const rpc::ClientId &client);

	/**
	 * Runs a turn of the worker. Returns false if there was nothing to do. @p busy: set to the time that the turn
	 * takes.
	 */
	bool turn(soft::Time &busy);
	[[nodiscard]] std::uint64_t repeated() const noexcept { return worker_->repeated; }
	[[nodiscard]] std::uint64_t malformed() const noexcept { return worker_->malformed; }
	[[nodiscard]] Device &device() noexcept { return *device_; }
	/** slots: returns true if there are responses that no client has said to have fetched. */
	[[nodiscard]] bool holds_responses() const;

	/**
	 * Returns true if the state of every buffer is known: not if the device has taken a buffer back that was not
	 * handed out again since.
	 */
	[[nodiscard]] bool exact() const;
	/** Checks, once all clients are gone and lost buffers were found, that each buffer is in exactly one place. */
	void account();

private:
	using ConnectionPointer = rpc::Worker::ConnectionPointer;

	std::unique_ptr<rpc::Transport> make_transport();

	Around &around_;
	const ServerOptions options_;
	Ledger &ledger_;
	std::string refusal_; /* reason for closing the last connection */
	rpc::ServerState state_;
	std::unique_ptr<Device::Pool> receives_;
	Device *device_;                             /* of the worker */
	const rpc::slots::CallPool *pool_ = nullptr; /* of the transport */
	std::unique_ptr<rpc::Worker> worker_;
	std::map<rpc::ClientId, ConnectionPointer> connections_; /* of clients that are there, or may come back */
};

} // namespace rpc_sim
