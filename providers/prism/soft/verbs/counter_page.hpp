/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../net/file_descriptor.hpp"
#include "../net/port_counters.hpp"
#include "../protocol/counters.hpp"
#include "counter_layout.hpp"

namespace prism::soft
{

/**
 * Counters of a lane in memory that other processes can see (counter_layout.hpp). Counting there costs no more than
 * elsewhere.
 */
class CounterPage
{
public:
	/** Identity of the lane, as readers see it. */
	struct Identity {
		std::string device;
		std::uint32_t slot = 0;
		std::uint32_t first_qpn = 0;
		std::uint32_t last_qpn = 0;
		std::vector<PageAddress> addresses; /**< those beyond max_page_addresses are left out */
	};

	/**
	 * Creates a page with all counters 0. If memory files are forbidden the counters lie in memory of the process,
	 * where nobody else sees them. Thread-safe.
	 * @param device the name of the device, used for the file's name.
	 * @return null if there is no memory.
	 */
	static std::unique_ptr<CounterPage> create(const std::string &device);
	~CounterPage();
	CounterPage(const CounterPage &) = delete;
	CounterPage &operator=(const CounterPage &) = delete;

	/** Counters, written under the lane's lock. Valid as long as the page. */
	[[nodiscard]] PortCounters &port();
	[[nodiscard]] LocalCounters &local();
	[[nodiscard]] LocalPeers &local_peers();
	[[nodiscard]] ProtocolCounters &protocol();

	/** Publishes the identity; readers ignore the page before. Call once. */
	void publish(const Identity &identity);

	/** Replaces the addresses by more: the old ones keep their places. */
	void set_addresses(const std::vector<PageAddress> &addresses);

private:
	struct Layout;

	CounterPage(FileDescriptor file, Layout *page) : file_(std::move(file)), page_(page) {}

	FileDescriptor file_; /* open, for readers to find */
	Layout *const page_;  /* the mapping, which is unmapped, not deleted */
};

} // namespace prism::soft
