/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Order between the transactions of a history that follows from what they have read and written. */
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cycles.hpp"
#include "findings.hpp"
#include "graph.hpp"
#include "index.hpp"

namespace prism::serializability
{

/** Effect of one transaction on one key, as the others see it. */
struct Access {
	std::uint32_t key = 0;
	/** Number of the version that was there before; of a list its length. */
	std::uint32_t seen = Index::nobody;
	std::uint32_t appended = 0;            /**< elements */
	std::uint32_t written = Index::nobody; /**< the last version; initial: erased */
	bool reads = false;                    /**< `seen` holds */

	[[nodiscard]] bool writes() const noexcept { return written != Index::nobody; }
};

/** Collects the accesses of one transaction after the other, and adds findings that one transaction alone shows. */
class AccessReader
{
public:
	AccessReader(const Index &index, Findings &findings);

	/**
	 * Returns the accesses, valid until the next call.
	 * @param report add findings
	 */
	std::span<const Access> read(std::uint32_t transaction, bool report);

private:
	Access &access_to(std::uint32_t key);
	void read_register(Access &access, std::uint64_t operation);
	void read_list(Access &access, std::uint64_t operation);
	void look_at(Access &access, std::uint32_t seen, std::uint64_t operation);
	[[nodiscard]] bool ends_with_own(std::uint64_t operation, std::uint32_t own) const;
	void report_list(std::uint64_t operation);
	void report(std::string_view name, std::uint64_t operation, std::uint32_t version = Index::nobody);

	const Index &index_;
	const std::span<const Operation> operations_;
	Findings &findings_;
	bool reports_ = false;
	std::uint32_t transaction_ = 0;
	std::vector<Access> accesses_;
	std::vector<std::uint32_t> place_;     /* by key: in accesses_ */
	std::vector<std::uint32_t> placed_by_; /* by key: the transaction that it is of */
};

/** Finds all edges between the transactions of a history. */
class DependencyFinder
{
public:
	DependencyFinder(const Index &index, Findings &findings);

	/**
	 * Returns the edges. Nodes are transactions; with real time there is one more for each response, from
	 * transactions().size() on.
	 */
	std::vector<Edge> find(const CycleOptions &options);

	/** Returns the nodes of the edges that find() found. */
	[[nodiscard]] std::uint32_t nodes() const noexcept { return nodes_; }

private:
	using Slot = std::uint32_t; /* a version, or behind them an absent key */

	void add(std::uint32_t from, std::uint32_t to, Dependency why, std::uint32_t key = 0);
	void note_successors();
	void note_successor(const Access &access, std::uint32_t transaction);
	void report_lost_updates();
	void note_lists();
	void add_list_edges(const Access &access, std::uint32_t transaction);
	void add_register_edges(const Access &access, std::uint32_t transaction);
	void add_sessions();
	void add_real_time();
	[[nodiscard]] Slot slot_of(const Access &access) const;
	[[nodiscard]] std::uint32_t writer_of(std::uint32_t version) const;
	template <typename Function>
	void for_each_visible(Function function);

	const Index &index_;
	Findings &findings_;
	AccessReader reader_;
	std::vector<Edge> edges_;
	std::uint32_t nodes_ = 0;

	/* Registers: a transaction that has read a slot and overwritten it; nobody, or the first one. */
	std::vector<std::uint32_t> successor_;
	std::unordered_map<Slot, std::vector<std::uint32_t>> more_successors_;
	std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> blind_writers_; /* by key, a few */
	std::vector<bool> erased_;                                                    /* by key */
	/* Lists: by key, a few of the writers of elements that were never read */
	std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> unread_;
};

} // namespace prism::serializability
