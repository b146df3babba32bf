/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stat/proc.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

namespace prism::stat
{

namespace
{

using Folder = std::unique_ptr<DIR, decltype([](DIR *folder) { ::closedir(folder); })>;

std::optional<int> whole_number(std::string_view text)
{
	int number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (error != std::errc() || end != text.data() + text.size() || number < 0)
		return std::nullopt;
	return number;
}

/* Returns the fields of /proc/PID/stat after the name, which may contain anything: the first is the state, field 3. */
std::vector<std::string> stat_fields(pid_t pid)
{
	std::ifstream file(fmt::format("/proc/{}/stat", pid));
	if (!file)
		throw_if_short("/proc");
	std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
	const std::size_t name_end = text.rfind(')');
	if (name_end == std::string::npos)
		return {};
	std::istringstream rest(text.substr(name_end + 1));
	return {std::istream_iterator<std::string>(rest), std::istream_iterator<std::string>()};
}

std::uint64_t stat_field(pid_t pid, std::size_t number, std::uint64_t otherwise)
{
	const std::vector<std::string> fields = stat_fields(pid);
	std::uint64_t value = otherwise;
	if (number - 3 < fields.size())
		std::istringstream(fields[number - 3]) >> value;
	return value;
}

void add_drops(const std::string &path, std::map<std::uint64_t, std::uint64_t> &drops)
{
	constexpr std::size_t inode = 9, dropped = 12;
	std::ifstream file(path);
	if (!file)
		throw_if_short(path);
	std::string line;
	std::getline(file, line); /* the titles */
	while (std::getline(file, line)) {
		std::istringstream words(line);
		const std::vector<std::string> fields{
			std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
		if (fields.size() <= dropped)
			continue;
		std::uint64_t socket = 0, number = 0;
		if (std::istringstream(fields[inode]) >> socket && std::istringstream(fields[dropped]) >> number)
			drops[socket] = number;
	}
}

} // namespace

void throw_if_short(const std::string &path)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		throw std::system_error(errno, std::generic_category(), path);
}

std::vector<pid_t> processes()
{
	std::vector<pid_t> all;
	const Folder folder(::opendir("/proc"));
	if (!folder)
		throw std::system_error(errno, std::generic_category(), "/proc");
	while (const dirent *entry = ::readdir(folder.get()))
		if (const auto pid = whole_number(entry->d_name); pid && *pid > 0)
			all.push_back(*pid);
	std::ranges::sort(all);
	return all;
}

bool is_kernel_thread(pid_t pid)
{
	constexpr std::uint64_t kthread = 0x00200000; /* PF_KTHREAD of the kernel */
	return stat_field(pid, 9, 0) & kthread;
}

std::uint64_t start_time(pid_t pid)
{
	return stat_field(pid, 22, std::numeric_limits<std::uint64_t>::max());
}

std::string printable(std::string text)
{
	for (char &one : text)
		if (one < 0x20 || one > 0x7e)
			one = '?';
	return text;
}

std::string command_name(pid_t pid)
{
	std::ifstream file(fmt::format("/proc/{}/comm", pid));
	if (!file)
		throw_if_short("/proc");
	std::string name((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
	if (!name.empty() && name.back() == '\n')
		name.pop_back();
	return name.empty() ? "?" : printable(name);
}

std::optional<std::vector<Descriptor>> descriptors(pid_t pid)
{
	const std::string path = fmt::format("/proc/{}/fd", pid);
	const Folder folder(::opendir(path.c_str()));
	if (!folder) {
		throw_if_short(path);
		return std::nullopt;
	}
	std::vector<Descriptor> all;
	errno = 0;
	while (const dirent *entry = ::readdir(folder.get())) {
		const auto number = whole_number(entry->d_name);
		std::array<char, 512> target;
		struct stat link;
		const int at = ::dirfd(folder.get());
		const ssize_t size = number ? ::readlinkat(at, entry->d_name, target.data(), target.size()) : -1;
		if (size < 0 || ::fstatat(at, entry->d_name, &link, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		all.push_back({*number, std::string(target.data(), static_cast<std::size_t>(size)),
			(link.st_mode & S_IWUSR) != 0});
	}
	return all;
}

std::uint64_t inode_of(pid_t pid, int descriptor)
{
	struct stat status;
	const std::string link = fmt::format("/proc/{}/fd/{}", pid, descriptor);
	return ::stat(link.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::map<std::uint64_t, std::uint64_t> socket_drops(pid_t pid)
{
	std::map<std::uint64_t, std::uint64_t> drops;
	for (const char *table : {"udp", "udp6"})
		add_drops(fmt::format("/proc/{}/net/{}", pid, table), drops);
	return drops;
}

} // namespace prism::stat
