/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/frame/processes.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/descriptor.hpp"

namespace prism::bench
{

namespace
{

using nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

constexpr int look_interval = 100; /* ms */

struct Child {
	pid_t id;
	Descriptor results; /* the reading end; closed after the last byte */
	Bytes received{};
};

Bytes encode(const Result<json> &result)
{
	if (result)
		return json::to_cbor({{"result", *result}});
	return json::to_cbor({{"error", result.error().message}, {"code", result.error().code}});
}

Result<json> decode(const Bytes &bytes)
{
	try {
		const json message = json::from_cbor(bytes);
		if (message.contains("result"))
			return message.at("result");
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
			return; /* the reader detects the missing data */
		done += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
	}
}

[[noreturn]] void be_child(const ProcessesOptions &options, unsigned number, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* end with the process that started it */
	const Result<json> result = options.work(number);
	if (!result)
		options.give_up();
	write_all(out, encode(result));
	_exit(0);
}

Result<Child> fork_child(const ProcessesOptions &options, unsigned number)
{
	std::array<int, 2> ends{};
	if (pipe2(ends.data(), O_CLOEXEC) != 0)
		return make_error(errno, "a pipe to a process of the driver");
	Descriptor reading(ends[0]);
	Descriptor writing(ends[1]);
	const pid_t id = fork();
	if (id < 0)
		return make_error(errno, "another process of the driver");
	if (id == 0)
		be_child(options, number, writing.get());
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

/* Receives until all children have closed their pipes. */
void receive_all(const ProcessesOptions &options, std::vector<Child> &children)
{
	for (;;) {
		std::vector<pollfd> watched;
		for (const Child &child : children)
			watched.push_back({child.results.get(), POLLIN, 0}); /* poll() ignores negative descriptors */
		if (std::all_of(watched.begin(), watched.end(), [](const pollfd &one) { return one.fd < 0; }))
			return;
		if (poll(watched.data(), watched.size(), look_interval) == 0)
			options.look();
		for (std::size_t i = 0; i < children.size(); i++) {
			if (watched[i].revents == 0)
				continue;
			receive(children[i]);
			if (children[i].results.get() < 0 && !decode(children[i].received))
				options.give_up(); /* it may have died without telling the others */
		}
	}
}

void reap(const ProcessesOptions &options, std::vector<Child> &children)
{
	for (const Child &child : children) {
		int status = 0;
		while (waitpid(child.id, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFSIGNALED(status))
			options.take(make_error(EPIPE,
				fmt::format("a process of the driver was ended by signal {}", WTERMSIG(status))));
		else
			options.take(decode(child.received));
	}
}

} // namespace

Result<void> run_children(const ProcessesOptions &options)
{
	std::fflush(nullptr); /* otherwise each child would print the buffered text again */
	std::vector<Child> children;
	Result<void> started;
	for (unsigned i = 0; i < options.count && started; i++) {
		Result<Child> child = fork_child(options, i);
		if (child)
			children.push_back(std::move(*child));
		else
			started = child.error();
	}
	if (!started)
		options.give_up();
	receive_all(options, children);
	reap(options, children);
	return started;
}

} // namespace prism::bench
