/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The carrier of the operations of one client of a replicated volume: its lanes, its requests to replicas, and the
 * rules for using a connection to one of them. It has no sockets, no clock and no threads: these belong to its host,
 * which is VolumeClient, or a simulator.
 */
#pragma once

#include <prism/chain.hpp>
#include <prism/completion.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rs/volume/lane.hpp"

namespace prism::rs
{

/** A replica as one connection knows it. */
struct ReplicaView {
	RemoteRegion slots;
	RemoteAddress scratch; /* 32 bytes that only this connection uses; aligned to 32 */
	std::uint32_t free_list = 0;
	RemoteRegion buffers;
	std::uint64_t epoch = 0;
	bool serving = false; /* its answers to reads count */
};

/**
 * A client's connection to one replica. It ends with its queue pair: then none of its posted requests is executed any
 * more.
 */
class ReplicaLink
{
public:
	virtual ~ReplicaLink() = default;

	[[nodiscard]] const ReplicaView &view() const noexcept { return view_; }
	/** Notes that the replica has been told a newer epoch. */
	void set_epoch(std::uint64_t epoch) noexcept { view_.epoch = epoch; }

	/** Posts @p chains with one doorbell. Returns 0, or an errno if the connection is now useless. */
	virtual int post(std::span<const Chain::Posting> chains) noexcept = 0;
	/** Notes that the buffer at @p address is unreachable and must be reported some time. */
	virtual void release(std::uint64_t address) noexcept = 0;
	/** Reports all released buffers that are not reported yet, as @p flush_id. */
	virtual void flush(std::uint64_t flush_id) noexcept = 0;
	/** Takes the arrival of a report that flush() or talk() has posted. */
	virtual void flushed() noexcept = 0;
	[[nodiscard]] virtual bool flushing() const noexcept = 0;
	/**
	 * Receives the replica's questions, and answers them if that is possible now. @p oldest: number of the oldest
	 * request under way; @p newest: of the newest that was posted. @p flush_id: for reports. Returns 0, or the
	 * errno that ended the connection.
	 */
	virtual int talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept = 0;

protected:
	explicit ReplicaLink(const ReplicaView &view) : view_(view) {}

private:
	ReplicaView view_;
};

/** A client's operations on a volume. One object for each client. */
class VolumeProtocol
{
public:
	virtual ~VolumeProtocol() = default;

	/** Runs lane.operation. Returns its outcome and fills in its error and length. */
	virtual apps::Task<apps::Outcome> run(Lane &lane) = 0;

	/**
	 * Takes the end of the lane's request to @p replica, in time or too late for the lane: its completion has the
	 * result. It may have failed, if the connection is gone; whether it was executed is then not known.
	 */
	virtual void request_ended(Lane &lane, unsigned replica) noexcept = 0;
};

/** The program around a session. */
class SessionHost
{
public:
	virtual ~SessionHost() = default;

	[[nodiscard]] virtual Time now() const noexcept = 0;
	/**
	 * Asks for a connection to @p replica, which is told @p epoch; once it is there, call VolumeSession::link_up().
	 */
	virtual void want(unsigned replica, std::uint64_t epoch) noexcept = 0;
	/** Ends the connection to @p replica before it returns: the session does not use it any more. */
	virtual void close(unsigned replica) noexcept = 0;
};

struct SessionOptions {
	unsigned replicas = 3;
	std::uint32_t depth = 1; /**< operations under way at once: number of lanes */
	std::uint32_t block_size = 512;
	Time timeout{};                  /**< of an operation */
	std::optional<unsigned> repairs; /**< the replica that this client repairs, if it is a repair */
};

/** The request that a completion belongs to: contents of a wr_id. */
struct RequestId {
	std::uint32_t lane = 0; /* no_lane: of a report */
	unsigned replica = 0;
	std::uint64_t generation = 0; /* of the connection: distinguishes completions of an earlier one */

	static constexpr std::uint32_t no_lane = 0xffff;

	[[nodiscard]] constexpr std::uint64_t wr_id() const noexcept
	{
		return generation << 24 | std::uint64_t{replica} << 16 | lane;
	}
	static constexpr RequestId of(std::uint64_t wr_id) noexcept
	{
		return {static_cast<std::uint32_t>(wr_id & 0xffff), static_cast<unsigned>(wr_id >> 16 & 0xff),
			wr_id >> 24};
	}
};

/** A session. One thread at a time. Requests leave with ring(), several together. */
class VolumeSession
{
public:
	using MakeProtocol = std::function<std::unique_ptr<VolumeProtocol>(VolumeSession &)>;

	/** Returns the bytes that a session registers. */
	static std::size_t memory_size(const SessionOptions &options) noexcept;

	/** @p memory: memory_size() bytes, aligned to 64 and registered with @p lkey, until all connections have ended.
	 */
	VolumeSession(SessionHost &host, const SessionOptions &options, std::byte *memory, std::uint32_t lkey,
		const MakeProtocol &make_protocol);
	~VolumeSession() { abandon(); }
	VolumeSession(const VolumeSession &) = delete;
	VolumeSession &operator=(const VolumeSession &) = delete;

	/** Asks for its first connections. */
	void begin() noexcept;

