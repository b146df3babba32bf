/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The master as a server on a TCP port: a program of its own, or a thread of a node. */
#pragma once

#include <prism/connection.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "gam/membership/master_desk.hpp"

namespace prism::gam
{

struct MasterServiceOptions {
	std::string address;    /**< empty: all */
	std::uint16_t port = 0; /**< 0: any */
	std::chrono::milliseconds lease{2000};
};

class MasterService
{
public:
	/** Most clients at once; the next one takes the place of the one that has been silent for longest. */
	static constexpr std::size_t max_clients = 256;

	/** Listens, but serves only in run(). Errors: EINVAL (the lease), those of sockets. */
	static Result<std::unique_ptr<MasterService>> create(const MasterServiceOptions &options);
	MasterService(const MasterService &) = delete;
	MasterService &operator=(const MasterService &) = delete;

	[[nodiscard]] std::uint16_t port() const noexcept { return listener_.port(); }
	/** Serves until stop(). Once. Errors: those of poll(2). */
	Result<void> run();
	/** Makes run() return, now or once it is called. From any thread, and from signal handlers. */
	void stop() noexcept;

private:
	struct Client {
		explicit Client(TcpRendezvous connected) : link(std::move(connected)) {}
		TcpRendezvous link;
		std::string heard;  /* questions that wait for an answer, and an unfinished line */
		std::string told;   /* answers that it has not read yet */
		bool waits = false; /* a question does */
		Time spoke{};
	};

	MasterService(TcpListener listener, std::uint64_t cluster, Time lease);
	void accept();
	void drop_quietest();
	static bool read(Client &client);
	void answer_one(Client &client);
	static bool write(Client &client);

	TcpListener listener_;
	Master master_;
	MasterDesk desk_;
	std::list<Client> clients_;
	Descriptor wake_;
	std::atomic<bool> stopping_{false};
};

} // namespace prism::gam
