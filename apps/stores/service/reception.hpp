/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Set-up of clients, for servers of every kind. One thread sets up many clients at once, and none of them waits for
 * another. A client that sends nothing costs a socket until its timeout, or until so many others have come that its
 * place is needed.
 *
 * The steps are those of establish(), each taken only when the bytes for it have come: the client's record, the
 * server's answer with its queue pair connected, the client's mark that it is ready. A client that is refused gets the
 * reason as Hello::refusal(), and its queue pair is connected to itself.
 */
#pragma once

#include "base/descriptor.hpp"
#include "hello.hpp"

#include <prism/connection.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>

namespace prism::apps
{

/** Set-up of a server's clients. Not thread-safe. */
class Reception
{
public:
	/** The client's TCP connection. */
	using Link = std::shared_ptr<TcpRendezvous>;

	/**
	 * Most clients on their way at once; fewer where descriptors are few. The next one takes the place of one that
	 * has been refused, or else of the one that has been silent for longest, or else of the first to come.
	 */
	static constexpr std::size_t max_pending = 256;

	/**
	 * The server's part of a client that is not ready yet. If it is destroyed without enter(), the client never
	 * gets ready.
	 */
	class AcceptedConnection
	{
	public:
		virtual ~AcceptedConnection() = default;
		/**
		 * Called when the client is ready, before it is told that this side is; then comes enter(), if the
		 * client is still there.
		 */
		virtual void ready() {}
		/**
		 * Called when the client is ready: its connection begins. Called once, then the object is destroyed.
		 */
		virtual void enter() = 0;
	};

	/** The server. Its functions do not wait. */
	class Host
	{
	public:
		virtual ~Host() = default;

		/**
		 * Handles the record of a client. Makes everything that its connection needs, with the queue pair
		 * connected, and fills in @p mine, the record for the client. Errors refuse the client and are sent to
		 * it, except EAGAIN: there will be room in a moment, and this is called again.
		 */
		virtual Result<std::unique_ptr<AcceptedConnection>> on_connect(
			const Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine) = 0;

		/** Called when a client was refused, went away, or timed out; or when clients cannot be accepted. */
		virtual void refused(const Error &why) noexcept = 0;
	};

	/**
	 * Takes the clients of @p listener. @p hello: kind and version of the server. @p timeout: of one client's
	 * set-up. Errors: those of epoll_create1(2).
	 */
	static Result<std::unique_ptr<Reception>> create(
		TcpListener listener, const Hello &hello, std::chrono::milliseconds timeout);
	Reception(const Reception &) = delete;
	Reception &operator=(const Reception &) = delete;

	[[nodiscard]] std::uint16_t port() const noexcept { return listener_.port(); }

	/** Returns a descriptor for poll(2): readable when serve() has something to do. This object owns it. */
	[[nodiscard]] int fd() const noexcept { return poller_.get(); }

	/**
	 * Returns the milliseconds after which serve() has something to do in any case; -1: never. As poll(2) takes it.
	 */
	[[nodiscard]] int patience() const noexcept;

	/** Takes all steps that are possible now, calling @p host. */
	void serve(Host &host);

	/** Takes no more clients, and refuses those on their way. Cannot be undone. */
	void close(Host &host);

	/** Returns the number of clients on their way. */
	[[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

private:
	using Clock = std::chrono::steady_clock;

	enum class Stage : std::uint8_t {
		reading_record, /* waits for its record */
		waiting,        /* its record has come, but the server has no room yet */
		reading_mark,   /* waits for its mark */
		lingering,      /* refused; it closes when it has read that */
	};
	struct PendingClient {
		Link link;
		Deadline deadline;
		Stage stage = Stage::reading_record;
		std::unique_ptr<AcceptedConnection> connection;
		std::list<PendingClient>::iterator self;
	};

	Reception(TcpListener listener, const Hello &hello, std::chrono::milliseconds timeout, int poller);
	void listen(bool on) noexcept;
	void accept(Host &host);
	bool frees_a_descriptor(const Error &why, Host &host);
	std::list<PendingClient>::iterator dispensable() noexcept;
	std::list<PendingClient>::iterator slow() noexcept;
	void make_room(PendingClient &client, Host &host);
	void step(PendingClient &client, bool hung_up, Host &host);
	void read_record(PendingClient &client, bool hung_up, Host &host);
	void on_connect(PendingClient &client, const ConnectionRecord &record, Host &host);
	void refuse(PendingClient &client, const ConnectionRecord &record, const Error &why, Host &host);
	void read_mark(PendingClient &client, bool hung_up, Host &host);
	void linger(PendingClient &client) noexcept;
	void drop(PendingClient &client, const Error &why, Host &host);
	void remove(PendingClient &client) noexcept;
	void expire(Host &host);
	static int peek(const PendingClient &client, std::span<std::byte> bytes, bool hung_up) noexcept;

	TcpListener listener_;
	const std::size_t places_ = places_for_strangers(max_pending, 4);
	Hello hello_;
	std::chrono::milliseconds timeout_;
	Descriptor poller_; /* an epoll instance, of the listener and the clients */
	bool listening_ = false;
	bool crowded_ = false; /* a client waits for the place of a slow() one */
	bool closed_ = false;
	bool accept_failed_ = false; /* the host has been told */
	Deadline listen_again_{};
	std::list<PendingClient> pending_; /* by deadline: all have the same time */
};

} // namespace prism::apps
