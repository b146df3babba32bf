/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/completion.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>
#include <prism/result.hpp>

#include <cstdint>
#include <memory>

namespace prism::rpc::datagram
{

/** Bit in the work request IDs of all sends, and of no receive. */
constexpr std::uint64_t send_bit = std::uint64_t{1} << 63;

/** Destination of datagrams. */
class Address
{
public:
	/** Errors: those of ibv_create_ah(3). */
	static Result<Address> create(const ProtectionDomain &pd, const Endpoint &peer);

	[[nodiscard]] ibv_ah *handle() const noexcept { return handle_.get(); }
	[[nodiscard]] std::uint32_t qp_num() const noexcept { return qp_num_; }

private:
	struct Destroy {
		void operator()(ibv_ah *ah) const noexcept { ibv_destroy_ah(ah); }
	};

	Address(ibv_ah *ah, std::uint32_t qp_num) : handle_(ah), qp_num_(qp_num) {}

	std::unique_ptr<ibv_ah, Destroy> handle_;
	std::uint32_t qp_num_;
};

/** An unreliable datagram queue pair, ready to send and receive. */
class Socket
{
public:
	/** Bytes before a received message: the GRH. */
	static constexpr std::size_t grh_size = 40;

	/** All completions go to @p cq. Errors: those of ibv_create_qp(3) and ibv_modify_qp(3). */
	static Result<Socket> create(
		const ProtectionDomain &pd, const CompletionQueue &cq, std::uint32_t sends, std::uint32_t receives);

	/** Returns address, number and MTU for the peer. */
	[[nodiscard]] const Endpoint &endpoint() const noexcept { return local_; }
	[[nodiscard]] std::uint32_t number() const noexcept { return handle_->qp_num; }

	/**
	 * Posts a signalled send; copies the bytes at once if there are few. Returns 0 or errno: ENOMEM if there is no
	 * room.
	 */
	int send(const Address &to, std::uint64_t wr_id, LocalSlice slice) const noexcept;
	int receive(std::uint64_t wr_id, LocalSlice into) const noexcept;
	/** Flushes all posted requests; nothing arrives any more. */
	void close() const noexcept;

private:
	struct Destroy {
		void operator()(ibv_qp *qp) const noexcept { ibv_destroy_qp(qp); }
	};

	Socket(ProtectionDomain pd, CompletionQueue cq, ibv_qp *qp, std::uint32_t inline_data)
		: pd_(std::move(pd)), cq_(std::move(cq)), handle_(qp), inline_data_(inline_data)
	{
	}
	Result<void> describe();
	Result<void> start();

	ProtectionDomain pd_;
	CompletionQueue cq_;
	std::unique_ptr<ibv_qp, Destroy> handle_;
	std::uint32_t inline_data_;
	Endpoint local_;
};

} // namespace prism::rpc::datagram
