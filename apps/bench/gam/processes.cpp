/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/processes.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/seconds.hpp"
#include "bench/frame/processes.hpp"
#include "bench/gam/run.hpp"
#include "gam/api/joined_node.hpp"
#include "gam/membership/master_service.hpp"

namespace prism::gam::micro
{

namespace
{

class JoinedPlace final : public Place
{
public:
	JoinedPlace(JoinedNode &joined, double timeout) : joined_(joined), timeout_(apps::milliseconds(timeout)) {}

	[[nodiscard]] Node &node() noexcept override { return joined_.node(); }
	Result<void> put(const std::string &key, Address address) override
	{
		return or_cancelled(joined_.put(key, address));
	}
	Result<Address> get(const std::string &key) override
	{
		return or_cancelled(joined_.get_address(key, timeout_));
	}

private:
	/** Converts errors of a master that no longer answers: it was ended, because another node has failed. */
	template <typename T>
	static Result<T> or_cancelled(Result<T> result)
	{
		const int code = result ? 0 : result.error().code;
		if (code == ECONNREFUSED || code == ECONNRESET || code == EPIPE)
			return make_error(ECANCELED, "the master is gone");
		return result;
	}

	JoinedNode &joined_;
	const std::chrono::milliseconds timeout_;
};

JoinOptions join_options(const RunOptions &options)
{
	const ClusterOptions &cluster = options.cluster;
	JoinOptions join;
	join.master = cluster.master;
	join.address = cluster.address;
	join.protocol = cluster.protocol;
	join.cache_bytes = lines_of_node(options) * block_size;
	join.node.bytes = bytes_of_node(options);
	join.node.consistency = cluster.consistency;
	join.node.cached = cluster.cached;
	join.timeout = apps::milliseconds(cluster.timeout);
	return join;
}

/** The master's process, which lives as long as this object. */
class Master
{
public:
	static Result<Master> start()
	{
		MasterServiceOptions options;
		options.address = "127.0.0.1";
		options.lease = std::chrono::seconds(10); /* processors are for the measurement */
		Result<std::unique_ptr<MasterService>> service = MasterService::create(options);
		if (!service)
			return service.error();
		const std::uint16_t port = (*service)->port();
		const pid_t id = fork();
		if (id < 0)
			return make_error(errno, "a process for the master");
		if (id == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			(void)(*service)->run();
			_exit(0);
		}
		return Master(id, port);
	}
	Master(Master &&other) noexcept : id_(std::exchange(other.id_, 0)), port_(other.port_) {}
	Master &operator=(Master &&) = delete;
	~Master()
	{
		end();
		if (id_)
			(void)waitpid(id_, nullptr, 0);
	}

	[[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
	void end() const noexcept
	{
		if (id_)
			(void)kill(id_, SIGKILL);
	}

private:
	Master(pid_t id, std::uint16_t port) : id_(id), port_(port) {}

	pid_t id_;
	std::uint16_t port_;
};

/** Pins this thread to a processor, with the threads that it starts. */
void keep_to_processor(unsigned number) noexcept
{
	cpu_set_t allowed, own;
	CPU_ZERO(&allowed);
	CPU_ZERO(&own);
	(void)sched_getaffinity(0, sizeof(allowed), &allowed);
	for (unsigned processor = 0, place = number % std::max(CPU_COUNT(&allowed), 1); processor < CPU_SETSIZE;
		processor++) {
		if (CPU_ISSET(processor, &allowed) && place-- == 0)
			CPU_SET(processor, &own);
	}
	(void)sched_setaffinity(0, sizeof(own), &own);
}

/** Waits until all nodes have joined, and this one knows of all: nodes learn of others a little later. */
Result<void> await_all(JoinedPlace &place, const ClusterOptions &cluster)
{
	if (Result<void> met = place.meet("joined", cluster.nodes); !met)
		return met;
	const auto end = Node::Clock::now() + apps::milliseconds(cluster.timeout);
	const auto all_there = [&] { return place.node().members().size() >= cluster.nodes; };
	place.node().wait_until([&] { return all_there() || Node::Clock::now() > end; });
	if (!all_there())
		return make_error(ETIMEDOUT, "waiting for the other nodes", "see --timeout");
	return {};
}

} // namespace

Result<RunResult> run_joined(const RunOptions &options)
{
	const std::string &device = options.cluster.device;
	const Result<Context> context = device.empty() ? Context::open() : Context::open(device);
	if (!context)
		return context.error();
	const Result<std::unique_ptr<JoinedNode>> joined = JoinedNode::join(*context, join_options(options));
	if (!joined)
		return joined.error();
	const NodeId self = (*joined)->node().self();
	if (self >= options.cluster.nodes)
		return make_error(EINVAL, fmt::format("the master has given number {} to this node", self),
			fmt::format("start a master for these {} nodes alone", options.cluster.nodes));
	JoinedPlace place(**joined, options.cluster.timeout);
	const Result<void> there = await_all(place, options.cluster);
	Result<RunResult> result = there ? run_node(place, options) : Result<RunResult>(there.error());
	/* All have measured: a node that can no longer leave has lost nothing. */
	(void)(*joined)->leave();
	return result;
}

Result<RunResult> run_processes(const RunOptions &options)
{
	const Result<Master> master = Master::start();
	if (!master)
		return master.error();
	RunOptions with_master = options;
	with_master.cluster.master = master->address();
	return bench::run_processes<RunResult>(
		static_cast<unsigned>(options.cluster.nodes),
		[&](unsigned number) {
			if (options.cluster.pins)
				keep_to_processor(number);
			return run_joined(with_master);
		},
		[&] { master->end(); }, [] {});
}

} // namespace prism::gam::micro
