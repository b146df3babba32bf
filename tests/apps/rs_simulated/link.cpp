/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "link.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace rs_sim
{

namespace
{
/* Freed buffers after which Flaw::double_report reports the oldest of them again */
constexpr std::size_t reports_until_again = 3;
} // namespace

Link::Link(
	std::unique_ptr<Pair> pair, const Admission &admission, std::uint32_t report_batch, Flaw flaw, LinkHooks &hooks)
	: ReplicaLink(admission.view), pair_(std::move(pair)), connection_(admission.connection),
	  report_batch_(report_batch), flaw_(flaw), hooks_(hooks)
{
	batch_.free_list = view().free_list;
}

int Link::post(std::span<const prism::Chain::Posting> chains) noexcept
{
	std::vector<prism::Chain::Posting> posted;
	std::copy_if(chains.begin(), chains.end(), std::back_inserter(posted),
		[this](const prism::Chain::Posting &posting) { return !hooks_.spares(posting); });
	return posted.empty() ? 0 : pair_->post(posted);
}

void Link::release(std::uint64_t address) noexcept
{
	if (hooks_.forgets_buffer())
		return;
	report(address);
	if (flaw_ != Flaw::double_report)
		return;
	again_.push_back(address);
	if (again_.size() > reports_until_again) {
		report(again_.front());
		again_.erase(again_.begin());
	}
}

void Link::report(std::uint64_t address)
{
	if (batch_.count >= report_batch_ && send(0, false)) {
		waiting_.push_back(address);
		return;
	}
	batch_.addresses[batch_.count++] = address;
	if (batch_.count >= report_batch_)
		(void)send(0, false);
}

int Link::send(std::uint64_t wr_id, bool signaled)
{
	prism::FreeReport::Bytes bytes;
	const std::size_t size = batch_.serialize(bytes);
	const int error = pair_->send(std::span(bytes).first(size), wr_id, signaled);
	if (!error)
		batch_.count = 0;
	return error;
}

void Link::flush(std::uint64_t flush_id) noexcept
{
	if (batch_.count && !send(flush_id, true))
		flushes_++;
}

void Link::flushed() noexcept
{
	if (flushes_)
		flushes_--;
}

void Link::settle(std::function<void()> answer)
{
	settling_ = {std::move(answer), {}, false};
}

/** Goes on settling. A flush, even an empty one, shows that the reports before it have arrived. */
int Link::talk(std::uint64_t oldest, std::uint64_t newest, std::uint64_t flush_id) noexcept
{
	for (const std::uint64_t address : std::exchange(waiting_, {}))
		report(address);
	if (!settling_)
		return 0;
	if (!settling_->before)
		settling_->before = newest;
	const bool hasty = flaw_ == Flaw::hasty_settle;
	if (!hasty && (oldest <= *settling_->before || !waiting_.empty()))
		return 0;
	if (!settling_->flushed) {
		if (send(flush_id, true))
			return 0; /* no room in the send queue yet */
		flushes_++;
		settling_->flushed = true;
	}
	if (flushes_ && !hasty)
		return 0;
	const std::function<void()> answer = std::move(settling_->answer);
	settling_.reset();
	answer();
	return 0;
}

} // namespace rs_sim
