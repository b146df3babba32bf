/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The two ends of a run, from device to connected queue pairs. */
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/exchange.hpp"
#include "common/layout.hpp"
#include "common/parameters.hpp"
#include "common/tcp.hpp"
#include "common/verbs.hpp"

namespace prism::perftest
{

/** Common part of both ends: a device and its queue pairs. */
class Endpoint
{
public:
	Endpoint(const Parameters &parameters_, const sockaddr_storage &local, Progress progress);

	/** Creates @p count queue pairs with @p requests work requests each, and one CQ for the completions of all. */
	void create_qps(std::uint32_t count, std::uint32_t requests, std::uint32_t inline_size);

	void connect(const Side &peer);

	[[nodiscard]] Side describe() const;
	[[nodiscard]] std::string device_name() const { return ibv_get_device_name(context_.get()->device); }

	/** Path MTU: that of the port before connect(), the smaller of both ports after it. */
	[[nodiscard]] std::uint16_t mtu() const { return path_mtu_; }

	[[nodiscard]] const prismdv_device_attr &prism_attributes() const { return prism_; }
	[[nodiscard]] const ibv_device_attr &attributes() const { return device_; }
	[[nodiscard]] ibv_context *verbs() const { return context_.get(); }
	[[nodiscard]] ibv_pd *domain() const { return pd_.get(); }
	[[nodiscard]] ibv_cq *completions() const { return cq_.get(); }
	[[nodiscard]] ibv_qp *qp(std::uint32_t index) const { return qps_[index].get(); }

private:
	[[nodiscard]] QueuePair create_qp(std::uint32_t requests, std::uint32_t inline_size) const;
	[[nodiscard]] std::uint8_t responder_depth() const;
	[[nodiscard]] std::uint8_t port() const { return static_cast<std::uint8_t>(parameters_.ib_port); }

	const Parameters &parameters_;
	Context context_;
	ibv_device_attr device_{};
	prismdv_device_attr prism_{};
	GidEntry gid_;
	std::uint16_t path_mtu_;
	CapabilityBytes capability_{};
	ProtectionDomain pd_;
	CompletionQueue cq_;
	std::vector<QueuePair> qps_;
	std::vector<std::uint32_t> psns_;
};

/** The end that measures. */
class Client
{
public:
	/** Connects to the server over TCP and opens the device. */
	explicit Client(const Parameters &wanted);

	/** Agrees with the server on everything and connects the queue pairs. */
	void start(const Geometry &plan, std::uint32_t requests_per_job);

	/** Gives buffers of the free list back: at most most_returned in each call. */
	void return_buffers(std::span<const std::uint64_t> addresses);

	/** Tells the server that the run is over, with the results as JSON. */
	void finish(const std::string &results);

	[[nodiscard]] const Parameters &parameters() const { return params_; }
	[[nodiscard]] Endpoint &endpoint() { return end_; }
	[[nodiscard]] const Endpoint &endpoint() const { return end_; }
	[[nodiscard]] const Layout &layout() const { return *remote_layout_; }
	[[nodiscard]] const Welcome &server() const { return welcome_; }

	/** Local memory of job @p job: results of contestant @p contestant, and message data. */
	[[nodiscard]] std::uint8_t *results(std::uint32_t contestant, std::uint32_t job) const;
	[[nodiscard]] std::uint8_t *data(std::uint32_t job) const;
	[[nodiscard]] std::uint32_t lkey() const { return region_->lkey; }

	static constexpr std::size_t results_size = 128;

private:
	void allocate_memory(const Geometry &plan);
	[[nodiscard]] std::uint64_t data_offset() const;

	const Parameters &params_;
	TcpConnection tcp_;
	Endpoint end_;
	std::unique_ptr<Layout> remote_layout_;
	std::unique_ptr<Arena> arena_;
	MemoryRegion region_;
	Welcome welcome_;
};

/** The end that is measured: its application sleeps while its device serves. */
class Server
{
public:
	/** @p client has just connected. */
	Server(const Parameters &wanted, TcpConnection client);

	/** Refuses with a reason or gets everything ready for the client. */
	void start();

	/** Serves until the client is done; returns its results as JSON. */
	[[nodiscard]] std::string serve();

	[[nodiscard]] const Endpoint &endpoint() const { return *end_; }
	[[nodiscard]] const Hello &client_hello() const { return hello_; }

private:
	void receive_hello();
	void prepare();
	void lay_out_memory();
	void fill_cell(std::uint32_t contestant, std::uint32_t job);
	void create_scratch();
	void create_free_list();
	void post_buffers(std::span<const std::uint64_t> addresses);
	void take_back(const Frame &frame);
	[[nodiscard]] std::uint64_t address_of(std::uint64_t offset) const;

	const Parameters &params_;
	TcpConnection tcp_;
	Hello hello_;
	std::unique_ptr<Endpoint> end_;
	std::unique_ptr<Layout> layout_;
	std::unique_ptr<Arena> arena_;
	MemoryRegion region_;
	DeviceMemory scratch_;
	MemoryRegion scratch_region_;
	SharedReceiveQueue free_list_;
	std::uint32_t free_list_number_ = 0;
};

} // namespace prism::perftest
