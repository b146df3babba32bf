/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What one thread does with the global memory: GAM's API (VLDB '18, section 3.1), with errors. docs/prism-gam.md says
 * which order the accesses of a thread have for others.
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
#include <vector>

#include "gam/memory/node.hpp"
#include "gam/memory/waiting.hpp"

namespace prism::gam
{

/** Where Malloc takes memory from. */
struct Placement {
	enum class Rule : std::uint8_t {
		local,  /**< this node */
		remote, /**< the other node that has most free */
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
 * One thread's use of a node: its writes that are under way, and its locks. One thread at a time; the node stays while
 * it does. Nothing throws.
 *
 * All calls but write() and async_read() return when they are over, and answer what others ask of the node while they
 * wait. They return 0 or an errno value. Beside those named below: EINVAL (a length of 0, an address that is null or
 * whose end is beyond the home's memory), EFAULT (nothing is allocated at the address), EHOSTUNREACH (its home is
 * gone), EOWNERDEAD (the block's last value has gone with a node), EPROTO (another node has damaged the block), ESTALE
 * (the lease of this node is over: others believe that it is dead; or this is a child of fork(2), whose node is its
 * parent's: then nothing was done). What a write finds is told by the next mfence(),
 * lock or unlock, once.
 *
 * An access inside of one block is atomic; a longer one consists of several, in the order of their addresses.
 */
class Session
{
public:
	explicit Session(Node &node);
	/** Waits for its writes, and gives back the locks that it holds. */
	~Session();
	Session(const Session &) = delete;
	Session &operator=(const Session &) = delete;

	[[nodiscard]] Node &node() noexcept { return node_; }

	/**
	 * Allocates at least @p bytes, zeroed, aligned to @p alignment, a power of two, and to 16. Up to 512 bytes lie
	 * in one block. Errors: ENOMEM (the home has no such piece, or for a second none but in blocks that are
	 * locked), EINVAL (alignment), EHOSTUNREACH.
	 */
	int malloc(std::size_t bytes, Address &address, const Placement &where = {}, std::size_t alignment = 16);
	/** Gives back what malloc() gave, on any node. Fences. Errors: EINVAL (nothing allocated begins there). */
	int free(Address address);

	/** Copies the bytes at @p from to @p into. */
	int read(Address from, std::span<std::byte> into);
	/** Copies @p bytes, and writes them to @p to at some later time: see mfence(). */
	int write(Address to, std::span<const std::byte> bytes);
	/**
	 * Waits until all writes of this thread are performed: until no node can read what was there before. If the
	 * node's log is durable, it waits for the disk too, and so do unlock() and atomic(); errors then are also
	 * ENOSPC, EIO, and from then on EROFS: they have been done, but are not in the log.
	 */
	int mfence();

	/**
	 * Replaces the @p length bytes at @p at (1, 2, 4 or 8, aligned to that) by @p function of them and @p operand,
	 * and gives the @p old ones. Little-endian numbers. Fences before. Errors: EINVAL (length, alignment).
	 */
	int atomic(Address at, std::size_t length, Function function, std::uint64_t operand, std::uint64_t &old,
		std::uint64_t compare = 0);

	/**
	 * Locks all blocks of the @p bytes at @p at, in the order of their addresses, for reading or writing, and
	 * brings them here. Fences before. A block has one lock: objects that share a block share it. Errors: EDEADLK
	 * (the thread holds one of them), E2BIG (more than 65,536 blocks), EBUSY (of a try: another holds one; nothing
	 * is locked then).
	 */
	int rlock(Address at, std::size_t bytes) { return lock(AccessKind::read_lock, at, bytes, false); }
	int wlock(Address at, std::size_t bytes) { return lock(AccessKind::write_lock, at, bytes, false); }
	int try_rlock(Address at, std::size_t bytes) { return lock(AccessKind::read_lock, at, bytes, true); }
	int try_wlock(Address at, std::size_t bytes) { return lock(AccessKind::write_lock, at, bytes, true); }
	/**
	 * Tries the locks of all the blocks that @p at are in, many at once: who wants several waits for the slowest,
	 * not for one after another. Errors: EBUSY (another thread holds one, or a block is named twice), EDEADLK;
	 * nothing is locked then.
	 */
	int try_rlock_all(std::span<const Address> at) { return try_lock_all(AccessKind::read_lock, at); }
	int try_wlock_all(std::span<const Address> at) { return try_lock_all(AccessKind::write_lock, at); }
	/** Fences, and gives back the locks of these blocks. Errors: EPERM (it holds one of them not; others are given
	 * back). */
	int unlock(Address at, std::size_t bytes);

	/**
	 * Fences, and returns when the homes of all blocks of the @p bytes at @p at have what this node has written
	 * there: its death does not take that along any more. Errors: EDEADLK (the thread holds the lock of one).
	 */
	int write_back(Address at, std::size_t bytes);

	static constexpr std::size_t max_locked_blocks = 65536;
	/** Writes that are under way at once, at most. */
	static constexpr std::size_t max_writes = 64;

	/** An asynchronous read: co_await gives 0 or errno. The bytes are inside one block. */
	class AsyncRead;
	AsyncRead async_read(Address from, std::span<std::byte> into);
	/** Resumes coroutines whose reads have ended; one turn of the node. False: nothing has happened. */
	bool poll();

private:
	class Writes;

	bool begin(Awaited &awaited);
	int run(Awaited &awaited);
	int lock(AccessKind kind, Address at, std::size_t bytes, bool tries);
	int try_lock_all(AccessKind kind, std::span<const Address> at);
	int try_at_once(AccessKind kind, std::span<const Address> at);
	int write_back_at_once(Address first, std::size_t blocks);
	int give_back(Address first, std::size_t blocks);
	int give_back_held(Address first, Address end);
	[[nodiscard]] int check(Address at, std::size_t bytes) const noexcept;
	int wait_for_log();
	int write_part(Address to, std::span<const std::byte> bytes);
	[[nodiscard]] NodeId choose(const Placement &where);
	int ask(HomeRequest &request);
	/** What has ended with @p error counts only if the lease was not over then. */
	[[nodiscard]] int after(int error) const { return node_.lease_is_over() ? ESTALE : error; }

	Node &node_;
	const ThreadId thread_;
	const std::size_t most_writes_; /* under way when write() returns */
	std::unique_ptr<Writes> writes_;
	bool has_written_ = false; /* since it waited for the log */
	std::vector<AsyncRead *> reads_;
	std::vector<Address> locked_; /* blocks */
	std::minstd_rand random_;
};

class Session::AsyncRead
{
public:
	AsyncRead(AsyncRead &&) = delete;
	/** Waits until it has ended, if nobody has. */
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
	bool is_awaited_ = false; /* Session::reads_ has it */
};

} // namespace prism::gam
