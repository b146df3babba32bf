/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "generator.hpp"

#include <algorithm>

namespace prism::conformance
{

using reference::Bytes;
using reference::Entry;
using reference::Mangle;
using reference::Op;
using reference::Region;
using reference::Request;
using reference::Rights;
using reference::World;

namespace
{

constexpr std::uint64_t low_va = 0x10000;
constexpr std::uint64_t low_size = 8192;
constexpr std::uint64_t top_size = 512;
constexpr std::uint64_t top_va = 0 - top_size;

Bytes random_bytes(test::Random &random, std::size_t size)
{
	Bytes bytes(size);
	for (std::size_t i = 0; i < size; i += 8) {
		const std::uint64_t bits = random.bits();
		for (std::size_t j = i; j < std::min(size, i + 8); j++)
			bytes[j] = static_cast<std::uint8_t>(bits >> (8 * (j - i)));
	}
	return bytes;
}

Bytes pointer_bytes(std::uint64_t pointer, std::uint32_t bound, std::uint32_t tag, bool bounded)
{
	Bytes bytes;
	for (unsigned i = 0; i < 8; i++)
		bytes.push_back(static_cast<std::uint8_t>(pointer >> (8 * i)));
	for (unsigned i = 0; bounded && i < 8; i++)
		bytes.push_back(static_cast<std::uint8_t>((std::uint64_t{tag} << 32 | bound) >> (8 * i)));
	return bytes;
}

} // namespace

World make_world(std::uint32_t mtu, test::Random &random)
{
	constexpr Rights write{true, false, true, false}, atomic{true, false, false, true};
	constexpr Rights odd{true, true, true, false}, local{true, false, false, false};
	World world;
	world.mtu = mtu;
	world.arenas = {{low_va, random_bytes(random, low_size)}, {top_va, random_bytes(random, top_size)}};
	world.regions.resize(region_count);
	world.regions[region_all] = {0, low_va, 4096, reference::all_rights, 1, true, 0};
	world.regions[region_read] = {0, low_va, 4096, {false, true, false, false}, 1, true, 0};
	world.regions[region_write] = {0, low_va, 4096, write, 1, true, 0};
	world.regions[region_atomic] = {0, low_va, 4096, atomic, 1, true, 0};
	world.regions[region_odd] = {0, low_va + 1027, 1999, odd, 1, true, 0};
	world.regions[region_foreign] = {0, low_va, low_size, reference::all_rights, 2, true, 0};
	world.regions[region_local] = {0, low_va, 4096, local, 1, true, 0};
	world.regions[region_buffers] = {0, low_va + 4096, 4096, write, 1, true, 0};
	world.regions[region_top] = {1, top_va, top_size, reference::all_rights, 1, true, 0};
	world.regions[region_dynamic] = {0, low_va + 2048, 4096, reference::all_rights, 1, true, 0};
	world.lists.resize(list_count);
	world.lists[list_foreign].domain = 2;
	world.lists[list_ordinary].is_free_list = false;
	return world;
}

int Generator::some_region()
{
	if (random_.chance(75))
		return region_all;
	if (random_.chance(4))
		return reference::no_region;
	return static_cast<int>(random_.below(region_count));
}

/** Returns an address mostly inside the region; now and then at, across or beyond its ends. */
std::uint64_t Generator::address(int in, std::uint64_t size, std::uint64_t alignment)
{
	if (in == reference::no_region)
		return random_.bits() & ~(alignment - 1);
	const Region &where = region(in);
	const std::uint64_t room = where.length > size ? where.length - size : 0;
	const std::uint64_t choice = random_.below(100);
	std::uint64_t va = where.va + random_.below(room + 1);
	if (choice < 3)
		return va; /* leaves the alignment to chance */
	if (choice < 8)
		va = where.va + where.length - size;
	else if (choice < 10)
		va = where.va + where.length - size + alignment;
	else if (choice < 11)
		va = where.va - alignment;
	else if (choice < 12)
		va = random_.bits();
	return va & ~(alignment - 1);
}

std::uint32_t Generator::length(bool small)
{
	const std::uint32_t mtu = world_.mtu;
	const std::uint64_t choice = random_.below(100);
	if (choice < 8)
		return 0;
	if (choice < 45)
		return static_cast<std::uint32_t>(random_.between(1, 64));
	if (choice < 60)
		return random_.pick({8u, 16u, 24u, 32u, 64u});
	if (choice < 75 || small)
		return static_cast<std::uint32_t>(random_.between(1, mtu));
	if (choice < 88)
		return mtu * static_cast<std::uint32_t>(random_.between(1, 4)) +
		       static_cast<std::uint32_t>(random_.below(3)) - 1;
	if (choice < 98)
		return static_cast<std::uint32_t>(random_.between(1, mtu * 5));
	return world_.max_indirect - 1 + static_cast<std::uint32_t>(random_.below(3));
}

void Generator::fill(std::array<std::uint8_t, 32> &operand)
{
	const Bytes bytes = random_bytes(random_, operand.size());
	std::copy(bytes.begin(), bytes.end(), operand.begin());
}

/** Chooses all ones, all zeros, whole words, single bits, or noise. */
void Generator::choose_mask(std::array<std::uint8_t, 32> &mask)
{
	switch (random_.below(6)) {
	case 0:
	case 1:
		mask.fill(0xff);
		break;
	case 2:
		mask.fill(0);
		break;
	case 3:
		for (std::size_t i = 0; i < mask.size(); i += 8)
			std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(i), 8, random_.chance(50) ? 0xff : 0);
		break;
	case 4:
		mask.fill(0);
		mask[random_.below(mask.size())] = static_cast<std::uint8_t>(1u << random_.below(8));
		break;
	default:
		fill(mask);
		break;
	}
}

