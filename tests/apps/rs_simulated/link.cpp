/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "link.hpp"

#include <span>
#include <utility>

namespace rs_sim
{

namespace
{
/* Freed buffers after which Flaw::double_report reports the oldest of them again */
constexpr std::size_t reports_until_again = 3;
} // namespace

Link::Link(std::unique_ptr<Pair> pair, const Admission &admission, std::uint32_t report_batch, Flaw flaw)
	: pair_(std::move(pair)), view_(admission.view), connection_(admission.connection), report_batch_(report_batch),
	  flaw_(flaw)
{
	batch_.free_list = view_.free_list;
}

void Link::release(std::uint64_t address)
{
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

void Link::flush()
{
	if (batch_.count && !send(flush_id, true))
		flushes_++;
}

void Link::flushed() noexcept
{
	if (flushes_)
		flushes_--;
}

void Link::settle(std::uint64_t newest, std::function<void()> answer)
{
	settling_ = {std::move(answer), newest, false};
}

/** A flush, be it of nothing, tells that the reports before it have arrived. */
void Link::talk(std::uint64_t oldest)
{
	for (const std::uint64_t address : std::exchange(waiting_, {}))
		report(address);
	if (!settling_)
		return;
	const bool hasty = flaw_ == Flaw::hasty_settle;
	if (!hasty && (oldest <= settling_->before || !waiting_.empty()))
		return;
	if (!settling_->flushed) {
		if (send(flush_id, true))
			return; /* no room in the send queue yet */
		flushes_++;
		settling_->flushed = true;
	}
	if (flushes_ && !hasty)
		return;
	const std::function<void()> answer = std::move(settling_->answer);
	settling_.reset();
	answer();
}

} // namespace rs_sim
