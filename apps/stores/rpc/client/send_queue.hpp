/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The send queue of a client's link. Its requests are in lanes: each lane has at most one request under way, and is
 * used again after that has ended. Requests that were begun are posted together, with one doorbell, and as few of them
 * as possible are signalled.
 */
#pragma once

#include "rpc/device/call_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace prism::rpc
{

/** The queue. Not thread-safe. It neither allocates nor throws once it is made. */
class SendQueue
{
public:
	/** Returns the most requests that are posted and not known to have ended, including those of answered calls. */
	static std::uint32_t size_for(std::uint32_t lanes) noexcept
	{
		constexpr std::uint32_t longest = 8192;
		return std::clamp(2 * lanes, std::uint32_t{16}, longest);
	}

	explicit SendQueue(std::uint32_t lanes)
		: lanes_(lanes), begun_(lanes), size_(size_for(lanes)), lane_of_post_(size_)
	{
	}

	/**
	 * Begins a request of @p lane and returns it to be filled in: opcode, flags, target; sg_list names @p piece if
	 * it has a length.
	 */
	prismdv_send_wr &begin(std::uint32_t lane, LocalSlice piece) noexcept;
	/** True if the request of @p lane was begun and is not posted yet. */
	[[nodiscard]] bool waits(std::uint32_t lane) const noexcept { return lanes_[lane].sequence == not_posted; }
	/** True if the request of @p lane is known to have ended, or not to need its memory any more. */
	[[nodiscard]] bool done(std::uint32_t lane) const noexcept { return lanes_[lane].sequence < completed_; }
	[[nodiscard]] std::size_t begun() const noexcept { return begun_count_; }

	/** Posts the requests that were begun and that there is room for. Returns 0 or errno. */
	int flush(Port &port) noexcept;

	/**
	 * Takes the completion of the request with this sequence number, its wr_id: calls @p ended with each lane whose
	 * request it ends.
	 */
	template <typename Ended>
	void complete(std::uint64_t sequence, Ended ended) noexcept
	{
		while (completed_ <= sequence && completed_ < posted_) {
			const std::uint64_t done = completed_++;
			const std::uint32_t lane = lane_of_post_[done % size_];
			if (lanes_[lane].sequence == done && !ended(lane))
				return;
		}
	}

private:
	static constexpr std::uint64_t not_posted = ~std::uint64_t{0};

	struct Lane {
		std::uint64_t sequence = not_posted - 1; /* of its request */
		ibv_sge piece{};
		prismdv_send_wr request{};
	};

	void group(std::size_t count) noexcept;

	std::vector<Lane> lanes_;
	std::vector<std::uint32_t> begun_; /* lanes whose requests are not posted yet */
	std::size_t begun_count_ = 0;
	std::uint64_t posted_ = 0;    /* number of requests posted so far */
	std::uint64_t completed_ = 0; /* number of these that are certainly done */
	std::uint32_t size_;
	std::vector<std::uint32_t> lane_of_post_; /* a ring, by sequence number */
};

} // namespace prism::rpc
