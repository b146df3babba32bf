/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "reception.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace prism::apps
{

namespace
{

/* Delay before the server is asked again whether it has room */
constexpr auto retry_pause = std::chrono::milliseconds(1);
/* Back-off after accept() fails, for example for lack of descriptors */
constexpr auto listen_pause = std::chrono::milliseconds(100);

/* Makes the descriptor readable only once this many bytes have arrived. */
void wake_at(int fd, std::size_t bytes) noexcept
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
	event.data.ptr = nullptr; /* clients have theirs */
	(void)epoll_ctl(poller_.get(), EPOLL_CTL_MOD, listener_.fd(), &event);
	listening_ = on;
}

int Reception::patience() const noexcept
{
	const auto now = Clock::now();
	auto next = Deadline::max();
	if (!pending_.empty())
		next = pending_.front().deadline;
	const auto waits = [](const PendingClient &client) { return client.stage == Stage::waiting; };
	if (std::any_of(pending_.begin(), pending_.end(), waits))
		next = std::min<Deadline>(next, now + retry_pause);
	if (!listening_ && !closed_)
		next = std::min(next, listen_again_);
	if (next == Deadline::max())
		return -1;
	return static_cast<int>(time_left(next).count());
}

void Reception::serve(Host &host)
{
	std::array<epoll_event, 32> events;
	const int count = epoll_wait(poller_.get(), events.data(), static_cast<int>(events.size()), 0);
	bool calls = false;
	for (int i = 0; i < count; i++) {
		const epoll_event &event = events[static_cast<std::size_t>(i)];
		if (event.data.ptr)
			step(*static_cast<PendingClient *>(event.data.ptr),
				event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR), host);
		else
			calls = true;
	}
	if (calls) /* last, as it may end clients that the events above name */
		accept(host);
	for (auto next = pending_.begin(); next != pending_.end();) {
		PendingClient &client = *next++;
		if (client.stage == Stage::waiting)
			step(client, false, host);
	}
	if (const auto client = slow(); crowded_ && client != pending_.end())
		make_room(*client, host);
	crowded_ = false;
	expire(host);
	if (!listening_ && !closed_ && Clock::now() >= listen_again_)
		listen(true);
}

void Reception::close(Host &host)
{
	closed_ = true;
	if (listening_)
		listen(false);
	(void)::shutdown(listener_.fd(), SHUT_RDWR); /* refuse the clients in the backlog */
	while (!pending_.empty())
		drop(pending_.front(), make_error(ESHUTDOWN, "the server is being stopped"), host);
}

/**
 * Accepts at most as many clients as may be on their way: a crowd that connects without end keeps nobody from being
 * served.
 */
void Reception::accept(Host &host)
{
	for (std::size_t turn = 0; turn < places_ && listening_; turn++) {
		Result<TcpRendezvous> link = listener_.accept(std::chrono::milliseconds(0));
		if (!link && link.error().code == ETIMEDOUT)
			return;
		if (!link && frees_a_descriptor(link.error(), host))
			continue;
		if (!link) {
			/* Report once: they wait in the backlog, and accept() is tried again and again. */
			if (!std::exchange(accept_failed_, true))
				host.refused(link.error());
			listen_again_ = Clock::now() + listen_pause;
			listen(false);
			return;
		}
		accept_failed_ = false;
		if (pending_.size() >= places_)
			make_room(*dispensable(), host);
		pending_.push_back({std::make_shared<TcpRendezvous>(*std::move(link)), Clock::now() + timeout_,
			Stage::reading_record, nullptr, {}});
		PendingClient &client = pending_.back();
		client.self = std::prev(pending_.end());
		epoll_event event{};
		event.events = EPOLLIN | EPOLLRDHUP;
		event.data.ptr = &client;
		if (epoll_ctl(poller_.get(), EPOLL_CTL_ADD, client.link->fd(), &event))
			pending_.pop_back();
		else
			step(client, false,
				host); /* data that it sent while it waited counts, before another takes its place */
	}
}

/**
 * Ends a client that says nothing, if accept() failed with @p why for want of descriptors. Then the next one is
 * accepted as if there were fewer places.
 */
bool Reception::frees_a_descriptor(const Error &why, Host &host)
{
	if (why.code != EMFILE && why.code != ENFILE)
		return false;
	const auto client = pending_.empty() ? pending_.end() : dispensable();
	if (client == pending_.end() || (client->stage != Stage::lingering && client->stage != Stage::reading_record))
		return false;
	make_room(*client, host);
	return true;
}

/**
 * Returns the client that must make room for the next one: of the refused ones, which have been told, else of the
 * silent ones, else of all, the first to come. It had as long as a crowd takes to fill the room.
 */
std::list<Reception::PendingClient>::iterator Reception::dispensable() noexcept
{
	const auto is_in = [](Stage stage) {
		return [stage](const PendingClient &client) { return client.stage == stage; };
	};
	for (const Stage stage : {Stage::lingering, Stage::reading_record})
		if (const auto first = std::ranges::find_if(pending_, is_in(stage)); first != pending_.end())
			return first;
	return pending_.begin();
}

/** Returns the first client that has not sent its mark for long: clients of ours send it at once. */
std::list<Reception::PendingClient>::iterator Reception::slow() noexcept
{
	const auto latest = Clock::now() + timeout_ - timeout_ / 8;
	return std::ranges::find_if(pending_, [latest](const PendingClient &client) {
		return client.stage == Stage::reading_mark && client.deadline < latest;
	});
}

