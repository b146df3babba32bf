/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events as libibverbs reads them: records on a descriptor, each naming an object by its address. The kernel's
 * descriptors are files of uverbs; ours are socket pairs, which keep records whole and can be drained without touching
 * the flags of the end that the application holds.
 */
#pragma once

#include <cstdint>
#include <mutex>

#include "../net/file_descriptor.hpp"

namespace prism::soft
{

class EventSocket
{
public:
	/** Two connected ends; on failure reader() is -1 and errno is set. */
	EventSocket();

	/** The end that the application reads; release_reader() leaves its closing to the application. */
	[[nodiscard]] int reader() const { return reader_.get(); }
	int release_reader();

	/** False if the reader has been closed or does not keep up. */
	bool post(const void *record, std::size_t size);

	/** Remove the records that name @p object and have not been read; returns how many. */
	unsigned forget(int reader, std::uint64_t object);

	/** The application has closed its end. */
	[[nodiscard]] bool closed() const;

private:
	std::mutex mutex_;
	FileDescriptor writer_;
	FileDescriptor reader_;
};

} // namespace prism::soft
