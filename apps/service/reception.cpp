/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "reception.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace prism::apps
{

namespace
{

/* How soon the server is asked again whether it has room */
constexpr auto retry_pause = std::chrono::milliseconds(1);
/* How long nobody is accepted when that has failed, such as for want of descriptors */
constexpr auto listen_pause = std::chrono::milliseconds(100);

/* The descriptor shall be readable when so many bytes are there, not before. */
void want(int fd, std::size_t bytes) noexcept
{
	const int count = static_cast<int>(bytes);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &count, sizeof(count));
}

Error gone(int code)
{
	return make_error(code, "a client does not go on with its set-up");
}

} // namespace

Reception::Reception(TcpListener listener, const Hello &hello, std::chrono::milliseconds timeout, int poller)
	: listener_(std::move(listener)), hello_(hello), timeout_(timeout), poller_(poller)
{
}

Reception::~Reception()
{
	::close(poller_);
}

Result<std::unique_ptr<Reception>> Reception::create(
	TcpListener listener, const Hello &hello, std::chrono::milliseconds timeout)
{
	const int poller = epoll_create1(EPOLL_CLOEXEC);
	if (poller < 0)
		return make_error(errno, "cannot wait for clients");
	/* The constructor is private: no make_unique. */
	std::unique_ptr<Reception> made(new Reception(std::move(listener), hello, timeout, poller));
	epoll_event event{};
	if (epoll_ctl(poller, EPOLL_CTL_ADD, made->listener_.fd(), &event))
		return make_error(errno, "cannot wait for clients");
	made->listen(true);
	return made;
}

void Reception::listen(bool on) noexcept
{
	epoll_event event{};
	event.events = on ? unsigned{EPOLLIN} : 0u;
	event.data.ptr = nullptr; /* guests have theirs */
	(void)epoll_ctl(poller_, EPOLL_CTL_MOD, listener_.fd(), &event);
	listening_ = on;
}

int Reception::patience() const noexcept
{
	const auto now = Clock::now();
	auto next = Deadline::max();
	if (!guests_.empty())
		next = guests_.front().deadline;
	const auto waits = [](const Guest &guest) { return guest.stage == Stage::waiting; };
	if (std::any_of(guests_.begin(), guests_.end(), waits))
		next = std::min<Deadline>(next, now + retry_pause);
	if (!listening_ && !closed_ && guests_.size() < max_guests)
		next = std::min(next, listen_again_);
	if (next == Deadline::max())
		return -1;
	return std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count()));
}

void Reception::serve(Host &host)
{
	std::array<epoll_event, 32> events;
	const int count = epoll_wait(poller_, events.data(), static_cast<int>(events.size()), 0);
	for (int i = 0; i < count; i++) {
		const epoll_event &event = events[static_cast<std::size_t>(i)];
		if (event.data.ptr)
			step(*static_cast<Guest *>(event.data.ptr), event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR),
				host);
		else
			accept();
	}
	for (auto next = guests_.begin(); next != guests_.end();) {
		Guest &guest = *next++;
		if (guest.stage == Stage::waiting)
			step(guest, false, host);
	}
	expire(host);
	if (!listening_ && !closed_ && guests_.size() < max_guests && Clock::now() >= listen_again_)
		listen(true);
}

void Reception::close(Host &host)
{
	closed_ = true;
	if (listening_)
		listen(false);
	(void)::shutdown(listener_.fd(), SHUT_RDWR); /* who is in the backlog is refused */
	while (!guests_.empty())
		lose(guests_.front(), make_error(ESHUTDOWN, "the server is being stopped"), host);
}

void Reception::accept()
{
	while (listening_) {
		Result<TcpRendezvous> link = listener_.accept(std::chrono::milliseconds(0));
		if (!link && link.error().code == ETIMEDOUT)
			return;
		if (!link) {
			listen_again_ = Clock::now() + listen_pause;
			listen(false);
			return;
		}
		guests_.push_back({std::make_shared<TcpRendezvous>(*std::move(link)), Clock::now() + timeout_,
			Stage::introducing, nullptr, {}});
		Guest &guest = guests_.back();
		guest.self = std::prev(guests_.end());
		epoll_event event{};
		event.events = EPOLLIN | EPOLLRDHUP;
		event.data.ptr = &guest;
		if (epoll_ctl(poller_, EPOLL_CTL_ADD, guest.link->fd(), &event))
			guests_.pop_back();
		if (guests_.size() == max_guests)
			listen(false);
	}
}

void Reception::step(Guest &guest, bool hung_up, Host &host)
{
	switch (guest.stage) {
	case Stage::introducing:
	case Stage::waiting:
		introduce(guest, hung_up, host);
		break;
	case Stage::readying:
		make_ready(guest, hung_up, host);
		break;
	case Stage::leaving:
		let_leave(guest);
		break;
	}
}

