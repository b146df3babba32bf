/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What carries the operations of one client of a replicated volume: its lanes, its requests to replicas, and when a
 * connection to one of them is used. It has no sockets, no clock and no threads: these are its host's, which is
 * VolumeClient, or a simulator.
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
	RemoteAddress scratch; /* 32 bytes that are this connection's; aligned to 32 */
	std::uint32_t free_list = 0;
	RemoteRegion buffers;
	std::uint64_t epoch = 0;
	bool serving = false; /* its answers to reads count */
};

/** A client's connection to one replica. It ends with its queue pair: nothing that it has posted is executed then. */
class ReplicaLink
{
public:
	virtual ~ReplicaLink() = default;

	[[nodiscard]] const ReplicaView &view() const noexcept { return view_; }
	/** The replica has been told a newer one. */
	void set_epoch(std::uint64_t epoch) noexcept { view_.epoch = epoch; }

	/** Posts @p chains with one doorbell. 0, or the errno of what makes the connection useless. */
	virtual int post(std::span<const Chain::Posting> chains) noexcept = 0;
	/** The buffer at @p address is not reachable any more: to be reported, some time. */
	virtual void release(std::uint64_t address) noexcept = 0;
	/** Reports what is released and not reported yet, as @p flush_id. */
	virtual void flush(std::uint64_t flush_id) noexcept = 0;
	/** A report that flush() or talk() has posted has arrived. */
	virtual void flushed() noexcept = 0;
	[[nodiscard]] virtual bool flushing() const noexcept = 0;
	/**
	 * Hears what the replica asks, and answers it if that is possible now. @p oldest: number of the oldest request
	 * that is under way; @p newest: of the newest that was posted. @p flush_id: for reports. 0, or the errno of
	 * what ended the connection.
	 */
	virtual int talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept = 0;

protected:
	explicit ReplicaLink(const ReplicaView &view) : view_(view) {}

private:
	ReplicaView view_;
};

/** What a client does with a volume. One for each client. */
class VolumeProtocol
{
public:
	virtual ~VolumeProtocol() = default;

	/** Runs lane.operation. Its outcome, error and length are filled in. */
	virtual apps::Task<apps::Outcome> run(Lane &lane) = 0;

	/**
	 * The lane's request to @p replica has ended, for the lane or too late for it: its completion says
	 * how. It may have failed, if the connection is gone; whether it was executed is then not known.
	 */
	virtual void request_ended(Lane &lane, unsigned replica) noexcept = 0;
};

/** The program around a session. */
class SessionHost
{
public:
	virtual ~SessionHost() = default;

	[[nodiscard]] virtual Time now() const noexcept = 0;
	/** There is to be a connection to @p replica, which is told @p epoch; VolumeSession::link_up() once it is
	 * there.
	 */
	virtual void want(unsigned replica, std::uint64_t epoch) noexcept = 0;
	/** The session does not use its connection to @p replica any more: it ends before this returns. */
	virtual void close(unsigned replica) noexcept = 0;
};

struct SessionOptions {
	unsigned replicas = 3;
	std::uint32_t depth = 1; /**< operations under way at once: lanes */
	std::uint32_t block_size = 512;
	Time timeout{};                  /**< of an operation */
	std::optional<unsigned> repairs; /**< the client is the repair of this replica */
};

/** Which request a completion is of: what a wr_id says. */
struct RequestId {
	std::uint32_t lane = 0; /* no_lane: of a report */
	unsigned replica = 0;
	std::uint64_t generation = 0; /* of the connection: tells completions of an earlier one */

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

/** One thread at a time. Requests leave with ring(), several together. */
class VolumeSession
{
public:
	using MakeProtocol = std::function<std::unique_ptr<VolumeProtocol>(VolumeSession &)>;

	/** Bytes that a session registers. */
	static std::size_t memory_size(const SessionOptions &options) noexcept;

	/** @p memory: memory_size() bytes, aligned to 64 and registered with @p lkey, until all connections have ended.
	 */
	VolumeSession(SessionHost &host, const SessionOptions &options, std::byte *memory, std::uint32_t lkey,
		const MakeProtocol &make_protocol);
	~VolumeSession() { abandon(); }
	VolumeSession(const VolumeSession &) = delete;
	VolumeSession &operator=(const VolumeSession &) = delete;

