/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/connection.hpp>

#include "bytes.hpp"

#include <algorithm>
#include <cerrno>

namespace prism
{

namespace
{

constexpr std::uint32_t record_magic = 0x50525843; /* "PRXC" */
constexpr std::uint32_t max_24_bits = 0xffffff;

Error malformed(const std::string &what)
{
	return make_error(EBADMSG, "the peer's connection record " + what,
		"check that the port belongs to a server of the same application");
}

bool wraps(const RemoteRegion &region) noexcept
{
	return region.address + region.length < region.address;
}

void put_endpoint(ByteWriter &out, const Endpoint &endpoint) noexcept
{
	out.put_bytes(endpoint.capability.bytes, sizeof(endpoint.capability.bytes));
	out.put_bytes(endpoint.gid.raw, sizeof(endpoint.gid.raw));
	out.put(endpoint.qp_num);
	out.put(endpoint.psn);
	out.put(static_cast<std::uint8_t>(endpoint.mtu));
	out.put(endpoint.max_rd_atomic);
	out.put(endpoint.max_dest_rd_atomic);
	out.skip(1);
}

Endpoint get_endpoint(ByteReader &in) noexcept
{
	Endpoint endpoint;
	in.get_bytes(endpoint.capability.bytes, sizeof(endpoint.capability.bytes));
	in.get_bytes(endpoint.gid.raw, sizeof(endpoint.gid.raw));
	endpoint.qp_num = in.get<std::uint32_t>();
	endpoint.psn = in.get<std::uint32_t>();
	const auto mtu = in.get<std::uint8_t>();
	endpoint.mtu = mtu <= IBV_MTU_4096 ? static_cast<ibv_mtu>(mtu) : ibv_mtu{};
	endpoint.max_rd_atomic = in.get<std::uint8_t>();
	endpoint.max_dest_rd_atomic = in.get<std::uint8_t>();
	in.skip(1);
	return endpoint;
}

bool usable(const ibv_gid &gid) noexcept
{
	const bool multicast = gid.raw[0] == 0xff;
	return !multicast && std::any_of(std::begin(gid.raw), std::end(gid.raw), [](std::uint8_t b) { return b != 0; });
}

const char *fault_of(const Endpoint &endpoint) noexcept
{
	if (endpoint.qp_num == 0 || endpoint.qp_num > max_24_bits)
		return "has an impossible queue pair number";
	if (endpoint.psn > max_24_bits)
		return "has an impossible PSN";
	if (endpoint.mtu < IBV_MTU_256 || endpoint.mtu > IBV_MTU_4096)
		return "has an impossible MTU";
	if (endpoint.max_rd_atomic == 0 || endpoint.max_dest_rd_atomic == 0)
		return "has a depth of 0";
	if (!usable(endpoint.gid))
		return "has an unusable GID";
	return nullptr;
}

void put_free_list(ByteWriter &out, const FreeListInfo &list) noexcept
{
	out.put(list.number);
	out.put(list.buffer_size);
	out.put(list.buffers.address);
	out.put(list.buffers.length);
	out.put(list.buffers.rkey);
	out.skip(4);
}

FreeListInfo get_free_list(ByteReader &in) noexcept
{
	FreeListInfo list;
	list.number = in.get<std::uint32_t>();
	list.buffer_size = in.get<std::uint32_t>();
	list.buffers.address = in.get<std::uint64_t>();
	list.buffers.length = in.get<std::uint64_t>();
	list.buffers.rkey = in.get<std::uint32_t>();
	in.skip(4);
	return list;
}

bool plausible(const FreeListInfo &list) noexcept
{
	return list.number <= max_24_bits && list.buffer_size != 0 && list.buffer_size <= list.buffers.length &&
	       !wraps(list.buffers);
}

void put_region(ByteWriter &out, const RegionInfo &info) noexcept
{
	out.put(info.id);
	out.put(info.region.rkey);
	out.put(info.region.address);
	out.put(info.region.length);
}

RegionInfo get_region(ByteReader &in) noexcept
{
	RegionInfo info;
	info.id = in.get<std::uint32_t>();
	info.region.rkey = in.get<std::uint32_t>();
	info.region.address = in.get<std::uint64_t>();
	info.region.length = in.get<std::uint64_t>();
	return info;
}

std::size_t size_of(std::size_t free_lists, std::size_t regions, std::size_t private_data) noexcept
{
	return ConnectionRecord::header_size + free_lists * ConnectionRecord::free_list_size +
	       regions * ConnectionRecord::region_size + private_data;
}

} // namespace

const RegionInfo *ConnectionRecord::region(std::uint32_t id) const noexcept
{
	const auto found =
		std::find_if(regions.begin(), regions.end(), [id](const RegionInfo &r) { return r.id == id; });
	return found == regions.end() ? nullptr : &*found;
}

Result<std::vector<std::byte>> ConnectionRecord::serialize() const
{
	if (free_lists.size() > max_free_lists || regions.size() > max_regions ||
		private_data.size() > max_private_data)
		return make_error(E2BIG, "the connection record does not fit",
			"at most 64 free lists, 64 regions and 16384 bytes of private data");
	std::vector<std::byte> bytes(size_of(free_lists.size(), regions.size(), private_data.size()));
	ByteWriter out(bytes.data());
	out.put(record_magic);
	out.put(version);
	out.skip(2);
	out.put(static_cast<std::uint32_t>(bytes.size()));
	put_endpoint(out, endpoint);
	out.put(static_cast<std::uint16_t>(free_lists.size()));
	out.put(static_cast<std::uint16_t>(regions.size()));
	out.put(static_cast<std::uint32_t>(private_data.size()));
	out.skip(8);
	for (const FreeListInfo &list : free_lists)
		put_free_list(out, list);
	for (const RegionInfo &info : regions)
		put_region(out, info);
	out.put_bytes(private_data.data(), private_data.size());
	return bytes;
}

Result<std::size_t> ConnectionRecord::announced_size(std::span<const std::byte> prefix)
{
	ByteReader in(prefix);
	const auto found_magic = in.get<std::uint32_t>();
	const auto found_version = in.get<std::uint16_t>();
	in.skip(2);
	const auto size = in.get<std::uint32_t>();
	if (in.overrun() || found_magic != record_magic)
		return malformed("is none");
	if (found_version != version)
		return make_error(EPROTONOSUPPORT,
			"the peer's connection record has version " + std::to_string(found_version) +
				", this side has " + std::to_string(version),
			"upgrade the older side");
	if (size < header_size || size > max_size)
		return malformed("announces an impossible size");
	return static_cast<std::size_t>(size);
}

Result<ConnectionRecord> ConnectionRecord::parse(std::span<const std::byte> bytes)
{
	Result<std::size_t> size = announced_size(bytes);
	if (!size)
		return size.error();
	if (*size != bytes.size())
		return malformed("is not as long as it says");
	ByteReader in(bytes);
	in.skip(prefix_size);
	ConnectionRecord record;
	record.endpoint = get_endpoint(in);
	const auto list_count = in.get<std::uint16_t>();
	const auto region_count = in.get<std::uint16_t>();
	const auto private_size = in.get<std::uint32_t>();
	in.skip(8);
	if (list_count > max_free_lists || region_count > max_regions || private_size > max_private_data)
		return malformed("exceeds the limits");
	if (size_of(list_count, region_count, private_size) != bytes.size())
		return malformed("is not as long as its parts");
	if (const char *fault = fault_of(record.endpoint))
		return malformed(fault);

	for (std::size_t i = 0; i < list_count; i++) {
		record.free_lists.push_back(get_free_list(in));
		if (!plausible(record.free_lists.back()))
			return malformed("describes an impossible free list");
	}
	for (std::size_t i = 0; i < region_count; i++) {
		record.regions.push_back(get_region(in));
		if (wraps(record.regions.back().region))
			return malformed("describes an impossible region");
	}
	record.private_data.resize(private_size);
	in.get_bytes(record.private_data.data(), private_size);
	return record;
}

Result<ConnectionRecord> establish(
	Rendezvous &rendezvous, QueuePair &qp, ConnectionRecord mine, std::chrono::milliseconds timeout)
{
	const Deadline deadline = std::chrono::steady_clock::now() + timeout;
	mine.endpoint = qp.endpoint();
	Result<ConnectionRecord> peer = rendezvous.swap(mine, deadline);
	if (!peer)
		return peer;
	if (Result<void> connected = qp.connect(peer->endpoint); !connected)
		return connected.error();
	if (Result<void> met = rendezvous.barrier(deadline); !met)
		return met.error();
	return peer;
}

} // namespace prism
