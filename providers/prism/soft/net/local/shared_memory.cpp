/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_limit.hpp"

namespace prism::soft
{

namespace
{

constexpr int wanted_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/* Since Linux 6.3, which warns about a file that could be executed. Some headers are older. */
constexpr unsigned not_executable = 0x0008; /* MFD_NOEXEC_SEAL */

} // namespace

FileDescriptor create_shared_file(const char *name, std::size_t size)
{
	FileDescriptor made(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | not_executable));
	if (!made)
		made = FileDescriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (!made || !may_have_file(size) || ::fallocate(made.get(), 0, 0, static_cast<off_t>(size)) < 0 ||
		::fcntl(made.get(), F_ADD_SEALS, wanted_seals) < 0)
		return {};
	return made;
}

bool is_shared_file(int fd, std::size_t size)
{
	struct stat status;
	const int seals = ::fcntl(fd, F_GET_SEALS);
	return seals >= 0 && (seals & wanted_seals) == wanted_seals && ::fstat(fd, &status) == 0 &&
	       status.st_size == static_cast<off_t>(size);
}

Mapping::Mapping(int fd, std::size_t size) : size_(size)
{
	void *const start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (start != MAP_FAILED)
		start_ = static_cast<std::uint8_t *>(start);
}

Mapping::~Mapping()
{
	if (start_)
		::munmap(start_, size_);
}

ForkMark::ForkMark()
{
	const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
	void *const page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	if (::madvise(page, size, MADV_WIPEONFORK) < 0) {
		::munmap(page, size);
		return;
	}
	page_ = static_cast<std::uint8_t *>(page);
	*page_ = 1;
}

ForkMark::~ForkMark()
{
	if (page_)
		::munmap(const_cast<std::uint8_t *>(page_), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

} // namespace prism::soft
