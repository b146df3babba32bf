/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Histories of transactions: what each client read and wrote, when, and the outcome.
 *
 * Every client records into a file, which outlives its process however that ends; one tool reads them all. README.md
 * has the rules of recording and the format.
 */
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <prism/result.hpp>

namespace prism::serializability
{

/** Kind of the values that the keys of a history hold. */
enum class HistoryKind : std::uint8_t {
	registers = 1, /**< one value, replaced by each write */
	lists = 2,     /**< all values appended so far, in their order */
};

/** Value that a write or an append adds. No key of a history may get the same one twice. */
using Value = std::uint64_t;

/** Value that a read returns for a register that does not exist. Lists that do not exist are empty. */
constexpr Value absent = 0;

/**
 * Returns a value that no other operation of a history has.
 * @param client below 2^24 - 1
 * @param sequence of the transaction in its client, below 2^32
 * @param place of the operation in its transaction, below 2^8
 */
constexpr Value unique_value(std::uint32_t client, std::uint64_t sequence, std::uint32_t place) noexcept
{
	return (std::uint64_t{client} + 1) << 40 | sequence << 8 | place;
}

/** Bits of a value that are a balance, if the history is one of a bank. */
constexpr unsigned balance_bits = 24;

/** Returns a register's value that is unique, and holds a balance. @p client below 2^14 - 1, @p sequence below 2^26. */
constexpr Value account_value(std::uint32_t client, std::uint64_t sequence, std::uint32_t balance) noexcept
{
	return ((std::uint64_t{client} + 1) << 26 | sequence) << balance_bits | balance;
}

/** Returns the balance in a value of account_value(); an absent account has none. */
constexpr std::uint32_t balance_of(Value value) noexcept
{
	return static_cast<std::uint32_t>(value & ((1U << balance_bits) - 1));
}

enum class Action : std::uint8_t {
	read = 1,
	write = 2,  /**< registers */
	append = 3, /**< lists */
	erase = 4,  /**< registers */
};

enum class Outcome : std::uint8_t {
	unknown = 0, /**< all of it took effect or will, or nothing of it */
	committed = 1,
	aborted = 2, /**< nothing of it took effect or ever will */
};

/** Place of a transaction in the order of all. All zero: it has none, or it is unknown. */
struct Stamp {
	std::uint64_t clock = 0;
	std::uint64_t writer = 0;

	auto operator<=>(const Stamp &) const = default;
	[[nodiscard]] bool known() const noexcept { return clock != 0 || writer != 0; }
};

struct Operation {
	std::uint64_t key = 0;
	Value value = absent;     /**< written, appended or read; of a list's read: the offset of its elements */
	std::uint32_t length = 0; /**< of the list that was read */
	Action action = Action::read;

	bool operator==(const Operation &) const = default;
};

/** One transaction, to be recorded. Can be used again: clear() keeps the memory. */
struct Draft {
	std::uint32_t client = 0;
	std::uint64_t sequence = 0; /**< in the client, growing */
	Stamp stamp;
	std::uint64_t invoked = 0;   /**< ns of a clock that all clients share */
	std::uint64_t responded = 0; /**< 0: the outcome is unknown */
	Outcome outcome = Outcome::unknown;
	std::vector<Operation> operations; /**< in their order; reads show what the transaction itself did before */
	std::vector<Value> elements;       /**< of all lists in `operations` */

	void clear() noexcept;
	Draft &read(std::uint64_t key, Value value);
	Draft &read_list(std::uint64_t key, std::span<const Value> list);
	Draft &write(std::uint64_t key, Value value);
	Draft &append(std::uint64_t key, Value value);
	Draft &erase(std::uint64_t key);

	bool operator==(const Draft &) const = default;
};

/**
 * Records transactions into a file.
 *
 * Records go into a mapped window of the file: the kernel has them at once, so SIGKILL loses none, and a full disk is
 * an error and not a signal. Neither allocates nor throws after create(). Not thread-safe: one writer for each thread;
 * it may record several clients.
 */
class HistoryWriter
{
public:
	/** Bytes that one record may have at the worst: about 400,000 elements. */
	static constexpr std::size_t longest_record = std::size_t{4} << 20;

	/** Creates @p path, or empties it. Errors: those of the system. */
	static Result<HistoryWriter> create(const std::filesystem::path &path, HistoryKind kind);

