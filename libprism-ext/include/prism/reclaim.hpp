/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reclaim: clients report freed buffers in batches by SEND, off the fast path; the server checks each address and puts
 * the buffers back into their free list.
 */
#pragma once

#include <prism/free_list.hpp>
#include <prism/queue_pair.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace prism
{

/** Message of a report. docs/libprism-ext.md specifies it byte by byte. */
struct PRISM_EXPORT FreeReport {
	static constexpr std::size_t header_size = 16;
	static constexpr std::size_t max_addresses = 126;
	static constexpr std::size_t max_size = header_size + 8 * max_addresses;
	using Bytes = std::array<std::byte, max_size>;

	std::uint32_t free_list = 0;
	std::uint32_t count = 0;
	std::array<std::uint64_t, max_addresses> addresses;

	/** Returns the bytes used. count must not exceed max_addresses. */
	std::size_t serialize(Bytes &bytes) const noexcept;

	/** Reads a report from a client that is not trusted. Returns false if it is malformed; this object is then
	 * unspecified. */
	bool parse(std::span<const std::byte> bytes) noexcept;
};

/** The client's side: collects freed addresses and sends them in batches. Neither it nor its queue pair is
 * thread-safe. */
class PRISM_EXPORT FreeReporter
{
public:
	/**
	 * Makes a reporter over @p qp, which must outlive it. Batches are sent inline: the largest holds
	 * (max_inline_data - 16) / 8 addresses. Errors: EINVAL (not even one fits: raise
	 * QueuePairOptions::max_inline_data).
	 */
	static Result<FreeReporter> create(const QueuePair &qp_, std::uint32_t free_list);

	/**
	 * Reports the buffer at @p address, which this client no longer uses and others cannot reach. Sends when the
	 * batch is full, unsignalled: the slot in the send queue becomes free with the next signalled completion of the
	 * queue pair. Returns 0 or errno (ENOMEM: send queue full; the address was not taken: poll, and report it
	 * again).
	 */
	int report(std::uint64_t address) noexcept;

	/**
	 * Sends the rest, signalled: the completion @p wr_id means that everything reported so far is in the server's
	 * receive queue. Returns 0 or errno.
	 */
	int flush(std::uint64_t wr_id) noexcept;

	/** Addresses not sent yet: a client that dies leaks them until the recovery scan. */
	[[nodiscard]] std::uint32_t pending() const noexcept { return batch_.count; }

private:
	FreeReporter(const QueuePair &pair, std::uint32_t free_list, std::uint32_t limit);
	int send(std::uint64_t wr_id, unsigned send_flags) noexcept;

	const QueuePair *qp_;
	std::uint32_t batch_limit_;
	FreeReport batch_;
};

struct ReclaimStats {
	std::uint64_t reports = 0;         /**< messages received */
	std::uint64_t malformed = 0;       /**< of these, not a report */
	std::uint64_t unknown_list = 0;    /**< of these, for a free list that is not served here */
	std::uint64_t failed_receives = 0; /**< receives flushed with an error, such as at the end of a connection */
	std::uint64_t refused = 0;         /**< addresses refused; FreeList::stats() says why */
};

/** The server's side: one for all clients and all free lists. Not thread-safe. */
class PRISM_EXPORT Reclaimer
{
public:
	Reclaimer(Reclaimer &&) = default;
	Reclaimer &operator=(Reclaimer &&) = delete; /* members would go in the wrong order */

	/**
	 * Creates one with room for @p slots reports that have arrived and were not polled yet; when it is used up, a
	 * client's queue pair waits (RNR) until poll() is called.
	 */
	static Result<Reclaimer> create(const ProtectionDomain &pd, std::uint32_t slots = 256);

	/** Serves @p list, which must outlive this object. */
	void serve(FreeList &list);

	/** Receive queue for the clients' queue pairs (QueuePairOptions::srq), and their receive completion queue. */
	[[nodiscard]] ibv_srq *receive_queue() const noexcept { return handle_.get(); }
	[[nodiscard]] const CompletionQueue &completion_queue() const noexcept { return completions_; }

	/** Handles the reports that are there, without waiting. Returns the number of buffers that went back, or a
	 * negative errno. */
	int poll() noexcept;

	[[nodiscard]] const ReclaimStats &stats() const noexcept { return counted_; }

private:
	struct Destroy {
		void operator()(ibv_srq *srq) const noexcept { ibv_destroy_srq(srq); }
	};
	using Handle = std::unique_ptr<ibv_srq, Destroy>;

	Reclaimer(Buffer buffers, CompletionQueue cq, Handle srq);
	int refresh_lists() noexcept;
	int post_slot(std::uint64_t slot) noexcept;
	void handle_report(const Completion &completion) noexcept;
	void judge(FreeList &list) noexcept;
	[[nodiscard]] FreeList *find(std::uint32_t number) const noexcept;

	Buffer memory_; /* declared first: freed only after the receive queue is gone */
	CompletionQueue completions_;
	Handle handle_;
	std::vector<FreeList *> lists_;
	FreeReport report_;
	ReclaimStats counted_;
	std::uint64_t released_ = 0;
};

} // namespace prism
