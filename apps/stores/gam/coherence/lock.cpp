/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/coherence/lock.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace prism::gam
{

bool BlockLock::holds(ThreadId thread) const noexcept
{
	return std::binary_search(holders_.begin(), holders_.end(), thread);
}

int BlockLock::refusal(const Access &access) const noexcept
{
	const bool held = holds(access.thread);
	switch (access.kind) {
	case AccessKind::read:
		return 0;
	case AccessKind::write:
	case AccessKind::atomic:
		return held && !writer_ ? EDEADLK : 0;
	case AccessKind::read_lock:
		if (held)
			return EDEADLK;
		return holders_.size() >= max_readers ? EOVERFLOW : 0;
	case AccessKind::write_lock:
	case AccessKind::write_back:
		return held ? EDEADLK : 0;
	case AccessKind::unlock:
		return held ? 0 : EPERM;
	}
	return EINVAL;
}

int BlockLock::take(const Access &access) noexcept
try {
	holders_.insert(std::upper_bound(holders_.begin(), holders_.end(), access.thread), access.thread);
	writer_ = access.kind == AccessKind::write_lock;
	return 0;
} catch (const std::bad_alloc &) {
	return ENOMEM;
}

void BlockLock::give_back(ThreadId thread) noexcept
{
	const auto place = std::lower_bound(holders_.begin(), holders_.end(), thread);
	if (place != holders_.end() && *place == thread)
		holders_.erase(place);
	if (holders_.empty())
		writer_ = false;
}

} // namespace prism::gam
