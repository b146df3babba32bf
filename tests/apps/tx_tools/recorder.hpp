/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Random transactions on the lanes of a client, and records of the reads, writes and outcome of each attempt: for the
 * clients of transaction-history.
 */
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "history.hpp"
#include "tx/store/prism_client.hpp"

namespace tx_test
{

namespace record = prism::serializability;

enum class Load : std::uint8_t {
	registers,
	lists,
	bank
};

/** Options for all processes of a run. */
struct LoadOptions {
	Load load = Load::registers;
	std::uint32_t keys = 64;
	std::uint32_t accesses = 4;     /**< most of a transaction */
	std::uint32_t list_length = 32; /**< a list of this length is replaced by another */
	std::uint32_t depth = 8;        /**< lanes of a client */
	std::uint32_t balance = 1000;   /**< of each account in the beginning */
	double skew = 0;                /**< most seconds that clocks differ by, and jump */
	double patience = 0.01;         /**< seconds of waiting for others in the middle of a commit */
	unsigned cuts = 0;              /**< number of times that a client cuts one of its connections */
	bool may_die = false;           /**< a transaction is recorded before it commits */
	bool may_lose_shard = false;    /**< a lane that finds a shard stopping ends, with its transaction not done */

	[[nodiscard]] record::HistoryKind kind() const
	{
		return load == Load::lists ? record::HistoryKind::lists : record::HistoryKind::registers;
	}
};

/** Memory through which a run and its clients communicate. */
struct RunState {
	static constexpr std::uint32_t most_clients = 1 << 14;

	struct Client {
		std::atomic<std::uint64_t> cuts,
			found_out;       /* connections that it has cut; outcomes that it learnt late */
		std::atomic<bool> began; /* and has a readable file */
		std::atomic<std::uint64_t> committed;
		std::atomic<std::uint64_t> conflicts; /* attempts */
		std::atomic<std::uint64_t> resolved;  /* transactions of others that it has ended */
		std::atomic<std::uint64_t> no_buffer; /* attempts that found no buffer */
	};
	std::atomic<bool> stop;
	std::array<Client, most_clients> clients;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/** Mapping of the file at @p path, which a run has made. */
class SharedState
{
public:
	static prism::Result<SharedState> open(const std::filesystem::path &path, bool create);
	RunState *operator->() const { return memory_.get(); }

private:
	struct Unmap {
		void operator()(RunState *memory) const { ::munmap(memory, sizeof(RunState)); }
	};
	std::unique_ptr<RunState, Unmap> memory_;
};

/** Client that goes on until it is told to stop. */
class Recorder
{
public:
	/** @p number: of its process, from 0 on. Errors: those of the store and the file system. */
	static prism::Result<std::unique_ptr<Recorder>> create(const LoadOptions &options, std::uint32_t number,
		const prism::tx::Shards &shards, const std::filesystem::path &file);

	/**
	 * Runs random transactions on all lanes until @p state says stop, or no lane is left
	 * (LoadOptions::may_lose_shard). Errors: of a transaction, or of the recording.
	 */
	prism::Result<void> go_on(const SharedState &state);

	/*
	 * For the first and the last client of a run, with one lane: each call waits, and its transactions are
	 * recorded.
	 */

	/** Gives all accounts their first balance, by one transaction. */
	prism::Result<void> open_bank();
	/** Changes every existing key: none may be blocked. */
	prism::Result<void> touch_all();
	/** Reads every key except those of @p lost_shard. */
	prism::Result<void> read_all(std::optional<std::size_t> lost_shard = {});

	[[nodiscard]] prism::tx::PrismClient &client() { return *client_; }

private:
	using Key = std::uint64_t;
	/* Access of a transaction to a key. */
	struct Step {
		Key key = 0;
		bool reads = true;
		bool writes = false;
		bool erases = false;
	};
	struct Lane {
		prism::tx::Job job;
		std::vector<Step> steps;
		std::vector<record::Value> list; /* the list being read */
		record::Draft draft;
		std::uint64_t sequence = 0;
		bool recorded = true; /* true if the outcome of `draft` is recorded */
		bool looks_again = false;
		bool rolls_back = false;
		bool transfers = false;
	};

	Recorder(const LoadOptions &options, std::uint32_t number, const prism::tx::Shards &shards,
		record::HistoryWriter writer);

	void cut_now_and_then();
	void plan(Lane &lane);
	void plan_bank(Lane &lane);
	prism::apps::Task<int> attempt(Lane &lane, prism::tx::Transaction &transaction);
	int look(Lane &lane, const prism::tx::Transaction &transaction);
	int change(Lane &lane, prism::tx::Transaction &transaction);
	int transfer(Lane &lane, prism::tx::Transaction &transaction);
	int change_list(Lane &lane, prism::tx::Transaction &transaction, const Step &step, record::Value value);
	[[nodiscard]] prism::Result<void> end(Lane &lane);
	void record(Lane &lane, record::Outcome outcome);
	[[nodiscard]] bool lost_shard(const Lane &lane) const;
	prism::Result<void> run(std::vector<Step> steps);
	[[nodiscard]] std::uint64_t clock();

	const LoadOptions options_;
	const prism::tx::Shards shards_;
	std::uint64_t next_cut_ = 0;
	unsigned cuts_ = 0;
	const std::uint32_t number_;
	record::HistoryWriter writer_;
	std::mt19937_64 random_;
	prism::Context context_ = prism::Context::open("prism_lo", prism::Progress::caller).value();
	std::vector<std::uint32_t> generations_; /* of lists: number of replacements of each */
	std::vector<Lane> lanes_;
	std::int64_t skew_ = 0; /* ns */
	std::uint64_t next_jump_ = 0;
	int error_ = 0; /* of the recording */
	std::unique_ptr<prism::tx::PrismClient> client_;
};

} // namespace tx_test
