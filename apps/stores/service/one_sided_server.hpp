/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/free_list.hpp>
#include <prism/result.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "service/control.hpp"
#include "service/histogram.hpp"
#include "service/log.hpp"
#include "service/memory.hpp"
#include "service/reception.hpp"
#include "service/recovery.hpp"
#include "service/service.hpp"
#include "service/store_core.hpp"
#include "service/verbs_device.hpp"

namespace prism
{
class Chain;
}

namespace prism::apps
{

struct OneSidedServerOptions {
	std::string address;    /**< to listen on; empty: all */
	std::uint16_t port = 0; /**< 0: any, see OneSidedServer::port() */
	std::uint32_t max_connections = 64;
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(2); /**< of one client; others do not wait */
	/** Time without an answer to a recovery scan after which a client is cut off; 0: never. */
	std::chrono::milliseconds answer_timeout = std::chrono::seconds(60);
	/** Delay before a recovery scan that was put off is tried again. */
	std::chrono::milliseconds recovery_interval = std::chrono::seconds(1);
	/** Receives events of connections, and the memory before it is taken; null: standard error. */
	LogSink log;
};

struct OneSidedServerStats {
	std::uint64_t connections = 0; /**< accepted so far */
	std::uint64_t open = 0;        /**< of these, not closed */
	std::uint64_t refused = 0;     /**< clients of another kind, one too many, or whose set-up failed */
	/** Time that the server was busy with each message of a client's control channel. */
	Histogram messages{buckets::durations};
};

/**
 * The server of a store that clients read and write only by PRISM requests. It does the work that clients cannot do
 * themselves: it sets up connections, each with a scratch, returns freed buffers to their lists, and recovers lost
 * ones. It executes no client's operations. The derived class defines the meaning of the memory. Construct, serve() on
 * one thread, stop() from any.
 *
 * StoreCore makes the decisions, and VerbsDevice does the device's part: this class adds the sockets, the clock and the
 * thread.
 */
class OneSidedServer : public Service, protected StoreCore, private Reception::Host
{
public:
	~OneSidedServer() override;

	/* Service */
	[[nodiscard]] std::uint16_t port() const noexcept override { return reception_->port(); }
	Result<void> serve() override;
	/** Tells clients over their control channels (ControlKind::stop); they close them. */
	void drain(std::chrono::milliseconds limit) noexcept override;
	void stop() noexcept override { stopping_ = true; }
	[[nodiscard]] std::string final_stats() override;
	void collect(std::vector<Metric> &metrics) const override;

	/** True if clients have come and gone, and no scan for lost buffers is due or under way. Any thread. */
	[[nodiscard]] bool deserted() const noexcept { return deserted_; }

	/* On the thread of serve(), or while it does not run. */

	[[nodiscard]] const OneSidedServerStats &stats() const noexcept { return stats_; }
	[[nodiscard]] const RecoveryStats &recovery_stats() const noexcept { return recovery().stats(); }
	/** Returns all figures as JSON. */
	[[nodiscard]] virtual std::string stats_json() const = 0;
	/** Returns the number of buffers of all lists that are neither allocatable nor on their way there. */
	[[nodiscard]] std::uint64_t buffers_in_use();

protected:
	/** Contents of the region beside scratches. */
	struct Layout {
		std::size_t slot_bytes = 0;     /**< bytes of the slots, which begin the region */
		std::string slots;              /**< name of the slots, for people: "table" */
		std::vector<BufferClass> lists; /**< one free list each */
		std::string to_need_less;       /**< options to change if this is more than the machine has */
	};
	/** The parts that create() of a derived class makes first. */
	struct Parts {
		std::unique_ptr<VerbsDevice> device;
		RegionLayout layout;
		std::unique_ptr<Reception> reception;
	};
	/** A connection's part of the store; introduce() tells the client. */
	struct Place {
		std::uint32_t number = 0; /* of the connection: never used again */
		RemoteRegion scratch;     /* 32 bytes, aligned to 32 */
	};

	/**
	 * @p hello: kind and version. Logs the memory that this takes. Errors: ENOMEM (the machine has less, or less
	 * that this process may take), those of TcpListener::create().
	 */
	static Result<Parts> make_parts(
		const Context &context, const Hello &hello, Layout layout, const OneSidedServerOptions &options);
	/** Returns the bytes that @p list needs beside its buffers, here and on the userspace device. */
	static std::uint64_t bookkeeping_bytes(const BufferClass &list) noexcept;
	OneSidedServer(Parts parts, OneSidedServerOptions options);
	/** Makes the free lists: once, before serve(). Errors: those of FreeList::create(). */
	Result<void> make_lists();

