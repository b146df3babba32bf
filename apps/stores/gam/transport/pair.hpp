/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * This node's end of the queue pair to one life of one peer: the messages to be sent, and the window of frames.
 *
 * A frame with messages needs a receive buffer at the peer. Each side has, for each pair, as many as the window has
 * frames, and frames_beyond_window more for frames that only acknowledge: one is sent for half a window, so two are
 * under way, and two more while their buffers wait to be posted again. So each SEND finds a buffer, and a peer that
 * does not poll holds up nobody but itself.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gam/coherence/message.hpp"
#include "gam/membership/view.hpp"
#include "rpc/device/call_device.hpp"

namespace prism::gam
{

/** The sizes of a pair, the same on all nodes except for the backlog. */
struct PairSizes {
	static constexpr std::uint32_t frames_beyond_window = 4;

	std::uint32_t window = 16; /**< frames with messages that the peer has not taken yet; even */
	std::uint32_t frame_bytes = 4096;
	std::size_t backlog = std::size_t{4} << 20; /**< most bytes of messages that wait for the window */

	/** Returns the number of receive buffers for a peer. */
	[[nodiscard]] std::uint32_t receives() const noexcept { return window + frames_beyond_window; }
	/** Returns the number of frames that may be under way in the device. */
	[[nodiscard]] std::uint32_t ring() const noexcept { return 2 * window + 8; }
	/** Returns the interval of signalled SENDs. */
	[[nodiscard]] std::uint32_t signalled() const noexcept { return ring() / 4; }
};

/** One end of a queue pair. One thread at a time, except for ended(). */
class Pair
{
public:
	/** Work request IDs of SENDs have this bit; the others are receives. */
	static constexpr std::uint64_t send_tag = std::uint64_t{1} << 63;

	/** @param frames memory of ring() frames */
	Pair(const NodeLife &peer, std::unique_ptr<rpc::Port> port, rpc::Memory frames, const PairSizes &sizes);

	[[nodiscard]] const NodeLife &peer() const noexcept { return peer_; }
	[[nodiscard]] std::uint32_t number() const noexcept { return port_->number(); }

	/**
	 * Queues @p message for a later post(). Returns 0, ENOTCONN (the pair has ended), ENOBUFS (the backlog is
	 * full).
	 */
	int append(const Message &message) noexcept;
	/** Returns true if half of the backlog is free, or if the pair has ended: what is dropped need not wait. */
	[[nodiscard]] bool has_spare_room() const noexcept { return ended() || waiting() <= sizes_.backlog / 2; }
	/**
	 * Sends what the window allows, in as few frames as possible, and acknowledgements that are due. Returns 0 or
	 * an errno value.
	 */
	int post() noexcept;
	/** Returns true if post() has something to do. */
	[[nodiscard]] bool has_work() const noexcept
	{
		return !ended() && !held && (can_send() || owes_acknowledgement());
	}

	/* Events from the device */
	/** Records that the SEND with this number, and all before it, have ended. */
	void sent(std::uint64_t number) noexcept { done_ = number + 1; }
	/**
	 * Records a frame with @p messages that acknowledges @p acknowledged. Returns false if the peer exceeds the
	 * window, acknowledges frames that were not sent, or sends an empty acknowledgement.
	 */
	bool receive(std::uint16_t messages, std::uint32_t acknowledged) noexcept;
	/** Records that the buffers of all received frames are posted again. */
	void taken() noexcept { taken_ = received_; }

	/** Ends the pair for good: nothing is sent, and nothing that the peer sends is executed. */
	void end() noexcept;
	[[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

	std::uint64_t frames_sent = 0; /**< including acknowledgements */
	bool told = false;             /**< the node knows that it has ended */
	bool held = false;             /**< sends nothing yet */

private:
	[[nodiscard]] std::size_t waiting() const noexcept { return backlog_end_ - backlog_begin_; }
	[[nodiscard]] bool has_room() const noexcept { return posted_ - done_ < sizes_.ring(); }
	[[nodiscard]] bool can_send() const noexcept
	{
		return waiting() && has_room() && data_sent_ - data_acknowledged_ < sizes_.window;
	}
	[[nodiscard]] bool owes_acknowledgement() const noexcept
	{
		return has_room() && taken_ - told_ >= sizes_.window / 2;
	}
	struct Unmap {
		std::size_t bytes = 0;
		void operator()(std::byte *memory) const noexcept;
	};
	using Pages = std::unique_ptr<std::byte[], Unmap>;
	[[nodiscard]] static Pages map(std::size_t bytes);
	ibv_send_wr &build() noexcept;
	std::uint32_t fill(std::byte *frame) noexcept;

	NodeLife peer_;
	PairSizes sizes_;
	rpc::Memory frames_; /* declared first: freed only after the queue pair is gone */
	std::unique_ptr<rpc::Port> port_;
	std::vector<ibv_send_wr> requests_; /* for the frames */
	std::vector<ibv_sge> pieces_;
	/*
	 * Messages that wait. Memory for all that may wait, as one that cannot be kept would end the pair. Pages of its
	 * own: what is never used of them costs nothing but addresses, and nothing is left when the pair is gone.
	 */
	Pages backlog_;
	std::size_t backlog_begin_ = 0;
	std::size_t backlog_end_ = 0;
	std::uint64_t posted_ = 0; /* SENDs */
	std::uint64_t done_ = 0;
	std::uint32_t data_sent_ = 0; /* frames with messages, modulo 2^32, as all below */
	std::uint32_t data_acknowledged_ = 0;
	std::uint32_t received_ = 0;
	std::uint32_t taken_ = 0;
	std::uint32_t told_ = 0; /* frames acknowledged to the peer */
	std::atomic<bool> ended_{false};
};

} // namespace prism::gam
