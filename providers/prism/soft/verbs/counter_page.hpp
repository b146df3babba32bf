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
 * The counters of a context, where other processes can see them (counter_layout.hpp). Counting there costs what it
 * costs anywhere else in memory.
 */
class CounterPage
{
public:
	/** Of the context, as readers see them. */
	struct Identity {
		std::string device;
		std::uint32_t slot = 0;
		std::uint32_t first_qpn = 0;
		std::uint32_t last_qpn = 0;
		std::vector<PageAddress> addresses; /**< those beyond max_page_addresses are left out */
	};

	/**
	 * All counters 0. Where memory files are forbidden the counters lie in memory of the process alone and nobody
	 * sees them. Thread-safe.
	 * @param device the name of the device, for the file's.
	 * @return null if there is no memory.
	 */
	static std::unique_ptr<CounterPage> create(const std::string &device);
	~CounterPage();
	CounterPage(const CounterPage &) = delete;
	CounterPage &operator=(const CounterPage &) = delete;

	/** Written under the context's lock. Valid as long as the page. */
	[[nodiscard]] PortCounters &port();
	[[nodiscard]] LocalCounters &local();
	[[nodiscard]] LocalPeers &local_peers();
	[[nodiscard]] ProtocolCounters &protocol();

	/** Says whose counters these are; before, readers take no notice. Once. */
	void publish(const Identity &identity);

	/** There are more of them: those that were there stay where they are. */
	void set_addresses(const std::vector<PageAddress> &addresses);

private:
	struct Layout;

	CounterPage(FileDescriptor file, Layout *page) : file_(std::move(file)), page_(page) {}

	FileDescriptor file_; /* open: this is where readers find it */
	Layout *const page_;  /* the mapping, which is unmapped, not deleted */
};

} // namespace prism::soft
