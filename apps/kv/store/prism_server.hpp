/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/prism.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control.hpp"
#include "fingerprint.hpp"
#include "layout.hpp"
#include "recovery.hpp"
#include "table.hpp"
#include "two_sided/reception.hpp"

namespace prism::kv
{

/** Equal buffers for objects: header, key and value. */
struct ClassOptions {
	std::uint32_t buffer_size = 0; /**< bytes, a multiple of 64 */
	std::uint32_t count = 0;
};

struct PrismServerOptions {
	std::string address;                 /**< to listen on; empty: all */
	std::uint16_t port = 0;              /**< 0: any, see PrismServer::port() */
	std::uint64_t slots = 1 << 17;       /**< of the table; twice the number of keys keeps most of them at home */
	std::vector<ClassOptions> classes;   /**< by any order; the largest must hold the longest key and value */
	std::uint32_t max_key_size = 256;    /**< bytes; at most 4096 */
	std::uint32_t max_value_size = 4096; /**< bytes; at most 1 MiB */
	std::uint32_t max_connections = 64;
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(2); /**< of one client; others do not wait */
	/** How long a recovery scan waits for its clients before it is put off. */
	std::chrono::milliseconds patience = std::chrono::seconds(10);
	/** Is told what happens to connections; null: standard error. */
	std::function<void(const std::string &)> log;

	/** One class of buffers for @p objects objects of this size, with a tenth more for those under way. */
	static ClassOptions class_for(std::uint64_t objects, std::uint32_t key_size, std::uint32_t value_size);
};

struct PrismServerStats {
	std::uint64_t connections = 0; /**< accepted so far */
	std::uint64_t open = 0;        /**< of these, not closed */
	std::uint64_t refused = 0;     /**< clients of another kind, one too many, or whose set-up failed */
	std::uint64_t recoveries = 0;  /**< scans that came to their end */
	std::uint64_t postponed = 0;   /**< scans given up: a client did not answer in time, or buffers are in doubt */
	std::uint64_t recovered = 0;   /**< buffers that scans found */
	std::uint64_t claims = 0;      /**< claims of dead clients that scans removed */
};

/**
 * The memory of a PRISM-KV store and everything that its clients cannot do themselves: connections, buffers that come
 * back, lost buffers. No operation of a client runs here. Construct, serve() on one thread, stop() from any.
 */
class PrismServer final : private RecoveryHost, private Reception::Host
{
public:
	/**
	 * @p context: with Progress::engine_thread, if it is a userspace device. Errors: EINVAL (options that
	 * contradict each other; the message says which), ENOMEM, those of FreeList::create() and
	 * TcpListener::create().
	 */
	static Result<std::unique_ptr<PrismServer>> create(const Context &context, const PrismServerOptions &options);
	~PrismServer() override;

	[[nodiscard]] std::uint16_t port() const noexcept { return reception_->port(); }

	/** Serves until stop(). Errors: of the device, which end the store. */
	Result<void> serve();
	void stop() noexcept { stopping_ = true; }
	/** Clients have come and gone, and no scan for what they lost is due or under way. Any thread. */
	[[nodiscard]] bool deserted() const noexcept { return deserted_; }

	/* On the thread of serve(), or while it does not run. */

	[[nodiscard]] const PrismServerStats &stats() const noexcept { return stats_; }
	/** All figures, with a count of the table, as JSON. */
	[[nodiscard]] std::string stats_json() const;
	[[nodiscard]] const Table &table() const noexcept { return table_; }
	/** Buffers of all classes that are neither allocatable nor on their way there. */
	[[nodiscard]] std::uint64_t buffers_in_use();

private:
	struct Connection;
	class Arrival;

	PrismServer(ProtectionDomain pd, std::shared_ptr<const Buffer> memory, Reclaimer reclaimer, CompletionQueue cq,
		QueuePair self, const PrismServerOptions &options);
	int make_lists(std::size_t offset, Error &error);

	void wait(int milliseconds);
	[[nodiscard]] ConnectionRecord introduction(std::uint32_t number, std::uint32_t scratch) const;
	void listen_to(Connection &connection);
	void hear(Connection &connection, const ControlMessage &message);
	void bury_dead();
	Result<void> reclaim();

	int begin_recovery();
	void go_on_recovering();

	/* Reception::Host */
	Result<std::unique_ptr<Reception::Newcomer>> meet(
		const Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine) override;
	void refused(const Error &why) noexcept override;

	/* RecoveryHost */
	int note_handed_out() override;
	void ask_to_settle() override;
	[[nodiscard]] bool settled() const override;
	[[nodiscard]] bool is_open(std::uint32_t number) const override;
	bool empty_claim(std::uint64_t index, const Slot &claim) override;
	void spare(std::uint64_t address) override;
	bool take_reports() override;
	std::optional<std::uint64_t> collect() override;

	void log(const std::string &line) const;

	const PrismServerOptions options_;
	ProtectionDomain pd_;
	std::shared_ptr<const Buffer> memory_;
	Table table_;
	std::size_t scratch_offset_;
	Reclaimer reclaimer_;
	CompletionQueue cq_; /* of the connections' sends: there are none */
	QueuePair self_;
	const HashKey secret_;
	std::deque<FreeList> lists_;
	std::vector<std::uint32_t> free_scratches_; /* indices */
	std::vector<std::unique_ptr<Connection>> connections_;
	std::size_t arriving_ = 0;             /* clients with a queue pair that have not said they are ready */
	std::unique_ptr<Reception> reception_; /* declared last of these: its clients give their scratches back */
	std::optional<RecoveryScan> recovery_;
	std::vector<LiveSet> live_;             /* of the scan under way, one a list */
	std::vector<std::uint64_t> taken_back_; /* counts of the device as it began, likewise */
	std::uint64_t next_version_ = 1;
	std::uint32_t next_number_ = 1; /* of a connection: never used again, for claims that outlive theirs */
	std::uint64_t next_settle_ = 1;
	bool recovery_wanted_ = false;
	std::atomic<bool> stopping_{false};
	std::atomic<bool> deserted_{false};
	PrismServerStats stats_;
};

} // namespace prism::kv
