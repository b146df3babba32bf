/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace prism::packet_peer
{

namespace
{

constexpr std::uint64_t loose_va = aux_va + aux_size / 2;

reference::World make_world()
{
	using reference::all_rights;
	using reference::Rights;
	constexpr Rights write{true, false, true, false}, read{false, true, false, false},
		atomic{true, false, false, true};
	reference::World world;
	world.arenas = {{main_va, Bytes(main_size)}, {aux_va, Bytes(aux_size)}, {buffers_va, Bytes(buffers_size)}};
	for (std::size_t a = 0; a < world.arenas.size(); a++)
		for (std::size_t i = 0; i < world.arenas[a].bytes.size(); i++)
			world.arenas[a].bytes[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8) + a * 50);
	world.regions.resize(region_count);
	world.regions[region_main] = {0, main_va, main_size, all_rights, 1, true, 0};
	world.regions[region_aux] = {1, aux_va, aux_size / 2, all_rights, 1, true, 0};
	world.regions[region_buffers] = {2, buffers_va, buffers_size, write, 1, true, 0};
	world.regions[region_foreign] = {0, main_va, main_size, all_rights, 2, true, 0};
	world.regions[region_read_only] = {0, main_va, main_size, read, 1, true, 0};
	world.regions[region_write_only] = {0, main_va, main_size, write, 1, true, 0};
	world.regions[region_atomic_only] = {0, main_va, main_size, atomic, 1, true, 0};
	world.regions[region_loose] = {1, loose_va, aux_size / 2, all_rights, 1, true, 0};
	world.regions[region_read_buffers] = {2, buffers_va, buffers_size, all_rights, 1, true, 0};
	world.lists.resize(list_count);
	for (reference::FreeList &list : world.lists)
		list.capacity = 63;
	world.lists[list_foreign].domain = 2;
	world.lists[list_ordinary].is_free_list = false;
	return world;
}

} // namespace

Bench::Bench(const Options &options_)
	: options(options_), device(options.device), peer(options.path), world(make_world()), memory(device),
	  random(options.seed)
{
	memory.build(world);
}

WireTarget &Bench::target(std::uint32_t mtu)
{
	return targets_.try_emplace(mtu, device, peer, mtu).first->second;
}

WireTarget &Bench::fresh(
	std::uint32_t mtu, std::uint32_t psn, const reference::Rights &access, std::uint8_t dest_rd_atomic)
{
	WireTarget &of = target(mtu);
	of.connect(access_of(access), psn, dest_rd_atomic);
	world.mtu = mtu;
	world.reset(access);
	peer.drop_received();
	device.take_events();
	return of;
}

void Bench::poke(std::uint64_t va, const Bytes &bytes)
{
	world.poke(va, bytes);
	memory.poke(va, bytes);
}

void Bench::poke_word(std::uint64_t va, std::uint64_t value)
{
	Bytes bytes(8);
	put_unaligned_le64(value, bytes.data());
	poke(va, bytes);
}

void Bench::poke_bounded(std::uint64_t va, std::uint64_t pointer, std::uint32_t bound)
{
	poke_word(va, pointer);
	poke_word(va + 8, bound);
}

void Bench::supply(int list, unsigned number, std::uint32_t length)
{
	const bool loose = list == list_loose;
	reference::Entry entry;
	entry.id = number;
	entry.region = loose ? int{region_loose} : int{region_buffers};
	entry.va = (loose ? loose_va : buffers_va) + std::uint64_t{number % 8} * buffer_size;
	entry.length = length;
	entry.generation = world.regions[static_cast<std::size_t>(entry.region)].generation;
	world.lists[static_cast<std::size_t>(list)].entries.push_back(entry);
	expect(memory.post(list, entry), "a buffer cannot be posted");
}

void Bench::taken_back(int list)
{
	reference::FreeList &of = world.lists[static_cast<std::size_t>(list)];
	of.popped++;
	of.reclaimed++;
	of.entries.front().taken_back = true;
}

void Bench::restore_memory()
{
	for (const reference::Arena &arena : world.arenas)
		memory.poke(arena.va, arena.bytes);
}

WireNames Bench::names(const Request &request) const
{
	return {memory.key(request.region), memory.key(request.aux_region), memory.number(request.list)};
}

/* The count ---------------------------------------------------------------------------------------------------- */

void Bench::section(const std::string &name)
{
	if (!section_.empty())
		fmt::print("{}: {} checks\n", section_, section_checks_);
	section_ = name;
	section_checks_ = 0;
	std::fflush(stdout);
}

