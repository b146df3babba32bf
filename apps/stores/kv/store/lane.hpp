/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>
#include <prism/device.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "common/store_client.hpp"
#include "common/task.hpp"
#include "common/waiting.hpp"
#include "layout.hpp"

namespace prism::kv
{

/** Registered memory of a lane: the data of its requests, and room for their answers. */
struct LaneMemory {
	std::span<std::byte> out;           /* an object to store */
	std::span<std::byte> in;            /* an object as it was read; the same room */
	std::span<Slot> buckets;            /* both buckets of a key, one behind the other */
	Slot *old = nullptr;                /* the bytes before a CAS, or a slot as it was read */
	std::uint64_t *allocated = nullptr; /* the answer of an ALLOCATE */
	std::uint32_t lkey = 0;

	static constexpr std::size_t slots = 2 * Geometry::bucket_slots;

	/** Returns the bytes that a lane needs for objects of up to @p object_room bytes, a multiple of 32. */
	static constexpr std::size_t size(std::size_t object_room)
	{
		return 2 * object_room + (slots + 2) * sizeof(Slot);
	}

	/** Divides @p bytes, aligned to 32, of size(@p object_room). */
	static LaneMemory divide(std::byte *bytes, std::size_t object_room, std::uint32_t lkey);

	template <typename T>
	[[nodiscard]] LocalSlice slice(const T *place, std::size_t length) const noexcept
	{
		return {reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(length), lkey};
	}
};

struct Version;

/**
 * A lane, which runs one operation at a time: its memory, its request under way, and the coroutine that waits for it.
 */
struct Lane {
	std::uint32_t number = 0; /* the wr_id of its requests */
	LaneMemory memory;
	apps::Operation *operation = nullptr;
	Version *version = nullptr; /* a GET's answer, the condition of a PUT or ERASE; null: none */
	std::optional<apps::Task<apps::Outcome>> task;
	std::uint64_t began = 0; /* serial number of the operation */
	bool changes = false;    /* the operation may change something */
	bool waits = false;      /* for the next connection, if this one is lost before it may change anything */
	bool sent = false;       /* a request of it was sent on this connection */
	std::chrono::steady_clock::time_point first_without_buffer;

	Chain chain; /* its request under way, or about to be */
	/** Makes an empty chain in place; assigning one would copy all of its room. */
	Chain &begin_chain() noexcept { return *std::construct_at(&chain); }

	apps::Waiter waiter;
	Completion completion;
	std::uint32_t round_trips = 0;
};

/**
 * The event of a posted request: co_await returns its completion. A request that could not be posted has failed at
 * once.
 */
class RoundTrip : public apps::Event
{
public:
	RoundTrip(Lane &lane, int post_error) noexcept
		: Event{lane.waiter, apps::Time::max(), post_error != 0}, lane_(lane)
	{
	}

	Completion await_resume() const noexcept
	{
		if (happened) {
			Completion failed;
			failed.error = IBV_WC_GENERAL_ERR;
			return failed;
		}
		lane_.round_trips++;
		return lane_.completion;
	}

private:
	Lane &lane_;
};

} // namespace prism::kv
