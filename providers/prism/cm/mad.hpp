/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages of InfiniBand's communication management (IBTA volume 1, chapter 12) and the header that rdma_cm puts
 * before a program's private data, so that a peer learns IP addresses and ports (annex A11).
 *
 * decode() returns everything as the peer sent it: in range of its field, and not checked further.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "net/packet.hpp"

namespace prism::cm
{

using soft::Address;
using soft::Time;

inline constexpr std::size_t mad_size = 256;
using Mad = std::array<std::uint8_t, mad_size>;

/** Private data of a message: always the whole field, zeros after what the sender gave. */
template <std::size_t size>
using PrivateData = std::array<std::uint8_t, size>;

/** Copies as much of @p from as fits. */
template <std::size_t size>
void fill(PrivateData<size> &to, std::span<const std::uint8_t> from)
{
	to.fill(0);
	std::copy_n(from.begin(), std::min(from.size(), size), to.begin());
}

/** Reasons of a REJ, those that are used here (IBTA 12.6.7.2). */
enum class RejectReason : std::uint16_t {
	no_qp = 1,
	no_resources = 3,
	timeout = 4,
	invalid_comm_id = 6,
	invalid_service_id = 8,
	invalid_transport_type = 9,
	stale_connection = 10,
	invalid_gid = 12,
	invalid_mtu = 26,
	consumer_defined = 28,
};

/** Message that a REJ or an MRA is about. */
enum class About : std::uint8_t {
	req,
	rep,
	other,
};

enum class TransportType : std::uint8_t {
	rc,
	uc,
	rd,
	extended,
};

struct Req {
	static constexpr std::uint16_t attribute = 0x10;
	std::uint32_t local_id = 0;
	std::uint64_t service_id = 0;
	std::uint64_t ca_guid = 0;
	std::uint32_t qkey = 0;
	std::uint32_t qpn = 0;
	std::uint8_t responder_resources = 0;
	std::uint8_t initiator_depth = 0;
	std::uint8_t remote_response_timeout = 0; /**< the peer is to answer within 4.096 us * 2^this */
	TransportType transport = TransportType::rc;
	bool flow_control = false;
	std::uint32_t starting_psn = 0; /**< that the peer is to begin with */
	std::uint8_t local_response_timeout = 0;
	std::uint8_t retry_count = 0;
	std::uint16_t pkey = 0xffff;
	std::uint8_t path_mtu = 0;
	std::uint8_t rnr_retry_count = 0;
	std::uint8_t max_cm_retries = 0;
	bool srq = false;
	Address local_gid;
	Address remote_gid;
	std::uint8_t traffic_class = 0;
	std::uint8_t hop_limit = 0;
	std::uint8_t ack_timeout = 0;
	PrivateData<92> private_data{};
};

struct Mra {
	static constexpr std::uint16_t attribute = 0x11;
	std::uint32_t local_id = 0;
	std::uint32_t remote_id = 0;
	About about = About::req;
	std::uint8_t service_timeout = 0;
};

struct Rej {
	static constexpr std::uint16_t attribute = 0x12;
	std::uint32_t local_id = 0;
	std::uint32_t remote_id = 0; /**< 0 if the sender never learned it */
	About about = About::req;
	RejectReason reason = RejectReason::consumer_defined;
	PrivateData<148> private_data{};
};

struct Rep {
	static constexpr std::uint16_t attribute = 0x13;
	std::uint32_t local_id = 0;
	std::uint32_t remote_id = 0;
	std::uint32_t qkey = 0;
	std::uint32_t qpn = 0;
	std::uint32_t starting_psn = 0;
	std::uint8_t responder_resources = 0;
	std::uint8_t initiator_depth = 0;
	bool flow_control = false;
	std::uint8_t rnr_retry_count = 0;
	bool srq = false;
	std::uint64_t ca_guid = 0;
	PrivateData<196> private_data{};
};

struct Rtu {
	static constexpr std::uint16_t attribute = 0x14;
	std::uint32_t local_id = 0;
	std::uint32_t remote_id = 0;
};

struct Dreq {
	static constexpr std::uint16_t attribute = 0x15;
	std::uint32_t local_id = 0;
	std::uint32_t remote_id = 0;
	std::uint32_t remote_qpn = 0; /**< the receiver's */
};

struct Drep {
	static constexpr std::uint16_t attribute = 0x16;
	std::uint32_t local_id = 0;
	std::uint32_t remote_id = 0;
};

struct SidrReq {
	static constexpr std::uint16_t attribute = 0x17;
	std::uint32_t request_id = 0;
	std::uint16_t pkey = 0xffff;
	std::uint64_t service_id = 0;
	PrivateData<216> private_data{};
};

/** SIDR_REP's status (IBTA 12.11.2). */
enum class SidrStatus : std::uint8_t {
	success,
	unsupported,
	rejected,
	no_qp,
	redirected,
	unsupported_version,
};

struct SidrRep {
	static constexpr std::uint16_t attribute = 0x18;
	std::uint32_t request_id = 0;
	SidrStatus status = SidrStatus::success;
	std::uint32_t qpn = 0;
	std::uint64_t service_id = 0;
	std::uint32_t qkey = 0;
	PrivateData<136> private_data{};
};

using Message = std::variant<Req, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep>;

struct Datagram {
	std::uint64_t transaction = 0;
	Message message;
};

/** Neither allocates nor throws. */
[[nodiscard]] Mad encode(const Datagram &datagram);

/** Returns nothing if it is no message of this list in the form that every version-2 peer sends. */
[[nodiscard]] std::optional<Datagram> decode(std::span<const std::uint8_t, mad_size> mad);

/** Returns true if a listener is to be found for this message, false if the connection @ref destination(). */
[[nodiscard]] bool is_request(const Message &message);

/** Returns the receiver's communication id, of a message that is not a request; 0 if it has none. */
[[nodiscard]] std::uint32_t destination(const Message &message);

/* rdma_cm ------------------------------------------------------------------------------------------------------- */

/** As in rdma_cma.h and the kernel's interface. */
enum class PortSpace : std::uint16_t {
	ipoib = 0x0002,
	tcp = 0x0106,
	udp = 0x0111,
	ib = 0x013f,
};

/** Header at the beginning of REQ's and SIDR_REQ's private data. */
struct IpHeader {
	static constexpr std::size_t size = 36;
	Address source; /**< of the sender of the request */
	std::uint16_t source_port = 0;
	Address destination;
};

[[nodiscard]] std::uint64_t make_service_id(PortSpace space, std::uint16_t port);
[[nodiscard]] std::uint16_t port_of(std::uint64_t service_id);
/** Returns nothing if the id belongs to no port space of this list. */
[[nodiscard]] std::optional<PortSpace> port_space_of(std::uint64_t service_id);

void encode_ip_header(const IpHeader &header, std::span<std::uint8_t, IpHeader::size> to);
/** Returns nothing for another version of the header, or of IP. */
[[nodiscard]] std::optional<IpHeader> decode_ip_header(std::span<const std::uint8_t, IpHeader::size> from);

} // namespace prism::cm
