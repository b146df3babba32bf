/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Who is a member, decided in one place: numbers, incarnations, leases, sweeps. Sans-I/O: requests and time go in.
 *
 * A lease is a length L of time. A node counts it on its own clock, from a moment before it asked for it. The master
 * counts it on its own clock, from a moment after it was asked, and declares the node dead L/16 later than that. So a
 * node has stopped using what it caches before it is declared dead, provided that its clock is never slower than 16/17
 * of the master's. Neither compares its clock with the other's, so these may be set or jump as they like; what the
 * clocks must not do is stand still while the other goes on, which is why they go on while a machine sleeps
 * (Membership::now()).
 *
 * Declaring somebody dead late does no harm. So a master that has not looked at its clock for L/2 (it was stopped, and
 * the requests that came meanwhile wait), or whose clock has been set back, counts all leases anew.
 *
 * By etcd the members keep the state in one key, and each of them is the master by turns: it loads the state, changes
 * it, and stores it if nobody else has done so meanwhile. Times are not in it. Each renewal raises the node's beat; who
 * loads the state counts a lease from the moment when it first saw that beat, on its own clock, which again is after
 * the node asked. Who declares a node dead has to store that on top of the state with this very beat.
 */
#pragma once

#include <prism/result.hpp>

#include <cstdint>
#include <map>
#include <string>

#include "gam/coherence/coherence.hpp"
#include "gam/peer/view.hpp"

namespace prism::gam
{

/** Not thread-safe. */
class Master
{
public:
	static constexpr std::size_t longest_host = 255;
	static constexpr unsigned margin_share = 16; /**< of a lease */

	/** @p cluster: random. @p lease: the length of leases. */
	Master(std::uint64_t cluster, Time lease) : lease_(lease) { view_.cluster = cluster; }

	/**
	 * Gives @p who a lease and a number: that of its log, or the lowest that is free; if none is, that of the
	 * first that has joined and not been heard of since. Errors: EINVAL (no host or port; its log is of another
	 * cluster, or of no life that can have been, or durable and the members' are not, or the other way round),
	 * EPROTONOSUPPORT (the members have another protocol or block size),
	 * EUSERS (all numbers are in use, perhaps by dead nodes that not all live ones have swept), EBUSY (the number
	 * of its log is in use, perhaps by its last life, whose lease is not over, or that not all have swept).
	 */
	Result<NodeLife> join(const Newcomer &who, Time now);
	/** A new lease. Errors: ESTALE (it is no member, or was declared dead), as in the functions below. */
	Result<void> renew(const NodeLife &who, Time now);
	/** It is connected to all others. */
	Result<void> serving(const NodeLife &who, Time now);
	/** It is dead at once, and others sweep what it has left. */
	Result<void> leave(const NodeLife &who, Time now);
	/**
	 * @p by has swept: nothing that @p dead sent comes to it any more, and nothing that it is the home of names
	 * @p dead. @p epoch: of the view in which it saw the death. When all live members have said so, the number is
	 * free. Errors: EINVAL (@p dead is not dead in this epoch), ESTALE.
	 */
	Result<void> swept(const NodeLife &by, NodeId dead, std::uint64_t epoch, Time now);
	/**
	 * The dead node with the number @p node will not come back: its number is free when all have swept, and what
	 * waits for its log does so no more. Errors: EINVAL (it lives, or keeps no log, or there is none), ESTALE.
	 */
	Result<void> give_up(const NodeLife &by, NodeId node, Time now);
	/** Declares dead whose lease is over. To be called every eighth of a lease; the functions above do so, too. */
	void on_time(Time now);

	[[nodiscard]] const View &view() const noexcept { return view_; }
	[[nodiscard]] Time lease() const noexcept { return lease_; }
	/**
	 * What the logs of all members are of: the cluster of the first node that had a log. So a new master, which
	 * knows nothing, takes up the cluster whose nodes come back to it. 0: nobody keeps a log.
	 */
	[[nodiscard]] std::uint64_t log_cluster() const noexcept { return log_cluster_; }

	/** All but the times, as JSON. */
	[[nodiscard]] std::string serialize() const;
	/**
	 * Takes the place of what was there by @p text, which serialize() has made, perhaps in another process. Errors:
	 * EBADMSG, and nothing has changed.
	 */
	Result<void> load(const std::string &text, Time now);

private:
	/** What only the master knows of a member. */
	struct Account {
		std::uint64_t incarnation = 0;
		std::uint64_t beat = 0;     /* renewals */
		std::uint64_t swept_by = 0; /* bits */
		Time granted{};             /* on this clock */
	};

	Member *find_live(const NodeLife &who) noexcept;
	Result<NodeId> number_for(const Newcomer &who);
	[[nodiscard]] NodeId not_heard_of_since() const;
	Result<NodeId> number_of_log(const LogClaim &log);
	[[nodiscard]] Result<void> check_policy(const LogClaim &log) const;
	[[nodiscard]] bool is_swept(const Member &dead) const;
	Result<Member *> identify(const NodeLife &who, Time now);
	void change(Member &member, NodeState state);
	void bury();

	Time lease_;
	Time looked_{};
	bool has_looked_ = false;
	View view_;
	std::uint64_t log_cluster_ = 0;
	std::uint16_t protocol_ = 0; /* of the members */
	std::uint32_t block_bytes_ = 0;
	std::map<NodeId, Account> accounts_;
};

} // namespace prism::gam
