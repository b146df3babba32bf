/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The ways in which requests of calls reach a server, and responses come back. docs/rpc.md compares them. */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace prism::rpc
{

/** A way. The numbers are part of introductions. */
enum class Way : std::uint32_t {
	two_sided = 0, /**< SEND, SEND */
	reply = 1,     /**< WRITE, WRITE */
	fetch = 2,     /**< WRITE, READs of the server's memory: RFP */
	slots = 3,     /**< ALLOCATE into a slot, READ through the slot's bounded pointer */
	window = 4,    /**< SEND, READ of all responses that are ready through a bounded pointer */
	datagram = 5,  /**< SENDs of unreliable datagrams, with retransmission by the client */
};

struct WayName {
	Way way;
	std::string_view name;
	std::string_view description;
};

constexpr std::array<WayName, 6> ways{{
	{Way::two_sided, "two-sided", "SEND in, SEND out"},
	{Way::reply, "reply", "WRITE in, WRITE out"},
	{Way::fetch, "fetch", "RFP: WRITE in, the client READs the response"},
	{Way::slots, "slots", "PRISM: ALLOCATE into a slot, READ through its bounded pointer"},
	{Way::window, "window", "PRISM: SEND in, one READ brings all responses that are ready"},
	{Way::datagram, "datagram", "unreliable datagrams in and out"},
}};

/** Returns a name such as "two-sided". */
constexpr std::string_view to_string(Way way) noexcept
{
	for (const WayName &known : ways) {
		if (known.way == way)
			return known.name;
	}
	return "unknown";
}

constexpr std::optional<Way> way_of(std::string_view name) noexcept
{
	for (const WayName &known : ways) {
		if (known.name == name)
			return known.way;
	}
	return std::nullopt;
}

} // namespace prism::rpc
