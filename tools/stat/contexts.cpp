/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stat/contexts.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include <fmt/format.h>

#include "soft/verbs/counter_layout.hpp"
#include "stat/page.hpp"
#include "stat/proc.hpp"

namespace prism::stat
{

namespace
{

/* The page says which sockets are the context's, /proc what the kernel dropped for want of room in them. */
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

/* A child made by fork() holds the page open too: it belongs to who was there first. */
void add_once(Snapshot &snapshot, Source source)
{
	const auto same = [&source](const Source &other) { return !other.kernel && other.page == source.page; };
	const auto found = std::ranges::find_if(snapshot.sources, same);
	if (found == snapshot.sources.end())
		snapshot.sources.push_back(std::move(source));
	else if (start_time(source.pid) < start_time(found->pid))
		*found = std::move(source);
}

void add_page(pid_t pid, const Descriptor &descriptor, const Filter &filter, Snapshot &snapshot)
{
	std::string refused;
	std::optional<Page> page = read_page(pid, descriptor.number, refused);
	if (!refused.empty())
		snapshot.refused.push_back(fmt::format("process {} ({}), descriptor {}: {} is not a counter page: {}",
			pid, command_name(pid), descriptor.number, printable(descriptor.target), refused));
	if (!page || !wanted(filter, page->source))
		return;
	page->source.pid = pid;
	page->source.page = page->inode;
	page->source.command = command_name(pid);
	add_drops(*page, socket_drops(pid));
	add_once(snapshot, std::move(page->source));
}

/* Whoever only reads a page, as this program, has it open for reading alone. */
bool is_page(const Descriptor &descriptor)
{
	return descriptor.writable && descriptor.target.starts_with(soft::counter_page_link);
}

int add_process(pid_t pid, const Filter &filter, Snapshot &snapshot)
{
	const auto open = descriptors(pid);
	if (!open)
		return errno;
	for (const Descriptor &descriptor : *open)
		if (is_page(descriptor))
			add_page(pid, descriptor, filter, snapshot);
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
