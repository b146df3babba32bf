/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The decisions of the server of a store that clients read and write only by PRISM requests: the admission of clients
 * with their scratches, and the lost buffers. It has no sockets, threads or clocks, and reaches the device through
 * StoreDevice, so that servers and their simulations run the same code.
 */
#pragma once

#include <prism/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "service/recovery.hpp"
#include "service/region_layout.hpp"

namespace prism::apps
{

/** The free lists and the reports of a device. Lists have numbers from 0, in the order of their making. */
class StoreDevice
{
public:
	virtual ~StoreDevice() = default;

	/** Returns the number of lists. */
	[[nodiscard]] virtual std::size_t lists() const noexcept = 0;
	/** Returns the number of buffers in @p list, as far as is known. */
	[[nodiscard]] virtual std::uint32_t available(std::size_t list) const noexcept = 0;
	/**
	 * Returns the number of buffers that the device itself has put back into @p list so far, from ALLOCATEs that
	 * did not end.
	 */
	[[nodiscard]] virtual std::uint64_t taken_back(std::size_t list) const noexcept = 0;

	/** Notes the buffers of @p list that are handed out now. Errors: EBUSY (they are not known, drain it first). */
	virtual Result<void> mark(std::size_t list) = 0;
	/**
	 * Takes all buffers out of @p list, so that mark() is possible. Returns false if it did not run empty in time.
	 */
	virtual bool drain(std::size_t list) = 0;
	/** Puts back the buffers that drain() has taken. */
	virtual void refill(std::size_t list) = 0;
	/** Notes that the buffer at @p address, of whichever list, is reachable. */
	virtual void spare(std::uint64_t address) noexcept = 0;
	/** Puts back the marked buffers that were neither spared nor reported since. Returns their number. */
	virtual std::uint64_t collect(std::size_t list) = 0;

	/** Handles a few reports of freed buffers. Returns their number, or a negative errno. */
	virtual int take_reports() = 0;
};

/** The decisions. One thread. Derived classes implement the rest of RecoveryHost. */
class StoreCore : protected RecoveryHost
{
public:
	StoreCore(const StoreCore &) = delete;
	StoreCore &operator=(const StoreCore &) = delete;

protected:
	/** A connection's part of the store. */
	struct ConnectionPlace {
		std::uint32_t number = 0;  /**< never used again */
		std::uint64_t scratch = 0; /**< offset in the region */
	};

	/** @p device must outlive this object; the constructor does not use it. */
	StoreCore(StoreDevice &device, RegionLayout layout, const RecoveryOptions &recovery);

	[[nodiscard]] const RegionLayout &layout() const noexcept { return layout_; }
	[[nodiscard]] BufferRecovery &recovery() noexcept { return recovery_; }
	[[nodiscard]] const BufferRecovery &recovery() const noexcept { return recovery_; }

	/** Returns the place of the next connection, if admit() follows; nothing if there are as many as allowed. */
	[[nodiscard]] std::optional<ConnectionPlace> next_place() const;
	/** Admits a client to the next place, which must exist: it has a queue pair and is on its way. */
	void admit();
	/** Notes that the client of connection @p number has heard that this side is ready. */
	void enter(std::uint32_t number);
	/** Ends connection @p number, whose queue pair is destroyed. */
	void leave(std::uint32_t number);

	/** Returns true if connection @p number is open, or on its way. */
	[[nodiscard]] bool is_open(std::uint32_t number) const { return connections_.contains(number); }
	/** Notes that the buffer that holds @p address is reachable: for look_at(). */
	void spare(std::uint64_t address) noexcept { device_.spare(address); }

	/* RecoveryHost, except slots(), look_at() and the messages to clients */
	[[nodiscard]] bool can_ask_all() const override;
	Result<void> note_handed_out() override;
	bool take_reports() override;
	std::optional<std::uint64_t> collect() override;

private:
	struct Connection {
		std::uint32_t scratch = 0; /* index */
		bool entered = false;
	};

	Result<std::uint64_t> mark(std::size_t list);

	StoreDevice &device_;
	const RegionLayout layout_;
	std::vector<std::uint32_t> free_scratches_; /* indices */
	std::map<std::uint32_t, Connection> connections_;
	std::uint32_t next_number_ = 1;
	std::vector<std::uint64_t> taken_back_; /* counts by list, as they were at the beginning of the current scan */
	BufferRecovery recovery_;
};

} // namespace prism::apps
