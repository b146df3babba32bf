/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The store in which every operation is a call: the power of a server's CPU, to compare with one-sided operations. */
#pragma once

#include "kv_calls/request_handler.hpp"
#include "kv_calls/rpc_client.hpp"
#include "kv_calls/rpc_table.hpp"
#include "rpc/server/server.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace prism::kv
{

struct RpcStoreOptions {
	rpc::ServerOptions server;
	std::uint64_t capacity = 1 << 20;          /**< objects */
	std::size_t memory = std::size_t{1} << 30; /**< bytes for keys and values, in pieces of 64 bytes and more */
};

struct RpcStoreStats {
	rpc::ServerStats server;
	std::uint64_t objects = 0; /**< stored */
};

class RpcStoreServer final : private RequestHandler
{
public:
	/** Creates a store. Errors: EINVAL (capacity or memory of 0), ENOMEM, those of rpc::Server::create(). */
	static Result<std::unique_ptr<RpcStoreServer>> create(const Context &context, const RpcStoreOptions &options);
	~RpcStoreServer() override;

	[[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }
	/** See rpc::Server. */
	Result<void> run() { return server_->run(); }
	void stop() noexcept { server_->stop(); }
	[[nodiscard]] RpcStoreStats stats() const noexcept { return {server_->stats(), table_.size()}; }

private:
	explicit RpcStoreServer(const RpcStoreOptions &options) : table_(options.capacity, options.memory) {}
	apps::Outcome handle(
		const Request &request, std::span<std::byte> value, std::uint32_t &value_size) noexcept override;

	RpcTable table_;
	std::unique_ptr<rpc::Server> server_;
};

class RpcStoreClient final : public RpcClient
{
public:
	/**
	 * Connects to an RpcStoreServer at @p host, a name or an address. The context stays open as long as the client.
	 * Errors: EPROTONOSUPPORT (another kind of store), EINVAL (depth), ETIMEDOUT, ECONNREFUSED ...
	 */
	static Result<std::unique_ptr<RpcStoreClient>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const rpc::ClientOptions &options = {});

private:
	using RpcClient::RpcClient;
};

} // namespace prism::kv
