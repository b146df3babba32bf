/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the commands of <rdma/rdma_user_cm.h> and their answers are made of, to and from our own terms: addresses,
 * paths, attributes of queue pairs, parameters of events. No state, no I/O; thread-safe.
 */
#pragma once

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_cm.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "agent.hpp"
#include "host.hpp"
#include "net/socket_address.hpp"

namespace prism::cm
{

inline constexpr std::uint32_t default_udp_qkey = 0x01234567; /* RDMA_UDP_QKEY */

/** A packet lives 67 ms at most, and its acknowledgement is awaited for twice that. */
inline constexpr std::uint8_t packet_life_time = 14;
inline constexpr std::uint8_t default_ack_timeout = packet_life_time + 1;

inline constexpr std::uint8_t rc = IBV_QPT_RC, uc = IBV_QPT_UC, ud = IBV_QPT_UD;

struct SocketName {
	Address address;
	std::uint16_t port = 0;
	unsigned scope = 0;
};

/** A command, the part of it that the program's librdmacm knows of. */
template <typename Command>
Command parse(std::span<const std::uint8_t> in)
{
	Command command{};
	std::memcpy(&command, in.data(), std::min(in.size(), sizeof(command)));
	return command;
}

/** As much of the answer as the program has room for. */
template <typename Response>
void respond(std::uint64_t where, std::size_t room, const Response &response)
{
	std::memcpy(reinterpret_cast<void *>(where), &response, std::min(room, sizeof(response)));
}

/** Nothing for an address that is not of the Internet. */
[[nodiscard]] std::optional<SocketName> to_name(const __kernel_sockaddr_storage &from);
/** @return its size; 0 for no name. */
std::uint16_t put_name(const std::optional<SocketName> &name, __kernel_sockaddr_storage &to);
/** As an address of the family AF_IB. @return its size. */
std::uint16_t put_gid(const Address &gid, __kernel_sockaddr_storage &to);
/** What is known of the device, if one has been found. */
void put_device(const std::optional<Device> &device, rdma_ucm_query_addr_resp &to);

/** rdma_ucm_query_path_resp with its one path. */
struct PathResponse {
	std::uint32_t count;
	std::uint32_t reserved;
	ibv_path_data path;
};
static_assert(sizeof(PathResponse) == sizeof(rdma_ucm_query_path_resp) + sizeof(ib_path_rec_data));

[[nodiscard]] PathResponse describe_path(const Path &path, std::uint8_t mtu, std::uint8_t traffic_class);
void fill_address(ib_uverbs_ah_attr &attr, const Path &path, const Device &device);

/** What the program says counts where its port space leaves a choice. */
[[nodiscard]] std::uint8_t qp_type_of(PortSpace space, std::uint8_t said);

/* The attributes of a queue pair for its way to RTS, added to what @p attr has. */
void to_init(ib_uverbs_qp_attr &attr, std::uint8_t qp_type);
void to_ready_to_receive(
	ib_uverbs_qp_attr &attr, std::uint8_t qp_type, const Path &path, const Endpoint &peer, const Device &device);
void to_ready_to_send(ib_uverbs_qp_attr &attr, std::uint8_t qp_type, const Endpoint &peer);

/** What the peer initiates is ours to respond to. */
void fill_connection(rdma_ucm_conn_param &param, const Event &event);
void fill_datagram(rdma_ucm_ud_param &param, const Event &event, const Path &path, const Device &device);

} // namespace prism::cm
