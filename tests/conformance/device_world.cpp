/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "device_world.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace prism::conformance
{

using reference::Op;
using reference::Reason;
using reference::Region;
using reference::Request;

namespace
{

constexpr std::uint32_t bad_key = 0xdeadbe11;
constexpr std::uint32_t bad_list = 0xabcdef;

constexpr std::array counters_of_faults{
	std::pair{"rx_bad_format", Reason::format},
	std::pair{"rx_bad_flags", Reason::flags},
	std::pair{"rx_bad_operand", Reason::operand},
	std::pair{"rx_bad_alignment", Reason::alignment},
	std::pair{"rx_access_error", Reason::access},
	std::pair{"rx_bad_free_list", Reason::free_list},
};

std::vector<std::uint64_t> read_faults(const Device &device)
{
	std::vector<std::string> names;
	for (const auto &[name, reason] : counters_of_faults)
		names.emplace_back(name);
	return device.counters(names);
}

} // namespace

unsigned access_of(const reference::Rights &rights)
{
	unsigned access = 0;
	if (rights.local_write)
		access |= IBV_ACCESS_LOCAL_WRITE;
	if (rights.read)
		access |= IBV_ACCESS_REMOTE_READ;
	if (rights.write)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (rights.atomic)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	return access;
}

namespace
{

std::uint32_t modifier_flags(unsigned flags)
{
	static constexpr std::pair<unsigned, std::uint32_t> names[] = {
		{reference::indirect, PRISMDV_WR_INDIRECT},
		{reference::data_indirect, PRISMDV_WR_DATA_INDIRECT},
		{reference::bounded, PRISMDV_WR_BOUNDED},
		{reference::conditional, PRISMDV_WR_CONDITIONAL},
		{reference::redirect, PRISMDV_WR_REDIRECT},
	};
	std::uint32_t result = 0;
	for (const auto &[modifier, flag] : names)
		if (flags & modifier)
			result |= flag;
	return result;
}

void to_standard(ibv_send_wr &wr, const Request &request, std::uint32_t rkey)
{
	static constexpr ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD};
	wr.opcode = opcodes[static_cast<int>(request.op) - static_cast<int>(Op::plain_read)];
	if (request.op == Op::plain_read || request.op == Op::plain_write)
		wr.wr.rdma = {request.va, rkey};
	else
		wr.wr.atomic = {request.va, get_unaligned_le64(request.compare.data()),
			get_unaligned_le64(request.swap.data()), rkey};
}

} // namespace

void to_work_request(prismdv_send_wr &wr, const Request &request, const WireNames &names, const ibv_sge &result)
{
	if (request.op >= Op::plain_read) {
		to_standard(wr.wr, request, names.rkey);
		return;
	}
	const unsigned opcode = PRISMDV_WR_READ + static_cast<unsigned>(request.op);
	std::memcpy(&wr.wr.opcode, &opcode, sizeof(opcode)); /* possibly not in its enumeration */
	wr.wr.wr.rdma = {request.va, names.rkey};
	wr.flags = modifier_flags(request.flags);
	const bool moves = (request.op == Op::read && request.has(reference::redirect)) ||
			   (request.op == Op::write && request.has(reference::data_indirect));
	wr.aux = {request.aux_va, names.aux_rkey, moves ? request.length : 0};
	if (request.op == Op::cas)
		wr.cas = {request.mode, request.compare_data ? std::uint8_t{PRISMDV_CAS_COMPARE_DATA} : std::uint8_t{},
			request.size, 0, request.compare.data(), request.swap.data(), request.compare_mask.data(),
			request.swap_mask.data()};
	else if (request.op == Op::allocate)
		wr.allocate = {names.free_list, request.tag, result};
}

DeviceWorld::DeviceWorld(const Device &device)
	: device_(device), foreign_(made(ibv_alloc_pd(device.context()), "ibv_alloc_pd"))
{
}

