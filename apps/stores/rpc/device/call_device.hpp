/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device, as links and channels need it: memory, queue pairs, a clock. They reach it only through this interface,
 * so that programs and their simulation run the same code. verbs_call_device.hpp implements it with libibverbs.
 */
#pragma once

#include <prism/completion.hpp>
#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>
#include <prism/result.hpp>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace prism
{
class Chain;
}

namespace prism::rpc
{

/** Registered memory. Copies share it. Its addresses at the device may differ from those of the process. */
class Memory
{
public:
	/** @p owner: keeps the memory and its registration alive. */
	Memory(std::byte *bytes, const RemoteRegion &region, std::uint32_t lkey, std::shared_ptr<const void> owner)
		: owner_(std::move(owner)), bytes_(bytes), region_(region), lkey_(lkey)
	{
	}

	[[nodiscard]] std::byte *data() const noexcept { return bytes_; }
	[[nodiscard]] std::size_t length() const noexcept { return region_.length; }
	/** Returns the region for a peer. */
	[[nodiscard]] const RemoteRegion &remote() const noexcept { return region_; }
	/** Returns the device's address of @p place, inside or at the end. */
	[[nodiscard]] std::uint64_t address_of(const std::byte *place) const noexcept
	{
		return region_.address + static_cast<std::uint64_t>(place - bytes_);
	}
	[[nodiscard]] LocalSlice slice(std::size_t offset, std::uint32_t bytes) const noexcept
	{
		return {region_.address + offset, bytes, lkey_};
	}

private:
	std::shared_ptr<const void> owner_;
	std::byte *bytes_;
	RemoteRegion region_;
	std::uint32_t lkey_;
};

/** A reliable connected queue pair; CallDevice::poll() returns its completions. */
class Port
{
public:
	virtual ~Port() = default;

	/** Returns the endpoint for the peer. */
	[[nodiscard]] virtual const Endpoint &endpoint() const noexcept = 0;
	[[nodiscard]] std::uint32_t number() const noexcept { return endpoint().qp_num; }
	/** Errors: those of QueuePair::connect(). */
	virtual Result<void> connect(const Endpoint &peer) = 0;
	[[nodiscard]] virtual bool peer_speaks_prism() const noexcept = 0;
	/** Returns the bytes that a request can carry inline. */
	[[nodiscard]] virtual std::uint32_t max_inline_data() const noexcept = 0;

	/** Posts a list of requests, some of which may be a prismdv_send_wr's. Returns 0 or errno. */
	virtual int post(ibv_send_wr *first) noexcept = 0;
	/** Posts @p chain: see Chain::post(). Returns 0 or errno; EOPNOTSUPP if this port cannot. */
	virtual int post_chain(const Chain & /*chain*/, std::uint64_t /*wr_id*/) noexcept { return EOPNOTSUPP; }
	/** Returns 0 or errno. */
	virtual int post_receive(std::uint64_t wr_id, LocalSlice into) noexcept = 0;
	/** Flushes all posted requests; nothing that the peer sends is executed any more. */
	virtual void fail() noexcept = 0;
};

struct PortOptions {
	std::uint32_t max_send_wr = 1;
	std::uint32_t max_recv_wr = 1;
	unsigned access_flags = 0;    /**< rights of the peer */
	bool shared_receives = false; /**< receives come from the device's ReceivePool */
	/**
	 * As QueuePairOptions::timeout: time that a peer may be silent when its device stands still with its process.
	 * Nine of these periods are as long as ClientOptions::patience.
	 */
	std::uint8_t ack_timeout = 18;
};

/** Returns the shortest PortOptions::ack_timeout with which a peer may be silent for @p silence, up to 75 minutes. */
[[nodiscard]] constexpr std::uint8_t ack_timeout_for(std::chrono::nanoseconds silence) noexcept
{
	constexpr std::uint8_t longest = 27;
	constexpr std::chrono::nanoseconds period(4096 * 8); /* the first try and seven more */
	std::uint8_t timeout = 1;
	while (timeout < longest && period * (std::int64_t{1} << timeout) < silence)
		timeout++;
	return timeout;
}

/** A free list of buffers for requests, with its buffers' states. */
class RequestList
{
public:
	virtual ~RequestList() = default;

	[[nodiscard]] virtual FreeListInfo info() const noexcept = 0;
	/** Gives back the buffers at @p addresses, which requests came into. */
	virtual void give_back(std::span<const std::uint64_t> addresses) noexcept = 0;

	/* A scan for lost buffers: see FreeList::begin_recovery() */
	/** Notes which buffers are handed out now. Returns false if that is not known yet. */
	virtual bool mark() noexcept = 0;
	/** Notes that the buffer at @p address is reachable. */
	virtual void spare(std::uint64_t address) noexcept = 0;
	/** Gives back the marked buffers that were neither spared nor given back since. */
	virtual void collect() noexcept = 0;
};

/** Memory that contains the buffers of a free list. */
struct ListedMemory {
	Memory memory;
	std::unique_ptr<RequestList> list;
};

/** Position and shape of a free list's buffers in its memory. */
struct ListShape {
	std::size_t offset = 0;
	std::uint32_t buffer_size = 0;
	std::uint32_t count = 0;
};

/** A device for calls: a protection domain, a completion queue and a clock. */
class CallDevice
{
public:
	using Clock = std::chrono::steady_clock;

	virtual ~CallDevice() = default;

	/** Returns zeroed memory. Errors: those of Buffer::create(). */
	virtual Result<Memory> allocate(std::size_t length, unsigned access_flags) = 0;
	/** Registers @p pages. Errors: those of ibv_reg_mr(3). */
	virtual Result<Memory> adopt(std::shared_ptr<std::byte> pages, std::size_t length, unsigned access_flags) = 0;
	/** Returns zeroed memory with a free list. Errors: those of Buffer::create() and FreeList::create(). */
	virtual Result<ListedMemory> allocate_listed(
		std::size_t length, const ListShape &shape, unsigned access_flags) = 0;
	/** Opens a port. Errors: those of QueuePair::create(). */
	virtual Result<std::unique_ptr<Port>> open(const PortOptions &options) = 0;

	/** Takes completions of all ports. Returns their number, or a negative errno. */
	virtual int poll(std::span<Completion> completions) noexcept = 0;
	/** Lets the device progress by itself, as nobody polls for a while. */
	virtual void leave_alone() noexcept = 0;
	[[nodiscard]] virtual Clock::time_point now() const noexcept = 0;
};

} // namespace prism::rpc
