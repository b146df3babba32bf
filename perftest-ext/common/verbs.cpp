/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "verbs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/mman.h>

#include "common/error.hpp"

namespace prism::perftest
{

namespace
{

struct DeviceListFree {
	void operator()(ibv_device **list) const { prismdv_free_device_list(list); }
};

class DeviceList
{
public:
	DeviceList() : list_(prismdv_get_device_list(&count_))
	{
		if (!list_)
			throw system_error("cannot list the devices", errno);
	}

	[[nodiscard]] ibv_device *find(const std::string &name) const
	{
		for (int i = 0; i < count_; i++)
			if (name == ibv_get_device_name(list_[i]))
				return list_[i];
		return nullptr;
	}

	[[nodiscard]] ibv_device *first_with_prism() const
	{
		for (int i = 0; i < count_; i++)
			if (prismdv_is_supported(list_[i]))
				return list_[i];
		return nullptr;
	}

	[[nodiscard]] std::string names() const
	{
		std::string text;
		for (int i = 0; i < count_; i++)
			text += fmt::format("{}{}", i ? ", " : "", ibv_get_device_name(list_[i]));
		return text.empty() ? "none" : text;
	}

private:
	int count_ = 0;
	std::unique_ptr<ibv_device *[], DeviceListFree> list_;
};

/* Converts an IP address to a GID: IPv4 as ::ffff:a.b.c.d. */
Gid to_gid(const sockaddr *address)
{
	Gid gid{};
	if (address->sa_family == AF_INET6) {
		std::memcpy(gid.data(), &reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr, gid.size());
	} else if (address->sa_family == AF_INET) {
		gid[10] = gid[11] = 0xff;
		std::memcpy(gid.data() + 12, &reinterpret_cast<const sockaddr_in *>(address)->sin_addr, 4);
	}
	return gid;
}

Gid to_gid(const sockaddr_storage &address)
{
	return to_gid(reinterpret_cast<const sockaddr *>(&address));
}

bool is_ipv4(const Gid &gid)
{
	static constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return std::equal(prefix.begin(), prefix.end(), gid.begin());
}

bool is_loopback(const Gid &gid)
{
	return is_ipv4(gid) && gid[12] == 127;
}

/* Returns the interface that has this address; empty if none has. */
std::string interface_of(const Gid &address)
{
	ifaddrs *head = nullptr;
	if (getifaddrs(&head))
		return {};
	const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(head, freeifaddrs);
	for (const ifaddrs *entry = list.get(); entry; entry = entry->ifa_next) {
		if (!entry->ifa_addr)
			continue;
		const bool on_loopback = (entry->ifa_flags & IFF_LOOPBACK) && is_loopback(address);
		if (on_loopback || to_gid(entry->ifa_addr) == address)
			return entry->ifa_name;
	}
	return {};
}

ibv_device *choose_device(const DeviceList &devices, const std::string &name, const sockaddr_storage &local)
{
	if (!name.empty()) {
		ibv_device *device = devices.find(name);
		if (!device)
			throw Error(
				fmt::format("no device {}; choose one of these with -d: {}", name, devices.names()));
		if (!prismdv_is_supported(device))
			throw Error(
				fmt::format("device {} does not speak PRISM; leave -d out to get one that does", name));
		return device;
	}
	const std::string interface = interface_of(to_gid(local));
	ibv_device *device = interface.empty() ? nullptr : devices.find("prism_" + interface);
	if (!device)
		device = devices.first_with_prism();
	if (!device)
		throw Error(
			std::getenv("PRISM_DEVICES")
				? "no device speaks PRISM; none of the interfaces in PRISM_DEVICES is up and has an "
				  "address"
				: "no device speaks PRISM; no network interface is up and has an address: 'ip link "
				  "set lo up' makes prism_lo");
	return device;
}

uint32_t to_prismdv(Progress progress)
{
	switch (progress) {
	case Progress::in_line:
		return PRISMDV_PROGRESS_INLINE;
	case Progress::thread:
		return PRISMDV_PROGRESS_THREAD;
	default:
		return PRISMDV_PROGRESS_DEFAULT;
	}
}

std::optional<Gid> query_gid(ibv_context *context, std::uint8_t port, int index)
{
	ibv_gid raw{};
	if (prismdv_query_gid(context, port, index, &raw))
		return {};
	Gid gid{};
	std::memcpy(gid.data(), raw.raw, gid.size());
	return gid;
}

ibv_port_attr query_port(ibv_context *context, std::uint8_t port)
{
	ibv_port_attr attributes{};
	const int error = ibv_query_port(context, port, &attributes);
	if (error)
		throw system_error(fmt::format("cannot query port {}", port), error, "choose another port with -i");
	if (attributes.state != IBV_PORT_ACTIVE)
		throw Error(fmt::format("port {} of {} is not active; bring its interface up", port,
			ibv_get_device_name(context->device)));
	return attributes;
}

void modify(ibv_qp *qp, ibv_qp_attr &attributes, int mask, const char *state)
{
	const int error = ibv_modify_qp(qp, &attributes, mask);
	if (error)
		throw system_error(fmt::format("cannot move a queue pair to {}", state), error);
}

void ready_to_receive(ibv_qp *qp, const QueuePairAddress &peer, const Path &path)
{
	ibv_qp_attr attributes{};
	attributes.qp_state = IBV_QPS_RTR;
	attributes.path_mtu = encode_mtu(path.mtu);
	attributes.dest_qp_num = peer.number;
	attributes.rq_psn = peer.psn;
	attributes.max_dest_rd_atomic = path.responder_depth;
	attributes.min_rnr_timer = 12;
	attributes.ah_attr.is_global = 1;
	attributes.ah_attr.port_num = path.port;
	attributes.ah_attr.grh.hop_limit = 64;
	attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(path.gid_index);
	std::memcpy(attributes.ah_attr.grh.dgid.raw, path.peer_gid.data(), path.peer_gid.size());
	modify(qp, attributes,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		"RTR");
}

void ready_to_send(ibv_qp *qp, std::uint32_t psn, const Path &path)
{
	ibv_qp_attr attributes{};
	attributes.qp_state = IBV_QPS_RTS;
	attributes.sq_psn = psn;
	attributes.timeout = path.timeout;
	attributes.retry_cnt = 7;
	attributes.rnr_retry = 7;
	attributes.max_rd_atomic = path.initiator_depth;
	modify(qp, attributes,
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC,
		"RTS");
}

} // namespace

Arena::Arena(std::size_t bytes) : length_(bytes)
{
	void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped == MAP_FAILED)
		throw system_error(fmt::format("cannot allocate {} bytes", bytes), errno, "reduce -s, -t or -q");
	memory_ = static_cast<std::uint8_t *>(mapped);
}

