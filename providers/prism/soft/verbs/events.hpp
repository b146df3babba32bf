/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events as libibverbs reads them: records on a descriptor, each naming an object by its address. The kernel's
 * descriptors are files of uverbs; ours are socket pairs, which keep records whole and can be drained without changing
 * the flags of the application's end.
 *
 * A socket holds some hundred records. Further ones wait in a queue behind it, which needs no thread: libibverbs tells
 * the provider of each record that it has read.
 */
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>

#include "../net/file_descriptor.hpp"

namespace prism::soft
{

class EventSocket
{
public:
	/** Makes two connected ends; on failure reader() is -1 and errno is set. */
	EventSocket();

	/** Returns the end that the application reads; release_reader() leaves closing it to the application. */
	[[nodiscard]] int reader() const { return reader_.get(); }
	int release_reader();

	/** Posts a record; never blocks. False if nobody will read it: the reader has been closed, or there is no
	 * memory. */
	bool post(const void *record, std::size_t size);

	/** Sends waiting records: one was read, so there is room. */
	void refill();

	/** Removes unread records that name @p object and returns their number. All records begin with the object's
	 * address. */
	unsigned forget(int reader, std::uint64_t object);

	/** Returns true if the application has closed its end. */
	[[nodiscard]] bool closed() const;

private:
	struct Record {
		std::array<std::byte, 16> bytes;
		std::size_t size;

		[[nodiscard]] bool names(std::uint64_t object) const;
	};
	enum class Sent : std::uint8_t {
		yes,
		full,
		closed
	};

	[[nodiscard]] Sent send(const Record &record) const;
	void send_waiting();

	std::mutex mutex_;
	std::deque<Record> waiting_;
	FileDescriptor writer_;
	FileDescriptor reader_;
};

} // namespace prism::soft
