/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>
#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "rs/volume/configuration.hpp"
#include "rs/volume/introduction.hpp"
#include "rs/volume/session.hpp"
#include "service/server_link.hpp"

namespace prism::rs
{

/** Settings that all connections of one client share. */
struct LinkOptions {
	ProtectionDomain pd;
	CompletionQueue cq;
	Configuration volume;
	apps::StoreKind kind = {};
	bool needs_prism = false;      /**< the requests are PRISM requests, which each replica's device must support */
	std::size_t slot_size = 0;     /**< bytes of a replica's slot for each block, aligned to 8 */
	std::uint32_t buffer_size = 0; /**< least bytes of its buffers; 0: it has none */
	std::uint64_t client = 0;      /**< incarnation of the client, as in its tags */
	std::uint32_t max_send_wr = 0; /**< beside reports */
	std::chrono::milliseconds timeout{1000};
	Purpose purpose = Purpose::use;
};

/** A client's connection to one replica. */
class Link final : public apps::ServerLink, public ReplicaLink
{
public:
	/**
	 * Connects to @p replica, whose volume must be options.volume, and tells it @p epoch. Errors: EPROTONOSUPPORT
	 * (another volume, replica or kind; a device without PRISM), those of TcpRendezvous::connect() and establish().
	 */
	static Result<std::unique_ptr<Link>> connect(const LinkOptions &options, unsigned replica, std::uint64_t epoch);

	/* ReplicaLink */
	int post(std::span<const Chain::Posting> chains) noexcept override { return Chain::post(qp(), chains); }
	void release(std::uint64_t address) noexcept override { ServerLink::release(address); }
	void flush(std::uint64_t flush_id) noexcept override { ServerLink::flush(flush_id); }
	void flushed() noexcept override { ServerLink::flushed(); }
	[[nodiscard]] bool flushing() const noexcept override { return ServerLink::flushing(); }
	int talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept override
	{
		return ServerLink::talk(oldest, newest, flush_id);
	}

private:
	Link(TcpRendezvous rendezvous, QueuePair qp, const ReplicaView &view);
};

} // namespace prism::rs
