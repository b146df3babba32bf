/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls of a run: contents of requests and responses, and the outcome of each call. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>

#include "rpc/protocol/header.hpp"

namespace rpc_sim
{

/** Bytes after the header. */
struct Sizes {
	std::uint32_t request = 600;
	std::uint32_t response = 1500;
};

/** Start of a request after its header; the bytes that follow depend on it. */
struct Wish {
	std::uint64_t id = 0;       /* id of the call, unique in the run */
	std::uint32_t response = 0; /* bytes after the header */
	std::uint32_t busy = 0;     /* ns that the server is busy */
};

/** Returns byte @p index of the request or response of call @p id. */
inline std::byte pattern(std::uint64_t id, std::size_t index)
{
	const std::uint64_t mixed = (id + 1) * 0x9e3779b97f4a7c15 + index / 8 * 0xbf58476d1ce4e5b9;
	return static_cast<std::byte>(mixed >> (index % 8 * 8));
}
inline void fill(std::span<std::byte> bytes, std::uint64_t id)
{
	for (std::size_t i = 0; i < bytes.size(); i++)
		bytes[i] = pattern(id, i);
}
inline bool fits(std::span<const std::byte> bytes, std::uint64_t id)
{
	for (std::size_t i = 0; i < bytes.size(); i++) {
		if (bytes[i] != pattern(id, i))
			return false;
	}
	return true;
}

/** Number of executions of each call, by its id. */
class Ledger
{
public:
	std::uint64_t begin() { return next_++; }
	/** Counts an execution. Returns the number so far. */
	unsigned executed(std::uint64_t id) { return ++executed_[id]; }
	[[nodiscard]] unsigned executions(std::uint64_t id) const
	{
		const auto found = executed_.find(id);
		return found == executed_.end() ? 0 : found->second;
	}
	[[nodiscard]] bool knows(std::uint64_t id) const noexcept { return id < next_; }

private:
	std::uint64_t next_ = 1;
	std::map<std::uint64_t, unsigned> executed_;
};

} // namespace rpc_sim
