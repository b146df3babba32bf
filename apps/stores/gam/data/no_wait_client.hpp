/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "gam/data/records.hpp"
#include "gam/node/node.hpp"
#include "tx/transaction/client.hpp"

namespace prism::gam
{

struct NoWaitClientOptions {
	std::uint32_t depth = 1; /**< transactions under way at once */
	/**
	 * True if fetch() takes locks for writing, for transactions that write most of what they read. Otherwise, of
	 * two that have read a key and want to write it, at least one is refused at its commit.
	 */
	bool exclusive_fetch = false;
	/** False: no transaction locks anything. For control runs of tests: a checker has to detect that. */
	bool locks = true;
	tx::RetryOptions retry;
};

class NoWaitTransaction;

/**
 * A client that runs transactions on the records of a store, by two-phase locking that never waits for a lock (VLDB
 * '18, section 6): a transaction that finds a lock taken releases all of its own, and begins again after a pause. A
 * lock brings its record here, so a commit is local: no round of votes. Strictly serializable.
 *
 * If a node dies, its commits may be undone in part, until there are logs (docs/prism-gam.md).
 */
class NoWaitClient final : public tx::TransactionClient
{
public:
	/** Opens the store of Records with @p catalogue. Errors: EINVAL (depth 0), those of Records::open(). */
	static Result<std::unique_ptr<NoWaitClient>> open(
		Node &node, Address catalogue, const NoWaitClientOptions &options = {});
	~NoWaitClient() override;

	/** Returns true if the node is no longer a member. */
	[[nodiscard]] bool has_ended() const noexcept override { return node_.lease_is_over(); }

protected:
	void drive() noexcept override { (void)node_.poll(); }
	[[nodiscard]] tx::Transaction &transaction(std::uint32_t lane) noexcept override;

private:
	NoWaitClient(Node &node, const NoWaitClientOptions &options);

	Node &node_;
	std::vector<std::unique_ptr<NoWaitTransaction>> lanes_;
};

} // namespace prism::gam
