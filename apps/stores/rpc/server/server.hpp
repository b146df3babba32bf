/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The server's side of the RPC layer: connections, worker threads, and the checks of everything below the messages. A
 * CallHandler interprets the messages.
 */
#pragma once

#include "base/descriptor.hpp"
#include "rpc/call_handler.hpp"
#include "rpc/protocol/header.hpp"
#include "rpc/server/server_options.hpp"
#include "rpc/server/server_way.hpp"
#include "rpc/server/worker.hpp"
#include "service/hello.hpp"
#include "service/histogram.hpp"
#include "service/memory.hpp"
#include "service/reception.hpp"

#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/result.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <poll.h>
#include <span>
#include <string>
#include <sys/eventfd.h>
#include <vector>

namespace prism::rpc
{

struct ServerStats {
	std::uint64_t connections = 0; /**< accepted so far */
	std::uint64_t open = 0;        /**< of these, still open */
	std::uint64_t refused = 0;     /**< clients of another kind, too many or too deep, or whose set-up failed */
	std::uint64_t requests = 0;    /**< executed */
	std::uint64_t malformed = 0;   /**< messages for which the connection was closed */
	std::uint64_t vanished = 0;    /**< connections that failed in the device */
	std::uint64_t repeated = 0;    /**< calls of clients that came back, answered with kept responses */
	/**
	 * ServerOptions::timed: time that a worker was busy with each executed call, from its request to its response.
	 */
	apps::Histogram handling{apps::buckets::durations};
};

/** A store's additions to the introduction of a server. */
struct StoreIdentity {
	apps::StoreKind kind = {};
	std::vector<std::byte> own;      /**< follows the Hello */
	std::vector<RegionInfo> regions; /**< regions that clients may read */
	unsigned access_flags = 0;       /**< of the queue pairs: direct accesses that clients may make */
	/** Bytes of the longest request and response; 0: as the header, the longest key and the longest value need. */
	std::uint32_t message_size = 0;
};

class Server final : private apps::Reception::Host
{
public:
	/**
	 * Listens, but serves only in run(). @p handler must outlive the server. Errors: EINVAL (options that
	 * contradict each other), or those of the device and the sockets.
	 */
	static Result<std::unique_ptr<Server>> create(
		const ProtectionDomain &pd_, CallHandler &handler_, StoreIdentity identity_, ServerOptions options);
	/** Checks that create() would take these options, before memory is filled for it. Errors: EINVAL. */
	static Result<void> check(const StoreIdentity &identity_, const ServerOptions &options);
	/**
	 * Logs the memory that a server needs for messages beside @p store, the plan of its store, and checks the sum:
	 * see apps::announce_memory(). @p message_size: that of StoreIdentity.
	 */
	static Result<void> announce_memory(apps::MemoryPlan store, const Context &context, std::uint32_t message_size,
		const ServerOptions &options);
	/** Returns the bytes that a server needs for messages, by that plan. */
	[[nodiscard]] static std::uint64_t planned_memory(std::uint32_t message_size, const ServerOptions &options);
	~Server() override;
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;

	[[nodiscard]] std::uint16_t port() const noexcept { return reception_->port(); }

	/** Serves until stop(), then closes all connections. Once. Errors: EALREADY, or those of poll(2). */
	Result<void> run();

	/** Makes run() return, now or once it is called. From any thread, and from signal handlers. */
	void stop() noexcept;

	/** Returns the statistics. From any thread; different counts may be of slightly different moments. */
	[[nodiscard]] ServerStats stats() const noexcept;

private:
	class PendingConnection;

	Server(const ProtectionDomain &domain, CallHandler &calls, StoreIdentity identity, ServerOptions options,
		std::unique_ptr<apps::Reception> clients, ServerWay way);
	Result<void> create_workers();
	static ChannelSizes sizes(std::uint32_t message_size, const ServerOptions &options) noexcept;
	[[nodiscard]] const ServerOptions &settings() const noexcept { return state_.settings; }
	Result<std::unique_ptr<apps::Reception::AcceptedConnection>> on_connect(
		const apps::Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine) override;
	void refused(const Error &why) noexcept override;
	[[nodiscard]] Result<std::uint32_t> announced(const ConnectionRecord &theirs) const;
	[[nodiscard]] Result<void> check_room(std::uint32_t calls) const;
	/** Last place of a client that may come back. */
	struct Seen {
		std::uint32_t worker = 0;
		std::weak_ptr<Connection> connection;
		std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
	};

	Result<Introduction> introduction(const ConnectionRecord &theirs) const;
	Result<std::uint32_t> assign(const Introduction &client);
	Result<std::uint32_t> find_again(const Introduction &client);
	void forget_seen();
	Result<std::shared_ptr<Connection>> connect(const apps::Reception::Link &link, const ConnectionRecord &theirs,
		const Introduction &client, const SessionPlace &place, ConnectionRecord &mine);
	void part(const std::shared_ptr<Connection> &connection);
	void drop_departed(std::span<const pollfd> links);
	Result<void> serve();

	ProtectionDomain pd_;
	CallHandler &handler_;
	StoreIdentity identity_;
	ServerState state_;
	ServerWay way_; /* declared before the workers, whose channels it outlives */
	std::vector<std::unique_ptr<Worker>> workers_;
	/* Of the thread in run() */
	std::vector<std::shared_ptr<Connection>> connections_;
	std::map<ClientId, Seen> seen_;
	std::uint32_t met_ = 0;      /* connections, including clients that are not ready yet */
	std::uint32_t promised_ = 0; /* receive buffers promised to these */
	std::unique_ptr<apps::Reception> reception_;
	Descriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}; /* for run() */
	std::atomic<bool> ran_{false};
	std::atomic<std::uint64_t> accepted_{0};
	std::atomic<std::uint64_t> open_now_{0};
	std::atomic<std::uint64_t> refused_clients_{0};
};

} // namespace prism::rpc
