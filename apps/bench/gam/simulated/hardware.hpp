/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The hardware of simulated nodes, as numbers in the place of a device. The protocols are the real ones. */
#pragma once

#include <cmath>
#include <cstddef>

#include "base/events.hpp"
#include "gam/coherence/coherence.hpp"

namespace prism::gam::simulated
{

using Events = apps::Events<Time>;
using Server = apps::Server<Time>;
using Processor = apps::Processor<Time>;

/** Costs of the hardware, in microseconds. The defaults are those of the paper's; docs/prism-gam.md has the sources. */
struct Hardware {
	double hop = 0.9;        /**< from NIC to NIC, PCI Express included, without the bytes' time */
	double loopback = 0.5;   /**< request to the node's own memory, with its answer */
	double gigabits = 40;    /**< Gbit/s of a node's link, for sending */
	double packet = 0.09;    /**< NIC time for each received message or answer */
	double request = 0.2;    /**< NIC time for each executed PRISM request */
	double message = 0.3;    /**< processor time to take a message and handle it */
	double completion = 0.2; /**< processor time to take the completion of a chain and handle it */
	double post = 0.1;       /**< processor time to post a message or a chain */
	double hit = 0.06;       /**< thread time for each access, before it needs another node */

	/** Returns the link time of @p packets that carry @p bytes together. */
	[[nodiscard]] Time on_link(std::size_t bytes, std::size_t packets = 1) const noexcept
	{
		constexpr std::size_t headers = 90; /* Ethernet, IP, UDP and InfiniBand, with the gap between frames */
		return in_ns(static_cast<double>(bytes + packets * headers) * 8 / gigabits / 1000);
	}

	/** Converts to the whole nanoseconds of the simulation's clock. */
	[[nodiscard]] static Time in_ns(double microseconds) noexcept
	{
		return Time(std::llround(microseconds * 1000));
	}
};

} // namespace prism::gam::simulated
