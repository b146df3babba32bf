/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Random choices of the walk: a world, and requests that reach every corner of it. */
#pragma once

#include "random.hpp"
#include "reference.hpp"

namespace prism::conformance
{

/** Numbers of the regions that make_world() sets up. */
enum RegionNumber : int {
	region_all,
	region_read,
	region_write,
	region_atomic,
	region_odd, /* read and write, bounds that are multiples of nothing */
	region_foreign,
	region_local,
	region_buffers,
	region_top, /* up to the last byte of the address space */
	region_dynamic,
	region_count,
};

/** Numbers of the lists. */
enum ListNumber : int {
	list_own,
	list_foreign,
	list_ordinary,
	list_count
};

/** Makes memory, regions and free lists of every kind that matters; contents from @p random. */
reference::World make_world(std::uint32_t mtu, test::Random &random);

/** Bytes stored by the responder's CPU before a request. */
struct Poke {
	std::uint64_t va = 0;
	reference::Bytes bytes;
};

class Generator
{
public:
	/** @p raw: lengths may contradict each other; @p mangles: packets may be spoilt on their way */
	Generator(const reference::World &world, test::Random &random, bool raw, bool mangles)
		: world_(world), random_(random), raw_(raw), mangles_(mangles)
	{
	}

	/** Returns the next request; @p pokes gets the bytes that should be in memory for it. */
	reference::Request request(std::vector<Poke> &pokes);
	reference::Entry entry();

private:
	[[nodiscard]] const reference::Region &region(int number) const
	{
		return world_.regions[static_cast<std::size_t>(number)];
	}
	int some_region();
	std::uint64_t address(int in, std::uint64_t length, std::uint64_t alignment);
	std::uint32_t length(bool small);
	void fill(std::array<std::uint8_t, 32> &operand);
	void choose_mask(std::array<std::uint8_t, 32> &mask);
	void make_target(reference::Request &request, std::vector<Poke> &pokes);
	void make_pointer(reference::Request &request, std::vector<Poke> &pokes);
	void make_cas(reference::Request &request);
	void make_aux(reference::Request &request);
	void make_payload(reference::Request &request);
	void make_mangle(reference::Request &request);
	reference::Request plain_request();
	std::uint8_t some_flags(reference::Op op);

	const reference::World &world_;
	test::Random &random_;
	const bool raw_;
	const bool mangles_;
};

} // namespace prism::conformance
