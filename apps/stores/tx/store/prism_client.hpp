/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>
#include <prism/device.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/connector.hpp"
#include "service/server_link.hpp"
#include "tx/store/introduction.hpp"
#include "tx/store/orphan_resolver.hpp"
#include "tx/store/prism_transaction.hpp"
#include "tx/transaction/client.hpp"
#include "tx/transaction/shards.hpp"

namespace prism::tx
{

struct PrismClientOptions {
	std::uint32_t depth = 1; /**< transactions under way at once; at most the store's lanes */
	RetryOptions retry;
	/** Of the whole set-up, but each shard has a second in any case; later of each question. */
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(5);
	/**
	 * Time that a prepared writer may block this client before it resolves the writer's transaction. A too short
	 * time is slow, never wrong.
	 */
	Time patience = std::chrono::milliseconds(10);
	/**
	 * All shards that have come back empty and are to be taken in: their keys are gone, those of the others stay.
	 * Not shard 0. docs/prism-tx.md, "Clients that die during a commit".
	 */
	std::vector<std::size_t> adopt;
	/**
	 * Time that transactions wait for a new connection to a shard, counted from the loss of the old one. 0: the
	 * client never reconnects.
	 */
	std::chrono::milliseconds reconnect_timeout = std::chrono::seconds(1);
	/** Clock for timestamps, in ns; it may jump, and differ from that of others. Empty: CLOCK_REALTIME. */
	std::function<std::uint64_t()> clock;
};

/** Counters of the connections to all shards. */
struct ConnectionFigures {
	std::uint64_t losses = 0;
	std::uint64_t regained = 0;
};

/**
 * A client of a PRISM-TX store. After the connection to a shard is lost, a thread of the client reconnects, under the
 * same number. Meanwhile transactions that need the shard wait; one that was being decided there finds out its outcome.
 * After PrismClientOptions::reconnect_timeout they fail with EHOSTUNREACH, and one that was being decided is in doubt
 * (Outcome::unknown). The client does not reconnect to a shard that has lost its memory, nor to any shard if another
 * client has its number: connect() anew. One thread at a time, which must call poll() now and then even with nothing
 * under way: a shard that looks for lost buffers waits for an answer.
 */
class PrismClient final : public TransactionClient, private Carrier
{
public:
	/**
	 * Connects to all shards, and ends what a client with its number has left behind. If nobody listens at a
	 * shard's address, the shard has lost its memory with its process. It is then left out, unless it is shard 0 or
	 * some shards are adopted: transactions that need it fail with EHOSTUNREACH, even when it is back. Errors:
	 * EINVAL (depth, no shards; a shard to be adopted does not exist or has not lost its memory), EPROTONOSUPPORT
	 * (another kind of store, other shards; a device without PRISM), EACCES (a shard has another secret), ESTALE
	 * (shards have lost their memory and are not adopted), ENOTRECOVERABLE (nothing shows how a transaction was
	 * decided on an adopted shard), EMFILE (too many clients), EHOSTUNREACH, ETIMEDOUT, ECONNREFUSED ...; the
	 * message names the shard.
	 */
	static Result<std::unique_ptr<PrismClient>> connect(
		const Context &context, const Shards &shards, const PrismClientOptions &options = {});
	~PrismClient() override;

	[[nodiscard]] const StoreView &store() const noexcept { return state_.store; }
	/** Finds the shard and cell of @p key. See PrismTransaction. */
	[[nodiscard]] int place_of(Bytes key, KeyPlace &place) const noexcept
	{
		return lanes_[0]->place_of(key, place);
	}
	/** Returns the sums over all lanes. */
	[[nodiscard]] TransactionFigures figures() const noexcept;
	[[nodiscard]] const ConnectionFigures &connection_figures() const noexcept { return connection_figures_; }
	/** Returns the statistics of shard number @p shard as JSON. Errors: ENOTCONN, ETIMEDOUT, ECONNRESET. */
	Result<std::string> stats_of(std::size_t shard);
	/** Makes @p shard look for lost buffers. Errors: as above, EBUSY. */
	Result<void> request_recovery(std::size_t shard);

private:
	/** Registers memory as lanes need it. */
	class ObjectMemory final : public RegisteredMemory
	{
	public:
		explicit ObjectMemory(ProtectionDomain pd) : pd_(std::move(pd)) {}
		int take(std::size_t bytes, std::byte *&memory, std::uint32_t &lkey) noexcept override;

