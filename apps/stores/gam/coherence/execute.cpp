/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/coherence/execute.hpp"

#include <bit>
#include <cstring>
#include <span>

#include "gam/coherence/words.hpp"

namespace prism::gam
{

namespace
{

std::uint64_t result_of(const Access &access, std::uint64_t old) noexcept
{
	switch (access.function) {
	case Function::add:
		return old + access.operand;
	case Function::swap:
		return access.operand;
	case Function::compare_swap:
		return old == access.compare ? access.operand : old;
	case Function::bit_and:
		return old & access.operand;
	case Function::bit_or:
		return old | access.operand;
	}
	return old;
}

void change(Access &access, std::byte *at) noexcept
{
	static_assert(std::endian::native == std::endian::little, "the first bytes of a number are its lowest");
	std::uint64_t old = 0;
	std::memcpy(&old, at, access.length);
	const std::uint64_t changed = result_of(access, old);
	store_words(at, std::as_bytes(std::span(&changed, 1)).first(access.length));
	access.old_value = old;
}

} // namespace

bool is_well_formed(const Access &access) noexcept
{
	const std::size_t length = access.length;
	switch (access.kind) {
	case AccessKind::read:
	case AccessKind::write:
		return length > 0 && access.bytes && access.at.in_block() + length <= block_size;
	case AccessKind::atomic:
		return length <= sizeof(std::uint64_t) && std::has_single_bit(length) &&
		       access.function <= Function::bit_or && access.at.in_block() + length <= block_size;
	default:
		return access.kind <= AccessKind::write_back;
	}
}

void execute(Access &access, std::byte *block) noexcept
{
	std::byte *at = block + access.at.in_block();
	switch (access.kind) {
	case AccessKind::read:
		std::memcpy(access.bytes, at, access.length);
		break;
	case AccessKind::write:
		store_words(at, {access.bytes, access.length});
		break;
	case AccessKind::atomic:
		change(access, at);
		break;
	default:
		break;
	}
}

} // namespace prism::gam
