/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Jakiro's client: a connection to each worker of the server, and calls to the one that owns the key. */
#pragma once

#include "jakiro/layout.hpp"

#include "kv_calls/rpc_client.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::kv
{

/**
 * A client of a Jakiro server. See StoreClient: one thread at a time. When the connection to one worker breaks, the
 * operations under way there fail, and so do all later ones on keys of that partition, with ENOTCONN; other keys are
 * not affected.
 */
class JakiroClient final : public apps::StoreClient
{
public:
	/**
	 * Connects to a JakiroServer at @p host, a name or an address. The context stays open as long as the client.
	 * @p options: worker is ignored, and the timeout is of all connections together. Errors: EPROTONOSUPPORT
	 * (another kind of store, or way), EBADMSG (its partitions make no sense), EINVAL (depth), ETIMEDOUT,
	 * ECONNREFUSED ...
	 */
	static Result<std::unique_ptr<JakiroClient>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const rpc::ClientOptions &options = {});
	~JakiroClient() override;

	[[nodiscard]] const apps::Hello &limits() const noexcept;
	[[nodiscard]] std::uint32_t partitions() const noexcept { return layout_.partitions; }
	[[nodiscard]] std::uint32_t partition_of(std::span<const std::byte> key) const noexcept
	{
		return layout_.partition_of(layout_.hash_of(key));
	}
	/** Returns 0, or the errno value of the broken connection to the owner of that partition. */
	[[nodiscard]] int broken(std::uint32_t partition) const noexcept;

	/** Returns the depth of all partitions together. */
	[[nodiscard]] std::size_t depth() const noexcept override { return depth_; }
	int start(apps::Operation &operation) noexcept override;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;
	/** Returns true if no partition is left. */
	[[nodiscard]] bool has_ended() const noexcept override;

private:
	class Connection;

	JakiroClient(const jakiro::Layout &layout, std::vector<std::unique_ptr<Connection>> connections);

	const jakiro::Layout layout_;
	std::vector<std::unique_ptr<Connection>> connections_; /* by partition */
	std::size_t depth_;
	std::size_t under_way_ = 0;
	std::size_t first_ = 0; /* connection to poll first */
};

} // namespace prism::kv
