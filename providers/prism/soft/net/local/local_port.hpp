/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The carrier between contexts of one user on one host: rings in shared memory (ring.hpp), a pair for each two contexts
 * that communicate. docs/local-path.md describes it.
 *
 * A context knows its peers by their slots (slot.hpp). The context that sends first introduces itself
 * (introduction.hpp), outside the data path. Until the rings exist, and to all other peers, packets go by UDP. Full
 * rings lose nothing: requests and streams of READ responses are held back (Room), and packets that must leave wait
 * beside the ring (Backlog).
 *
 * The caller serialises all calls, except that attend(), look_soon() and wait_fd() may be called beside them. A child
 * made by fork() has no local path: the rings stay its parent's.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../packet.hpp"
#include "../port_counters.hpp"
#include "../slot.hpp"
#include "backlog.hpp"
#include "bell.hpp"
#include "introduction.hpp"
#include "ring.hpp"
#include "shared_memory.hpp"

namespace prism::soft
{

/** Longest wait for a peer that takes nothing, or does not answer; then a message that nobody retransmits is lost. */
inline constexpr Time longest_stop = 1'000'000'000;

class LocalPort
{
public:
	/**
	 * @param addresses of the context, in the order of its GID table
	 * @param counts memory for the counters, for others to see
	 * @param sibling another one of the same context; null if this is its first
	 * @return null if there can be no local path, for want of descriptors for example.
	 */
	static std::unique_ptr<LocalPort> open(unsigned slot, std::vector<Address> addresses,
		const PortCounts &counts = {}, const LocalPort *sibling = nullptr);
	~LocalPort();

	/** Adds an address of the context. Known peers still reach it by UDP. */
	void add(const Address &address) { addresses_.push_back(address); }

	/** As PacketSink::begin_from(). Returns null if the packet must go by UDP. */
	std::uint8_t *begin(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size);
	void commit();
	void flush();
	Room room(unsigned source, const Address &peer, std::uint32_t qpn);
	bool loses(unsigned source, const Address &peer, std::uint32_t qpn, Time now);
	bool prepares(std::uint32_t qpn, Time now);

	/** Returns true if a peer has sent its first packet here: then take first the packets that it sent before by
	 * UDP. */
	[[nodiscard]] bool newcomer_waits();
	/** Hands waiting packets to @p handler, at most @p max_packets of each peer. @return their number. */
	int receive(PacketHandler &handler, Time now, int max_packets);

	/** Returns true if look_after() is due. */
	[[nodiscard]] bool is_due(Time now) const { return now >= next_look_.load(std::memory_order_relaxed); }
	/** Handles introductions, and peers that are gone, whose last packets go to @p handler. Makes system calls. */
	void look_after(PacketHandler &handler, Time now);
	/** Makes look_after() due at the next turn, as wait_fd() may be readable. Thread-safe. */
	void look_soon() { next_look_.store(0, std::memory_order_relaxed); }

	/**
	 * Makes peers wake us by wait_fd() from now on.
	 * @return false if there is something to do instead.
	 */
	[[nodiscard]] bool prepare_sleep();
	/** Ends the sleep: peers need not wake us any more. Thread-safe. */
	void attend() { bell_->attention.store(Attention::awake, std::memory_order_seq_cst); }
	/** Descriptor to be polled, and nothing else. */
	[[nodiscard]] int wait_fd() const { return events_.get(); }
	/** Returns true if we share rings with any peer. */
	[[nodiscard]] bool has_peers() const { return !attached_.empty(); }
	/** Returns true if some peer should wake us, which it may fail to do. */
	[[nodiscard]] bool awaits_peers() const;
	/** Returns true if packets wait here that the context sent to itself: nobody else wakes who sleeps. */
	[[nodiscard]] bool own_packets_wait() const;
	/** Returns true if look_after() will introduce us to a peer. */
	[[nodiscard]] bool has_new_peers() const { return !wanted_.empty(); }

	/** Returns the slots of the peers that we exchange packets with by rings. */
	[[nodiscard]] std::vector<unsigned> peers() const;

	[[nodiscard]] const LocalCounters &counters() const { return count_; }

private:
	enum class State : std::uint8_t {
		unknown,   /* not asked for yet */
		wanted,    /* we shall introduce ourselves to it */
		elsewhere, /* on another host, as far as its address tells */
		greeted,   /* it has our hello, we have none of it yet */
		attached,  /* the rings exist */
		refused,   /* no introduction for now */
	};

	/** A connection to a peer. They are counted: the descriptors of the process are limited, not those of a port.
	 */
	class Connection
	{
	public:
		Connection() = default;
		explicit Connection(FileDescriptor fd) : fd_(std::move(fd)) { of_process += static_cast<bool>(fd_); }
		Connection(Connection &&) = default;
		Connection &operator=(Connection &&other) noexcept
		{
			of_process -= static_cast<bool>(fd_);
			fd_ = std::move(other.fd_);
			return *this;
		}
		~Connection() { of_process -= static_cast<bool>(fd_); }

		[[nodiscard]] int get() const { return fd_.get(); }
		explicit operator bool() const { return static_cast<bool>(fd_); }

		static inline std::atomic<std::size_t> of_process{0};

	private:
		FileDescriptor fd_;
	};

