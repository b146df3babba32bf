/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stat/page.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "soft/net/counter.hpp"
#include "soft/net/file_descriptor.hpp"
#include "soft/net/slot.hpp"
#include "soft/verbs/counter_layout.hpp"
#include "stat/proc.hpp"

namespace prism::stat
{

namespace
{

using soft::Counter;
using soft::CounterName;
using soft::CounterPageHeader;
using soft::FileDescriptor;

/* Most counters of a page; limits the work that a forged page can cause. */
constexpr std::uint32_t most_counters = 1024;

/** A read-only mapping of a file that another process writes to. */
class Mapping
{
public:
	Mapping(int file, std::size_t size)
		: memory_(::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0)), size_(size)
	{
	}
	~Mapping()
	{
		if (*this)
			::munmap(memory_, size_);
	}
	Mapping(const Mapping &) = delete;
	Mapping &operator=(const Mapping &) = delete;

	explicit operator bool() const { return memory_ != MAP_FAILED; }
	[[nodiscard]] std::size_t size() const { return size_; }

	/** Returns the object at @p offset, which must lie within the file. */
	template <typename T>
	[[nodiscard]] const T *at(std::size_t offset) const
	{
		return reinterpret_cast<const T *>(static_cast<const char *>(memory_) + offset);
	}

private:
	void *memory_;
	std::size_t size_;
};

/* Contents of the header. A copy: the writer may change the original between a check and a use. */
struct Header {
	std::uint64_t magic = 0;
	std::uint32_t version, size, slot, first_qpn, last_qpn;
	std::uint32_t address_count, counter_count, gauge_count, values_offset, names_offset;
	std::array<char, 64> device;
	std::array<soft::PageAddress, soft::max_page_addresses> addresses;
	soft::LocalPeers local_peers;
};

constexpr std::size_t oldest_header = offsetof(CounterPageHeader, local_peers);

Header copy_header(const CounterPageHeader &shared)
{
	return {.magic = shared.magic.load(std::memory_order_acquire),
		.version = shared.version,
		.size = shared.size,
		.slot = shared.slot,
		.first_qpn = shared.first_qpn,
		.last_qpn = shared.last_qpn,
		.address_count = shared.address_count,
		.counter_count = shared.counter_count,
		.gauge_count = shared.gauge_count,
		.values_offset = shared.values_offset,
		.names_offset = shared.names_offset,
		.device = shared.device,
		.addresses = shared.addresses,
		.local_peers = shared.values_offset >= sizeof(shared) ? shared.local_peers : soft::LocalPeers{}};
}

/* Returns true if @p count objects of @p each bytes at @p offset lie behind the header and within the file. */
bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::uint64_t size)
{
	return offset % 8 == 0 && offset >= oldest_header && offset + count * each <= size;
}

std::string check_header(const Header &header, std::size_t size)
{
	if (header.magic != soft::counter_page_magic)
		return "wrong magic number";
	if (header.version != soft::counter_page_version)
		return fmt::format(
			"version {} of the layout, this program knows {}", header.version, soft::counter_page_version);
	if (header.size > size)
		return "shorter than it says";
	if (header.counter_count > most_counters || header.gauge_count > header.counter_count)
		return "impossible number of counters";
	if (!fits(header.values_offset, header.counter_count, sizeof(Counter), size) ||
		!fits(header.names_offset, header.counter_count, sizeof(CounterName), size))
		return "counters outside of the page";
	if (header.address_count > header.addresses.size())
		return "impossible number of addresses";
	if (!header.device[0] || std::ranges::find(header.device, '\0') == header.device.end())
		return "no name of a device";
	return {};
}

/* Returns the name; empty if it is no valid name of a counter. */
std::string_view counter_name(const CounterName &name)
{
	constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const std::string_view whole(name.data(), name.size());
	const std::string_view text = whole.substr(0, whole.find('\0'));
	return text.size() == whole.size() || text.find_first_not_of(allowed) != text.npos ? std::string_view() : text;
}

