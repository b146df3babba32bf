/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <algorithm>

#include "backend.hpp"

namespace prism::conformance
{

namespace
{

void set_reserved_bits(std::vector<std::uint8_t> &packet)
{
	packet[1] ^= PRISM_BTH_MIG;
	packet[1] |= 0x0f; /* TVer */
	packet[2] = 0x12;  /* P_Key */
	packet[4] = 0xff;  /* FECN, BECN and the bits beside them */
	packet[8] |= 0x03;
	if (packet[0] == PRISM_OP_CAS) {
		packet[PRISM_BTH_SIZE + 13] |= 0xfe;
		packet[PRISM_BTH_SIZE + 15] = 0xff;
	} else if (packet[0] == PRISM_OP_ALLOCATE_FIRST || packet[0] == PRISM_OP_ALLOCATE_ONLY) {
		packet[PRISM_BTH_SIZE] = 0xff;
	}
}

std::uint8_t misplaced(std::uint8_t opcode)
{
	switch (opcode) {
	case PRISM_OP_WRITE_FIRST:
	case PRISM_OP_ALLOCATE_FIRST:
		return opcode + 1;
	case PRISM_OP_WRITE_MIDDLE:
	case PRISM_OP_ALLOCATE_MIDDLE:
	case PRISM_OP_WRITE_ONLY:
	case PRISM_OP_ALLOCATE_ONLY:
		return opcode - 1;
	default:
		return opcode + 1;
	}
}

std::uint8_t wire_flags(unsigned modifiers)
{
	std::uint8_t flags = 0;
	if (modifiers & reference::indirect)
		flags |= PRISM_FLAG_T;
	if (modifiers & reference::data_indirect)
		flags |= PRISM_FLAG_D;
	if (modifiers & reference::bounded)
		flags |= PRISM_FLAG_B;
	if (modifiers & reference::conditional)
		flags |= PRISM_FLAG_C;
	if (modifiers & reference::redirect)
		flags |= PRISM_FLAG_R;
	return flags;
}

} // namespace

void mangle_packet(std::vector<std::uint8_t> &packet, reference::Mangle mangle)
{
	switch (mangle) {
	case reference::Mangle::reserved_bits:
		set_reserved_bits(packet);
		break;
	case reference::Mangle::truncated:
		packet.resize(packet.size() - 4);
		break;
	case reference::Mangle::extended:
		packet.resize(packet.size() + 4);
		break;
	case reference::Mangle::other_flags:
		packet[8] ^= PRISM_FLAG_C;
		break;
	case reference::Mangle::misplaced:
		packet[0] = misplaced(packet[0]);
		break;
	default:
		break;
	}
}

prism_request to_wire(const reference::Request &request, const WireNames &names, std::uint8_t *operands)
{
	prism_request fields{};
	fields.op = static_cast<u8>(request.op);
	fields.flags = wire_flags(request.flags);
	fields.cas_mode = request.mode;
	fields.cas_flags = request.compare_data ? PRISM_CAS_COMPARE_DATA : 0;
	fields.cas_size = request.size;
	fields.rkey = names.rkey;
	fields.va = request.va;
	fields.aux_va = request.aux_va;
	fields.aux_rkey = names.aux_rkey;
	fields.free_list = names.free_list;
	fields.length = request.length;
	fields.tag = request.tag;
	const std::size_t n = std::min<std::size_t>(request.size, PRISM_MAX_CAS);
	std::copy_n(request.compare.begin(), n, operands);
	std::copy_n(request.swap.begin(), n, operands + n);
	std::copy_n(request.compare_mask.begin(), n, operands + 2 * n);
	std::copy_n(request.swap_mask.begin(), n, operands + 3 * n);
	fields.operands = operands;
	return fields;
}

} // namespace prism::conformance
