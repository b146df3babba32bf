/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completions with types: how the request ended (its PRISM status) apart from whether it failed (its error).
 */
#pragma once

#include <prism/device.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

namespace prism
{

/** How a PRISM request ended (docs/semantics.md). Standard requests always end OK. */
enum class Status : std::uint32_t {
	ok = PRISMDV_STATUS_OK,
	cas_miss = PRISMDV_STATUS_CAS_MISS,
	null_pointer = PRISMDV_STATUS_NULL_POINTER,
	no_buffer = PRISMDV_STATUS_NO_BUFFER,
	skipped = PRISMDV_STATUS_SKIPPED,
};

/** Such as "CAS_MISS". Never null. */
inline const char *to_string(Status status) noexcept
{
	return prismdv_status_str(static_cast<std::uint32_t>(status));
}

/** The end of one work request. */
struct Completion {
	std::uint64_t wr_id = 0;
	Status status = Status::ok;           /**< meaningful if there is no error */
	std::uint32_t byte_len = 0;           /**< bytes moved; docs/semantics.md says which for each operation */
	ibv_wc_status error = IBV_WC_SUCCESS; /**< anything else: the queue pair is in the error state */
	ibv_wc_opcode opcode = IBV_WC_SEND;   /**< valid if there is no error */
	std::uint32_t qp_num = 0;

	/** No error, and the operation did what it was asked to. */
	[[nodiscard]] bool ok() const noexcept { return error == IBV_WC_SUCCESS && status == Status::ok; }
	[[nodiscard]] bool failed() const noexcept { return error != IBV_WC_SUCCESS; }
	[[nodiscard]] bool is_receive() const noexcept { return !failed() && (opcode & IBV_WC_RECV) != 0; }

	/** The error's name if there is one, else the status's. */
	[[nodiscard]] const char *describe() const noexcept
	{
		return failed() ? ibv_wc_status_str(error) : to_string(status);
	}
};

/** What @p wc says, typed. */
PRISM_EXPORT Completion to_completion(const ibv_wc &wc) noexcept;

/** A completion queue. Copies share it. */
class PRISM_EXPORT CompletionQueue
{
public:
	/** With room for at least @p entries completions. */
	static Result<CompletionQueue> create(const Context &context, int entries);

	[[nodiscard]] ibv_cq *raw() const noexcept { return handle_.get(); }

	/** Takes what is there, without waiting. Returns how many, or a negative errno. Allocates nothing. */
	int poll(std::span<Completion> completions) const noexcept;

	/**
	 * Waits for one completion. Returns 0, ETIMEDOUT, or the errno of the queue. Polls, and gives way to other
	 * threads when nothing has come for a while: it suits both a caller that drives the device and an engine
	 * thread.
	 */
	int wait(Completion &completion, std::chrono::nanoseconds timeout) const noexcept;

private:
	explicit CompletionQueue(std::shared_ptr<ibv_cq> cq) : handle_(std::move(cq)) {}

	std::shared_ptr<ibv_cq> handle_;
};

} // namespace prism
