/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace gam_test
{

/** Temporary folder, in memory if possible; removed with this object. */
class Folder
{
public:
	Folder()
	{
		std::string name =
			std::filesystem::is_directory("/dev/shm") ? "/dev/shm/gam_XXXXXX" : "/tmp/gam_XXXXXX";
		path_ = ::mkdtemp(name.data());
	}
	~Folder() { std::filesystem::remove_all(path_); }
	Folder(const Folder &) = delete;
	Folder &operator=(const Folder &) = delete;
	[[nodiscard]] const std::filesystem::path &path() const { return path_; }

private:
	std::filesystem::path path_;
};

/** Lets no file of this process grow while it is there. */
class NoRoom
{
public:
	NoRoom() : handler_(std::signal(SIGXFSZ, SIG_IGN))
	{
		getrlimit(RLIMIT_FSIZE, &before_);
		const rlimit none{1, before_.rlim_max};
		setrlimit(RLIMIT_FSIZE, &none);
	}
	~NoRoom()
	{
		setrlimit(RLIMIT_FSIZE, &before_);
		std::signal(SIGXFSZ, handler_);
	}
	NoRoom(const NoRoom &) = delete;
	NoRoom &operator=(const NoRoom &) = delete;

private:
	sighandler_t handler_;
	rlimit before_{};
};

} // namespace gam_test