void Reception::make_room(PendingClient &client, Host &host)
{
	if (client.stage == Stage::lingering)
		remove(client);
	else
		drop(client, make_error(EBUSY, "a client that does not end its set-up makes room for others"), host);
}

void Reception::step(PendingClient &client, bool hung_up, Host &host)
{
	switch (client.stage) {
	case Stage::waiting:
		if (hung_up)
			return drop(client, gone(ECONNRESET), host);
		[[fallthrough]];
	case Stage::reading_record:
		read_record(client, hung_up, host);
		break;
	case Stage::reading_mark:
		read_mark(client, hung_up, host);
		break;
	case Stage::lingering:
		linger(client);
		break;
	}
}

/**
 * Copies received bytes without consuming them. Returns 1 if all of @p bytes are there, 0 if fewer, or a negative errno
 * if no more will come.
 */
int Reception::peek(const PendingClient &client, std::span<std::byte> bytes, bool hung_up) noexcept
{
	const ssize_t got = recv(client.link->fd(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
	if (got == static_cast<ssize_t>(bytes.size()))
		return 1;
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	return got == 0 || hung_up ? -ECONNRESET : 0;
}

void Reception::read_record(PendingClient &client, bool hung_up, Host &host)
{
	std::vector<std::byte> bytes(ConnectionRecord::prefix_size);
	wake_at(client.link->fd(), bytes.size());
	int there = peek(client, bytes, hung_up);
	if (there > 0) {
		Result<std::size_t> size = ConnectionRecord::announced_size(bytes);
		if (!size)
			return drop(client, size.error(), host);
		bytes.resize(*size);
		wake_at(client.link->fd(), bytes.size());
		there = peek(client, bytes, hung_up);
	}
	if (there < 0)
		return drop(client, gone(-there), host);
	if (there == 0)
		return;
	Result<ConnectionRecord> record = ConnectionRecord::parse(bytes);
	if (!record)
		return drop(client, record.error(), host);
	on_connect(client, *record, host);
}

void Reception::on_connect(PendingClient &client, const ConnectionRecord &record, Host &host)
{
	ConnectionRecord mine;
	Result<std::unique_ptr<AcceptedConnection>> made = host.on_connect(client.link, record, mine);
	/* A server without a place for one more waits if one on its way takes long, whose place this one gets. */
	const bool full = !made && made.error().code == EMFILE && slow() != pending_.end();
	const bool retry = full || (!made && made.error().code == EAGAIN);
	crowded_ = crowded_ || full;
	epoll_event event{};
	event.events = retry ? EPOLLRDHUP : EPOLLIN | EPOLLRDHUP; /* a waiting client is readable all the time */
	event.data.ptr = &client;
	if ((retry || client.stage == Stage::waiting) &&
		epoll_ctl(poller_.get(), EPOLL_CTL_MOD, client.link->fd(), &event))
		return drop(client, gone(errno), host);
	if (retry) {
		client.stage = Stage::waiting;
		return;
	}
	wake_at(client.link->fd(), 1); /* swap() reads in two parts */
	if (!made)
		return refuse(client, record, made.error(), host);
	/* The client's record has arrived and ours fits into the socket's buffer: this does not wait. */
	if (Result<ConnectionRecord> swapped = client.link->swap(mine, Clock::now()); !swapped)
		return drop(client, swapped.error(), host);
	client.connection = *std::move(made);
	client.stage = Stage::reading_mark;
	read_mark(client, false, host);
}

void Reception::refuse(PendingClient &client, const ConnectionRecord &record, const Error &why, Host &host)
{
	/* A peer that sent no Hello would not understand a refusal. */
	if (!Hello::parse(record.private_data))
		return drop(client, why, host);
	ConnectionRecord mine;
	mine.endpoint = record.endpoint;
	mine.private_data = hello_.refusal(why);
	if (!client.link->swap(mine, Clock::now()))
		return drop(client, why, host);
	/* Send the mark; the client's may come later. */
	(void)client.link->barrier(Clock::now());
	host.refused(why);
	client.stage = Stage::lingering;
	linger(client);
}

void Reception::read_mark(PendingClient &client, bool hung_up, Host &host)
{
	std::array<std::byte, 1> mark{};
	const int there = peek(client, mark, hung_up);
	if (there < 0)
		return drop(client, gone(-there), host);
	if (there == 0)
		return;
	client.connection->ready();
	if (Result<void> met = client.link->barrier(Clock::now()); !met)
		return drop(client, met.error(), host);
	const std::unique_ptr<AcceptedConnection> connection = std::move(client.connection);
	remove(client);
	connection->enter();
}

/** Reads until the client closes: closing with unread bytes could reset the connection before it reads the reason. */
void Reception::linger(PendingClient &client) noexcept
{
	std::array<std::byte, 4096> bytes; /* per turn: a client that sends without end holds nobody up */
	const ssize_t got = recv(client.link->fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		remove(client);
}

void Reception::drop(PendingClient &client, const Error &why, Host &host)
{
	host.refused(why);
	remove(client);
}

void Reception::remove(PendingClient &client) noexcept
{
	(void)epoll_ctl(poller_.get(), EPOLL_CTL_DEL, client.link->fd(), nullptr);
	pending_.erase(client.self);
}

void Reception::expire(Host &host)
{
	const auto now = Clock::now();
	while (!pending_.empty() && pending_.front().deadline <= now) {
		PendingClient &client = pending_.front();
		if (client.stage == Stage::lingering)
			remove(client);
		else
			drop(client, gone(ETIMEDOUT), host);
	}
}

} // namespace prism::apps
