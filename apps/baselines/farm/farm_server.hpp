/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A shard of FaRM's protocol: memory that clients READ, and calls that lock and change it.
 *
 * Locks belong to a connection. When it ends, the objects that it has locked and not updated are released as they were.
 * So if a client dies in the middle of its updates, those that have arrived are made, and the others are not. FaRM
 * itself would finish the transaction, as the logs of its servers have all of it. There are no logs here, and there is
 * no replication: a server that dies takes its objects along. Both make this shard faster than a FaRM that survives
 * failures, and no slower where none happens.
 */
#pragma once

#include "layout.hpp"
#include "object_table.hpp"

#include "tx_calls/lane_session.hpp"
#include "tx_calls/shard_options.hpp"

#include <cstdint>
#include <memory>

namespace prism::tx
{

struct FarmStats {
	rpc::ServerStats server;
	std::uint64_t objects = 0; /**< stored */
	std::uint64_t locks = 0;   /**< calls of each kind that were executed */
	std::uint64_t validates = 0;
	std::uint64_t updates = 0;
	std::uint64_t aborts = 0;
	std::uint64_t conflicts = 0; /**< of the locks and validates, those refused */
	std::uint64_t abandoned = 0; /**< locks released because their connection ended */
};

class FarmServer final : private rpc::CallHandler
{
public:
	/** Messages have at least 16384 bytes. Errors: EINVAL (options), ENOMEM, those of rpc::Server::create(). */
	static Result<std::unique_ptr<FarmServer>> create(const Context &context, const CalledShardOptions &options);
	/** Checks that create() takes these options. Errors: EINVAL. */
	static Result<void> check(const CalledShardOptions &options);
	~FarmServer() override;

	[[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }
	/** See rpc::Server. READs are served by the device: on a userspace one by its engine thread, or by workers
	 * while they spin (rpc::ServerOptions::spin), which is steadier where cores are scarce. */
	Result<void> run() { return server_->run(); }
	void stop() noexcept { server_->stop(); }
	/** From any thread. */
	[[nodiscard]] FarmStats stats() const noexcept;

	/** For tests: see ObjectTable::damage(). */
	bool damage(std::span<const std::byte> key) noexcept { return table_->damage(key); }

private:
	class Session;
	struct Counters : LockCounters {
		Counter locks;
		Counter validates;
		Counter updates;
		Counter aborts;
	};

	explicit FarmServer(std::unique_ptr<farm::ObjectTable> table) : table_(std::move(table)) {}
	std::unique_ptr<rpc::CallSession> open(const rpc::Limits &limits, const rpc::SessionPlace &place) override;

	std::unique_ptr<farm::ObjectTable> table_;
	Counters counters_;
	std::unique_ptr<rpc::Server> server_;
};

} // namespace prism::tx
