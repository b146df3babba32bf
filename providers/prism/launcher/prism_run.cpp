// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// prism-run: runs an unmodified verbs program so that it sees the userspace PRISM devices.
#include "base/standard_streams.hpp"
#include "options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <getopt.h>
#include <ifaddrs.h>
#include <link.h>
#include <memory>
#include <net/if.h>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>

namespace fs = std::filesystem;

namespace
{

// Exit codes as those of env(1) and nohup(1).
constexpr int exit_launcher_failed = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

constexpr const char *preload_name = "libprism-preload.so";
constexpr const char *preload_variable = "LD_PRELOAD";
constexpr const char *device_prefix = "prism_"; // followed by the interface's name

struct Options {
	bool only = false;
	bool no_local = false;
	std::optional<std::string> device;
};

void print_usage(std::FILE *to)
{
	std::fputs("Usage: prism-run [OPTION...] PROGRAM [ARGUMENT...]\n"
		   "Run a verbs program so that it sees the userspace PRISM devices.\n"
		   "\n"
		   "  -o, --only         hide the kernel's RDMA devices from the program\n"
		   "  -d, --device=NAME  show the program the device NAME and no other\n"
		   "  -L, --no-local     send by UDP to processes of this host, too\n"
		   "  -h, --help         print this text\n"
		   "  -V, --version      print the version\n",
		to);
}

[[noreturn]] void fail(int status, const std::string &message)
{
	std::fprintf(stderr, "prism-run: %s\n", message.c_str());
	std::exit(status);
}

[[noreturn]] void fail_usage(const std::string &message)
{
	if (!message.empty())
		std::fprintf(stderr, "prism-run: %s\n", message.c_str());
	std::fputs("Try 'prism-run --help'.\n", stderr);
	std::exit(exit_launcher_failed);
}

[[noreturn]] void exit_printed()
{
	if (std::fflush(stdout) || std::ferror(stdout))
		fail(exit_launcher_failed, "cannot write to the standard output");
	std::exit(0);
}

// Leaves optind at the program: all arguments from there on belong to it.
Options parse(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"only", no_argument, nullptr, 'o'},
		{"device", required_argument, nullptr, 'd'},
		{"no-local", no_argument, nullptr, 'L'},
		{"help", no_argument, nullptr, 'h'},
		{"version", no_argument, nullptr, 'V'},
		{},
	};
	Options options;

	for (int option; (option = getopt_long(argc, argv, "+od:LhV", long_options, nullptr)) != -1;) {
		switch (option) {
		case 'o':
			options.only = true;
			break;
		case 'd':
			options.device = optarg;
			break;
		case 'L':
			options.no_local = true;
			break;
		case 'h':
			print_usage(stdout);
			exit_printed();
		case 'V':
			std::puts("prism-run " PRISM_VERSION);
			exit_printed();
		default:
			fail_usage("");
		}
	}
	if (optind == argc)
		fail_usage("which program?");
	if (options.device && options.device->empty())
		fail_usage("--device needs a name");
	return options;
}

// The preload library lies beside this program: in an installation's library folder, or in the build tree's.
fs::path find_preload()
{
	std::error_code error;
	const fs::path self = fs::read_symlink("/proc/self/exe", error);

	if (error)
		fail(exit_launcher_failed, "cannot tell where I am installed: /proc/self/exe: " + error.message());

	const fs::path folder = self.parent_path();
	const fs::path installed = (folder / PRISM_PRELOAD_FROM_BIN / preload_name).lexically_normal();
	const fs::path built = (folder / ".." / "lib" / preload_name).lexically_normal();
	for (const fs::path &candidate : {installed, built})
		if (fs::exists(candidate, error))
			return candidate;
	fail(exit_launcher_failed, std::string(preload_name) + " is neither at " + installed.string() + " nor at " +
					   built.string() + "; is the installation complete?");
}

bool contains(std::string_view list, std::string_view entry, const char *separators)
{
	while (!list.empty()) {
		const size_t length = std::min(list.find_first_of(separators), list.size());

		if (list.substr(0, length) == entry)
			return true;
		list.remove_prefix(std::min(length + 1, list.size()));
	}
	return false;
}

void set(const char *name, const std::string &value)
{
	if (setenv(name, value.c_str(), 1) != 0)
		fail(exit_launcher_failed, std::string(name) + ": " + std::strerror(errno));
}

// Adds the library after those that are preloaded already: sanitizer runtimes insist on coming first.
void add_preload(const fs::path &library)
{
	const char *const before = std::getenv(preload_variable);

	if (library.string().find_first_of(": ") != std::string::npos)
		fail(exit_launcher_failed, std::string("the dynamic linker cannot preload a library from a folder with "
						       "a colon or a space in its name: ") +
						   library.string());
	if (!before || !*before)
		set(preload_variable, library.string());
	else if (!contains(before, library.string(), ": "))
		set(preload_variable, std::string(before) + ":" + library.string());
}

