/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <vector>

#include <prism/free_list.hpp>

#include "pair.hpp"

namespace simulation
{

/**
 * Free list of a simulated device, with libprism-ext's bookkeeping of its buffers: prism::FreeList without its list, an
 * ibv_srq.
 */
class List
{
public:
	/** @p count buffers of @p size bytes from @p va on, under @p key. @p grace: DeviceOptions::grace. */
	List(soft::Engine &engine, std::uint64_t va, std::uint32_t key, std::uint32_t size, std::uint32_t count,
		bool grace);
	~List();
	List(const List &) = delete;
	List &operator=(const List &) = delete;

	[[nodiscard]] std::uint32_t number() const noexcept { return srq_.number; }
	[[nodiscard]] std::uint32_t size() const noexcept { return size_; }
	[[nodiscard]] std::uint32_t buffers() const noexcept { return ledger_.buffers(); }
	[[nodiscard]] std::uint64_t first() const noexcept { return ledger_.address_of(0); }

	/**
	 * Handles a client's report that it frees @p address. Needs counters that refresh() has read since the report
	 * came.
	 */
	void release(std::uint64_t address);
	void refresh();
	void post_released();

	/** Returns true if the state of every buffer is known, as mark() requires. */
	[[nodiscard]] bool exact() const noexcept { return ledger_.exact(); }
	void mark() { ledger_.mark(); }
	void spare(std::uint64_t address) noexcept { ledger_.spare(address); }
	std::uint64_t collect();
	void taken_by_owner(std::uint64_t address);
	[[nodiscard]] std::uint32_t available() const noexcept;

	/** Returns the number of buffers that the device has taken back from unfinished ALLOCATEs. */
	[[nodiscard]] std::uint64_t taken_back() const noexcept { return srq_.reclaimed; }
	/** Returns the number of addresses refused because nobody held them. */
	[[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
	/** Empties the list. Returns its addresses. */
	std::vector<std::uint64_t> take_all();

private:
	soft::Engine &engine_;
	const std::uint32_t key_;
	const std::uint32_t size_;
	const bool grace_;
	soft::SharedReceiveQueue srq_;
	prism::BufferLedger ledger_;
	std::vector<std::uint32_t> released_; /* indices to post */
	std::vector<std::uint64_t> waiting_;  /* undecided addresses */
	std::uint64_t refused_ = 0;
};

} // namespace simulation
