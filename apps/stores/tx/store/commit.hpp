/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "tx/store/execution.hpp"

namespace prism::tx
{

/**
 * The second half of a transaction: how its changes become visible, all or none. One class for each protocol derives
 * from it; what is here is common to them, the steps on one cell. docs/prism-tx.md has the protocols.
 */
class Commit
{
public:
	virtual ~Commit() = default;
	Commit(const Commit &) = delete;
	Commit &operator=(const Commit &) = delete;

	/** A new attempt: nothing is under way. */
	void begin() noexcept;
	/**
	 * Commits what was executed. Anything but Outcome::rolled_back; after Outcome::conflict nothing is prepared any
	 * more.
	 */
	apps::Task<Outcome> run();
	/** The errno of what run() has failed with. */
	[[nodiscard]] int error() const noexcept { return error_; }
	[[nodiscard]] const Timestamp &timestamp() const noexcept { return timestamp_; }

	/** Something was fetched. 0; EAGAIN: this attempt cannot commit what it has read. */
	virtual int after_fetch() = 0;
	/**
	 * An attempt has met others, or found no buffer: once for each that run() does not end. 0 or errno: another
	 * attempt makes no sense.
	 */
	virtual apps::Task<int> after_conflict() = 0;

	/** Requests beside those of the accesses, from 0 on; null: there is none of this number. */
	[[nodiscard]] virtual Request *request(std::uint32_t number) noexcept = 0;

protected:
	/* How a preparation went. */
	enum class Prepare : std::uint8_t {
		done,
		too_old, /* a later transaction has read it */
		taken,   /* another writer is prepared */
		skipped, /* an earlier request of the chain did not succeed */
		no_buffer,
		failed,
	};

	Commit(Lane &lane, Execution &execution) noexcept : lane_(lane), execution_(execution) {}

	/** As run(), of what changes nothing. */
	virtual apps::Task<Outcome> commit_reads() = 0;
	/** As run(), of what writes: its objects are composed. */
	virtual apps::Task<Outcome> commit_writes() = 0;
	/** @p access is written without having been read. */
	[[nodiscard]] virtual bool is_blind(const Access &access) const noexcept = 0;

	/* Steps */
	int compose_all() noexcept;
	int choose_free_list(Access &access) noexcept;
	/** 0, or EOVERFLOW: the clock is at its end. */
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
	unsigned without_buffer_ = 0; /* attempts one after another that have found none */

private:
	bool take_another_place() noexcept;
	apps::Task<Outcome> attempt();
	int compose(Access &access) noexcept;
};

} // namespace prism::tx
