/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rpc/device/call_device.hpp"
#include "rpc/server/receive_pool.hpp"
#include "simulation/list.hpp"
#include "simulation/pair.hpp"
#include "simulation/surroundings.hpp"

namespace rpc_sim
{

namespace rpc = prism::rpc;
namespace soft = prism::soft;
namespace test = prism::test;

/** Virtual time, and other services of the world that a device needs. */
class Around
{
public:
	virtual ~Around() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	virtual prism::test::Random &random() = 0;
	virtual void find(const std::string &what) = 0;
};

struct DeviceOptions {
	std::uint32_t mtu = 1024;
	soft::Time ack_timeout = 1'000'000; /* ns */
};

class Port;
class Spoiler;

/** Memory, queue pairs and completions on a simulated node: rpc::VerbsCallDevice without libibverbs. */
class Device final : public rpc::CallDevice
{
public:
	Device(test::Node &node, Around &around, const DeviceOptions &options);
	~Device() override;
	Device(const Device &) = delete;
	Device &operator=(const Device &) = delete;

	/** Makes the receives of ports with shared ones, @p count of @p size bytes. */
	class Pool;
	std::unique_ptr<Pool> make_pool(std::size_t size, std::uint32_t count);

	/** Returns true if a completion waits. */
	[[nodiscard]] bool has_completions() const noexcept;
	/** Returns the memory at @p va; null if there is none. */
	[[nodiscard]] std::byte *at(std::uint64_t va) const noexcept;
	/** Returns the list that allocate_listed() has made; null if it has made none. */
	[[nodiscard]] simulation::List *list() const noexcept { return list_; }
	/** Makes all queue pairs fail. */
	void fail() noexcept;
	/** Keeps the processor busy for @p time more; the clock includes that until the turn is over. */
	void be_busy(soft::Time time) noexcept { busy_ += time; }
	soft::Time end_turn() noexcept { return std::exchange(busy_, 0); }

	Spoiler *spoiler = nullptr; /* sees all requests before they are posted */

	/* CallDevice */
	prism::Result<rpc::Memory> allocate(std::size_t length, unsigned access_flags) override;
	prism::Result<rpc::Memory> adopt(
		std::shared_ptr<std::byte> pages, std::size_t length, unsigned access_flags) override;
	prism::Result<rpc::ListedMemory> allocate_listed(
		std::size_t length, const rpc::ListShape &shape, unsigned access_flags) override;
	prism::Result<std::unique_ptr<rpc::Port>> open(const rpc::PortOptions &options) override;
	int poll(std::span<prism::Completion> completions) noexcept override;
	void leave_alone() noexcept override {}
	[[nodiscard]] Clock::time_point now() const noexcept override;

private:
	friend class Port;
	class List;
	struct Place {
		std::uint64_t va = 0;
		std::byte *bytes = nullptr;
		std::uint64_t length = 0;
	};

	test::Node &node_;
	Around &around_;
	const DeviceOptions options_;
	std::uint64_t next_va_;
	std::vector<Place> places_;
	std::vector<Port *> ports_;
	std::size_t first_port_ = 0; /* the port that poll() looks at first */
	Pool *pool_ = nullptr;
	simulation::List *list_ = nullptr;
	soft::Time busy_ = 0;
};

/** Shared receive queue and its buffers. */
class Device::Pool final : public rpc::ReceivePool
{
public:
	Pool(Device &device, rpc::Memory memory, std::size_t size, std::uint32_t count);
	~Pool() override;

	int post(std::span<const std::uint32_t> buffers) noexcept override;
	[[nodiscard]] soft::SharedReceiveQueue &queue() noexcept { return queue_; }

private:
	test::Node &node_;
	Around &around_;
	soft::SharedReceiveQueue queue_;
};

} // namespace rpc_sim
