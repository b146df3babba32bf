/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/free_list.hpp>

#include <prism/chain.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/assertion.hpp"

namespace prism
{

namespace
{

/* Aligns the first buffer like the memory of the table. */
constexpr std::size_t table_alignment = 64;

std::size_t table_bytes_of(const FreeListOptions &options)
{
	return (options.table_size + table_alignment - 1) / table_alignment * table_alignment;
}

Result<ibv_srq *> create_list(const ProtectionDomain &pd, std::uint32_t entries)
{
	ibv_srq_init_attr_ex attr{};
	attr.attr.max_wr = entries;
	attr.attr.max_sge = 1;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	attr.srq_type = IBV_SRQT_BASIC;
	attr.pd = pd.raw();
	prismdv_srq_init_attr prism_attr{};
	prism_attr.flags = PRISMDV_SRQ_FREE_LIST;
	ibv_srq *srq = prismdv_create_srq(pd.context().raw(), &attr, &prism_attr);
	if (!srq)
		return make_error(errno, "cannot create a free list of " + std::to_string(entries) + " entries",
			"max_srq_wr of ibv_devinfo -v is the limit");
	return srq;
}

} // namespace

void LiveSet::add(std::uint64_t address) noexcept
{
	if (ledger_.spare(address))
		inside_++;
	else
		elsewhere_++;
}

FreeList::FreeList(std::shared_ptr<const Buffer> buffers, std::size_t offset, Handle srq, std::uint32_t number,
	const FreeListOptions &options)
	: memory_(std::move(buffers)), table_bytes_(table_bytes_of(options)), handle_(std::move(srq)),
	  srq_number_(number), buffer_size_(options.buffer_size), low_water_(options.low_water),
	  ledger_(memory_->region().address() + offset, options.buffer_size, options.count)
{
	released_.reserve(options.count);
	waiting_.reserve(options.count);
}

Result<FreeList> FreeList::create(const ProtectionDomain &pd, const FreeListOptions &options)
{
	const std::size_t bytes = table_bytes_of(options) + std::size_t{options.buffer_size} * options.count;
	Result<Buffer> buffers = Buffer::create(pd, bytes, access::all);
	if (!buffers)
		return buffers.error();
	return create_over(pd, options, std::make_shared<const Buffer>(*std::move(buffers)), table_bytes_of(options));
}

Result<FreeList> FreeList::create(const ProtectionDomain &pd, const FreeListOptions &options,
	std::shared_ptr<const Buffer> shared, std::size_t offset)
{
	const std::size_t bytes = std::size_t{options.buffer_size} * options.count;
	if (options.table_size != 0)
		return make_error(
			EINVAL, "cannot create a free list", "shared memory has no room for a table of its own");
	if (offset > shared->length() || bytes > shared->length() - offset)
		return make_error(ERANGE, "cannot create a free list", "its buffers reach beyond the shared memory");
	return create_over(pd, options, std::move(shared), offset);
}

Result<FreeList> FreeList::create_over(const ProtectionDomain &pd, const FreeListOptions &options,
	std::shared_ptr<const Buffer> buffers, std::size_t offset)
{
	if (options.buffer_size == 0 || options.buffer_size % 16 != 0 || options.count == 0)
		return make_error(EINVAL, "cannot create a free list",
			"it needs at least one buffer, of a size that is a multiple of 16");
	Result<ibv_srq *> srq = create_list(pd, options.count);
	if (!srq)
		return srq.error();
	Handle handle_(*srq);
	std::uint32_t number = 0;
	if (const int error = ibv_get_srq_num(handle_.get(), &number))
		return make_error(error, "cannot tell the number of a free list");

	FreeList list(std::move(buffers), offset, std::move(handle_), number, options);
	for (std::uint32_t index = 0; index < options.count; index++)
		list.released_.push_back(index);
	if (const int error = list.post_released())
		return make_error(error, "cannot post buffers to a free list");
	if (const int error = list.refresh())
		return make_error(error, "cannot query a free list");
	return list;
}

FreeListInfo FreeList::info() const noexcept
{
	const std::uint64_t bytes = std::uint64_t{buffer_size_} * ledger_.buffers();
	return {srq_number_, buffer_size_, {ledger_.address_of(0), bytes, memory_->region().rkey()}};
}

void FreeList::count_refusal(Verdict verdict) noexcept
{
	switch (verdict) {
	case Verdict::outside:
		counted_.outside++;
		break;
	case Verdict::misaligned:
		counted_.misaligned++;
		break;
	case Verdict::not_allocated:
		counted_.not_allocated++;
		break;
	case Verdict::released:
	case Verdict::undecided:
		break;
	}
}

Verdict FreeList::release(std::uint64_t address) noexcept
{
	std::uint32_t index = 0;
	Verdict verdict = ledger_.release(address, index);
	if (verdict == Verdict::undecided) {
		/* It waits already, or more addresses wait than there are buffers: freed twice in either case. */
		if (std::find(waiting_.begin(), waiting_.end(), address) != waiting_.end())
			verdict = Verdict::not_allocated;
		else
			waiting_.push_back(address);
	}
	if (verdict == Verdict::released) {
		released_.push_back(index);
		counted_.released++;
	}
	if (verdict == Verdict::undecided)
		counted_.deferred++;
	count_refusal(verdict);
	return verdict;
}

int FreeList::refresh() noexcept
{
	prismdv_free_list_attr counters{};
	if (const int error = prismdv_query_free_list(handle_.get(), &counters))
		return error;
	available_entries_ = counters.available;
	ledger_.observe(counters);
	if (counters.rejected > counted_.rejected) {
		if (const int error = take_rejected())
			return error;
	}
	settle_waiting();
	return 0;
}

int FreeList::take_rejected() noexcept
{
	std::array<prismdv_rejected_entry, 16> entries;
	for (;;) {
		const ssize_t got = prismdv_poll_rejected(handle_.get(), entries.data(), entries.size());
		if (got < 0)
			return static_cast<int>(-got);
		for (ssize_t i = 0; i < got; i++)
			ledger_.rejected(entries[static_cast<std::size_t>(i)].addr);
		counted_.rejected += static_cast<std::uint64_t>(got);
		if (static_cast<std::size_t>(got) < entries.size())
			return 0;
	}
}

void FreeList::settle_waiting() noexcept
{
	std::size_t kept = 0;
	for (const std::uint64_t address : waiting_) {
		std::uint32_t index = 0;
		const Verdict verdict = ledger_.release(address, index);
		if (verdict == Verdict::undecided) {
			waiting_[kept++] = address;
		} else if (verdict == Verdict::released) {
			released_.push_back(index);
			counted_.released++;
		} else {
			count_refusal(verdict);
		}
	}
	waiting_.resize(kept);
}

int FreeList::post_released() noexcept
{
	std::size_t done = 0;
	int error = 0;
	while (!error && done < released_.size()) {
		const std::size_t size = std::min(batch, released_.size() - done);
		std::size_t posted = 0;
		error = post_batch(std::span(released_).subspan(done, size), posted);
		done += posted;
	}
	released_.erase(released_.begin(), released_.begin() + static_cast<std::ptrdiff_t>(done));
	return error;
}

int FreeList::post_batch(std::span<const std::uint32_t> indices, std::size_t &done) noexcept
{
	PRISM_ASSERT(indices.size() <= batch);
	std::array<ibv_sge, batch> sges;
	std::array<ibv_recv_wr, batch> wrs;
	for (std::size_t i = 0; i < indices.size(); i++) {
		sges[i] = {ledger_.address_of(indices[i]), buffer_size_, memory_->region().lkey()};
		wrs[i] = {indices[i], i + 1 < indices.size() ? &wrs[i + 1] : nullptr, &sges[i], 1};
	}
	ibv_recv_wr *bad = nullptr;
	const int error = ibv_post_srq_recv(handle_.get(), wrs.data(), &bad);
	done = error ? static_cast<std::size_t>(bad - wrs.data()) : indices.size();
	for (std::size_t i = 0; i < done; i++)
		ledger_.posted(indices[i]);
	return error;
}

Result<Recovery> FreeList::recover(const std::function<void(LiveSet &)> &enumerate)
{
	if (Result<void> begun = begin_recovery(); !begun)
		return begun.error();
	LiveSet reachable = live();
	enumerate(reachable);
	return end_recovery(reachable);
}

Result<void> FreeList::begin_recovery()
{
	if (const int error = refresh())
		return make_error(error, "cannot query the free list");
	if (!ledger_.exact())
		return make_error(EBUSY,
			"the recovery scan cannot tell leaked buffers from those that the device took back",
			"call FreeList::drain() first");
	ledger_.mark();
	return {};
}

Result<Recovery> FreeList::end_recovery(const LiveSet &live)
{
	const std::size_t before = released_.size();
	ledger_.collect(released_);
	const std::size_t found = released_.size() - before;
	counted_.recovered += found;
	if (const int error = post_released())
		return make_error(error, "cannot post recovered buffers", "call FreeList::post_released() again");
	return Recovery{live.live(), live.outside(), found};
}

namespace
{

/* Answers of the ALLOCATEs that drain a list, one word each. */
class Drainer
{
public:
	Drainer(QueuePair &pair, const Buffer &words, std::uint32_t list) : qp_(pair), answers_(words), number_(list) {}

