/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/log_segment.hpp"

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace prism::gam
{

namespace
{

/**
 * Allocates disk space: without that for a page, a store to it would raise a signal. Returns 0 or errno. What cannot be
 * had is not tried, as the rest of the disk would be lacking meanwhile.
 */
int allocate(int file, std::size_t bytes) noexcept
{
	struct statvfs disk {
	};
	if (::fstatvfs(file, &disk) == 0 && disk.f_blocks && disk.f_bfree * disk.f_frsize < bytes)
		return ENOSPC;
	return ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
}

} // namespace

std::optional<std::uint64_t> number_of(const std::filesystem::path &path)
{
	const std::string name = path.stem().string(), ending = path.extension().string();
	const bool is_segment = (ending == ".log" || ending == ".new" || ending == ".next") && name.size() == 16 &&
				name.find_first_not_of("0123456789abcdef") == std::string::npos;
	return is_segment ? std::optional(std::stoull(name, nullptr, 16)) : std::nullopt;
}

Result<Segment> Segment::map(Descriptor file, const std::filesystem::path &path, std::size_t size)
{
	if (!size)
		return Segment(std::move(file), nullptr, 0);
	void *bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
	if (bytes == MAP_FAILED)
		return make_error(errno, "mapping " + path.string());
	return Segment(std::move(file), static_cast<std::byte *>(bytes), size);
}

Result<Segment> Segment::create(const std::filesystem::path &path, std::size_t bytes)
{
	/* Never into a file that is there: it may be a link to another user's, or to one of ours. */
	(void)::unlink(path.c_str());
	Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (file.get() < 0)
		return make_error(errno, path.string());
	if (const int error = allocate(file.get(), bytes)) {
		(void)::unlink(path.c_str());
		return make_error(error, "room for " + path.string(), "free some, or give the log another folder");
	}
	return map(std::move(file), path, bytes);
}

Result<Segment> Segment::open(const std::filesystem::path &path)
{
	Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
	struct stat status {
	};
	if (file.get() < 0 || ::fstat(file.get(), &status))
		return make_error(errno, path.string());
	if (!S_ISREG(status.st_mode))
		return make_error(EINVAL, path.string() + " is no file", "remove it");
	return map(std::move(file), path, static_cast<std::size_t>(status.st_size));
}

Segment::Segment(Segment &&other) noexcept
	: file_(std::move(other.file_)), bytes_(std::exchange(other.bytes_, nullptr)),
	  size_(std::exchange(other.size_, 0))
{
}

Segment &Segment::operator=(Segment &&other) noexcept
{
	std::swap(file_, other.file_);
	std::swap(bytes_, other.bytes_);
	std::swap(size_, other.size_);
	return *this;
}

Segment::~Segment()
{
	if (bytes_)
		(void)::munmap(bytes_, size_);
}

std::uint64_t Segment::word(std::size_t at) const noexcept
{
	return std::atomic_ref(*reinterpret_cast<std::uint64_t *>(bytes_ + at)).load(std::memory_order_acquire);
}

void Segment::set_word(std::size_t at, std::uint64_t value) noexcept
{
	std::atomic_ref(*reinterpret_cast<std::uint64_t *>(bytes_ + at)).store(value, std::memory_order_release);
}

int Segment::sync() noexcept
{
	return ::fdatasync(file_.get()) ? errno : 0;
}

int sync_folder(const std::filesystem::path &folder) noexcept
{
	const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return file.get() < 0 || ::fsync(file.get()) ? errno : 0;
}

} // namespace prism::gam
