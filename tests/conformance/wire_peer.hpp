/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A RoCEv2 peer made of sockets, in a network namespace that a veth pair joins to the device's: it sends any packets
 * and sees every received one with its IP header.
 */
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "net/icrc.hpp"

namespace prism::conformance
{

using Packet = std::vector<std::uint8_t>; /* from the BTH to the pad, without the ICRC */

struct WirePath {
	std::string network_namespace;
	std::string peer;   /* address in the namespace */
	std::string device; /* address of the device */
};

ibv_gid to_gid(const std::string &address);

/** A socket made in a network namespace. */
Descriptor socket_in(const std::string &network_namespace, int family, int type, int protocol);

class WirePeer
{
public:
	/** @p port: the UDP port that it sends from */
	explicit WirePeer(const WirePath &path, std::uint16_t port = 4791);

	[[nodiscard]] const ibv_gid &own() const { return own_; }
	[[nodiscard]] const ibv_gid &device() const { return device_; }
	[[nodiscard]] bool ipv6() const { return !flow_.source.is_ipv4(); }

	/** Adds the ICRC and sends it. */
	void send(const Packet &packet) const;
	/** Returns the ICRC of a packet to the device. */
	[[nodiscard]] std::uint32_t icrc_of(const Packet &packet, std::uint16_t ip_id = 0) const;
	/** Sends it unchanged; it must include the ICRC if it is to have one. */
	void send_raw(std::span<const std::uint8_t> datagram) const;
	/** As send(), over IPv6, with 0 for the UDP length, which for the kernel means the length of the IP packet. */
	void send_without_length(const Packet &packet) const;
	/** Sends packets of one size, the last one perhaps shorter, as one UDP_SEGMENT train; adds their ICRCs. */
	void send_train(std::span<const Packet> packets) const;

	/**
	 * Returns the next packet from the device; of a bundle, the packets that its entries replace. Errors in IP
	 * header, ICRC or bundle go to complaint().
	 */
	std::optional<Packet> receive(std::chrono::milliseconds limit = std::chrono::seconds(5));
	/** Returns the number of entries of each bundle that has been taken apart, ever */
	[[nodiscard]] const std::vector<std::size_t> &bundles() const { return bundles_; }
	/** Drops everything that has arrived; returns how many packets. */
	std::size_t drop_received();
	/** Returns the complaint, and clears it. */
	std::string take_complaint() { return std::exchange(complaint_, {}); }

private:
	[[nodiscard]] std::optional<Packet> check_datagram(std::span<const std::uint8_t> datagram);
	[[nodiscard]] std::optional<Packet> receive_packet(std::chrono::milliseconds limit);
	void take_apart(const Packet &packet);

	ibv_gid own_, device_;
	soft::IcrcFlow flow_;
	Descriptor socket_, tap_;
	std::string network_namespace_;
	std::deque<Packet> entries_;
	std::vector<std::size_t> bundles_;
	std::string complaint_;
};

} // namespace prism::conformance
