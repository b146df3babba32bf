/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/tcp_master.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "gam/membership/master_desk.hpp"

namespace prism::gam
{

namespace
{

/* The longest attempt to connect; then it is begun again, as connect() cannot be cancelled. */
constexpr auto longest_attempt = std::chrono::milliseconds(500);

bool is_worth_another(int error) noexcept
{
	return error == ECONNREFUSED || error == ETIMEDOUT;
}

} // namespace

TcpMaster::TcpMaster(std::string host, std::uint16_t port, std::chrono::milliseconds patience)
	: host_(std::move(host)), port_(port), patience_(patience), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

void TcpMaster::cancel() noexcept
{
	cancelled_ = true;
	(void)eventfd_write(wake_.get(), 1);
}

/* Waits until the link is ready for @p events. Returns 0 or an errno value. */
int TcpMaster::wait_for(short events, Deadline deadline) const
{
	for (;;) {
		const auto left = time_left(deadline);
		if (cancelled_)
			return ECANCELED;
		if (left.count() == 0)
			return ETIMEDOUT;
		std::array<pollfd, 2> waiting{{{link_->fd(), events, 0}, {wake_.get(), POLLIN, 0}}};
		const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
		if (ready < 0 && errno != EINTR)
			return errno;
		if (ready > 0 && waiting[0].revents)
			return 0;
	}
}

Result<void> TcpMaster::connect(Deadline deadline)
{
	while (!link_) {
		const auto left = time_left(deadline);
		if (cancelled_)
			return make_error(ECANCELED, "this node does not ask the master any more");
		Result<TcpRendezvous> made = TcpRendezvous::connect(host_, port_, std::min(left, longest_attempt));
		if (made)
			link_.emplace(*std::move(made));
		else if (left <= longest_attempt || !is_worth_another(made.error().code))
			return made.error();
	}
	return {};
}

Result<void> TcpMaster::say(const std::string &line, Deadline deadline)
{
	for (std::size_t done = 0; done < line.size();) {
		if (const int error = wait_for(POLLOUT, deadline))
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
		if (const int error = wait_for(POLLIN, deadline))
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

Result<nlohmann::json> TcpMaster::ask(const nlohmann::json &question, Time longest)
{
	const Deadline deadline = std::chrono::steady_clock::now() + std::min<Time>(patience_, longest);
	Result<void> sent = connect(deadline);
	if (sent)
		sent = say(question.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n', deadline);
	if (!sent) {
		link_.reset();
		return sent.error();
	}
	const Result<std::string> line = hear(deadline);
	/* A late answer must not be taken for that to the next question. */
	if (!line) {
		link_.reset();
		return line.error();
	}
	return to_result(nlohmann::json::parse(*line, nullptr, false));
}

} // namespace prism::gam
