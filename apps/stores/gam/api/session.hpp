/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The use of the global memory by one thread: GAM's API (VLDB '18, section 3.1), with errors. docs/prism-gam.md defines
 * the order in which others see the accesses of a thread.
 */
#pragma once

#include <prism/result.hpp>

#include <atomic>
#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "gam/node/node.hpp"
#include "gam/node/waiting.hpp"

namespace prism::gam
{

/** The node that malloc() takes memory from. */
struct Placement {
	enum class Rule : std::uint8_t {
		local,  /**< this node */
		remote, /**< the other node with most free memory */
		random, /**< any node */
		near,   /**< the home of `base` */
	};
	Rule rule = Rule::local;
	Address base;

	static Placement local() noexcept { return {}; }
	static Placement remote() noexcept { return {Rule::remote, {}}; }
	static Placement random() noexcept { return {Rule::random, {}}; }
	static Placement near(Address base) noexcept { return {Rule::near, base}; }
};

/**
 * One thread's use of a node: its writes under way, and its locks. One thread at a time; the node outlives it. Nothing
 * throws.
 *
 * All calls except write() and async_read() return when the operation has ended, and answer requests to the node while
 * they wait. They return 0 or an errno value. Beside those named below: EINVAL (a length of 0, an address that is null
 * or whose end is beyond the home's memory), EFAULT (nothing is allocated at the address), EHOSTUNREACH (its home is
 * gone), ENOBUFS (the cache has no line: locks have all, or the thread holds a lock and has waited for a second),
 * EOWNERDEAD (the block's last value died with a node), EPROTO (another node has damaged the block), ENOMEM (this node
 * or the home has no memory to work with), ESTALE (the lease of this node is over, so others believe that it is dead;
 * or this is a child of fork(2), whose node belongs to its parent: then nothing was done). The next mfence(), lock or
 * unlock returns the error of a write, once.
 *
 * An access inside one block is atomic; a longer one consists of several, in the order of their addresses.
 */
class Session
{
public:
	explicit Session(Node &node);
	/** Waits for its writes, and releases its locks. */
	~Session();
	Session(const Session &) = delete;
	Session &operator=(const Session &) = delete;

	[[nodiscard]] Node &node() noexcept { return node_; }

	/**
	 * While it exists, all that the session begins fails with EHOSTUNREACH if its home was lost after
	 * Node::losses() was @p losses: another node may have the number since, and something else at that address. A
	 * node that returns with its log counts as lost. Giving locks back is free.
	 */
	class Bound;

	/**
	 * Allocates at least @p bytes, zeroed, aligned to @p alignment, a power of two, and to 16. Up to 512 bytes lie
	 * in one block. Errors: ENOMEM (the home has no such piece, or for a second none but in blocks that are
	 * locked), EINVAL (alignment), EHOSTUNREACH; ENOSPC, EIO, EROFS (the home's log cannot be written).
	 */
	int malloc(std::size_t bytes, Address &address, const Placement &where = {}, std::size_t alignment = 16);
	/** Frees an object of malloc(), on any node. Fences. Errors: EINVAL (no allocated object begins there). */
	int free(Address address);

	/** Copies the bytes at @p from to @p into. */
	int read(Address from, std::span<std::byte> into);
	/** Copies @p bytes, and writes them to @p to at some later time: see mfence(). */
	int write(Address to, std::span<const std::byte> bytes);
	/**
	 * Waits until all writes of this thread are performed: no node can read the old values any more. If the node's
	 * log is durable, it also waits for the disk, as do unlock() and atomic(); further errors then are ENOSPC, EIO,
	 * and later EROFS: the operations are done, but not in the log.
	 */
	int mfence();
	/** Waits in the same way, but not for the disk. */
	int settle();

	/**
	 * Applies @p function and @p operand to the @p length bytes at @p at (1, 2, 4 or 8, aligned to that), and
	 * stores their @p old value. Little-endian numbers. Fences first. Errors: EINVAL (length, alignment).
	 */
	int atomic(Address at, std::size_t length, Function function, std::uint64_t operand, std::uint64_t &old,
		std::uint64_t compare = 0);