bool Bench::expect(bool condition, const std::string &what)
{
	checks_++;
	section_checks_++;
	if (!condition) {
		failures_++;
		fmt::print("FAIL {}: {}\n", section_, what);
		std::fflush(stdout);
	}
	return condition;
}

void Bench::expect_agreement(WireTarget &of, const std::string &what)
{
	expect(of.complaint().empty(), what + ": " + of.complaint());
	of.forgive();
	for (std::size_t a = 0; a < world.arenas.size(); a++) {
		const auto now = memory.memory(a);
		const auto at = std::mismatch(now.begin(), now.end(), world.arenas[a].bytes.begin()).first;
		if (!expect(at == now.end(),
			    fmt::format("{}: memory of arena {} differs at {:#x}", what, a, at - now.begin())))
			memory.poke(world.arenas[a].va, world.arenas[a].bytes);
	}
	for (int i = 0; i < list_count; i++) {
		if (i == list_ordinary)
			continue;
		reference::FreeList &list = world.lists[static_cast<std::size_t>(i)];
		ListState state;
		const auto agrees = [&] {
			state = memory.list_state(i);
			return state.popped == list.popped && state.reclaimed == list.reclaimed &&
			       state.available == list.entries.size();
		};
		/* a queue pair in ERROR gives its buffers back a moment later */
		const bool agreed = wait_until(agrees, std::chrono::seconds(2));
		expect(agreed, fmt::format("{}: list {}: popped {} reclaimed {} available {}, expected {} {} {}", what,
				       i, state.popped, state.reclaimed, state.available, list.popped, list.reclaimed,
				       list.entries.size()));
		expect(memory.take_rejected(i) == list.rejected, what + ": reports of bad entries");
		list.rejected.clear();
	}
}

Outcome Bench::agree(WireTarget &of, const Request &request, const std::string &what)
{
	Outcome expected = world.execute(request);
	const Exchange exchange = of.encode(request, names(request), random);
	of.send(exchange);
	const Outcome got = of.answer(exchange);
	expected.reason = reference::Reason::none;
	if (expected.verdict != Verdict::completed)
		expect(got.verdict == expected.verdict, what + ": verdict");
	else
		expect(got == expected, what + ": outcome");
	expect_agreement(of, what);
	return got;
}

void Bench::expect_alive(WireTarget &of, const std::string &what)
{
	agree(of, plain_read(100), what + ", and then a READ");
}

int Bench::finish() const
{
	fmt::print("{}: {} checks\nprism-packet-peer {}: {} checks, {} failed\n", section_, section_checks_,
		peer.ipv6() ? "IPv6" : "IPv4", checks_, failures_);
	return failures_ ? 1 : 0;
}

bool Bench::wanted(std::string_view part) const
{
	return options.only.empty() || options.only == part;
}

Request plain_read(std::uint32_t length, std::uint64_t offset)
{
	Request request;
	request.op = reference::Op::read;
	request.region = region_main;
	request.va = main_va + offset;
	request.length = length;
	return request;
}

Request operation(reference::Op op, unsigned flags, std::uint32_t length)
{
	Request request;
	request.op = op;
	request.flags = static_cast<std::uint8_t>(flags);
	request.region = region_main;
	request.va = flags & reference::indirect ? pointer_va : word_va;
	request.aux_region =
		flags & (reference::redirect | reference::data_indirect) ? int{region_aux} : reference::no_region;
	request.aux_va = aux_va + 0x80;
	request.list = op == reference::Op::allocate ? int{list_own} : reference::no_list;
	request.length = op == reference::Op::cas ? 0 : length;
	if (request.carries_payload())
		for (std::uint32_t i = 0; i < length; i++)
			request.payload.push_back(static_cast<std::uint8_t>(i * 3 + 1));
	request.compare.fill(0);
	request.swap.fill(0x11);
	request.compare_mask.fill(0xff);
	request.swap_mask.fill(0xff);
	return request;
}

std::string counter_name(const Device &device, const std::string &name)
{
	static const std::map<std::string, std::string> of_rxe{
		{"rx_duplicate", "duplicate_request"}, {"rx_out_of_sequence", "out_of_seq_request"}};
	if (device.has_counter(name))
		return name;
	const auto found = of_rxe.find(name);
	return found != of_rxe.end() && device.has_counter(found->second) ? found->second : "";
}

} // namespace prism::packet_peer
