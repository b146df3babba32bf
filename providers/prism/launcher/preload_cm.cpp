// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The connection manager's file, /dev/infiniband/rdma_cm, for hosts without one: librdmacm works unchanged, and its
// writes to this file arrive here (cm/ucma.hpp).
//
// A host that has the file keeps it, and with it the kernel's connections: the userspace devices then have no
// connection manager, unless the user asked for them alone (prism-run --only, or --device).
//
// This library takes three functions of the C library, which for any other descriptor cost one look into a table, and
// two of libibverbs: by one librdmacm asks for the version of the file's commands; the other opens devices, whose QP 1
// may receive messages for other processes of the host.
#include "../cm/ucma.hpp"
#include "../soft/net/kept_descriptors.hpp"
#include "../soft/verbs/soft_device.h"
#include "../verbs/real_verbs.hpp"
#include "base/c_boundary.hpp"
#include "cm_device.hpp"
#include "next_definition.hpp"
#include "options.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <linux/close_range.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

using prism::WithoutCancellation;
using prism::cm::Ucma;
using prism::launcher::NextDefinition;
using prism::real_verbs::Function;
using prism::soft::KeptDescriptors;

namespace
{

constexpr const char *cm_device = "/dev/infiniband/rdma_cm";
constexpr std::string_view abi_file = "class/misc/rdma_cm/abi_version";
constexpr std::string_view soft_prefix = "prism_";

ssize_t real_write(int fd, const void *data, size_t size)
{
	static constinit NextDefinition<ssize_t(int, const void *, size_t)> next("write");

	return next.get()(fd, data, size);
}

int real_close(int fd)
{
	static constinit NextDefinition<int(int)> next("close");

	return next.get()(fd);
}

int real_close_range(unsigned first, unsigned last, int flags)
{
	static constinit NextDefinition<int(unsigned, unsigned, int)> next("close_range");

	if (next.get())
		return next.get()(first, last, flags);
	errno = ENOSYS;
	return -1;
}

constexpr uint64_t no_eventfd = 0;
constexpr uint64_t unknown_eventfd = 1;

// Returns the number of the descriptor's eventfd, which the kernel gives since Linux 5.2. Unknown on older kernels,
// without /proc (chroot(2)), and in a process without descriptors left.
uint64_t eventfd_of(int fd)
{
	const WithoutCancellation whole;
	std::array<char, 32> path{};
	std::array<char, 512> text{};

	std::snprintf(path.data(), path.size(), "/proc/self/fdinfo/%d", fd);
	const int info = openat(AT_FDCWD, path.data(), O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return unknown_eventfd;
	const ssize_t length = read(info, text.data(), text.size() - 1);
	real_close(info);
	if (length <= 0)
		return unknown_eventfd;
	if (!std::strstr(text.data(), "eventfd-count:"))
		return no_eventfd;
	const char *const number = std::strstr(text.data(), "eventfd-id:");
	if (!number)
		return unknown_eventfd;
	return std::strtoull(number + std::strlen("eventfd-id:"), nullptr, 10) + unknown_eventfd + 1;
}

// Returns true for a descriptor without a file type, as an eventfd is, unlike files, pipes and sockets. Needs no new
// descriptor.
bool is_without_type(int fd)
{
	struct stat status;

	return fstatat(fd, "", &status, AT_EMPTY_PATH) == 0 && (status.st_mode & S_IFMT) == 0;
}

bool is_same_eventfd(int fd, uint64_t before)
{
	const uint64_t now = eventfd_of(fd);

	if (now == unknown_eventfd || (before == unknown_eventfd && now != no_eventfd))
		return is_without_type(fd);
	return now == before;
}

// The descriptors that were channels of ours when last seen. Read by every write() and close() of the program, signal
// handlers included. A descriptor may end without our notice (dup2(), a system call), and a child of vfork() closes its
// own in our memory: so a channel is checked again before use.
class ChannelTable
{
public:
	bool may_contain(int fd) const { return in_range(fd) && at(fd).load(std::memory_order_relaxed); }
	bool contains(int fd) const { return may_contain(fd) && is_same_eventfd(fd, at(fd)); }

	bool insert(int fd)
	{
		if (!in_range(fd))
			return false;
		at(fd) = eventfd_of(fd);
		return true;
	}
	void erase(int fd) { at(fd) = 0; }

	void clear()
	{
		for (auto &each : channels_)
			if (each)
				each = 0;
	}

	static constexpr int size = 1 << 16;

private:
	static bool in_range(int fd) { return fd >= 0 && fd < size; }
	std::atomic<uint64_t> &at(int fd) { return channels_[static_cast<size_t>(fd)]; }
	const std::atomic<uint64_t> &at(int fd) const { return channels_[static_cast<size_t>(fd)]; }

	std::array<std::atomic<uint64_t>, size> channels_{};
};

// The connection manager of a process. A child made by fork() has neither its parent's thread nor its connections: the
// parent's channels are dead there, and the first one that it opens starts everything anew.
class Manager
{
public:
	static Manager &get()
	{
		// Never destroyed: threads of the program may be in write() when the process ends.
		alignas(Manager) static std::byte storage[sizeof(Manager)];
		static Manager *const manager = new (storage) Manager;
		return *manager;
	}

	int open(int flags)
	{
		Ucma *const running = running_one();
		if (!running)
			return -1;
		const int fd = running->open_channel(flags);
		if (fd < 0 || table.insert(fd))
			return fd;
		running->close_channel(fd);
		::close(fd);
		errno = EMFILE;
		return -1;
	}

	// Returns null in a child of the channels' owner. Takes no lock: the receiver for QP 1 holds that of a context,
	// which is taken after ours when the process forks.
	Ucma *owner_of_channels() const { return owner_ == getpid() ? ucma_.load() : nullptr; }

	// Forgets a channel whose descriptor is closed, or has become another file's. A child may close its copy; the
	// channel is its parent's.
	void forget(int fd)
	{
		const WithoutCancellation whole;
		if (Ucma *const owned = owner_of_channels()) {
			owned->close_channel(fd);
			table.erase(fd);
		}
	}

	// Registers fork handlers: a child finds the lock free, and has no channels, even if its PID equals its
	// parent's, in a PID namespace of its own.
	static void keep_over_fork()
	{
		const auto in_child = [] {
			get().owner_ = 0;
			get().lock_.unlock();
		};
		pthread_atfork([] { get().lock_.lock(); }, [] { get().lock_.unlock(); }, in_child);
	}

	void stop()
	{
		if (Ucma *const owned = owner_of_channels()) {
			try {
				owned->stop();
			} catch (const std::exception &) {
				// No memory for telling the peers: they find out.
			}
		}
	}

	static ChannelTable table;

private:
	Manager() = default;

	// Returns the connection manager, started if need be; null and errno on failure. Release the lock before using
	// it: a holder of the connection manager's own lock may wait for a context's.
	Ucma *running_one()
	{
		const std::lock_guard guard(lock_);
		if (owner_ != getpid() && !start())
			return nullptr;
		return ucma_;
	}

	bool start()
	{
		// Do not touch the parent's: threads that do not exist here may hold its locks.
		abandoned_ = ucma_;
		table.clear();
		ucma_ = Ucma::start().release();
		owner_ = ucma_ ? getpid() : 0;
		return ucma_;
	}

	std::mutex lock_;
	std::atomic<pid_t> owner_ = 0;
	std::atomic<Ucma *> ucma_ = nullptr; // never destroyed, like the manager
	Ucma *abandoned_ = nullptr;          // the parent's; keeps it reachable for leak checkers
};

ChannelTable Manager::table;

// Returns true if the user wants the userspace devices alone.
bool kernel_devices_hidden()
{
	const char *const only = std::getenv(prism::launcher::env_only);
	const char *const name = std::getenv(prism::launcher::env_device);

	return (only && *only) || (name && std::string_view(name).starts_with(soft_prefix));
}

// Returns 0 if the kernel has no connection manager.
dev_t kernel_device_number()
{
	const int fd = openat(AT_FDCWD, "/sys/class/misc/rdma_cm/dev", O_RDONLY | O_CLOEXEC);
	std::array<char, 32> text{};
	unsigned major_number = 0, minor_number = 0;

	if (fd < 0)
		return 0;
	const bool found = read(fd, text.data(), text.size() - 1) > 0 &&
			   std::sscanf(text.data(), "%u:%u", &major_number, &minor_number) == 2;
	::close(fd);
	return found ? makedev(major_number, minor_number) : 0;
}

// Hands the datagram to the process of this host that it is meant for. Without a connection manager here, a message for
// a busy receiver is lost at once.
int hand_management_on(const union ibv_gid *from, const union ibv_gid *to, const void *data)
try {
	static const prism::cm::FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	prism::cm::Address source, destination;
	prism::cm::Mad mad;

	std::memcpy(source.gid.data(), from, sizeof(*from));
	std::memcpy(destination.gid.data(), to, sizeof(*to));
	std::memcpy(mad.data(), data, mad.size());
	if (Ucma *const manager = Manager::get().owner_of_channels())
		return manager->arrive(source, destination, mad) ? 0 : ENOBUFS;
	prism::cm::Delivery delivery = prism::cm::Delivery::nobody;
	const auto send = [&](const std::string &name, const prism::cm::Envelope &envelope) {
		delivery = prism::cm::send_to(socket.get(), name, envelope);
		return delivery != prism::cm::Delivery::nobody;
	};
	prism::cm::hand_on(send, source, destination, mad);
	return delivery == prism::cm::Delivery::done ? 0 : ENOBUFS;
} catch (const std::exception &) {
	return ENOMEM;
}

int status_of(int fd, struct stat *status) noexcept
{
	const WithoutCancellation whole;
	const int result = fstatat(fd, "", status, AT_EMPTY_PATH);

	if (result == 0 && Manager::table.contains(fd)) {
		status->st_mode = (status->st_mode & ~mode_t{S_IFMT}) | S_IFCHR;
		status->st_rdev = kernel_device_number();
	}
	return result;
}

void forget_channel(int fd)
{
	if (Manager::table.may_contain(fd))
		Manager::get().forget(fd);
}

// Returns true for the devices' descriptors. A program that closes all descriptors means those that it opened. It would
// close the devices' too, whose threads would then use whatever file gets the numbers.
bool is_kept(int fd)
{
	return prism::soft::kept_descriptors.contains(fd) || prismdv_soft_keeps_descriptor(fd);
}

// Returns LAST + 1 if there is none from FD on.
uint64_t next_kept(uint64_t fd, uint64_t last)
{
	for (; fd <= last && fd < KeptDescriptors::size; fd++)
		if (is_kept(static_cast<int>(fd)))
			return fd;
	return last + 1;
}

// Closes a range. With CLOSE_RANGE_UNSHARE in FLAGS the thread gets a table of its own: then the channels in it still
// belong to the other threads.
int close_piece(uint64_t first, uint64_t last, int flags)
{
	for (uint64_t fd = first; !flags && fd <= last && fd < ChannelTable::size; fd++)
		forget_channel(static_cast<int>(fd));
	return real_close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), flags);
}

