/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Credentials of the sender of a datagram to an AF_UNIX socket that has SO_PASSCRED. */
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>

namespace prism::soft
{

/** Returns the credentials that the kernel gives of the sender of @p message, as received. */
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
 * Returns true if the sender is a process of our own user, or of root: a process that opened a device as root and has
 * changed its user since still shares addresses with root's processes.
 */
inline bool sent_by_same_user(msghdr &message)
{
	const std::optional<ucred> sender = credentials_of(message);
	return sender && (sender->uid == ::getuid() || sender->uid == 0);
}

} // namespace prism::soft
