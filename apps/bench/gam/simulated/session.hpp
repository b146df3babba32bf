/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A gam::Session in virtual time: the accesses of one thread of a machine, as coroutines. One word each. */
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "bench/gam/simulated/machine.hpp"
#include "common/task.hpp"
#include "gam/node/node.hpp"

namespace prism::gam::simulated
{

/** co_await suspends until @p when, unless that has passed. */
struct Until {
	Events &events;
	Time when;

	[[nodiscard]] bool await_ready() const noexcept { return when <= events.now(); }
	void await_suspend(std::coroutine_handle<> handle) const
	{
		events.at(when, [handle] { handle.resume(); });
	}
	void await_resume() const noexcept {}
};

/**
 * The accesses of a thread, which has a processor of its own, and occupies it for each access and post. Errors:
 * Access::error.
 */
class Session
{
public:
	template <typename T>
	using Task = apps::Task<T>;

	/** @p machine outlives it. */
	Session(Machine &machine, ThreadId thread, Consistency consistency, bool cached);
	Session(const Session &) = delete;
	Session &operator=(const Session &) = delete;

	Task<int> read(Address from);
	/** Writes; under PSO and TSO its errors are not returned. */
	Task<int> write(Address to);
	/** Waits until all writes are performed. Returns their first error. */
	Task<int> mfence();
	/** Fences, and takes the lock @p kind. */
	Task<int> lock(AccessKind kind, Address at, bool tries);
	Task<int> unlock(Address at);

private:
	static constexpr std::size_t max_writes = 64; /* as in gam::Session */

	struct Access8 : Access {
		std::uint64_t word = 0;
	};
	/* One access, and its waiter */
	struct One final : Waiting {
		explicit One(Machine &on) : machine(on) { access.context = static_cast<Waiting *>(this); }
		void ended(Access &access) override;

		Machine &machine;
		Access8 access;
		std::coroutine_handle<> waits;
	};
	struct OneEnded {
		One &one;
		[[nodiscard]] bool await_ready() const noexcept { return false; }
		void await_suspend(std::coroutine_handle<> handle) const noexcept { one.waits = handle; }
		void await_resume() const noexcept {}
	};
	/* Writes under way */
	struct Writes final : Waiting {
		void ended(Access &access) override;

		Machine *machine = nullptr;
		std::array<Access8, max_writes> accesses;
		std::array<bool, max_writes> busy{};
		std::size_t under_way = 0;
		std::size_t most = 0; /* `waits` resumes when no more are under way */
		std::coroutine_handle<> waits;
		int error = 0;
	};
	struct WritesEnded {
		Writes &writes;
		std::size_t most;
		[[nodiscard]] bool await_ready() const noexcept { return writes.under_way <= most; }
		void await_suspend(std::coroutine_handle<> handle) const noexcept
		{
			writes.most = most;
			writes.waits = handle;
		}
		void await_resume() const noexcept {}
	};

	Task<int> run(AccessKind kind, Address at, bool tries);
	void prepare(Access8 &access, AccessKind kind, Address at) const noexcept;
	[[nodiscard]] Until spend(double microseconds) noexcept
	{
		return {machine_.events(), machine_.events().now() + Hardware::in_ns(microseconds)};
	}

	Machine &machine_;
	const ThreadId thread_;
	const std::size_t most_writes_; /* most writes under way when write() returns */
	const bool cached_;
	One one_;
	Writes writes_;
};

} // namespace prism::gam::simulated