// Returns true if this interface's address makes a device that the program is to see.
bool makes_device(const ifaddrs &entry, const std::string &wanted)
{
	if (!entry.ifa_addr || !(entry.ifa_flags & IFF_UP))
		return false;
	if (entry.ifa_addr->sa_family != AF_INET && entry.ifa_addr->sa_family != AF_INET6)
		return false;
	const std::string name(entry.ifa_name);
	const std::string interface = name.substr(0, name.find(':')); // an alias (eth0:1) is an address of eth0
	const char *const interfaces = std::getenv("PRISM_DEVICES");
	if (interfaces && !contains(interfaces, interface, ","))
		return false;
	return wanted.empty() || wanted == device_prefix + interface;
}

std::string why_no_device(const std::string &wanted)
{
	if (const char *const interfaces = std::getenv("PRISM_DEVICES"))
		return "no such network interface is up and has an address: PRISM_DEVICES is '" +
		       std::string(interfaces) + "'";
	if (!wanted.empty())
		return "network interface " + wanted.substr(std::strlen(device_prefix)) +
		       " must be up and have an address: 'ip address' lists them";
	return "no network interface is up and has an address: 'ip link set lo up' makes prism_lo";
}

// Warns, as unmodified programs report a missing device without a reason. They are run all the same: they may need
// none.
void warn_if_no_device(const std::string &wanted)
{
	ifaddrs *head = nullptr;
	if ((!wanted.empty() && !wanted.starts_with(device_prefix)) || getifaddrs(&head) < 0)
		return; // a kernel device; or the interfaces cannot be read
	const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> addresses(head, freeifaddrs);
	for (const ifaddrs *entry = head; entry; entry = entry->ifa_next)
		if (makes_device(*entry, wanted))
			return;
	std::fprintf(stderr, "prism-run: there is no %s; %s\n", wanted.empty() ? "userspace device" : wanted.c_str(),
		why_no_device(wanted).c_str());
}

// Returns the file that execvp(3) runs. Empty if there is none, which execvp() will report.
fs::path find_program(const std::string &name)
{
	if (name.find('/') != name.npos)
		return name;
	const char *const path = std::getenv("PATH");
	std::istringstream folders(path ? path : "/bin:/usr/bin");
	for (std::string folder; std::getline(folders, folder, ':');) {
		fs::path candidate = fs::path(folder) / name;
		if (access(candidate.c_str(), X_OK) == 0)
			return candidate;
	}
	return {};
}

bool gains_privileges(const fs::path &program)
{
	struct stat status = {};

	if (stat(program.c_str(), &status) < 0 || !S_ISREG(status.st_mode) || getuid() == 0)
		return false;
	return (status.st_mode & S_ISUID && status.st_uid != getuid()) ||
	       (status.st_mode & S_ISGID && status.st_gid != getgid()) ||
	       getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
}

// Returns true for static programs of this word size; for another word size the dynamic linker itself reports that
// nothing is preloaded.
bool is_static(const fs::path &program)
{
	std::error_code error;
	if (!fs::is_regular_file(program, error)) // opening a named pipe would block
		return false;
	std::ifstream file(program, std::ios::binary);
	ElfW(Ehdr) header = {};
	ElfW(Phdr) segment = {};

	if (!file.read(reinterpret_cast<char *>(&header), sizeof(header)) ||
		std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(segment))
		return false;
	file.seekg(static_cast<std::streamoff>(header.e_phoff));
	for (unsigned left = header.e_phnum; left > 0; left--)
		if (!file.read(reinterpret_cast<char *>(&segment), sizeof(segment)) || segment.p_type == PT_INTERP)
			return false;
	return true;
}

// Warns, as neither the dynamic linker nor the program tells the reason. The program may need no device, or run others.
void warn_if_not_preloaded(const std::string &name)
{
	const fs::path program = find_program(name);
	if (gains_privileges(program))
		std::fprintf(stderr,
			"prism-run: %s gains privileges when it starts (set-user-ID, set-group-ID or file "
			"capabilities), so "
			"the dynamic linker preloads nothing: it sees no userspace device; run prism-run with these "
			"privileges instead\n",
			name.c_str());
	else if (is_static(program))
		std::fprintf(stderr,
			"prism-run: %s is linked statically, so nothing is preloaded: it sees no userspace device; "
			"link it "
			"with the shared libibverbs\n",
			name.c_str());
}

} // namespace

int main(int argc, char **argv)
{
	prism::cli::keep_standard_numbers();
	const Options options = parse(argc, argv);

	add_preload(find_preload());
	if (options.only)
		set(prism::launcher::env_only, "1");
	if (options.device)
		set(prism::launcher::env_device, *options.device);
	if (options.no_local)
		set(prism::launcher::env_local, "0");
	warn_if_no_device(options.device.value_or(""));
	warn_if_not_preloaded(argv[optind]);

	execvp(argv[optind], argv + optind);
	const int error = errno;
	fail(error == ENOENT ? exit_not_found : exit_not_executable,
		std::string(argv[optind]) + ": " + std::strerror(error));
}
