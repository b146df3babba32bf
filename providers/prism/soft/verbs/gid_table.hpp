/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * GID indices of addresses. All contexts of a process on one interface agree, as does the connection manager: an
 * address gets the next index when the process first sees it, and keeps it. An address that a context could not bind,
 * or that has gone since, has an entry without a GID.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../net/interfaces.hpp"

namespace prism::soft
{

/** Most addresses that a process may see on one interface. Further ones are left out. */
inline constexpr std::size_t max_gids = 128;

/** Returns the address by which the table finds it: all of 127/8 is one entry, as each context has an address of its
 * own there. */
[[nodiscard]] Address gid_name(const InterfaceInfo &interface, const Address &address);

/** Indices of addresses. Not thread-safe. */
class GidNumbers
{
public:
	/** Returns all addresses seen on the interface, by index; new ones come last. */
	const std::vector<Address> &add(const InterfaceInfo &interface);

private:
	std::map<std::pair<std::string, unsigned>, std::vector<Address>> seen_; /* by name and index of the interface */
};

/** GID table of a context. One thread at a time writes, any may read: entries are added and filled, never emptied. */
class GidTable
{
public:
	struct Gid {
		Address address;
		unsigned source; /**< index in UdpPort */
	};

	[[nodiscard]] std::size_t size() const { return used_.load(std::memory_order_acquire); }
	/** Returns nothing for an entry that holds no GID, or is outside the table. */
	[[nodiscard]] std::optional<Gid> find(std::size_t index) const;

	/** Adds an entry without a GID. The table must have room. */
	void append() { used_.fetch_add(1, std::memory_order_release); }
	/** Fills an entry; call once for each. */
	void fill(std::size_t index, const Gid &gid);

private:
	struct Entry {
		Gid gid{};
		std::atomic<bool> filled{false};
	};

	std::array<Entry, max_gids> entries_;
	std::atomic<std::size_t> used_{0};
};

} // namespace prism::soft
