/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A shard of strict two-phase locking: every access is a call, and takes a lock that is held until the transaction
 * ends. Nobody waits for a lock (no-wait): a conflict ends the attempt, and its client tries again after a pause. There
 * are no deadlocks, and no worker thread is ever held up.
 *
 * Locks belong to a connection and are released when it ends, so a dead client blocks nobody. It may have told some
 * shards to commit and others not yet: then its transaction is made in part. This is the weakness of a coordinator that
 * keeps its decision to itself, as in two-phase commit without a log.
 */
#pragma once

#include "lock_table.hpp"

#include "tx_calls/lane_session.hpp"
#include "tx_calls/shard_options.hpp"

#include <cstdint>
#include <memory>

namespace prism::tx
{

struct LockingStats {
	rpc::ServerStats server;
	std::uint64_t objects = 0; /**< stored */
	std::uint64_t fetches = 0; /**< calls of each kind that were executed */
	std::uint64_t prepares = 0;
	std::uint64_t commits = 0;
	std::uint64_t releases = 0;
	std::uint64_t conflicts = 0; /**< of these, those refused */
	std::uint64_t abandoned = 0; /**< locks released because their connection ended */
};

class LockingServer final : private rpc::CallHandler
{
public:
	/** Messages have at least 4096 bytes. Errors: EINVAL (options), ENOMEM, those of rpc::Server::create(). */
	static Result<std::unique_ptr<LockingServer>> create(const Context &context, const CalledShardOptions &options);
	/** Checks that create() takes these options. Errors: EINVAL. */
	static Result<void> check(const CalledShardOptions &options);
	~LockingServer() override;

	[[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }
	/** See rpc::Server. */
	Result<void> run() { return server_->run(); }
	void stop() noexcept { server_->stop(); }
	/** From any thread. */
	[[nodiscard]] LockingStats stats() const noexcept;

private:
	class Session;
	struct Counters : LockCounters {
		Counter fetches;
		Counter prepares;
		Counter commits;
		Counter releases;
	};

	explicit LockingServer(const CalledShardOptions &options)
		: table_(options.objects, options.server.max_key_size, options.value_size),
		  message_size_(options.message_size)
	{
	}
	std::unique_ptr<rpc::CallSession> open(const rpc::Limits &limits, const rpc::SessionPlace &place) override;

	locking::LockTable table_;
	const std::uint32_t message_size_;
	Counters counters_;
	std::unique_ptr<rpc::Server> server_;
};

} // namespace prism::tx
