/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/process_lock.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <set>

namespace prism::gam
{

namespace
{

/* Files that this process has locked. */
struct Held {
	std::mutex lock;
	std::set<int> files;
};

Held &held()
{
	static Held &made = *new Held; /* never freed: processes fork until they end */
	return made;
}

/* Closes what a child has inherited: a lock is of the open file, and ends when nobody has it open. */
void leave_to_parent()
{
	for (const int fd : held().files)
		(void)::close(fd);
	held().files.clear();
	held().lock.unlock();
}

/* Registers this when the program is loaded: a fork that is under way would miss it later. */
__attribute__((constructor)) void look_at_forks()
{
	pthread_atfork([] { held().lock.lock(); }, [] { held().lock.unlock(); }, leave_to_parent);
}

} // namespace

Result<ProcessLock> ProcessLock::take(const std::filesystem::path &path)
{
	const std::lock_guard guard(held().lock); /* no child is made meanwhile */
	const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return make_error(errno, path.string());
	if (::flock(fd, LOCK_EX | LOCK_NB)) {
		const int error = errno;
		(void)::close(fd);
		return make_error(error == EWOULDBLOCK ? EBUSY : error, path.string());
	}
	held().files.insert(fd);
	return ProcessLock(fd);
}

ProcessLock::~ProcessLock()
{
	if (fd_ < 0 || birth_.is_inherited())
		return;
	const std::lock_guard guard(held().lock);
	held().files.erase(fd_);
	(void)::close(fd_);
}

} // namespace prism::gam