/** Copies what has come, which stays: 1: all of @p bytes, 0: less, negative errno: no more will come. */
int Reception::look(const Guest &guest, std::span<std::byte> bytes, bool hung_up) noexcept
{
	const ssize_t got = recv(guest.link->fd(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
	if (got == static_cast<ssize_t>(bytes.size()))
		return 1;
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	return got == 0 || hung_up ? -ECONNRESET : 0;
}

void Reception::introduce(Guest &guest, bool hung_up, Host &host)
{
	std::vector<std::byte> bytes(ConnectionRecord::prefix_size);
	want(guest.link->fd(), bytes.size());
	int there = look(guest, bytes, hung_up);
	if (there > 0) {
		Result<std::size_t> size = ConnectionRecord::announced_size(bytes);
		if (!size)
			return lose(guest, size.error(), host);
		bytes.resize(*size);
		want(guest.link->fd(), bytes.size());
		there = look(guest, bytes, hung_up);
	}
	if (there < 0)
		return lose(guest, gone(-there), host);
	if (there == 0)
		return;
	Result<ConnectionRecord> record = ConnectionRecord::parse(bytes);
	if (!record)
		return lose(guest, record.error(), host);
	meet(guest, *record, host);
}

void Reception::meet(Guest &guest, const ConnectionRecord &record, Host &host)
{
	ConnectionRecord mine;
	Result<std::unique_ptr<Newcomer>> made = host.meet(guest.link, record, mine);
	const bool retry = !made && made.error().code == EAGAIN;
	epoll_event event{};
	event.events = retry ? 0u : EPOLLIN | EPOLLRDHUP; /* readable it is while it waits */
	event.data.ptr = &guest;
	if ((retry || guest.stage == Stage::waiting) && epoll_ctl(poller_, EPOLL_CTL_MOD, guest.link->fd(), &event))
		return lose(guest, gone(errno), host);
	if (retry) {
		guest.stage = Stage::waiting;
		return;
	}
	want(guest.link->fd(), 1); /* swap() reads in two parts */
	if (!made)
		return refuse(guest, record, made.error(), host);
	/* All that it reads is there, and what it sends fits: it does not wait. */
	if (Result<ConnectionRecord> swapped = guest.link->swap(mine, Clock::now()); !swapped)
		return lose(guest, swapped.error(), host);
	guest.newcomer = *std::move(made);
	guest.stage = Stage::readying;
	make_ready(guest, false, host);
}

void Reception::refuse(Guest &guest, const ConnectionRecord &record, const Error &why, Host &host)
{
	/* Who does not speak of stores would not understand. */
	if (!Hello::parse(record.private_data))
		return lose(guest, why, host);
	ConnectionRecord mine;
	mine.endpoint = record.endpoint;
	mine.private_data = hello_.refusal(why);
	if (!guest.link->swap(mine, Clock::now()))
		return lose(guest, why, host);
	/* Sends the mark; the client's may come later. */
	(void)guest.link->barrier(Clock::now());
	host.refused(why);
	guest.stage = Stage::leaving;
	let_leave(guest);
}

void Reception::make_ready(Guest &guest, bool hung_up, Host &host)
{
	std::array<std::byte, 1> mark{};
	const int there = look(guest, mark, hung_up);
	if (there < 0)
		return lose(guest, gone(-there), host);
	if (there == 0)
		return;
	if (Result<void> met = guest.link->barrier(Clock::now()); !met)
		return lose(guest, met.error(), host);
	const std::unique_ptr<Newcomer> newcomer = std::move(guest.newcomer);
	forget(guest);
	newcomer->enter();
}

/** Reads what else it says: to close with bytes unread would take the reason away from it. */
void Reception::let_leave(Guest &guest) noexcept
{
	std::array<std::byte, 256> bytes;
	ssize_t got = 0;
	do {
		got = recv(guest.link->fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
	} while (got == static_cast<ssize_t>(bytes.size()));
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		forget(guest);
}

void Reception::lose(Guest &guest, const Error &why, Host &host)
{
	host.refused(why);
	forget(guest);
}

void Reception::forget(Guest &guest) noexcept
{
	(void)epoll_ctl(poller_, EPOLL_CTL_DEL, guest.link->fd(), nullptr);
	guests_.erase(guest.self);
}

void Reception::expire(Host &host)
{
	const auto now = Clock::now();
	while (!guests_.empty() && guests_.front().deadline <= now) {
		Guest &guest = guests_.front();
		if (guest.stage == Stage::leaving)
			forget(guest);
		else
			lose(guest, gone(ETIMEDOUT), host);
	}
}

} // namespace prism::apps
