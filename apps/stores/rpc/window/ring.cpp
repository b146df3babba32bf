/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/window/ring.hpp"

#include "base/descriptor.hpp"
#include "base/file_limit.hpp"

#include <cerrno>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace prism::rpc::window
{

std::size_t Ring::page_size() noexcept
{
	static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
	return size;
}

Result<Ring> Ring::create(CallDevice &device, std::uint64_t size)
{
	const std::size_t page = page_size();
	const Descriptor memory(memfd_create("prism-rpc-ring", MFD_CLOEXEC));
	if (memory.get() < 0 || !may_have_file(page + size) || ftruncate(memory.get(), static_cast<off_t>(page + size)))
		return make_error(errno, "cannot allocate a ring for responses");
	const std::size_t length = page + 2 * size;
	void *const reserved = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reserved == MAP_FAILED)
		return make_error(errno, "cannot map a ring for responses");
	std::shared_ptr<std::byte> mapping(
		static_cast<std::byte *>(reserved), [length](std::byte *pages) { (void)munmap(pages, length); });
	const auto map = [&](std::size_t offset, std::size_t bytes, std::size_t from) {
		return mmap(mapping.get() + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory.get(),
			       static_cast<off_t>(from)) != MAP_FAILED;
	};
	if (!map(0, page + size, 0) || !map(page + size, size, page))
		return make_error(errno, "cannot map a ring for responses");
	Result<Memory> made = device.adopt(std::move(mapping), length, access::remote_read | access::local);
	if (!made)
		return made.error();
	return Ring(*std::move(made), size);
}

} // namespace prism::rpc::window
