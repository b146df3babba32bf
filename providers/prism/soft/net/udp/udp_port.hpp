/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The carrier of one lane of a device context: RoCEv2 on UDP port 4791, in trains.
 *
 * On loopback every port has an IPv4 address of its own, 127.47.x.y, where x.y is its slot. Any other address is
 * shared between the contexts of one user; the kernel steers by the slot in the destination QPN (steering.hpp), and
 * packets that still reach the wrong process are handed to their owner.
 *
 * Packets are sent from the source port of the slot, which belongs to its owner alone (slot.hpp).
 *
 * The caller serialises begin(), commit(), flush(), receive(), join() and leave(). wait(), wake-ups through its
 * descriptor, and counters() may run beside them on other threads. Everything else is constant after open().
 */
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../icrc.hpp"
#include "../interfaces.hpp"
#include "../packet.hpp"
#include "../port_counters.hpp"
#include "../slot.hpp"
#include "steering.hpp"
#include "train.hpp"

namespace prism::soft
{

inline constexpr std::uint16_t roce_port = 4791;

/** Most multicast groups that a port can be in at once. */
inline constexpr std::size_t max_groups = 32;

/** Counters since the port was opened. A packet counts as received once, at its final receiver. */
struct UdpCounters {
	std::uint64_t rx_packets = 0; /**< handed to the protocol */
	std::uint64_t rx_trains = 0;  /**< datagrams read, forwarded ones included */
	std::uint64_t rx_bytes = 0;   /**< of those packets, ICRC included */
	std::uint64_t rx_too_short = 0;
	std::uint64_t rx_too_long = 0;
	std::uint64_t rx_bad_icrc = 0;
	std::uint64_t rx_icrc_id_unknown = 0;       /**< accepted, with 16 bits of protection */
	std::uint64_t rx_misdirected_forwarded = 0; /**< packets handed to their owner */
	std::uint64_t rx_misdirected_dropped = 0;   /**< their owner is gone or does not keep up */
	std::uint64_t rx_forwarded_to_us = 0;       /**< datagrams that another process handed on */
	std::uint64_t rx_socket_drops = 0;          /**< dropped by the kernel: receive buffer full */
	std::uint64_t tx_packets = 0;
	std::uint64_t tx_trains = 0;            /**< datagrams given to the kernel */
	std::uint64_t tx_bytes = 0;             /**< ICRC included */
	std::uint64_t tx_errors = 0;            /**< packets lost in sending, for any reason */
	std::uint64_t tx_too_big = 0;           /**< of these, longer than the path's MTU */
	std::uint64_t tx_no_route = 0;          /**< of these, no address of ours reaches the peer's family */
	std::uint64_t tx_segment_fallbacks = 0; /**< trains that the kernel would not split: sent packet by packet */
};

class UdpPort final : public PacketSink
{
public:
	/**
	 * Opens a port on all addresses of @p interface. Takes a few microseconds, or a few milliseconds if addresses
	 * are shared with a process that does not answer. Thread-safe.
	 * @param error on failure: a message for the user.
	 * @param shared memory for the counters, for others to see; outlives the port. Null: memory of its own.
	 * @param takes_management false: the process can do nothing with datagrams to QP 1; others are to have them.
	 * @return null on failure.
	 */
	static std::unique_ptr<UdpPort> open(const std::string &interface, std::string &error,
		PortCounters *shared = nullptr, bool takes_management = true);

	/**
	 * Opens a port beside another one of this process, whose bound() is @p first: on loopback it has an IPv4
	 * address of its own instead. It takes no management datagrams, and leaves half of the host's slots to others.
	 * It binds addresses that the interface has no more, or not yet, so that the indices are the same.
	 * @param network that of the other one; the caller may have changed its namespace since
	 * @return null if it cannot have all addresses.
	 */
	static std::unique_ptr<UdpPort> open_beside(
		const InterfaceInfo &first, std::uint64_t network, PortCounters *shared);

	~UdpPort() override;

	/** Returns the upper ten bits of every QPN of this context. */
	[[nodiscard]] unsigned slot() const { return claim_.number(); }