	HistoryWriter(HistoryWriter &&other) noexcept;
	HistoryWriter &operator=(HistoryWriter &&other) noexcept;
	HistoryWriter(const HistoryWriter &) = delete;
	HistoryWriter &operator=(const HistoryWriter &) = delete;
	/** As close(). */
	~HistoryWriter();

	/**
	 * Records what @p transaction is about to do, before its commit is started: call it if the process may be
	 * killed. If record() does not follow, its outcome is unknown. Uses its client, sequence, stamp, invoked and
	 * operations. Returns as record().
	 */
	int intend(const Draft &transaction) noexcept;

	/**
	 * Records @p transaction with its outcome.
	 * @return 0; E2BIG: longer than longest_record; EINVAL: operations of the other kind of history, a value 0
	 * written, or an outcome without a response; or an error of the system, which is then the result of all further
	 * calls
	 */
	int record(const Draft &transaction) noexcept;

	/** Cuts the file to the recorded length. Returns 0, or an error of the system. */
	int close() noexcept;

private:
	HistoryWriter(int descriptor, HistoryKind kind) noexcept : descriptor_(descriptor), kind_(kind) {}
	void swap(HistoryWriter &other) noexcept;
	int put(const Draft &transaction, bool intent) noexcept;
	int make_room(std::size_t size) noexcept;

	int descriptor_ = -1;
	HistoryKind kind_ = HistoryKind::registers;
	int error_ = 0;
	std::byte *window_ = nullptr;
	std::uint64_t base_ = 0;     /* where the window begins in the file */
	std::uint64_t position_ = 0; /* where the next record goes */
};

/** A transaction of a History. */
struct Transaction {
	std::uint64_t sequence = 0;
	Stamp stamp;
	std::uint64_t invoked = 0;
	std::uint64_t responded = 0;
	std::uint64_t first = 0; /**< of its operations */
	std::uint32_t count = 0;
	std::uint32_t client = 0;
	Outcome outcome = Outcome::unknown;
	bool intent = false; /**< only while reading */
};

/** All transactions of all clients, by the time of their invocation. */
class History
{
public:
	[[nodiscard]] HistoryKind kind() const noexcept { return kind_; }
	[[nodiscard]] std::span<const Transaction> transactions() const noexcept { return transactions_; }
	/** Returns indices of the transactions by client, and by sequence in each. */
	[[nodiscard]] std::span<const std::uint32_t> sessions() const noexcept { return sessions_; }
	[[nodiscard]] std::span<const Operation> operations() const noexcept { return operations_; }
	[[nodiscard]] std::span<const Operation> operations_of(const Transaction &transaction) const noexcept
	{
		return std::span(operations_).subspan(transaction.first, transaction.count);
	}
	[[nodiscard]] std::span<const Value> list_of(const Operation &read) const noexcept
	{
		return std::span(elements_).subspan(read.value, read.length);
	}

	/** Returns "client 3 #17 committed at 5.1: read 1 = 7, write 1 = 8". */
	[[nodiscard]] std::string describe(std::uint32_t transaction) const;
	/** Returns "client 3 #17". */
	[[nodiscard]] std::string name_of(std::uint32_t transaction) const;

private:
	friend class HistoryBuilder;

	HistoryKind kind_ = HistoryKind::registers;
	std::vector<Transaction> transactions_;
	std::vector<std::uint32_t> sessions_;
	std::vector<Operation> operations_;
	std::vector<Value> elements_;
};

/** Builds a History. */
class HistoryBuilder
{
public:
	explicit HistoryBuilder(HistoryKind kind) { history_.kind_ = kind; }
	[[nodiscard]] HistoryKind kind() const noexcept { return history_.kind_; }

	/** @param intent as HistoryWriter::intend(). Errors: EINVAL, as HistoryWriter::record(). */
	Result<void> add(const Draft &transaction, bool intent = false);

	/**
	 * Returns the history; the builder is used up. Errors: EINVAL: two transactions of one client with one sequence
	 * number, or at the same time; EOVERFLOW: more than the checkers can number.
	 */
	Result<History> finish();

private:
	Result<void> drop_superseded();

	History history_;
};

/**
 * Reads the histories of all clients, also of those that have died or are still writing.
 * @return the history, or the name of a file that is not a history, the place, and the reason (EINVAL)
 */
Result<History> read_histories(std::span<const std::filesystem::path> paths);

} // namespace prism::serializability
