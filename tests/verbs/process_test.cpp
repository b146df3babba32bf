/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The device as a guest in a process: signals, children, limits. */
#include "harness.hpp"

#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace verbs_test
{
namespace
{

/** Runs @p work in a child; returns its exit code, -1 if it had to be killed, or -2 if a signal ended it. */
int result_of_child(const std::function<int()> &work)
{
	const pid_t child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		::_exit(work());
	}
	int status = 0;
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (std::chrono::steady_clock::now() > deadline) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			return -1;
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

class Process : public testing::Test
{
protected:
	void SetUp() override
	{
		if (devices.kernel)
			skip("nothing of the module's runs in the process");
	}
};

TEST_F(Process, SignalsAreTheProgramsOwn)
{
	static volatile sig_atomic_t handled;
	struct sigaction action {
	}, before;
	action.sa_handler = [](int) { handled = 1; };
	ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
	const auto context = open_device(devices.client, PRISMDV_PROGRESS_THREAD);
	const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(context.get()));
	sigset_t set, mask;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, &mask), 0);
	kill(getpid(), SIGUSR1);
	std::this_thread::sleep_for(std::chrono::milliseconds(20)); /* so that another thread takes it */
	const timespec patience{1, 0};
	EXPECT_EQ(sigtimedwait(&set, nullptr, &patience), SIGUSR1);
	EXPECT_EQ(handled, 0);
	pthread_sigmask(SIG_SETMASK, &mask, nullptr);
	sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(Process, AChildMayCloseItsParentsDevice)
{
	auto context = open_device(devices.client, PRISMDV_PROGRESS_THREAD);
	const Owned<ibv_comp_channel> channel(prismdv_create_comp_channel(context.get()));
	EXPECT_EQ(result_of_child([&] { return ibv_close_device(context.get()); }), 0);
}

/** Programs that fork to run others list devices in children, while the connection manager's thread does. */
TEST_F(Process, AChildListsDevicesWhateverAnotherThreadIsAbout)
{
	std::atomic<bool> stop{false};
	std::thread lister([&stop] {
		while (!stop)
			prismdv_free_device_list(prismdv_get_device_list(nullptr));
	});
	int result = 0;
	for (int i = 0; i < 100 && result == 0; i++)
		result = result_of_child([] { return prismdv_get_device_list(nullptr) ? 0 : 1; });
	stop = true;
	lister.join();
	EXPECT_EQ(result, 0);
}

/** One context, which has no thread as long as it does not share its addresses. */
class Child : public Fabric
{
protected:
	Child() : Fabric({"one_context", true}) {}

	void SetUp() override
	{
		if (devices.kernel)
			skip("nothing of the module's runs in the process");
		connect();
	}
};

