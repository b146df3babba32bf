/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver in several processes: each sends what it measured through a pipe. */
#include "ycsb/run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bench/threads.hpp"
#include "common/descriptor.hpp"

namespace prism::ycsb
{

namespace
{

using nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

constexpr int bar_interval = 100; /* ms */

struct Child {
	pid_t id;
	apps::Descriptor results; /* the reading end; closed after the last byte */
	Bytes received{};
};

Bytes encode(const Result<RunResult> &result)
{
	if (result)
		return json::to_cbor({{"result", result->to_json()}});
	return json::to_cbor({{"error", result.error().message}, {"code", result.error().code}});
}

Result<RunResult> decode(const Bytes &bytes)
{
	try {
		const json message = json::from_cbor(bytes);
		if (message.contains("result"))
			return RunResult::from_json(message.at("result"));
		return Error{message.at("code").get<int>(), message.at("error").get<std::string>()};
	} catch (const std::exception &) {
		return make_error(EPIPE, "a process of the driver ended without a result",
			"run with one process to see what it says");
	}
}

void write_all(int fd, const Bytes &bytes)
{
	std::size_t done = 0;
	while (done < bytes.size()) {
		const ssize_t now = write(fd, bytes.data() + done, bytes.size() - done);
		if (now < 0 && errno != EINTR)
			return; /* the reader sees that something is missing */
		done += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
	}
}

Result<RunResult> child_result(
	const RunOptions &options, bench::RunState &run_state, unsigned process, const FactoryOpener &open)
{
	Result<ClientFactory> factory = open();
	if (!factory)
		return factory.error();
	return run_process(options, run_state, process, *factory, nullptr);
}

[[noreturn]] void be_child(
	const RunOptions &options, bench::RunState &run_state, unsigned process, const FactoryOpener &open, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* no load without the one who started it */
	const Result<RunResult> result = child_result(options, run_state, process, open);
	if (!result)
		run_state.give_up();
	write_all(out, encode(result));
	_exit(0);
}

Result<Child> fork_child(
	const RunOptions &options, bench::RunState &run_state, unsigned process, const FactoryOpener &open)
{
	std::array<int, 2> ends{};
	if (pipe2(ends.data(), O_CLOEXEC) != 0)
		return make_error(errno, "a pipe to a process of the driver");
	apps::Descriptor reading(ends[0]);
	apps::Descriptor writing(ends[1]);
	const pid_t id = fork();
	if (id < 0)
		return make_error(errno, "another process of the driver");
	if (id == 0)
		be_child(options, run_state, process, open, writing.get());
	return Child{id, std::move(reading)};
}

void receive(Child &child)
{
	std::array<std::uint8_t, 65536> buffer;
	const ssize_t size = read(child.results.get(), buffer.data(), buffer.size());
	if (size > 0)
		child.received.insert(child.received.end(), buffer.begin(), buffer.begin() + size);
	else if (size == 0 || errno != EINTR)
		child.results.close();
}

/* Until all have closed their pipes. */
void receive_all(const RunOptions &options, bench::RunState &run_state, std::vector<Child> &children)
{
	bench::ProgressBar bar(options.progress);
	for (;;) {
		std::vector<pollfd> watched;
		for (const Child &child : children)
			watched.push_back({child.results.get(), POLLIN, 0}); /* poll() passes over those below 0 */
		if (std::all_of(watched.begin(), watched.end(), [](const pollfd &one) { return one.fd < 0; }))
			return;
		if (poll(watched.data(), watched.size(), bar_interval) == 0)
			show_progress(options, run_state, bar);
		for (std::size_t i = 0; i < children.size(); i++) {
			if (watched[i].revents == 0)
				continue;
			receive(children[i]);
			if (children[i].results.get() < 0 && !decode(children[i].received))
				run_state.give_up(); /* it may have died without telling the others */
		}
	}
}

Result<RunResult> reap(std::vector<Child> &children)
{
	bench::Merger<RunResult> merger;
	for (const Child &child : children) {
		int status = 0;
		while (waitpid(child.id, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFSIGNALED(status))
			merger.add(make_error(EPIPE,
				fmt::format("a process of the driver was ended by signal {}", WTERMSIG(status))));
		else
			merger.add(decode(child.received));
	}
	return merger.take();
}

Result<RunResult> run_children(const RunOptions &options, bench::RunState &run_state, const FactoryOpener &open)
{
	std::fflush(nullptr); /* or each child has what is buffered once more */
	std::vector<Child> children;
	Result<void> started;
	for (unsigned i = 0; i < options.processes && started; i++) {
		Result<Child> child = fork_child(options, run_state, i, open);
		if (child)
			children.push_back(std::move(*child));
		else
			started = child.error();
	}
	if (!started)
		run_state.give_up();
	receive_all(options, run_state, children);
	Result<RunResult> result = reap(children);
	if (!started)
		return started.error();
	return result;
}

} // namespace

Result<RunResult> run_processes(const RunOptions &options, const FactoryOpener &open)
{
	Result<void> checked = check(options);
	if (!checked)
		return checked.error();
	if (options.processes > 1) {
		Result<bench::SharedRunState> run_state = bench::make_run_state(options.workers(), options.records);
		if (!run_state)
			return run_state.error();
		return run_children(options, **run_state, open);
	}
	Result<ClientFactory> factory = open();
	if (!factory)
		return factory.error();
	return run(options, *factory);
}

} // namespace prism::ycsb
