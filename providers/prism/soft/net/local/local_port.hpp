/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The carrier between contexts of one user on one host: rings in shared memory (ring.hpp), a pair for each two contexts
 * that talk. docs/local-path.md has the whole of it.
 *
 * A context knows its peers by their slots (slot.hpp). Whoever sends first introduces itself (introduction.hpp), beside
 * the data path; until its rings stand, and to everybody else, packets take the other way. Full rings lose nothing:
 * requests and streams of READ responses are held back (Room), and what must leave waits beside the ring (Backlog).
 *
 * The caller serialises all calls, except that attend(), look_soon() and wait_fd() may be called beside them. A child
 * made by fork() has no local path: its parent's rings are its parent's.
 */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
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

/** Nobody waits longer for a peer that takes nothing, or does not answer, before he loses what nobody sends again. */
inline constexpr Time longest_stop = 1'000'000'000;

class LocalPort
{
public:
	/**
	 * @param addresses of the context, in the order of its GID table
	 * @param counts where to count, for others to see
	 * @return null if there can be no local path, as without descriptors.
	 */
	static std::unique_ptr<LocalPort> open(
		unsigned slot, std::vector<Address> addresses, const PortCounts &counts = {});
	~LocalPort();

	/** The context has one more. Peers that are known already reach it the other way. */
	void add(const Address &address) { addresses_.push_back(address); }

	/** As PacketSink::begin_from(). Null: take the other way. */
	std::uint8_t *begin(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size);
	void commit();
	void flush();
	Room room(unsigned source, const Address &peer, std::uint32_t qpn);
	bool loses(unsigned source, const Address &peer, std::uint32_t qpn, Time now);
	bool prepares(std::uint32_t qpn, Time now);

	/** A peer has sent its first packet here: what it sent before, by the other way, must be taken first. */
	[[nodiscard]] bool newcomer_waits();
	/** Hands what is waiting to @p handler, at most @p max_packets of each peer. @return how many it were. */
	int receive(PacketHandler &handler, Time now, int max_packets);

	/** Whether look_after() is due. */
	[[nodiscard]] bool is_due(Time now) const { return now >= next_look_.load(std::memory_order_relaxed); }
	/** Introductions, and peers that are gone, whose last packets are handed to @p handler. System calls. */
	void look_after(PacketHandler &handler, Time now);
	/** At the next turn, as wait_fd() may be readable. Thread-safe. */
	void look_soon() { next_look_.store(0, std::memory_order_relaxed); }

	/**
	 * From now on peers wake us by wait_fd().
	 * @return false if there is something to do instead.
	 */
	[[nodiscard]] bool prepare_sleep();
	/** Thread-safe. */
	void attend() { bell_->attention.store(Attention::awake, std::memory_order_seq_cst); }
	/** Only to be polled. */
	[[nodiscard]] int wait_fd() const { return events_.get(); }
	/** Whether anybody shares rings with us. */
	[[nodiscard]] bool has_peers() const { return !attached_.empty(); }
	/** Whether anybody should wake us, which he may fail to do. */
	[[nodiscard]] bool awaits_peers() const { return has_peers() || greeted_; }
	/** Whether look_after() will introduce us to somebody. */
	[[nodiscard]] bool has_new_peers() const { return !wanted_.empty(); }

	/** By slot: with whom packets are exchanged by rings. */
	[[nodiscard]] std::vector<unsigned> peers() const;

	[[nodiscard]] const LocalCounters &counters() const { return count_; }

private:
	enum class State : std::uint8_t {
		unknown,   /* nobody has asked for it */
		wanted,    /* to be introduced to */
		elsewhere, /* not on this host, as far as its address tells */
		greeted,   /* it has our hello, we not yet its */
		attached,  /* the rings stand */
		refused,   /* not now */
	};

	struct Peer {
		unsigned slot = 0;
		State state = State::unknown;
		Address asked_for{}; /* where it was thought to be */
		std::vector<Address> addresses;
		std::size_t last_address = 0; /* that packets went to */
		std::size_t addresses_told = 0;
		FileDescriptor connection;
		Mapping rings;
		Mapping bell_page;
		Bell *bell = nullptr;
		RingProducer out;
		RingConsumer in;
		Backlog backlog;
		bool fresh = false;               /* nothing has been taken from it yet */
		bool dirty = false;               /* in the list of those with something to publish */
		bool starving = false;            /* somebody was told that there is no room */
		Time stopped_at = 0;              /* since then it has taken nothing of a full ring, */
		std::uint32_t stopped_behind = 0; /* behind this */
		bool gone = false;
		Time retry = 0; /* of one refused; of one greeted when others wait no longer for its answer */
		Time pause = 0;
	};

	LocalPort(unsigned slot, std::vector<Address> addresses, const PortCounts &counts);
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
	void take_answer(Peer &peer, Time now);
	void take_message(Peer &peer);
	[[nodiscard]] bool attach(
		Peer &peer, Introduced &introduced, Mapping rings, const FileDescriptor &bell, bool ours);
	void refuse(Peer &peer, Time now, Time pause);
	void close(Peer &peer, PacketHandler &handler, Time now);
	void let_go(Peer &peer);
	void show(unsigned slot, bool attached);
	[[nodiscard]] bool watch(int fd, std::uint64_t what) const;
	void unwatch(int fd) const;
	void forgive(Time now);

	const unsigned slot_;
	std::vector<Address> addresses_;
	ForkMark here_;
	PortCounters own_total_; /* unless they are shared */
	LocalCounters own_count_;
	PortCounters &total_; /* all carriers' */
	LocalCounters &count_;
	LocalPeers own_shown_;
	LocalPeers &shown_; /* those attached */

	std::array<std::unique_ptr<Peer>, slot_limit> peers_;
	std::vector<Peer *> attached_;
	std::vector<Peer *> dirty_;
	std::vector<unsigned> wanted_; /* slots */
	std::vector<unsigned> refused_;
	std::vector<Address> elsewhere_; /* not on this host, when last asked */
	Time forget_elsewhere_ = 0;
	std::size_t greeted_ = 0;
	std::size_t fresh_ = 0; /* among the attached */
	std::size_t turn_ = 0;  /* whose is the next to be looked at first */
	std::size_t most_peers_ = 0;
	std::size_t backlogs_ = 0; /* bytes in all of them */

	struct Visitor {
		FileDescriptor connection;
		Time until = 0;
	};
	std::vector<Visitor> visitors_;
	bool more_visitors_ = false;
	Time accept_again_ = 0; /* for want of descriptors; 0: not */

	Peer *sending_ = nullptr; /* to whom the packet last begun goes, */
	std::size_t sending_size_ = 0;
	enum class Place : std::uint8_t {
		ring,
		backlog,
		nowhere,
	} place_ = Place::nowhere; /* and where it lies */

	FileDescriptor bell_file_;
	Mapping bell_page_;
	Bell *bell_ = nullptr;
	FileDescriptor listener_;
	FileDescriptor events_;
	std::atomic<Time> next_look_{0};
	alignas(8) std::array<std::uint8_t, max_packet_size> packet_; /* the one received last */
	std::array<std::uint8_t, max_packet_size> discard_;
	StagedRecord staging_{};
};

} // namespace prism::soft
