/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Conversions between the commands and answers of <rdma/rdma_user_cm.h> and our own terms: addresses, paths, attributes
 * of queue pairs, parameters of events. No state, no I/O; thread-safe.
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

/** Life time of a packet, 67 ms at most; its acknowledgement is awaited for twice that. */
inline constexpr std::uint8_t packet_life_time = 14;
inline constexpr std::uint8_t default_ack_timeout = packet_life_time + 1;

inline constexpr std::uint8_t rc = IBV_QPT_RC, uc = IBV_QPT_UC, ud = IBV_QPT_UD;

struct SocketName {
	Address address;
	std::uint16_t port = 0;
	unsigned scope = 0;
};

/** Returns a command, as much of it as the program's librdmacm knows of. */
template <typename Command>
Command parse(std::span<const std::uint8_t> in)
{
	Command command{};
	std::memcpy(&command, in.data(), std::min(in.size(), sizeof(command)));
	return command;
}

/** Stores as much of the answer as the program has room for. */
template <typename Response>
void respond(std::uint64_t where, std::size_t room, const Response &response)
{
	std::memcpy(reinterpret_cast<void *>(where), &response, std::min(room, sizeof(response)));
}

/** Returns nothing if the address is not of the Internet. */
[[nodiscard]] std::optional<SocketName> to_name(const __kernel_sockaddr_storage &from);
/** Stores the name. @return its size; 0 for no name. */
std::uint16_t put_name(const std::optional<SocketName> &name, __kernel_sockaddr_storage &to);
/** Stores the GID as an address of the family AF_IB. @return its size. */
std::uint16_t put_gid(const Address &gid, __kernel_sockaddr_storage &to);
/** Fills in the device, if one has been found. */
void put_device(const std::optional<Device> &device, rdma_ucm_query_addr_resp &to);

/** An rdma_ucm_query_path_resp with its one path. */
struct PathResponse {
	std::uint32_t count;
	std::uint32_t reserved;
	ibv_path_data path;
};
static_assert(sizeof(PathResponse) == sizeof(rdma_ucm_query_path_resp) + sizeof(ib_path_rec_data));

[[nodiscard]] PathResponse describe_path(const Path &path, std::uint8_t mtu, std::uint8_t traffic_class);
void fill_address(ib_uverbs_ah_attr &attr, const Path &path, const Device &device);

/** Returns the type that the program said where its port space leaves a choice. */
[[nodiscard]] std::uint8_t qp_type_of(PortSpace space, std::uint8_t said);

/* Add to @p attr the attributes that a queue pair needs on its way to RTS. */
void to_init(ib_uverbs_qp_attr &attr, std::uint8_t qp_type);
void to_ready_to_receive(
	ib_uverbs_qp_attr &attr, std::uint8_t qp_type, const Path &path, const Endpoint &peer, const Device &device);
void to_ready_to_send(ib_uverbs_qp_attr &attr, std::uint8_t qp_type, const Endpoint &peer);

/** Fills in the parameters; the peer's initiator depth is our responder resources. */
void fill_connection(rdma_ucm_conn_param &param, const Event &event);
void fill_datagram(rdma_ucm_ud_param &param, const Event &event, const Path &path, const Device &device);

} // namespace prism::cm