	/* Takes one buffer; address 0 means that the list had none. */
	int take(std::uint64_t &address, std::chrono::nanoseconds timeout)
	{
		*answers_.as<std::uint64_t>() = 0;
		const int error = Chain{}.allocate(number_, std::span<const std::byte>{})
					  .result(answers_.slice(0, 8))
					  .post(qp_, 0);
		if (error)
			return error;
		Completion completion;
		if (const int waited = qp_.send_queue().wait(completion, timeout))
			return waited;
		address = completion.ok() ? *answers_.as<std::uint64_t>() : 0;
		return completion.failed() ? EIO : 0;
	}

private:
	QueuePair &qp_;
	const Buffer &answers_;
	std::uint32_t number_;
};

} // namespace

Result<std::uint64_t> FreeList::drain(QueuePair &self, std::chrono::milliseconds timeout)
{
	const Deadline deadline = std::chrono::steady_clock::now() + timeout;
	Result<Buffer> answer = Buffer::create(self.domain_handle(), sizeof(std::uint64_t));
	if (!answer)
		return answer.error();
	Drainer drainer(self, *answer, srq_number_);
	std::uint64_t taken = 0;
	while (std::chrono::steady_clock::now() < deadline) {
		std::uint64_t address = 0;
		if (const int error = drainer.take(address, timeout))
			return make_error(
				error, "cannot drain the free list", "the queue pair must be connected to itself");
		std::uint32_t index = 0;
		if (address && ledger_.taken_by_owner(address, index)) {
			released_.push_back(index);
			taken++;
		}
		if (address)
			continue;
		if (const int error = refresh())
			return make_error(error, "cannot query the free list");
		/* Entries in their grace period give NO_BUFFER too: those are still to come. */
		if (available_entries_ == 0)
			return taken;
	}
	return make_error(ETIMEDOUT, "the free list did not run empty",
		"a request that does not end holds its buffers back; retry once clients have finished");
}

} // namespace prism
