/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

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

} // namespace gam_test
