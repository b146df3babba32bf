/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Recovery of lost buffers (docs/prism-kv.md, "Lost buffers"): the rules for scans, their steps, and the treatment of
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

/** The server with the buffers, as recovery needs it. Only BufferRecovery calls it. */
class RecoveryHost
{
public:
	virtual ~RecoveryHost() = default;

	/**
	 * Returns true if no client is half connected. A half connected one may have its first request under way
	 * already, and cannot be asked about it: a scan does not begin before it is connected or gone.
	 */
	[[nodiscard]] virtual bool can_ask_all() const = 0;

	/** Notes the buffers that are handed out at this moment. Errors: the reason if they are not known now. */
	virtual Result<void> note_handed_out() = 0;

	/**
	 * Asks @p client to end the requests that it has begun, to report all freed buffers, and then to answer with
	 * @p value: BufferRecovery::settled(), after this call.
	 */
	virtual void ask_to_settle(std::uint32_t client, std::uint64_t value) = 0;

	/**
	 * Cuts off @p client, which has owed an answer for too long. The host destroys its queue pair, so that nothing
	 * of it is executed any more, and calls BufferRecovery::left(), before the next go_on() or within this call.
	 */
	virtual void cut_off(std::uint32_t client) = 0;

	/** Returns the number of the store's slots: places that may point at a buffer. */
	[[nodiscard]] virtual std::uint64_t slots() const = 0;

	/** Looks at slot @p index in a scan: the buffer that it points at is not lost. */
	virtual void look_at(std::uint64_t index) = 0;

	/** Handles every report that has arrived. Returns false if it cannot now: ask again. */
	virtual bool take_reports() = 0;

	/**
	 * Gives the noted buffers that were neither spared nor reported since back to their lists. Returns their
	 * number; nothing, if the device has taken buffers back since they were noted: those are in their lists
	 * already, and cannot be distinguished from lost ones.
	 */
	virtual std::optional<std::uint64_t> collect() = 0;

	/** Called when a scan is put off, to be tried again; only once if that happens several times in a row. */
	virtual void put_off(const std::string &why) = 0;
};

struct RecoveryOptions {
	/** Time without an answer after which a client is cut off; 0: never. The scan waits meanwhile. */
	std::chrono::nanoseconds answer_timeout = std::chrono::seconds(60);
	/** Time after which a scan that was put off is tried again. */
	std::chrono::nanoseconds retry_interval = std::chrono::seconds(1);
	/** Slots that go_on() looks at before it lets the server serve its clients. */
	std::uint64_t slots_a_step = 1 << 16;
};

struct RecoveryStats {
	std::uint64_t scans = 0;     /**< completed scans */
	std::uint64_t put_off = 0;   /**< scans that could not determine the lost buffers, and were tried again */
	std::uint64_t recovered = 0; /**< buffers that scans recovered */
	std::uint64_t cut_off = 0;   /**< clients that did not answer in time */
	/** Duration of each completed scan, with the wait for clients. */
	Histogram durations{buckets::durations};
};

/**
 * Scans for lost buffers, step by step between the server's other work: one scan after a client leaves, one for each
 * request, and another for each that was put off. One thread. Each @p now is of any clock that does not go back.
 */
class BufferRecovery
{
public:
	/** @p host must outlive this object. */
	BufferRecovery(RecoveryHost &host, const RecoveryOptions &options) : host_(host), options_(options) {}

	/** Notes that connection @p client begins. */
	void entered(std::uint32_t client) { clients_[client] = {}; }
	/** Notes that it has ended, with its queue pair: a scan is due. */
	void left(std::uint32_t client);
	/** Takes the answer of @p client to ask_to_settle(). */
	void settled(std::uint32_t client, std::uint64_t value);

	/** Makes a scan due, as soon as none is under way. */
	void want() noexcept { wanted_ = true; }

	/**
	 * Begins a scan now, or, if a client is half connected, as soon as none is. Returns 0; EBUSY if one is under
	 * way; or the code of note_handed_out(): then it is put off, and tried again.
	 */
	int request(std::chrono::nanoseconds now);

	/** Does all work that is possible now. */
	void go_on(std::chrono::nanoseconds now);

	/** True if no scan is due or under way. */
	[[nodiscard]] bool idle() const noexcept { return !wanted_ && stage_ == Stage::none; }
	/** True if go_on() has work to do at once. */
	[[nodiscard]] bool busy() const noexcept { return stage_ == Stage::scanning; }
	[[nodiscard]] const RecoveryStats &stats() const noexcept { return stats_; }

private:
	enum class Stage : std::uint8_t {
		none,
		settling, /* waits until all requests that began before the lists were marked have ended */
		scanning,
		reporting, /* waits for the reports of buffers that were replaced before the scan came to them */
	};
	/** The last question to a client, as long as it owes the answer. */
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
	bool told_ = false; /* the host has been told that the scan is put off */
	std::chrono::nanoseconds not_before_{};
	std::chrono::nanoseconds began_{};
	std::uint64_t next_value_ = 1;
	std::uint64_t next_slot_ = 0;
	RecoveryStats stats_;
};

} // namespace prism::apps
