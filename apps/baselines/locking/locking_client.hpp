/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The client of two-phase locking. A fetch is one call to each shard of its keys, which takes the locks and returns the
 * values. A commit that changes keys of one shard is one call there, which takes the missing locks, makes the changes,
 * and releases. A commit that changes several shards first calls PREPARE at all of them, for the locks, and then
 * COMMIT. Shared locks elsewhere are released afterwards, off the critical path. A transaction that only reads does no
 * more than that.
 *
 * Strictly serializable.
 */
#pragma once

#include "message.hpp"

#include "tx_calls/calling_client.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace prism::tx
{

struct LockingClientOptions : CallingClientOptions {
	/**
	 * True if fetch() takes exclusive locks: for transactions that write most of what they read. If two
	 * transactions hold a shared lock of a key that both want to write, one is refused, and only at its commit.
	 */
	bool exclusive_fetch = false;
};

class LockingClient final : public CallingClient
{
public:
	/**
	 * Connects to all @p shards, in the order of their numbers. The context stays open as long as the client.
	 * Errors: EINVAL (options, no shards), EPROTONOSUPPORT (another kind of store), EBADMSG (a server that makes no
	 * sense, or is not the shard that it is taken for), ETIMEDOUT, ECONNREFUSED ...
	 */
	static Result<std::unique_ptr<LockingClient>> connect(const Context &context,
		std::span<const apps::ServerAddress> shards, const LockingClientOptions &options = {});
	~LockingClient() override;

private:
	friend class LockingTransaction;

	LockingClient(Links links, std::vector<std::uint32_t> message_sizes, const LockingClientOptions &options);

	const LockingClientOptions options_;
	const std::vector<std::uint32_t> message_sizes_; /* of the shards */
};

} // namespace prism::tx
