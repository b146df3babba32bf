/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Who sent a datagram to an AF_UNIX socket that has SO_PASSCRED. */
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>

namespace prism::soft
{

/** What the kernel says of the sender of @p message, as received. */
inline std::optional<ucred> credentials_of(msghdr &message)
{
	for (cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
			continue;
		ucred sender;
		std::memcpy(&sender, CMSG_DATA(part), sizeof(sender));
		return sender;
	}
	return {};
}

/**
 * Whether it is a process of our own user, or root's: whoever opened a device as root, and is somebody else since,
 * shares addresses with root's processes still.
 */
inline bool sent_by_same_user(msghdr &message)
{
	const std::optional<ucred> sender = credentials_of(message);
	return sender && (sender->uid == ::getuid() || sender->uid == 0);
}

} // namespace prism::soft