// Looks the functions up before the program's first signal handler may need them.
__attribute__((constructor)) void look_up()
{
	real_write(-1, nullptr, 0);
	real_close(-1);
	real_close_range(1, 0, 0);
	errno = 0;
	Manager::keep_over_fork();
	prismdv_soft_gsi_handle(hand_management_on);
}

__attribute__((destructor)) void say_goodbye()
{
	Manager::get().stop();
}

} // namespace

namespace prism::launcher
{

std::optional<int> open_cm_device(const char *path, int flags)
try {
	if (!path || std::strcmp(path, cm_device) != 0)
		return std::nullopt;
	if (!kernel_devices_hidden()) {
		const int kernel = openat(AT_FDCWD, path, flags);
		if (kernel >= 0)
			return kernel;
	}
	return Manager::get().open(flags);
} catch (const std::exception &) {
	errno = ENOMEM;
	return -1;
}

} // namespace prism::launcher

#pragma GCC visibility push(default)

extern "C" {

ssize_t write(int fd, const void *data, size_t size)
{
	if (!Manager::table.may_contain(fd))
		return real_write(fd, data, size);
	if (!Manager::table.contains(fd)) {
		Manager::get().forget(fd);
		return real_write(fd, data, size);
	}
	Ucma *const ucma = Manager::get().owner_of_channels();
	if (ucma)
		return ucma->write(fd, data, size);
	errno = EBADF;
	return -1;
}

int close(int fd)
{
	if (is_kept(fd)) {
		errno = EBADF;
		return -1;
	}
	forget_channel(fd);
	return real_close(fd);
}

int close_range(unsigned first, unsigned last, int flags) noexcept
{
	if (flags & CLOSE_RANGE_CLOEXEC || first > last)
		return real_close_range(first, last, flags);
	// Close in pieces, around the kept descriptors.
	for (uint64_t fd = first; fd <= last;) {
		const uint64_t end = next_kept(fd, last);
		if (end > fd && close_piece(fd, end - 1, flags))
			return -1;
		fd = end + 1;
	}
	return 0;
}

void closefrom(int first) noexcept
{
	static constinit NextDefinition<void(int)> next("closefrom");

	if (close_range(static_cast<unsigned>(std::max(first, 0)), ~0U, 0) && next.get())
		next.get()(first);
}

// Makes the file look like a character device: librdmacm accepts nothing else as the connection manager, and where the
// kernel has one, which it asks by netlink, only a device with that number.
//
// The symbols are named by hand, as in sysfs.cpp.
int prism_fstat(int fd, struct stat *status) noexcept __asm__("fstat") __attribute__((used));
int prism_fstat64(int fd, struct stat *status) noexcept __asm__("fstat64") __attribute__((used));
int prism_fxstat(int version, int fd, struct stat *status) noexcept __asm__("__fxstat") __attribute__((used));
int prism_fxstat64(int version, int fd, struct stat *status) noexcept __asm__("__fxstat64") __attribute__((used));

int prism_fstat(int fd, struct stat *status) noexcept
{
	return status_of(fd, status);
}

int prism_fstat64(int fd, struct stat *status) noexcept
{
	return status_of(fd, status);
}

int prism_fxstat(int, int fd, struct stat *status) noexcept
{
	return status_of(fd, status);
}

int prism_fxstat64(int, int fd, struct stat *status) noexcept
{
	return status_of(fd, status);
}

int ibv_read_sysfs_file(const char *dir, const char *file, char *buffer, size_t size)
{
	static constinit Function<int(const char *, const char *, char *, size_t)> real(
		"ibv_read_sysfs_file", "IBVERBS_1.0");
	static_assert(RDMA_USER_CM_ABI_VERSION == 4);
	constexpr std::string_view version = "4";

	if (file != abi_file || size <= version.size())
		return real(dir, file, buffer, size);
	if (!kernel_devices_hidden()) {
		const int length = real(dir, file, buffer, size);
		if (length >= 0)
			return length;
	}
	std::memcpy(buffer, version.data(), version.size() + 1);
	return static_cast<int>(version.size());
}
}

#pragma GCC visibility pop
