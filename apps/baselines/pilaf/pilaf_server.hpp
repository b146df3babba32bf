/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Pilaf's server: memory that clients read, and calls that change it. */
#pragma once

#include "cuckoo_table.hpp"

#include "kv_calls/request_handler.hpp"
#include "rpc/server/server.hpp"

#include <memory>

namespace prism::kv
{

struct PilafOptions {
	rpc::ServerOptions server;
	pilaf::CuckooOptions table;
};

struct PilafStats {
	rpc::ServerStats server;
	pilaf::CuckooStats table;
};

class PilafServer final : private RequestHandler
{
public:
	/** Creates a server. Errors: EINVAL (a table without room), ENOMEM, those of rpc::Server::create(). */
	static Result<std::unique_ptr<PilafServer>> create(const Context &context, const PilafOptions &options);
	~PilafServer() override;

	[[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }
	/** See rpc::Server. READs are served by the device: on a userspace one by its engine thread, or by workers
	 * while they spin (rpc::ServerOptions::spin), which is steadier where cores are scarce. */
	Result<void> run() { return server_->run(); }
	void stop() noexcept { server_->stop(); }
	[[nodiscard]] PilafStats stats() const noexcept { return {server_->stats(), table_->stats()}; }

	/** For tests: see CuckooTable::damage(). */
	bool damage(std::span<const std::byte> key, pilaf::Damage part) noexcept { return table_->damage(key, part); }

private:
	explicit PilafServer(std::unique_ptr<pilaf::CuckooTable> objects) : table_(std::move(objects)) {}
	apps::Outcome handle(
		const Request &request, std::span<std::byte> value, std::uint32_t &value_size) noexcept override;

	std::unique_ptr<pilaf::CuckooTable> table_;
	std::unique_ptr<rpc::Server> server_;
};

} // namespace prism::kv