	[[nodiscard]] const InterfaceInfo &interface() const { return info_; }

	/**
	 * Returns the addresses: IPv4 first, then global IPv6, then link-local, then later ones. On loopback the
	 * context's own address replaces 127.0.0.1.
	 */
	[[nodiscard]] std::vector<Address> addresses() const;

	/** Returns a number of the network namespace; 0 if the kernel tells none. */
	[[nodiscard]] std::uint64_t network() const;

	/** Returns the interface with addresses() instead of its own. */
	[[nodiscard]] InterfaceInfo bound() const;

	/**
	 * Starts receiving on @p address, which the interface has got since. Serialise as receive(); if this is called,
	 * also serialise addresses(), bound() and socket_inodes().
	 * @return its index in addresses(), which becomes the last one; -1 if it cannot be bound.
	 */
	int add(const Address &address);

	/** Returns the inodes by which the kernel lists the sockets of addresses(), in their order (/proc/net/udp). */
	[[nodiscard]] std::vector<std::uint64_t> socket_inodes() const;

	/**
	 * Sends from the first address that fits the peer: IPv4 to IPv4; link-local to link-local; otherwise the first
	 * global IPv6 address, or the first IPv6 address of any scope.
	 */
	std::uint8_t *begin(const Address &peer, std::size_t size) override;

	/** As begin(), from @p source, an index into addresses(). */
	std::uint8_t *begin_from(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size) override;

	void commit() override;
	void flush() override;

	/**
	 * Hands waiting packets to @p handler, at most about @p max_trains datagrams, without blocking. The handler may
	 * send. Checks quiet sockets every 20 microseconds by @p now, and after every wait() that found something, so
	 * that an empty call makes one system call.
	 * @return the datagrams read; 0 if nothing was waiting.
	 */
	int receive(PacketHandler &handler, Time now, int max_trains);
	/** As receive(), but always reads all sockets. */
	int receive_all(PacketHandler &handler, Time now, int max_trains);

	/**
	 * Sleeps until something can be received, @p wake_fd or @p other_fd (or -1) is readable, or @p timeout_ns
	 * nanoseconds have passed (negative: no limit). Does not read them. With shared addresses it also ends now and
	 * then without a reason visible to the caller: receive() then asks the others if they are still there.
	 * @return true if anything is ready.
	 */
	bool wait(std::int64_t timeout_ns, int wake_fd, int other_fd = -1);

	/** Returns the bytes of payload that one of its sockets accepts before it drops: five eighths, as the kernel
	 * counts more.
	 */
	[[nodiscard]] std::uint32_t receive_room() const;
	/** Returns the most datagrams that the sockets hold. */
	[[nodiscard]] int most_waiting() const;

	/** Returns true if other processes have addresses of this port too: their packets may come to it, so it must be
	 * served.
	 */
	[[nodiscard]] bool shares_addresses() const;

	/**
	 * Joins the multicast group @p group, until leave() has been called as often as this. Needs no privilege, and
	 * any number of processes may be in a group. Serialised as receive() is.
	 * @return 0 or errno: ENOSPC for more than max_groups, or one of bind(2) and setsockopt(2).
	 */
	int join(const Address &group);
	void leave(const Address &group);
	/** Returns the groups that the port is in. Serialised as receive() is. */
	[[nodiscard]] std::vector<Address> groups() const { return addresses_of(std::span(sockets_).subspan(own_)); }

	/** Returns descriptors that are readable when receive() would find something. Valid as long as the port;
	 * only to be polled. */
	[[nodiscard]] std::vector<int> fds() const;

	[[nodiscard]] UdpCounters counters() const;

private:
	/* Questions to the members of a group that shares an address: one for each index, in order. */
	struct Round {
		bool under_way = false;
		bool changed = false;
		unsigned asked = 0; /* the lowest index not asked for yet */
		unsigned end =
			slot_limit; /* lowest index beyond the group, as far as known: somebody's second answer */
		std::bitset<slot_limit> answered{}; /* indices */
		std::bitset<slot_limit> repeated{}; /* indices asked for once more */
		std::bitset<slot_limit> heard{};    /* slots */
		Time repeat = 0;
		Time deadline = 0;

