/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "gam/membership/membership.hpp"
#include "gam/membership/view.hpp"

namespace prism::gam
{

/**
 * Detects failures that no master reports: that the master is gone, or that another live member cannot be reached. Then
 * nothing would ever end the waiting, so the node gives up its membership. Thread-safe.
 */
class Watch
{
public:
	/** Leases without an answer of the master, counted from the one that expires last. */
	static constexpr int patience = 4;

	/** Starts the watch, in a thread. @p membership, which has joined as @p me, must exist until end(). */
	void begin(const Admission &me, Membership &membership);
	/** Ends the watch. */
	void end();

	/** Adopts the members of @p view. */
	void adopt(const View &view);
	/** Records that the pair to @p peer has ended by itself. Called inside Peers::poll(). */
	void broken(const NodeLife &peer) noexcept;
	/**
	 * Records that this node has found no memory for something that it can neither refuse nor put off. It ends in
	 * order, by a little memory that is kept for that. Any thread.
	 */
	void found_no_memory() noexcept;
	/** Records that the pair was replaced. */
	void mended(const NodeLife &peer);

	/**
	 * Returns why this node has to give up its membership at @p now, or nothing. Its own thread looks often; tests
	 * do, at times of their own.
	 */
	[[nodiscard]] std::optional<Error> look(Time now);

private:
	void run(const std::stop_token &stop);
	[[nodiscard]] std::optional<Error> look_at_master(Time now);
	[[nodiscard]] std::optional<Error> look_at_pairs(Time now);
	[[nodiscard]] bool goes_first(const Member &peer) const;

	std::mutex lock_;
	std::condition_variable_any wake_;
	View view_;
	std::map<NodeId, std::pair<NodeLife, Time>> broken_; /* when, and later by what does not count */
	Admission me_;
	Membership *membership_ = nullptr;
	Time looked_{};
	Time silent_since_{}; /* time since when there is no lease; 0: there is one */
	Time heard_{};        /* time of the last look that found another lease than the one before */
	Time lease_found_{};  /* end of that lease */
	std::unique_ptr<std::byte[]> spare_ = std::make_unique<std::byte[]>(std::size_t{256} << 10);
	std::atomic<bool> has_no_memory_{false};
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::gam
