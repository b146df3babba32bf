/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/completion.hpp>
#include <prism/device.hpp>
#include <prism/result.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/store_client.hpp"
#include "rs/volume/configuration.hpp"
#include "rs/volume/connector.hpp"
#include "rs/volume/link.hpp"
#include "rs/volume/session.hpp"

namespace prism::rs
{

struct VolumeClientOptions {
	static constexpr std::uint32_t max_depth = 1024;
	std::uint32_t depth = 1; /**< operations under way at once; at most max_depth */
	/** Timeout of one operation: it fails if no quorum has answered by then. */
	std::chrono::milliseconds timeout = std::chrono::seconds(5);
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(2);
};

/** Settings that a kind of replicated store adds to VolumeClient. */
struct VolumeKind {
	apps::StoreKind kind = {};
	bool needs_prism = false;        /**< as in LinkOptions */
	std::size_t slot_size = 0;       /**< likewise */
	std::uint32_t buffer_size = 0;   /**< likewise */
	std::uint32_t longest_chain = 1; /**< most work requests of a chain */
	std::optional<unsigned> repairs; /**< the replica that this client repairs, if it is a repair */
	std::function<std::unique_ptr<VolumeProtocol>(VolumeSession &, std::uint64_t client)> make_protocol;
};

/** A replica as a client sees it. */
struct ReplicaState {
	bool connected = false;
	bool serving = false;
	std::uint64_t epoch = 0;
	int refused = 0; /**< if not connected: errno of the last attempt */
	std::string why; /**< and its message */
};

/**
 * A client of a replicated volume: a key is the number of a block, 8 bytes in host order; a value is a whole block. A
 * block that was never written reads as zeros. The client reconnects in threads of its own. One thread at a time, which
 * must call poll() now and then even with nothing under way: a replica that looks for lost buffers waits for an answer.
 * Requests leave with a later poll(), several together. A PUT that has been sent to a replica when its time is over, or
 * when an exclusive writer learns that it is not alone, ends with Outcome::unknown.
 */
class VolumeClient final : public apps::StoreClient, private SessionHost
{
public:
	/**
	 * Opens the volume. Errors: EINVAL (depth, or an impossible configuration), EPROTONOSUPPORT (a replica is of
	 * another volume or kind), EALREADY (a repair of a replica that needs none), EHOSTUNREACH (no quorum of
	 * replicas can be connected to before the set-up's timeout; the message has the problem of each).
	 */
	static Result<std::unique_ptr<VolumeClient>> open(const Context &context, const Configuration &volume,
		const VolumeKind &kind, const VolumeClientOptions &options = {});
	~VolumeClient() override;

	[[nodiscard]] std::size_t depth() const noexcept override { return session_.depth(); }
	/** EINVAL: an ERASE, or a value that is no block; ERANGE: no such block. */
	int start(apps::Operation &operation) noexcept override;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;

	[[nodiscard]] const Configuration &volume() const noexcept { return volume_; }
	[[nodiscard]] ReplicaState state_of(unsigned replica) const;
	/** Returns the statistics of @p replica as JSON. Errors: ENOTCONN, ETIMEDOUT, ECONNRESET. */
	Result<std::string> stats_of(unsigned replica);
	/** Sends @p message to @p replica, which answers some time (take_answer()) if it has a connection then. */
	void tell(unsigned replica, const apps::ControlMessage &message) noexcept;
	/** Returns the last answer of @p replica, if there is one, and forgets it. */
	std::optional<apps::ControlMessage> take_answer(unsigned replica) noexcept;
	/** Returns the answer of @p replica to @p question, of the same kind. Errors: as above. */
	Result<apps::ControlMessage> ask(unsigned replica, const apps::ControlMessage &question);

	/** Returns the carrier of its operations. */
	[[nodiscard]] VolumeSession &session() noexcept { return session_; }
	[[nodiscard]] const VolumeSession &session() const noexcept { return session_; }

	/** Waits until it is connected to all replicas. Returns false if that takes too long. */
	bool wait_for_all(std::chrono::milliseconds timeout);

private:
	struct Replica {
		std::unique_ptr<Connector> connector;
		std::unique_ptr<Link> link;
	};

	VolumeClient(Context context, ProtectionDomain pd, CompletionQueue cq, Buffer memory,
		const Configuration &volume, const VolumeKind &kind, const VolumeClientOptions &options,
		const SessionOptions &session, std::uint64_t client);
	Result<void> wait_for_quorum(std::chrono::milliseconds timeout);
	[[nodiscard]] Error no_quorum() const;

	/* SessionHost */
	[[nodiscard]] Time now() const noexcept override;
	void want(unsigned replica, std::uint64_t epoch) noexcept override;
	void close(unsigned replica) noexcept override;

	void take_completions() noexcept;
	void look_after_links() noexcept;

	Context context_;
	ProtectionDomain pd_;
	CompletionQueue cq_;
	Buffer memory_;
	const Configuration volume_;
	const std::chrono::milliseconds timeout_;
	std::vector<Replica> replicas_;
	VolumeSession session_;
	std::uint64_t polls_ = 0;
};

} // namespace prism::rs
