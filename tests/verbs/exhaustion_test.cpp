/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory runs out anywhere: connections go on, and children exit. Entry by entry: entry_point_test.cpp. A program of
 * its own, as it has an operator new of its own. */
#include "exhaustion.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

using prism::test::at_the_last;

/* The leak sanitizer calls this. A child has not the stacks of its parent's other threads, so memory that they hold
 * looks lost. */
static const pid_t tested = ::getpid();
extern "C" int __lsan_is_turned_off()
{
	return ::getpid() != tested;
}

namespace verbs_test
{
namespace
{

TEST_F(Exhaustion, ConnectionsAndRequestsGoOn)
{
	connect();
	ibv_sge sge = client.memory.sge(0, 64);
	ibv_send_wr wr{}, *bad;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma = {server.memory.at(), server.memory.key()};
	for (int enough = 0; enough < 50; enough++) {
		allocations_left = enough;
		const int posted = ibv_post_send(qp.get(), &wr, &bad);
		ibv_wc wc{};
		for (int i = 0; i < 5; i++) {
			prismdv_progress(server.context.get());
			ibv_poll_cq(server.cq.get(), 1, &wc);
		}
		allocations_left = -1;
		ASSERT_EQ(posted, 0);
		const auto done = next(client.cq.get());
		ASSERT_TRUE(done);
		ASSERT_EQ(done->status, IBV_WC_SUCCESS);
	}
}

/** Runs @p work in a child; returns its exit code, or -1 if it did not end. */
int result_of_child(const std::function<int()> &work, std::atomic<bool> *born = nullptr)
{
	const pid_t child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		std::exit(work());
	}
	if (born)
		*born = true;
	int status = 0;
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(born ? 2 : 10);
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (std::chrono::steady_clock::now() > deadline) {
			kill(child, SIGKILL);
			waitpid(child, nullptr, 0);
			return -1;
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	return WEXITSTATUS(status);
}

std::atomic<bool> halfway, born;

enum Outcome : std::uint8_t {
	ended,
	never_ended,
	no_such_point
};

/** Forks while another thread opens a device and is at its @p point th allocation; returns the child's outcome. */
Outcome fork_while_opening(int point)
{
	Outcome outcome = ended;
	std::thread opener([point, &outcome] {
		at_the_last = [] {
			halfway = true;
			/* A fork that waits for this thread is good, too. */
			for (int i = 0; i < 100 && !born; i++)
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
		};
		allocations_left = point;
		open_device(devices.client, PRISMDV_PROGRESS_INLINE);
		if (allocations_left >= 0)
			outcome = no_such_point;
		halfway = true;
	});
	while (!halfway)
		std::this_thread::yield();
	const int result = result_of_child([] { return 0; }, &born);
	opener.join();
	return result ? never_ended : outcome;
}

TEST(Fork, AChildExitsWhateverAnotherThreadWasAbout)
{
	if (devices.kernel)
		skip("nothing of the module's runs in the process");
	/* With one device open already, lists grow. A child for each point finds them as they are now. */
	const auto open = open_device(devices.client, PRISMDV_PROGRESS_INLINE);
	int outcome = ended;
	for (int point = 0; outcome == ended; point++)
		outcome = result_of_child([point] { return fork_while_opening(point); });
	EXPECT_EQ(outcome, no_such_point);
}

} // namespace
} // namespace verbs_test
