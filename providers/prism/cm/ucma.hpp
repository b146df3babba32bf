/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Replacement for /dev/infiniband/rdma_cm on a host without one: the commands of <rdma/rdma_user_cm.h>, as librdmacm
 * writes them to its event channels. All of librdmacm works unchanged, with synchronous calls, endpoints and rsockets;
 * the Agent serves it instead of the kernel.
 *
 * A channel is an eventfd that counts the events waiting in it: it can be polled, and O_NONBLOCK works as for the
 * kernel's file.
 *
 * Of commands in two generations only the newer one exists (BIND, RESOLVE_ADDR, QUERY), which librdmacm has used since
 * 2014; the older one returns ENOSYS. librdmacm probes for it by binding an address of the family AF_IB, so that works,
 * and nothing else does with such an address.
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

	/** Opens a channel. @p flags: O_CLOEXEC, O_NONBLOCK. Thread-safe. @return its descriptor, or -1 and errno. */
	int open_channel(int flags);

	/** Ends what belongs to the channel; the caller closes the descriptor. Allocates no memory. Thread-safe. */
	void close_channel(int fd);

	/**
	 * Executes one command, written to a channel. RDMA_USER_CM_CMD_GET_EVENT waits, unless the descriptor has
	 * O_NONBLOCK. Thread-safe. @return @p size, or -1 and errno.
	 */
	ssize_t write(int fd, const void *command, std::size_t size);

	/** Tells peers that the process ends. Commands still work, but get no answers any more. Thread-safe. */
	void stop() { service_->stop(); }

	/** Calls Service::arrive(). */
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
		connected, /* or connecting, or disconnected */
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
		IdNumber owner;                /* id whose event it is; for a request the listener's */
		std::optional<IdNumber> born;  /* new id that a request brings */
		std::optional<IdNumber> group; /* group that was joined */
		rdma_ucm_event_resp event;
	};

	struct Channel {
		unsigned serial = 0;      /* descriptors' numbers are used again */
		soft::FileDescriptor own; /* the same eventfd: the program's number may become another file's */
		EventQueue<IdNumber, Pending> events;
		std::set<IdNumber> members;
	};
	using Port = std::pair<PortSpace, std::uint16_t>;

	/** Parts of a command. */
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
	std::unordered_map<ConnectionId, IdNumber> owner_of_; /* by connection */
	std::map<Port, std::set<IdNumber>> listeners_;
	IdNumber next_id_ = 1;
	unsigned next_serial_ = 0;
};

} // namespace prism::cm
