/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/device.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/birth.hpp"
#include "gam/api/session.hpp"
#include "gam/membership/view.hpp"
#include "gam/node/node.hpp"
#include "gam/node/recovery_report.hpp"
#include "service/log.hpp"

namespace prism::gam
{

/** The log of a node; only the directory protocol has one (docs/gam-recovery.md). */
struct LogSettings {
	std::filesystem::path folder; /**< empty: no log is kept */
	bool durable = false;         /**< writes that a session has fenced survive this node's death */
};

struct JoinOptions {
	/** The master: HOST:PORT of prism-gam-master, or etcd://HOST:PORT/KEY. */
	std::string master = "127.0.0.1:18660";
	std::string address = "127.0.0.1"; /**< address at which the other nodes reach this one */
	std::uint16_t port = 0;            /**< 0: any */
	Protocol protocol = Protocol::directory;
	std::size_t cache_bytes = 0; /**< cache for other nodes' blocks; 0: 15% of the memory that is lent */
	/**
	 * Directory: a block that is dirty at another node comes through its home, which thus has its value
	 * (docs/prism-gam.md).
	 */
	bool through_home = true;
	bool looks_at_lease = true; /**< false: only for tests, which must detect it */
	LogSettings log;
	NodeOptions node;                                             /**< all but self, which the master sets */
	std::chrono::milliseconds timeout = std::chrono::seconds(10); /**< for joining, and for reaching all others */
	apps::LogSink peers_log; /**< for lines about other nodes; null: the standard error */
};

/** A node of a cluster, in this process, on a device: its memory, links and membership. */
class JoinedNode
{
public:
	/**
	 * Joins the cluster. The first node of a new master founds it. When this returns, the node and all others can
	 * reach each other. With a log it has its old number and its memory back, as far as that can be known: see
	 * recovery(). Errors: those of Membership::join(), of the device; of the log: EBUSY (another process has the
	 * folder), EINVAL (it is another node's; its durability differs from the others'; the latch protocol has no
	 * log, nor has a node without through_home), EBADMSG, ENOSPC; ETIMEDOUT (a member does not answer, or the lease
	 * of this node's last life is not over).
	 */
	static Result<std::unique_ptr<JoinedNode>> join(const Context &context, const JoinOptions &options);
	/** Does not leave(): to the others, the node has crashed. In a child of fork(2): does nothing. */
	~JoinedNode();
	JoinedNode(const JoinedNode &) = delete;
	JoinedNode &operator=(const JoinedNode &) = delete;

	/** Returns the node, for sessions. */
	[[nodiscard]] Node &node() noexcept;
	/** Returns the port at which the other nodes reach this one. */
	[[nodiscard]] std::uint16_t port() const noexcept;
	/**
	 * Checks if the node is still a member. Errors: ESTALE, with the reason: the others hold it for dead; or it has
	 * given up, as the master was silent for four leases, or another member cannot be reached; or this process is a
	 * child of fork(2), and the node its parent's, for which put(), get(), give_up() and leave() fail likewise.
	 * Then all operations of sessions fail with ESTALE, and nothing waits. The program may destroy the node and
	 * join() again, as another one.
	 */
	[[nodiscard]] Result<void> check() const;
	[[nodiscard]] bool is_expelled() const { return !check().ok(); }
	/**
	 * Stores @p value under @p key, for others to find data in the memory. Keys up to 128 bytes, values up to 4096.
	 * Errors: ENOSPC, ESTALE.
	 */
	Result<void> put(const std::string &key, const std::string &value);
	/** Waits until a member has put @p key, and returns its value. Errors: ETIMEDOUT, ESTALE. */
	Result<std::string> get(const std::string &key, std::chrono::milliseconds timeout);
	/** The same for addresses. */
	Result<void> put(const std::string &key, Address address) { return put(key, std::to_string(address.value)); }
	Result<Address> get_address(const std::string &key, std::chrono::milliseconds timeout);
	[[nodiscard]] View view() const;
	/**
	 * Returns the state of its blocks after recovery, if it keeps a log. Its losses then count as told; the next
	 * life's report has those of a life that ended before it called this.
	 */
	[[nodiscard]] RecoveryReport recovery() const;
	/** Returns true if this process is a child of the one that joined. */
	[[nodiscard]] bool is_inherited() const noexcept { return birth_.is_inherited(); }
	/** Returns the errno value for which a node with a log no longer logs; or 0. */
	[[nodiscard]] int log_error() const noexcept;
	/**
	 * Returns what has happened to the log, last, since the node joined, and what to do: a segment is damaged or
	 * gone, or cannot be compacted. Empty: nothing.
	 */
	[[nodiscard]] std::string log_trouble() const;
	/**
	 * Gives up on the dead node @p node, which will not return: nothing waits for its log any more. Errors: see
	 * Master::give_up().
	 */
	Result<void> give_up(NodeId node);
	/**
	 * Writes back the blocks of other nodes, then leaves, whoever holds or waits for locks on its memory. No
	 * session may exist. When @p hurries returns true, the rest is not written back. Errors: ESTALE.
	 */
	Result<void> leave(const std::function<bool()> &hurries = {});

private:
	class Parts;
	[[nodiscard]] Result<void> check_own() const;
	explicit JoinedNode(std::unique_ptr<Parts> parts);

	const apps::Birth birth_;
	std::unique_ptr<Parts> parts_;
};

} // namespace prism::gam
