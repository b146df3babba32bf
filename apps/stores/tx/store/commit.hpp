/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "tx/store/execution.hpp"

namespace prism::tx
{

/**
 * The second half of a transaction: makes its changes visible, all or none. One class for each protocol derives from
 * it; this class has the common part, the steps on one cell. docs/prism-tx.md has the protocols.
 */
class Commit
{
public:
	virtual ~Commit() = default;
	Commit(const Commit &) = delete;
	Commit &operator=(const Commit &) = delete;

	/** Starts a new attempt. Nothing may be under way. */
	void begin() noexcept;
	/**
	 * Commits the executed transaction. Returns any outcome but rolled_back; after Outcome::conflict nothing is
	 * prepared any more.
	 */
	apps::Task<Outcome> run();
	/** Returns the errno with which run() failed. */
	[[nodiscard]] int error() const noexcept { return error_; }
	[[nodiscard]] const Timestamp &timestamp() const noexcept { return timestamp_; }

	/** Call after each fetch. Returns 0, or EAGAIN if this attempt cannot commit the values that it has read. */
	virtual int after_fetch() = 0;
	/**
	 * Call once for each attempt that met others or found no buffer, and that run() does not end. Returns 0, or an
	 * errno if another attempt makes no sense.
	 */
	virtual apps::Task<int> after_conflict() = 0;

	/** Returns request @p number of those beside the accesses', from 0 on; null if there is none of this number. */
	[[nodiscard]] virtual Request *request(std::uint32_t number) noexcept = 0;

protected:
	/* Result of a preparation. */
	enum class Prepare : std::uint8_t {
		done,
		too_old, /* a later transaction has read it */
		taken,   /* another writer is prepared */
		skipped, /* an earlier request of the chain did not succeed */
		no_buffer,
		failed,
	};

	Commit(Lane &lane, Execution &execution) noexcept : lane_(lane), execution_(execution) {}

	/** As run(), for a transaction that changes nothing. */
	virtual apps::Task<Outcome> commit_reads() = 0;
	/** As run(), for a transaction that writes: its objects are composed. */
	virtual apps::Task<Outcome> commit_writes() = 0;
	/** Returns true if @p access is written without having been read. */
	[[nodiscard]] virtual bool is_blind(const Access &access) const noexcept = 0;

	/* Steps */
	int compose_all() noexcept;
	int choose_free_list(Access &access) noexcept;
	/** Returns 0, or EOVERFLOW if the clock is at its end. */
	int take_timestamp(std::uint32_t home) noexcept;
	[[nodiscard]] Cas validation(const Access &access) const noexcept;
	void stage_object(Chain &chain, Access &access, bool conditional) noexcept;
	void announce(Chain &chain, Access &access, bool conditional) noexcept;
	void install(Chain &chain, Access &access, bool conditional) noexcept;
	Prepare judge(Access &access) noexcept;
	void release_staged(Access &access) noexcept;
	Outcome failed(int error) noexcept;
	[[nodiscard]] bool meets_stopping_shard() noexcept;
	apps::Task<bool> regains(std::size_t shard);

	[[nodiscard]] std::span<Access> accesses() noexcept { return execution_.accesses(); }
	[[nodiscard]] RemoteAddress entry_of(const Access &access) const noexcept;

	Lane &lane_;
	Execution &execution_;
	Timestamp timestamp_;
	int error_ = 0;
	bool no_buffer_ = false;
	unsigned without_buffer_ = 0; /* consecutive attempts that have found no buffer */

private:
	bool take_another_place() noexcept;
	apps::Task<Outcome> attempt();
	int compose(Access &access) noexcept;
};

} // namespace prism::tx
