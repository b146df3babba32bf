/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A peer that is stopped, and then killed, behind any of its instructions: while it publishes, takes, connects or
 * rings. */
#include <signal.h>
#include <sys/ptrace.h>

#include <algorithm>

#include "local_pair.hpp"

using namespace prism::test;

namespace
{

class StoppedAnywhere : public LocalPair
{
protected:
	using Act = std::function<void(End &)>;

	/**
	 * Starts a child that has a context, which b knows if @p comes; it stops before @p act. False if it cannot be
	 * traced.
	 */
	bool begin(bool comes, const Act &act)
	{
		child_ = ::fork();
		if (!child_) {
			End c;
			while (comes && !c.send(b, 5))
				c.turn();
			if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) < 0)
				::_exit(9);
			::raise(SIGSTOP);
			act(c);
			::_exit(0);
		}
		int status = 0;
		pid_t stopped = 0;
		EXPECT_TRUE(turn_until({&b}, [&] { return (stopped = ::waitpid(child_, &status, WNOHANG)) != 0; }));
		return stopped == child_ && WIFSTOPPED(status);
	}

	/** Steps the child @p count instructions; @return true if it has ended by itself. */
	bool step(unsigned count)
	{
		for (unsigned i = 0; i < count; i++) {
			int status = 0;
			EXPECT_EQ(::ptrace(PTRACE_SINGLESTEP, child_, nullptr, nullptr), 0);
			EXPECT_EQ(::waitpid(child_, &status, 0), child_);
			if (WIFEXITED(status)) {
				EXPECT_EQ(WEXITSTATUS(status), 0);
				return true;
			}
		}
		return false;
	}

	void kill()
	{
		::kill(child_, SIGKILL);
		::waitpid(child_, nullptr, 0);
	}

	/** Expects that a and b go on while the child stands still. */
	void others_go_on()
	{
		a.inbox.packets.clear();
		ASSERT_TRUE(turn_until({&a, &b}, [this] { return a.send(b, 9) && b.send(a, 9); }));
		ASSERT_TRUE(turn_until({&a, &b}, [this] { return !a.inbox.packets.empty(); }));
	}

	/** Returns the child's slot as b knows it; 0 if it does not. */
	[[nodiscard]] unsigned child_slot() const
	{
		for (const unsigned slot : b.port->peers())
			if (slot != a.slot->number())
				return slot;
		return 0;
	}

	bool send_to_child(std::size_t size)
	{
		const unsigned slot = child_slot();
		const Address address = loopback_address(slot);
		std::uint8_t *const room =
			slot ? b.port->begin(0, address, slot << qpn_index_bits | 17, size) : nullptr;
		if (!room)
			return false;
		std::fill_n(room, size, 6);
		b.port->commit();
		b.port->flush();
		return true;
	}

	void is_let_go()
	{
		EXPECT_TRUE(turn_until({&b}, [this] { return !child_slot(); }));
		EXPECT_EQ(b.counts.local_broken, 0U);
		for (const Bytes &packet : b.inbox.packets)
			ASSERT_TRUE(packet == Bytes(100, 5) || packet == Bytes(100, 9));
		b.inbox.packets.clear();
	}

	/* Goes on after the child has ended, or kills it where it stands. */
	void outlive(bool ended)
	{
		if (!ended) {
			others_go_on();
			(void)send_to_child(4000);
			kill();
		}
		is_let_go();
	}

	pid_t child_ = -1;
};

#define SKIP_UNLESS_TRACED(traced)                                                                                     \
	if (!(traced)) {                                                                                               \
		kill();                                                                                                \
		GTEST_SKIP() << "this process may not be traced";                                                      \
	}

TEST_F(StoppedAnywhere, WhilePublishingAndWakingASleeper)
{
	introduce();
	bool ended = false;
	unsigned outcomes = 0;
	for (unsigned steps = 0; !ended && steps < 60'000; steps += 1 + steps / 12) {
		SKIP_UNLESS_TRACED(begin(true, [this](End &c) {
			(void)c.send(b, 5);
			(void)c.send(b, 5);
		}))
		b.turn();
		b.inbox.packets.clear();
		ASSERT_TRUE(turn_until({&b}, [this] { return b.port->prepare_sleep(); }));
		ended = step(steps);
		b.port->attend();
		const auto from_child = [this] { return std::ranges::count(b.inbox.packets, Bytes(100, 5)); };
		if (!ended) {
			others_go_on();
			EXPECT_TRUE(send_to_child(2000));
			ASSERT_TRUE(turn_until({&b}, [this] { return b.port->prepare_sleep(); }));
			kill();
			pollfd wake{b.port->wait_fd(), POLLIN, 0};
			EXPECT_EQ(::poll(&wake, 1, 1000), 1) << "after " << steps;
			b.port->attend();
		}
		outcomes |= 1U << from_child();
		is_let_go();
		ASSERT_FALSE(HasFailure()) << "after " << steps << " instructions";
	}
	EXPECT_TRUE(ended);
	EXPECT_EQ(outcomes & 0b011, 0b011U) << "not all moments were met";
}

TEST_F(StoppedAnywhere, WhileTakingFromAFullRing)
{
	introduce();
	bool ended = false;
	for (unsigned steps = 0; !ended && steps < 200'000; steps += 1 + steps) {
		SKIP_UNLESS_TRACED(begin(true, [](End &c) { c.turn(2); }))
		for (int i = 0; i < 25; i++)
			ASSERT_TRUE(send_to_child(4000));
		ended = step(steps);
		outlive(ended);
		ASSERT_FALSE(HasFailure()) << "after " << steps << " instructions";
	}
	EXPECT_TRUE(ended);
	EXPECT_EQ(b.counts.local_tx_dropped, 0U);
}

TEST_F(StoppedAnywhere, WhileIntroducingItself)
{
	introduce();
	bool ended = false;
	bool came = false;
	for (unsigned steps = 0; !ended && steps < 400'000; steps += 1 + steps / 2) {
		SKIP_UNLESS_TRACED(begin(false, [this](End &c) {
			for (int i = 0; i < 4; i++) {
				(void)c.send(b, 5);
				c.turn();
			}
		}))
		for (unsigned done = 0; !ended && done < steps; done += 500) {
			ended = step(std::min(500U, steps - done));
			b.turn();
			came = came || child_slot();
		}
		outlive(ended);
		ASSERT_FALSE(HasFailure()) << "after " << steps << " instructions";
	}
	EXPECT_TRUE(ended);
	EXPECT_TRUE(came);
}

} // namespace
