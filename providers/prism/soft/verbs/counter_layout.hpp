/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Page that a context shows to other processes: a sealed memory file named "prism:DEVICE" that its process holds open,
 * so that it vanishes with the process. Users who may trace the process (ptrace(2)) find it under /proc/PID/fd.
 *
 * The file contains the names of its numbers, so that prism-stat can read the pages of older and newer libraries. It
 * comes from another process: a reader checks every field. Numbers are in the byte order of the host.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "../net/port_counters.hpp"

namespace prism::soft
{

/** Beginning of the link in /proc/PID/fd, before the name of the device. */
inline constexpr char counter_page_link[] = "/memfd:prism:";

inline constexpr std::uint64_t counter_page_magic = 0x31544e434d535250; /* "PRSMCNT1" */
/** Version of the page. It changes when an older reader would misunderstand the page; new counters do not change it. */
inline constexpr std::uint32_t counter_page_version = 1;
inline constexpr std::uint32_t max_counter_page_size = 65536;
inline constexpr std::uint32_t max_page_addresses = 32;

using CounterName = std::array<char, 32>; /* ends with a zero */

/** One address of the context. */
struct PageAddress {
	std::array<std::uint8_t, 16> gid;
	std::uint64_t socket; /**< inode: /proc/net/udp and udp6 show the kernel's drops for it */
};

/**
 * Beginning of the page. All but the magic is written before the page is published, and then stays constant, except
 * that addresses may be added.
 */
struct CounterPageHeader {
	std::atomic<std::uint64_t> magic; /**< 0 until the page is complete */
	std::uint32_t version;
	std::uint32_t size; /**< of the page with its names, in bytes */
	std::array<char, 64> device;
	std::uint32_t slot;
	std::uint32_t first_qpn;
	std::uint32_t last_qpn;
	std::uint32_t address_count;
	std::uint32_t counter_count; /**< gauges included */
	std::uint32_t gauge_count;   /**< the last counters, which may fall as well as rise */
	std::uint32_t values_offset; /**< from the start: counter_count Counters, 8 bytes each */
	std::uint32_t names_offset;  /**< from the start: counter_count CounterNames */
	std::array<PageAddress, max_page_addresses> addresses;
	LocalPeers local_peers; /**< not in older pages: there the values begin here, or before */
};

} // namespace prism::soft