	private:
		ProtectionDomain pd_;
		std::vector<Buffer> buffers_;
	};
	struct Approach;
	struct Met;
	using Moment = std::optional<std::chrono::steady_clock::time_point>;
	struct Shard {
		std::unique_ptr<apps::ServerLink> link; /* null if lost, or gone from the beginning */
		std::shared_ptr<const Approach> again;  /* null if it must not be reconnected */
		Moment lost;                            /* set while the connection is lost */
		ShardView view;                         /* valid if has_met() */
		std::vector<Chain::Posting> put_off;
		std::vector<std::size_t> groups; /* sizes of the groups of put_off that must stay together */
	};
	struct WorkRequest;
	struct Meeting;

	PrismClient(Context context, ProtectionDomain pd, CompletionQueue cq, std::size_t shards,
		const PrismClientOptions &options);
	[[nodiscard]] std::chrono::milliseconds time_for_a_shard() const;
	static Result<Met> approach(const Approach &to);
	Result<void> meet_all(const Shards &shards, const PrismClientOptions &options, Meeting &meeting);
	Result<void> meet(std::size_t shard, const apps::ServerAddress &address, const PrismClientOptions &options,
		Meeting &meeting);
	Result<std::vector<std::size_t>> tell_lives(const Meeting &meeting);
	Result<void> adopt(const Meeting &meeting, const std::vector<std::size_t> &lost);
	int run_alone(apps::Task<int> task);
	Result<void> make_lanes(const Meeting &meeting);
	void hear_of_orphans();
	Result<void> clear_logs(const Meeting &meeting);
	/** Returns false if the shard was gone from the beginning. */
	[[nodiscard]] bool has_met(std::size_t shard) const noexcept { return !shards_[shard].view.classes.empty(); }
	Result<bool> is_needed(std::uint32_t place);
	Result<void> clear_places(
		std::size_t shard, std::uint32_t first, std::uint32_t places, std::vector<bool> &cleared);
	void leave_place(std::uint32_t place);
	Result<apps::ControlMessage> tell_life(apps::ControlKind kind, const Introduction &shard);
	Result<apps::ControlMessage> ask(std::size_t shard, const apps::ControlMessage &question);

	/* TransactionClient */
	void drive() noexcept override;
	[[nodiscard]] bool reconnects() const noexcept override;
	[[nodiscard]] std::uint64_t connection_changes() const noexcept override
	{
		return connection_figures_.losses + connection_figures_.regained;
	}
	[[nodiscard]] Transaction &transaction(std::uint32_t lane) noexcept override { return *lanes_[lane]; }

	/* Carrier */
	[[nodiscard]] Time now() const noexcept override { return TransactionClient::now(); }
	[[nodiscard]] std::uint64_t clock() const noexcept override;
	[[nodiscard]] std::size_t shards() const noexcept override { return shards_.size(); }
	[[nodiscard]] const ShardView *view(std::size_t shard) const noexcept override;
	[[nodiscard]] const ShardGeometry *geometry(std::size_t shard) const noexcept override;
	[[nodiscard]] bool may_come_back(std::size_t shard) const noexcept override;
	int post(std::uint32_t lane, Request &request) noexcept override;
	void release(std::size_t shard, std::uint64_t address) noexcept override;
	void report_now(std::size_t shard) noexcept override;

	bool take_completions() noexcept;
	void handle(const Completion &completion) noexcept;
	void take(std::uint32_t lane, std::uint16_t number, std::size_t shard, const Completion &completion) noexcept;
	void ring() noexcept;
	void ring(std::size_t shard) noexcept;
	void look_after_links() noexcept;
	void link_down(std::size_t shard) noexcept;
	void look_for_links();
	void regain(Met met);
	[[nodiscard]] std::uint64_t oldest_commit() const noexcept;

	Context context_;
	ProtectionDomain pd_;
	CompletionQueue cq_;
	ObjectMemory object_memory_;
	ClientState state_;
	const std::function<std::uint64_t()> clock_;
	std::vector<Shard> shards_;
	std::unique_ptr<Buffer> memory_;
	std::vector<std::unique_ptr<PrismTransaction>> lanes_;
	std::unique_ptr<OrphanResolver> orphans_;
	std::chrono::milliseconds timeout_;
	Deadline set_up_until_; /* later: no limit */
	const std::chrono::milliseconds reconnect_timeout_;
	ConnectionFigures connection_figures_;
	std::size_t put_off_ = 0; /* requests that wait for a doorbell */
	std::size_t under_way_ = 0;
	std::uint64_t polls_ = 0;
	std::unique_ptr<apps::Connector<Met>> connector_; /* null before the first loss; its thread ends first */
};

} // namespace prism::tx
