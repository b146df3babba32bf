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

/** Access::progress of a request of another node: it waits in the block's queue, and is not reported to Host. */
constexpr std::uint8_t for_another = 1;

/** A request of another node to its home. `kind` is read or write, or the kind of an uncached access. */
struct Request : Access {
	NodeId from = no_node;
	std::uint64_t number = 0;
	bool upgrades = false;
	bool is_again = false;         /* true if its answer may have come meanwhile */
	std::vector<std::byte> buffer; /* bytes of an uncached access */
};

[[nodiscard]] inline bool is_remote(const Access &access) noexcept
{
	return access.progress == for_another;
}

[[nodiscard]] inline Request &as_request(Access &access) noexcept
{
	return static_cast<Request &>(access);
}

/** Returns true for an access that brings a line to another node. */
[[nodiscard]] inline bool is_cached(const Access &access) noexcept
{
	return is_remote(access) && !access.uncached;
}

/**
 * The requests that a home has not answered yet. Each node has a limit, so a peer can make the home use max_size bytes
 * for each.
 */
class Requests
{
public:
	/** Approximate size of a Request, its buffer, and the record of the block that it keeps in transit. */
	static constexpr std::size_t max_size = 1024;

	explicit Requests(std::size_t limit) : limit_(limit) {}

	/**
	 * Takes a request for @p from whose buffer has room for @p bytes.
	 * @return 0, ENOBUFS (the node has as many as it may) or ENOMEM.
	 */
	[[nodiscard]] int take(NodeId from, std::size_t bytes, Request *&request) noexcept;
	void give_back(Request &request) noexcept;

private:
	const std::size_t limit_;
	std::deque<Request> all_;
	std::vector<Request *> free_;
	std::array<std::size_t, max_nodes> taken_{};
};

} // namespace prism::gam::directory
