/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "rpc/device/call_device.hpp"
#include "rpc/protocol/frame.hpp"

#include <cstdint>

namespace prism::rpc
{

/**
 * Meter of the server's time for the calls of a connection. It measures one call in a few: the clock costs as much as a
 * short call.
 */
class ServerTime
{
public:
	void begin(const CallDevice &device) noexcept
	{
		measures_ = calls_++ % every == 0;
		if (measures_)
			began_ = device.now();
	}
	/** Ends the call. Returns the time for the response: that of the last measured call, us. */
	std::uint16_t end(const CallDevice &device) noexcept
	{
		if (measures_)
			last_ = microseconds(device.now() - began_);
		return last_;
	}

private:
	static constexpr std::uint32_t every = 8;

	std::uint32_t calls_ = 0;
	bool measures_ = false;
	std::uint16_t last_ = 0;
	CallDevice::Clock::time_point began_;
};

} // namespace prism::rpc
