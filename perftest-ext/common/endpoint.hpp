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

/** What both ends have: a device, its queue pairs and where they are reached. */
class Endpoint
{
public:
	Endpoint(const Parameters &parameters, const sockaddr_storage &local, Progress progress);

	/** Creates @p count queue pairs with @p requests work requests each; one CQ that holds the completions of all.
	 */
	void create_qps(std::uint32_t count, std::uint32_t requests, std::uint32_t inline_size);

	void connect(const Side &peer);

	[[nodiscard]] Side describe() const;
	[[nodiscard]] std::string device_name() const { return ibv_get_device_name(context.get()->device); }

	/** The path MTU: that of the port before connect(), the smaller of both ports after it. */
	[[nodiscard]] std::uint16_t mtu() const { return path_mtu; }

	[[nodiscard]] const prismdv_device_attr &prism_attributes() const { return prism; }
	[[nodiscard]] const ibv_device_attr &attributes() const { return device; }
	[[nodiscard]] ibv_context *verbs() const { return context.get(); }
	[[nodiscard]] ibv_pd *domain() const { return pd.get(); }
	[[nodiscard]] ibv_cq *completions() const { return cq.get(); }
	[[nodiscard]] ibv_qp *qp(std::uint32_t index) const { return qps[index].get(); }

private:
	[[nodiscard]] QueuePair create_qp(std::uint32_t requests, std::uint32_t inline_size) const;
	[[nodiscard]] std::uint8_t responder_depth() const;
	[[nodiscard]] std::uint8_t port() const { return static_cast<std::uint8_t>(parameters.ib_port); }

	const Parameters &parameters;
	Context context;
	ibv_device_attr device{};
	prismdv_device_attr prism{};
	GidEntry gid;
	std::uint16_t path_mtu;
	CapabilityBytes capability{};
	ProtectionDomain pd;
	CompletionQueue cq;
	std::vector<QueuePair> qps;
	std::vector<std::uint32_t> psns;
};

/** The end that measures. */
class Client
{
public:
	/** Connects to the server over TCP and opens the device. */
	explicit Client(const Parameters &wanted);

	/** Agrees with the server on everything and connects the queue pairs. */
	void start(const Geometry &plan, std::uint32_t requests_per_job);

	/** Gives buffers of the free list back: at most most_returned at a time. */
	void return_buffers(std::span<const std::uint64_t> addresses);

	/** Tells the server that the run is over, with the results as JSON. */
	void finish(const std::string &results);

	[[nodiscard]] const Parameters &parameters() const { return params; }
	[[nodiscard]] Endpoint &endpoint() { return end; }
	[[nodiscard]] const Endpoint &endpoint() const { return end; }
	[[nodiscard]] const Layout &layout() const { return *remote_layout; }
	[[nodiscard]] const Welcome &server() const { return welcome; }

	/** Local memory of job @p job: results of contestant @p contestant, and message data. */
	[[nodiscard]] std::uint8_t *results(std::uint32_t contestant, std::uint32_t job) const;
	[[nodiscard]] std::uint8_t *data(std::uint32_t job) const;
	[[nodiscard]] std::uint32_t lkey() const { return region->lkey; }

	static constexpr std::size_t results_size = 128;

private:
	void allocate_memory(const Geometry &plan);
	[[nodiscard]] std::uint64_t data_offset() const;

	const Parameters &params;
	TcpConnection tcp;
	Endpoint end;
	std::unique_ptr<Layout> remote_layout;
	std::unique_ptr<Arena> arena;
	MemoryRegion region;
	Welcome welcome;
};

/** The end that is measured: its application sleeps while its device serves. */
class Server
{
public:
	/** @p client has just connected. */
	Server(const Parameters &wanted, TcpConnection client);

	/** Refuses with a reason or gets everything ready for the client. */
	void start();

	/** Serves until the client is done; gives its results as JSON. */
	[[nodiscard]] std::string serve();

	[[nodiscard]] const Endpoint &endpoint() const { return *end; }
	[[nodiscard]] const Hello &client_hello() const { return hello; }

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

	const Parameters &params;
	TcpConnection tcp;
	Hello hello;
	std::unique_ptr<Endpoint> end;
	std::unique_ptr<Layout> layout;
	std::unique_ptr<Arena> arena;
	MemoryRegion region;
	DeviceMemory scratch;
	MemoryRegion scratch_region;
	SharedReceiveQueue free_list;
	std::uint32_t free_list_number = 0;
};

} // namespace prism::perftest
