/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Jakiro's server: a cache of as many partitions as there are workers. */
#pragma once

#include "jakiro/layout.hpp"
#include "jakiro/partition.hpp"

#include "rpc/server/server.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace prism::kv
{

struct JakiroOptions {
	/**
	 * A client has a connection to each worker, so max_connections is the number of clients times that of workers.
	 */
	rpc::ServerOptions server;
	std::uint64_t slots = 1 << 20; /**< slots of all partitions, rounded up to whole buckets */
	std::size_t memory = std::size_t{1}
			     << 30; /**< bytes for keys and values, of all partitions; each uses up to 128 GiB */
	std::uint64_t seed = 0x6a616b69726f; /**< seed of the hash */
	/** For each partition null or the listener to its evictions. Outlives the server. */
	std::span<jakiro::EvictionListener *const> listeners;
};

struct JakiroStats {
	rpc::ServerStats server;
	jakiro::PartitionStats partitions; /**< the sum */
};

class JakiroServer final : private rpc::CallHandler
{
public:
	/**
	 * Creates a server. Errors: EINVAL (no slots, or memory that does not hold two of the longest pairs in each
	 * partition), ENOMEM, those of rpc::Server::create().
	 */
	static Result<std::unique_ptr<JakiroServer>> create(const Context &context, const JakiroOptions &options);
	~JakiroServer() override;

	[[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }
	/** See rpc::Server. */
	Result<void> run() { return server_->run(); }
	void stop() noexcept { server_->stop(); }
	/** Returns the statistics, from any thread. */
	[[nodiscard]] JakiroStats stats() const noexcept;

private:
	class Session;

	explicit JakiroServer(const JakiroOptions &options);
	std::unique_ptr<rpc::CallSession> open(const rpc::Limits &limits, const rpc::SessionPlace &place) override;

	const jakiro::Layout layout_;
	std::vector<std::unique_ptr<jakiro::Partition>> partitions_; /* by worker */
	std::unique_ptr<rpc::Server> server_;
};

} // namespace prism::kv
