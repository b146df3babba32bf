/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs that are connected to each other, in one process. */
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/verbs.hpp"

namespace prism::perftest
{

/** A context and the address of its port. */
class Device
{
public:
	/** Opens the device called @p name; without a name, that of the loopback. Throws Error. */
	Device(const std::string &name, Carrier carrier);

	/* All throw Error. */
	[[nodiscard]] ProtectionDomain allocate_pd() const;
	[[nodiscard]] CompletionQueue create_cq(std::uint32_t entries) const;
	/** Returns the path from the port to itself. */
	[[nodiscard]] Path path() const;

private:
	Context context_;
	GidEntry gid_;
	std::uint16_t mtu_;
};

/** Two queue pairs that are connected to each other. */
struct ConnectedPair {
	/** @param depth most requests under way of @ref from. Throws Error. */
	ConnectedPair(ibv_pd *pd, ibv_cq *cq, const Path &path, std::uint32_t depth);

	QueuePair from, to;
};

/** A connected pair with a completion queue of its own, for one thread. */
class Loop
{
public:
	/** @param depth most requests under way. Throws Error. */
	Loop(const Device &device, std::uint32_t size, std::uint32_t depth);

	/** Posts as many READs as may be under way. Throws Error. */
	void start();
	/** Takes completions, and posts a READ for each. Throws Error. @return their number */
	std::uint32_t advance();

private:
	void post();

	std::uint32_t size_, depth_;
	Arena arena_; /* what is read, and where to */
	ProtectionDomain pd_;
	CompletionQueue cq_;
	MemoryRegion region_;
	ConnectedPair qps_;
};

} // namespace prism::perftest
