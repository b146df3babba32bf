/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "flaw.hpp"
#include "link.hpp"
#include "tx/store/prism_transaction.hpp"
#include "tx/transaction/client.hpp"

namespace tx_sim
{

struct ClientOptions {
	std::uint32_t depth = 1; /* transactions under way at once */
	prism::tx::RetryOptions retry;
	prism::tx::Time patience{};
	std::uint32_t report_batch = 4;       /* addresses in one report */
	std::function<std::uint64_t()> clock; /* for timestamps */
	Flaw flaw = Flaw::none;
};

class Client;

/** Services of the simulation that a client needs. */
class ClientSurroundings
{
public:
	virtual ~ClientSurroundings() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	/** Called when a client has closed a connection. */
	virtual void closed(std::size_t shard, std::uint32_t connection) = 0;
	/** Requests a scan of @p shard. */
	virtual void want_recovery(std::size_t shard) = 0;
	/** For controls: returns the bytes at @p va of @p shard at this moment; null if there are none. */
	[[nodiscard]] virtual const std::byte *peek(
		std::size_t shard, std::uint64_t va, std::uint64_t length) const = 0;
};

/** prism::tx::PrismClient in virtual time: runs transactions. */
class Client final : public prism::tx::TransactionClient, private prism::tx::Carrier
{
public:
	Client(test::Node &node, ClientSurroundings &around, std::size_t shards, const ClientOptions &options);
	~Client() override;

	/* Set-up: connections to all shards, in their order; then the rest of PrismClient::connect() */
	void link_up(std::unique_ptr<Pair> pair, const Admission &admission);
	[[nodiscard]] const Admission &met(std::size_t shard) const noexcept { return met_[shard]; }
	[[nodiscard]] std::size_t met() const noexcept { return met_.size(); }
	void begin();
	/** Returns true if it can run transactions. */
	[[nodiscard]] bool ready() const noexcept { return ready_; }
	/** Returns true if the previous client's logs could not be cleared: this one cannot be used. */
	[[nodiscard]] bool refused() const noexcept { return refused_; }

	/** Posts requests that were put off. */
	void ring();
	[[nodiscard]] bool has_completions() const noexcept;
	/** Returns the moment at which poll() has something to do even if nothing happens; 0 if never. */
	[[nodiscard]] soft::Time next_timer() noexcept;
	/** Reports freed buffers that are not reported yet. */
	void flush();

	/** Ends the connection to @p shard. */
	void link_down(std::size_t shard);
	[[nodiscard]] Link *link(std::size_t shard) noexcept { return links_[shard].link.get(); }
	/** Returns true if a connection has ended. */
	[[nodiscard]] bool broken() const noexcept { return broken_; }
	/** Handles the shard's request to settle; calls @p settled when the client has. */
	void settle(std::size_t shard, std::function<void()> settled);

	[[nodiscard]] int place_of(prism::tx::Bytes key, prism::tx::KeyPlace &place) const noexcept
	{
		return lanes_[0]->place_of(key, place);
	}
	[[nodiscard]] prism::tx::TransactionFigures figures() const noexcept;

private:
	struct alignas(64) Line {
		std::byte bytes[64];
	};
	struct Shard {
		std::unique_ptr<Link> link;
		std::vector<prism::Chain::Posting> put_off;
		std::vector<std::size_t> groups; /* sizes of the groups of these that must stay together */
	};
	/* For Flaw::hasty_lane: request that the lane believes to have ended. */
	struct Fancied {
		std::uint32_t lane;
		std::uint16_t number;
	};

	/* TransactionClient */
	void drive() noexcept override;
	[[nodiscard]] prism::tx::Transaction &transaction(std::uint32_t lane) noexcept override
	{
		return *lanes_[lane];
	}
	[[nodiscard]] prism::tx::Time now() const noexcept override { return prism::tx::Time(around_.time()); }

	/* Carrier */
	[[nodiscard]] std::uint64_t clock() const noexcept override;
	[[nodiscard]] std::size_t shards() const noexcept override { return links_.size(); }
	[[nodiscard]] const prism::tx::ShardView *view(std::size_t shard) const noexcept override;
	int post(std::uint32_t lane, prism::tx::Request &request) noexcept override;
	void release(std::size_t shard, std::uint64_t address) noexcept override;
	void report_now(std::size_t shard) noexcept override;

	void make_lanes();
	prism::apps::Task<int> clear_logs();
	void handle(std::size_t shard, const prism::Completion &completion);
	void end(std::uint32_t lane, prism::tx::Request &request, prism::Completion completion);
	void put_off(const prism::tx::Request &request, std::uint64_t wr_id);
	void ring(std::size_t shard);
	[[nodiscard]] bool is_hasty(std::uint32_t lane, const prism::tx::Request &request) const noexcept;
	void end_fancied();
	void spoil_cells(std::size_t shard, std::uint64_t wr_id);
	[[nodiscard]] std::uint64_t oldest_commit() const noexcept;

	test::Node &node_;
	ClientSurroundings &around_;
	const ClientOptions options_;
	const std::unique_ptr<prism::tx::ClientState> state_;
	std::vector<Shard> links_;
	std::vector<Admission> met_;
	class ObjectMemory final : public prism::tx::RegisteredMemory
	{
	public:
		explicit ObjectMemory(test::Node &node) : node_(node) {}
		int take(std::size_t bytes, std::byte *&memory, std::uint32_t &lkey) noexcept override;

	private:
		test::Node &node_;
		std::vector<std::vector<Line>> memory_;
	};
	std::vector<Line> memory_;
	ObjectMemory object_memory_{node_};
	std::uint32_t key_ = 0;
	std::vector<std::unique_ptr<prism::tx::PrismTransaction>> lanes_;
	std::optional<prism::apps::Task<int>> clearing_;
	bool ready_ = false;
	bool refused_ = false;
	bool broken_ = false;
	/* For controls */
	std::vector<Fancied> fancied_;
	std::vector<std::uint64_t> decided_; /* by lane: the commit that it has decided */
	std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> cell_reads_; /* by wr_id */
};

} // namespace tx_sim
