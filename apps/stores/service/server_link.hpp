/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/connection.hpp>
#include <prism/device.hpp>
#include <prism/queue_pair.hpp>
#include <prism/reclaim.hpp>
#include <prism/result.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "service/control.hpp"

namespace prism::apps
{

/**
 * A client's end of a connection to a OneSidedServer: the queue pair, reports of freed buffers, and the server's
 * questions about them. It ends with its queue pair: then none of its posted requests is executed any more. One thread
 * at a time.
 */
class ServerLink
{
public:
	/** Most work requests of reports. */
	static constexpr std::uint32_t room_for_reports = 64;

	ServerLink(TcpRendezvous rendezvous, QueuePair qp);
	ServerLink(const ServerLink &) = delete;
	ServerLink &operator=(const ServerLink &) = delete;

	/**
	 * Lets the client free buffers of @p lists, as the server has described them. Errors: those of
	 * FreeReporter::create().
	 */
	Result<void> report_to(const std::vector<FreeListInfo> &lists);

	[[nodiscard]] const QueuePair &qp() const noexcept { return qp_; }
	[[nodiscard]] ControlChannel &control() noexcept { return control_; }

	/** Notes that the buffer at @p address is free. Ignores an address that is not the server's. */
	void release(std::uint64_t address) noexcept;

	/** Takes the arrival of a report that flush() has posted. */
	void flushed() noexcept { flushes_--; }

	/**
	 * Receives the server's messages, and answers them if that is possible now. @p oldest: number of the oldest
	 * request under way; @p newest: of the newest that was posted. @p flush_id: for reports. Returns 0, or the
	 * errno that ended the connection: ESHUTDOWN, if the server stops and the requests that had begun before have
	 * ended; EPROTO, if it asks more than anybody could answer.
	 */
	int talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept;

	/**
	 * Returns the server's answer to a message of this side, if one has come, and forgets it. Until then nothing
	 * after it is read, such as its text.
	 */
	std::optional<ControlMessage> take_answer() noexcept { return std::exchange(answer_, std::nullopt); }

	/** Returns the server's question, other than to settle, if there is one, and forgets it. */
	std::optional<ControlMessage> take_question() noexcept;

	/** True if the server ends soon: only operations that have begun should continue. */
	[[nodiscard]] bool stopping() const noexcept { return stop_after_.has_value(); }

	/** Sends the reports of all freed buffers that are not reported yet. */
	void flush(std::uint64_t wr_id) noexcept;
	[[nodiscard]] bool flushing() const noexcept { return flushes_ != 0; }

private:
	struct Settling {
		std::uint64_t value = 0;
		std::uint64_t before = 0; /* requests of this number and below must have ended */
		std::size_t flushed = 0;  /* reporters */
	};
	struct List {
		RemoteRegion buffers;
		FreeReporter reporter;
	};

	int settle(std::uint64_t oldest, std::uint64_t flush_id) noexcept;

	TcpRendezvous rendezvous_;
	ControlChannel control_;
	QueuePair qp_;
	std::vector<List> lists_;
	std::vector<std::uint64_t> waiting_; /* addresses that the send queue had no room for */
	std::optional<Settling> settling_;
	std::optional<std::uint64_t> stop_after_; /* requests up to this number may end first */
	std::optional<ControlMessage> answer_;
	std::vector<ControlMessage> questions_;
	unsigned flushes_ = 0; /* number under way */
};

} // namespace prism::apps
