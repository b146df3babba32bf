/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A UDP echo as fast as this host's sockets allow, with which the device is compared. It shares no code with the
 * device, only moves packets, and matches every answer to its request.
 *
 * A message is requested in units. A unit is answered by one train: a single packet, or as many packets of one size as
 * the kernel takes in one call. A larger message is several units, so that the requester limits the units under way.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/report.hpp"
#include "echo_socket.hpp"

namespace prism::floor
{

/** Parameters of both sides; sent over the TCP connection in the layout of the host, like perftest's exchange. */
struct Parameters {
	static constexpr std::uint32_t expected_magic = 0x50464c33;

	std::uint32_t magic = expected_magic;
	std::uint32_t bandwidth = 0;     /**< 0: one message at a time */
	std::uint32_t request_size = 64; /**< bytes of UDP payload */
	std::uint32_t mtu = 4096;        /**< bytes of UDP payload, at most, of each packet of an answer */
	std::uint64_t answer_size = 64;  /**< bytes of UDP payload of a whole answer */

	/** Returns the bytes of the longest answer to one unit. */
	[[nodiscard]] std::uint64_t unit_size() const
	{
		return std::max<std::uint64_t>(1, std::min<std::uint64_t>(max_train_bytes / mtu, max_train_packets)) *
		       mtu;
	}

	[[nodiscard]] std::uint64_t units_per_message() const { return (answer_size + unit_size() - 1) / unit_size(); }

	/** Returns the bytes of the answer to unit @p unit of the run. */
	[[nodiscard]] std::uint32_t size_of_unit(std::uint64_t unit) const
	{
		const std::uint64_t before = unit % units_per_message() * unit_size();
		return static_cast<std::uint32_t>(std::min(unit_size(), answer_size - before));
	}

	/** Returns true if a message is one packet each way. */
	[[nodiscard]] bool single() const { return answer_size <= mtu; }
};

/** Header of every request. */
struct Request {
	std::uint64_t unit;
	std::uint32_t epoch;
	std::uint32_t answer_size;
};

/** Header of every packet of an answer. */
struct Answer {
	std::uint64_t unit;
	std::uint32_t epoch;  /**< the request's */
	std::uint32_t packet; /**< position in the unit */
};

constexpr std::uint32_t min_packet_size = sizeof(Request);
static_assert(sizeof(Request) == sizeof(Answer));

/** Parameters of the client alone. */
struct Load {
	std::uint64_t iterations = 1000;
	unsigned depth = 128; /**< messages under way */
	double duration = 0;  /**< seconds; replaces iterations unless 0 */
};

/**
 * Answers until the client is done. @p control is the TCP connection. Throws std::runtime_error if the client ends
 * before.
 */
void serve(EchoSocket &socket, const Descriptor &control, const Parameters &parameters);

/**
 * Measures one message at a time; every sample is a whole round trip. Throws std::runtime_error if answers stay away,
 * and the server has closed @p control or five seconds pass.
 */
perftest::LatencySamples measure_latency(
	EchoSocket &socket, const Descriptor &control, const Parameters &parameters, const Load &load);

struct Throughput {
	perftest::BandwidthResult result;
	std::uint64_t repeated = 0; /**< units asked for again, because packets were lost */
};

/** Likewise. */
Throughput measure_bandwidth(
	EchoSocket &socket, const Descriptor &control, const Parameters &parameters, const Load &load);

} // namespace prism::floor
