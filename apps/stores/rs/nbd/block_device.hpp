/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rs/nbd/client_thread.hpp"
#include "rs/nbd/write_order.hpp"

namespace prism::rs
{

/**
 * A volume as a device of bytes, for any number of threads. A block is read and written as a whole. A write that begins
 * or ends within a block reads that block first. This is atomic with respect to other writes by this object, but not to
 * those of other clients of the volume. When a write returns, a quorum of replicas has it in memory.
 */
class BlockDevice
{
public:
	/**
	 * @p client: its keys are numbers of blocks, 8 bytes in host order, its values blocks of @p block_size bytes, a
	 * power of two. @p patience, @p explain: see ClientThread.
	 */
	BlockDevice(std::unique_ptr<apps::StoreClient> client, std::uint32_t block_size,
		std::chrono::nanoseconds patience, ClientThread::Explain explain);

	/* After an error, any of the blocks may have been written. Errors: those of the client. */
	Result<void> read(std::uint64_t offset, std::span<std::byte> bytes);
	Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes);
	/** Writes zeros. */
	Result<void> zero(std::uint64_t offset, std::uint64_t length);

private:
	struct Request;
	struct Edge;

	template <typename Source>
	Result<void> change(const Request &request, Source source);
	Result<void> read_edges(std::span<Edge> edges);

	const std::uint32_t block_size_;
	const std::vector<std::byte> zeros_; /* zeros of one block */
	WriteOrder order_;
	ClientThread thread_;
};

} // namespace prism::rs
