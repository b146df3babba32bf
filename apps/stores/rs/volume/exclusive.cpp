/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "exclusive.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "service/etcd.hpp"

namespace prism::rs
{

Result<ExclusiveLock> ExclusiveLock::take(const std::string &location)
{
	if (apps::EtcdKey::is(location))
		return make_error(EOPNOTSUPP,
			"exclusive attachment is by a lock beside the configuration, which is in etcd",
			"keep the configuration in a file that all who attach the volume share");
	/* All links to a configuration must lead to the same lock. */
	std::error_code error;
	const std::filesystem::path configuration = std::filesystem::canonical(location, error);
	if (error)
		return make_error(error.value(), "cannot find the configuration " + location);
	const std::string path = configuration.string() + ".lock";
	ExclusiveLock lock(Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)));
	if (lock.fd_.get() < 0)
		return make_error(errno, "cannot open the lock " + path);
	if (!::flock(lock.fd_.get(), LOCK_EX | LOCK_NB)) {
		if (Result<void> begun = lock.begin_generation(path); !begun)
			return begun.error();
		return lock;
	}
	if (errno == EWOULDBLOCK)
		return make_error(EBUSY, "another process has the volume exclusively: it holds " + path,
			"end that one first (lslocks finds it)");
	return make_error(errno, "cannot lock " + path);
}

/**
 * Writes the generation to the file, as text, so that people can read it. It must be there before anything is written
 * under it.
 */
Result<void> ExclusiveLock::begin_generation(const std::string &path)
{
	constexpr std::uint32_t most = (1 << 24) - 1;
	std::array<char, 16> text{};
	const ssize_t got = ::pread(fd_.get(), text.data(), text.size() - 1, 0);
	if (got < 0)
		return make_error(errno, "cannot read the lock " + path);
	std::uint32_t before = 0;
	const char *const end = text.data() + got;
	if (got > 0 && std::from_chars(text.data(), end, before).ec != std::errc{})
		return make_error(EINVAL, "the lock " + path + " has no number in it",
			"write one into it that is larger than all of its owners had");
	if (before >= most)
		return make_error(EOVERFLOW, "the lock " + path + " has had too many owners", "make a new volume");
	generation_ = before + 1;
	const std::string now = std::to_string(generation_) + "\n";
	if (::pwrite(fd_.get(), now.data(), now.size(), 0) != static_cast<ssize_t>(now.size()) || ::fsync(fd_.get()))
		return make_error(errno ? errno : EIO, "cannot write the lock " + path);
	return {};
}

} // namespace prism::rs