void DeviceWorld::build(reference::World &world)
{
	for (const reference::Arena &arena : world.arenas) {
		arenas_.push_back({arena.va, Pages(arena.bytes.size(), arena.va % 4096)});
		std::copy(arena.bytes.begin(), arena.bytes.end(), arenas_.back().pages.data());
	}
	regions_ = world.regions;
	mrs_.resize(regions_.size());
	keys_.resize(regions_.size());
	for (std::size_t i = 0; i < regions_.size(); i++)
		add_region(i);
	for (reference::FreeList &list : world.lists)
		lists_.push_back(create_srq(device_, list.domain == world.domain ? device_.pd() : foreign_.get(),
			list.capacity, list.is_free_list, &list.capacity));
}

void DeviceWorld::add_region(std::size_t index)
{
	const Region &region = regions_[index];
	const Memory &arena = arenas_[region.arena];
	ibv_pd *pd = region.domain == 1 ? device_.pd() : foreign_.get();
	mrs_[index].reset(made(ibv_reg_mr_iova2(pd, arena.pages.data() + (region.va - arena.va), region.length,
				       region.va, access_of(region.rights)),
		"ibv_reg_mr_iova2"));
	keys_[index] = mrs_[index]->lkey;
}

void DeviceWorld::poke(std::uint64_t va, const Bytes &bytes) const
{
	for (const Memory &arena : arenas_)
		if (va - arena.va < arena.pages.size())
			std::copy(bytes.begin(), bytes.end(), arena.pages.data() + (va - arena.va));
}

void DeviceWorld::set_live(int region, bool live)
{
	if (live)
		add_region(static_cast<std::size_t>(region));
	else
		mrs_[static_cast<std::size_t>(region)].reset();
}

std::uint32_t DeviceWorld::key(int region) const
{
	return region == reference::no_region ? bad_key : keys_[static_cast<std::size_t>(region)];
}

std::uint32_t DeviceWorld::number(int list) const
{
	return list == reference::no_list ? bad_list : number_of(lists_[static_cast<std::size_t>(list)].get());
}

bool DeviceWorld::post(int list, const reference::Entry &entry) const
{
	return !post_buffer(
		lists_[static_cast<std::size_t>(list)].get(), entry.id, {entry.va, entry.length, key(entry.region)});
}

ListState DeviceWorld::list_state(int list) const
{
	prismdv_free_list_attr attr{};
	check(prismdv_query_free_list(lists_[static_cast<std::size_t>(list)].get(), &attr), "prismdv_query_free_list");
	return {attr.posted, attr.popped, attr.rejected, attr.reclaimed, attr.available};
}

std::vector<reference::Rejected> DeviceWorld::take_rejected(int list) const
{
	std::array<prismdv_rejected_entry, 64> entries;
	const ssize_t count =
		prismdv_poll_rejected(lists_[static_cast<std::size_t>(list)].get(), entries.data(), entries.size());
	std::vector<reference::Rejected> reports;
	for (ssize_t i = 0; i < count; i++) {
		const prismdv_rejected_entry &entry = entries[static_cast<std::size_t>(i)];
		reports.push_back({entry.wr_id, static_cast<int>(entry.error)});
	}
	return reports;
}

FaultCounters::FaultCounters(const Device &device) : device_(device), before_(read_faults(device)) {}

/** The kernel may return counters of a jiffy ago, and a jiffy of a virtual machine can be long. */
Reason FaultCounters::since(std::string &complaint)
{
	std::vector<std::uint64_t> now;
	wait_until([&] { return (now = read_faults(device_)) != before_; }, std::chrono::seconds(1));
	Reason found = Reason::none;
	for (std::size_t i = 0; i < now.size(); i++) {
		const std::uint64_t grown = now[i] - before_[i];
		if (grown > 1 || (grown && found != Reason::none))
			complaint = "one fault, counted more than once";
		if (grown)
			found = counters_of_faults[i].second;
	}
	before_ = std::move(now);
	return found;
}

} // namespace prism::conformance
