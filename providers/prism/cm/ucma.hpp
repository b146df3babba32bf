/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * /dev/infiniband/rdma_cm of a host without one: the commands of <rdma/rdma_user_cm.h>, as librdmacm writes them to its
 * event channels. So all of librdmacm stays as it is, synchronous calls, endpoints and rsockets included, and is
 * served by the Agent instead of the kernel.
 *
 * A channel is an eventfd that counts the events waiting in it: it polls, and O_NONBLOCK means what it means to the
 * kernel's file.
 *
 * Of the commands that exist in two generations there is the newer one (BIND, RESOLVE_ADDR, QUERY), which librdmacm has
 * used since 2014: the other is answered with ENOSYS. librdmacm tries whether it exists by binding an address of the
 * family AF_IB, so that can be done, and nothing else with such an address.
 */
#pragma once

#include <rdma/rdma_user_cm.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "event_queue.hpp"
#include "host.hpp"
#include "net/file_descriptor.hpp"
#include "service.hpp"
#include "ucm_messages.hpp"

namespace prism::cm
{

class Ucma final : public Observer
{
public:
	/** @return null and errno on failure. */
	static std::unique_ptr<Ucma> start();
	~Ucma() override;

	/** A new channel. Thread-safe. @return its descriptor, or -1 and errno. @p flags: O_CLOEXEC, O_NONBLOCK */
	int open_channel(int flags);

	/** Ends what belongs to the channel; the caller closes the descriptor. Needs no memory. Thread-safe. */
	void close_channel(int fd);

	/**
	 * write() to a channel: one command. RDMA_USER_CM_CMD_GET_EVENT waits, unless the descriptor has O_NONBLOCK.
	 * Thread-safe. @return @p size, or -1 and errno.
	 */
	ssize_t write(int fd, const void *command, std::size_t size);

	/** The process ends: peers are told. Commands still work, but nothing answers any more. Thread-safe. */
	void stop() { service_->stop(); }

	/** Service::arrive(). */
	bool arrive(const Address &from, const Address &to, const Mad &mad) { return service_->arrive(from, to, mad); }

	void on_event(ConnectionId connection, const Event &event) override;
	Reception on_request(ConnectionId connection, const Incoming &incoming, const Event &event) override;

private:
	enum class State {
		idle,
		bound,
		listening,
		address_resolved,
		route_resolved,
		connected, /* or on the way there, or no more */
	};

	using IdNumber = std::uint32_t;
	using ChannelId = int;

	struct Id {
		std::uint64_t uid = 0; /* librdmacm's name for it; 0 until it accepts */
		ChannelId channel = -1;
		PortSpace space = PortSpace::tcp;
		std::uint8_t qp_type = 0;
		State state = State::idle;
		std::optional<SocketName> local, remote;
		std::optional<Device> device;
		Service::Claim claim = 0;
		bool ipv4_too = true;
		std::uint8_t traffic_class = 0;
		std::uint8_t ack_timeout = 0;
		std::uint32_t psn = 0;
		std::uint32_t backlog = 0;
		std::uint32_t events_reported = 0;
		std::size_t unheard = 0;     /* requests that the program has not been told of */
		std::set<IdNumber> groups;   /* that it joined */
		ConnectionId connection = 0; /* attach() sets it */
		Path path;
	};

	/** An id's membership in a multicast group. */
	struct Group {
		std::uint64_t uid = 0; /* librdmacm's name for it */
		IdNumber id = 0;
		std::uint32_t events_reported = 0;
	};

	struct Pending {
		IdNumber owner;                /* whose event it is: the listener's, of a request */
		std::optional<IdNumber> born;  /* of a request: the id that it brings */
		std::optional<IdNumber> group; /* of a group that was joined */
		rdma_ucm_event_resp event;
	};

	struct Channel {
		unsigned serial = 0;      /* descriptors' numbers are used again */
		soft::FileDescriptor own; /* the same eventfd: the program's number may become another file's */
		EventQueue<IdNumber, Pending> events;
		std::set<IdNumber> members;
	};
	using Port = std::pair<PortSpace, std::uint16_t>;

	/** What a command is made of. */
	struct Call {
		ChannelId channel;
		std::span<const std::uint8_t> in;
		std::size_t out;
	};
	using Handler = int (Ucma::*)(const Call &);

	Ucma() = default;
	int dispatch(const rdma_ucm_cmd_hdr &header, const Call &call);
	int wait_for_event(const Call &call);
	void end_channel(ChannelId fd);

	int create_id(const Call &call);
	int destroy_id(const Call &call);
	int bind_address(const Call &call);
	int resolve_address(const Call &call);
	int resolve_route(const Call &call);
	int query(const Call &call);
	int connect(const Call &call);
	int listen(const Call &call);
	int accept(const Call &call);
	int reject(const Call &call);
	int disconnect(const Call &call);
	int init_qp_attr(const Call &call);
	int get_event(const Call &call);
	int set_option(const Call &call);
	int notify(const Call &call);
	int join_group(const Call &call);
	int leave_group(const Call &call);
	int migrate_id(const Call &call);

	Id *find(IdNumber number, ChannelId channel);
	void attach(IdNumber number, ConnectionId connection);
	IdNumber new_number();
	IdNumber insert(Id id);
	void remove(IdNumber number);
	void move(IdNumber number, ChannelId channel);
	void erase(IdNumber number);
	void remove_listener(const Port &port, IdNumber number);
	template <typename Chosen>
	std::vector<Pending> take_events(ChannelId channel, IdNumber owner, const Chosen &chosen);
	void count_off(ChannelId channel, const Pending &pending);
	void forget_request(const Pending &unheard);
	void drop_events(ChannelId channel, IdNumber number);
	void post(IdNumber owner, EventType type, int status = 0);
	void post(const Pending &pending);
	void tell_of_request(
		IdNumber listener, IdNumber born, const Incoming &incoming, const Event &event, const Device &device);
	int bind(Id &id, const SocketName &name);
	int resolve(Id &id, const std::optional<SocketName> &source, const SocketName &destination);
	void listen_on_network(const Id &id);
	std::optional<IdNumber> find_listener(const Incoming &incoming) const;
	Endpoint local_endpoint(const Id &id, const rdma_ucm_conn_param &param) const;

	std::unique_ptr<Service> service_;
	std::map<ChannelId, Channel> channels_;
	std::unordered_map<IdNumber, Id> ids_;
	std::unordered_map<IdNumber, Group> groups_;
	std::unordered_map<ConnectionId, IdNumber> owner_of_; /* a connection's */
	std::map<Port, std::set<IdNumber>> listeners_;
	IdNumber next_id_ = 1;
	unsigned next_serial_ = 0;
};

} // namespace prism::cm
