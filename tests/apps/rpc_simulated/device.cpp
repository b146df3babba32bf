/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "device.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "spoiler.hpp"

namespace rpc_sim
{

using prism::Result;
using simulation::domain;

namespace
{

/* Start of the addresses. Not the process' addresses, so that a run does not depend on where its memory lies. */
constexpr std::uint64_t first_va = 0x1000'0000;
constexpr std::uint64_t page = 4096;

/** Unit of allocated memory. */
struct alignas(64) Line {
	std::array<std::byte, 64> bytes{};
};

/** Registration, which lasts as long as the last copy of its Memory. */
struct Registered {
	Registered(
		test::Node &of, std::shared_ptr<std::byte> bytes, std::uint64_t va, std::size_t length, unsigned rights)
		: node(of), pages(std::move(bytes)),
		  key(of.engine.memory.add_region(
			  reinterpret_cast<std::uint8_t *>(pages.get()), va, length, rights, domain))
	{
	}
	~Registered() { node.engine.memory.remove(key); }
	Registered(const Registered &) = delete;
	Registered &operator=(const Registered &) = delete;

	test::Node &node;
	std::shared_ptr<std::byte> pages;
	std::uint32_t key;
};

} // namespace

/** Port of a device, which lists it while it exists. */
class Port final : public rpc::Port
{
public:
	Port(Device &device, const rpc::PortOptions &options)
		: device_(device), access_(options.access_flags),
		  pair_(device.node_,
			  {.max_send_wr = options.max_send_wr, .max_recv_wr = std::max(options.max_recv_wr, 1U)})
	{
		if (options.shared_receives)
			pair_.endpoint.qp.srq = &device.pool_->queue();
		std::memcpy(local_.gid.raw, device.node_.address.gid.data(), sizeof(local_.gid.raw));
		local_.capability.bytes[0] = 1; /* it speaks PRISM */
		local_.qp_num = pair_.endpoint.qp.qpn;
		local_.psn = static_cast<std::uint32_t>(device.around_.random().bits()) & PRISM_PSN_MASK;
		device_.ports_.push_back(this);
	}
	~Port() override { std::erase(device_.ports_, this); }
	Port(const Port &) = delete;
	Port &operator=(const Port &) = delete;

	[[nodiscard]] const prism::Endpoint &endpoint() const noexcept override { return local_; }
	Result<void> connect(const prism::Endpoint &peer) override
	{
		test::ConnectOptions options;
		options.mtu = device_.options_.mtu;
		options.ack_timeout = device_.options_.ack_timeout;
		options.access = access_;
		options.send_psn = local_.psn;
		options.recv_psn = peer.psn;
		soft::Address address;
		std::memcpy(address.gid.data(), peer.gid.raw, sizeof(peer.gid.raw));
		pair_.endpoint.connect(address, peer.qp_num, options);
		return {};
	}
	[[nodiscard]] bool peer_speaks_prism() const noexcept override { return true; }
	[[nodiscard]] std::uint32_t max_inline_data() const noexcept override
	{
		return test::EndpointOptions{}.max_inline;
	}
	int post(ibv_send_wr *first) noexcept override
	{
		ibv_send_wr *const list = device_.spoiler ? device_.spoiler->on_post(device_, first) : first;
		point_at_bytes(list);
		return pair_.post(list);
	}
	int post_chain(const prism::Chain &chain, std::uint64_t wr_id) noexcept override
	{
		return pair_.post(chain, wr_id);
	}
	int post_receive(std::uint64_t wr_id, prism::LocalSlice into) noexcept override
	{
		const soft::Sge sge{into.address, into.length, into.lkey};
		return pair_.endpoint.post_receive(wr_id, {&sge, 1}) ? 0 : ENOMEM;
	}
	void fail() noexcept override { device_.node_.engine.fail_qp(pair_.endpoint.qp); }

	bool poll(prism::Completion &completion) noexcept
	{
		ibv_wc wc;
		if (pair_.endpoint.recv_cq.poll(1, &wc) != 1 && pair_.endpoint.send_cq.poll(1, &wc) != 1)
			return false;
		completion = prism::to_completion(wc);
		return true;
	}
	[[nodiscard]] bool has_completions() const noexcept
	{
		return !pair_.endpoint.send_cq.empty() || !pair_.endpoint.recv_cq.empty();
	}

private:
	/** Replaces addresses of inline data by the process' own. */
	void point_at_bytes(ibv_send_wr *list) const noexcept
	{
		for (; list; list = list->next) {
			if (!list->num_sge || !(list->send_flags & IBV_SEND_INLINE))
				continue;
			if (const std::byte *const bytes = device_.at(list->sg_list->addr))
				list->sg_list->addr = reinterpret_cast<std::uintptr_t>(bytes);
		}
	}

