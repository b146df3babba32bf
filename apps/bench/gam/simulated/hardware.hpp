/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the nodes of a simulation are made of. The numbers are in the place of a device; the protocols are the real
 * ones. */
#pragma once

#include <cmath>
#include <cstddef>

#include "base/events.hpp"
#include "gam/coherence/coherence.hpp"

namespace prism::gam::simulated
{

using Events = apps::Events<Time>;
using Server = apps::Server<Time>;

/** Times in microseconds. The defaults are those of the hardware that the paper had; docs/prism-gam.md has the sources.
 */
struct Hardware {
	double hop = 0.9;        /**< from a NIC to another one, PCI Express included, beside the bytes' time */
	double loopback = 0.5;   /**< of a request to the node's own memory, and of its answer */
	double gigabits = 40;    /**< a second, of the link of a node, for what it sends */
	double packet = 0.09;    /**< of a NIC, for each message or answer that comes */
	double request = 0.2;    /**< of a NIC, for each PRISM request that it executes */
	double message = 0.3;    /**< of a processor, to take a message and handle it */
	double completion = 0.2; /**< of a processor, to take the completion of a chain and handle it */
	double post = 0.1;       /**< of who posts a message or a chain */
	double hit = 0.06;       /**< of a thread, for each access before it needs anybody else */

	/** Of a link, for @p packets that carry @p bytes together. */
	[[nodiscard]] Time on_link(std::size_t bytes, std::size_t packets = 1) const noexcept
	{
		constexpr std::size_t headers =
			90; /* of Ethernet, IP, UDP and InfiniBand, with the gap between frames */
		return in_ns(static_cast<double>(bytes + packets * headers) * 8 / gigabits / 1000);
	}

	/** The simulation's clock has whole nanoseconds. */
	[[nodiscard]] static Time in_ns(double microseconds) noexcept
	{
		return Time(std::llround(microseconds * 1000));
	}
};

} // namespace prism::gam::simulated
