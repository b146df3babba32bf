/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the launcher needs of the userspace device (launcher/soft_device.h). */
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <endian.h>

#include "../../launcher/soft_device.h"
#include "device.hpp"
#include "objects.hpp"

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
	if (index >= 0 && query_gid(context, port, static_cast<std::uint32_t>(index), *gid))
		return 0;
	errno = EINVAL;
	return -1;
}

int prismdv_soft_query_gid_entry(ibv_context *context, std::uint32_t port, std::uint32_t index, ibv_gid_entry *entry)
{
	if (port != 1)
		return EINVAL;
	return query_gid_entry(context, port, index, *entry) ? 0 : EINVAL;
}

ssize_t prismdv_soft_query_gid_table(ibv_context *context, ibv_gid_entry *entries, std::size_t max)
{
	std::size_t n = 0;
	for (ibv_gid_entry entry; query_gid_entry(context, 1, static_cast<std::uint32_t>(n), entry); n++) {
		if (n == max)
			return -EINVAL;
		entries[n] = entry;
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
	return to_context(context).create_channel(context);
}

int prismdv_soft_destroy_comp_channel(ibv_comp_channel *channel)
{
	if (channel->refcnt)
		return EBUSY;
	to_context(channel->context).destroy_channel(to_object<CompletionChannel>(channel));
	::close(channel->fd);
	std::free(channel);
	return 0;
}
