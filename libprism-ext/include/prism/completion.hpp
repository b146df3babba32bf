/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Typed completions: the PRISM status of a request is separate from its error.
 */
#pragma once

#include <prism/device.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

namespace prism
{

/** Result of a PRISM request (docs/semantics.md). Standard requests always end OK. */
enum class Status : std::uint32_t {
	ok = PRISMDV_STATUS_OK,
	cas_miss = PRISMDV_STATUS_CAS_MISS,
	null_pointer = PRISMDV_STATUS_NULL_POINTER,
	no_buffer = PRISMDV_STATUS_NO_BUFFER,
	skipped = PRISMDV_STATUS_SKIPPED,
};

/** Returns its name, such as "CAS_MISS". Never null. */
inline const char *to_string(Status status) noexcept
{
	return prismdv_status_str(static_cast<std::uint32_t>(status));
}

/** Completion of one work request. */
struct Completion {
	std::uint64_t wr_id = 0;
	Status status = Status::ok;           /**< meaningful if there is no error */
	std::uint32_t byte_len = 0;           /**< bytes moved; docs/semantics.md defines them for each operation */
	ibv_wc_status error = IBV_WC_SUCCESS; /**< anything else: the queue pair is in the error state */
	ibv_wc_opcode opcode = IBV_WC_SEND;   /**< valid if there is no error */
	std::uint32_t qp_num = 0;

	/** Returns true if there is no error, and the operation did what was asked. */
	[[nodiscard]] bool ok() const noexcept { return error == IBV_WC_SUCCESS && status == Status::ok; }
	[[nodiscard]] bool failed() const noexcept { return error != IBV_WC_SUCCESS; }
	[[nodiscard]] bool is_receive() const noexcept { return !failed() && (opcode & IBV_WC_RECV) != 0; }

	/** Returns the error's name if there is one, else the status's. */
	[[nodiscard]] const char *describe() const noexcept
	{
		return failed() ? ibv_wc_status_str(error) : to_string(status);
	}
};

/** Converts @p wc. */
PRISM_EXPORT Completion to_completion(const ibv_wc &wc) noexcept;

/** A completion queue. Copies share it. */
class PRISM_EXPORT CompletionQueue
{
public:
	/** Creates a queue with room for at least @p entries completions. */
	static Result<CompletionQueue> create(const Context &context, int entries);

	[[nodiscard]] ibv_cq *raw() const noexcept { return handle_.get(); }

	/** Takes the completions that are there, without waiting. Returns their number, or a negative errno.
	 * Allocates nothing. */
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
