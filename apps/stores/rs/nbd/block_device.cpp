/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "block_device.hpp"

#include <algorithm>
#include <array>

namespace prism::rs
{

namespace
{

/** The part of a request that is in one block. */
struct Part {
	std::uint64_t block = 0;
	std::uint32_t begin = 0; /* in the block */
	std::uint32_t length = 0;
	std::size_t at = 0; /* in the request */
};

} // namespace

/** A range of bytes of the device. */
struct BlockDevice::Request {
	std::uint32_t block_size;
	std::uint64_t offset;
	std::uint64_t length; /* not 0 */

	[[nodiscard]] std::uint64_t first() const noexcept { return offset / block_size; }
	[[nodiscard]] std::uint64_t last() const noexcept { return (offset + length - 1) / block_size; }
	[[nodiscard]] std::size_t blocks() const noexcept { return last() - first() + 1; }
	[[nodiscard]] bool whole(const Part &part) const noexcept { return part.length == block_size; }

	[[nodiscard]] Part part(std::size_t number) const noexcept
	{
		const std::uint64_t block = first() + number;
		const std::uint64_t begin = std::max(offset, block * block_size);
		const std::uint64_t end = std::min(offset + length, (block + 1) * block_size);
		return {block, static_cast<std::uint32_t>(begin % block_size), static_cast<std::uint32_t>(end - begin),
			static_cast<std::size_t>(begin - offset)};
	}

	[[nodiscard]] Extent extent() const noexcept
	{
		return {first(), last(), !whole(part(0)), !whole(part(blocks() - 1))};
	}
};

/** A block that a request covers only in part, with all its bytes. */
struct BlockDevice::Edge {
	Part part;
	std::vector<std::byte> bytes;

	[[nodiscard]] std::span<std::byte> asked() { return std::span(bytes).subspan(part.begin, part.length); }
};

namespace
{

/** Operations on blocks. They need their numbers as long as they are under way. */
class Operations
{
public:
	explicit Operations(std::size_t count) : blocks_(count), operations_(count) {}

	apps::Operation &add(apps::OperationKind kind, std::uint64_t block)
	{
		blocks_[count_] = block;
		apps::Operation &operation = operations_[count_];
		operation.kind = kind;
		operation.key = std::as_bytes(std::span(&blocks_[count_++], 1));
		return operation;
	}
	[[nodiscard]] std::span<apps::Operation> all() noexcept { return std::span(operations_).first(count_); }

private:
	std::vector<std::uint64_t> blocks_;
	std::vector<apps::Operation> operations_;
	std::size_t count_ = 0;
};

} // namespace

BlockDevice::BlockDevice(std::unique_ptr<apps::StoreClient> client, std::uint32_t block_size,
	std::chrono::nanoseconds patience, ClientThread::Explain explain)
	: block_size_(block_size), zeros_(block_size), thread_(std::move(client), patience, std::move(explain))
{
}

Result<void> BlockDevice::read(std::uint64_t offset, std::span<std::byte> bytes)
{
	if (bytes.empty())
		return {};
	const Request request{block_size_, offset, bytes.size()};
	Operations operations(request.blocks());
	Edge head;
	for (std::size_t number = 0; number < request.blocks(); number++) {
		const Part part = request.part(number);
		apps::Operation &operation = operations.add(apps::OperationKind::get, part.block);
		operation.result = bytes.subspan(part.at, part.length);
		/* The beginning of a block can be read in place; a later part cannot. */
		if (part.begin) {
			head = {part, std::vector<std::byte>(block_size_)};
			operation.result = head.bytes;
		}
	}
	if (Result<void> done = thread_.run(operations.all()); !done)
		return done;
	std::ranges::copy(head.asked(), bytes.begin());
	return {};
}

Result<void> BlockDevice::write(std::uint64_t offset, std::span<const std::byte> bytes)
{
	return change({block_size_, offset, bytes.size()},
		[bytes](const Part &part) { return bytes.subspan(part.at, part.length); });
}

Result<void> BlockDevice::zero(std::uint64_t offset, std::uint64_t length)
{
	return change({block_size_, offset, length},
		[this](const Part &part) { return std::span<const std::byte>(zeros_).first(part.length); });
}

/** Writes the bytes that @p source has for each part. */
template <typename Source>
Result<void> BlockDevice::change(const Request &request, Source source)
{
	if (!request.length)
		return {};
	const WriteOrder::Turn turn(order_, request.extent());
	Operations operations(request.blocks());
	std::array<Edge, 2> edges;
	std::size_t edge = 0;
	for (std::size_t number = 0; number < request.blocks(); number++) {
		const Part part = request.part(number);
		apps::Operation &operation = operations.add(apps::OperationKind::put, part.block);
		operation.value = source(part);
		if (request.whole(part))
			continue;
		edges[edge] = {part, std::vector<std::byte>(block_size_)};
		operation.value = edges[edge++].bytes;
	}
	if (Result<void> done = read_edges(std::span(edges).first(edge)); !done)
		return done;
	for (Edge &changed : std::span(edges).first(edge))
		std::ranges::copy(source(changed.part), changed.asked().begin());
	return thread_.run(operations.all());
}

Result<void> BlockDevice::read_edges(std::span<Edge> edges)
{
	Operations operations(edges.size());
	for (Edge &edge : edges)
		operations.add(apps::OperationKind::get, edge.part.block).result = edge.bytes;
	return thread_.run(operations.all());
}

} // namespace prism::rs
