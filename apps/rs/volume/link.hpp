/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/prism.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rs/volume/configuration.hpp"
#include "rs/volume/introduction.hpp"
#include "rs/volume/quorum.hpp"
#include "service/control.hpp"

namespace prism::rs
{

/** What all connections of one client have in common. */
struct LinkOptions {
	ProtectionDomain pd;
	CompletionQueue cq;
	Configuration volume;
	apps::StoreKind kind = apps::StoreKind::rs;
	std::size_t slot_size = 0;     /**< bytes that a replica has for each block in its slots, aligned to 8 */
	std::uint32_t buffer_size = 0; /**< bytes of the least that its buffers have; 0: it has none */
	std::uint64_t client = 0;      /**< its incarnation, as in its tags */
	std::uint32_t max_send_wr = 0; /**< beside reports */
	std::chrono::milliseconds timeout{1000};
	bool repairs = false; /**< this is the repair of the replica */
};

/**
 * A client's connection to one replica: requests, reports of freed buffers, and the replica's questions about them. It
 * ends with its queue pair: nothing that it has posted is executed afterwards. One thread at a time.
 */
class Link
{
public:
	/** Work requests that reports may take. */
	static constexpr std::uint32_t room_for_reports = 64;

	/**
	 * Connects to @p replica, whose volume must be options.volume, and tells it @p epoch. Errors: EPROTONOSUPPORT
	 * (another volume, replica or kind; a device without PRISM), those of TcpRendezvous::connect() and establish().
	 */
	static Result<std::unique_ptr<Link>> connect(const LinkOptions &options, unsigned replica, std::uint64_t epoch);

	[[nodiscard]] const ReplicaView &view() const noexcept { return view_; }
	/** The replica has been told a newer one. */
	void set_epoch(std::uint64_t epoch) noexcept { view_.epoch = epoch; }
	[[nodiscard]] const QueuePair &qp() const noexcept { return qp_; }
	[[nodiscard]] apps::ControlChannel &control() noexcept { return control_; }

	/** The buffer at @p address is free. An address that is not the replica's is ignored. */
	void release(std::uint64_t address) noexcept;

	/** A report that flush() has posted as @p wr_id has arrived. */
	void flushed() noexcept { flushes_--; }

	/**
	 * Hears what the replica says, and answers it if that is possible now. @p oldest: number of the oldest request
	 * that is under way; @p newest: of the newest that was posted. @p flush_id: for reports. 0, or the errno of
	 * what ended the connection.
	 */
	int talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept;

	/**
	 * The replica's answer to a message of this side, if one has come; forgotten then. Before that nothing behind
	 * it is read, such as its text.
	 */
	std::optional<apps::ControlMessage> take_answer() noexcept { return std::exchange(answer_, std::nullopt); }

	/** Sends what is freed and not reported yet. */
	void flush(std::uint64_t wr_id) noexcept;
	[[nodiscard]] bool flushing() const noexcept { return flushes_ != 0; }

private:
	struct Settling {
		std::uint64_t value = 0;
		std::uint64_t before = 0; /* requests of this number and below must have ended */
		bool flushed = false;
	};

	Link(TcpRendezvous rendezvous, QueuePair qp, const ReplicaView &view);
	int settle(std::uint64_t oldest, std::uint64_t flush_id) noexcept;

	TcpRendezvous rendezvous_;
	apps::ControlChannel control_;
	QueuePair qp_;
	ReplicaView view_;
	std::optional<FreeReporter> reporter_;
	std::vector<std::uint64_t> waiting_; /* addresses that the send queue had no room for */
	std::optional<Settling> settling_;
	std::optional<apps::ControlMessage> answer_;
	unsigned flushes_ = 0; /* under way */
};

} // namespace prism::rs
