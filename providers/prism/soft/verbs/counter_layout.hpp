/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a context shows to other processes: a sealed memory file named "prism:DEVICE" that its process holds open, so
 * that it goes when the process goes, and that whoever may trace the process (ptrace(2)) finds under /proc/PID/fd.
 *
 * The file says itself what the numbers in it are called, so that prism-stat reads the pages of older and newer
 * libraries. It comes from another process: a reader checks every field. Numbers are in the byte order of the host.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "../net/port_counters.hpp"

namespace prism::soft
{

/** What /proc/PID/fd shows before the name of the device. */
inline constexpr char counter_page_link[] = "/memfd:prism:";

inline constexpr std::uint64_t counter_page_magic = 0x31544e434d535250; /* "PRSMCNT1" */
/** Changes when an older reader would misunderstand the page; new counters do not change it. */
inline constexpr std::uint32_t counter_page_version = 1;
inline constexpr std::uint32_t max_counter_page_size = 65536;
inline constexpr std::uint32_t max_page_addresses = 32;

using CounterName = std::array<char, 32>; /* ends with a zero */

/** One address of the context. */
struct PageAddress {
	std::array<std::uint8_t, 16> gid;
	std::uint64_t socket; /**< inode: /proc/net/udp and udp6 tell what the kernel dropped there */
};

/**
 * What the page begins with. All but the magic is written before it is published, and constant from then on; only
 * addresses may be added.
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
	std::uint32_t gauge_count;   /**< the last ones of the counters may fall as well as rise */
	std::uint32_t values_offset; /**< from the start: counter_count Counters, 8 bytes each */
	std::uint32_t names_offset;  /**< from the start: counter_count CounterNames */
	std::array<PageAddress, max_page_addresses> addresses;
	LocalPeers local_peers; /**< not in older pages: there the values begin here, or before */
};

} // namespace prism::soft