	struct Peer {
		unsigned slot = 0;
		State state = State::unknown;
		Address asked_for{}; /* address that it was thought to have */
		std::vector<Address> addresses;
		std::size_t last_address = 0; /* of the last packet to it */
		std::size_t addresses_told = 0;
		Connection connection;
		Mapping rings;
		Mapping bell_page;
		Bell *bell = nullptr;
		RingProducer out;
		RingConsumer in;
		Backlog backlog;
		bool fresh = false;               /* no packet taken from it yet */
		bool dirty = false;               /* in the list of peers with something to publish */
		bool starving = false;            /* a caller was told that there is no room */
		Time stopped_for = 0;             /* time that we saw it take nothing of a full ring, */
		Time stop_seen = 0;               /* when that was last looked at, */
		std::uint32_t stopped_behind = 0; /* and taken() at that time */
		bool gone = false;
		Time retry = 0; /* refused: when to try again; greeted: when others stop waiting for its answer */
		Time pause = 0;
	};

	LocalPort(unsigned slot, std::vector<Address> addresses, const PortCounts &counts, const LocalPort *sibling);
	[[nodiscard]] bool prepare();
	[[nodiscard]] Peer *make_peer(unsigned slot);

	[[nodiscard]] Peer *attached(unsigned source, const Address &peer, std::uint32_t qpn);
	void want(Peer *known, unsigned slot, const Address &address);
	[[nodiscard]] std::optional<bool> is_here(const Address &address, Time now);
	[[nodiscard]] bool vet(std::vector<Address> &claimed) const;
	[[nodiscard]] std::uint8_t *begin_behind(Peer &peer, const RecordHeader &header);
	void mark_dirty(Peer &peer);
	void publish(Peer &peer);
	void wake(Peer &peer);
	int receive_from(Peer &peer, PacketHandler &handler, Time now, int max_packets);
	[[nodiscard]] bool deliver(const Peer &peer, const RecordHeader &header, PacketHandler &handler, Time now);

	void take_events(PacketHandler &handler, Time now);
	void accept_visitors(Time now);
	void look_at_visitors(PacketHandler &handler, Time now);
	[[nodiscard]] bool may_come(unsigned slot, PacketHandler &handler, Time now);
	void welcome(Introduced &guest, FileDescriptor connection, Time now);
	void introduce_wanted(Time now);
	void introduce(Peer &peer, Time now);
	[[nodiscard]] Peer *ourselves(const Address &address);
	[[nodiscard]] bool attach_self(Peer &peer);
	void take_answer(Peer &peer, Time now);
	void take_message(Peer &peer);
	[[nodiscard]] bool attach(
		Peer &peer, Introduced &introduced, Mapping rings, const FileDescriptor &bell, bool ours);
	void enlist(Peer &peer, std::vector<Address> addresses);
	void refuse(Peer &peer, Time now, Time pause);
	void close(Peer &peer, PacketHandler &handler, Time now);
	void let_go(Peer &peer);
	void show(unsigned slot, bool attached);
	[[nodiscard]] bool watch(int fd, std::uint64_t what) const;
	void unwatch(int fd) const;
	void forgive(Time now);

	const unsigned slot_;
	/* By slot: true for the ports of this context, which share the array. */
	const std::shared_ptr<std::array<std::atomic<bool>, slot_limit>> siblings_;
	std::vector<Address> addresses_;
	ForkMark here_;
	PortCounters own_total_; /* unless they are shared */
	LocalCounters own_count_;
	PortCounters &total_; /* all carriers' */
	LocalCounters &count_;
	LocalPeers own_shown_;
	LocalPeers &shown_; /* the attached ones */

	std::array<std::unique_ptr<Peer>, slot_limit> peers_;
	std::vector<Peer *> attached_;
	std::vector<Peer *> dirty_;
	std::vector<unsigned> wanted_; /* slots */
	std::vector<unsigned> refused_;
	std::vector<Address> elsewhere_; /* not on this host, when last checked */
	Time forget_elsewhere_ = 0;
	std::size_t greeted_ = 0;
	std::size_t fresh_ = 0; /* among the attached */
	std::size_t turn_ = 0;  /* index of the peer to be served first */
	std::size_t most_peers_ = 0;
	std::size_t backlogs_ = 0; /* bytes in all of them */

	struct Visitor {
		FileDescriptor connection;
		Time until = 0;
	};
	std::vector<Visitor> visitors_;
	bool more_visitors_ = false;
	Time accept_again_ = 0; /* after a lack of descriptors; 0: none */

	Peer *sending_ = nullptr; /* peer of the packet last begun */
	std::size_t sending_size_ = 0;
	enum class Place : std::uint8_t {
		ring,
		backlog,
		nowhere,
	} place_ = Place::nowhere; /* place of that packet */

	FileDescriptor bell_file_;
	Mapping bell_page_;
	Bell *bell_ = nullptr;
	Bell awake_; /* of ourselves as a peer: the caller looks at own_packets_wait() before it sleeps */
	FileDescriptor listener_;
	FileDescriptor events_;
	std::atomic<Time> next_look_{0};
	alignas(8) std::array<std::uint8_t, max_packet_size> packet_; /* the one last received */
	std::array<std::uint8_t, max_packet_size> discard_;
	StagedRecord staging_{};
};

} // namespace prism::soft
