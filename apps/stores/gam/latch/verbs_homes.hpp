/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Homes on a device: one queue pair to each other node, for the chains of both, and one of this node to itself. */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "gam/latch/homes.hpp"
#include "gam/latch/latch.hpp"
#include "gam/latch/region.hpp"
#include "rpc/device/call_device.hpp"

namespace prism::gam::latch
{

/**
 * Thread-safe. Queue pairs of dead nodes are kept until this object goes: their last completions may come late. The
 * device outlives it, and whoever polls the device hands its completions on to take().
 */
class VerbsHomes final : public Homes
{
public:
	class Sink
	{
	public:
		virtual ~Sink() = default;
		/** For the Latch of Latch::block_of(@p token). */
		virtual void completed(std::uint64_t token, const Outcome &outcome) = 0;
		/** @p buffers, at most max_reported, are for freed() of @p home, which is another node. */
		virtual void report(NodeId home, std::span<const std::uint64_t> buffers) = 0;
	};
	/** As many as the data of a message has room for. */
	static constexpr std::size_t max_reported = block_size / sizeof(std::uint64_t);

	/**
	 * Lends memory of @p layout. @p requests: that may be under way to each home. @p sink outlives this object.
	 * Errors: those of CallDevice::allocate_listed(), open() and Port::connect().
	 */
	static Result<std::unique_ptr<VerbsHomes>> create(
		rpc::CallDevice &device, NodeId self, const Layout &layout, std::uint32_t requests, Sink &sink);

	/** What other nodes must be told. */
	[[nodiscard]] const HomeMemory &memory() const noexcept { return told_; }
	[[nodiscard]] Region &region() noexcept { return region_; }
	/** For @p lines lines of a Latch; as long as this object. Errors: those of CallDevice::allocate(). */
	Result<WorkingMemory> allocate_lines(std::size_t lines);

	/** A queue pair for add(), with its endpoint. Errors: those of CallDevice::open(). */
	Result<std::unique_ptr<rpc::Port>> open();
	/** @p port is connected to @p node, which lends @p memory. The pair of an earlier life ends. */
	void add(NodeId node, std::unique_ptr<rpc::Port> port, const HomeMemory &memory);
	/** Nothing that @p node has posted is executed any more; what was posted to it fails. */
	void cut_off(NodeId node) noexcept;
	/** Likewise, but it lives, and add() will come: nothing is lost. */
	void end(NodeId node) noexcept;
	/** The queue pair to @p node has ended by itself, or end() has. */
	[[nodiscard]] bool has_ended(NodeId node) const noexcept;
	/** Another queue pair in place of the one to itself, which has ended. Errors: those of open(), Port::connect().
	 */
	Result<void> connect_to_itself();

	/** False: @p completion is of no queue pair of this object. */
	bool take(const Completion &completion) noexcept;
	/** As a home: a node reports @p buffers. What is none, or not handed out, is refused and counted by the list.
	 */
	void freed(std::span<const std::uint64_t> buffers) noexcept;
	/** Reports what give_back() has collected, full batch or not. */
	void flush_reports() noexcept;

	/* Homes */
	[[nodiscard]] const HomeMemory *find(NodeId home) const noexcept override;
	int post(NodeId home, const Chain &chain, std::uint64_t token) noexcept override;
	void give_back(NodeId home, std::uint64_t address) noexcept override;

private:
	/* A chain that is under way: its place is the wr_id. */
	struct Posted {
		std::uint64_t token = 0;
		std::uint32_t requests = 0; /* 0: free */
	};
	struct Link {
		std::mutex lock;
		std::unique_ptr<rpc::Port> port;
		HomeMemory memory;
		std::vector<Posted> posted;
		std::vector<std::uint32_t> free;
		std::uint32_t requests = 0; /* under way */
		std::atomic<bool> failed{false};
		std::atomic<bool> is_closed{false}; /* by this node, for good */
	};
	struct Batch {
		std::array<std::uint64_t, max_reported> buffers;
		std::size_t count = 0;
	};

	VerbsHomes(rpc::CallDevice &device, NodeId self, rpc::ListedMemory memory, const Layout &layout,
		std::uint32_t requests, Sink &sink);
	void report(NodeId home, Batch &batch) noexcept;

	rpc::CallDevice &device_;
	const NodeId self_;
	rpc::ListedMemory lent_;
	Region region_;
	HomeMemory told_;
	const std::uint32_t requests_;
	Sink &sink_;
	std::vector<rpc::Memory> lines_;
	std::vector<std::unique_ptr<rpc::Port>> mirrors_; /* the other ends of queue pairs to itself */
	std::mutex links_lock_;
	std::vector<std::unique_ptr<Link>> links_; /* all that there ever were */
	std::unordered_map<std::uint32_t, Link *> by_number_;
	std::array<std::atomic<Link *>, max_nodes> current_{};
	std::mutex reports_lock_;
	std::array<Batch, max_nodes> batches_{};
};

} // namespace prism::gam::latch
