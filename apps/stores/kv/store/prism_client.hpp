/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>
#include <prism/device.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/store_client.hpp"
#include "link.hpp"
#include "protocol.hpp"
#include "service/connector.hpp"
#include "service/control.hpp"
#include "versions.hpp"

namespace prism::kv
{

struct PrismClientOptions {
	std::uint32_t depth = 1;                                     /**< operations under way at once; at most 4096 */
	std::chrono::milliseconds timeout = std::chrono::seconds(5); /**< for the set-up, and for a blocking call */
	std::chrono::milliseconds setup_timeout{0}; /**< for the first connection's set-up; 0: as timeout */
	/** Time that operations wait for a new connection, counted from the loss of the old one. */
	std::chrono::milliseconds patience = std::chrono::seconds(1);
	/**
	 * Bytes of the longest value that this client handles; the server's limit if that is less, or if this is 0. A
	 * GET of a longer one fails with EMSGSIZE, and Operation::length is the value's size.
	 */
	std::uint32_t max_value_size = 0;
	/**
	 * Number of hints, at 4 bytes each: for slots of keys that are not at home, in a half-full table a quarter of
	 * the keys. 0: none.
	 */
	std::size_t hints = std::size_t{1} << 18;
	/** The expected shard of this server, and the number of shards; its store is ignored. */
	ShardName shard;
	std::optional<std::string> store; /**< name that the server's store must have; empty: any */
};

struct PrismClientStats {
	std::uint64_t operations = 0;
	std::uint64_t direct = 0;      /**< of these, those done in one round trip */
	std::uint64_t round_trips = 0; /**< round trips of all operations */
	std::uint64_t losses = 0;      /**< losses of the connection */
	std::uint64_t repeated = 0;    /**< operations that were repeated after a loss */
	std::uint64_t connections = 1; /**< connections so far */
};

/**
 * A client of one PRISM-KV server (docs/prism-kv.md): its operations are PRISM requests on the server's memory. One
 * thread at a time. The thread must call poll() now and then even with nothing under way, because a server that looks
 * for lost buffers waits for an answer. Requests are posted by a later poll(), several together.
 *
 * After a connection is lost, a thread of the client reconnects. GETs that were under way are repeated, and so are
 * operations that were not sent yet. A PUT or ERASE that was sent ends with Outcome::unknown: it was done once or not
 * at all, and its error is that of the connection. Operations that begin meanwhile wait. If there is no connection
 * after PrismClientOptions::patience, all waiting operations fail with ENOTCONN and were not done. From then on start()
 * fails likewise, until there is a connection; why_disconnected() gives the reason.
 *
 * A client that does not poll notices a loss, or a new connection, when it begins the next operation.
 */
class PrismClient final : public apps::StoreClient, private Carrier
{
public:
	/**
	 * Connects to the server. Errors: EINVAL (depth), EPROTONOSUPPORT (another kind of server, shard or store, or
	 * its device does not speak PRISM), those of establish() and TcpRendezvous::connect().
	 */
	static Result<std::unique_ptr<PrismClient>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const PrismClientOptions &options = {});
	~PrismClient() override;

	[[nodiscard]] std::size_t depth() const noexcept override { return lanes_.size(); }
	/** See StoreClient::start(). ENOTCONN: there has been no connection for longer than the client's patience. */
	int start(apps::Operation &operation) noexcept override { return start(operation, nullptr); }
	/**
	 * Begins @p operation on a condition, as the calls below do: a GET fills in @p version, a PUT or an ERASE
	 * expects it. @p version must stay in place until poll() returns the operation. Null: no condition.
	 */
	int start(apps::Operation &operation, Version *version) noexcept;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;

	/** Returns 0; while there is no connection, the errno value that ended the last one. */
	[[nodiscard]] int broken() const noexcept { return broken_; }
	/**
	 * Returns the reason why there is no connection: the error of the last attempt to connect, such as a refusal in
	 * the server's own words; before there was one, the error that ended the last connection. Code 0: there is a
	 * connection.
	 */
	[[nodiscard]] Error why_disconnected() const;
	/** Returns the server as the last connection knows it. */
	[[nodiscard]] const ServerView &server() const noexcept { return view_; }
	[[nodiscard]] const PrismClientStats &stats() const noexcept { return stats_; }
	[[nodiscard]] const HintFigures &hint_figures() const noexcept { return protocol_.hint_figures(); }

