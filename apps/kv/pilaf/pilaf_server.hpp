/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Pilaf's server: memory that clients read, and calls that change it. */
#pragma once

#include "cuckoo_table.hpp"

#include "kv/two_sided/rpc_server.hpp"

#include <memory>

namespace prism::kv
{

struct PilafOptions {
	RpcServerOptions server;
	pilaf::CuckooOptions table;
};

struct PilafStats {
	RpcServerStats server;
	pilaf::CuckooStats table;
};

class PilafServer final : private RequestHandler
{
public:
	/** Errors: EINVAL (a table without room), ENOMEM, those of RpcServer::create(). */
	static Result<std::unique_ptr<PilafServer>> create(const Context &context, const PilafOptions &options);
	~PilafServer() override;

	[[nodiscard]] std::uint16_t port() const noexcept { return server->port(); }
	/** See RpcServer. READs are served by the device: on a userspace one by its engine thread, or by workers while
	 * they spin (RpcServerOptions::spin), which is steadier where cores are scarce. */
	Result<void> run() { return server->run(); }
	void stop() noexcept { server->stop(); }
	[[nodiscard]] PilafStats stats() const noexcept { return {server->stats(), table->stats()}; }

	/** For tests: see CuckooTable::damage(). */
	bool damage(std::span<const std::byte> key, pilaf::Damage part) noexcept { return table->damage(key, part); }

private:
	explicit PilafServer(std::unique_ptr<pilaf::CuckooTable> objects) : table(std::move(objects)) {}
	apps::Outcome handle(
		const Request &request, std::span<std::byte> value, std::uint32_t &value_size) noexcept override;

	std::unique_ptr<pilaf::CuckooTable> table;
	std::unique_ptr<RpcServer> server;
};

} // namespace prism::kv
