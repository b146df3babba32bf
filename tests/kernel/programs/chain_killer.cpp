/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-chain-killer: a server whose clients install new versions of an object, ALLOCATE and then CAS if that
 * succeeded, until each of them is killed at a random moment. No buffer may be lost but those whose address was on its
 * way to a client, and all objects of the process are freed.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <set>
#include <thread>

#include <fmt/core.h>

#include "base/command_line.hpp"
#include "random.hpp"
#include "requests.hpp"

extern char **environ;

namespace prism
{

using namespace conformance;

namespace
{

constexpr unsigned buffers = 31;
constexpr std::size_t buffer_size = 2048, payload = 1500; /* two packets */
constexpr std::size_t slot_at = 0, scratch_at = 64, buffers_at = 4096, memory_size = buffers_at + buffers * buffer_size;

/** Greeting of the server to a client. */
struct Hello {
	std::uint32_t qpn, key, list;
	std::uint64_t base;
};

/** Progress of a client, in memory that outlives it. */
struct Progress {
	std::atomic<std::uint64_t> posted, answered;
};

Path loopback(const Device &device, std::uint32_t qpn)
{
	Path path;
	path.source = path.destination = device.some_gid(false);
	path.qpn = qpn;
	path.send_psn = path.recv_psn = 0x1000;
	path.timeout = 14;
	return path;
}

template <typename T>
void send_to(int fd, const T &value)
{
	check(write(fd, &value, sizeof(value)) != sizeof(value), "write");
}

template <typename T>
T receive_from(int fd)
{
	T value;
	check(read(fd, &value, sizeof(value)) != sizeof(value), "read");
	return value;
}

/* The client --------------------------------------------------------------------------------------------------- */

/** Runs one chain at a time, for ever. */
int client(const std::string &name, int fd, int shared)
{
	auto *progress =
		static_cast<Progress *>(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0));
	check(progress == MAP_FAILED, "mmap");
	const Device device(name);
	const Owned<ibv_cq> cq = create_cq(device);
	const Owned<ibv_qp> qp = create_qp(device, device.pd(), cq.get());
	const MemoryRegion local(device.pd(), 8192);
	const auto hello = receive_from<Hello>(fd);
	connect(device, qp.get(), loopback(device, hello.qpn));
	send_to(fd, qp->qp_num);
	receive_from<std::uint8_t>(fd); /* the server is connected */
	for (std::uint64_t expected = 0;;) {
		ibv_sge data = local.sge(0, payload), old = local.sge(4096, 8);
		prismdv_send_wr allocate = work_request(PRISMDV_WR_ALLOCATE, &data);
		allocate.flags = PRISMDV_WR_REDIRECT;
		allocate.aux = {hello.base + scratch_at, hello.key, 0};
		allocate.allocate = {hello.list, 0, local.sge(4104, 8)};
		prismdv_send_wr cas = work_request(PRISMDV_WR_CAS, &old, hello.base + slot_at, hello.key);
		cas.flags = PRISMDV_WR_DATA_INDIRECT | PRISMDV_WR_CONDITIONAL;
		cas.aux = {hello.base + scratch_at, hello.key, 0};
		cas.cas = {PRISMDV_CAS_EQ, 0, 8, 0, &expected, nullptr, nullptr, nullptr};
		allocate.wr.next = &cas.wr;
		progress->posted++;
		check(post(qp.get(), allocate), "ibv_post_send");
		const std::optional<ibv_wc> first = next_completion(cq.get());
		const std::optional<ibv_wc> second = next_completion(cq.get());
		if (!first || !second || first->status || second->status)
			return 1;
		if (first->vendor_err == PRISMDV_STATUS_OK)
			progress->answered++;
		else
			progress->posted--; /* NO_BUFFER: no buffer was taken */
		expected = local.word(4096);
		if (second->vendor_err == PRISMDV_STATUS_OK)
			expected = local.word(4104);
	}
}

/* The server --------------------------------------------------------------------------------------------------- */

class Server
{
public:
	Server(const std::string &name, std::uint64_t seed)
		: name_(name), random_(seed), device_(name), cq_(create_cq(device_)),
		  qp_(create_qp(device_, device_.pd(), cq_.get())),
		  list_(create_srq(device_, device_.pd(), buffers, true)), memory_(device_.pd(), memory_size)
	{
		for (unsigned i = 0; i < buffers; i++)
			give(i);
	}