		[[nodiscard]] bool knows_end() const { return end < slot_limit; }
		[[nodiscard]] bool is_complete() const { return knows_end() && lowest_unanswered() >= end; }
		[[nodiscard]] unsigned lowest_unanswered() const
		{
			unsigned index = 0;
			while (index < slot_limit && answered[index])
				index++;
			return index;
		}
		/* Number of questions without an answer yet. */
		[[nodiscard]] unsigned pending() const
		{
			return under_way ? asked - static_cast<unsigned>(answered.count()) : 0;
		}
	};

	/* One address. */
	struct Socket {
		Address local;
		FileDescriptor fd;  /* receives: bound to roce_port */
		FileDescriptor out; /* sends: bound to the slot's port; a group has none */
		bool shared = false;
		bool segments = true; /* the kernel splits trains for this one */
		unsigned joined = 0;  /* calls of join(), for a group's socket */
		SteeringTable table{};
		Round round{};
		unsigned members = 1; /* members that answered the last round */
		Time next_round = 0;  /* earliest next round, even if packets go astray */
		Time routine = 0;     /* latest next round, unless alone */
		Time pause = 0;
	};

	/* Seed that the packets of a train share while they have one size. A copy: the cache may replace its entry. */
	struct SeedMemo {
		std::optional<IcrcSeed> seed;
		std::size_t size = 0;
	};

	/* Packets received together: one datagram, or part of it. */
	struct Arrival {
		std::span<const std::uint8_t> data;
		std::size_t segment;
		unsigned first = 0; /* position of the first packet in its train: its likely IP identification */
		unsigned socket;
		Route route;
		bool forwarded = false;
	};

	static constexpr Time no_duty = ~Time{0};

	enum class Bound {
		yes,
		taken,
		failed,
	};

	/* A management datagram that came before the port was open. */
	struct EarlyDatagram {
		Route route;
		std::vector<std::uint8_t> packet;
	};

	class EarlyDatagrams;
	struct ReceiveBuffers;
	struct SendBuffers;
	struct Forwarded;
	struct CachedSeed;

	enum class Role : std::uint8_t {
		manager,
		worker,
		beside_another
	};

	UdpPort(Slot slot, InterfaceInfo interface, PortCounters *shared, Role role);
	[[nodiscard]] std::uint32_t receive_buffer() const;
	static std::unique_ptr<UdpPort> open_on(
		const InterfaceInfo &interface, std::string &error, PortCounters *shared, Role role);

	Bound bind_all(std::string &error);
	Bound bind_loopback(std::string &error);
	Bound bind_one(const Address &address, bool shared, std::string &error);
	void insert(Socket made);
	int bind_socket(Socket &made, bool first) const;
	int bind_sender(Socket &made) const;
	int bind_to(int fd, const SocketAddress &name) const;
	/** Returns the sockets of addresses(), which come first: the others only receive. */
	[[nodiscard]] std::span<const Socket> own_sockets() const { return std::span(sockets_).first(own_); }
	[[nodiscard]] static std::vector<Address> addresses_of(std::span<const Socket> sockets);
	void learn_steering();
	void seek_manager(Time deadline);
	void deliver_early(PacketHandler &handler, Time now);

	[[nodiscard]] int source_for(const Address &peer) const;
	const IcrcSeed &seed_for(const IcrcFlow &flow, std::size_t size);

	void describe(Train &train, unsigned at);
	void send_run(std::span<Train> run);
	void send_failed(Train &train, int why);
	void send_singly(Train &train);
	void send_one(const TrainKey &key, std::span<std::uint8_t> wire);
	void count_sent(std::span<const Train> trains);
	void count_lost(std::uint32_t packets, int why);

