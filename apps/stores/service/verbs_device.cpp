/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "verbs_device.hpp"

#include <prism/chain.hpp>

#include <chrono>
#include <utility>

namespace prism::apps
{

namespace
{

/* Reports of freed buffers that fit in the receive queue */
constexpr std::uint32_t report_slots = 1024;

} // namespace

Result<std::unique_ptr<VerbsDevice>> VerbsDevice::create(const Context &context, std::uint64_t bytes, LogSink log)
{
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	Result<Buffer> memory = Buffer::create(*pd, bytes, access::all);
	if (!memory)
		return memory.error();
	Result<Reclaimer> reclaimer = Reclaimer::create(*pd, report_slots);
	if (!reclaimer)
		return reclaimer.error();
	Result<CompletionQueue> cq = CompletionQueue::create(context, 256);
	if (!cq)
		return cq.error();
	Result<QueuePair> self = QueuePair::create(*pd, *cq, *cq);
	if (!self)
		return self.error();
	if (Result<void> connected = self->connect_to_self(); !connected)
		return connected.error();
	return std::unique_ptr<VerbsDevice>(
		new VerbsDevice(*pd, *std::move(memory), *std::move(reclaimer), *cq, *std::move(self), std::move(log)));
}

VerbsDevice::VerbsDevice(
	ProtectionDomain pd, Buffer memory, Reclaimer reclaimer, CompletionQueue cq, QueuePair self, LogSink log)
	: pd_(std::move(pd)), memory_(std::make_shared<const Buffer>(std::move(memory))),
	  reclaimer_(std::move(reclaimer)), cq_(std::move(cq)), self_(std::move(self)), log_(std::move(log))
{
}

Result<void> VerbsDevice::make_lists(const RegionLayout &layout)
{
	for (const BufferClass &wanted : layout.lists()) {
		FreeListOptions options;
		options.buffer_size = wanted.buffer_size;
		options.count = wanted.count;
		Result<FreeList> made = FreeList::create(pd_, options, memory_, layout.buffers(lists_.size()));
		if (!made)
			return made.error();
		lists_.push_back(*std::move(made));
	}
	for (FreeList &list : lists_) {
		reclaimer_.serve(list);
		live_.push_back(list.live());
	}
	return {};
}

Result<QueuePair> VerbsDevice::connect(const Endpoint &peer)
{
	QueuePairOptions options;
	options.srq = reclaimer_.receive_queue();
	Result<QueuePair> qp = QueuePair::create(pd_, cq_, reclaimer_.completion_queue(), options);
	if (!qp)
		return qp.error();
	if (Result<void> connected = qp->connect(peer); !connected)
		return connected.error();
	return qp;
}

bool VerbsDevice::run_on_self(const Chain &chain)
{
	if (chain.post(self_, 0))
		return false;
	Completion completion;
	return !cq_.wait(completion, std::chrono::seconds(1)) && completion.ok();
}

std::uint64_t VerbsDevice::taken_back(std::size_t list) const noexcept
{
	prismdv_free_list_attr counters{};
	return prismdv_query_free_list(lists_[list].raw(), &counters) ? 0 : counters.reclaimed;
}

Result<void> VerbsDevice::mark(std::size_t list)
{
	return lists_[list].begin_recovery();
}

bool VerbsDevice::drain(std::size_t list)
{
	return lists_[list].drain(self_, std::chrono::seconds(1)).ok();
}

void VerbsDevice::refill(std::size_t list)
{
	(void)lists_[list].post_released();
}

void VerbsDevice::spare(std::uint64_t address) noexcept
{
	for (LiveSet &live : live_)
		live.add(address);
}

std::uint64_t VerbsDevice::collect(std::size_t list)
{
	const Result<Recovery> ended = lists_[list].end_recovery(live_[list]);
	if (ended)
		return ended->recovered;
	log_to(log_, LogLevel::error, "recovery scan: " + ended.error().message);
	return 0;
}

int VerbsDevice::take_reports()
{
	const auto handled = [this] { return reclaimer_.stats().reports + reclaimer_.stats().failed_receives; };
	const std::uint64_t before = handled();
	if (const int got = reclaimer_.poll(); got < 0)
		return got;
	return static_cast<int>(handled() - before);
}

} // namespace prism::apps
