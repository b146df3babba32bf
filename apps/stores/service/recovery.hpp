/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Recovery of lost buffers (docs/prism-kv.md, "Lost buffers"): when a scan runs, what it does, and how it treats
 * clients that do not answer. It is independent of the kind of store and of the transport, so servers and their
 * simulations use the same code.
 */
#pragma once

#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "service/histogram.hpp"

namespace prism::apps
{

/** What recovery needs of the server whose buffers it looks for. Called by BufferRecovery alone. */
class RecoveryHost
{
public:
	virtual ~RecoveryHost() = default;

	/**
	 * No client is half connected. One that is may have its first request under way already, and cannot be asked
	 * about it: a scan does not begin before it is connected or gone.
	 */
	[[nodiscard]] virtual bool can_ask_all() const = 0;

	/** Notes which buffers are handed out at this moment. Errors: why that cannot be told now. */
	virtual Result<void> note_handed_out() = 0;

	/**
	 * Asks @p client to end what it has begun, to report what it has freed, and then to answer with @p value:
	 * BufferRecovery::settled(), after this call.
	 */
	virtual void ask_to_settle(std::uint32_t client, std::uint64_t value) = 0;

	/**
	 * @p client has owed an answer for too long. The host destroys its queue pair, so that nothing of it is
	 * executed any more, and calls BufferRecovery::left(), before the next go_on() or within this call.
	 */
	virtual void cut_off(std::uint32_t client) = 0;

	/** Number of the store's slots: places that may point at a buffer. */
	[[nodiscard]] virtual std::uint64_t slots() const = 0;

	/** The scan comes by slot @p index: what it points at is not lost. */
	virtual void look_at(std::uint64_t index) = 0;

	/** Handles every report that has arrived. False: not now, ask again. */
	virtual bool take_reports() = 0;

	/**
	 * Buffers that were noted, and neither spared nor reported since, go back to their lists. How many they are;
	 * nothing, if the device has taken buffers back since they were noted: those are in their lists already, and
	 * cannot be told from lost ones.
	 */
	virtual std::optional<std::uint64_t> collect() = 0;

	/** A scan was put off and will be tried again. Called once, however often it is put off in a row. */
	virtual void put_off(const std::string &why) = 0;
};

struct RecoveryOptions {
	/** A client that has not answered for this time is cut off; 0: never. The scan waits meanwhile. */
	std::chrono::nanoseconds answer_timeout = std::chrono::seconds(60);
	/** After how long a scan that was put off is tried again. */
	std::chrono::nanoseconds retry_interval = std::chrono::seconds(1);
	/** Slots that go_on() looks at before it lets the server serve its clients. */
	std::uint64_t slots_a_step = 1 << 16;
};

struct RecoveryStats {
	std::uint64_t scans = 0;     /**< that came to their end */
	std::uint64_t put_off = 0;   /**< scans that could not tell what is lost, and were tried again */
	std::uint64_t recovered = 0; /**< buffers that scans found */
	std::uint64_t cut_off = 0;   /**< clients that did not answer in time */
	/** Duration of each completed scan, with the wait for clients. */
	Histogram durations{buckets::durations};
};

/**
 * Scans for lost buffers, step by step between the server's other work: one for every client that leaves, one when it
 * is asked for, and another for each that was put off. One thread. Each @p now is of any clock that does not go back.
 */
class BufferRecovery
{
public:
	/** @p host must outlive this object. */
	BufferRecovery(RecoveryHost &host, const RecoveryOptions &options) : host_(host), options_(options) {}

	/** Connection @p client begins. */
	void entered(std::uint32_t client) { clients_[client] = {}; }
	/** It has ended, with its queue pair: a scan is due. */
	void left(std::uint32_t client);
	/** @p client has answered ask_to_settle(). */
	void settled(std::uint32_t client, std::uint64_t value);

	/** A scan is due, as soon as none is under way. */
	void want() noexcept { wanted_ = true; }

	/**
	 * Begins a scan now, or, if a client is half connected, as soon as it is not. 0; EBUSY: one is under way; or
	 * the code of note_handed_out(): it is put off, and tried again.
	 */
	int request(std::chrono::nanoseconds now);

	/** Does what can be done now. */
	void go_on(std::chrono::nanoseconds now);

	/** No scan is due or under way. */
	[[nodiscard]] bool idle() const noexcept { return !wanted_ && stage_ == Stage::none; }
	/** go_on() has work to do at once. */
	[[nodiscard]] bool busy() const noexcept { return stage_ == Stage::scanning; }
	[[nodiscard]] const RecoveryStats &stats() const noexcept { return stats_; }

private:
	enum class Stage : std::uint8_t {
		none,
		settling, /* what had begun before the lists were marked comes to its end */
		scanning,
		reporting, /* what was replaced before the scan came by is reported */
	};
	/** What a client was asked last, as long as it owes the answer. */
	struct Question {
		std::uint64_t value = 0;
		std::chrono::nanoseconds asked_at{};
	};

	int begin(std::chrono::nanoseconds now);
	void ask(std::chrono::nanoseconds now);
	void scan_some(std::chrono::nanoseconds now);
	void finish(std::chrono::nanoseconds now);
	void cut_off_silent(std::chrono::nanoseconds now);
	void try_again(const std::string &why, std::chrono::nanoseconds now);
	[[nodiscard]] bool all_settled() const;

	RecoveryHost &host_;
	const RecoveryOptions options_;
	std::map<std::uint32_t, std::optional<Question>> clients_;
	Stage stage_ = Stage::none;
	bool wanted_ = false;
	bool told_ = false; /* that the scan is put off */
	std::chrono::nanoseconds not_before_{};
	std::chrono::nanoseconds began_{};
	std::uint64_t next_value_ = 1;
	std::uint64_t next_slot_ = 0;
	RecoveryStats stats_;
};

} // namespace prism::apps