	/** Wants its first connections. */
	void begin() noexcept;

	/* Operations */
	/** Begins @p operation on @p block. 0, or EAGAIN: as many as can be are under way. */
	int start(apps::Operation &operation, std::uint64_t block) noexcept;
	/** Hands back operations that have ended, at most ended.size(). */
	std::size_t take_ended(std::span<apps::Operation *> ended) noexcept;
	/** A request, or a report, has ended. */
	void handle(const Completion &completion) noexcept;
	/** Goes on with what has been woken, or whose time has come. */
	void run_timers() noexcept;
	/** Before this time run_timers() has nothing to do. Time::max(): never, if nothing happens. */
	[[nodiscard]] Time next_timer() const noexcept { return to_wake_.empty() ? next_timer_ : host_.now(); }
	/** Posts what was put off: one doorbell for each replica. */
	void ring() noexcept;
	/** Ends all operations where they are. What is under way still counts: its buffers are released when it ends.
	 */
	void abandon() noexcept;

	[[nodiscard]] std::size_t depth() const noexcept { return lanes_.size(); }
	[[nodiscard]] Lane &lane(std::size_t number) noexcept { return lanes_[number]; }
	[[nodiscard]] bool idle() const noexcept { return idle_.size() == lanes_.size(); }
	/** Requests whose completions have not come. */
	[[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
	/** Of them: those that wait for ring(). */
	[[nodiscard]] std::size_t put_off() const noexcept { return put_off_; }

	/* Connections */
	/** @p link, to @p replica, is there, and stays until the host is told to close it. */
	void link_up(unsigned replica, ReplicaLink &link) noexcept;
	/** The connection to @p replica has ended: it is closed, and wanted again. */
	void link_down(unsigned replica) noexcept;
	/** Talks to the replicas; connections of an older epoch end. To be called now and then, also when idle. */
	void look_after_links() noexcept;
	/** Reports to all replicas what is released and not reported yet. */
	void flush() noexcept;
	[[nodiscard]] bool flushing() const noexcept;

	[[nodiscard]] unsigned replicas() const noexcept { return static_cast<unsigned>(replicas_.size()); }
	[[nodiscard]] unsigned connected() const noexcept;
	/** Whether there is a connection to @p replica, which serves in the newest epoch. */
	[[nodiscard]] bool serves(unsigned replica) const noexcept;
	/** How many replicas do. */
	[[nodiscard]] unsigned serving() const noexcept;

	/** Brings @p epoch, newer than epoch(), to all replicas but the one that is repaired: by connecting once more.
	 */
	void raise_epoch(std::uint64_t epoch) noexcept { epoch_ = epoch; }
	/** The replica that is repaired has been told the newest epoch. */
	void repaired_has_epoch() noexcept;
	/** Whether @p replica is the one that this client repairs. */
	[[nodiscard]] bool repairs(unsigned replica) const noexcept { return options_.repairs == replica; }
	/** A repair: the connection to its own replica has been there, and is no more. */
	[[nodiscard]] bool lost_its_replica() const noexcept { return lost_its_replica_; }

	/* For protocols */
	[[nodiscard]] Time now() const noexcept { return host_.now(); }
	/** The connection to @p replica; null: there is none. */
	[[nodiscard]] const ReplicaView *view(unsigned replica) const noexcept
	{
		const ReplicaLink *const link = replicas_[replica].link;
		return link ? &link->view() : nullptr;
	}
	/** The newest epoch that this client knows. Answers count only if they came over connections of this epoch. */
	[[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
	/**
	 * Posts the chain of the lane's request to @p replica; put off until ring(). When it has ended, the protocol's
	 * request_ended() is called, then the lane resumed. 0, or ENOTCONN.
	 */
	int post(Lane &lane, unsigned replica) noexcept;
	/** The buffer at @p address of @p replica is not reachable any more: to be reported, some time. */
	void release(unsigned replica, std::uint64_t address) noexcept;
	/** Resumes @p lane with run_timers(), though nothing has come for it. */
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
	std::uint64_t requests_ = 0; /* posted so far */
	std::size_t put_off_ = 0;
	std::size_t under_way_ = 0;
	Time next_timer_ = Time::max();
	bool lost_its_replica_ = false;
};

} // namespace prism::rs
