/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * FaRM's client. It reads a key by two READs, of its bucket and of its object, and all keys of one fetch at once. A
 * transaction remembers where it found an object. A commit that changes something calls LOCK at the shards of its
 * changes, all at once; then compares the marks of the keys that were only read, by READs, or by a call where a shard
 * has many of them; then calls UPDATE. A commit that changes nothing only compares, and does not even compare if it has
 * read a single key.
 *
 * Strictly serializable: a transaction takes effect between its first and its last message.
 */
#pragma once

#include "layout.hpp"

#include "tx_calls/calling_client.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace prism::tx
{

struct FarmClientOptions : CallingClientOptions {
	std::uint32_t parallel_reads = 8; /**< READs under way at once, of a transaction at one shard; 1 to 64 */
	/**
	 * Comparisons at one shard beyond which one call makes them all in place of READs; at most parallel_reads. 4 in
	 * FaRM.
	 */
	std::uint32_t validating_reads = 4;
	/**
	 * If true, a transaction counts as committed with the first shard's answer to its UPDATEs, as in FaRM, where
	 * the others could be completed from logs. This guarantees less here: while this client lives, the locks at the
	 * other shards keep everybody from objects that are not updated yet. But if it dies at this moment, a
	 * transaction that it has reported as committed is there in part. If false, only a transaction whose outcome
	 * nobody was told can be there in part.
	 */
	bool first_answer_counts = true;
};

struct FarmClientStats {
	std::uint64_t reads = 0;       /**< READs of buckets and objects */
	std::uint64_t torn = 0;        /**< of these, with a wrong checksum */
	std::uint64_t locked = 0;      /**< of these, of an object that was locked */
	std::uint64_t second = 0;      /**< of these, needed because the first bucket or object was not the right one */
	std::uint64_t validations = 0; /**< marks compared by READs */
};

class FarmClient final : public CallingClient
{
public:
	/** READs of an object that stays locked, or a bucket that stays torn, before the transaction gives up. */
	static constexpr std::uint32_t patience_reads = 16;

	/**
	 * Connects to all @p shards, in the order of their numbers. The context stays open as long as the client.
	 * Errors: EINVAL (options, no shards), EPROTONOSUPPORT (another kind of store), EBADMSG (a server that makes no
	 * sense, or is not the shard that it is taken for), ETIMEDOUT, ECONNREFUSED ...
	 */
	static Result<std::unique_ptr<FarmClient>> connect(const Context &context,
		std::span<const apps::ServerAddress> shards, const FarmClientOptions &options = {});
	~FarmClient() override;

	[[nodiscard]] const FarmClientStats &stats() const noexcept { return counted_; }

private:
	friend class FarmTransaction;
	/** Layout and regions of a shard's memory. */
	struct Memory {
		farm::Geometry geometry;
		RemoteRegion index;
		RemoteRegion objects;
	};

	FarmClient(Links links, std::vector<Memory> memories, const FarmClientOptions &options);

	const FarmClientOptions options_;
	const std::vector<Memory> memories_;
	FarmClientStats counted_;
};

} // namespace prism::tx