	/* Operations */
	/** Begins @p operation on @p block. Returns 0, or EAGAIN if as many as possible are under way. */
	int start(apps::Operation &operation, std::uint64_t block) noexcept;
	/** Hands back operations that have ended, at most ended.size(). */
	std::size_t take_ended(std::span<apps::Operation *> ended) noexcept;
	/** Takes the completion of a request or a report. */
	void handle(const Completion &completion) noexcept;
	/** Resumes lanes that were woken, or whose time has come. */
	void run_timers() noexcept;
	/** Returns the time before which run_timers() has nothing to do. Time::max(): never, if nothing happens. */
	[[nodiscard]] Time next_timer() const noexcept { return to_wake_.empty() ? next_timer_ : host_.now(); }
	/** Posts the requests that were put off: one doorbell for each replica. */
	void ring() noexcept;
	/**
	 * Ends all operations where they are. Requests under way still count: their buffers are released when they end.
	 */
	void abandon() noexcept;

	[[nodiscard]] std::size_t depth() const noexcept { return lanes_.size(); }
	[[nodiscard]] Lane &lane(std::size_t number) noexcept { return lanes_[number]; }
	[[nodiscard]] bool idle() const noexcept { return idle_.size() == lanes_.size(); }
	/** Returns the number of requests whose completions have not come. */
	[[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
	/** Returns the number of these that wait for ring(). */
	[[nodiscard]] std::size_t put_off() const noexcept { return put_off_; }

	/* Connections */
	/** Takes @p link, to @p replica, which stays until the host is told to close it. */
	void link_up(unsigned replica, ReplicaLink &link) noexcept;
	/** Takes the end of the connection to @p replica: closes it, and asks for a new one. */
	void link_down(unsigned replica) noexcept;
	/** Talks to the replicas; ends connections of an older epoch. Call it now and then, also when idle. */
	void look_after_links() noexcept;
	/** Reports all released buffers that are not reported yet to their replicas. */
	void flush() noexcept;
	[[nodiscard]] bool flushing() const noexcept;

	[[nodiscard]] unsigned replicas() const noexcept { return static_cast<unsigned>(replicas_.size()); }
	[[nodiscard]] unsigned connected() const noexcept;
	/** Returns true if there is a connection to @p replica, and it serves in the newest epoch. */
	[[nodiscard]] bool serves(unsigned replica) const noexcept;
	/** Returns the number of replicas that serve. */
	[[nodiscard]] unsigned serving() const noexcept;

	/**
	 * Raises the epoch to @p epoch, newer than epoch(). All replicas but the repaired one learn it by a new
	 * connection.
	 */
	void raise_epoch(std::uint64_t epoch) noexcept { epoch_ = epoch; }
	/** Notes that the repaired replica has been told the newest epoch. */
	void repaired_has_epoch() noexcept;
	/** Returns true if this client repairs @p replica. */
	[[nodiscard]] bool repairs(unsigned replica) const noexcept { return options_.repairs == replica; }
	/** In a repair: true if the connection to its own replica has been there, and is gone. */
	[[nodiscard]] bool lost_its_replica() const noexcept { return lost_its_replica_; }

	/* For protocols */
	[[nodiscard]] Time now() const noexcept { return host_.now(); }
	/** Returns the view of the connection to @p replica; null if there is none. */
	[[nodiscard]] const ReplicaView *view(unsigned replica) const noexcept
	{
		const ReplicaLink *const link = replicas_[replica].link;
		return link ? &link->view() : nullptr;
	}
	/**
	 * Returns the newest epoch that this client knows. Answers count only if they came over connections of this
	 * epoch.
	 */
	[[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
	/**
	 * Posts the chain of the lane's request to @p replica, at the next ring(). When it has ended, the protocol's
	 * request_ended() is called, then the lane is resumed. Returns 0, or ENOTCONN.
	 */
	int post(Lane &lane, unsigned replica) noexcept;
	/** Notes that the buffer at @p address of @p replica is unreachable and must be reported some time. */
	void release(unsigned replica, std::uint64_t address) noexcept;
	/** Resumes @p lane in run_timers(), even if nothing has come for it. */
	void wake(Lane &lane) noexcept { to_wake_.push_back(&lane); }

private:
	struct Replica {
		ReplicaLink *link = nullptr;
		std::uint64_t generation = 0; /* of the link */
		std::vector<Chain::Posting> put_off;
	};

	void end_request(Lane &lane, unsigned replica) noexcept;
	void resume(Lane &lane) noexcept;
	void go_on(Lane &lane) noexcept;
	void finish(Lane &lane) noexcept;
	[[nodiscard]] bool is_stale(unsigned replica, const ReplicaLink &link) const noexcept;
	[[nodiscard]] std::uint64_t flush_id(unsigned replica) const noexcept;
	[[nodiscard]] std::uint64_t oldest_request(unsigned replica) const noexcept;

	SessionHost &host_;
	const SessionOptions options_;
	std::vector<Lane> lanes_;
	std::vector<Replica> replicas_;
	std::unique_ptr<VolumeProtocol> protocol_;
	std::vector<std::uint32_t> idle_;
	std::vector<apps::Operation *> ended_;
	std::vector<Lane *> to_wake_;
	std::uint64_t epoch_ = 0;
	std::uint64_t requests_ = 0; /* number of requests posted so far */
	std::size_t put_off_ = 0;
	std::size_t under_way_ = 0;
	Time next_timer_ = Time::max();
	bool lost_its_replica_ = false;
};

} // namespace prism::rs
