/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What clients of a transactional store do: the workloads that such stores are usually measured by, and what must hold
 * when they are over. A seed repeats the transactions of a workload exactly; how often each of them is run again is up
 * to the store.
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

/** All keys of all workloads: composed of a few numbers, so that each store has them at the same cost. */
using Key = std::array<std::byte, 8>;

/** What a body gives when its workload wants it to be rolled back. Every other error is trouble. */
constexpr int own_rollback = ECANCELED;

/** By how much a transaction changes what Workload::sums() names. */
using Effects = std::array<std::int64_t, 2>;

/** One transaction with its parameters. Its memory stays until its job has ended. */
class Program
{
public:
	virtual ~Program() = default;

	/** An attempt. ENOENT, EBADMSG: a record that was loaded is gone or damaged. */
	virtual apps::Task<int> run(Transaction &transaction) = 0;

	/** Of a commit of the last attempt. */
	[[nodiscard]] virtual Effects effects() const noexcept { return {}; }

	/** Which of Workload::kinds(). */
	[[nodiscard]] virtual unsigned kind() const noexcept { return 0; }
};

/** A Job's body that runs @p program, which lives longer. */
[[nodiscard]] Body body_of(Program &program);

/** The transactions of one client, one after another. One thread at a time. */
class Terminal
{
public:
	virtual ~Terminal() = default;
	[[nodiscard]] virtual std::unique_ptr<Program> next() = 0;
};

/** The effects of all transactions that have ended. Of one whose outcome is unknown they may be there or not. */
struct Totals {
	Effects lowest{};
	Effects highest{};

	void add(Outcome outcome, const Effects &effects) noexcept;
	void merge(const Totals &other) noexcept;
};

/** What is wrong with a store, the first of each run in words. */
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

/** What a look at the whole store gave. */
struct Survey {
	Effects sums{}; /**< what Workload::sums() names */
	Findings findings;
};

/** Not changed after it was made: any number of threads may use it. */
class Workload
{
public:
	virtual ~Workload() = default;

	[[nodiscard]] virtual std::string_view name() const noexcept = 0;
	/** The kinds of transactions. */
	[[nodiscard]] virtual std::span<const std::string_view> kinds() const noexcept = 0;
	/** What transactions have effects on: sums over the store, at most std::tuple_size of Effects. */
	[[nodiscard]] virtual std::span<const std::string_view> sums() const noexcept = 0;
	/** Bytes of the largest value. */
	[[nodiscard]] virtual std::size_t largest_value() const noexcept = 0;
	/** Keys of the largest transaction. */
	[[nodiscard]] virtual std::size_t most_keys() const noexcept = 0;
	/** How many objects loading makes. */
	[[nodiscard]] virtual std::uint64_t objects() const noexcept = 0;

	/** How many transactions load the store, and each of them. They may run in any order, on an empty store. */
	[[nodiscard]] virtual std::uint64_t loads() const noexcept = 0;
	[[nodiscard]] virtual std::unique_ptr<Program> load(std::uint64_t number) const = 0;

	/** @param number of the client: those of one seed have nothing to do with each other. */
	[[nodiscard]] virtual std::unique_ptr<Terminal> terminal(std::uint64_t seed, std::uint64_t number) const = 0;

	/**
	 * Reads the whole store by transactions of @p client, while nobody else changes anything. What must hold within
	 * the store and does not is among the findings. An error if the store cannot be read.
	 */
	[[nodiscard]] virtual Result<Survey> survey(TransactionClient &client) const = 0;
};

/** Findings of @p after, and where its sums differ from those of @p before by something else than @p totals. */
[[nodiscard]] Findings compare(
	const Workload &workload, const Survey &before, const Survey &after, const Totals &totals);

/** Writes records: the loading of most workloads. */
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

/** Records of one transaction that loads. */
constexpr std::uint64_t records_a_load = 8;

} // namespace prism::tx
