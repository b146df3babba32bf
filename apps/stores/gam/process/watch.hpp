/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "gam/peer/membership.hpp"
#include "gam/peer/view.hpp"

namespace prism::gam
{

/**
 * Finds out what no master tells a node: that the master is gone, and that another member, which lives on, cannot be
 * reached. Nothing would ever end what waits then, so the node gives its membership up. Thread-safe.
 */
class Watch
{
public:
	/** Leases without an answer of the master, the first of them the one that is over last. */
	static constexpr int patience = 4;

	/** From now on it looks, in a thread. @p membership, which has joined as @p me, stays until end(). */
	void begin(const Admission &me, Membership &membership);
	/** It looks no more. */
	void end();

	/** These are the members. */
	void adopt(const View &view);
	/** The pair to @p peer has ended by itself. Inside of Peers::poll(). */
	void broken(const NodeLife &peer);
	/** There is another one. */
	void mended(const NodeLife &peer);

private:
	void run(const std::stop_token &stop);
	[[nodiscard]] std::optional<Error> look(Time now);
	[[nodiscard]] std::optional<Error> look_at_master(Time now);
	[[nodiscard]] std::optional<Error> look_at_pairs(Time now);
	[[nodiscard]] bool goes_first(const Member &peer) const;

	std::mutex lock_;
	std::condition_variable_any wake_;
	View view_;
	std::map<NodeId, std::pair<NodeLife, Time>> broken_; /* since when */
	/* Of the thread */
	Admission me_;
	Membership *membership_ = nullptr;
	Time looked_{};
	Time silent_since_{}; /* no lease; 0: there is one */
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::gam
