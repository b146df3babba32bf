/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stat/contexts.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "soft/net/slot.hpp"
#include "soft/verbs/counter_layout.hpp"
#include "stat/page.hpp"
#include "stat/proc.hpp"

namespace prism::stat
{

namespace
{

/* Adds the kernel's drops: the page lists the context's sockets, and /proc the datagrams dropped for want of room in
 * them. */
void add_drops(Page &page, const std::map<std::uint64_t, std::uint64_t> &drops)
{
	std::uint64_t sum = 0;
	for (const std::uint64_t socket : page.sockets)
		if (const auto found = drops.find(socket); found != drops.end())
			sum += found->second;
	page.source.counts.push_back({"rx_socket_drops", sum, false});
}

bool wanted(const Filter &filter, const Source &source)
{
	return filter.device.empty() || filter.device == source.device;
}

/* Adds a source once. A child made by fork() holds the page open too: the page belongs to the oldest process. */
void add_once(Snapshot &snapshot, Source source)
{
	const auto same = [&source](const Source &other) { return !other.kernel && other.page == source.page; };
	const auto found = std::ranges::find_if(snapshot.sources, same);
	if (found == snapshot.sources.end())
		snapshot.sources.push_back(std::move(source));
	else if (start_time(source.pid) < start_time(found->pid))
		*found = std::move(source);
}

/*
 * Pages of one process. It may be any user's, and have any number of descriptors, of pages or of imitations: so each
 * file is read once, no more of them than there can be contexts, and reported once.
 */
class Owner
{
public:
	Owner(pid_t number, const Filter &filter, Snapshot &snapshot)
		: pid_(number), filter_(filter), snapshot_(snapshot)
	{
	}

	[[nodiscard]] bool has_enough() const { return seen_.size() >= soft::slot_limit; }

	void add(const Descriptor &descriptor)
	{
		const std::uint64_t file = inode_of(pid_, descriptor.number);
		if (file == 0 || !seen_.insert(file).second)
			return;
		std::string refused;
		std::optional<Page> page = read_page(pid_, descriptor.number, refused);
		if (!refused.empty())
			complain(descriptor, refused);
		if (!page || !wanted(filter_, page->source))
			return;
		page->source.pid = pid_;
		page->source.page = page->inode;
		page->source.command = command_name(pid_);
		if (!drops_)
			drops_ = socket_drops(pid_);
		add_drops(*page, *drops_);
		add_once(snapshot_, std::move(page->source));
	}

private:
	void complain(const Descriptor &descriptor, const std::string &refused)
	{
		if (!complained_)
			snapshot_.refused.push_back(
				fmt::format("process {} ({}), descriptor {}: {} is not a counter page: {}", pid_,
					command_name(pid_), descriptor.number, printable(descriptor.target), refused));
		complained_ = true;
	}

	const pid_t pid_;
	const Filter &filter_;
	Snapshot &snapshot_;
	std::set<std::uint64_t> seen_;
	std::optional<std::map<std::uint64_t, std::uint64_t>> drops_;
	bool complained_ = false;
};

/* Returns true if the descriptor is a page of its process. Readers of a page, such as this program, have it open for
 * reading only. */
bool is_page(const Descriptor &descriptor)
{
	return descriptor.writable && descriptor.target.starts_with(soft::counter_page_link);
}

int add_process(pid_t pid, const Filter &filter, Snapshot &snapshot)
{
	const auto open = descriptors(pid);
	if (!open)
		return errno;
	Owner owner(pid, filter, snapshot);
	for (const Descriptor &descriptor : *open)
		if (is_page(descriptor) && !owner.has_enough())
			owner.add(descriptor);
	return 0;
}

} // namespace

int add_contexts(const Filter &filter, Snapshot &snapshot)
{
	if (filter.pid)
		return add_process(filter.pid, filter, snapshot);
	for (const pid_t pid : processes())
		if (add_process(pid, filter, snapshot) == EACCES && !is_kernel_thread(pid))
			snapshot.hidden++;
	return 0;
}

} // namespace prism::stat
