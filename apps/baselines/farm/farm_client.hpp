/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * FaRM's client. A key is read by two READs, its bucket and its object, and all keys of one fetch at once; where an
 * object is stays known to the transaction. A commit that changes something calls LOCK at the shards of its changes,
 * all at once; then compares the marks of what was only read, by READs, or by a call where there are many on one shard;
 * then calls UPDATE. One that changes nothing only compares, and not even that if it has read a single key.
 *
 * Serializable, and strictly: a transaction takes its place between its first and its last message.
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
	/** Comparisons at one shard that are made by one call in place of READs: more than these, at most
	 * parallel_reads. 4 in FaRM. */
	std::uint32_t validating_reads = 4;
	/**
	 * A transaction counts as committed with the first shard's answer to its UPDATEs, as in FaRM, where the others
	 * could be completed from logs. Here it makes sure of less: the other shards' locks keep everybody from what is
	 * not updated yet as long as this client lives, but if it dies in this moment, what it was told to have
	 * committed is there in part. Without it the same can be said only of a transaction whose outcome nobody was
	 * told.
	 */
	bool first_answer_counts = true;
};

struct FarmClientStats {
	std::uint64_t reads = 0;       /**< READs of buckets and objects */
	std::uint64_t torn = 0;        /**< of these, with a wrong checksum */
	std::uint64_t locked = 0;      /**< of these, of an object that somebody had locked */
	std::uint64_t second = 0;      /**< of these, as the first bucket or object was not the right one */
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
	/** What is known of a shard's memory. */
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
