/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Where an operation on a replicated block runs: a lane, which has a request to each replica. */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>
#include <prism/device.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/store_client.hpp"
#include "common/task.hpp"
#include "common/waiting.hpp"
#include "rs/volume/tag.hpp"

namespace prism::rs
{

using apps::Event;
using apps::Time;

/** A block as it travels, and lies in the buffers of PRISM-RS: the tag, then the bytes. */
inline constexpr std::size_t block_header = sizeof(Tag);

/** Registered memory of a request. Late answers may come as long as it is under way, so no two requests share any. */
struct RequestMemory {
	std::span<std::byte> out;           /* tag and block to write */
	std::span<std::byte> in;            /* tag and block as they were read */
	std::span<std::byte> old;           /* 32 bytes: what a CAS found */
	std::span<std::byte> out_room;      /* out, and at least 48 bytes behind it, for other layouts of a block */
	std::span<std::byte> in_room;       /* likewise */
	std::uint64_t *allocated = nullptr; /* the answer of an ALLOCATE */
	std::uint32_t lkey = 0;

	/** Bytes that a request needs. */
	static constexpr std::size_t size(std::size_t block_size) { return 2 * room(block_size) + 64; }

	/** Divides @p bytes, aligned to 32, of size(@p block_size). */
	static RequestMemory divide(std::byte *bytes, std::size_t block_size, std::uint32_t lkey)
	{
		RequestMemory memory;
		memory.out = {bytes, block_header + block_size};
		memory.in = {bytes + room(block_size), block_header + block_size};
		memory.out_room = {bytes, room(block_size)};
		memory.in_room = {bytes + room(block_size), room(block_size)};
		memory.old = {bytes + 2 * room(block_size), 32};
		memory.allocated = reinterpret_cast<std::uint64_t *>(bytes + 2 * room(block_size) + 32);
		memory.lkey = lkey;
		return memory;
	}

	[[nodiscard]] LocalSlice slice(std::span<const std::byte> part) const noexcept
	{
		return {reinterpret_cast<std::uintptr_t>(part.data()), static_cast<std::uint32_t>(part.size()), lkey};
	}
	[[nodiscard]] LocalSlice allocated_slice() const noexcept
	{
		return {reinterpret_cast<std::uintptr_t>(allocated), sizeof(*allocated), lkey};
	}

private:
	static constexpr std::size_t room(std::size_t block_size) { return (block_header + block_size + 63) / 64 * 64; }
};

/** The one request at a time that a lane has with one replica. */
struct ReplicaRequest {
	enum class State : std::uint8_t {
		idle,
		asked,    /* it is under way, for the lane's round */
		late,     /* likewise, for an earlier round or operation */
		answered, /* the round's answer is there, and counts */
	};

	State state = State::idle;
	bool whole = false;       /* asked for the block, not only for its tag */
	bool fresh = false;       /* answered, and not judged yet */
	std::uint64_t epoch = 0;  /* of the connection that it went over */
	std::uint64_t number = 0; /* among all of the client */
	Time again{};             /* not to be asked before */
	RequestMemory memory;
	Chain chain;
	Completion completion;

	/** An empty chain in place: assigning one would copy all that it has room for. */
	Chain &begin_chain() noexcept { return *std::construct_at(&chain); }
	[[nodiscard]] bool under_way() const noexcept { return state == State::asked || state == State::late; }
};

/** Where one operation at a time runs. */
struct Lane {
	std::uint32_t number = 0;
	apps::Operation *operation = nullptr;
	std::uint64_t block = 0; /* of the operation */
	std::optional<apps::Task<apps::Outcome>> task;
	Time deadline{};
	std::vector<ReplicaRequest> requests; /* by replica */
	bool wrote = false;                   /* the operation has posted what a replica may store, now or later */

	apps::Waiter waiter; /* for answers, for replicas that come or go, and for its turn */
	std::uint32_t round_trips = 0;

	/** What has become of the operation that no quorum has ended, because of @p error. */
	apps::Outcome fail(int error) noexcept
	{
		operation->error = error;
		return wrote ? apps::outcome_of_loss(operation->kind) : apps::Outcome::failed;
	}
};

} // namespace prism::rs