	Device &device_;
	const unsigned access_;
	simulation::Pair pair_;
	prism::Endpoint local_;
};

/** Free list of a simulation, as channels see it. */
class Device::List final : public rpc::RequestList
{
public:
	List(Device &device, const rpc::Memory &memory, const rpc::ListShape &shape)
		: device_(device), first_(memory.remote().at(shape.offset)),
		  list_(device.node_.engine, first_.address, first_.rkey, shape.buffer_size, shape.count, true)
	{
		device_.list_ = &list_;
	}
	~List() override { device_.list_ = nullptr; }
	List(const List &) = delete;
	List &operator=(const List &) = delete;

	[[nodiscard]] prism::FreeListInfo info() const noexcept override
	{
		return {list_.number(), list_.size(),
			{first_.address, std::uint64_t{list_.size()} * list_.buffers(), first_.rkey}};
	}
	void give_back(std::span<const std::uint64_t> addresses) noexcept override
	{
		list_.refresh();
		for (const std::uint64_t address : addresses)
			list_.release(address);
		list_.post_released();
	}
	bool mark() noexcept override
	{
		list_.refresh();
		if (!list_.exact())
			return false;
		list_.mark();
		return true;
	}
	void spare(std::uint64_t address) noexcept override { list_.spare(address); }
	void collect() noexcept override { (void)list_.collect(); }

private:
	Device &device_;
	const prism::RemoteAddress first_;
	simulation::List list_;
};

Device::Pool::Pool(Device &device, rpc::Memory memory, std::size_t size, std::uint32_t count)
	: ReceivePool(std::move(memory), size, count), node_(device.node_), around_(device.around_),
	  queue_(node_.engine.take_srqn(), domain, count, 1, false)
{
	node_.engine.add_srq(queue_);
	device.pool_ = this;
	std::vector<std::uint32_t> all(count);
	std::iota(all.begin(), all.end(), 0);
	post(all);
}

Device::Pool::~Pool()
{
	node_.engine.remove_srq(queue_);
}

int Device::Pool::post(std::span<const std::uint32_t> buffers) noexcept
{
	for (const std::uint32_t buffer : buffers) {
		const prism::LocalSlice piece = slice(buffer);
		const soft::Sge place{piece.address, piece.length, piece.lkey};
		if (!queue_.queue.post(buffer, {&place, 1}))
			around_.find("a receive buffer is posted twice");
	}
	return 0;
}

Device::Device(test::Node &node, Around &around, const DeviceOptions &options)
	: node_(node), around_(around), options_(options), next_va_(first_va)
{
}

Device::~Device() = default;

std::unique_ptr<Device::Pool> Device::make_pool(std::size_t size, std::uint32_t count)
{
	return std::make_unique<Pool>(*this, *allocate(size * count, prism::access::local), size, count);
}

bool Device::has_completions() const noexcept
{
	return std::ranges::any_of(ports_, [](const Port *port) { return port->has_completions(); });
}

void Device::fail() noexcept
{
	for (Port *const port : ports_)
		port->fail();
}

std::byte *Device::at(std::uint64_t va) const noexcept
{
	const auto place = std::ranges::find_if(
		places_, [va](const Place &one) { return va >= one.va && va - one.va < one.length; });
	return place == places_.end() ? nullptr : place->bytes + (va - place->va);
}

Result<rpc::Memory> Device::allocate(std::size_t length, unsigned access_flags)
{
	const std::size_t count = (length + sizeof(Line) - 1) / sizeof(Line);
	const auto lines = std::make_shared<std::vector<Line>>(count);
	return adopt({lines, lines->front().bytes.data()}, length, access_flags);
}

Result<rpc::Memory> Device::adopt(std::shared_ptr<std::byte> pages, std::size_t length, unsigned access_flags)
{
	const std::uint64_t va = next_va_;
	next_va_ += (length + 2 * page - 1) / page * page; /* followed by a page that belongs to nobody */
	std::byte *const bytes = pages.get();
	places_.push_back({va, bytes, length});
	auto registered = std::make_shared<const Registered>(node_, std::move(pages), va, length, access_flags);
	const std::uint32_t key = registered->key;
	return rpc::Memory(bytes, {va, length, key}, key, std::move(registered));
}

Result<rpc::ListedMemory> Device::allocate_listed(
	std::size_t length, const rpc::ListShape &shape, unsigned access_flags)
{
	Result<rpc::Memory> memory = allocate(length, access_flags);
	if (!memory)
		return memory.error();
	auto list = std::make_unique<List>(*this, *memory, shape);
	return rpc::ListedMemory{*std::move(memory), std::move(list)};
}

Result<std::unique_ptr<rpc::Port>> Device::open(const rpc::PortOptions &options)
{
	return std::unique_ptr<rpc::Port>(std::make_unique<Port>(*this, options));
}

int Device::poll(std::span<prism::Completion> completions) noexcept
{
	std::size_t got = 0;
	const std::size_t count = ports_.size();
	first_port_++;
	for (std::size_t i = 0; i < count; i++) {
		Port &port = *ports_[(first_port_ + i) % count];
		while (got < completions.size() && port.poll(completions[got]))
			got++;
	}
	return static_cast<int>(got);
}

rpc::CallDevice::Clock::time_point Device::now() const noexcept
{
	return Clock::time_point(std::chrono::nanoseconds(around_.time() + busy_));
}

} // namespace rpc_sim
