// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Files by which programs inspect an RDMA device past libibverbs, made for the userspace devices, which have none.
//
// libibverbs 44 answers everything by verbs, but older programs use sysfs. Their calls were traced (Debian 12;
// docs/frameworks.md): UCX lists a device only if it may read and write the character device of that name below
// /dev/infiniband, and reads the type and the network interface of a GID below /sys/class/infiniband. So this library
// takes three functions of the C library: stat(), access(), open().
//
// Each asks the kernel first. Only a missing file is looked for among the userspace devices, so a kernel device of the
// same name stays visible, and other files cost no more than before. The kernel is asked by the equivalent *at()
// functions: no address has to be looked up, so the functions work from a process's first instruction on. A private
// mount of such files instead would need a user namespace of its own for each process, which hosts may forbid, and
// which takes rights to each other from processes of one user (process_vm_readv(), for example).
#include "../prismdv.h"
#include "../soft/verbs/soft_device.h"
#include "cm_device.hpp"

#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstddef>
#include <exception>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <net/if.h>
#include <optional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace
{

constexpr std::string_view character_devices = "/dev/infiniband/";
constexpr std::string_view attributes = "/sys/class/infiniband/";
constexpr std::string_view gid_types = "ports/1/gid_attrs/types/";
constexpr std::string_view gid_interfaces = "ports/1/gid_attrs/ndevs/";

// Anybody may use a userspace device, as anybody may use this one.
constexpr const char *stand_in = "/dev/null";

// True while this file looks for a device: libibverbs then opens files of its own.
thread_local bool looking;

class Looking
{
public:
	Looking() { looking = true; }
	~Looking() { looking = false; }
	Looking(const Looking &) = delete;
	Looking &operator=(const Looking &) = delete;
};

struct FreeDevices {
	void operator()(struct ibv_device **list) const { ibv_free_device_list(list); }
};
using DeviceList = std::unique_ptr<struct ibv_device *, FreeDevices>;

struct CloseDevice {
	void operator()(struct ibv_context *context) const { ibv_close_device(context); }
};

// Returns a userspace device that the program is to see, or nullptr.
struct ibv_device *find_device(const DeviceList &list, std::string_view name)
{
	for (struct ibv_device **entry = list.get(); entry && *entry; entry++)
		if (prismdv_is_soft_device(*entry) && name == (*entry)->name)
			return *entry;
	return nullptr;
}

bool is_device(std::string_view name)
{
	const DeviceList list(ibv_get_device_list(nullptr));

	return find_device(list, name);
}

std::vector<struct ibv_gid_entry> query_gids(struct ibv_device *device)
{
	// No thread: this context ends with the query.
	const struct prismdv_context_attr inline_progress = {
		.comp_mask = 0, .progress = PRISMDV_PROGRESS_INLINE, .path = PRISMDV_PATH_UDP};
	const std::unique_ptr<struct ibv_context, CloseDevice> context(prismdv_open_device(device, &inline_progress));
	struct ibv_port_attr port = {};
	std::vector<struct ibv_gid_entry> entries;

	if (!context || ibv_query_port(context.get(), 1, &port) != 0)
		return entries;
	entries.resize(static_cast<size_t>(port.gid_tbl_len));
	const ssize_t count = prismdv_soft_query_gid_table(context.get(), entries.data(), entries.size());
	entries.resize(count < 0 ? 0 : static_cast<size_t>(count));
	return entries;
}

constinit std::mutex known_gids;

// Holds the lock over forks: a child finds it free. Registered after libprism's locks, which a holder of this one takes
// as well.
__attribute__((constructor)) void keep_over_fork()
{
	const auto unlock = [] { known_gids.unlock(); };

	pthread_atfork([] { known_gids.lock(); }, unlock, unlock);
}

// Returns an entry of a device's GID table, read once: a context's table also stays as it was at opening.
std::optional<struct ibv_gid_entry> gid_entry(std::string_view device_name, size_t index)
{
	static std::map<std::string, std::vector<struct ibv_gid_entry>, std::less<>> known;
	const std::lock_guard guard(known_gids);
	auto found = known.find(device_name);

	if (found == known.end()) {
		const DeviceList list(ibv_get_device_list(nullptr));
		struct ibv_device *const device = find_device(list, device_name);
		if (!device)
			return std::nullopt;
		found = known.emplace(device_name, query_gids(device)).first;
	}
	if (index >= found->second.size())
		return std::nullopt;
	return found->second[index];
}

// Returns the number after PREFIX, if TEXT is exactly that.
std::optional<size_t> index_after(std::string_view prefix, std::string_view text)
{
	size_t index = 0;

	if (!text.starts_with(prefix))
		return std::nullopt;
	text.remove_prefix(prefix.size());
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
	if (error != std::errc{} || end != text.data() + text.size())
		return std::nullopt;
	return index;
}

std::string gid_type(const struct ibv_gid_entry &entry)
{
	return entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2\n" : "IB/RoCE v1\n";
}

std::optional<std::string> gid_interface(const struct ibv_gid_entry &entry)
{
	char name[IF_NAMESIZE];

	if (!if_indextoname(entry.ndev_ifindex, name))
		return std::nullopt;
	return std::string(name) + '\n';
}

// Returns the contents of a file below /sys/class/infiniband/ for a userspace device.
std::optional<std::string> attribute(std::string_view path)
{
	const size_t slash = path.find('/');

	if (slash == path.npos)
		return std::nullopt;
	const std::string_view file = path.substr(slash + 1);
	const std::optional<size_t> type = index_after(gid_types, file);
	const std::optional<size_t> interface = index_after(gid_interfaces, file);
	if (!type && !interface)
		return std::nullopt;
	const std::optional<struct ibv_gid_entry> entry = gid_entry(path.substr(0, slash), type ? *type : *interface);
	if (!entry)
		return std::nullopt;
	return type ? gid_type(*entry) : gid_interface(*entry);
}

// Returns a descriptor from which TEXT can be read, and which cannot be written. Returns -1 and errno on failure.
int open_text(const std::string &text, int flags)
{
	const unsigned close_on_exec = flags & O_CLOEXEC ? MFD_CLOEXEC : 0;
	const int fd = memfd_create("prism-sysfs", MFD_ALLOW_SEALING | close_on_exec);

	if (fd < 0)
		return -1;
	if (pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
		close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

// Opens PATH if it is an attribute of a userspace device, after the kernel returned ENOENT; if it is none, keeps errno.
int open_attribute(const char *path, int flags)
try {
	const std::string_view name(path);
	const int not_found = errno;

	if (looking || (flags & O_ACCMODE) != O_RDONLY || !name.starts_with(attributes))
		return -1;
	const Looking mark;
	const std::optional<std::string> text = attribute(name.substr(attributes.size()));
	errno = not_found;
	return text ? open_text(*text, flags) : -1;
} catch (const std::exception &) {
	errno = ENOMEM;
	return -1;
}

// Returns true if PATH would be the character device of a userspace device, after the kernel returned ENOENT. Keeps
// errno.
bool is_character_device(const char *path)
try {
	const std::string_view name(path);
	const int not_found = errno;

	if (looking || !name.starts_with(character_devices))
		return false;
	const Looking mark;
	const bool found = is_device(name.substr(character_devices.size()));
	errno = not_found;
	return found;
} catch (const std::exception &) {
	errno = ENOMEM;
	return false;
}

} // namespace

namespace
{

int stat_file(const char *path, struct stat *status) noexcept
{
	if (fstatat(AT_FDCWD, path, status, 0) == 0)
		return 0;
	if (errno != ENOENT || !is_character_device(path))
		return -1;
	return fstatat(AT_FDCWD, stand_in, status, 0);
}

int open_file(const char *path, int flags, mode_t mode)
{
	if (const std::optional<int> channel = prism::launcher::open_cm_device(path, flags))
		return *channel;
	const int fd = openat(AT_FDCWD, path, flags, mode);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	return open_attribute(path, flags);
}

// Returns the third argument of open(), if FLAGS say that there is one.
mode_t mode_of(int flags, va_list arguments)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

static_assert(sizeof(off_t) == sizeof(off64_t) && sizeof(struct stat) == sizeof(struct stat64));

} // namespace

// The C library's symbols are named by hand: under _FILE_OFFSET_BITS=64 its headers map stat() and open() to stat64()
// and open64(). Programs use either, or those of older C libraries, or of -D_FORTIFY_SOURCE.
#define TAKES_THE_NAME(name) __asm__(name) __attribute__((used))

extern "C" {

int prism_stat(const char *path, struct stat *status) noexcept TAKES_THE_NAME("stat");
int prism_stat64(const char *path, struct stat *status) noexcept TAKES_THE_NAME("stat64");
int prism_xstat(int version, const char *path, struct stat *status) noexcept TAKES_THE_NAME("__xstat");
int prism_xstat64(int version, const char *path, struct stat *status) noexcept TAKES_THE_NAME("__xstat64");
int prism_open(const char *path, int flags, ...) TAKES_THE_NAME("open");
int prism_open64(const char *path, int flags, ...) TAKES_THE_NAME("open64");
int prism_open_2(const char *path, int flags) TAKES_THE_NAME("__open_2");
int prism_open64_2(const char *path, int flags) TAKES_THE_NAME("__open64_2");

int prism_stat(const char *path, struct stat *status) noexcept
{
	return stat_file(path, status);
}

int prism_stat64(const char *path, struct stat *status) noexcept
{
	return stat_file(path, status);
}

int prism_xstat(int, const char *path, struct stat *status) noexcept
{
	return stat_file(path, status);
}

int prism_xstat64(int, const char *path, struct stat *status) noexcept
{
	return stat_file(path, status);
}

int prism_open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	const mode_t mode = mode_of(flags, arguments);
	va_end(arguments);
	return open_file(path, flags, mode);
}

int prism_open64(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	const mode_t mode = mode_of(flags, arguments);
	va_end(arguments);
	return open_file(path, flags, mode);
}

int prism_open_2(const char *path, int flags)
{
	return open_file(path, flags, 0);
}

int prism_open64_2(const char *path, int flags)
{
	return open_file(path, flags, 0);
}

int access(const char *path, int mode) noexcept
{
	if (faccessat(AT_FDCWD, path, mode, 0) == 0)
		return 0;
	if (errno != ENOENT || !is_character_device(path))
		return -1;
	return faccessat(AT_FDCWD, stand_in, mode, 0);
}
}
