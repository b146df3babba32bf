/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "rs/volume/link.hpp"
#include "service/connector.hpp"

namespace prism::rs
{

/**
 * Connects to one replica on a thread of its own, so that a replica that is gone does not delay operations. One thread
 * calls its functions.
 */
class Connector
{
public:
	Connector(LinkOptions options, unsigned replica) : options_(std::move(options)), replica_(replica) {}

	/** Starts to try for a connection, until there is one; the replica is told @p epoch. */
	void want(std::uint64_t epoch)
	{
		connector_.want([options = options_, replica = replica_, epoch] {
			return Link::connect(options, replica, epoch);
		});
	}

	/** Returns the connection once there is one; null before. */
	std::unique_ptr<Link> take() { return connector_.take(); }

	/** Returns the reason why there is none yet; empty if nothing has failed. */
	[[nodiscard]] Error why() const { return connector_.why(); }

private:
	const LinkOptions options_;
	const unsigned replica_;
	apps::Connector<Link> connector_;
};

} // namespace prism::rs