	/* Operations on a condition, which wait for the end. Nothing else may be under way. Of several servers, call
	 * them at ShardedClient::client(shard_of(key)). */

	/** Runs a GET, and returns the version that the object had; number 0 if the key is absent. */
	apps::Outcome get_versioned(apps::Operation &operation, Version &version) noexcept;
	/**
	 * Runs a PUT if the object is still the one of @p expected, or, if that has number 0, the key still absent.
	 * not_found: it is not.
	 */
	apps::Outcome put_if(apps::Operation &operation, const Version &expected) noexcept;
	/** Runs an ERASE on the same condition; not_found if @p expected has number 0. */
	apps::Outcome erase_if(apps::Operation &operation, const Version &expected) noexcept;

	/** Returns the server's statistics as JSON. Errors: ETIMEDOUT, ECONNRESET, ENOTCONN. */
	Result<std::string> server_stats();
	/** Asks the server for a recovery scan; returns when it has begun. Errors: EBUSY (one is under way), ETIMEDOUT,
	 * ECONNRESET, ENOTCONN. */
	Result<void> request_recovery();

private:
	PrismClient(Context context, LinkOptions link_options, std::unique_ptr<Link> link, Buffer memory,
		const ServerView &view, const PrismClientOptions &options);

	/* Carrier */
	int post(const Chain &chain, std::uint64_t lane) noexcept override;
	void release(std::uint64_t address) noexcept override;
	bool buffers_may_come(Lane &lane, unsigned attempts) noexcept override;
	std::uint64_t next_version() noexcept override;

	[[nodiscard]] bool fits(const apps::Operation &operation) const noexcept;
	Lane *begin(apps::Operation &operation) noexcept;
	void go(Lane &lane, apps::Task<apps::Outcome> task) noexcept;
	void finish(Lane &lane) noexcept;
	void finish(Lane &lane, apps::Outcome outcome) noexcept;
	void ring() noexcept;
	void ring_if_many() noexcept;
	void take_completions() noexcept;
	void handle(const Completion &completion) noexcept;
	void resume(Lane &lane, const Completion &completion) noexcept;
	[[nodiscard]] std::uint64_t oldest_under_way() const noexcept;
	void talk(std::uint64_t oldest) noexcept;
	void hear(const apps::ControlMessage &message) noexcept;
	void break_off(int error) noexcept;
	void lose_link() noexcept;
	void look_for_link() noexcept;
	void adopt(std::unique_ptr<Link> link) noexcept;
	[[nodiscard]] bool given_up() const noexcept;
	[[nodiscard]] bool wait_for_link() noexcept;
	void catch_up() noexcept;
	[[nodiscard]] bool failed_with_link(const Lane &lane, apps::Outcome outcome) const noexcept;
	apps::Outcome judge_loss(Lane &lane) const noexcept;
	template <typename Make>
	apps::Outcome run(apps::Operation &operation, bool changes, Make make) noexcept;
	Result<apps::ControlMessage> ask(const apps::ControlMessage &question);

	Context context_;
	const LinkOptions link_options_; /* for later connections */
	const std::chrono::milliseconds timeout_;
	const std::chrono::milliseconds patience_;
	Buffer memory_;
	ServerView view_;
	Protocol protocol_;
	std::unique_ptr<Link> link_;                       /* null: lost */
	std::unique_ptr<apps::Connector<Link>> connector_; /* since the first loss */
	std::chrono::steady_clock::time_point lost_;
	std::chrono::steady_clock::time_point listened_; /* when the control channel was last checked */
	std::vector<Lane> lanes_;                        /* one with an operation but no task waits for a connection */
	std::vector<Chain::Posting> put_off_;            /* postings put off to a later poll */
	std::size_t under_way_ = 0;                      /* requests of lanes that are posted */
	std::vector<std::uint32_t> idle_;
	std::vector<apps::Operation *> ended_;
	LeasedVersions versions_;
	std::optional<apps::ControlMessage>
		answer_; /* answer to ask(); nothing after it on the channel is read before it is taken */
	std::uint64_t serial_ = 0;
	std::uint64_t polls_ = 0;
	int broken_ = 0;
	PrismClientStats stats_;
};

} // namespace prism::kv
