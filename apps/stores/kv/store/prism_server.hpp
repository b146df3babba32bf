/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "fingerprint.hpp"
#include "layout.hpp"
#include "service/one_sided_server.hpp"
#include "shard_name.hpp"
#include "table.hpp"

namespace prism::kv
{

/** Buffers for objects: header, key and value. */
using ClassOptions = apps::BufferClass;

struct PrismServerOptions : apps::OneSidedServerOptions {
	std::uint64_t slots = 1 << 17;     /**< slots in the table; twice the number of keys keeps most of them home */
	std::vector<ClassOptions> classes; /**< in any order; the largest must hold the longest key and value */
	std::uint32_t max_key_size = 256;  /**< bytes; at most 4096 */
	std::uint32_t max_value_size = 4096; /**< bytes; at most 1 MiB */
	ShardName shard;                     /**< the shard of this server; clients that want another are refused */

	/** Returns a class of buffers for @p objects objects of this size, with a tenth more for those under way. */
	static ClassOptions class_for(std::uint64_t objects, std::uint32_t key_size, std::uint32_t value_size);
};

/**
 * The memory of a PRISM-KV store and everything that its clients cannot do themselves. Construct, serve() on one
 * thread, stop() from any.
 */
class PrismServer final : public apps::OneSidedServer
{
public:
	/**
	 * Creates a server. @p context: with Progress::engine_thread, if it is a userspace device. Errors: EINVAL
	 * (options that contradict each other; the message says which), ENOMEM, those of FreeList::create() and
	 * TcpListener::create().
	 */
	static Result<std::unique_ptr<PrismServer>> create(const Context &context, const PrismServerOptions &options);
	/** Checks that create() takes these options. Errors: EINVAL; the message has the names of the program's. */
	static Result<void> check(const PrismServerOptions &options);

	/* Call these on the thread of serve(), or while it does not run. */

	/** Returns the statistics, with a count of the table. */
	[[nodiscard]] std::string stats_json() const override;
	[[nodiscard]] const Table &table() const noexcept { return table_; }

private:
	PrismServer(Parts parts, const PrismServerOptions &options);

	/* apps::OneSidedServer */
	Result<void> introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine) override;
	int hear(std::uint32_t number, const apps::ControlMessage &message,
		std::optional<apps::ControlMessage> &answer) override;
	[[nodiscard]] std::uint64_t slots() const override { return table_.geometry().slot_count(); }
	void look_at(std::uint64_t index) override;

	[[nodiscard]] nlohmann::json memory_json() const;
	bool empty_claim(std::uint64_t index, const Slot &claim);

	const PrismServerOptions options_;
	Table table_;
	const HashKey secret_;
	std::uint64_t next_version_;
	std::uint64_t claims_ = 0; /* claims of dead clients that scans have removed */
};

} // namespace prism::kv
