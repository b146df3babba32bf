/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All carriers of one lane of a device context. A packet of a connection goes by the rings shared with the peer, if
 * there are any, else by UDP. Datagrams go by UDP. The caller serialises all calls but wait().
 */
#pragma once

#include <memory>
#include <string>

#include "local/local_port.hpp"
#include "packet.hpp"
#include "udp/udp_port.hpp"

namespace prism::soft
{

class Port final : public PacketSink
{
public:
	/** As UdpPort::open(). @param with_rings true for a local path too, if possible. */
	static std::unique_ptr<Port> open(const std::string &interface, bool with_rings, bool takes_management,
		std::string &error, const PortCounts &counts = {});

	/** As UdpPort::open_beside(). @param sibling that of the first; null for no local path */
	static std::unique_ptr<Port> open_beside(
		const InterfaceInfo &first, std::uint64_t network, const LocalPort *sibling, const PortCounts &counts);

	[[nodiscard]] UdpPort &udp() { return *udp_; }
	[[nodiscard]] const UdpPort &udp() const { return *udp_; }
	/** Returns null if there is none. */
	[[nodiscard]] const LocalPort *local() const { return local_.get(); }

	/** As UdpPort::add(). */
	int add(const Address &address);

	std::uint8_t *begin(const Address &peer, std::size_t size) override;
	std::uint8_t *begin_from(unsigned source, const Address &peer, std::uint32_t qpn, std::size_t size) override;
	Room room(unsigned source, const Address &peer, std::uint32_t qpn) override;
	bool loses(unsigned source, const Address &peer, std::uint32_t qpn, Time now) override;
	bool prepares(std::uint32_t qpn, Time now) override;
	void commit() override;
	void flush() override;

	/**
	 * As UdpPort::receive(): a train of packets counts as one. While rings are busy and sockets quiet, checks the
	 * sockets only now and then: most calls make no system call.
	 */
	int receive(PacketHandler &handler, Time now, int max_trains);
	/** As receive(), but always reads all sockets. */
	int receive_all(PacketHandler &handler, Time now, int max_trains);

	/** Returns true if a peer is to be introduced, which receive() does. */
	[[nodiscard]] bool has_new_peers() const { return local_ && local_->has_new_peers(); }
	/** Returns true if packets wait that the context has sent to itself by its ring. */
	[[nodiscard]] bool own_packets_wait() const { return local_ && local_->own_packets_wait(); }
	/** Returns true if we share rings with any peer. */
	[[nodiscard]] bool has_local_peers() const { return local_ && local_->has_peers(); }

	/**
	 * Prepares for wait().
	 * @return false if something has arrived meanwhile: then do not wait.
	 */
	[[nodiscard]] bool prepare_sleep();
	/** As UdpPort::wait(), after prepare_sleep(). */
	bool wait(std::int64_t timeout_ns, int wake_fd);

private:
	static std::unique_ptr<Port> make(std::unique_ptr<UdpPort> udp, bool with_rings, const PortCounts &counts,
		const LocalPort *sibling = nullptr);
	Port(std::unique_ptr<UdpPort> udp, std::unique_ptr<LocalPort> local)
		: udp_(std::move(udp)), local_(std::move(local))
	{
	}

	int receive_local(PacketHandler &handler, Time now, int max_trains);
	[[nodiscard]] bool sockets_are_due(Time now) const;
	void note_look(bool came, Time now);

	std::unique_ptr<UdpPort> udp_;
	std::unique_ptr<LocalPort> local_;
	bool by_ring_ = false;      /* true if the packet last begun goes by a ring */
	bool awaits_peers_ = false; /* as of the last prepare_sleep() */
	Time sockets_looked_ = 0;
	Time sockets_interval_ = 0; /* until the next check */
	Time rings_busy_ = 0;
};

} // namespace prism::soft
