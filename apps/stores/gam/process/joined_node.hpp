/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/device.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/birth.hpp"
#include "gam/memory/node.hpp"
#include "gam/memory/session.hpp"
#include "gam/peer/view.hpp"
#include "gam/process/recovery_report.hpp"

namespace prism::gam
{

/** By the directory protocol alone (docs/gam-recovery.md). */
struct LogSettings {
	std::filesystem::path folder; /**< empty: no log is kept */
	bool durable = false;         /**< what a session has fenced survives this node's death */
};

struct JoinOptions {
	/** Who knows the members: HOST:PORT of prism-gam-master, or etcd://HOST:PORT/KEY. */
	std::string master = "127.0.0.1:18660";
	std::string address = "127.0.0.1"; /**< where the other nodes reach this one */
	std::uint16_t port = 0;            /**< 0: any */
	Protocol protocol = Protocol::directory;
	std::size_t cache_bytes = 0; /**< of others' blocks; 0: 15% of the memory that is lent */
	/** Directory: a block that is dirty elsewhere comes by its home, which has seen it then (docs/prism-gam.md). */
	bool through_home = true;
	bool looks_at_lease = true; /**< false: for tests, which must find that */
	LogSettings log;
	NodeOptions node;                                             /**< but self, which is what the master says */
	std::chrono::milliseconds timeout = std::chrono::seconds(10); /**< to join, and to reach all others */
};

/** A node of a cluster, in this process, on a device: its memory, its links, its membership. */
class JoinedNode
{
public:
	/**
	 * Joins the cluster. The first node of a new master begins it. When this returns, the node can reach all
	 * others, and they can reach it. With a log it has its old number and its memory back, as far as that can be
	 * known: see recovery(). Errors: those of Membership::join(), of the device; of the log: EBUSY (another process
	 * has the folder), EINVAL (it is another node's; it is durable and others are not, or not and others are; there
	 * is no log by the latch protocol, nor without through_home), EBADMSG, ENOSPC; ETIMEDOUT (a member does not
	 * answer, or the last life of this node has a lease still).
	 */
	static Result<std::unique_ptr<JoinedNode>> join(const Context &context, const JoinOptions &options);
	/** Does not leave(): to the others, it has crashed. */
	~JoinedNode(); /* in a child of fork(2): does nothing */
	JoinedNode(const JoinedNode &) = delete;
	JoinedNode &operator=(const JoinedNode &) = delete;

	/** For Session. */
	[[nodiscard]] Node &node() noexcept;
	/** Where the other nodes reach this one. */
	[[nodiscard]] std::uint16_t port() const noexcept;
	/**
	 * Whether it is a member still. Errors: ESTALE, and why: the others hold it for dead; or it has given up, as
	 * the master was silent for four leases, or another member cannot be reached; or this process is a child of
	 * fork(2), and the node its parent's, for which put(), get(), give_up() and leave() fail likewise. Then
	 * whatever a session does fails with ESTALE, and nothing waits. The program may destroy it and join() again, as
	 * another node.
	 */
	[[nodiscard]] Result<void> check() const;
	[[nodiscard]] bool is_expelled() const { return !check().ok(); }
	/** For others to find what is in the memory. Keys up to 128 bytes, values up to 4096. Errors: ENOSPC, ESTALE.
	 */
	Result<void> put(const std::string &key, const std::string &value);
	/** Waits until somebody has put it. Errors: ETIMEDOUT, ESTALE. */
	Result<std::string> get(const std::string &key, std::chrono::milliseconds timeout);
	/** The same for addresses. */
	Result<void> put(const std::string &key, Address address) { return put(key, std::to_string(address.value)); }
	Result<Address> get_address(const std::string &key, std::chrono::milliseconds timeout);
	[[nodiscard]] View view() const;
	/** What has become of its blocks, if it keeps a log. */
	[[nodiscard]] RecoveryReport recovery() const;
	/** This process is a child of the one that joined. */
	[[nodiscard]] bool is_inherited() const noexcept { return birth_.is_inherited(); }
	/** Why nothing is logged any more, though the node keeps a log; or 0. */
	[[nodiscard]] int log_error() const noexcept;
	/** The dead node @p node will not come back: what waits for its log ends. Errors: see Master::give_up(). */
	Result<void> give_up(NodeId node);
	/** What others have is written back to them, then they are told. No session may be there. Errors: ESTALE. */
	Result<void> leave();

private:
	class Parts;
	[[nodiscard]] Result<void> check_own() const;
	explicit JoinedNode(std::unique_ptr<Parts> parts);

	const apps::Birth birth_;
	std::unique_ptr<Parts> parts_;
};

} // namespace prism::gam
