/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/api/errors.hpp"

#include <cerrno>
#include <cstring>

namespace prism::gam
{

const char *describe(int error) noexcept
{
	switch (error) {
	case EINVAL:
		return "an argument is wrong: the size, the alignment, or an address that is 0, leads beyond all "
		       "memory "
		       "or was not allocated";
	case EFAULT:
		return "nothing is allocated at the address";
	case EHOSTUNREACH:
		return "the node with that memory is gone, or never was";
	case EOWNERDEAD:
		return "the last value has gone with the node that had it";
	case EPROTO:
		return "another node has damaged what its home keeps of the block";
	case ENOBUFS:
		return "the cache has no room: locks hold it, or others keep using it";
	case ESTALE:
		return "the others take this node for dead: leave, and join again";
	case ENOMEM:
		return "the node has no free memory of that size in one piece, or only in blocks that are locked; "
		       "or it has none left to work with";
	case EBUSY:
		return "another session holds the lock";
	case EDEADLK:
		return "this session holds the lock already";
	case EPERM:
		return "this session does not hold the lock";
	case EOVERFLOW:
		return "too many sessions hold the lock for reading";
	case E2BIG:
		return "more than 65,536 blocks are locked at once";
	case EROFS:
		return "it is not logged: the log could not be written any more";
	case ENOSPC:
		return "it is not logged: the log has no room";
	default:
		break;
	}
	const char *const text = strerrordesc_np(error);
	return text ? text : "an unknown error";
}

} // namespace prism::gam
