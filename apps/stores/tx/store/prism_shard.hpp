/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/one_sided_server.hpp"
#include "tx/store/introduction.hpp"
#include "tx/store/store_secret.hpp"

namespace prism::tx
{

struct PrismShardOptions : apps::OneSidedServerOptions {
	std::uint16_t shard = 0; /**< number of this shard */
	std::uint16_t shards = 1;
	/** The same for all shards; a store with a single shard needs none. */
	std::optional<StoreSecret> secret;
	std::uint64_t cells = 1 << 17; /**< twice the number of keys, so that few share one; numbered: one a key */
	bool numbered = false;         /**< keys are numbers of 8 bytes, below cells * shards */
	bool as_in_paper = false;      /**< commits are not protected from the death of clients */
	std::uint32_t lanes = 32;      /**< most transactions of a client under way; max_connections clients */
	std::vector<apps::BufferClass> classes; /**< of objects; the largest must hold the longest key and value */
	std::uint32_t max_key_size = 256;       /**< bytes; at most 4096 */
	std::uint32_t max_value_size = 4096;    /**< bytes; at most 1 MiB */

	/**
	 * Returns the classes for @p keys keys of this size on one shard of @p cells cells, hashed or numbered, with a
	 * reserve for the transactions under way: objects of up to eight keys.
	 */
	static std::vector<apps::BufferClass> classes_for(std::uint64_t keys, std::uint64_t cells, bool numbered,
		std::uint32_t key_size, std::uint32_t value_size);
};

/**
 * The memory of one shard, and all services that its clients cannot do themselves. Shard 0 also admits the clients, and
 * remembers the lives of the other shards: one that comes back empty is refused. A peer's claims change nothing before
 * its signature proves to be that of a shard, and before its connection has entered. Construct, serve() on one thread,
 * stop() from any.
 */
class PrismShard final : public apps::OneSidedServer
{
public:
	/**
	 * Makes the shard. @p context: with Progress::engine_thread, if it is a userspace device. Errors: EINVAL
	 * (options that contradict each other; the message says which), ENOMEM, those of FreeList::create() and
	 * TcpListener::create().
	 */
	static Result<std::unique_ptr<PrismShard>> create(const Context &context, const PrismShardOptions &options);
	/** Checks that create() takes these options, with a secret if there are several shards. Errors: EINVAL; the
	 * message has the names of the program's. */
	static Result<void> check(const PrismShardOptions &options);

	[[nodiscard]] std::string stats_json() const override;

private:
	using Time = std::chrono::steady_clock::time_point;

	struct Client {
		std::uint32_t connection = 0; /* 0: none */
		std::uint32_t incarnation = 0;
		std::optional<Time> left; /* time at which its connection ended */
		std::uint64_t proof = 0;  /* signature of the identity that it sends next */
	};
	/* The client that a connection becomes once it enters. */
	struct Entrant {
		std::uint32_t client = 0;
		std::uint32_t incarnation = 0;
		std::uint64_t store = 0;
	};

	PrismShard(Parts parts, const PrismShardOptions &options, const ShardGeometry &geometry);

	/* apps::OneSidedServer */
	Result<void> introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine) override;
	int hear(std::uint32_t number, const apps::ControlMessage &message,
		std::optional<apps::ControlMessage> &answer) override;
	[[nodiscard]] std::uint64_t slots() const override;
	void look_at(std::uint64_t index) override;

	void entered(std::uint32_t number) override;
	void ended(std::uint32_t number) override;
	void look_around() override;

	[[nodiscard]] bool has_prepared(std::uint32_t client) const noexcept;
	[[nodiscard]] bool is_over(std::uint32_t client, const LogEntry &entry) const noexcept;
	Result<void> number_client(Introduction &client, const Place &place);
	Result<void> check_ticket(const Introduction &client) const;
	[[nodiscard]] bool is_free(std::uint32_t client) const;
	[[nodiscard]] Client *client_of(std::uint32_t connection) noexcept;
	[[nodiscard]] const LogPlace &log(std::uint32_t place) const noexcept;

	const PrismShardOptions options_;
	const ShardGeometry geometry_;
	const StoreSecret store_secret_;
	const std::uint64_t identity_;
	std::uint64_t store_ = 0;                   /* identity of shard 0, once it is known */
	std::vector<Client> clients_;               /* by number */
	std::map<std::uint32_t, Entrant> entrants_; /* by connection */
	std::vector<std::uint64_t> lives_;          /* shard 0: identities of the others, 0 if not known yet */
	std::array<unsigned char, 16> secret_;      /* from shard 0: key of the hash that finds cells */
	/* Clients that have died with something prepared, and the connections that have answered about each */
	std::map<std::uint32_t, std::set<std::uint32_t>> orphans_;
	std::uint32_t asked_ = 0; /* the connection that was last asked to resolve them */
	Time ask_at_;             /* time to ask again, or to ask another */
};

} // namespace prism::tx
