/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The master, which decides alone about the members: numbers, incarnations, leases, sweeps. Sans-I/O: requests and time
 * go in.
 *
 * A lease is a length L of time. The node counts it on its own clock, from a moment before its request. The master
 * counts it on its own clock, from a moment after the request, and declares the node dead L/16 later than that. So a
 * node has stopped using its cache before it is declared dead, provided that its clock is never slower than 16/17 of
 * the master's. The two clocks are never compared, so they may be set or jump. But one must not stand still while the
 * other goes on, so both go on while a machine sleeps (Membership::now()).
 *
 * Declaring a node dead late does no harm to it. So of the time between two looks of the master at its clock, L/4
 * counts at most: it may have stood still, and requests that came meanwhile wait. A node that renews in time has L/2
 * more then. But that L/4 counts: a dead node is declared dead within 6 L if the master never stands still for longer
 * than L.
 *
 * With etcd, the members keep the state in one key, and each is the master by turns: it loads the state, changes it,
 * and stores it if no other member has done so meanwhile. The state has no times. Each renewal raises the node's beat;
 * a member that loads the state counts a lease from the moment when it first saw that beat, on its own clock, which
 * again is after the node's request. To declare a node dead, it has to store that on top of the state with this very
 * beat.
 */
#pragma once

#include <prism/result.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "gam/coherence/coherence.hpp"
#include "gam/membership/view.hpp"

namespace prism::gam
{

/**
 * Returns what does not count of the time between two looks at the clock: a quarter of a lease counts at most, as who
 * looks later may have stood still, which tells nothing about others. But that quarter always counts, so that who is
 * late again and again finds all the same who is silent.
 */
constexpr Time uncounted(Time last_look, Time now, Time lease) noexcept
{
	return std::max(Time(), now - last_look - lease / 4);
}

/** The master's state. Not thread-safe. */
class Master
{
public:
	static constexpr std::size_t longest_host = 255;
	static constexpr Time shortest_lease = std::chrono::milliseconds(50), longest_lease = std::chrono::minutes(10);
	static constexpr unsigned margin_share = 16; /**< part of a lease */
	static constexpr int looks_a_lease = 8;      /**< of who waits for the end of one */

	/** @param cluster random  @param lease length of leases */
	Master(std::uint64_t cluster, Time lease) : lease_(lease) { view_.cluster = cluster; }

	/**
	 * Gives @p who a lease and a number: that of its log, or the one free the longest, or else that of the first
	 * joining node that has not renewed since. Errors: EINVAL (no host or port; its log is of another cluster, or
	 * of an impossible life, or one 2^24 epochs or more ahead of members with logs, or of a node that was given up
	 * and whose number another has, or its durability differs from the members'), ERANGE (it keeps a log, and those
	 * cannot tell further lives apart), EPROTONOSUPPORT (the members have another protocol or block size), EUSERS
	 * (all numbers are in use, perhaps by nodes that are away; the last one is not for a new log, so that prism-gam
	 * can give up those that are away), EBUSY (likewise, but one is that of a dead node that not all live ones have
	 * swept; or the number of its log is in use, perhaps by its last life, whose lease is not over, or that not all
	 * have swept).
	 */
	Result<NodeLife> join(const Newcomer &who, Time now);
	/**
	 * Renews the lease. The first time the others hear of @p who, in a new epoch, which is its incarnation from
	 * then on: so a view knows of all incarnations up to its epoch. Returns the life. Errors, as in the functions
	 * below: ESTALE (it is no member, or was declared dead); the first time those of join() as well, if another
	 * has renewed since.
	 */
	Result<NodeLife> renew(const NodeLife &who, Time now);
	/** Records that @p who is connected to all others. Errors: EINVAL (it has never renewed), ESTALE. */
	Result<void> serving(const NodeLife &who, Time now);
	/** Declares @p who dead at once; the others sweep what it has left. */
	Result<void> leave(const NodeLife &who, Time now);
	/**
	 * Records that @p by has swept: no message from @p dead reaches it any more, and nothing at it as a home names
	 * @p dead. @p epoch: of the view in which it saw the death. When all live members have swept, the number is
	 * free. Errors: EINVAL (@p dead is not dead in this epoch), ESTALE.
	 */
	Result<void> swept(const NodeLife &by, NodeId dead, std::uint64_t epoch, Time now);
	/**
	 * Gives up on the dead node with the number @p node: it will not return, so its number is free when all have
	 * swept, and nothing waits for its log any more. Errors: EINVAL (it lives, or keeps no log, or does not exist),
	 * ESTALE.
	 */
	Result<void> give_up(const NodeLife &by, NodeId node, Time now);
	/**
	 * Records that @p nodes, a bit set, have logs that @p by needs: of these, all whom this master does not know
	 * are away from now on, as if they had died. It still does not wait for those whom it has given up. Errors:
	 * EINVAL
	 * (@p by keeps no log), ESTALE.
	 */
	Result<void> expect(const NodeLife &by, std::uint64_t nodes, Time now);
	/**
	 * Declares nodes dead whose lease is over. Call it every eighth of a lease; the functions above do this too.
	 */
	void on_time(Time now);

