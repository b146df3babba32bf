/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "counter_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string_view>
#include <utility>

#include "base/file_limit.hpp"

namespace prism::soft
{

namespace
{

constexpr std::string_view names[] = {
#define X(name) #name,
	PRISM_PORT_COUNTERS(X) PRISM_LOCAL_COUNTERS(X) PRISM_PROTOCOL_COUNTERS(X) PRISM_PROTOCOL_GAUGES(X)
#undef X
};
constexpr std::string_view gauges[] = {
#define X(name) #name,
	PRISM_PROTOCOL_GAUGES(X)
#undef X
};
constexpr std::size_t counter_count = std::size(names);
static_assert(
	std::ranges::all_of(names, [](std::string_view name) { return name.size() < std::tuple_size_v<CounterName>; }));

/* The file cannot shrink under a reader's mapping, and nobody who opens it again can write to it. */
constexpr int seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

/* Since Linux 6.3, which warns about a file that could be executed. Some headers are older. */
constexpr unsigned not_executable = 0x0008; /* MFD_NOEXEC_SEAL */

/* Returns none if memory files, or of this size, are forbidden. */
FileDescriptor make_file(const std::string &name, off_t size)
{
	for (const unsigned extra : {not_executable, 0U}) {
		FileDescriptor file(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | extra));
		if (file && may_have_file(static_cast<std::size_t>(size)) && ::ftruncate(file.get(), size) == 0)
			return file;
	}
	return {};
}

template <std::size_t size>
void copy_name(std::array<char, size> &to, std::string_view name)
{
	name.copy(to.data(), size - 1);
}

} // namespace

struct CounterPage::Layout {
	CounterPageHeader header{};
	PortCounters port;
	LocalCounters local;
	ProtocolCounters protocol;
	std::array<CounterName, counter_count> names{};
};

std::unique_ptr<CounterPage> CounterPage::create(const std::string &device)
{
	constexpr std::size_t size = sizeof(Layout);
	static_assert(size <= max_counter_page_size);
	static_assert(sizeof(PortCounters) + sizeof(LocalCounters) + sizeof(ProtocolCounters) ==
		      counter_count * sizeof(Counter));

	const int before = errno; /* a failure here is not the caller's */
	FileDescriptor file = make_file("prism:" + device, size);
	const int kind = MAP_SHARED | (file ? 0 : MAP_ANONYMOUS);
	void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, kind, file.get(), 0);
	if (memory == MAP_FAILED)
		return nullptr;
	if (file && ::fcntl(file.get(), F_ADD_SEALS, seals) < 0)
		file = FileDescriptor(); /* readers require the seals */
	errno = before;
	return std::unique_ptr<CounterPage>(new CounterPage(std::move(file), new (memory) Layout));
}

CounterPage::~CounterPage()
{
	::munmap(page_, sizeof(Layout));
}

PortCounters &CounterPage::port()
{
	return page_->port;
}

LocalPeers &CounterPage::local_peers()
{
	return page_->header.local_peers;
}

LocalCounters &CounterPage::local()
{
	return page_->local;
}

ProtocolCounters &CounterPage::protocol()
{
	return page_->protocol;
}

void CounterPage::publish(const Identity &identity)
{
	CounterPageHeader &header = page_->header;
	header.version = counter_page_version;
	header.size = sizeof(Layout);
	copy_name(header.device, identity.device);
	header.slot = identity.slot;
	header.first_qpn = identity.first_qpn;
	header.last_qpn = identity.last_qpn;
	set_addresses(identity.addresses);
	header.counter_count = counter_count;
	header.gauge_count = std::size(gauges);
	header.values_offset = offsetof(Layout, port);
	header.names_offset = offsetof(Layout, names);
	for (std::size_t i = 0; i < counter_count; i++)
		copy_name(page_->names[i], names[i]);
	header.magic.store(counter_page_magic, std::memory_order_release);
}

void CounterPage::set_addresses(const std::vector<PageAddress> &addresses)
{
	CounterPageHeader &header = page_->header;
	const std::size_t count = std::min<std::size_t>(addresses.size(), max_page_addresses);
	for (std::size_t i = header.address_count; i < count; i++)
		header.addresses[i] = addresses[i];
	std::atomic_ref(header.address_count).store(static_cast<std::uint32_t>(count), std::memory_order_release);
}

} // namespace prism::soft
