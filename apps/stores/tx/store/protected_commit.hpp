/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "tx/store/commit.hpp"
#include "tx/store/resolver.hpp"

namespace prism::tx
{

/** Registered memory of a ProtectedCommit. */
struct ProtectedCommitMemory {
	LogEntry entries[max_accesses]; /* as they are to be in the logs, without the objects */
	Decision was_decided;
	std::uint64_t unused[4];
};

/**
 * The commit that stays atomic if its client dies at any point: values and decision are on the shards before anything
 * is installed, so any client can finish it. Cells that are only read are validated after all cells to be written are
 * prepared: docs/prism-tx.md, "Commit" and "Isolation".
 */
class ProtectedCommit final : public Commit
{
public:
	ProtectedCommit(Lane &lane, Execution &execution, Resolver &resolver, ProtectedCommitMemory &memory);

	int after_fetch() override;
	apps::Task<int> after_conflict() override;
	[[nodiscard]] Request *request(std::uint32_t number) noexcept override;

private:
	apps::Task<Outcome> commit_reads() override;
	apps::Task<Outcome> commit_writes() override;
	[[nodiscard]] bool is_blind(const Access &) const noexcept override { return false; }

	/* Parts of chains */
	void validate(Chain &chain, Access &access, bool conditional) noexcept;
	void announce_all(Chain &chain, bool conditional) noexcept;
	void decide(Chain &chain, bool conditional) noexcept;
	void post_validation(Access &access, bool conditional) noexcept;
	bool post_object(Access &access, bool conditional) noexcept;
	void post_one_write(Access &access) noexcept;
	void post_writes(std::size_t shard) noexcept;
	void post_end(std::size_t home, bool conditional) noexcept;
	void number_entries() noexcept;

	/* A commit */
	apps::Task<Outcome> prepare_and_decide(bool &only_too_old);
	void post_first_round(bool one_chain) noexcept;
	Outcome judge_writes(bool &only_too_old) noexcept;
	Outcome judge_reads(bool one_chain) noexcept;
	[[nodiscard]] bool is_prepared(const Access &access) const noexcept;
	apps::Task<Outcome> prepare_rest();
	apps::Task<Outcome> decide_and_install();
	apps::Task<Outcome> find_out();
	void install_rest() noexcept;
	apps::Task<void> give_up();
	void lack_buffer(const Access &access) noexcept;
	[[nodiscard]] bool on_one_shard() noexcept;
	[[nodiscard]] bool is_alone() const noexcept { return Writer::of(timestamp_.writer).home == Writer::no_home; }
	/** Returns the request whose success commits. */
	[[nodiscard]] const Request &decisive() noexcept
	{
		return is_alone() ? execution_.first_write()->end : decision_;
	}

	Resolver &resolver_;
	ProtectedCommitMemory &memory_;
	Request decision_;
	std::vector<Access *> writes_; /* of the chain under construction */
};

} // namespace prism::tx
