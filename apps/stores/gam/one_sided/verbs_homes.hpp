/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Homes on a device: one queue pair to each other node, shared by the chains of both, and one to this node itself. */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "gam/one_sided/homes.hpp"
#include "gam/one_sided/latch.hpp"
#include "gam/one_sided/region.hpp"
#include "rpc/device/call_device.hpp"

namespace prism::gam::latch
{

/**
 * The homes that a device reaches. Thread-safe. Keeps queue pairs of a dead node until bury(): their last completions
 * may come late. The device outlives it; the thread that polls the device passes completions to take().
 */
class VerbsHomes final : public Homes
{
public:
	class Sink
	{
	public:
		virtual ~Sink() = default;
		/** Reports an outcome to the Latch of Latch::block_of(@p token). */
		virtual void completed(std::uint64_t token, const Outcome &outcome) = 0;
		/** Reports @p buffers, at most max_reported, for freed() of @p home, another node. */
		virtual void report(NodeId home, std::span<const std::uint64_t> buffers) = 0;
	};
	/** Most buffers that the data of a message has room for. */
	static constexpr std::size_t max_reported = block_size / sizeof(std::uint64_t);

	/**
	 * Lends memory of @p layout. @p requests: most requests under way to each home. @p sink outlives this object.
	 * @p ack_timeout: of all queue pairs. Errors: those of CallDevice::allocate_listed(), open() and
	 * Port::connect().
	 */
	static Result<std::unique_ptr<VerbsHomes>> create(rpc::CallDevice &device, NodeId self, const Layout &layout,
		std::uint32_t requests, Sink &sink, std::uint8_t ack_timeout = rpc::PortOptions().ack_timeout);

	/** Returns the description of the lent memory for other nodes. */
	[[nodiscard]] const HomeMemory &memory() const noexcept { return told_; }
	[[nodiscard]] Region &region() noexcept { return region_; }
	/**
	 * Allocates memory for @p lines lines of a Latch; it lives as long as this object. Errors: those of
	 * CallDevice::allocate().
	 */
	Result<WorkingMemory> allocate_lines(std::size_t lines);

	/** Opens a queue pair for add(), with its endpoint. Errors: those of CallDevice::open(). */
	Result<std::unique_ptr<rpc::Port>> open();
	/** Adds @p node, which lends @p memory; @p port is connected to it. Ends the queue pair of an earlier life. */
	void add(NodeId node, std::unique_ptr<rpc::Port> port, const HomeMemory &memory);
	/** Cuts off @p node: nothing that it has posted is executed any more, and chains posted to it fail. */
	void cut_off(NodeId node) noexcept;
	/** Likewise ends the queue pair to @p node, which is alive: add() will follow, and nothing is lost. */
	void end(NodeId node) noexcept;
	/** Returns true if the queue pair to @p node has ended, by itself or by end(). */
	[[nodiscard]] bool has_ended(NodeId node) const noexcept;
	/**
	 * Removes the queue pairs to @p node, which is cut off; those with chains under way at a later call. Nobody is
	 * inside of find() or post() since then, nor uses what find() has returned.
	 */
	void bury(NodeId node) noexcept;
	/** Replaces the ended queue pair to this node itself. Errors: those of open(), Port::connect(). */
	Result<void> connect_to_itself();

	/** Handles @p completion. Returns false if it is of no queue pair of this object. */
	bool take(const Completion &completion) noexcept;
	/**
	 * Frees @p buffers that a node has reported to this home. The list refuses and counts those that are no
	 * buffers, or not handed out.
	 */
	void freed(std::span<const std::uint64_t> buffers) noexcept;
	/** Reports all buffers that give_back() has collected, full batch or not. */
	void flush_reports() noexcept;

	/* A search for lost buffers of this home: see LostBuffers::Host */
	bool mark_buffers() noexcept;
	bool spare_some_buffers() noexcept;
	void collect_buffers() noexcept;
	/** Returns the number of chains that were posted to @p home, for have_ended(). */
	[[nodiscard]] std::uint64_t posted_chains(NodeId home) const noexcept;
	/**
	 * Returns true if the first @p chains chains to @p home have ended, their outcomes are handled, and the home
	 * executes nothing more of them.
	 */
	[[nodiscard]] bool have_ended(NodeId home, std::uint64_t chains) const noexcept;

	/* Homes */
	[[nodiscard]] const HomeMemory *find(NodeId home) const noexcept override;
	int post(NodeId home, const Chain &chain, std::uint64_t token) noexcept override;
	void give_back(NodeId home, std::uint64_t address) noexcept override;

private:
	/* A chain under way; its index is the wr_id. */
	struct Posted {
		std::uint64_t token = 0;
		std::uint32_t requests = 0; /* 0: free */
	};
	struct Link {
		NodeId node = no_node;
		std::mutex lock;
		std::unique_ptr<rpc::Port> port;
		HomeMemory memory;
		std::vector<Posted> posted;
		std::vector<std::uint32_t> free;
		std::uint32_t requests = 0; /* under way */
		/* Chains to the node, those of earlier queue pairs included; they end in the order of posting */
		std::uint64_t posted_chains = 0;
		std::uint64_t ended_chains = 0;
		std::atomic<bool> failed{false};
		std::atomic<bool> is_closed{false}; /* closed by this node, for good */
		bool is_buried = false;             /* nobody uses it but for its completions */
	};
	struct Batch {
		std::array<std::uint64_t, max_reported> buffers;
		std::size_t count = 0;
	};

	VerbsHomes(rpc::CallDevice &device, NodeId self, rpc::ListedMemory memory, const Layout &layout,
		std::uint32_t requests, Sink &sink, std::uint8_t ack_timeout);
	void report(NodeId home, Batch &batch) noexcept;

	rpc::CallDevice &device_;
	const NodeId self_;
	rpc::ListedMemory lent_;
	Region region_;
	HomeMemory told_;
	const std::uint32_t requests_;
	const std::uint8_t ack_timeout_;
	Sink &sink_;
	std::vector<rpc::Memory> lines_;
	std::vector<std::unique_ptr<rpc::Port>> mirrors_; /* the other ends of the queue pairs to this node itself */
	mutable std::mutex links_lock_;
	std::unordered_map<std::uint32_t, std::shared_ptr<Link>> links_; /* by the number of the queue pair */
	std::array<std::atomic<Link *>, max_nodes> current_{};
	std::mutex reports_lock_;
	std::array<Batch, max_nodes> batches_{};
	std::uint64_t next_to_spare_ = 0; /* block */
};

} // namespace prism::gam::latch
