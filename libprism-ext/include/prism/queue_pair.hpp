/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A reliable connected queue pair that speaks PRISM.
 */
#pragma once

#include <prism/completion.hpp>
#include <prism/device.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace prism
{

/** Description of one side's queue pair for the other side. */
struct Endpoint {
	prismdv_capability capability{}; /**< all zeros: does not speak PRISM */
	ibv_gid gid{};
	std::uint32_t qp_num = 0;
	std::uint32_t psn = 0;               /**< first PSN that it sends */
	ibv_mtu mtu = IBV_MTU_1024;          /**< largest path MTU that it supports */
	std::uint8_t max_rd_atomic = 1;      /**< requests it may have in flight */
	std::uint8_t max_dest_rd_atomic = 1; /**< requests it serves in flight */
};

struct QueuePairOptions {
	std::uint32_t max_send_wr = 256;
	std::uint32_t max_recv_wr = 16;
	std::uint32_t max_send_sge = 1;
	std::uint32_t max_inline_data = 256; /**< bytes */
	ibv_srq *srq = nullptr;              /**< receives come from here; must outlive the queue pair */
	unsigned access_flags = access::all; /**< rights of the peer; each region restricts them */
	std::uint8_t port = 1;
	std::optional<int> gid_index; /**< Context::default_gid_index() if not set */
	std::optional<ibv_mtu> mtu;   /**< the port's active MTU if not set */
	std::uint8_t timeout = 14;    /**< local ACK timeout: 4.096 us * 2^timeout */
	std::uint8_t retry_count = 7;
	std::uint8_t rnr_retry = 7;     /**< 7: retries for ever */
	std::uint8_t min_rnr_timer = 1; /**< IB spec, table "RNR NAK timer field": 10 us */
};

class PRISM_EXPORT QueuePair
{
public:
	QueuePair(QueuePair &&) = default;
	QueuePair &operator=(QueuePair &&) = delete; /* members would go in the wrong order */

	/** Sends complete to @p send_cq, receives to @p receive_cq. The queue pair is left in the RESET state. */
	static Result<QueuePair> create(const ProtectionDomain &pd, const CompletionQueue &send_cq_,
		const CompletionQueue &receive_cq_, const QueuePairOptions &options_ = {});

	/** Description of the queue pair for the peer. */
	[[nodiscard]] const Endpoint &endpoint() const noexcept { return local_; }

	/**
	 * Changes the queue pair to RTS towards @p peer, with the smaller of both sides' MTUs and depths, and declares
	 * the peer's capabilities. A peer that does not speak PRISM is connected too: standard operations work, and
	 * posting PRISM ones fails with EOPNOTSUPP. Errors: EPROTONOSUPPORT (no common protocol version), or those of
	 * ibv_modify_qp(3).
	 */
	Result<void> connect(const Endpoint &peer);

	/** Connects the queue pair to itself, for a server that changes memory shared by its clients
	 * (docs/semantics.md, atomicity). */
	Result<void> connect_to_self() { return connect(local_); }

	[[nodiscard]] bool peer_speaks_prism() const noexcept { return prism_peer_; }
	/** Number of PRISM requests that may be in flight; more wait in the send queue. 0 before connect(). */
	[[nodiscard]] std::uint32_t depth() const noexcept { return outstanding_; }
	/** Bytes that a request can carry inline. */
	[[nodiscard]] std::uint32_t max_inline_data() const noexcept { return inline_data_; }

	[[nodiscard]] ibv_qp *raw() const noexcept { return handle_.get(); }
	[[nodiscard]] ibv_qp_ex *builder() const noexcept { return standard_builder_; }
	[[nodiscard]] prismdv_qp_ex *prism_builder() const noexcept { return prism_; }
	[[nodiscard]] const ProtectionDomain &domain_handle() const noexcept { return domain_; }
	[[nodiscard]] const CompletionQueue &send_queue() const noexcept { return send_cq_; }
	[[nodiscard]] const CompletionQueue &receive_queue() const noexcept { return receive_cq_; }

	/** Posts one receive buffer. Returns 0 or errno. */
	int post_receive(std::uint64_t wr_id, LocalSlice into) const noexcept;

	/** Sends @p slice; with IBV_SEND_INLINE it is copied at once and its lkey is ignored. Returns 0 or errno. */
	int post_send(std::uint64_t wr_id, LocalSlice slice, unsigned send_flags) const noexcept;

private:
	struct Destroy {
		void operator()(ibv_qp *qp) const noexcept { ibv_destroy_qp(qp); }
	};

	QueuePair(ProtectionDomain pd, CompletionQueue send, CompletionQueue receive, const QueuePairOptions &chosen,
		ibv_qp *qp);
	Result<void> describe();
	Result<void> to_init();
	Result<void> to_rtr(const Endpoint &peer);
	Result<void> to_rts(const Endpoint &peer);
	Result<void> declare(const Endpoint &peer);

	ProtectionDomain domain_;
	CompletionQueue send_cq_;
	CompletionQueue receive_cq_;
	QueuePairOptions options_;
	std::unique_ptr<ibv_qp, Destroy> handle_;
	ibv_qp_ex *standard_builder_ = nullptr;
	prismdv_qp_ex *prism_ = nullptr;
	Endpoint local_;
	int gid_index_ = 0;
	std::uint32_t outstanding_ = 0;
	std::uint32_t inline_data_ = 0;
	bool prism_peer_ = false;
};

} // namespace prism
