/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An HTTP server of one page, made anew for each request. One thread serves all connections, and none waits for
 * another: a client that sends nothing, sends slowly, or does not read has a place until its time is over, or until
 * others need it.
 */
#pragma once

#include <prism/connection.hpp>
#include <prism/result.hpp>

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"

namespace prism::apps
{

class HttpServer
{
public:
	using Page = std::function<std::string()>;

	/**
	 * Most connections; fewer where descriptors are few. The next one takes the place of the oldest that is not
	 * being answered, or else of the oldest.
	 */
	static constexpr std::size_t max_connections = 64;
	static constexpr auto time_limit = std::chrono::seconds(5);
	/** Most bytes of a request, which has no body. */
	static constexpr std::size_t longest_request = 8192;
	/** Most bytes after it that are read and dropped, so that the answer is not lost. */
	static constexpr std::size_t most_dropped = std::size_t{1} << 20;

	/**
	 * Serves @p page as @p path at @p host (empty: all addresses) and @p port (0: any). @p page is called by the
	 * server's thread. @p limit: time of a connection, from beginning to end. Errors: those of
	 * TcpListener::create() and eventfd(2).
	 */
	static Result<std::unique_ptr<HttpServer>> create(const std::string &host, std::uint16_t port,
		const std::string &path, Page page, std::chrono::milliseconds limit = time_limit);
	/** Ends all connections. */
	~HttpServer();
	HttpServer(const HttpServer &) = delete;
	HttpServer &operator=(const HttpServer &) = delete;

	[[nodiscard]] std::uint16_t port() const noexcept { return listener_.port(); }

private:
	struct Connection {
		TcpRendezvous link;
		Deadline deadline;
		std::string request;
		std::string answer;   /* empty until the request has come */
		std::size_t sent = 0; /* bytes sent of the answer */
		std::size_t dropped = 0;

		/** True if it has the whole answer, and may close. */
		[[nodiscard]] bool is_told() const noexcept { return !answer.empty() && sent == answer.size(); }
	};

	HttpServer(TcpListener listener, std::string path, Page page, std::chrono::milliseconds limit);
	void run(const std::stop_token &stop);
	void accept();
	void make_room();
	bool step(Connection &connection) const;
	static bool leave(Connection &connection);
	[[nodiscard]] std::string answer_to(std::string_view request) const;

	TcpListener listener_;
	const std::size_t places_ = places_for_strangers(max_connections, 16);
	const std::string path_;
	const Page page_;
	const std::chrono::milliseconds limit_;
	Descriptor wake_;
	Deadline accept_again_{};           /* earliest time to accept again: descriptors are short */
	std::list<Connection> connections_; /* by deadline: all have the same time */
	std::jthread thread_;               /* declared last: it uses the other members */
};

} // namespace prism::apps
