/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <prism/reclaim.hpp>

#include "bytes.hpp"

#include <algorithm>
#include <cerrno>

namespace prism
{

namespace
{

constexpr std::uint32_t report_magic = 0x50525846; /* "PRXF" */
constexpr std::uint16_t report_version = 1;

} // namespace

std::size_t FreeReport::serialize(Bytes &bytes) const noexcept
{
	ByteWriter out(bytes.data());
	out.put(report_magic);
	out.put(report_version);
	out.put(static_cast<std::uint16_t>(count));
	out.put(free_list);
	out.skip(4);
	for (std::uint32_t i = 0; i < count; i++)
		out.put(addresses[i]);
	return header_size + std::size_t{8} * count;
}

bool FreeReport::parse(std::span<const std::byte> bytes) noexcept
{
	ByteReader in(bytes);
	const auto found_magic = in.get<std::uint32_t>();
	const auto version = in.get<std::uint16_t>();
	count = in.get<std::uint16_t>();
	free_list = in.get<std::uint32_t>();
	in.skip(4);
	if (in.overrun() || found_magic != report_magic || version != report_version || count > max_addresses)
		return false;
	if (in.left() != std::size_t{8} * count)
		return false;
	for (std::uint32_t i = 0; i < count; i++)
		addresses[i] = in.get<std::uint64_t>();
	return true;
}

FreeReporter::FreeReporter(const QueuePair &pair, std::uint32_t free_list, std::uint32_t limit)
	: qp_(&pair), batch_limit_(limit)
{
	batch_.free_list = free_list;
}

Result<FreeReporter> FreeReporter::create(const QueuePair &qp_, std::uint32_t free_list)
{
	if (qp_.max_inline_data() < FreeReport::header_size + 8)
		return make_error(EINVAL, "the queue pair carries too few bytes inline for a report",
			"create it with QueuePairOptions::max_inline_data of at least 24");
	const std::size_t fitting = (qp_.max_inline_data() - FreeReport::header_size) / 8;
	return FreeReporter(qp_, free_list, static_cast<std::uint32_t>(std::min(fitting, FreeReport::max_addresses)));
}

int FreeReporter::send(std::uint64_t wr_id, unsigned send_flags) noexcept
{
	FreeReport::Bytes bytes;
	const std::size_t size = batch_.serialize(bytes);
	const LocalSlice slice{reinterpret_cast<std::uint64_t>(bytes.data()), static_cast<std::uint32_t>(size), 0};
	const int error = qp_->post_send(wr_id, slice, send_flags | IBV_SEND_INLINE);
	if (!error)
		batch_.count = 0;
	return error;
}

int FreeReporter::report(std::uint64_t address) noexcept
{
	if (batch_.count == batch_limit_) {
		if (const int error = send(0, 0))
			return error;
	}
	batch_.addresses[batch_.count++] = address;
	/* A full batch leaves now; if the send queue has no room, it leaves with the next address. */
	if (batch_.count == batch_limit_)
		(void)send(0, 0);
	return 0;
}

int FreeReporter::flush(std::uint64_t wr_id) noexcept
{
	return send(wr_id, IBV_SEND_SIGNALED);
}

Reclaimer::Reclaimer(Buffer buffers, CompletionQueue cq, Handle srq)
	: memory_(std::move(buffers)), completions_(std::move(cq)), handle_(std::move(srq))
{
}

Result<Reclaimer> Reclaimer::create(const ProtectionDomain &pd, std::uint32_t slots)
{
	Result<Buffer> buffers = Buffer::create(pd, FreeReport::max_size * slots);
	if (!buffers)
		return buffers.error();
	Result<CompletionQueue> cq = CompletionQueue::create(pd.context(), static_cast<int>(slots));
	if (!cq)
		return cq.error();
	ibv_srq_init_attr attr{};
	attr.attr.max_wr = slots;
	attr.attr.max_sge = 1;
	Handle srq(ibv_create_srq(pd.raw(), &attr));
	if (!srq)
		return make_error(errno, "cannot create a receive queue of " + std::to_string(slots) + " reports",
			"max_srq_wr of ibv_devinfo -v is the limit");
	Reclaimer reclaimer(*std::move(buffers), *std::move(cq), std::move(srq));
	for (std::uint32_t slot = 0; slot < slots; slot++) {
		if (const int error = reclaimer.post_slot(slot))
			return make_error(error, "cannot post receives for reports");
	}
	return reclaimer;
}

void Reclaimer::serve(FreeList &list)
{
	lists_.push_back(&list);
}

int Reclaimer::post_slot(std::uint64_t slot) noexcept
{
	const LocalSlice slice = memory_.slice(slot * FreeReport::max_size, FreeReport::max_size);
	ibv_sge sge{.addr = slice.address, .length = slice.length, .lkey = slice.lkey};
	ibv_recv_wr wr{.wr_id = slot, .next = nullptr, .sg_list = &sge, .num_sge = 1};
	ibv_recv_wr *bad = nullptr;
	return ibv_post_srq_recv(handle_.get(), &wr, &bad);
}

FreeList *Reclaimer::find(std::uint32_t number) const noexcept
{
	const auto found = std::find_if(
		lists_.begin(), lists_.end(), [number](const FreeList *list) { return list->number() == number; });
	return found == lists_.end() ? nullptr : *found;
}

int Reclaimer::refresh_lists() noexcept
{
	for (FreeList *list : lists_) {
		if (const int error = list->refresh())
			return error;
	}
	return 0;
}

int Reclaimer::poll() noexcept
{
	std::array<Completion, 16> arrived;
	const int got = completions_.poll(arrived);
	if (got <= 0)
		return got;
	/* Read the counters after the reports have arrived: they then include the ALLOCATEs of every buffer in the
	 * reports. */
	int failure = refresh_lists();
	released_ = 0;
	for (const Completion &completion : std::span(arrived).first(static_cast<std::size_t>(got))) {
		/* Without counters no address can be judged: leave the buffers to the recovery scan. */
		if (!failure)
			handle_report(completion);
		if (const int error = post_slot(completion.wr_id))
			failure = error;
	}
	for (FreeList *list : lists_) {
		if (const int error = list->post_released())
			failure = error;
	}
	return failure ? -failure : static_cast<int>(released_);
}

void Reclaimer::handle_report(const Completion &completion) noexcept
{
	if (completion.failed()) {
		counted_.failed_receives++;
		return;
	}
	counted_.reports++;
	const std::byte *bytes = memory_.data() + completion.wr_id * FreeReport::max_size;
	if (!report_.parse({bytes, completion.byte_len})) {
		counted_.malformed++;
		return;
	}
	if (FreeList *list = find(report_.free_list))
		judge(*list);
	else
		counted_.unknown_list++;
}

void Reclaimer::judge(FreeList &list) noexcept
{
	for (std::uint32_t i = 0; i < report_.count; i++) {
		const Verdict verdict = list.release(report_.addresses[i]);
		if (verdict == Verdict::released)
			released_++;
		else if (verdict != Verdict::undecided)
			counted_.refused++;
	}
}

} // namespace prism