/** Packets that have arrived when a child destroys its copy of a queue pair belong to its parent. */
TEST_F(Child, TakesNothingFromItsParentsSockets)
{
	const auto threads = std::distance(
		std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
	if (threads > 1)
		return skip("the addresses are shared, as ::1 always is: a thread of the parent takes what comes");
	post_recv(peer.get(), server.memory.sge(0, 64));
	ASSERT_EQ(post({standard(IBV_WR_SEND, {client.memory.sge(0, 64)})}), 0);
	EXPECT_EQ(result_of_child([this] { return move_to(peer.get(), IBV_QPS_ERR); }), 0);
	const auto received = next(server.cq.get());
	ASSERT_TRUE(received);
	EXPECT_EQ(received->status, IBV_WC_SUCCESS);
}

/** Otherwise libibverbs without the launcher would take it for a device of the kernel's, and a successful write for an
 * answered command. */
TEST_F(Process, CommandsForTheKernelFail)
{
	const auto context = open_device(devices.client, PRISMDV_PROGRESS_THREAD);
	constexpr std::array<std::uint32_t, 2> command{};
	errno = 0;
	EXPECT_EQ(::write(context->cmd_fd, command.data(), sizeof(command)), -1);
	EXPECT_NE(errno, 0);
}

TEST_F(Process, AContextHasItsAsynchronousEventsOrIsRefused)
{
	EXPECT_EQ(result_of_child([] {
		ibv_device **list = prismdv_get_device_list(nullptr);
		const int lowest = ::dup(STDERR_FILENO);
		rlimit limit{};
		if (!list || !list[0] || lowest < 0 || ::close(lowest) || getrlimit(RLIMIT_NOFILE, &limit))
			return 1;
		const prismdv_context_attr attr{0, PRISMDV_PROGRESS_INLINE, 0};
		for (rlim_t spare = 0; spare < 64; spare++) {
			limit.rlim_cur = static_cast<rlim_t>(lowest) + spare;
			if (setrlimit(RLIMIT_NOFILE, &limit))
				return 2;
			if (const ibv_context *context = prismdv_open_device(list[0], &attr))
				return context->async_fd >= 0 ? 0 : 3;
			if (errno != EMFILE)
				return 5;
		}
		return 4;
	}),
		0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/** Limits the address space to its present size and @p more. */
void limit_memory(std::size_t more)
{
	std::ifstream statistics("/proc/self/statm");
	std::size_t pages = 0;
	statistics >> pages;
	const rlim_t limit = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more;
	const rlimit both{limit, limit};
	setrlimit(RLIMIT_AS, &both);
}

/** Sets a stack size that does not fit any more, as if the user had too many threads. */
void forbid_threads()
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 20);
	pthread_setattr_default_np(&attributes);
	limit_memory(8 << 20);
}

/** Opens without a helper of the harness, which would throw. */
ibv_context *try_to_open(ibv_device *device)
{
	const prismdv_context_attr attr{0, PRISMDV_PROGRESS_THREAD, 0};
	return prismdv_open_device(device, &attr);
}

TEST_F(Process, WithoutThreadsDevicesAndChannelsAreRefused)
{
	EXPECT_EQ(result_of_child([] {
		ibv_device **list = prismdv_get_device_list(nullptr);
		forbid_threads();
		/* If addresses are shared with other processes, the device needs its thread at once. */
		ibv_context *context = try_to_open(list[0]);
		if (!context)
			return errno == EAGAIN ? 0 : 1;
		return !prismdv_create_comp_channel(context) && errno == EAGAIN ? 0 : 2;
	}),
		0);
}

TEST_F(Process, AQueueThatDoesNotFitIntoMemoryIsRefused)
{
	EXPECT_EQ(result_of_child([] {
		const Host host(open_device(devices.client, PRISMDV_PROGRESS_INLINE));
		limit_memory(16 << 20);
		ibv_srq_init_attr srq{nullptr, {1 << 24, 32, 0}};
		return !ibv_create_srq(host.pd.get(), &srq) && errno == ENOMEM ? 0 : 1;
	}),
		0);
}

#endif

bool enter_a_network_of_its_own()
{
	return ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

/** Sets the loopback interface of this process's namespace up or down. */
bool set_loopback(bool up)
{
	ifreq request{};
	std::strcpy(request.ifr_name, "lo");
	request.ifr_flags = up ? IFF_UP : 0;
	const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool done = ::ioctl(any, SIOCSIFFLAGS, &request) == 0;
	::close(any);
	return done;
}

/** While the interface is down, nothing gets through, but nothing else changes. */
class PortThatGoesDown : public Fabric
{
public:
	void TestBody() override
	{
		connect();
		EXPECT_TRUE(set_loopback(false));
		EXPECT_EQ(post({prism_read({client.memory.sge(0, 8)}, server.memory)}), 0);
		EXPECT_EQ(async_event(client, 100), std::nullopt);
		EXPECT_EQ(async_event(server, 0), std::nullopt);
		ibv_port_attr port{};
		EXPECT_EQ(ibv_query_port(client.context.get(), 1, &port), 0);
		EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
		ibv_wc wc;
		EXPECT_EQ(ibv_poll_cq(client.cq.get(), 1, &wc), 0);
		EXPECT_TRUE(set_loopback(true));
		const auto done = next(client.cq.get());
		EXPECT_TRUE(done && done->status == IBV_WC_SUCCESS);
		EXPECT_EQ(async_event(client, 0), std::nullopt);
	}
};

TEST_F(Process, PortStateRaisesNoEvent)
{
	constexpr int alone = 2;
	const int result = result_of_child([] {
		if (!enter_a_network_of_its_own() || !set_loopback(true))
			return alone;
		::setenv("PRISM_LOCAL", "0", 1); /* rings need no interface */
		PortThatGoesDown().TestBody();
		return HasFailure() ? 1 : 0;
	});
	if (result == alone)
		skip("this user may have no network namespace of its own");
	EXPECT_EQ(result, 0);
}

} // namespace
} // namespace verbs_test
