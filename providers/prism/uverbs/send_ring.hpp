/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The send queue that the module reads. Requests are built here and become entries when they are submitted. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../verbs/work_request.hpp"
#include "shared_queue.hpp"

namespace prism::uverbs
{

struct SendRequest : WorkRequest {
	/* A SEND of an unconnected queue pair */
	std::uint32_t ah = 0;
	std::uint32_t remote_qpn = 0;
	std::uint32_t remote_qkey = 0;
};

class SendRing
{
public:
	/** 0 or an errno. */
	int map(int cmd_fd, const prism_abi_mmap &where, const ibv_qp_cap &cap, bool prism);

	[[nodiscard]] std::uint32_t room() const { return queue_.room(tail); }
	SendRequest &at(std::uint32_t index) { return slots_[index & queue_.mask()]; }

	/** Return a request's sges, inline bytes or operands, which lie in the entry already. */
	std::span<Sge> sges(const SendRequest &wr);
	std::span<std::byte> inline_bytes(const SendRequest &wr);
	std::uint8_t *operands(const SendRequest &wr);

	/** Makes the requests from index @p begin to the tail visible to the module. */
	void publish(std::uint32_t begin);

	std::uint32_t max_sge = 0;
	std::uint32_t max_inline = 0;
	std::uint32_t tail = 0; /* next to post; runs freely */
	bool resumes = false;   /* the peer has declared RESUME, and the module can ask for it */
	bool bundles = false;   /* both peer and module speak a version that has bundles */

private:
	[[nodiscard]] std::byte *entry(const SendRequest &wr) const;
	void encode(const SendRequest &wr) const;
	/** Returns the flags by which a PRISM request tells the module about the peer. */
	[[nodiscard]] std::uint32_t peer_flags() const;

	SharedQueue queue_;
	std::size_t header_ = 0;
	std::vector<SendRequest> slots_;
};

} // namespace prism::uverbs
