/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The server's side of the RPC layer: connections, worker threads, and everything that a peer can get wrong below the
 * messages. What these mean is a CallHandler's.
 */
#pragma once

#include "common/descriptor.hpp"
#include "rpc/call_handler.hpp"
#include "rpc/header.hpp"
#include "service/hello.hpp"
#include "service/histogram.hpp"
#include "service/log.hpp"
#include "service/memory.hpp"
#include "service/reception.hpp"

#include <prism/prism.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <poll.h>
#include <span>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <vector>

namespace prism::rpc
{

struct ServerOptions {
	std::string address;                 /**< to listen on; empty: all */
	std::uint16_t port = 0;              /**< 0: any, see Server::port() */
	unsigned threads = 1;                /**< workers */
	std::uint32_t max_key_size = 256;    /**< bytes; at most 65,535 */
	std::uint32_t max_value_size = 8192; /**< bytes; with the longest key and 24 bytes at most 65,536 */
	std::uint32_t max_depth = 64;        /**< calls under way on one connection */
	std::uint32_t max_connections = 64;
	/** For all connections, each as long as the longest request. A client is promised as many as it announces
	 * calls at once; one that would be promised more than are left is refused. */
	std::uint32_t receive_buffers = 1024;
	/** How long a worker without work looks for more before it naps; on a device that only its callers drive it
	 * must never nap (duration::max()). */
	std::chrono::nanoseconds spin = std::chrono::microseconds(200);
	std::chrono::nanoseconds max_nap = std::chrono::microseconds(200); /**< naps grow up to this */
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(2); /**< of one client; others do not wait */
	bool timed = false; /**< fill in ServerStats::handling, which reads the clock twice for each call */
	/** Receives why a connection was refused or closed, from any of the server's threads; null: standard error. */
	apps::LogSink log;
};

struct ServerStats {
	std::uint64_t connections = 0; /**< accepted so far */
	std::uint64_t open = 0;        /**< of these, not closed */
	std::uint64_t refused = 0;     /**< clients of another kind, too many or too deep, or whose set-up failed */
	std::uint64_t requests = 0;    /**< executed */
	std::uint64_t malformed = 0;   /**< messages for which the connection was closed */
	std::uint64_t vanished = 0;    /**< connections that failed in the device */
	/** ServerOptions::timed: how long a worker was busy with each executed call, from its request to its response.
	 */
	apps::Histogram handling{apps::buckets::durations};
};

/** What a store adds to the introduction of a server. */
struct StoreIdentity {
	apps::StoreKind kind = {};
	std::vector<std::byte> own;      /**< follows the Hello */
	std::vector<RegionInfo> regions; /**< what clients may read */
	unsigned access_flags = 0;       /**< of the queue pairs: what clients may do by themselves */
	/** The longest request and response; 0: what the header, the longest key and the longest value need. */
	std::uint32_t message_size = 0;
};

class Worker;

class Server final : private apps::Reception::Host
{
public:
	/**
	 * Listens, but serves only in run(). @p handler must outlive the server. Errors: EINVAL (options that
	 * contradict each other), or what the device and the sockets give.
	 */
	static Result<std::unique_ptr<Server>> create(
		const ProtectionDomain &pd_, CallHandler &handler_, StoreIdentity identity_, ServerOptions options);
	/** Whether create() would take these options, before memory is filled for it. Errors: EINVAL. */
	static Result<void> check(const StoreIdentity &identity_, const ServerOptions &options);
	/**
	 * Logs what memory a server takes for messages beside @p store, the plan of its store, and checks the sum: see
	 * apps::announce_memory(). @p message_size: that of StoreIdentity.
	 */
	static Result<void> announce_memory(apps::MemoryPlan store, const Context &context, std::uint32_t message_size,
		const ServerOptions &options);
	~Server() override;
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;

	[[nodiscard]] std::uint16_t port() const noexcept { return reception_->port(); }

	/** Serves until stop(), then closes all connections. Once. Errors: EALREADY, or those of poll(2). */
	Result<void> run();

	/** Makes run() return, now or once it is called. From any thread, and from signal handlers. */
	void stop() noexcept;

	/** From any thread; counts of different kinds may be of slightly different moments. */
	[[nodiscard]] ServerStats stats() const noexcept;

private:
	friend class Worker;
	struct Connection;
	class PendingConnection;
	struct SrqDestroy {
		void operator()(ibv_srq *srq) const noexcept { ibv_destroy_srq(srq); }
	};

	Server(const ProtectionDomain &domain, CallHandler &calls, StoreIdentity identity_, ServerOptions options,
		std::unique_ptr<apps::Reception> clients, Buffer buffers, ibv_srq *srq);
	Result<void> create_workers();
	static std::size_t request_size(std::uint32_t message_size, const ServerOptions &options) noexcept
	{
		return message_size ? message_size
				    : message_header_size + options.max_key_size + options.max_value_size;
	}
	static std::size_t response_size(std::uint32_t message_size, const ServerOptions &options) noexcept
	{
		const std::size_t longest = message_size ? message_size : message_header_size + options.max_value_size;
		return (longest + 63) / 64 * 64;
	}
	[[nodiscard]] std::size_t request_size() const noexcept
	{
		return request_size(identity_.message_size, settings_);
	}
	[[nodiscard]] std::size_t response_size() const noexcept
	{
		return response_size(identity_.message_size, settings_);
	}
	[[nodiscard]] std::size_t connections_of_worker() const noexcept
	{
		return (settings_.max_connections + settings_.threads - 1) / settings_.threads;
	}
	int post_receives(std::span<const std::uint32_t> slots) noexcept;
	[[nodiscard]] std::span<const std::byte> receive_buffer(std::uint64_t slot, std::uint32_t length) const noexcept
	{
		return {receive_memory_.data() + slot * request_size(), length};
	}
	Result<std::unique_ptr<apps::Reception::AcceptedConnection>> on_connect(
		const apps::Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine) override;
	void refused(const Error &why) noexcept override;
	[[nodiscard]] Result<std::uint32_t> promise(const ConnectionRecord &theirs) const;
	Result<std::shared_ptr<Connection>> connect(
		const apps::Reception::Link &link, const Endpoint &peer, std::uint32_t calls, Worker &worker);
	Worker *least_loaded() noexcept;
	void part(const std::shared_ptr<Connection> &connection);
	void drop_departed(std::span<const pollfd> links);
	Result<void> serve();
	void log(apps::LogLevel level, const std::string &message) const;

	ProtectionDomain pd_;
	CallHandler &handler_;
	StoreIdentity identity_;
	ServerOptions settings_;
	Buffer receive_memory_;
	std::unique_ptr<ibv_srq, SrqDestroy> srq_handle_; /* outlives the queue pairs below */
	std::vector<std::unique_ptr<Worker>> workers_;
	/* Of the thread in run() */
	std::vector<std::shared_ptr<Connection>> connections_;
	std::uint32_t met_ = 0;      /* connections, and clients that are not ready yet */
	std::uint32_t promised_ = 0; /* receive buffers, to these */
	std::unique_ptr<apps::Reception> reception_;
	apps::Descriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}; /* for run() */
	std::atomic<bool> stopping_{false};
	std::atomic<bool> ran_{false};
	std::atomic<std::uint64_t> accepted_{0};
	std::atomic<std::uint64_t> open_now_{0};
	std::atomic<std::uint64_t> refused_clients_{0};
};

} // namespace prism::rpc
