/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The scan for lost buffers (docs/prism-kv.md, "Lost buffers"), whatever the store is and whatever carries the requests
 * of its clients. */
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace prism::apps
{

/** What a scan needs of the server whose buffers it looks for. Called by RecoveryScan alone. */
class RecoveryHost
{
public:
	virtual ~RecoveryHost() = default;

	/** Notes which buffers are handed out at this moment. 0, or the errno of why that cannot be told now. */
	virtual int note_handed_out() = 0;

	/** Asks every client to end what it has begun, to report what it has freed, and then to say so. */
	virtual void ask_to_settle() = 0;

	/** Whether every client that was asked last has said so, or is gone with its queue pair. */
	[[nodiscard]] virtual bool settled() const = 0;

	/** How many slots the store has: places that may point at a buffer. */
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
};

struct RecoveryOptions {
	/** How long clients may take for one answer before the scan is put off. */
	std::chrono::nanoseconds patience = std::chrono::seconds(10);
	/** Slots that go_on() looks at before it lets the server serve its clients. */
	std::uint64_t slots_a_step = 1 << 16;
};

/** One scan, step by step between other work. One thread. */
class RecoveryScan
{
public:
	enum class Stage : std::uint8_t {
		settling, /**< what had begun before the lists were marked comes to its end */
		scanning,
		reporting, /**< what was replaced before the scan came by is reported */
		ended,
		/** A client did not answer in time, or the device took buffers back meanwhile, from one that died.
		 * Nothing is lost by that but memory. */
		put_off,
	};

	/** @p now of begin() and go_on() is of any clock that does not go back. @p host must outlive it. */
	RecoveryScan(RecoveryHost &host, const RecoveryOptions &options) noexcept : host_(host), options_(options) {}

	/** Begins. 0, or the errno of note_handed_out(): there is no scan then. */
	int begin(std::chrono::nanoseconds now);

	/** Does what can be done now. Not to be called any more once it has said ended or put_off. */
	Stage go_on(std::chrono::nanoseconds now);

	/** Buffers that were lost; known when the scan has ended. */
	[[nodiscard]] std::uint64_t recovered() const noexcept { return recovered_; }

private:
	void ask(std::chrono::nanoseconds now);
	void scan_some(std::chrono::nanoseconds now);

	RecoveryHost &host_;
	const RecoveryOptions options_;
	Stage stage_ = Stage::settling;
	std::chrono::nanoseconds deadline_{};
	std::uint64_t next_slot_ = 0;
	std::uint64_t recovered_ = 0;
};

} // namespace prism::apps