std::string address_text(const soft::PageAddress &address)
{
	std::array<char, INET6_ADDRSTRLEN> text;
	static constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	const bool ipv4 = std::equal(mapped.begin(), mapped.end(), address.gid.begin());
	::inet_ntop(
		ipv4 ? AF_INET : AF_INET6, address.gid.data() + (ipv4 ? mapped.size() : 0), text.data(), text.size());
	return text.data();
}

/* Opens exactly the checked file for reading: a file in memory that cannot shrink under a mapping. Never opens a
 * device.
 */
FileDescriptor open_page(pid_t pid, int number, struct stat &status, std::string &refused)
{
	const std::string path = fmt::format("/proc/{}/fd/{}", pid, number);
	const FileDescriptor found(::open(path.c_str(), O_PATH | O_CLOEXEC));
	if (!found || ::fstat(found.get(), &status) < 0) {
		throw_if_short(path);
		return {};
	}
	if (!S_ISREG(status.st_mode)) {
		refused = "not a file";
		return {};
	}
	FileDescriptor file(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), O_RDONLY | O_CLOEXEC));
	if (!file)
		throw_if_short(path);
	const int seals = file ? ::fcntl(file.get(), F_GET_SEALS) : 0;
	if (seals >= 0 && (seals & F_SEAL_SHRINK) && ::fstat(file.get(), &status) == 0)
		return file;
	refused = file ? "not sealed against shrinking" : "cannot be opened";
	return {};
}

bool read_counts(const Mapping &mapping, const Header &header, std::vector<Count> &counts)
{
	const auto *values = mapping.at<Counter>(header.values_offset);
	const auto *names = mapping.at<CounterName>(header.names_offset);
	for (std::uint32_t i = 0; i < header.counter_count; i++) {
		const CounterName copy = names[i];
		const std::string_view name = counter_name(copy);
		if (name.empty())
			return false;
		counts.push_back({std::string(name), values[i].get(), i >= header.counter_count - header.gauge_count});
	}
	return true;
}

Source describe(const Header &header)
{
	Source source;
	source.device = printable(header.device.data());
	source.slot = header.slot;
	source.first_qpn = header.first_qpn;
	source.last_qpn = header.last_qpn;
	for (const soft::PageAddress &address : std::span(header.addresses).first(header.address_count))
		source.addresses.push_back(address_text(address));
	for (unsigned slot = 0; slot < soft::slot_limit; slot++)
		if (header.local_peers[slot / 64].get() >> slot % 64 & 1)
			source.local_peers.push_back(slot);
	return source;
}

} // namespace

std::optional<Page> read_page(pid_t pid, int descriptor, std::string &refused)
{
	struct stat status;
	const FileDescriptor file = open_page(pid, descriptor, status, refused);
	if (!file)
		return std::nullopt;
	const auto size = static_cast<std::size_t>(status.st_size);
	if (size < sizeof(CounterPageHeader) || size > soft::max_counter_page_size) {
		refused = fmt::format("{} bytes long", status.st_size);
		return std::nullopt;
	}
	const Mapping mapping(file.get(), size);
	if (!mapping) {
		throw_if_short(fmt::format("the counters of process {}", pid));
		return std::nullopt;
	}
	const Header header = copy_header(*mapping.at<CounterPageHeader>(0));
	if (header.magic == 0)
		return std::nullopt; /* not published yet */
	refused = check_header(header, size);
	if (!refused.empty())
		return std::nullopt;
	Page page{.inode = status.st_ino, .source = describe(header), .sockets = {}};
	for (const soft::PageAddress &address : std::span(header.addresses).first(header.address_count))
		page.sockets.push_back(address.socket);
	if (!read_counts(mapping, header, page.source.counts)) {
		refused = "a counter without a name";
		return std::nullopt;
	}
	return page;
}

} // namespace prism::stat
