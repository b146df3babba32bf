/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "standard_wire.hpp"

namespace prism::soft
{

namespace
{

struct OpcodeTable {
	std::uint16_t flags[32] = {};

	constexpr OpcodeTable()
	{
		constexpr std::uint16_t send = op_known | op_request | op_send;
		constexpr std::uint16_t write = op_known | op_request | op_write;
		constexpr std::uint16_t response = op_known | op_read_response;

		flags[rc_send_first] = send | op_first;
		flags[rc_send_middle] = send;
		flags[rc_send_last] = send | op_last;
		flags[rc_send_last_imm] = send | op_last | op_immediate;
		flags[rc_send_only] = send | op_first | op_last;
		flags[rc_send_only_imm] = send | op_first | op_last | op_immediate;
		flags[rc_send_last_inv] = send | op_last | op_invalidate;
		flags[rc_send_only_inv] = send | op_first | op_last | op_invalidate;
		flags[rc_write_first] = write | op_first;
		flags[rc_write_middle] = write;
		flags[rc_write_last] = write | op_last;
		flags[rc_write_last_imm] = write | op_last | op_immediate;
		flags[rc_write_only] = write | op_first | op_last;
		flags[rc_write_only_imm] = write | op_first | op_last | op_immediate;
		flags[rc_read_request] = op_known | op_request | op_read;
		flags[rc_cmp_swap] = op_known | op_request | op_atomic;
		flags[rc_fetch_add] = op_known | op_request | op_atomic;
		flags[rc_atomic_write] = op_known | op_request | op_word;
		flags[rc_read_response_first] = response | op_first;
		flags[rc_read_response_middle] = response;
		flags[rc_read_response_last] = response | op_last;
		flags[rc_read_response_only] = response | op_first | op_last;
		flags[rc_acknowledge] = op_known | op_ack;
		flags[rc_atomic_acknowledge] = op_known | op_ack | op_atomic;
	}
};

constexpr OpcodeTable table;

} // namespace

std::uint16_t rc_opcode_flags(std::uint8_t opcode)
{
	return opcode < 32 ? table.flags[opcode] : 0;
}

std::uint16_t uc_opcode_flags(std::uint8_t opcode)
{
	if ((opcode & opcode_class_mask) != uc_class)
		return 0;
	const std::uint16_t flags = table.flags[opcode & ~opcode_class_mask];
	return (flags & (op_send | op_write)) && !(flags & op_invalidate) ? flags : 0;
}

} // namespace prism::soft
