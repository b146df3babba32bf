/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/process_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <optional>

#include "base/birth.hpp"

namespace prism::gam
{

namespace
{

/* The files that this process has locked. Record locks do not tell its own objects from each other. */
struct Locked {
	std::mutex lock;
	std::map<ProcessLock::File, apps::Birth> files;
};

Locked &locked()
{
	static auto &made = *new Locked; /* never freed: other statics may hold locks */
	return made;
}

std::optional<ProcessLock::File> file_of(const std::filesystem::path &path)
{
	struct stat found = {};
	if (::stat(path.c_str(), &found))
		return std::nullopt;
	return ProcessLock::File(found.st_dev, found.st_ino);
}

/* Returns true if this process has locked @p file. What its parent has locked does not count. */
bool has_locked(const std::optional<ProcessLock::File> &file)
{
	const auto found = file ? locked().files.find(*file) : locked().files.end();
	return found != locked().files.end() && !found->second.is_inherited();
}

} // namespace

Result<ProcessLock> ProcessLock::take(const std::filesystem::path &path)
{
	const std::lock_guard guard(locked().lock);
	if (has_locked(file_of(path))) /* to open and close it would end the lock */
		return make_error(EBUSY, path.string());
	Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	struct flock whole = {};
	whole.l_type = F_WRLCK;
	whole.l_whence = SEEK_SET;
	if (fd.get() < 0)
		return make_error(errno, path.string());
	if (::fcntl(fd.get(), F_SETLK, &whole))
		return make_error(errno == EACCES || errno == EAGAIN ? EBUSY : errno, path.string());
	const std::optional<File> file = file_of(path);
	if (!file)
		return make_error(errno, path.string());
	locked().files.insert_or_assign(*file, apps::Birth());
	return ProcessLock(std::move(fd), *file);
}

ProcessLock::~ProcessLock()
{
	if (fd_.get() < 0)
		return;
	const std::lock_guard guard(locked().lock);
	fd_.close();
	locked().files.erase(file_);
}

} // namespace prism::gam
