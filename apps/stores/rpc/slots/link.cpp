/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/slots/link.hpp"

#include "base/saturating.hpp"
#include "rpc/slots/layout.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prism::rpc::slots
{

namespace
{

/* Time after which the response of an unused slot is given back */
constexpr auto idle_time = std::chrono::milliseconds(1);
/* Time before a refused request is sent again; doubled each time, up to 64 times that */
constexpr auto refused_time = std::chrono::microseconds(20);
constexpr std::uint32_t most_doublings = 6;
/* Bytes of the first READs: no more than fit in a packet on any path */
constexpr std::uint32_t first_guess = 1024;

} // namespace

SlotsLink::SlotsLink(Introduced introduced, std::vector<Memory> made)
	: QueuedLink(std::move(introduced), needs(introduced.parts.settings).lanes, std::move(made)),
	  slots_at_server_(record().region(slot_region)->region), free_list_(record().free_lists.front().number),
	  pace_(settings().fetch.paced), slots_(depth()), in_waiting_(depth())
{
	waiting_.reserve(depth());
	looking_.reserve(depth());
	usual_ = std::min(first_guess, static_cast<std::uint32_t>(response_stride()));
	place_requests(std::span(memory().data(), memory().length()).subspan(frame_size), request_stride());
}

std::size_t SlotsLink::request_stride() const noexcept
{
	return apps::rounded_up(frame_size + sizes().request, 64);
}

std::size_t SlotsLink::response_stride() const noexcept
{
	return apps::rounded_up(frame_size + sizes().response, 64);
}

RemoteAddress SlotsLink::slot_at(std::uint32_t slot, std::size_t offset) const noexcept
{
	return slots_at_server_.at(slot * slot_size + offset);
}

Result<std::unique_ptr<SlotsLink>> SlotsLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	return enter_as<SlotsLink>(introduce({context, host, port, wanted, options, measure}, needs(options)));
}

Result<std::unique_ptr<SlotsLink>> SlotsLink::create(Introduced introduced)
{
	const Parts &parts = introduced.parts;
	const RegionInfo *slots = parts.peer.region(slot_region);
	if (!slots || slots->region.length != parts.settings.depth * slot_size || parts.peer.free_lists.size() != 1 ||
		parts.peer.free_lists[0].buffer_size < frame_size + parts.sizes.request)
		return make_error(EBADMSG, parts.who + " does not say where calls go");
	const std::size_t bytes = apps::rounded_up(frame_size + parts.sizes.request, 64) +
				  apps::rounded_up(frame_size + parts.sizes.response, 64);
	Result<Memory> made = introduced.device->allocate(parts.settings.depth * bytes, access::local);
	if (!made)
		return made.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<SlotsLink>(new SlotsLink(std::move(introduced), {*std::move(made)}));
}

void SlotsLink::stop() noexcept
{
	waiting_.clear();
	std::fill(in_waiting_.begin(), in_waiting_.end(), std::uint8_t{0});
	QueuedLink::stop();
}

void SlotsLink::wait(std::uint32_t index, Stage stage, Clock::duration time, Clock::time_point now) noexcept
{
	Slot &slot = slots_[index];
	slot.stage = stage;
	slot.next = now + time;
	if (in_waiting_[index])
		return;
	in_waiting_[index] = 1;
	waiting_.push_back(index);
}

SlotsLink::Clock::duration SlotsLink::retry_time(const Slot &slot) noexcept
{
	return refused_time * (1U << std::min(slot.refusals, most_doublings));
}

/*
 * Begins the ALLOCATE, which stores the request in a buffer, then the bounded pointer to it, with the seq, in the slot.
 */
void SlotsLink::begin_request(std::uint32_t index) noexcept
{
	const Slot &slot = slots_[index];
	prismdv_send_wr &request = queue().begin(index, memory().slice(index * request_stride(), slot.size));
	request.wr.opcode = static_cast<ibv_wr_opcode>(PRISMDV_WR_ALLOCATE);
	request.wr.send_flags =
		IBV_SEND_SIGNALED | (slot.size <= port().max_inline_data() ? unsigned{IBV_SEND_INLINE} : 0u);
	request.flags = PRISMDV_WR_REDIRECT | PRISMDV_WR_BOUNDED;
	const RemoteAddress place = slot_at(index, request_offset);
	request.aux = {place.address, place.rkey, 0};
	request.allocate.free_list = free_list_;
	request.allocate.tag = slot.seq;
}

void SlotsLink::send(std::uint32_t index, std::uint32_t size) noexcept
{
	Slot &slot = slots_[index];
	const std::span<std::byte> message = request(index);
	slot.seq = next_seq(slot.seq);
	slot.size = static_cast<std::uint32_t>(frame_size) + size;
	slot.failed = 0;
	slot.refusals = 0;
	Frame frame;
	frame.seq = slot.seq;
	frame.size = size;
	frame.store(message.data() - frame_size);
	slot.sent = now();
	begin_request(index);
	wait(index, Stage::pause, pace_.wait(), slot.sent);
}