	/**
	 * Locks all blocks of the @p bytes at @p at, in the order of their addresses, for reading or writing, and
	 * brings their data here. Fences first. A block has one lock, which its objects share. Errors: EDEADLK (the
	 * thread holds one of them), E2BIG (more than 65,536 blocks), EBUSY (of a try: another holds one; nothing is
	 * locked then). If the home of a locked block dies and keeps no log, all accesses to it fail with EHOSTUNREACH,
	 * the unlock too, until all threads of this node have given it back: another node may have the number.
	 */
	int rlock(Address at, std::size_t bytes) { return lock(AccessKind::read_lock, at, bytes, false); }
	int wlock(Address at, std::size_t bytes) { return lock(AccessKind::write_lock, at, bytes, false); }
	int try_rlock(Address at, std::size_t bytes) { return lock(AccessKind::read_lock, at, bytes, true); }
	int try_wlock(Address at, std::size_t bytes) { return lock(AccessKind::write_lock, at, bytes, true); }
	/**
	 * Tries to lock the blocks of all addresses of @p at, many at once, so that the time is that of the slowest,
	 * not the sum. Errors: EBUSY (another thread holds one, or a block is named twice), EDEADLK; nothing is locked
	 * then.
	 */
	int try_rlock_all(std::span<const Address> at) { return try_lock_all(AccessKind::read_lock, at); }
	int try_wlock_all(std::span<const Address> at) { return try_lock_all(AccessKind::write_lock, at); }
	/**
	 * Fences, and releases the locks of these blocks. Errors: EPERM (it does not hold one of them; the others are
	 * released).
	 */
	int unlock(Address at, std::size_t bytes);

	/**
	 * Fences, and waits until the homes have all that this node has written into the blocks of the @p bytes at @p
	 * at, so that its death does not lose it. Errors: EDEADLK (the thread holds the lock of one).
	 */
	int write_back(Address at, std::size_t bytes);

	static constexpr std::size_t max_locked_blocks = 65536;
	/** Most writes under way at once. */
	static constexpr std::size_t max_writes = 64;

	/** An asynchronous read: co_await returns 0 or errno. The bytes must be inside one block. */
	class AsyncRead;
	AsyncRead async_read(Address from, std::span<std::byte> into);
	/** Polls the node once, and resumes coroutines whose reads have ended. Returns false if nothing happened. */
	bool poll();

private:
	class Writes;

	bool begin(Awaited &awaited);
	int run(Awaited &awaited);
	int lock(AccessKind kind, Address at, std::size_t bytes, bool tries);
	int try_lock_all(AccessKind kind, std::span<const Address> at);
	int make_room(std::size_t blocks) noexcept;
	int try_at_once(AccessKind kind, std::span<const Address> at);
	int write_back_at_once(Address first, std::size_t blocks);
	int give_back(Address first, std::size_t blocks);
	int give_back_held(Address first, Address end);
	[[nodiscard]] int check(Address at, std::size_t bytes) const noexcept;
	int wait_for_log();
	[[nodiscard]] NodeId choose(const Placement &where);
	int ask(HomeRequest &request);
	/** Returns ESTALE if the lease is over, as the result does not count then; else @p error. */
	[[nodiscard]] int after(int error) const { return node_.lease_is_over() ? ESTALE : error; }

	/** Returns Access::room_until of an access that begins now. */
	[[nodiscard]] Time room_until() const noexcept;
	/** Returns the error of accesses to @p home if the session is bound. */
	[[nodiscard]] int check_bound(NodeId home) const noexcept
	{
		return node_.was_lost(home, losses_) ? EHOSTUNREACH : 0;
	}

	Node &node_;
	const ThreadId thread_;
	std::uint32_t losses_ = any_losses; /* of the innermost Bound */
	const std::size_t most_writes_;     /* most writes under way when write() returns */
	std::unique_ptr<Writes> writes_;
	bool has_written_ = false; /* since it last waited for the log */
	std::vector<AsyncRead *> reads_;
	std::vector<Address> locked_; /* blocks */
	std::minstd_rand random_;
};

class [[nodiscard]] Session::Bound
{
public:
	Bound(Session &session, std::uint32_t losses) noexcept
		: session_(session), before_(std::exchange(session.losses_, losses))
	{
	}
	~Bound() { session_.losses_ = before_; }
	Bound(const Bound &) = delete;
	Bound &operator=(const Bound &) = delete;

private:
	Session &session_;
	const std::uint32_t before_;
};

class Session::AsyncRead
{
public:
	AsyncRead(AsyncRead &&) = delete;
	/** Waits for the end of the read, if no coroutine has. */
	~AsyncRead();
	[[nodiscard]] bool await_ready() const noexcept { return awaited_.is_done(); }
	void await_suspend(std::coroutine_handle<> handle)
	{
		handle_ = handle;
		is_awaited_ = true;
		session_.reads_.push_back(this);
	}
	[[nodiscard]] int await_resume() const { return session_.after(awaited_.access.error); }

private:
	friend class Session;
	AsyncRead(Session &session, Address from, std::span<std::byte> into);

	Session &session_;
	Awaited awaited_;
	std::coroutine_handle<> handle_;
	bool is_awaited_ = false; /* it is in Session::reads_ */
};

} // namespace prism::gam
