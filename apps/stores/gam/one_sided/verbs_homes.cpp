/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/one_sided/verbs_homes.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

namespace prism::gam::latch
{

Result<std::unique_ptr<VerbsHomes>> VerbsHomes::create(rpc::CallDevice &device, NodeId self, const Layout &layout,
	std::uint32_t requests, Sink &sink, std::uint8_t ack_timeout)
{
	rpc::ListShape shape;
	shape.offset = layout.buffers();
	shape.buffer_size = block_size;
	shape.count = static_cast<std::uint32_t>(layout.buffer_count());
	Result<rpc::ListedMemory> memory = device.allocate_listed(layout.bytes(), shape, access::all);
	if (!memory)
		return memory.error();
	std::unique_ptr<VerbsHomes> homes(new VerbsHomes(
		device, self, *std::move(memory), layout, requests, sink, ack_timeout)); /* private constructor */
	if (Result<void> connected = homes->connect_to_itself(); !connected)
		return connected.error();
	return homes;
}

VerbsHomes::VerbsHomes(rpc::CallDevice &device, NodeId self, rpc::ListedMemory memory, const Layout &layout,
	std::uint32_t requests, Sink &sink, std::uint8_t ack_timeout)
	: device_(device), self_(self), lent_(std::move(memory)),
	  region_({lent_.memory.data(), lent_.memory.length()}, layout), told_{lent_.memory.remote(), layout,
										 lent_.list->info().number},
	  requests_(requests), ack_timeout_(ack_timeout), sink_(sink)
{
}

Result<void> VerbsHomes::connect_to_itself()
{
	Result<std::unique_ptr<rpc::Port>> near = open(), far = open();
	if (!near)
		return near.error();
	if (!far)
		return far.error();
	if (Result<void> connected = (*near)->connect((*far)->endpoint()); !connected)
		return connected;
	if (Result<void> connected = (*far)->connect((*near)->endpoint()); !connected)
		return connected;
	add(self_, *std::move(near), told_);
	mirrors_.push_back(*std::move(far));
	return {};
}

Result<WorkingMemory> VerbsHomes::allocate_lines(std::size_t lines)
{
	Result<rpc::Memory> memory = device_.allocate(lines * WorkingMemory::bytes_of_line, access::local);
	if (!memory)
		return memory.error();
	const LocalSlice slice = memory->slice(0, 0);
	lines_.push_back(*memory);
	return WorkingMemory{{memory->data(), memory->length()}, slice.address, slice.lkey};
}

Result<std::unique_ptr<rpc::Port>> VerbsHomes::open()
{
	rpc::PortOptions options;
	options.max_send_wr = requests_;
	options.access_flags = access::all;
	options.ack_timeout = ack_timeout_;
	return device_.open(options);
}

void VerbsHomes::add(NodeId node, std::unique_ptr<rpc::Port> port, const HomeMemory &memory)
{
	end(node);
	auto link = std::make_shared<Link>();
	link->node = node;
	link->port = std::move(port);
	link->memory = memory;
	link->posted.resize(requests_);
	link->free.resize(requests_);
	std::iota(link->free.begin(), link->free.end(), 0U);
	const std::scoped_lock guard(links_lock_);
	if (current_[node].load(std::memory_order_relaxed))
		link->posted_chains = link->ended_chains = posted_chains(node);
	current_[node].store(link.get(), std::memory_order_release);
	links_[link->port->number()] = std::move(link);
}

void VerbsHomes::cut_off(NodeId node) noexcept
{
	Link *const link = node < max_nodes ? current_[node].load(std::memory_order_acquire) : nullptr;
	if (!link)
		return;
	link->is_closed.store(true, std::memory_order_relaxed);
	end(node);
	current_[node].store(nullptr, std::memory_order_release);
	const std::scoped_lock reports(reports_lock_);
	batches_[node].count = 0; /* addresses from before the restart of the node */
}

void VerbsHomes::end(NodeId node) noexcept
{
	Link *const link = node < max_nodes ? current_[node].load(std::memory_order_acquire) : nullptr;
	if (!link)
		return;
	const std::scoped_lock guard(link->lock);
	link->failed.store(true, std::memory_order_relaxed);
	link->port->fail();
	if (node == self_)
		mirrors_.back()->fail();
}

const HomeMemory *VerbsHomes::find(NodeId home) const noexcept
{
	const Link *const link = home < max_nodes ? current_[home].load(std::memory_order_acquire) : nullptr;
	return link && !link->is_closed.load(std::memory_order_relaxed) ? &link->memory : nullptr;
}

bool VerbsHomes::has_ended(NodeId node) const noexcept
{
	const Link *const link = node < max_nodes ? current_[node].load(std::memory_order_acquire) : nullptr;
	return link && link->failed.load(std::memory_order_relaxed) && !link->is_closed.load(std::memory_order_relaxed);
}

void VerbsHomes::bury(NodeId node) noexcept
{
	const std::scoped_lock guard(links_lock_);
	std::erase_if(links_, [node](const auto &each) {
		Link &link = *each.second;
		link.is_buried |= link.node == node;
		const std::scoped_lock under_way(link.lock);
		return link.is_buried && !link.requests && link.ended_chains == link.posted_chains;
	});
}

int VerbsHomes::post(NodeId home, const Chain &chain, std::uint64_t token) noexcept
{
	Link *const link = home < max_nodes ? current_[home].load(std::memory_order_acquire) : nullptr;
	if (!link)
		return ENOTCONN;
	const std::scoped_lock guard(link->lock);
	if (link->is_closed.load(std::memory_order_relaxed))
		return ENOTCONN;
	if (link->failed.load(std::memory_order_relaxed))
		return EAGAIN;
	const auto requests = static_cast<std::uint32_t>(chain.size());
	if (link->free.empty() || link->requests + requests > requests_)
		return EAGAIN;
	const std::uint32_t place = link->free.back();
	if (const int error = link->port->post_chain(chain, place)) {
		if (error != ENOMEM)
			link->failed.store(true, std::memory_order_relaxed);
		return EAGAIN;
	}
	link->free.pop_back();
	link->posted[place] = {token, requests};
	link->requests += requests;
	link->posted_chains++;
	return 0;
}

/** Each request of a failed chain has a completion. The first one ends the chain, as its index is not used again. */
bool VerbsHomes::take(const Completion &completion) noexcept
{
	std::shared_ptr<Link> link;
	{
		const std::scoped_lock guard(links_lock_);
		const auto found = links_.find(completion.qp_num);
		if (found == links_.end())
			return false;
		link = found->second;
	}
	Posted posted;
	{
		const std::scoped_lock guard(link->lock);
		if (completion.failed())
			link->failed.store(true, std::memory_order_relaxed);
		if (completion.wr_id >= link->posted.size())
			return true;
		posted = std::exchange(link->posted[completion.wr_id], {});
		link->requests -= posted.requests;
		if (posted.requests && !completion.failed())
			link->free.push_back(static_cast<std::uint32_t>(completion.wr_id));
	}
	if (!posted.requests)
		return true;
	sink_.completed(posted.token, {completion.failed(), completion.error == IBV_WC_REM_ACCESS_ERR,
					      static_cast<std::uint32_t>(completion.status), completion.byte_len});
	const std::scoped_lock guard(link->lock);
	link->ended_chains++;
	return true;
}

void VerbsHomes::give_back(NodeId home, std::uint64_t address) noexcept
{
	if (home >= max_nodes)
		return;
	const std::scoped_lock guard(reports_lock_);
	Batch &batch = batches_[home];
	batch.buffers[batch.count++] = address;
	if (batch.count == max_reported)
		report(home, batch);
}

/** Reports a batch; for this node's own memory directly to the list, without a message. */
void VerbsHomes::report(NodeId home, Batch &batch) noexcept
{
	const std::span<const std::uint64_t> buffers = std::span(batch.buffers).first(batch.count);
	if (home == self_)
		lent_.list->give_back(buffers);
	else
		sink_.report(home, buffers);
	batch.count = 0;
}

void VerbsHomes::freed(std::span<const std::uint64_t> buffers) noexcept
{
	const std::scoped_lock guard(reports_lock_);
	lent_.list->give_back(buffers);
}

bool VerbsHomes::mark_buffers() noexcept
{
	const std::scoped_lock guard(reports_lock_);
	next_to_spare_ = 0;
	return lent_.list->mark();
}

/** Others may report meanwhile, so it holds the lock for some entries only. */
bool VerbsHomes::spare_some_buffers() noexcept
{
	constexpr std::uint64_t some = 16384;
	const std::uint64_t end = std::min(next_to_spare_ + some, region_.layout().blocks);
	const std::scoped_lock guard(reports_lock_);
	for (; next_to_spare_ < end; next_to_spare_++)
		lent_.list->spare(region_.entry(next_to_spare_).value.ptr);
	return end == region_.layout().blocks;
}

void VerbsHomes::collect_buffers() noexcept
{
	const std::scoped_lock guard(reports_lock_);
	lent_.list->collect();
}

std::uint64_t VerbsHomes::posted_chains(NodeId home) const noexcept
{
	Link *const link = home < max_nodes ? current_[home].load(std::memory_order_acquire) : nullptr;
	if (!link)
		return 0;
	const std::scoped_lock guard(link->lock);
	return link->posted_chains;
}

/**
 * A queue pair that has failed may still be executing at the home; when another stands, it is not, but outcomes of the
 * earlier one may still be in the completion queue.
 */
bool VerbsHomes::have_ended(NodeId home, std::uint64_t chains) const noexcept
{
	Link *const link = home < max_nodes ? current_[home].load(std::memory_order_acquire) : nullptr;
	if (!link || link->failed.load(std::memory_order_relaxed))
		return false;
	const std::scoped_lock guard(links_lock_);
	return std::ranges::all_of(links_, [&](const auto &each) {
		Link &other = *each.second;
		const std::scoped_lock under_way(other.lock);
		return other.node != home || other.ended_chains >= (&other == link ? chains : other.posted_chains);
	});
}

void VerbsHomes::flush_reports() noexcept
{
	const std::scoped_lock guard(reports_lock_);
	for (NodeId home = 0; home < max_nodes; home++) {
		if (batches_[home].count)
			report(home, batches_[home]);
	}
}

} // namespace prism::gam::latch