void SlotsLink::begin_read(std::uint32_t index, std::uint32_t bytes) noexcept
{
	Slot &slot = slots_[index];
	slot.stage = Stage::reading;
	slot.asked = bytes;
	prismdv_send_wr &read = queue().begin(read_lane(index), memory().slice(landing_offset(index), bytes));
	read.wr.opcode = static_cast<ibv_wr_opcode>(PRISMDV_WR_READ);
	read.wr.send_flags = IBV_SEND_SIGNALED; /* it has a status */
	read.flags = PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED;
	const RemoteAddress pointer = slot_at(index, response_offset(slot.seq));
	read.wr.wr.rdma.remote_addr = pointer.address;
	read.wr.wr.rdma.rkey = pointer.rkey;
	counters_.fetches++;
}

/*
 * Tells the server that the response was fetched. The next request would say the same, but there is none. It is posted
 * after the READ's completion, as a READ may be executed again.
 */
void SlotsLink::tell_fetched(std::uint32_t index, std::uint32_t seq) noexcept
{
	if (queue().waits(fetched_lane(index)))
		return; /* there was no room for the note of an earlier response */
	const std::uint64_t word = seq;
	std::memcpy(memory().data() + landing_offset(index), &word, sizeof(word));
	ibv_send_wr &wr = queue().begin(fetched_lane(index), memory().slice(landing_offset(index), sizeof(word))).wr;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_INLINE;
	const RemoteAddress place = slot_at(index, fetched_offset);
	wr.wr.rdma.remote_addr = place.address;
	wr.wr.rdma.rkey = place.rkey;
}

void SlotsLink::take_request(std::uint32_t index, Status status) noexcept
{
	if (status == Status::ok)
		return;
	if (status != Status::no_buffer) {
		break_off(EPROTO);
		return;
	}
	/* The request had no effect. READs under way for it find nothing. */
	counters_.refused++;
	if (slots_[index].stage == Stage::pause)
		wait(index, Stage::refused, retry_time(slots_[index]), now());
	else
		slots_[index].refused = true;
}

void SlotsLink::finish_call(std::uint32_t index, const Frame &frame, Listener &listener) noexcept
{
	Slot &slot = slots_[index];
	const std::uint32_t bytes = static_cast<std::uint32_t>(frame_size) + frame.size;
	usual_ = std::max(bytes, usual_ - usual_ / 64);
	pace_.answered(std::chrono::microseconds(frame.time), slot.failed);
	wait(index, Stage::answered, idle_time, now());
	const std::span<const std::byte> response(memory().data() + landing_offset(index) + frame_size, frame.size);
	if (const std::optional<std::uint32_t> answered = slot_of(response)) {
		if (*answered != index)
			break_off(EBADMSG);
		else
			deliver(index, response, listener);
	}
}

void SlotsLink::take_read(std::uint32_t index, const Completion &completion, Listener &listener) noexcept
{
	Slot &slot = slots_[index];
	if (completion.status == Status::null_pointer) {
		const auto time = now();
		counters_.failed_fetches++;
		slot.failed++;
		if (slot.refused)
			wait(index, Stage::refused, retry_time(slot), time);
		else
			wait(index, Stage::pause, Pace::wait_again(time - slot.sent), time);
		return;
	}
	const Frame frame = Frame::load(memory().data() + landing_offset(index));
	const std::size_t bytes = frame_size + frame.size;
	const bool cut = bytes > completion.byte_len; /* cut off because no more was asked for */
	if (completion.status != Status::ok || completion.byte_len < frame_size || frame.seq != slot.seq ||
		frame.size > sizes().response || bytes < completion.byte_len ||
		(cut && completion.byte_len != slot.asked)) {
		break_off(EBADMSG);
		return;
	}
	if (cut) {
		counters_.second_fetches++;
		begin_read(index, static_cast<std::uint32_t>(bytes));
		return;
	}
	finish_call(index, frame, listener);
}

/* Takes the end of a lane's request. Returns false if the link is broken. */
bool SlotsLink::take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept
{
	if (lane < depth())
		take_request(lane, completion.status);
	else if (lane < 2 * depth())
		take_read(lane - depth(), completion, listener);
	return !broken();
}

/*
 * Sends a refused request again. It would tell the server that the previous response was fetched, but it is refused for
 * want of a buffer. So this is told separately: otherwise clients that all wait like this would keep the buffers of
 * their last responses for ever.
 */
void SlotsLink::retry(std::uint32_t index, Clock::time_point now) noexcept
{
	Slot &slot = slots_[index];
	if (slot.refusals++ == 0)
		tell_fetched(index, seq_before(slot.seq));
	slot.refused = false;
	begin_request(index);
	wait(index, Stage::pause, pace_.wait(), now);
}

/* Takes the next step of every slot for which it is time. */
void SlotsLink::go_on() noexcept
{
	if (waiting_.empty())
		return;
	const Clock::time_point time = now();
	looking_.swap(waiting_);
	for (const std::uint32_t index : looking_) {
		Slot &slot = slots_[index];
		if (slot.stage == Stage::reading || slot.stage == Stage::idle) {
			in_waiting_[index] = 0;
		} else if (time < slot.next || queue().waits(index)) {
			waiting_.push_back(index);
		} else {
			in_waiting_[index] = 0;
			switch (slot.stage) {
			case Stage::refused:
				retry(index, time);
				break;
			case Stage::pause:
				begin_read(index, std::min(usual_, static_cast<std::uint32_t>(response_stride())));
				break;
			default:
				slot.stage = Stage::idle;
				tell_fetched(index, slot.seq);
			}
		}
	}
	looking_.clear();
}

void SlotsLink::drive(Listener &listener) noexcept
{
	take_completions(listener);
	go_on();
	flush();
}

} // namespace prism::rpc::slots
