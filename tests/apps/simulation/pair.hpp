/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pair on the simulated network that takes the same requests as a verbs queue pair: chains and sends. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <prism/chain.hpp>
#include <prism/completion.hpp>

#include "node.hpp"
#include "verbs/posting.hpp"
#include "verbs/rdma_core_abi.h"

namespace simulation
{

/** Protection domain of all objects of a simulated device. */
inline constexpr std::uint32_t domain = 1;

namespace soft = prism::soft;
namespace test = prism::test;

/** State for Posting; begins like every queue pair of libprism. */
struct PostingObject : prism::PostingState<soft::SendRequest> {
	test::Endpoint *endpoint = nullptr;
};

/**
 * Queue pair that posts with the devices' code (posting.hpp) to an engine without sockets. Not copied: libibverbs
 * points into it.
 */
class Pair
{
public:
	Pair(test::Node &node, const test::EndpointOptions &options);

	/** Connects this pair and @p server to each other, or this pair to itself. */
	void connect(test::Endpoint &server, const test::ConnectOptions &options);

	/** Posts like Chain::post(). */
	int post(const prism::Chain &chain, std::uint64_t wr_id) noexcept;
	int post(std::span<const prism::Chain::Posting> postings) noexcept;

	/** Posts like ibv_post_send(3). Returns 0 or an errno. */
	int post(ibv_send_wr *first) noexcept;

	/** Posts a SEND of @p bytes, which are copied at once. Returns 0 or an errno. */
	int send(std::span<const std::byte> bytes, std::uint64_t wr_id, bool signaled) noexcept;

	/** Takes one completion. Returns false if there is none. */
	bool poll(prism::Completion &completion) noexcept;

	/** Function that adds a CAS to a chain. */
	using CasBuilder = decltype(prismdv_qp_ex::wr_cas);
	/** Installs @p builder instead of the current one, which it returns. For controls that spoil a CAS. */
	CasBuilder put_in_front(CasBuilder builder) noexcept { return std::exchange(object_.dv.base.wr_cas, builder); }

	/** Return the functions that add all other operations, for the same purpose. All pairs share them. */
	[[nodiscard]] prismdv_qp_ex &prism_builders() noexcept { return object_.dv.base; }
	[[nodiscard]] ibv_qp_ex &verbs_builders() noexcept { return object_.base.qp_ex; }

	test::Endpoint endpoint;

private:
	PostingObject object_;
};

} // namespace simulation
