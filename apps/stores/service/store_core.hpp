/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the server of a store that clients read and write only by PRISM requests decides: who is admitted with which
 * scratch, and which buffers are lost. It has no sockets, threads or clocks, and reaches the device through
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

	/** How many lists there are. */
	[[nodiscard]] virtual std::size_t lists() const noexcept = 0;
	/** Buffers in @p list, as far as is known. */
	[[nodiscard]] virtual std::uint32_t available(std::size_t list) const noexcept = 0;
	/** Buffers that the device itself has put back into @p list so far, from ALLOCATEs that did not end. */
	[[nodiscard]] virtual std::uint64_t taken_back(std::size_t list) const noexcept = 0;

	/** Notes which buffers of @p list are handed out now. Errors: EBUSY (that is not known, drain it first). */
	virtual Result<void> mark(std::size_t list) = 0;
	/** Takes all buffers out of @p list, so that mark() is possible. False: it did not run empty in time. */
	virtual bool drain(std::size_t list) = 0;
	/** Puts back what drain() has taken. */
	virtual void refill(std::size_t list) = 0;
	/** The buffer at @p address, of whichever list, is reachable. */
	virtual void spare(std::uint64_t address) noexcept = 0;
	/** Puts buffers back that were marked, and neither spared nor reported since. How many. */
	virtual std::uint64_t collect(std::size_t list) = 0;

	/** Handles a few reports of freed buffers. How many there were, or a negative errno. */
	virtual int take_reports() = 0;
};

/** One thread. What is left of RecoveryHost is said by derived classes. */
class StoreCore : protected RecoveryHost
{
public:
	StoreCore(const StoreCore &) = delete;
	StoreCore &operator=(const StoreCore &) = delete;

protected:
	/** What a connection has of the store. */
	struct ConnectionPlace {
		std::uint32_t number = 0;  /**< never used again */
		std::uint64_t scratch = 0; /**< offset in the region */
	};

	/** @p device must outlive this object; it is not used here. */
	StoreCore(StoreDevice &device, RegionLayout layout, const RecoveryOptions &recovery);

	[[nodiscard]] const RegionLayout &layout() const noexcept { return layout_; }
	[[nodiscard]] BufferRecovery &recovery() noexcept { return recovery_; }
	[[nodiscard]] const BufferRecovery &recovery() const noexcept { return recovery_; }

	/** What the next connection will have, if admit() follows. Nothing: there are as many as may be. */
	[[nodiscard]] std::optional<ConnectionPlace> next_place() const;
	/** A client with the next place, which must be there, is on its way: it has a queue pair. */
	void admit();
	/** The client of connection @p number has heard that this side is ready. */
	void enter(std::uint32_t number);
	/** Connection @p number is over, and its queue pair destroyed. */
	void leave(std::uint32_t number);

	/** Whether connection @p number is there, or on its way. */
	[[nodiscard]] bool is_open(std::uint32_t number) const { return connections_.contains(number); }
	/** The buffer that holds @p address is reachable: for look_at(). */
	void spare(std::uint64_t address) noexcept { device_.spare(address); }

	/* RecoveryHost, but for slots(), look_at() and what is said to clients */
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
	std::vector<std::uint64_t> taken_back_; /* by list, as the scan under way began */
	BufferRecovery recovery_;
};

} // namespace prism::apps
