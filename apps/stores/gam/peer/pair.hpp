/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * This node's end of the queue pair to one life of one peer: what waits to be sent, and the window of frames.
 *
 * A frame with messages needs a receive buffer at the peer. Each side has as many for each pair as the window has
 * frames, and frames_beyond_window more for frames that only acknowledge: those are sent for half a window at a time,
 * so two are under way, and two more while their buffers wait to be posted again. So a SEND finds a buffer, and a peer
 * that does not poll holds up nobody but itself.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gam/coherence/message.hpp"
#include "gam/peer/view.hpp"
#include "rpc/device/call_device.hpp"

namespace prism::gam
{

/** The same on all nodes, but for the backlog. */
struct PairSizes {
	static constexpr std::uint32_t frames_beyond_window = 4;

	std::uint32_t window = 16; /**< frames with messages that the peer has not taken yet; even */
	std::uint32_t frame_bytes = 4096;
	std::size_t backlog = std::size_t{4} << 20; /**< bytes of messages that wait for the window */

	/** Receive buffers for a peer. */
	[[nodiscard]] std::uint32_t receives() const noexcept { return window + frames_beyond_window; }
	/** Frames that may be on their way in the device. */
	[[nodiscard]] std::uint32_t ring() const noexcept { return 2 * window + 8; }
	/** Every so many SENDs one is signalled. */
	[[nodiscard]] std::uint32_t signalled() const noexcept { return ring() / 4; }
};

/** One thread at a time, but for ended(). */
class Pair
{
public:
	/** Work request IDs of SENDs have this bit; the others are receives. */
	static constexpr std::uint64_t send_tag = std::uint64_t{1} << 63;

	/** @p frames: ring() frames. */
	Pair(const NodeLife &peer, std::unique_ptr<rpc::Port> port, rpc::Memory frames, const PairSizes &sizes);

	[[nodiscard]] const NodeLife &peer() const noexcept { return peer_; }
	[[nodiscard]] std::uint32_t number() const noexcept { return port_->number(); }

	/** @p message is sent by a later post(). 0, ENOTCONN (it has ended), ENOBUFS (the backlog is full). */
	int append(const Message &message);
	/** Sends what the window lets, in as few frames as it fits into, and acknowledgements that are due. 0 or errno.
	 */
	int post() noexcept;
	/** post() has something to do. */
	[[nodiscard]] bool has_work() const noexcept
	{
		return !ended() && !held && (can_send() || owes_acknowledgement());
	}

	/* What comes from the device */
	/** The SEND with this number, and all before it, have ended. */
	void sent(std::uint64_t number) noexcept { done_ = number + 1; }
	/**
	 * A frame has come, with @p messages, which acknowledges @p acknowledged. False: the peer does not keep to the
	 * window, or acknowledges what it was not sent, or nothing.
	 */
	bool receive(std::uint16_t messages, std::uint32_t acknowledged) noexcept;
	/** The buffers of all frames that have come are posted again. */
	void taken() noexcept { taken_ = received_; }

	/** For good: nothing is sent, and nothing that the peer sends is executed. */
	void end() noexcept;
	[[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

	std::uint64_t frames_sent = 0; /**< acknowledgements among them */
	bool told = false;             /**< its end is known to the node */
	bool held = false;             /**< sends nothing yet */

private:
	[[nodiscard]] std::size_t waiting() const noexcept { return backlog_.size() - backlog_begin_; }
	[[nodiscard]] bool has_room() const noexcept { return posted_ - done_ < sizes_.ring(); }
	[[nodiscard]] bool can_send() const noexcept
	{
		return waiting() && has_room() && data_sent_ - data_acknowledged_ < sizes_.window;
	}
	[[nodiscard]] bool owes_acknowledgement() const noexcept
	{
		return has_room() && taken_ - told_ >= sizes_.window / 2;
	}
	ibv_send_wr &build() noexcept;
	std::uint32_t fill(std::byte *frame) noexcept;

	NodeLife peer_;
	PairSizes sizes_;
	rpc::Memory frames_; /* declared first: freed only after the queue pair is gone */
	std::unique_ptr<rpc::Port> port_;
	std::vector<ibv_send_wr> requests_; /* of the frames */
	std::vector<ibv_sge> pieces_;
	std::vector<std::byte> backlog_; /* messages, from backlog_begin_ on */
	std::size_t backlog_begin_ = 0;
	std::uint64_t posted_ = 0; /* SENDs */
	std::uint64_t done_ = 0;
	std::uint32_t data_sent_ = 0; /* frames with messages, modulo 2^32, as what follows */
	std::uint32_t data_acknowledged_ = 0;
	std::uint32_t received_ = 0;
	std::uint32_t taken_ = 0;
	std::uint32_t told_ = 0; /* the peer knows that these were taken */
	std::atomic<bool> ended_{false};
};

} // namespace prism::gam