	/**
	 * Handles a client's record: fills in @p mine with the data of the store. Its free lists are there already; its
	 * endpoint is set afterwards. Errors refuse the client; ENODATA says that the store is not ready yet.
	 */
	virtual Result<void> introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine) = 0;
	/**
	 * Handles a message of a kind that this class does not know, from connection @p number. Returns 0, with
	 * @p answer filled in if there is one, or an errno: the client is cut off.
	 */
	virtual int hear(
		std::uint32_t number, const ControlMessage &message, std::optional<ControlMessage> &answer) = 0;

	/**
	 * Called when the client of connection @p number is ready; after this returns, it is told that this side is,
	 * too. Before, it was only introduced, and may have been anybody who has said a few words.
	 */
	virtual void entered(std::uint32_t /*number*/) {}
	/** Called when connection @p number, which had entered, has ended, with its queue pair. */
	virtual void ended(std::uint32_t /*number*/) {}
	/** Called every few milliseconds at least. */
	virtual void look_around() {}
	/** Sends @p message to connection @p number. Returns false if it is not there. */
	bool tell(std::uint32_t number, const ControlMessage &message);
	/** Returns the numbers of all open connections. */
	[[nodiscard]] std::vector<std::uint32_t> present() const;

	/**
	 * Ends all connections but @p except, and clients on their way: without their queue pairs nothing of theirs is
	 * executed any more.
	 */
	void drop_clients(std::uint32_t except = 0);
	/** Ends connection @p number, likewise. */
	void drop_client(std::uint32_t number);

	[[nodiscard]] const Buffer &memory() const noexcept { return device_->memory(); }
	/** Posts @p chain to the store's own queue pair and waits: CPU stores are not atomic to the clients' requests.
	 */
	bool run_on_self(const Chain &chain) { return device_->run_on_self(chain); }
	[[nodiscard]] const std::deque<FreeList> &lists() const noexcept { return device_->free_lists(); }
	void log(LogLevel level, const std::string &line) const { log_to(options_.log, level, line); }
	/** Logs lines that strangers can cause. */
	void log_client(LogLevel level, const std::string &line) { clients_log_(level, line); }

private:
	struct Connection;
	class PendingConnection;
	/** The figures for collect(), as they were a moment ago. */
	struct Snapshot {
		struct List {
			std::uint32_t buffer_size = 0;
			std::uint64_t buffers = 0;
			std::uint64_t available = 0;
		};
		OneSidedServerStats server;
		RecoveryStats recovery;
		std::vector<List> lists;
	};

	void wait(int milliseconds);
	bool go_on_draining();
	void take_snapshot();
	void listen_to(Connection &connection);
	void hear(Connection &connection, const ControlMessage &message);
	void destroy_disconnected();
	void look_for_vanished() noexcept;
	void refresh_lists();
	Connection *find(std::uint32_t number);

	/* Reception::Host */
	Result<std::unique_ptr<Reception::AcceptedConnection>> on_connect(
		const Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine) override;
	void refused(const Error &why) noexcept override;

	/* RecoveryHost, except slots(), look_at() and the part of StoreCore */
	using StoreCore::collect;
	void ask_to_settle(std::uint32_t client, std::uint64_t value) override;
	void cut_off(std::uint32_t client) override;
	void put_off(const std::string &why) override;

	const OneSidedServerOptions options_;
	LimitedLog clients_log_{options_.log};
	std::unique_ptr<VerbsDevice> device_;
	std::vector<std::unique_ptr<Connection>> connections_;
	std::vector<PendingConnection *> pending_; /* clients with a queue pair that have not reported ready */
	std::unique_ptr<Reception> reception_;     /* declared last of these: its clients give back their scratches */
	std::atomic<bool> stopping_{false};
	std::atomic<std::int64_t> drain_for_{-1};                         /* milliseconds; -1: not requested */
	std::optional<std::chrono::steady_clock::time_point> drained_at_; /* time limit */
	std::chrono::steady_clock::time_point next_snapshot_{};
	std::chrono::steady_clock::time_point next_search_{}; /* for vanished clients */
	mutable std::mutex snapshot_lock_;
	Snapshot snapshot_;
	std::atomic<bool> deserted_{false};
	OneSidedServerStats stats_;
};

} // namespace prism::apps
