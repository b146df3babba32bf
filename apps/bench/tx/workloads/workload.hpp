/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The workloads that transactional stores are usually measured by, and the conditions that must hold when they are
 * over. A seed repeats the transactions of a workload exactly; how often each of them is run again is up to the store.
 */
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <prism/result.hpp>

#include "common/task.hpp"
#include "tx/transaction/client.hpp"

namespace prism::tx
{

/** The key of all workloads: composed of a few numbers, so that each store has them at the same cost. */
using Key = std::array<std::byte, 8>;

/** Error that a body returns when its workload wants it to be rolled back. Every other error is trouble. */
constexpr int own_rollback = ECANCELED;

/** Amounts by which a transaction changes each of Workload::sums(). */
using Effects = std::array<std::int64_t, 2>;

/** One transaction with its parameters. Its memory stays until its job has ended. */
class Program
{
public:
	virtual ~Program() = default;

	/** Runs an attempt. Returns ENOENT or EBADMSG if a record that was loaded is gone or damaged. */
	virtual apps::Task<int> run(Transaction &transaction) = 0;

	/** Returns the effects of the last attempt, if it commits. */
	[[nodiscard]] virtual Effects effects() const noexcept { return {}; }

	/** Returns the index into Workload::kinds(). */
	[[nodiscard]] virtual unsigned kind() const noexcept { return 0; }
};

/** Returns a Job's body that runs @p program, which must live longer. */
[[nodiscard]] Body body_of(Program &program);

/** The source of the transactions of one client, one after another. Used by one thread at a time. */
class Terminal
{
public:
	virtual ~Terminal() = default;
	[[nodiscard]] virtual std::unique_ptr<Program> next() = 0;
};

/**
 * The effects of all transactions that have ended. Those of an unknown outcome may be there or not: lowest and highest
 * differ by them.
 */
struct Totals {
	Effects lowest{};
	Effects highest{};

	void add(Outcome outcome, const Effects &effects) noexcept;
	void merge(const Totals &other) noexcept;
};

/** Problems of a store: their number, and the first of each run in words. */
class Findings
{
public:
	static constexpr std::size_t most_texts = 20;

	void add(std::string text);
	[[nodiscard]] std::uint64_t count() const noexcept { return count_; }
	[[nodiscard]] const std::vector<std::string> &texts() const noexcept { return texts_; }

private:
	std::uint64_t count_ = 0;
	std::vector<std::string> texts_;
};

/** Result of a survey of the whole store. */
struct Survey {
	Effects sums{}; /**< values of Workload::sums() */
	Findings findings;
};

/** A workload. Not changed after it was made: any number of threads may use it. */
class Workload
{
public:
	virtual ~Workload() = default;

	[[nodiscard]] virtual std::string_view name() const noexcept = 0;
	/** Returns the names of the kinds of transactions. */
	[[nodiscard]] virtual std::span<const std::string_view> kinds() const noexcept = 0;
	/**
	 * Returns the names of the sums over the store that transactions have effects on, at most std::tuple_size of
	 * Effects.
	 */
	[[nodiscard]] virtual std::span<const std::string_view> sums() const noexcept = 0;
	/** Returns the bytes of the largest value. */
	[[nodiscard]] virtual std::size_t largest_value() const noexcept = 0;
	/** Returns the keys of the largest transaction. */
	[[nodiscard]] virtual std::size_t most_keys() const noexcept = 0;
	/** Returns the number of objects that loading makes. */
	[[nodiscard]] virtual std::uint64_t objects() const noexcept = 0;

	/**
	 * The number of transactions that load the store, and each of them. They may run in any order, on an empty
	 * store.
	 */
	[[nodiscard]] virtual std::uint64_t loads() const noexcept = 0;
	[[nodiscard]] virtual std::unique_ptr<Program> load(std::uint64_t number) const = 0;

	/** @param number of the client: the transactions of different clients of one seed are independent. */
	[[nodiscard]] virtual std::unique_ptr<Terminal> terminal(std::uint64_t seed, std::uint64_t number) const = 0;

	/**
	 * Reads the whole store by transactions of @p client, while nobody else changes anything. Adds each violated
	 * condition to the findings. Returns an error if the store cannot be read.
	 */
	[[nodiscard]] virtual Result<Survey> survey(TransactionClient &client) const = 0;
};

/**
 * Returns the findings of @p after, and a finding for each sum that differs from that of @p before by other than
 * @p totals.
 */
[[nodiscard]] Findings compare(
	const Workload &workload, const Survey &before, const Survey &after, const Totals &totals);

/** Program that writes records: the loading of most workloads. */
class LoadProgram final : public Program
{
public:
	void add(const Key &key, Bytes value) { records_.push_back({key, {value.begin(), value.end()}}); }
	apps::Task<int> run(Transaction &transaction) override;

private:
	struct Record {
		Key key;
		std::vector<std::byte> value;
	};
	std::vector<Record> records_;
};

/** Records that each loading transaction writes. */
constexpr std::uint64_t records_a_load = 8;

} // namespace prism::tx