Arena::~Arena()
{
	munmap(memory_, length_);
}

void require_device(const std::string &name)
{
	(void)choose_device(DeviceList(), name, {});
}

Context open_device(const std::string &name, const sockaddr_storage &local, Progress progress, Carrier carrier)
{
	const DeviceList devices;
	ibv_device *device = choose_device(devices, name, local);
	prismdv_context_attr attributes{};
	attributes.progress = to_prismdv(progress);
	attributes.path = static_cast<std::uint32_t>(carrier);
	Context context(prismdv_open_device(device, &attributes));
	if (!context)
		throw system_error(fmt::format("cannot open device {}", ibv_get_device_name(device)), errno,
			"UDP port 4791 may belong to another user or to other RoCE software");
	return context;
}

GidEntry choose_gid(ibv_context *context, std::uint8_t port, std::optional<int> index, const sockaddr_storage &local)
{
	const Gid wanted = to_gid(local);
	const int entries = query_port(context, port).gid_tbl_len;
	std::optional<GidEntry> first;
	for (int i = index.value_or(0); i < entries; i++) {
		const std::optional<Gid> gid = query_gid(context, port, i);
		if (gid && (index || *gid == wanted))
			return {i, *gid};
		if (index)
			break;
		if (gid && (!first || (is_ipv4(wanted) && is_ipv4(*gid) && !is_ipv4(first->gid))))
			first = GidEntry{i, *gid};
	}
	if (first)
		return *first;
	if (index)
		throw Error(fmt::format("no GID at index {}; leave -x out to get one that fits", *index));
	throw Error("the device has no GID; give its interface an IP address");
}

std::uint16_t port_mtu(ibv_context *context, std::uint8_t port, std::uint32_t wanted)
{
	const std::uint32_t active = 128U << query_port(context, port).active_mtu;
	if (wanted > active)
		throw Error(fmt::format("-m {}: the port's MTU is {}; choose at most that or raise the interface's MTU",
			wanted, active));
	return static_cast<std::uint16_t>(wanted ? wanted : active);
}

prismdv_device_attr query_prism_device(ibv_context *context)
{
	prismdv_device_attr attributes{};
	const int error = prismdv_query_device(context, &attributes);
	if (error)
		throw system_error("cannot query the device's PRISM attributes", error);
	return attributes;
}

MemoryRegion register_memory(ibv_pd *pd, const Arena &arena, int access)
{
	MemoryRegion region(ibv_reg_mr(pd, arena.data(), arena.size(), access));
	if (!region)
		throw system_error(fmt::format("cannot register {} bytes of memory", arena.size()), errno);
	return region;
}

ibv_mtu encode_mtu(std::uint16_t bytes)
{
	return static_cast<ibv_mtu>(std::bit_width(bytes) - std::bit_width(256U) + IBV_MTU_256);
}

void init_qp(ibv_qp *qp, std::uint8_t port)
{
	ibv_qp_attr attributes{};
	attributes.qp_state = IBV_QPS_INIT;
	attributes.port_num = port;
	attributes.qp_access_flags =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	modify(qp, attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

void connect_qp(ibv_qp *qp, std::uint32_t own_psn, const QueuePairAddress &peer, const Path &path)
{
	ready_to_receive(qp, peer, path);
	ready_to_send(qp, own_psn, path);
}

void connect_qp(ibv_qp *qp, std::uint32_t own_psn, const QueuePairAddress &peer, const CapabilityBytes &capability,
	const Path &path)
{
	prismdv_capability record{};
	std::memcpy(record.bytes, capability.data(), capability.size());
	const int error = prismdv_set_peer_capability(qp, &record);
	if (error)
		throw system_error(
			"the peer's device cannot be used", error, "run the same version of libprism on both sides");
	connect_qp(qp, own_psn, peer, path);
}

} // namespace prism::perftest