std::uint8_t Generator::some_flags(Op op)
{
	std::uint8_t flags = 0;
	do
		flags = static_cast<std::uint8_t>(random_.below(32));
	while (!reference::legal(op, flags) && !random_.chance(0.5));
	return flags;
}

/** Stores a pointer at the place that the request loads it from: good, null, wild, misaligned, bounded in all ways. */
void Generator::make_pointer(Request &request, std::vector<Poke> &pokes)
{
	const bool bounded = request.has(reference::bounded);
	const std::uint64_t size = bounded ? 16 : 8;
	request.va = address(request.region, size, size);
	if (request.region == reference::no_region || random_.chance(5))
		return; /* leaves the memory as it is */
	const Region &where = region(request.region);
	const std::uint64_t at = request.va & ~(size - 1);
	if (at < where.va || where.length < size || at - where.va > where.length - size)
		return;

	const int target = random_.chance(90) ? request.region : some_region();
	const bool cas = request.op == Op::cas;
	std::uint64_t reach = cas ? request.size : request.length;
	const std::uint32_t bound = random_.pick({0u, 1u, 7u, 32u, 64u, world_.mtu, 2 * world_.mtu + 1,
		static_cast<std::uint32_t>(reach), static_cast<std::uint32_t>(reach) + 1, 0xffffffffu});
	if (bounded)
		reach = std::min<std::uint64_t>(reach, bound);
	std::uint64_t pointer = address(target, reach, cas && request.size ? request.size & -request.size : 1);
	if (random_.chance(8))
		pointer = 0;
	pokes.push_back({at, pointer_bytes(pointer, bound, static_cast<std::uint32_t>(random_.bits()), bounded)});
}

void Generator::make_target(Request &request, std::vector<Poke> &pokes)
{
	if (request.op == Op::allocate)
		return;
	request.region = some_region();
	if (request.has(reference::indirect)) {
		make_pointer(request, pokes);
		return;
	}
	if (request.op == Op::cas)
		request.va = address(request.region, request.size, request.size ? request.size & -request.size : 1);
	else
		request.va = address(request.region, request.length, random_.pick({1u, 1u, 8u, 16u, 32u}));
}

void Generator::make_cas(Request &request)
{
	request.size = static_cast<std::uint8_t>(8u << random_.below(3));
	if (random_.chance(1))
		request.size = static_cast<std::uint8_t>(random_.below(33));
	request.mode = static_cast<std::uint8_t>(random_.below(3));
	if (random_.chance(0.5))
		request.mode = static_cast<std::uint8_t>(random_.bits());
	request.compare_data = request.has(reference::data_indirect) ? random_.chance(50) : random_.chance(0.5);
	fill(request.compare);
	fill(request.swap);
	choose_mask(request.compare_mask);
	choose_mask(request.swap_mask);
}

void Generator::make_aux(Request &request)
{
	if (!request.has(reference::redirect) && !request.has(reference::data_indirect))
		return;
	request.aux_region = some_region();
	if (request.op == Op::allocate) {
		const std::uint64_t size = request.has(reference::bounded) ? 16 : 8;
		request.aux_va = address(request.aux_region, size, size);
		return;
	}
	request.aux_va = address(
		request.aux_region, request.op == Op::cas ? request.size : request.length, random_.pick({1u, 8u, 32u}));
}

