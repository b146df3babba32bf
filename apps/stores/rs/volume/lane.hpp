/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A lane, on which an operation on a replicated block runs. It has a request to each replica. */
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

/** Bytes before those of a block, in messages and in the buffers of PRISM-RS: the tag. */
inline constexpr std::size_t block_header = sizeof(Tag);

/** Registered memory of a request. Late answers may come while it is under way, so no two requests share any. */
struct RequestMemory {
	std::span<std::byte> out;           /* tag and block to write */
	std::span<std::byte> in;            /* tag and block as they were read */
	std::span<std::byte> old;           /* 32 bytes: the value that a CAS found */
	std::span<std::byte> out_room;      /* out, and at least 48 bytes after it, for other layouts of a block */
	std::span<std::byte> in_room;       /* likewise */
	std::uint64_t *allocated = nullptr; /* the answer of an ALLOCATE */
	std::uint32_t lkey = 0;

	/** Returns the bytes that a request needs. */
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

/** The only request of a lane to one replica at a time. */
struct ReplicaRequest {
	enum class State : std::uint8_t {
		idle,
		asked,    /* it is under way, for the lane's round */
		late,     /* likewise, for an earlier round or operation */
		answered, /* the round's answer has come, and counts */
	};

	State state = State::idle;
	bool whole = false;       /* asks for the block, not only for its tag */
	bool fresh = false;       /* answered, and not judged yet */
	std::uint64_t epoch = 0;  /* of the connection that it went over */
	std::uint64_t number = 0; /* its number among all requests of the client */
	Time again{};             /* earliest time to ask again */
	RequestMemory memory;
	Chain chain;
	Completion completion;

	/** Begins an empty chain in place: assigning one would copy all its room. */
	Chain &begin_chain() noexcept { return *std::construct_at(&chain); }
	[[nodiscard]] bool under_way() const noexcept { return state == State::asked || state == State::late; }
};

/** A lane: one operation at a time. */
struct Lane {
	std::uint32_t number = 0;
	apps::Operation *operation = nullptr;
	std::uint64_t block = 0; /* of the operation */
	std::optional<apps::Task<apps::Outcome>> task;
	Time deadline{};
	std::vector<ReplicaRequest> requests; /* by replica */
	bool wrote = false;                   /* the operation has posted something that a replica may store */

	apps::Waiter waiter; /* for answers, for replicas that come or go, and for its turn */
	std::uint32_t round_trips = 0;

	/** Returns the outcome of the operation, which no quorum has ended, because of @p error. */
	apps::Outcome fail(int error) noexcept
	{
		operation->error = error;
		return wrote ? apps::outcome_of_loss(operation->kind) : apps::Outcome::failed;
	}
};

} // namespace prism::rs
