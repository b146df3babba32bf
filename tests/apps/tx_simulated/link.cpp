/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "link.hpp"

#include <span>
#include <utility>

namespace tx_sim
{

Link::Link(std::unique_ptr<Pair> pair, const Admission &admission, std::uint32_t report_batch)
	: pair_(std::move(pair)), view_(admission.view), connection_(admission.connection), report_batch_(report_batch)
{
	for (const Admission::List &list : admission.lists) {
		lists_.push_back({list.buffers, {}});
		lists_.back().batch.free_list = list.number;
	}
}

void Link::release(std::uint64_t address)
{
	for (List &list : lists_) {
		if (!list.buffers.contains(address, 1))
			continue;
		if (list.batch.count >= report_batch_ && send(list, 0, false)) {
			waiting_.push_back(address);
			return;
		}
		list.batch.addresses[list.batch.count++] = address;
		if (list.batch.count >= report_batch_)
			(void)send(list, 0, false);
		return;
	}
}

int Link::send(List &list, std::uint64_t wr_id, bool signaled)
{
	prism::FreeReport::Bytes bytes;
	const std::size_t size = list.batch.serialize(bytes);
	const int error = pair_->send(std::span(bytes).first(size), wr_id, signaled);
	if (!error)
		list.batch.count = 0;
	return error;
}

void Link::flush()
{
	for (List &list : lists_) {
		if (list.batch.count && !send(list, flush_id, true))
			flushes_++;
	}
}

void Link::settle(std::uint64_t newest, std::function<void()> answer)
{
	settling_ = {std::move(answer), newest, 0};
}

void Link::talk(std::uint64_t oldest)
{
	for (const std::uint64_t address : std::exchange(waiting_, {}))
		release(address);
	if (!settling_ || oldest <= settling_->before || !waiting_.empty())
		return;
	for (; settling_->flushed < lists_.size(); settling_->flushed++) {
		if (send(lists_[settling_->flushed], flush_id, true))
			return; /* no room in the send queue yet */
		flushes_++;
	}
	if (flushes_)
		return;
	const std::function<void()> answer = std::move(settling_->answer);
	settling_.reset();
	answer();
}

} // namespace tx_sim