void Generator::make_payload(Request &request)
{
	if (!request.carries_payload())
		return;
	request.payload = random_bytes(random_, std::min<std::uint32_t>(request.length, 6 * world_.mtu));
	request.length = static_cast<std::uint32_t>(request.payload.size());
	if (random_.chance(1) && raw_)
		request.length += random_.pick({1u, 4u, 0u - 1u, 0u - 4u, world_.mtu, 0u - world_.mtu});
}

/** Mangles only requests that are otherwise well formed, so that one rule alone is broken; see W.5. */
void Generator::make_mangle(Request &request)
{
	if (!mangles_ || !random_.chance(3))
		return;
	if (request.carries_payload() && request.payload.size() != request.length)
		return;
	if (request.op == Op::cas &&
		(request.size == 0 || (request.size & (request.size - 1)) || request.size < 8 || request.mode > 2 ||
			(request.compare_data && !request.has(reference::data_indirect))))
		return;
	const std::size_t payload = request.carries_payload() ? request.payload.size() : 0;
	const std::size_t packets = payload ? (payload - 1) / world_.mtu + 1 : 1;
	request.mangled_packet = static_cast<std::uint32_t>(random_.below(packets));
	request.mangle = random_.pick(
		{Mangle::reserved_bits, Mangle::truncated, Mangle::extended, Mangle::other_flags, Mangle::misplaced});
	if (request.mangle == Mangle::other_flags && request.mangled_packet == 0)
		request.mangle = Mangle::reserved_bits;
	/* The access flags of the QP are checked before the place in the message. */
	if (request.mangle == Mangle::misplaced &&
		(!request.carries_payload() || world_.granted != reference::all_rights))
		request.mangle = Mangle::reserved_bits;
}

/** Returns a faultless request, in the region with all rights. */
Request Generator::plain_request()
{
	Request request;
	request.op = random_.pick({Op::plain_read, Op::plain_write, Op::plain_swap, Op::plain_add});
	request.region = region_all;
	const Region &where = region(region_all);
	if (request.op == Op::plain_read || request.op == Op::plain_write) {
		request.length = static_cast<std::uint32_t>(random_.between(1, 3 * world_.mtu));
		request.va = where.va + random_.below(where.length - request.length + 1);
		if (request.op == Op::plain_write)
			request.payload = random_bytes(random_, request.length);
	} else {
		request.va = where.va + 8 * random_.below(where.length / 8);
		fill(request.compare);
		fill(request.swap);
		const reference::Arena &arena = world_.arenas[where.arena];
		if (random_.chance(50))
			std::copy_n(arena.bytes.begin() + static_cast<std::ptrdiff_t>(request.va - arena.va), 8,
				request.compare.begin());
	}
	return request;
}

Request Generator::request(std::vector<Poke> &pokes)
{
	if (random_.chance(5) && world_.granted == reference::all_rights)
		return plain_request();
	Request request;
	request.op = random_.pick({Op::read, Op::write, Op::cas, Op::allocate});
	request.flags = some_flags(request.op);
	if (request.op == Op::cas) {
		make_cas(request);
	} else {
		request.length = length(request.has(reference::indirect) && request.op == Op::write);
		make_payload(request);
	}
	make_target(request, pokes);
	make_aux(request);
	if (request.op == Op::allocate) {
		request.list = random_.chance(97) ? list_own : static_cast<int>(random_.below(list_count + 1)) - 1;
		request.tag = static_cast<std::uint32_t>(random_.bits());
	}
	/* Half of the CASes find the value that they compare with. */
	if (request.op == Op::cas && !request.has(reference::indirect) && random_.chance(50))
		for (const reference::Arena &arena : world_.arenas)
			if (request.va - arena.va < arena.bytes.size() - 32)
				std::copy_n(arena.bytes.begin() + static_cast<std::ptrdiff_t>(request.va - arena.va),
					32, request.compare.begin());
	make_mangle(request);
	return request;
}

Entry Generator::entry()
{
	Entry entry;
	entry.id = random_.bits();
	entry.region = random_.chance(85) ? int{region_buffers} : some_region();
	entry.length = random_.chance(3) ? 4 : random_.pick({64u, 256u, 600u, 1500u, 1500u});
	entry.va = address(entry.region, entry.length, 8);
	if (entry.region != reference::no_region)
		entry.generation = region(entry.region).generation;
	return entry;
}

} // namespace prism::conformance
