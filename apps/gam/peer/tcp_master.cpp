/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/peer/tcp_master.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <nlohmann/json.hpp>

#include "gam/peer/master_desk.hpp"

namespace prism::gam
{

namespace
{

/* Waits until @p fd is ready for @p events. 0 or errno. */
int wait_for(int fd, short events, Deadline deadline)
{
	for (;;) {
		const auto left =
			std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
		if (left.count() <= 0)
			return ETIMEDOUT;
		pollfd waiting{fd, events, 0};
		const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return errno;
	}
}

} // namespace

Result<void> TcpMaster::connect()
{
	if (link_)
		return {};
	Result<TcpRendezvous> made = TcpRendezvous::connect(host_, port_, patience_);
	if (!made)
		return made.error();
	link_.emplace(*std::move(made));
	return {};
}

Result<void> TcpMaster::say(const std::string &line, Deadline deadline)
{
	for (std::size_t done = 0; done < line.size();) {
		if (const int error = wait_for(link_->fd(), POLLOUT, deadline))
			return make_error(error, "the master does not read");
		const ssize_t put =
			send(link_->fd(), line.data() + done, line.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return make_error(errno, "cannot tell the master");
		done += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
	}
	return {};
}

Result<std::string> TcpMaster::hear(Deadline deadline)
{
	std::string line;
	std::array<char, 4096> bytes;
	while (line.size() <= longest_answer) {
		if (const int error = wait_for(link_->fd(), POLLIN, deadline))
			return make_error(error, "the master does not answer");
		const ssize_t got = recv(link_->fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
		if (got == 0)
			return make_error(ECONNRESET, "the master has closed the connection");
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return make_error(errno, "cannot hear the master");
		line.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
		if (line.ends_with('\n'))
			return line;
	}
	return make_error(EBADMSG, "the master's answer is too long");
}

Result<nlohmann::json> TcpMaster::ask(const nlohmann::json &question)
{
	const Deadline deadline = std::chrono::steady_clock::now() + patience_;
	Result<void> sent = connect();
	if (sent)
		sent = say(question.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n', deadline);
	if (!sent) {
		link_.reset();
		return sent.error();
	}
	const Result<std::string> line = hear(deadline);
	/* What comes late must not be taken for the answer to the next question. */
	if (!line) {
		link_.reset();
		return line.error();
	}
	return to_result(nlohmann::json::parse(*line, nullptr, false));
}

} // namespace prism::gam
