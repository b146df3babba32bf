/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "layout.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace prism::perftest
{

namespace
{

static_assert(std::endian::native == std::endian::little, "cells are written as they lie in memory");

constexpr std::uint64_t header_size = 64;
constexpr std::uint64_t scratch_stride = 64;
constexpr std::uint64_t most_memory = std::uint64_t{4} << 30;
constexpr std::uint64_t object_memory = 16 << 20;
constexpr std::uint64_t buffer_memory = 256 << 20;
constexpr std::uint32_t most_depth = 8192;
constexpr std::uint32_t most_jobs = 1 << 17;
constexpr std::uint32_t most_contestants = 4;
constexpr std::uint32_t most_buffers = 1 << 20;
constexpr std::uint32_t rings_ahead = 4; /* passes of the cursor over all jobs before it comes back to a buffer */

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

std::uint64_t stride_of(std::uint32_t largest_message)
{
	return round_up(std::max<std::uint64_t>(largest_message, 1), 64);
}

std::uint32_t as_many_as_fit(std::uint64_t memory, std::uint64_t stride, std::uint32_t wanted)
{
	return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(memory / stride, 1, wanted));
}

std::uint32_t plan_buffers(
	const Parameters &parameters, std::uint32_t largest_message, std::uint32_t jobs, std::uint32_t max_free_list)
{
	/* Enough for a whole counted run if possible, so that nothing has to be recycled meanwhile. */
	const std::uint64_t fewest = 2 * std::uint64_t{jobs} + 64;
	std::uint64_t wanted = most_buffers;
	if (!parameters.duration)
		wanted = parameters.iterations_for(largest_message) * (parameters.all_sizes ? 24 : 1) + 2 * jobs + 128;
	wanted = std::min({wanted, buffer_memory / stride_of(largest_message), std::uint64_t{most_buffers} - jobs});
	return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::max(wanted, fewest), max_free_list)) + jobs;
}

bool out_of(std::uint32_t value, std::uint32_t low, std::uint32_t high)
{
	return value < low || value > high;
}

} // namespace

std::string Geometry::problem() const
{
	if (out_of(largest_message, 1, largest_size))
		return fmt::format("a message size of {} bytes", largest_message);
	if (out_of(qps, 1, most_qps))
		return fmt::format("{} queue pairs", qps);
	if (out_of(depth, 1, most_depth) || jobs() > most_jobs)
		return fmt::format("a depth of {}", depth);
	if (out_of(contestants, 1, most_contestants))
		return fmt::format("{} contestants", contestants);
	if (out_of(objects, 1, jobs()) || out_of(ring, 1, rings_ahead * jobs()))
		return fmt::format("{} objects and a ring of {}", objects, ring);
	if (buffers && out_of(buffers, jobs() + 1, most_buffers))
		return fmt::format("{} buffers for {} jobs", buffers, jobs());
	if (Layout(*this).size() > most_memory)
		return fmt::format("{} bytes of memory", Layout(*this).size());
	return {};
}

Geometry plan_geometry(const Parameters &parameters, std::uint32_t largest_message, std::uint32_t depth,
	std::uint32_t contestants, std::uint32_t max_free_list)
{
	Geometry plan{
		.largest_message = largest_message,
		.qps = parameters.qps,
		.depth = depth,
		.contestants = contestants,
	};
	const std::uint64_t stride = stride_of(largest_message);
	plan.objects = as_many_as_fit(object_memory, stride, plan.jobs());
	plan.ring = 1;
	if (parameters.needs_free_list()) {
		plan.ring = rings_ahead * plan.jobs();
		plan.buffers = plan_buffers(parameters, largest_message, plan.jobs(), max_free_list);
	}
	return plan;
}

Layout::Layout(const Geometry &geometry)
	: plan_(geometry), message_stride_(stride_of(geometry.largest_message)), cells_(header_size),
	  scratches_(cells_ + sizeof(Cell) * plan_.contestants * plan_.jobs()), objects_(scratches_ + scratch_size()),
	  rings_(objects_ + message_stride_ * plan_.objects), buffers_(rings_ + message_stride_ * plan_.ring),
	  end_(buffers_ + message_stride_ * plan_.buffers)
{
}

std::uint64_t Layout::cell(std::uint32_t contestant, std::uint32_t job) const
{
	return cells_ + sizeof(Cell) * (std::uint64_t{contestant} * plan_.jobs() + job);
}

std::uint64_t Layout::scratch(std::uint32_t contestant, std::uint32_t qp) const
{
	return scratches_ + scratch_stride * (contestant * plan_.qps + qp);
}

std::uint64_t Layout::scratch_size() const
{
	return scratch_stride * plan_.contestants * plan_.qps;
}

std::uint64_t Layout::object(std::uint32_t job) const
{
	return objects_ + message_stride_ * (job % plan_.objects);
}

std::uint64_t Layout::ring(std::uint64_t index) const
{
	return rings_ + message_stride_ * (index % plan_.ring);
}

std::uint64_t Layout::buffer(std::uint32_t index) const
{
	return buffers_ + message_stride_ * index;
}

bool Layout::is_buffer(std::uint64_t offset) const
{
	return offset >= buffers_ && offset < end_ && (offset - buffers_) % message_stride_ == 0;
}

std::uint64_t object_stamp(std::uint32_t index)
{
	/* Odd bytes of a well-mixed number: none is 0, as in a result that never came. */
	return (index + 1) * 0x9e3779b97f4a7c15 | 0x0101010101010101;
}

void fill_with_stamp(std::uint8_t *data, std::size_t size, std::uint64_t stamp)
{
	for (std::size_t offset = 0; offset < size; offset += sizeof(stamp))
		std::memcpy(data + offset, &stamp, std::min(sizeof(stamp), size - offset));
}

} // namespace prism::perftest
