/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "gam/coherence/access.hpp"
#include "gam/coherence/message.hpp"

namespace prism::gam::directory
{

/** Access::progress of what this node does for another: it stands in the block's queue, and is none of Host's. */
constexpr std::uint8_t for_another = 1;

/** What another node asks of its home. `kind` is read or write, or what an uncached one is. */
struct Request : Access {
	NodeId from = no_node;
	std::uint64_t number = 0;
	bool upgrades = false;
	bool is_again = false;         /* its answer may have come meanwhile */
	std::vector<std::byte> buffer; /* of an uncached one */
};

/**
 * The requests that a home has not answered yet. Each node has a limit: what a peer can make the home keep is
 * max_size bytes for each of them.
 */
class Requests
{
public:
	/** A Request, its buffer, and the record of the block that it keeps in transit, about. */
	static constexpr std::size_t max_size = 1024;

	explicit Requests(std::size_t limit) : limit_(limit) {}

	/** One of @p from, or null: it has as many as it may. */
	[[nodiscard]] Request *take(NodeId from);
	void give_back(Request &request) noexcept;

private:
	const std::size_t limit_;
	std::deque<Request> all_;
	std::vector<Request *> free_;
	std::array<std::size_t, max_nodes> taken_{};
};

} // namespace prism::gam::directory
