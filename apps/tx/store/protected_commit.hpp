/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "tx/store/commit.hpp"
#include "tx/store/resolver.hpp"

namespace prism::tx
{

/**
 * The commit that a client's death at any point leaves whole: values and decision are on the shards before anything is
 * installed, and anyone can finish it. docs/prism-tx.md, "Commit".
 */
class ProtectedCommit final : public Commit
{
public:
	/** @p was_decided: registered memory for the decision's answer. */
	ProtectedCommit(Lane &lane, Execution &execution, Resolver &resolver, Decision &was_decided);

	[[nodiscard]] Request *request(std::uint32_t number) noexcept override;

private:
	apps::Task<Outcome> commit_reads() override;
	apps::Task<Outcome> commit_writes() override;
	apps::Task<int> after_conflict() override;
	[[nodiscard]] bool is_blind(const Access &) const noexcept override { return false; }

	void decide(Chain &chain, bool conditional) noexcept;
	void validate(Chain &chain, Access &access, bool conditional) noexcept;
	void post_validation(Access &access, bool conditional) noexcept;
	bool post_reads() noexcept;
	void post_writes(std::span<Access *const> writes, bool conditional) noexcept;
	void post_writes(std::size_t shard, bool conditional) noexcept;

	apps::Task<Outcome> commit_in_one_chain(bool &only_too_old);
	apps::Task<Outcome> commit_prepared(bool &only_too_old);
	apps::Task<Outcome> decide_and_install();
	apps::Task<int> give_up();
	[[nodiscard]] bool on_one_shard() noexcept;

	Resolver &resolver_;
	Request decision_;
	Decision &was_decided_;
	std::vector<Access *> writes_; /* of the chain that is made */
};

} // namespace prism::tx