	bool round()
	{
		const int shared = memfd_create("progress", 0);
		check(shared < 0 || ftruncate(shared, sizeof(Progress)), "memfd_create");
		auto *progress = static_cast<Progress *>(
			mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0));
		check(progress == MAP_FAILED, "mmap");
		const prismdv_free_list_attr before = query();
		const pid_t child = start_client(shared);
		std::this_thread::sleep_for(std::chrono::microseconds(random_.below(60'000)));
		kill(child, SIGKILL);
		int status = 0;
		waitpid(child, &status, 0);
		close(channel_);
		close(shared);
		const bool ok = WIFSIGNALED(status) && account(before, *progress);
		munmap(progress, sizeof(Progress));
		rounds++;
		return ok;
	}

	unsigned rounds = 0;
	std::uint64_t chains = 0, unknown = 0, came_back = 0;

private:
	void give(unsigned index)
	{
		check(post_buffer(list_.get(), index, memory_.sge(buffers_at + index * buffer_size, buffer_size)),
			"post");
	}

	[[nodiscard]] prismdv_free_list_attr query() const
	{
		prismdv_free_list_attr attr{};
		check(prismdv_query_free_list(list_.get(), &attr), "prismdv_query_free_list");
		return attr;
	}

	pid_t start_client(int shared)
	{
		int ends[2];
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
		fcntl(ends[0], F_SETFD, FD_CLOEXEC);
		channel_ = ends[0];
		std::string fd = std::to_string(ends[1]), progress = std::to_string(shared);
		std::string words[] = {"prism-chain-killer", "--device", name_, "--client", fd, "--progress", progress};
		std::vector<char *> arguments;
		for (std::string &word : words)
			arguments.push_back(word.data());
		arguments.push_back(nullptr);
		pid_t child = 0;
		check(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ),
			"posix_spawn");
		close(ends[1]);
		send_to(channel_, Hello{qp_->qp_num, memory_.key(), number_of(list_.get()), memory_.va()});
		const auto qpn = receive_from<std::uint32_t>(channel_);
		connect(device_, qp_.get(), loopback(device_, qpn));
		send_to(channel_, std::uint8_t{1});
		return child;
	}

	/** Resets the dead client's queue pair; then every buffer is in the list, known to the client, or on its way to
	 * it. */
	bool account(const prismdv_free_list_attr &before, const Progress &progress)
	{
		check(set_state(qp_.get(), IBV_QPS_RESET), "to RESET");
		const prismdv_free_list_attr now = query();
		const std::uint64_t taken = now.popped - before.popped, back = now.reclaimed - before.reclaimed;
		const std::uint64_t out = taken - back, answered = progress.answered, posted = progress.posted;
		chains += answered;
		unknown += out - answered;
		came_back += back;
		if (out < answered || out > posted || now.rejected != before.rejected ||
			now.available != before.available - out) {
			fmt::print("FAIL: {} taken, {} came back, {} posted, {} answered, {} of {} available\n", taken,
				back, posted, answered, now.available, before.available);
			return false;
		}
		return recover(out);
	}

	/** Finds all missing buffers by address, as an owner's scan does. */
	bool recover(std::uint64_t out)
	{
		const std::uint64_t slot = memory_.word(slot_at);
		if (slot && (slot < memory_.va(buffers_at) || (slot - memory_.va(buffers_at)) % buffer_size)) {
			fmt::print("FAIL: the slot holds {:#x}, which is no buffer\n", slot);
			return false;
		}
		memory_.put(slot_at, 0);
		/* A list does not tell its contents: make a new one with all buffers. */
		list_.reset();
		list_ = create_srq(device_, device_.pd(), buffers, true);
		for (unsigned i = 0; i < buffers; i++)
			give(i);
		return out <= buffers;
	}

	const std::string name_;
	test::Random random_;
	Device device_;
	Owned<ibv_cq> cq_;
	Owned<ibv_qp> qp_;
	Owned<ibv_srq> list_;
	MemoryRegion memory_;
	int channel_ = -1;
};

int server(const std::string &name, unsigned seconds, std::uint64_t seed)
{
	Server all(name, seed);
	const auto deadline = Clock::now() + std::chrono::seconds(seconds);
	bool ok = true;
	while (ok && Clock::now() < deadline)
		ok = all.round();
	fmt::print("{} clients killed, {} chains answered, {} buffers on their way, {} taken back by the device\n",
		all.rounds, all.chains, all.unknown, all.came_back);
	return ok && all.rounds > 1 && all.chains > 0 ? 0 : 1;
}

} // namespace

} // namespace prism

int main(int argc, char **argv)
{
	std::string device;
	unsigned seconds = 10;
	std::uint64_t seed = 1;
	int client = -1, progress = -1;
	prism::cli::CommandLine app{"Clients that are killed in the midst of chains"};
	app.add_option("--device", device, "PRISM device").required();
	app.add_option("--seconds", seconds, "how long");
	app.add_option("--seed", seed, "seed of the moments");
	app.add_option("--client", client, "be a client of the server at this descriptor");
	app.add_option("--progress", progress, "descriptor of the memory for its progress");
	if (const auto early = app.parse(argc, argv))
		return early->print();
	try {
		return client >= 0 ? prism::client(device, client, progress) : prism::server(device, seconds, seed);
	} catch (const std::exception &error) {
		fmt::print(stderr, "FAIL: {}\n", error.what());
		return 1;
	}
}
