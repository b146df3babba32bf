/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/receive_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <vector>

namespace prism::rpc
{

Result<std::unique_ptr<ReceivePool>> ReceivePool::create(
	const ProtectionDomain &pd, std::size_t size, std::uint32_t count)
{
	Result<Buffer> memory = Buffer::create(pd, size * count);
	if (!memory)
		return memory.error();
	ibv_srq_init_attr attr{};
	attr.attr.max_wr = count;
	attr.attr.max_sge = 1;
	ibv_srq *srq = ibv_create_srq(pd.raw(), &attr);
	if (!srq)
		return make_error(errno, "cannot create a receive queue", "max_srq_wr of ibv_devinfo -v is the limit");
	std::unique_ptr<ReceivePool> pool(
		new ReceivePool(*std::move(memory), srq, size, count)); /* private constructor */
	std::vector<std::uint32_t> all(count);
	std::iota(all.begin(), all.end(), 0);
	if (const int error = pool->post(all))
		return make_error(error, "cannot post receives");
	return pool;
}

int ReceivePool::post(std::span<const std::uint32_t> buffers) noexcept
{
	constexpr std::size_t chunk = 32;
	std::array<ibv_recv_wr, chunk> requests;
	std::array<ibv_sge, chunk> pieces;
	while (!buffers.empty()) {
		const std::size_t count = std::min(chunk, buffers.size());
		for (std::size_t i = 0; i < count; i++) {
			const LocalSlice slice = memory_.slice(buffers[i] * size_, static_cast<std::uint32_t>(size_));
			pieces[i] = {slice.address, slice.length, slice.lkey};
			requests[i] = {buffers[i], i + 1 < count ? &requests[i + 1] : nullptr, &pieces[i], 1};
		}
		ibv_recv_wr *bad = nullptr;
		if (const int error = ibv_post_srq_recv(handle_.get(), requests.data(), &bad))
			return error;
		buffers = buffers.subspan(count);
	}
	return 0;
}

} // namespace prism::rpc