	int receive_from(unsigned source, PacketHandler &handler, Time now, int max_trains);
	int receive_socket(unsigned index, PacketHandler &handler, Time now, int max_trains);
	int receive_forwarded(PacketHandler &handler, Time now, int max_trains);
	void take_datagram(unsigned socket, unsigned at, PacketHandler &handler, Time now);
	[[nodiscard]] unsigned owner_of(std::span<const std::uint8_t> wire) const;
	[[nodiscard]] std::size_t foreign_run(std::span<const std::uint8_t> data, std::size_t segment) const;
	void take_apart(const Arrival &arrival, PacketHandler &handler, Time now);
	void deliver(const Arrival &arrival, std::span<const std::uint8_t> wire, unsigned position, SeedMemo &memo,
		PacketHandler &handler, Time now);
	IcrcVerdict verdict_of(
		const Arrival &arrival, std::span<const std::uint8_t> wire, unsigned position, SeedMemo &memo);
	void forward(
		const Arrival &arrival, std::span<const std::uint8_t> run, unsigned position, SeedMemo &memo, Time now);
	[[nodiscard]] bool send_through(int channel, std::span<iovec> parts) const;
	[[nodiscard]] int channel_to(unsigned slot, Time now);
	void note_name(unsigned slot, std::uint32_t nonce);
	void accept_forwarded(std::span<const std::uint8_t> datagram, PacketHandler &handler, Time now);

	void begin_round(unsigned socket, Time now, Time patience);
	void ask(const Socket &socket, unsigned member) const;
	void ask_more(Socket &socket);
	void ask_again(Socket &socket, Time now);
	void answer_probe(const Arrival &arrival, const SteeringProbe &probe, Time now);
	void note_answer(unsigned socket, unsigned slot, unsigned index, bool takes_management);
	void look_after_rounds(Time now);
	void go_on(Socket &socket, Time now);
	void end_round(Socket &socket, Time now);
	[[nodiscard]] bool takes_management() const { return role_ == Role::manager; }
	[[nodiscard]] bool hands_management_on() const { return manager_ && (closing_until_ || !takes_management()); }
	void steer(const Socket &socket) const;
	void plan_routine(Socket &socket, Time now);
	void note_next_duty();
	[[nodiscard]] int socket_of(const Address &local) const;

	Slot claim_;
	InterfaceInfo info_;
	mutable std::mutex listing_; /* for changing the list, and for using it without the caller's serialisation */
	std::vector<Socket> sockets_;
	std::size_t own_ = 0;
	std::uint64_t dropped_by_groups_ = 0; /* whose sockets are closed */
	PortCounters own_count_;              /* unless it is shared */
	PortCounters &count_;

	std::vector<EarlyDatagram> early_; /* for the first receive_all() */
	const Role role_;
	unsigned manager_ = 0;   /* slot of another that takes them, and answered last */
	Time closing_until_ = 0; /* 0: the port is in use */

	/* Other slots' names; a slot without an entry has its own name. */
	std::map<unsigned, std::uint32_t> names_;
	std::map<unsigned, FileDescriptor> channels_; /* for handing packets on, by slot */
	Time first_lookup_ = 0;                       /* of the lookups of channels that are counted now */
	unsigned lookups_ = 0;
	std::atomic<Time> next_duty_{no_duty}; /* when rounds need receive() without a packet */

	TrainQueue queue_;
	Address next_peer_;
	unsigned next_source_ = 0;
	std::size_t next_size_ = 0;
	std::uint8_t *next_packet_ = nullptr;
	std::unique_ptr<SendBuffers> sending_;

	unsigned hot_ = 0; /* socket that last had something; sockets.size() stands for forwarded packets */
	Time quiet_checked_ = 0;
	std::atomic<bool> check_all_{true};
	SeedMemo sending_seed_; /* of the packet last committed, */
	TrainKey sending_key_;  /* and its destination */
	unsigned appetite_ = 1; /* datagrams to ask the kernel for in one call */
	std::unique_ptr<ReceiveBuffers> receiving_;

	/* Recently used seeds, found by hash; a collision costs 40 ns. */
	static constexpr std::size_t seed_cache_size = 64;
	std::unique_ptr<CachedSeed[]> seeds_;
};

} // namespace prism::soft
