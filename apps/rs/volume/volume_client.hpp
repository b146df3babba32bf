/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/prism.hpp>

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
#include "rs/volume/quorum.hpp"

namespace prism::rs
{

struct VolumeClientOptions {
	std::uint32_t depth = 1; /**< operations under way at once; at most 1024 */
	/** Of one operation: it fails when no quorum has answered by then. */
	std::chrono::milliseconds timeout = std::chrono::seconds(5);
	std::chrono::milliseconds setup_timeout = std::chrono::seconds(2);
};

/** What a kind of replicated store adds to VolumeClient. */
struct VolumeKind {
	apps::StoreKind kind = {};
	bool needs_prism = false;            /**< as in LinkOptions */
	std::size_t slot_size = 0;           /**< likewise */
	std::uint32_t buffer_size = 0;       /**< likewise */
	std::uint32_t requests_of_a_leg = 1; /**< work requests of a chain, at most */
	std::optional<unsigned> repairs;     /**< the client is the repair of this replica */
	std::function<std::unique_ptr<VolumeProtocol>(Carrier &, std::uint64_t client)> make_protocol;
};

/** A replica as a client sees it. */
struct ReplicaState {
	bool connected = false;
	bool serving = false;
	std::uint64_t epoch = 0;
	int refused = 0; /**< not connected: errno of the last attempt */
	std::string why; /**< and its message */
};

/**
 * A client of a replicated volume: a key is the number of a block, 8 bytes in host order; a value is a whole block. A
 * block that was never written reads as zeros. Connections that fail are made again in threads of their own. One thread
 * at a time, which must call poll() now and then even with nothing under way: a replica that looks for lost buffers
 * waits for an answer. Requests leave with a later poll(), several together.
 */
class VolumeClient final : public apps::StoreClient, private Carrier
{
public:
	/**
	 * Errors: EINVAL (depth, or a configuration that cannot be), EPROTONOSUPPORT (a replica is of another volume or
	 * kind), EALREADY (a repair of a replica that needs none), EHOSTUNREACH (no quorum of replicas can be connected
	 * to before the set-up's timeout; the message says what is wrong with each).
	 */
	static Result<std::unique_ptr<VolumeClient>> open(const Context &context, const Configuration &volume,
		const VolumeKind &kind, const VolumeClientOptions &options = {});
	~VolumeClient() override;

	[[nodiscard]] std::size_t depth() const noexcept override { return lanes_.size(); }
	/** EINVAL: an ERASE, or a value that is no block; ERANGE: no such block. */
	int start(apps::Operation &operation) noexcept override;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;

	[[nodiscard]] const Configuration &volume() const noexcept { return volume_; }
	[[nodiscard]] ReplicaState state_of(unsigned replica) const;
	/** The statistics of @p replica as JSON. Errors: ENOTCONN, ETIMEDOUT, ECONNRESET. */
	Result<std::string> stats_of(unsigned replica);
	/** Says @p message to @p replica, which answers some time (take_answer()) if it has a connection then. */
	void tell(unsigned replica, const apps::ControlMessage &message) noexcept;
	/** What @p replica has answered last, if it has; forgotten then. */
	std::optional<apps::ControlMessage> take_answer(unsigned replica) noexcept;
	/** The answer of @p replica to @p question, of the same kind. Errors: as above. */
	Result<apps::ControlMessage> ask(unsigned replica, const apps::ControlMessage &question);

	[[nodiscard]] Time now() const noexcept override;
	/** The connection to @p replica; null: there is none. */
	[[nodiscard]] const ReplicaView *view(unsigned replica) const noexcept override;
	/** The newest epoch that this client knows. */
	[[nodiscard]] std::uint64_t epoch() const noexcept override { return epoch_; }
	/** Brings @p epoch, newer than epoch(), to all replicas but the one that is repaired: by connecting once more.
	 */
	void raise_epoch(std::uint64_t epoch) noexcept { epoch_ = epoch; }
	/** The replica that is repaired has been told the newest epoch. */
	void repaired_has_epoch() noexcept;
	/** Whether the client is connected to @p replica, which serves in the newest epoch. */
	[[nodiscard]] bool serves(unsigned replica) const noexcept;
	/** A repair: the connection to its own replica has been there, and is no more. */
	[[nodiscard]] bool lost_its_replica() const noexcept { return lost_its_replica_; }
	/** How many replicas serve, in the newest epoch. */
	[[nodiscard]] unsigned serving() const noexcept;

	/** Waits until it is connected to all replicas. False: not in time. */
	bool wait_for_all(std::chrono::milliseconds timeout);

private:
	struct Replica {
		std::unique_ptr<Connector> connector;
		std::unique_ptr<Link> link;
		std::uint64_t generation = 0; /* of the link: tells completions of an earlier one */
		std::vector<Chain::Posting> put_off;
	};
	struct WorkRequest;

	VolumeClient(Context context, ProtectionDomain pd, CompletionQueue cq, Buffer memory,
		const Configuration &volume, const VolumeKind &kind, const VolumeClientOptions &options,
		std::uint64_t client);
	Result<void> wait_for_quorum(std::chrono::milliseconds timeout);

	/* Carrier */
	int post(Lane &lane, unsigned replica) noexcept override;
	void release(unsigned replica, std::uint64_t address) noexcept override;
	void wake(Lane &lane) noexcept override;

	void take_completions() noexcept;
	void handle(const Completion &completion) noexcept;
	void end_leg(Lane &lane, unsigned replica) noexcept;
	void resume(Lane &lane) noexcept;
	void resume_all() noexcept;
	void finish(Lane &lane) noexcept;
	void ring() noexcept;
	void look_after_links() noexcept;
	void link_up(unsigned replica, std::unique_ptr<Link> link) noexcept;
	void link_down(unsigned replica) noexcept;
	void run_timers() noexcept;
	[[nodiscard]] std::uint64_t oldest_request(unsigned replica) const noexcept;
	[[nodiscard]] unsigned connected() const noexcept;

	Context context_;
	ProtectionDomain pd_;
	CompletionQueue cq_;
	Buffer memory_;
	const Configuration volume_;
	const std::chrono::milliseconds timeout_;
	std::vector<Lane> lanes_;
	std::vector<std::uint64_t> numbers_; /* of requests under way, by lane and replica */
	std::vector<Replica> replicas_;
	std::unique_ptr<VolumeProtocol> protocol_;
	const std::optional<unsigned> repairs_;
	std::vector<std::uint32_t> idle_;
	std::vector<apps::Operation *> ended_;
	std::vector<Lane *> to_wake_;
	std::uint64_t epoch_ = 0;
	std::uint64_t requests_ = 0; /* posted so far */
	std::uint64_t polls_ = 0;
	std::size_t put_off_ = 0; /* requests that wait for a doorbell */
	std::size_t under_way_ = 0;
	Time next_timer_ = Time::max();
	bool lost_its_replica_ = false;
};

} // namespace prism::rs
