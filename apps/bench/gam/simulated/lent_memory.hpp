/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The latch protocol's homes and chains without a device. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/gam/simulated/one_sided.hpp"
#include "gam/one_sided/latch.hpp"

namespace prism::gam::simulated
{

/** Zeroed bytes, aligned to block_size. */
class AlignedBytes
{
public:
	explicit AlignedBytes(std::size_t size) : bytes_(size + block_size), size_(size) {}

	[[nodiscard]] std::span<std::byte> span() noexcept
	{
		const auto address = reinterpret_cast<std::uint64_t>(bytes_.data());
		return std::span(bytes_).subspan((block_size - address % block_size) % block_size, size_);
	}
	/** Returns them as the lines and slots of a node. */
	[[nodiscard]] latch::WorkingMemory working() noexcept
	{
		return {span(), reinterpret_cast<std::uint64_t>(span().data()), 0};
	}

private:
	std::vector<std::byte> bytes_;
	std::size_t size_;
};

/** Memory that a node lends, and its device. */
struct LentMemory {
	LentMemory(const latch::Layout &layout, NodeId self)
		: bytes(layout.bytes()), region(bytes.span(), layout),
		  device(bytes.span(), self + 1U), described{device.region(), layout, OneSidedMemory::free_list}
	{
		for (std::uint64_t i = 0; i < layout.buffer_count(); i++)
			device.free.push_back(described.region.address + layout.buffers() + i * block_size);
	}

	AlignedBytes bytes;
	latch::Region region;
	OneSidedMemory device;
	const latch::HomeMemory described;
};

/** Chain that a node has posted, with the answers so far. */
class ChainUnderWay
{
public:
	ChainUnderWay(std::uint64_t token, const Chain &chain) : token_(token), requests_(Recorder::requests_of(chain))
	{
	}

	[[nodiscard]] std::uint64_t token() const noexcept { return token_; }
	[[nodiscard]] const std::vector<Request> &requests() const noexcept { return requests_; }
	[[nodiscard]] const std::vector<Answer> &answers() const noexcept { return answers_; }
	[[nodiscard]] bool is_executed() const noexcept { return answers_.size() == requests_.size(); }
	/** Executes the next request. Returns false if that ends the queue pair. */
	bool execute(OneSidedMemory &home, Responder &responder)
	{
		if (failed_ || responder.failed) {
			answers_.emplace_back().failed = true;
			return true;
		}
		answers_.push_back(home.execute(requests_[answers_.size()], responder));
		return !(refused_ = responder.failed);
	}
	/** Ends its queue pair: nothing more is executed, and nobody knows what was. */
	void fail() noexcept { failed_ = true; }
	/** Delivers the answers to the node that posted the executed chain. Returns the outcome. */
	[[nodiscard]] latch::Outcome deliver() const
	{
		latch::Outcome outcome;
		outcome.failed = failed_;
		outcome.refused = refused_;
		for (const Answer &answer : answers_) {
			outcome.failed |= answer.failed;
			answer.deliver();
		}
		outcome.status = answers_.back().status;
		outcome.bytes = static_cast<std::uint32_t>(answers_.back().bytes.size());
		return outcome;
	}

private:
	std::uint64_t token_;
	std::vector<Request> requests_;
	std::vector<Answer> answers_;
	bool failed_ = false;
	bool refused_ = false;
};

} // namespace prism::gam::simulated
