/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Pilaf's client. GET reads an entry, then its extent, and goes on to the next of three places if it finds another key.
 * Checksums verify all that it reads. GET calls the server in two cases: when reads stay torn, and when none of the
 * places has the key, because the key may have moved from a place not yet read to one already read.
 */
#pragma once

#include "layout.hpp"

#include "kv_calls/rpc_client.hpp"
#include "rpc/two_sided/link.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prism::kv
{

struct PilafClientStats {
	std::uint64_t reads = 0;        /**< READs */
	std::uint64_t torn_entries = 0; /**< entries whose checksum was wrong */
	std::uint64_t torn_extents = 0; /**< extents whose checksum was wrong */
	std::uint64_t gave_up = 0;      /**< GETs that were torn too often and became a call */
	std::uint64_t misses = 0;       /**< GETs that became a call as the key was at none of its places */
};

class PilafClient final : public RpcClient
{
public:
	/** Torn reads of one GET before the server is asked. */
	static constexpr std::uint32_t torn_limit = 8;

	/**
	 * Connects to a PilafServer at @p host, a name or an address. The context stays open as long as the client.
	 * Errors: EPROTONOSUPPORT (another kind of store), EBADMSG (its memory makes no sense), EINVAL (depth),
	 * ETIMEDOUT, ECONNREFUSED ...
	 */
	static Result<std::unique_ptr<PilafClient>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const rpc::ClientOptions &options = {});

	[[nodiscard]] const PilafClientStats &stats() const noexcept { return counted_; }

private:
	/* The progress of a GET. */
	struct Lookup {
		pilaf::Candidates places{};
		std::size_t way = 0;
		std::uint32_t torn = 0;
		bool has_entry = false; /* the READ under way is for the extent */
		pilaf::Entry entry;
	};

	PilafClient(
		std::unique_ptr<rpc::TwoSidedLink> link, RemoteRegion table, RemoteRegion extents, std::uint64_t seed);
	void begin(std::uint32_t slot) noexcept override;
	void on_read(std::uint32_t slot) noexcept override;
	void read_entry(std::uint32_t slot) noexcept;
	void read_extent(std::uint32_t slot) noexcept;
	void check_entry(std::uint32_t slot) noexcept;
	void check_extent(std::uint32_t slot) noexcept;
	void next_place(std::uint32_t slot) noexcept;
	void retry(std::uint32_t slot) noexcept;

	rpc::TwoSidedLink &reads_; /* link() */
	RemoteRegion table_memory_;
	RemoteRegion extent_memory_;
	std::uint64_t hash_seed_;
	std::uint64_t entries_;
	std::vector<Lookup> lookups_;
	PilafClientStats counted_;
};

} // namespace prism::kv
