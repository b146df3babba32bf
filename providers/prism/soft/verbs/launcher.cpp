/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Functions of the userspace device for the launcher (soft_device.h). */
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <endian.h>
#include <iterator>
#include <mutex>

#include "../net/kept_descriptors.hpp"
#include "../protocol/user_memory.hpp"
#include "base/c_boundary.hpp"
#include "device.hpp"
#include "gid.hpp"
#include "objects.hpp"
#include "soft_device.h"

using namespace prism;
using namespace prism::soft;

bool prismdv_is_soft_device(const ibv_device *device)
{
	return is_soft(device);
}

__be64 prismdv_soft_guid(const ibv_device *device)
{
	return reinterpret_cast<const Device *>(device)->guid;
}

int prismdv_soft_query_gid(ibv_context *context, std::uint8_t port, int index, ibv_gid *gid)
{
	const auto at = static_cast<std::uint32_t>(index);
	if (port == 1 && at < gid_table_size(context)) {
		if (!query_gid(context, port, at, *gid))
			*gid = {};
		return 0;
	}
	errno = EINVAL;
	return -1;
}

int prismdv_soft_query_gid_entry(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid_entry *entry)
{
	if (port != 1 || index >= gid_table_size(context))
		return EINVAL;
	return query_gid_entry(context, port, index, *entry) ? 0 : ENODATA;
}

ssize_t prismdv_soft_query_gid_table(ibv_context *context, ibv_gid_entry *entries, std::size_t max)
{
	std::size_t n = 0;
	const std::uint32_t size = gid_table_size(context);
	for (std::uint32_t index = 0; index < size; index++) {
		ibv_gid_entry entry;
		if (!query_gid_entry(context, 1, index, entry))
			continue;
		if (n == max)
			return -EINVAL;
		entries[n++] = entry;
	}
	return static_cast<ssize_t>(n);
}

int prismdv_soft_query_pkey(ibv_context *, std::uint8_t port, int index, __be16 *pkey)
{
	if (port != 1 || index != 0) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(PRISM_DEFAULT_PKEY);
	return 0;
}

ibv_comp_channel *prismdv_soft_create_comp_channel(ibv_context *context)
{
	return guarded([&] { return to_context(context).create_channel(context); });
}

int prismdv_soft_destroy_comp_channel(ibv_comp_channel *channel)
{
	return guarded([channel] {
		if (channel->refcnt)
			return EBUSY;
		to_context(channel->context).destroy_channel(to_object<CompletionChannel>(channel));
		::close(channel->fd);
		std::free(channel);
		return 0;
	});
}

bool prismdv_soft_sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	return stand_in_front(signal, action, before);
}

bool prismdv_soft_keeps_descriptor(int fd)
{
	return kept_descriptors.contains(fd);
}

ssize_t prismdv_soft_gid_index(
	const ibv_device *device, unsigned mtu, const ibv_gid *addresses, std::size_t count, const ibv_gid *wanted)
{
	const auto look_up = [&]() -> ssize_t {
		InterfaceInfo current;
		current.name = reinterpret_cast<const Device *>(device)->interface;
		current.index = ::if_nametoindex(current.name.c_str());
		current.mtu = mtu;
		std::transform(addresses, addresses + count, std::back_inserter(current.addresses), from_gid);
		current.is_loopback = std::ranges::any_of(current.addresses, is_ipv4_loopback);
		const std::optional<unsigned> index =
			Context::renew_gids(current, wanted ? from_gid(*wanted) : Address{});
		return index ? static_cast<ssize_t>(*index) : -ENOENT;
	};
	return guarded(look_up);
}

void prismdv_soft_gsi_handle(prism_soft_gsi_handler handler)
{
	Context::management_handler = handler;
}

void prismdv_soft_gsi_note_drop(ibv_context *handle)
{
	Lane &lane = to_context(handle).first();
	const std::lock_guard guard(lane.lock);
	lane.engine().counters.rx_management_dropped++;
}

int prismdv_soft_gsi_send(ibv_context *handle, unsigned sgid_index, const ibv_gid *to, const void *mad)
{
	static_assert(PRISM_SOFT_MAD_SIZE == mad_size);
	Context &context = to_context(handle);
	ibv_ah_attr path{};
	path.is_global = 1;
	path.grh.dgid = *to;
	path.grh.sgid_index = static_cast<std::uint8_t>(sgid_index);
	Address peer;
	unsigned source;
	if (sgid_index > UINT8_MAX || !resolve_path(path, context.gids(), peer, source))
		return EINVAL;
	return guarded([&] {
		Lane &lane = context.first();
		const std::lock_guard guard(lane.lock);
		lane.engine().send_management(source, peer,
			std::span<const std::uint8_t, mad_size>(static_cast<const std::uint8_t *>(mad), mad_size));
		lane.transmit();
		return 0;
	});
}
