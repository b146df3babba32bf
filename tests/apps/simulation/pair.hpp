/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue pair on the simulated network that takes what a verbs one takes: chains, and sends. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <prism/chain.hpp>
#include <prism/completion.hpp>

#include "node.hpp"
#include "posting.hpp"
#include "rdma_core_abi.h"

namespace simulation
{

/** The protection domain of all that a simulated device has. */
inline constexpr std::uint32_t domain = 1;

namespace soft = prism::soft;
namespace test = prism::test;

/** What Posting works on: begins as every queue pair of libprism does. */
struct PostingObject : prism::PostingState<soft::SendRequest> {
	test::Endpoint *endpoint = nullptr;
};

/** Posts by the code of the devices (posting.hpp), to an engine without sockets. Not copied: libibverbs points into it.
 */
class Pair
{
public:
	Pair(test::Node &node, const test::EndpointOptions &options);

	/** Connects this and @p server to each other, or this to itself. */
	void connect(test::Endpoint &server, const test::ConnectOptions &options);

	/** As Chain::post(). */
	int post(const prism::Chain &chain, std::uint64_t wr_id) noexcept;
	int post(std::span<const prism::Chain::Posting> postings) noexcept;

	/** As ibv_post_send(3). 0 or errno. */
	int post(ibv_send_wr *first) noexcept;

	/** SEND of bytes that are copied at once. 0 or errno. */
	int send(std::span<const std::byte> bytes, std::uint64_t wr_id, bool signaled) noexcept;

	/** Takes one completion of what was posted. False: there is none. */
	bool poll(prism::Completion &completion) noexcept;

	/** What builds a CAS of a chain. */
	using CasBuilder = decltype(prismdv_qp_ex::wr_cas);
	/** For controls that spoil them: @p builder stands in front of the one that is returned. */
	CasBuilder put_in_front(CasBuilder builder) noexcept { return std::exchange(object_.dv.base.wr_cas, builder); }

	/** Likewise, what builds everything else. The same for all pairs. */
	[[nodiscard]] prismdv_qp_ex &prism_builders() noexcept { return object_.dv.base; }
	[[nodiscard]] ibv_qp_ex &verbs_builders() noexcept { return object_.base.qp_ex; }

	test::Endpoint endpoint;

private:
	PostingObject object_;
};

} // namespace simulation
