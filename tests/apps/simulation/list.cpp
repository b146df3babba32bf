/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "list.hpp"

#include <utility>

namespace simulation
{

List::List(
	soft::Engine &engine, std::uint64_t va, std::uint32_t key, std::uint32_t size, std::uint32_t count, bool grace)
	: engine_(engine), key_(key), size_(size), grace_(grace), srq_(engine.take_srqn(), domain, count, 1, true),
	  ledger_(va, size, count)
{
	engine_.add_srq(srq_);
	for (std::uint32_t index = 0; index < count; index++)
		released_.push_back(index);
	post_released();
	refresh();
}

List::~List()
{
	engine_.remove_srq(srq_);
}

std::uint32_t List::available() const noexcept
{
	return srq_.queue.size() + static_cast<std::uint32_t>(srq_.returned.size());
}

void List::refresh()
{
	prismdv_free_list_attr counters{};
	counters.posted = srq_.posted;
	counters.popped = srq_.popped;
	counters.rejected = srq_.rejected;
	counters.reclaimed = srq_.reclaimed;
	counters.available = available();
	counters.allocatable = engine_.allocatable(srq_);
	ledger_.observe(counters);
	for (const std::uint64_t address : std::exchange(waiting_, {}))
		release(address);
}

void List::release(std::uint64_t address)
{
	std::uint32_t index = 0;
	const prism::Verdict verdict = ledger_.release(address, index);
	if (verdict == prism::Verdict::released)
		released_.push_back(index);
	else if (verdict == prism::Verdict::undecided)
		waiting_.push_back(address);
	else
		refused_++;
}

void List::post_released()
{
	for (const std::uint32_t index : std::exchange(released_, {})) {
		if (!engine_.post_free_list(srq_, index, {ledger_.address_of(index), size_, key_}))
			ledger_.posted(index);
	}
	if (!grace_)
		srq_.indices.allocatable = srq_.indices.producer;
}

std::uint64_t List::collect()
{
	const std::size_t before = released_.size();
	ledger_.collect(released_);
	const std::size_t found = released_.size() - before;
	post_released();
	return found;
}

void List::taken_by_owner(std::uint64_t address)
{
	std::uint32_t index = 0;
	if (ledger_.taken_by_owner(address, index))
		released_.push_back(index);
}

std::vector<std::uint64_t> List::take_all()
{
	std::vector<std::uint64_t> addresses;
	for (; !srq_.queue.empty(); srq_.queue.pop())
		addresses.push_back(srq_.queue.front().sges[0].addr);
	for (const auto &taken : std::exchange(srq_.returned, {}))
		addresses.push_back(taken.entry.addr);
	return addresses;
}

} // namespace simulation
