/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/simulated/session.hpp"

#include <algorithm>
#include <utility>

namespace prism::gam::simulated
{

namespace
{

/** Resumes later, as the protocol is still running. */
void resume(Machine &machine, std::coroutine_handle<> handle)
{
	if (handle)
		machine.events().at(machine.moment(), [handle] { handle.resume(); });
}

std::size_t most_writes(Consistency consistency, std::size_t of_pso) noexcept
{
	switch (consistency) {
	case Consistency::pso:
		return of_pso;
	case Consistency::tso:
		return 1;
	case Consistency::sc:
		break;
	}
	return 0;
}

} // namespace

Session::Session(Machine &machine, ThreadId thread, Consistency consistency, bool cached)
	: machine_(machine), thread_(thread), most_writes_(most_writes(consistency, max_writes)), cached_(cached),
	  one_(machine)
{
	writes_.machine = &machine;
	for (Access8 &access : writes_.accesses)
		access.context = static_cast<Waiting *>(&writes_);
}

void Session::One::ended(Access & /*access*/)
{
	resume(machine, std::exchange(waits, nullptr));
}

void Session::Writes::ended(Access &access)
{
	busy[static_cast<std::size_t>(static_cast<Access8 *>(&access) - accesses.data())] = false;
	error = error ? error : access.error;
	under_way--;
	if (under_way <= most)
		resume(*machine, std::exchange(waits, nullptr));
}

void Session::prepare(Access8 &access, AccessKind kind, Address at) const noexcept
{
	access.kind = kind;
	access.at = at;
	access.length = sizeof(access.word);
	access.bytes = reinterpret_cast<std::byte *>(&access.word);
	access.thread = thread_;
	access.uncached = !cached_;
	access.error = 0;
}

Session::Task<int> Session::run(AccessKind kind, Address at, bool tries)
{
	co_await spend(machine_.hardware().hit);
	prepare(one_.access, kind, at);
	one_.access.tries = tries;
	Time until{};
	if (machine_.start(one_.access, until))
		co_await Until{machine_.events(), until};
	else
		co_await OneEnded{one_};
	co_return one_.access.error;
}

Session::Task<int> Session::read(Address from)
{
	return run(AccessKind::read, from, false);
}

Session::Task<int> Session::write(Address to)
{
	co_await WritesEnded{writes_, std::max<std::size_t>(most_writes_, 1) - 1};
	co_await spend(machine_.hardware().hit);
	const auto slot = static_cast<std::size_t>(
		std::find(writes_.busy.begin(), writes_.busy.end(), false) - writes_.busy.begin());
	Access8 &access = writes_.accesses[slot];
	prepare(access, AccessKind::write, to);
	access.word++;
	Time until{};
	if (!machine_.start(access, until)) {
		writes_.busy[slot] = true;
		writes_.under_way++;
	} else if (access.error) {
		co_return access.error;
	}
	co_await Until{machine_.events(), until};
	if (most_writes_ == 0)
		co_return co_await mfence();
	co_return 0;
}

Session::Task<int> Session::mfence()
{
	co_await WritesEnded{writes_, 0};
	co_return std::exchange(writes_.error, 0);
}

Session::Task<int> Session::lock(AccessKind kind, Address at, bool tries)
{
	if (const int error = co_await mfence())
		co_return error;
	co_return co_await run(kind, at, tries);
}

Session::Task<int> Session::unlock(Address at)
{
	const int fenced = co_await mfence();
	const int error = co_await run(AccessKind::unlock, at, false);
	co_return error ? error : fenced;
}

} // namespace prism::gam::simulated