	[[nodiscard]] const View &view() const noexcept { return view_; }
	/**
	 * Returns the view for the members: without nodes that have joined and not renewed since. Such a node may be a
	 * stranger that has said one word, and would be waited for. A node that returns to its number is there at once.
	 */
	[[nodiscard]] View announced() const;
	[[nodiscard]] Time lease() const noexcept { return lease_; }
	/**
	 * Returns the cluster of all members' logs: that of the first node that had a log and has renewed its lease. So
	 * a new master, which knows nothing, takes over the cluster of the nodes that return to it. 0: no node keeps a
	 * log.
	 */
	[[nodiscard]] std::uint64_t log_cluster() const noexcept { return log_cluster_; }

	/** Returns the state without the times, as JSON. */
	[[nodiscard]] std::string serialize() const;
	/**
	 * Replaces the state by @p text, which serialize() has made, perhaps in another process. Errors: EBADMSG; then
	 * nothing has changed.
	 */
	Result<void> load(const std::string &text, Time now);

private:
	/** The master's private data on a member. */
	struct Account {
		std::uint64_t incarnation = 0;
		std::uint64_t beat = 0;     /* renewals */
		std::uint64_t swept_by = 0; /* nodes that have swept, as bits */
		Time granted{};             /* on this clock */
		/* First incarnation that can be that of its log; 0: any */
		std::uint64_t first_life = 0;
		std::uint64_t log_cluster = 0; /* of the logs when it joined */
		std::uint16_t protocol = 0;    /* that it has joined with */
		std::uint32_t block_bytes = 0;
	};

	Member *find_live(const NodeLife &who) noexcept;
	Result<NodeId> number_for(const Newcomer &who);
	[[nodiscard]] Error no_number(bool is_last_for_others) const;
	[[nodiscard]] NodeId number_free_longest() const;
	[[nodiscard]] bool only_joined(const Member &member) const;
	[[nodiscard]] NodeId first_that_only_joined(bool with_log) const;
	[[nodiscard]] std::size_t numbers_in_use() const;
	[[nodiscard]] bool has_logs() const;
	Result<NodeId> number_of_log(const LogClaim &log);
	[[nodiscard]] bool may_be_log_of(const Member &away, const LogClaim &log) const;
	[[nodiscard]] Result<void> check_protocol(std::uint16_t protocol, std::uint32_t block_bytes) const;
	[[nodiscard]] Result<void> check_policy(bool durable, NodeId last) const;
	[[nodiscard]] bool is_swept(const Member &dead) const;
	Result<Member *> identify(const NodeLife &who, Time now);
	void change(Member &member, NodeState state);
	void declare_dead(Member &member);
	NodeLife insert(Member made, NodeState state);
	void follow(std::uint64_t life) noexcept;
	void bury();

	Time lease_;
	Time looked_{};
	View view_;
	std::uint64_t log_cluster_ = 0;
	std::uint16_t protocol_ = 0; /* of the members that have renewed */
	std::uint32_t block_bytes_ = 0;
	std::uint64_t given_up_ = 0; /* numbers, as bits, that no node with a log has had since */
	NodeId given_last_ = max_nodes - 1;
	std::map<NodeId, Account> accounts_;
};

} // namespace prism::gam
