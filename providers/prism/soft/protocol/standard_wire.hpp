/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The standard packets of RC, UC and UD: opcodes and extended headers (IBTA 9.2, 9.3, table 38; annex A19). */
#pragma once

#include <cstdint>
#include <cstring>

#include "../net/packet.hpp"

extern "C" {
#include "prism_wire.h"
}

namespace prism::soft
{

enum RcOpcode : std::uint8_t {
	rc_send_first = 0x00,
	rc_send_middle = 0x01,
	rc_send_last = 0x02,
	rc_send_last_imm = 0x03,
	rc_send_only = 0x04,
	rc_send_only_imm = 0x05,
	rc_write_first = 0x06,
	rc_write_middle = 0x07,
	rc_write_last = 0x08,
	rc_write_last_imm = 0x09,
	rc_write_only = 0x0a,
	rc_write_only_imm = 0x0b,
	rc_read_request = 0x0c,
	rc_read_response_first = 0x0d,
	rc_read_response_middle = 0x0e,
	rc_read_response_last = 0x0f,
	rc_read_response_only = 0x10,
	rc_acknowledge = 0x11,
	rc_atomic_acknowledge = 0x12,
	rc_cmp_swap = 0x13,
	rc_fetch_add = 0x14,
	rc_send_last_inv = 0x16,
	rc_send_only_inv = 0x17,
	rc_atomic_write = 0x1d,
};

/** The UC opcodes are those of RC with this bit. */
inline constexpr std::uint8_t uc_class = 0x20;
inline constexpr std::uint8_t opcode_class_mask = 0xe0;

enum UdOpcode : std::uint8_t {
	ud_send_only = 0x64,
	ud_send_only_imm = 0x65,
};

/** The general services interface (IBTA 13.4): one queue pair a port, gsi_qpn, one key, datagrams of one size. */
inline constexpr std::uint32_t gsi_qkey = 0x80010000;
inline constexpr std::size_t mad_size = 256;

static_assert(bth_size == PRISM_BTH_SIZE);
inline constexpr std::uint32_t reth_size = PRISM_RETH_SIZE;
inline constexpr std::uint32_t aeth_size = PRISM_AETH_SIZE;
inline constexpr std::uint32_t immediate_size = 4; /* ImmDt and IETH */
inline constexpr std::uint32_t atomic_eth_size = 28;
inline constexpr std::uint32_t atomic_ack_size = 8;
inline constexpr std::uint32_t deth_size = 8;
/** Bytes before the data of a received datagram: the IPv6 header, or 20 bytes and the IPv4 header (annex A17). */
inline constexpr std::uint32_t grh_size = 40;

/** AETH syndromes (IBTA 9.7.5.2.1). */
enum Syndrome : std::uint8_t {
	syndrome_ack = 0x1f, /* no end-to-end credits */
	syndrome_rnr = 0x20,
	syndrome_psn_sequence = 0x60,
	syndrome_invalid_request = 0x61,
	syndrome_access_error = 0x62,
	syndrome_operational_error = 0x63,
	syndrome_class_mask = 0x60,
	syndrome_class_ack = 0x00,
	syndrome_class_nak = 0x60,
};

/** Properties of a packet that its opcode tells. */
enum OpcodeFlag : std::uint16_t {
	op_known = 1 << 0,
	op_request = 1 << 1,
	op_send = 1 << 2,
	op_write = 1 << 3,
	op_first = 1 << 4,
	op_last = 1 << 5,
	op_immediate = 1 << 6,
	op_invalidate = 1 << 7,
	op_read = 1 << 8,
	op_atomic = 1 << 9,
	op_read_response = 1 << 10,
	op_ack = 1 << 11,
	op_word = 1 << 12, /* atomic write */
};

std::uint16_t rc_opcode_flags(std::uint8_t opcode);
/** Returns 0 for opcodes that UC does not have: anything that is answered, and the invalidation of the peer's keys. */
std::uint16_t uc_opcode_flags(std::uint8_t opcode);

/** Returns a - b on the 24-bit circle: negative if a comes before b. */
inline std::int32_t psn_diff(std::uint32_t a, std::uint32_t b)
{
	return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

inline std::uint32_t psn_add(std::uint32_t psn, std::uint32_t n)
{
	return (psn + n) & PRISM_PSN_MASK;
}

inline std::uint32_t packets_for(std::uint64_t length, std::uint32_t mtu)
{
	return length ? static_cast<std::uint32_t>((length - 1) / mtu + 1) : 1;
}

inline std::uint32_t pad_for(std::uint64_t length)
{
	return static_cast<std::uint32_t>(-length & 3);
}

} // namespace prism::soft
