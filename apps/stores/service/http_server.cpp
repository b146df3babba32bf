/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "http_server.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"

namespace prism::apps
{

namespace
{

constexpr std::string_view end_of_head = "\r\n\r\n";
/* Back-off after accept() fails, for example for lack of descriptors */
constexpr auto accept_pause = std::chrono::milliseconds(100);

std::string response(const std::string &status, const std::string &body, bool with_body = true)
{
	return "HTTP/1.1 " + status + "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: " +
	       std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + (with_body ? body : std::string());
}

/** Takes the next word of a line. */
std::string_view take_word(std::string_view &line)
{
	const std::size_t end = std::min(line.find(' '), line.size());
	const std::string_view word = line.substr(0, end);
	line.remove_prefix(std::min(end + 1, line.size()));
	return word;
}

} // namespace

HttpServer::HttpServer(TcpListener listener, std::string path, Page page, std::chrono::milliseconds limit)
	: listener_(std::move(listener)), path_(std::move(path)), page_(std::move(page)), limit_(limit),
	  wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

Result<std::unique_ptr<HttpServer>> HttpServer::create(const std::string &host, std::uint16_t port,
	const std::string &path, Page page, std::chrono::milliseconds limit)
{
	Result<TcpListener> listener = TcpListener::create(port, host);
	if (!listener)
		return listener.error();
	/* The constructor is private: no make_unique. */
	std::unique_ptr<HttpServer> made(new HttpServer(*std::move(listener), path, std::move(page), limit));
	if (made->wake_.get() < 0)
		return make_error(errno, "cannot create an event descriptor");
	made->thread_ = std::jthread([server = made.get()](const std::stop_token &stop) { server->run(stop); });
	return made;
}

HttpServer::~HttpServer()
{
	thread_.request_stop();
	(void)::eventfd_write(wake_.get(), 1);
}

void HttpServer::run(const std::stop_token &stop)
{
	std::vector<pollfd> watched;
	while (!stop.stop_requested()) {
		const auto now = std::chrono::steady_clock::now();
		std::erase_if(connections_, [now](const Connection &one) { return one.deadline <= now; });
		const bool listens = accept_again_ <= now;
		watched.clear();
		for (const Connection &one : connections_)
			watched.push_back({one.link.fd(),
				static_cast<short>(one.answer.empty() || one.is_told() ? POLLIN : POLLOUT), 0});
		watched.push_back({wake_.get(), POLLIN, 0});
		watched.push_back({listener_.fd(), static_cast<short>(listens ? POLLIN : 0), 0});
		Deadline next = connections_.empty() ? Deadline::max() : connections_.front().deadline;
		if (!listens)
			next = std::min(next, accept_again_);
		(void)::poll(watched.data(), watched.size(),
			next == Deadline::max() ? -1 : static_cast<int>(time_left(next).count()));
		auto event = watched.cbegin();
		std::erase_if(connections_, [&](Connection &one) { return (event++)->revents && !step(one); });
		if (watched.back().revents)
			accept();
	}
}

/*
 * Accepts at most as many clients as there are places: a crowd that connects without end keeps nobody from being
 * served.
 */
void HttpServer::accept()
{
	for (std::size_t turn = 0; turn < places_; turn++) {
		Result<TcpRendezvous> link = listener_.accept(std::chrono::milliseconds(0));
		const bool short_of_descriptors = !link && (link.error().code == EMFILE || link.error().code == ENFILE);
		if (short_of_descriptors && !connections_.empty()) {
			make_room();
			continue;
		}
		if (!link) {
			if (link.error().code != ETIMEDOUT)
				accept_again_ = std::chrono::steady_clock::now() + accept_pause;
			return;
		}
		if (connections_.size() >= places_)
			make_room();
		connections_.push_back({*std::move(link), std::chrono::steady_clock::now() + limit_, {}, {}, 0});
		if (!step(connections_.back())) /* its data counts before another takes its place */
			connections_.pop_back();
	}
}

void HttpServer::make_room()
{
	const auto idle = std::find_if(connections_.begin(), connections_.end(),
		[](const Connection &one) { return one.answer.empty() || one.is_told(); });
	connections_.erase(idle == connections_.end() ? connections_.begin() : idle);
}

/** Takes received data, sends as much as fits. Returns false if the connection must be closed. */
bool HttpServer::step(Connection &connection) const
{
	if (connection.is_told())
		return leave(connection);
	if (connection.answer.empty()) {
		std::array<char, 4096> piece;
		const ssize_t got = ::recv(connection.link.fd(), piece.data(), piece.size(), MSG_DONTWAIT);
		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR);
		connection.request.append(piece.data(), static_cast<std::size_t>(got));
		const bool is_whole = connection.request.find(end_of_head) != std::string::npos;
		if (!is_whole && connection.request.size() < longest_request)
			return true;
		connection.answer = is_whole ? answer_to(connection.request)
					     : response("431 Request Header Fields Too Large", "too long\n");
	}
	const std::string_view rest = std::string_view(connection.answer).substr(connection.sent);
	const ssize_t put = ::send(connection.link.fd(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	connection.sent += static_cast<std::size_t>(put);
	return !connection.is_told() || (::shutdown(connection.link.fd(), SHUT_WR) == 0 && leave(connection));
}

/**
 * Drops received bytes: to close a socket with unread bytes would reset it, and the answer might be lost. Returns false
 * if the peer has closed it, too, or sends too much.
 */
bool HttpServer::leave(Connection &connection)
{
	std::array<char, 4096> piece;
	while (connection.dropped < most_dropped) {
		const ssize_t got = ::recv(connection.link.fd(), piece.data(), piece.size(), MSG_DONTWAIT);
		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR);
		connection.dropped += static_cast<std::size_t>(got);
	}
	return false;
}

std::string HttpServer::answer_to(std::string_view request) const
{
	std::string_view line = request.substr(0, request.find("\r\n"));
	const std::string_view method = take_word(line);
	std::string_view target = take_word(line);
	if (!line.starts_with("HTTP/1."))
		return response("400 Bad Request", "no request\n");
	target = target.substr(0, target.find('?'));
	if (target != path_)
		return response("404 Not Found", "there is " + path_ + " alone\n");
	if (method != "GET" && method != "HEAD")
		return response("405 Method Not Allowed", "GET it\n");
	return response("200 OK", page_(), method == "GET");
}

} // namespace prism::apps
