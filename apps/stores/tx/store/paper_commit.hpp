/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "tx/store/commit.hpp"

namespace prism::tx
{

/** The paper's commit, which a client's death leaves half done: docs/prism-tx.md, "The paper's commit". */
class PaperCommit final : public Commit
{
public:
	PaperCommit(Lane &lane, Execution &execution) noexcept : Commit(lane, execution) {}

	/** Prepared cells never delay a read. */
	int after_fetch() override { return 0; }
	/** No client can resolve another one's transaction. */
	apps::Task<int> after_conflict() override { co_return 0; }
	[[nodiscard]] Request *request(std::uint32_t) noexcept override { return nullptr; }

private:
	apps::Task<Outcome> commit_reads() override;
	apps::Task<Outcome> commit_writes() override;
	/** Blind only in numbered stores, in which each key has a cell of its own. */
	[[nodiscard]] bool is_blind(const Access &access) const noexcept override
	{
		return access.is_write() && !access.fetched && lane_.client.store.numbered;
	}

	apps::Task<Outcome> validate_all();
	apps::Task<Outcome> install_all();
	[[nodiscard]] bool take_installed(Access &access) noexcept;
	apps::Task<void> give_up(Access &access);
};

} // namespace prism::tx
