/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/device/verbs_call_device.hpp"

#include <prism/chain.hpp>
#include <prism/free_list.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <optional>

namespace prism::rpc
{

namespace
{

/* A kernel device answers even for a stopped process, so silence means loss: retransmit soon. */
constexpr std::uint8_t prompt_timeout = 14;

class VerbsPort final : public Port
{
public:
	explicit VerbsPort(QueuePair pair) : pair_(std::move(pair)) {}

	[[nodiscard]] const Endpoint &endpoint() const noexcept override { return pair_.endpoint(); }
	Result<void> connect(const Endpoint &peer) override { return pair_.connect(peer); }
	[[nodiscard]] bool peer_speaks_prism() const noexcept override { return pair_.peer_speaks_prism(); }
	[[nodiscard]] std::uint32_t max_inline_data() const noexcept override { return pair_.max_inline_data(); }
	int post(ibv_send_wr *first) noexcept override
	{
		ibv_send_wr *bad = nullptr;
		return ibv_post_send(pair_.raw(), first, &bad);
	}
	int post_chain(const Chain &chain, std::uint64_t wr_id) noexcept override { return chain.post(pair_, wr_id); }
	int post_receive(std::uint64_t wr_id, LocalSlice into) noexcept override
	{
		return pair_.post_receive(wr_id, into);
	}
	void fail() noexcept override
	{
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_ERR;
		(void)ibv_modify_qp(pair_.raw(), &attr, IBV_QP_STATE);
	}

private:
	QueuePair pair_;
};

class VerbsRequestList final : public RequestList
{
public:
	explicit VerbsRequestList(FreeList list) : list_(std::move(list)) {}

	[[nodiscard]] FreeListInfo info() const noexcept override { return list_.info(); }
	void give_back(std::span<const std::uint64_t> addresses) noexcept override
	{
		(void)list_.refresh();
		for (const std::uint64_t address : addresses)
			(void)list_.release(address);
		(void)list_.post_released();
	}
	bool mark() noexcept override
	{
		if (!list_.begin_recovery())
			return false;
		live_.emplace(list_.live());
		return true;
	}
	void spare(std::uint64_t address) noexcept override { live_->add(address); }
	void collect() noexcept override { (void)list_.end_recovery(*live_); }

private:
	FreeList list_;
	std::optional<LiveSet> live_; /* of the last scan */
};

Memory memory_of(const std::shared_ptr<const Buffer> &buffer)
{
	return {buffer->data(), buffer->remote(), buffer->region().lkey(), buffer};
}

/** Memory that somebody else has allocated. */
struct Adopted {
	std::shared_ptr<std::byte> pages; /* declared first: freed only after the registration is gone */
	MemoryRegion registration;
};

} // namespace

Result<Memory> VerbsCallDevice::allocate(std::size_t length, unsigned access_flags)
{
	Result<Buffer> buffer = Buffer::create(pd_, length, access_flags);
	if (!buffer)
		return buffer.error();
	return memory_of(std::make_shared<const Buffer>(*std::move(buffer)));
}

Result<Memory> VerbsCallDevice::adopt(std::shared_ptr<std::byte> pages, std::size_t length, unsigned access_flags)
{
	Result<MemoryRegion> region = MemoryRegion::create(pd_, pages.get(), length, access_flags);
	if (!region)
		return region.error();
	std::byte *const bytes = pages.get();
	const RemoteRegion told = region->remote();
	const std::uint32_t lkey = region->lkey();
	return Memory(
		bytes, told, lkey, std::make_shared<const Adopted>(Adopted{std::move(pages), *std::move(region)}));
}

Result<ListedMemory> VerbsCallDevice::allocate_listed(std::size_t length, const ListShape &shape, unsigned access_flags)
{
	Result<Buffer> buffer = Buffer::create(pd_, length, access_flags);
	if (!buffer)
		return buffer.error();
	const auto shared = std::make_shared<const Buffer>(*std::move(buffer));
	FreeListOptions options;
	options.buffer_size = shape.buffer_size;
	options.count = shape.count;
	Result<FreeList> list = FreeList::create(pd_, options, shared, shape.offset);
	if (!list)
		return list.error();
	return ListedMemory{memory_of(shared), std::make_unique<VerbsRequestList>(*std::move(list))};
}

Result<std::unique_ptr<Port>> VerbsCallDevice::open(const PortOptions &options)
{
	QueuePairOptions wanted;
	wanted.max_send_wr = options.max_send_wr;
	wanted.max_recv_wr = options.max_recv_wr;
	wanted.access_flags = options.access_flags;
	wanted.timeout = pd_.context().is_userspace() ? options.ack_timeout : prompt_timeout;
	wanted.srq = options.shared_receives ? pool_->queue() : nullptr;
	Result<QueuePair> pair = QueuePair::create(pd_, cq_, cq_, wanted);
	if (!pair)
		return pair.error();
	return std::unique_ptr<Port>(std::make_unique<VerbsPort>(*std::move(pair)));
}

Result<std::unique_ptr<VerbsReceivePool>> VerbsReceivePool::create(
	const ProtectionDomain &pd, std::size_t size, std::uint32_t count)
{
	Result<Buffer> buffer = Buffer::create(pd, size * count);
	if (!buffer)
		return buffer.error();
	ibv_srq_init_attr attr{};
	attr.attr.max_wr = count;
	attr.attr.max_sge = 1;
	ibv_srq *srq = ibv_create_srq(pd.raw(), &attr);
	if (!srq)
		return make_error(errno, "cannot create a receive queue", "max_srq_wr of ibv_devinfo -v is the limit");
	std::unique_ptr<VerbsReceivePool> pool(
		new VerbsReceivePool(memory_of(std::make_shared<const Buffer>(*std::move(buffer))), srq, size,
			count)); /* private constructor */
	std::vector<std::uint32_t> all(count);
	std::iota(all.begin(), all.end(), 0);
	if (const int error = pool->post(all))
		return make_error(error, "cannot post receives");
	return pool;
}

int VerbsReceivePool::post(std::span<const std::uint32_t> buffers) noexcept
{
	constexpr std::size_t chunk = 32;
	std::array<ibv_recv_wr, chunk> requests;
	std::array<ibv_sge, chunk> pieces;
	while (!buffers.empty()) {
		const std::size_t count = std::min(chunk, buffers.size());
		for (std::size_t i = 0; i < count; i++) {
			const LocalSlice piece = slice(buffers[i]);
			pieces[i] = {piece.address, piece.length, piece.lkey};
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
