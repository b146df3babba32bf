/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The part of a server that depends on its way: the state that all its workers share. */
#pragma once

#include "rpc/device/verbs_call_device.hpp"
#include "rpc/server/channel.hpp"
#include "rpc/server/server_options.hpp"
#include "service/memory.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace prism::rpc
{

class ServerWay
{
public:
	/** @p sizes: of the server's messages. @p access_flags: clients' rights to the store's own regions. */
	static Result<ServerWay> create(const ProtectionDomain &pd, const ServerOptions &options,
		const ChannelSizes &sizes, unsigned access_flags);

	/** Adds the memory that create() and the transports will need. */
	static void plan(apps::MemoryPlan &plan, const ServerOptions &options, const ChannelSizes &sizes);

	/** Makes one worker's transport, whose completions go to @p cq; @p device must use the same queue. */
	[[nodiscard]] Result<std::unique_ptr<Transport>> transport(const CompletionQueue &cq, CallDevice &device) const;
	/** Makes the device of a worker. */
	[[nodiscard]] std::unique_ptr<CallDevice> device(const CompletionQueue &cq) const
	{
		return std::make_unique<VerbsCallDevice>(pd_, cq, pool_.get());
	}

	/** Returns the entries that a worker's completion queue needs. */
	[[nodiscard]] std::size_t completions() const noexcept;

	/**
	 * Returns true if clients' requests hold receive buffers, of which there are ServerOptions::receive_buffers.
	 */
	[[nodiscard]] bool promises_buffers() const noexcept { return pool_ != nullptr; }

private:
	ServerWay(ProtectionDomain pd, const ServerOptions &options, const ChannelSizes &sizes, unsigned access_flags)
		: pd_(std::move(pd)), options_(options), sizes_(sizes), access_(access_flags)
	{
	}

	ProtectionDomain pd_;
	ServerOptions options_;
	ChannelSizes sizes_;
	unsigned access_;
	std::unique_ptr<VerbsReceivePool> pool_; /* if requests come as messages */
};

} // namespace prism::rpc
