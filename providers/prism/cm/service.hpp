/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Surroundings of the Agent in a process: a thread that reads the sockets of local.hpp and keeps time, and for each
 * network device a context of our own whose QP 1 sends and receives. The loopback device needs none: its peers are on
 * this host.
 *
 * Locks: the program's threads and ours take @ref Service::lock for everything. The handler of QP 1 runs under the lock
 * of its context, which is taken after ours; it only touches the inbox, whose lock is taken last.
 */
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent.hpp"
#include "base/clock.hpp"
#include "local.hpp"
#include "outbox.hpp"

namespace prism::cm
{

/** A mutex that can tell whether the calling thread holds it. */
class OwnedMutex
{
public:
	void lock()
	{
		mutex_.lock();
		owner_ = std::this_thread::get_id();
	}
	void unlock()
	{
		owner_ = std::thread::id();
		mutex_.unlock();
	}
	[[nodiscard]] bool is_ours() const { return owner_ == std::this_thread::get_id(); }

private:
	std::mutex mutex_;
	std::atomic<std::thread::id> owner_;
};

class Service final : public Carrier
{
public:
	/** Opens the sockets and starts the thread. Null and errno on failure. @p observer outlives it. */
	static std::unique_ptr<Service> start(Observer &observer);
	~Service() override { stop(); }

	/** Tells all peers that their connections end, and receives nothing more. Do not hold the lock. */
	void stop();

	/** Serialises everything: hold it for all of the following calls, and for the agent. */
	OwnedMutex lock;
	Agent &agent() { return *agent_; }

	/** A port and address in use. Never 0. */
	using Claim = unsigned;

	/**
	 * Takes a port for a listener.
	 * @param port 0: a free one is chosen, and stored here
	 * @param address that of a listener, or INADDR_ANY, or IN6ADDR_ANY
	 * @param ipv4_too with IN6ADDR_ANY: take the port for IPv4 as well
	 * @return 0, or an errno value: EADDRINUSE
	 */
	int claim(PortSpace space, std::uint16_t &port, const Address &address, bool ipv4_too, Claim &claim);
	void release(Claim claim);
	/** Starts reading what clients send there. Before that it waits in the socket: a program that binds is about
	 * to listen. */
	void listen(Claim claim);

	/** Returns a port for a client, for which nobody looks. */
	[[nodiscard]] std::uint16_t random_port();

	/** Receives what is sent to the network device that the interface of this index has now. @return 0 or an
	 * errno value */
	int open_device(const std::string &name, unsigned interface);
	/** Opens all devices, and later ones when they appear. Leaves out those that cannot be opened. */
	void open_all_devices();

	/**
	 * Takes a message that came to QP 1 of a context of this process, which may be the program's. Thread-safe,
	 * called without the lock. @return false if it is lost, as too many wait.
	 */
	bool arrive(const Address &from, const Address &to, const Mad &mad);

	/** Tells the thread of a new deadline, after sending. False if there is no descriptor for it any more. */
	bool wake();

	bool send(const Path &path, const Datagram &datagram) override;
	bool is_alive(ConnectionId id) override;
	void note_drop(const Arrival &arrival) override;
	void note_drop(const Address &to);

private:
	/* A device whose QP 1 we have. */
	struct Port {
		ibv_context *context = nullptr;
		unsigned interface = 0; /* index */
		std::vector<Address> gids;

		Port() = default;
		Port(const Port &) = delete;
		Port &operator=(const Port &) = delete;
		~Port();
	};

	struct Parcel {
		Address from;
		Address to;
		Mad mad;
	};

	/* A port in use: its names, which others must not have and where its clients look. */
	struct Claimed {
		PortSpace space;
		std::uint16_t port;
		std::vector<bool> all_of; /* on all addresses of IPv4 (true), of IPv6 */
		bool listens = false;
		std::map<std::string, FileDescriptor> sockets; /* by name */
	};

	Service() = default;
	bool claim_process();
	int claim_name_for(Claimed &claimed, const std::string &name);
	int claim_all(Claimed &claimed, bool ipv4);
	int claim_names(Claimed &claimed, const Address &address);
	void read_claimed(int socket);
	bool send_on_host(const std::string &name, const Envelope &envelope);
	bool hand_on(const Parcel &parcel);
	[[nodiscard]] Port *port_with(const Address &local);
	void send_over_network(const Path &path, const Mad &mad);

	template <typename Step>
	void step(const Step &step) noexcept;
	void run();
	void read(int fd);
	bool stop_thread();
	bool watch(int fd);
	int poll_timeout();
	void read_socket(int socket);
	void note_sender(const Sender &sender);
	[[nodiscard]] bool may_live(std::uint16_t process_) const;
	void read_inbox();
	void read_addresses();
	void take_from_network(const Parcel &parcel);
	void receive(const Parcel &parcel);
	void search_again();
	[[nodiscard]] bool is_own(const std::string &name) const;

	std::unique_ptr<Agent> agent_;
	std::mt19937_64 random_;
	std::uint16_t process_ = 0;
	FileDescriptor process_socket_;
	/* The PIDs of processes that wrote to us in their own names. A name is free when its process is gone, and
	 * anybody may take it then. */
	std::unordered_map<std::uint16_t, pid_t> senders_;
	FileDescriptor wake_fd_;
	FileDescriptor address_fd_; /* the kernel reports on it addresses and interfaces that come and go */
	bool all_devices_ = false;
	FileDescriptor epoll_fd_; /* not poll(), which keeps the sockets it waits for open: names would stay taken */
	std::unordered_map<Claim, Claimed> claims_;
	std::unordered_set<int> listening_; /* those of the claims' sockets that are read */
	Claim next_claim_ = 1;
	std::map<std::string, std::unique_ptr<Port>> ports_;

	Outbox outbox_{[this](const std::string &name, const Envelope &envelope) {
			       return send_to(process_socket_.get(), name, envelope);
		       },
		[this](const Envelope &envelope) {
			if (envelope.from_network)
				note_drop(envelope.to);
		}};

	/* Requests from other hosts that have no listener at the moment. */
	struct Unclaimed {
		Parcel parcel;
		Time refuse_at;
	};
	std::deque<Unclaimed> unclaimed_;
	Time next_search_ = 0;

	std::mutex inbox_lock_;
	std::deque<Parcel> inbox_;

	std::atomic<bool> stopping_{false};
	std::thread thread_;
};

} // namespace prism::cm
