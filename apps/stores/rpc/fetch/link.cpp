/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/fetch/link.hpp"

#include "rpc/protocol/shared_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace prism::rpc::fetch
{

namespace
{

/* Time after which a client that waits for a reply READs the response, in case both sides missed each other. */
constexpr auto reply_patience = std::chrono::milliseconds(1);
constexpr std::size_t kinds_of_calls = 256;
constexpr std::size_t kind_offset = 5; /* in a message's header */

bool takes_replies(const ClientOptions &options) noexcept
{
	return options.way == Way::reply || options.fetch.hybrid;
}

} // namespace

FetchLink::FetchLink(Introduced introduced, std::vector<Memory> made, const Layout &layout)
	: QueuedLink(std::move(introduced), needs(introduced.parts.settings).lanes, std::move(made)), layout_(layout),
	  server_requests_(record().region(request_region)->region),
	  server_responses_(record().region(response_region)->region), pace_(settings().fetch.paced),
	  choices_(kinds_of_calls, ModeChoice(settings().fetch.retries, settings().fetch.slow_calls)), slots_(depth()),
	  copy_(layout.response)
{
	waiting_.reserve(depth());
	looking_.reserve(depth());
	place_requests(std::span(requests_memory().data(), requests_memory().length()).subspan(frame_size),
		layout_.request_stride());
}

Result<std::unique_ptr<FetchLink>> FetchLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	if (options.fetch.first_read < frame_size)
		return make_error(EINVAL, "first READs of " + std::to_string(options.fetch.first_read) + " bytes",
			"the frame of a response has 16");
	return enter_as<FetchLink>(introduce({context, host, port, wanted, options, measure}, needs(options)));
}

QueuedLink::Needs FetchLink::needs(const ClientOptions &options) noexcept
{
	return {.lanes = 3 * options.depth + 1, .access_flags = takes_replies(options) ? access::remote_write : 0};
}

Result<std::unique_ptr<FetchLink>> FetchLink::create(Introduced introduced)
{
	const Parts &parts = introduced.parts;
	const RegionInfo *requests = parts.peer.region(request_region);
	const RegionInfo *responses = parts.peer.region(response_region);
	const std::optional<Layout> layout =
		requests && responses
			? Layout::of(parts.settings.depth, requests->region.length, responses->region.length)
			: std::nullopt;
	if (!layout || layout->request < parts.sizes.request || layout->request > 2 * max_message_size ||
		layout->response > 2 * max_message_size)
		return make_error(EBADMSG, parts.who + " does not say where requests and responses are");
	Result<Memory> written = introduced.device->allocate(
		frame_size + parts.settings.depth * layout->request_stride(), access::local);
	if (!written)
		return written.error();
	Result<Memory> landing = introduced.device->allocate(
		layout->responses_size(), access::local | (takes_replies(parts.settings) ? access::remote_write : 0));
	if (!landing)
		return landing.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<FetchLink>(
		new FetchLink(std::move(introduced), {*std::move(written), *std::move(landing)}, *layout));
}

/* Connects and registers: the registration precedes all requests on the same queue pair. */
Result<void> FetchLink::start()
{
	if (Result<void> connected = connect_port(false); !connected)
		return connected;
	Registration mine{landing_memory().remote().address, landing_memory().remote().rkey, 0};
	mine.crc = mine.checksum();
	std::memcpy(landing(0), &mine, sizeof(mine)); /* copied from there at once: no response has come yet */
	begin_write(registration_lane(), server_requests_.at(), landing_memory().slice(0, sizeof(mine)), true);
	flush();
	if (broken())
		return make_error(broken(), "cannot register with the server");
	std::memset(landing(0), 0, sizeof(mine));
	return {};
}

Result<void> FetchLink::settle(Deadline deadline)
{
	class : public Listener
	{
		void on_response(std::uint32_t, std::span<const std::byte>) noexcept override {}
	} nobody;
	while (!queue().done(registration_lane()) && !broken() && now() < deadline) {
		if (!take_completions(nobody))
			std::this_thread::yield();
	}
	if (!queue().done(registration_lane()))
		return make_error(broken() ? broken() : ETIMEDOUT, "the server does not take the registration");
	return {};
}

void FetchLink::stop() noexcept
{
	waiting_.clear();
	QueuedLink::stop();
}

void FetchLink::begin_write(std::uint32_t lane, RemoteAddress to, LocalSlice from, bool is_inline) noexcept
{
	ibv_send_wr &wr = queue().begin(lane, from).wr;
	wr.opcode = IBV_WR_RDMA_WRITE;
	/* Bytes that are not copied must not change until the WRITE is known to have arrived. */
	wr.send_flags = is_inline ? IBV_SEND_INLINE : IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = to.address;
	wr.wr.rdma.rkey = to.rkey;
}

void FetchLink::send(std::uint32_t index, std::uint32_t size) noexcept
{
	Slot &slot = slots_[index];
	const std::span<std::byte> message = request(index);
	slot.kind = static_cast<std::uint8_t>(message[kind_offset]);
	slot.seq = next_seq(slot.seq);
	slot.failed = 0;
	slot.switched = false;
	const Mode mode = settings().way == Way::reply ? Mode::reply : choices_[slot.kind].mode();
	Frame frame;
	frame.seq = slot.seq;
	frame.size = size;
	frame.mode = static_cast<std::uint16_t>(mode);
	frame.crc = frame.checksum(message.first(size));
	frame.store(message.data() - frame_size);
	const auto bytes = static_cast<std::uint32_t>(frame_size + size);
	slot.copied = bytes <= port().max_inline_data();
	begin_write(index, requests_at(layout_.request_offset(index)),
		requests_memory().slice(index * layout_.request_stride(), bytes), slot.copied);
	slot.stage = mode == Mode::reply ? Stage::reply : Stage::pause;
	slot.look_at = now() + (mode == Mode::reply ? reply_patience : pace_.wait());
	waiting_.push_back(index);
}

/* READs bytes from..to of the response, both counted from its frame on. */
void FetchLink::begin_read(std::uint32_t index, Stage stage, std::uint32_t from, std::uint32_t to) noexcept
{
	Slot &slot = slots_[index];
	slot.stage = stage;
	slot.expected = to;
	slot.read_began = now();
	const std::size_t offset = layout_.response_offset(index) + from;
	ibv_send_wr &wr = queue().begin(read_lane(index), landing_memory().slice(offset, to - from)).wr;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = server_responses_.address + offset;
	wr.wr.rdma.rkey = server_responses_.rkey;
	counters_.fetches++;
}

/*
 * Asks for a reply. Equal opcodes are posted together, and WRITEs before READs. Either the READ after the mode word
 * sees the response, or the server sees the word: see FetchChannel::wants_reply().
 */
void FetchLink::ask_for_reply(std::uint32_t index) noexcept
{
	Slot &slot = slots_[index];
	slot.switched = true;
	counters_.switches++;
	std::byte *word = landing(index); /* 8 bytes that the READ will overwrite, copied at once */
	const std::uint64_t seq = slot.seq;
	std::memcpy(word, &seq, sizeof(seq));
	begin_write(mode_lane(index), requests_at(layout_.mode_offset(index)),
		landing_memory().slice(layout_.response_offset(index), sizeof(seq)), true);
	begin_read(index, Stage::switching, 0,
		std::min(settings().fetch.first_read, static_cast<std::uint32_t>(layout_.response_stride())));
}

/* Copies the response of the slot and returns true if all of it is there: the server may be writing to it. */
bool FetchLink::whole(std::uint32_t index, Frame &frame) noexcept
{
	const std::byte *place = landing(index);
	const std::uint64_t first = load_acquire(place);
	frame = Frame::of(first, load_acquire(place + 8));
	if (frame.seq != slots_[index].seq || frame.size > sizes().response)
		return false;
	load_shared(copy_.data(), place + frame_size, frame.size);
	return frame.checksum({copy_.data(), frame.size}) == frame.crc;
}

void FetchLink::finish_call(std::uint32_t index, const Frame &frame, bool by_reply, Listener &listener) noexcept
{
	Slot &slot = slots_[index];
	slot.stage = Stage::idle;
	const std::chrono::microseconds time(frame.time);
	ModeChoice &choice = choices_[slot.kind];
	if (by_reply) {
		if (settings().way == Way::fetch && choice.replied(time))
			counters_.switches++;
	} else {
		pace_.answered(time, slot.failed);
		choice.fetched(slot.failed, now() - slot.read_began);
	}
	const std::span<const std::byte> response(copy_.data(), frame.size);
	if (const std::optional<std::uint32_t> answered = slot_of(response)) {
		if (*answered != index)
			break_off(EBADMSG);
		else
			deliver(index, response, listener);
	}
}

/* Chooses the next step after a failed READ. Like the paper's client, READs again at once. */
void FetchLink::fail(std::uint32_t index) noexcept
{
	Slot &slot = slots_[index];
	counters_.failed_fetches++;
	slot.failed++;
	if (slot.switched || slot.stage == Stage::reply_read) {
		slot.stage = Stage::reply;
		slot.look_at = now() + reply_patience;
		waiting_.push_back(index);
	} else if (settings().fetch.hybrid && choices_[slot.kind].failed(slot.failed)) {
		ask_for_reply(index);
	} else {
		slot.stage = Stage::pause;
		slot.look_at = {};
		waiting_.push_back(index);
	}
}

void FetchLink::take_read(std::uint32_t index, Listener &listener) noexcept
{
	Slot &slot = slots_[index];
	const std::uint64_t first = load_acquire(landing(index));
	const Frame seen = Frame::of(first, 0);
	if (seen.seq == slot.seq && seen.size > sizes().response) {
		break_off(EBADMSG);
		return;
	}
	const auto length = static_cast<std::uint32_t>(frame_size) + seen.size;
	if (seen.seq == slot.seq && length > slot.expected) {
		counters_.second_fetches++;
		begin_read(index, Stage::rest, slot.expected, length);
		return;
	}
	Frame frame;
	if (whole(index, frame))
		finish_call(index, frame, false, listener);
	else
		fail(index);
}

/* Takes the end of a lane's request. Returns false if the link is broken. */
bool FetchLink::take_sent(std::uint32_t lane, const Completion & /*completion*/, Listener &listener) noexcept
{
	if (lane >= depth() && lane < 2 * depth())
		take_read(lane - depth(), listener);
	return !broken();
}

bool FetchLink::look_for_reply(std::uint32_t index, Listener &listener) noexcept
{
	const Slot &slot = slots_[index];
	Frame frame;
	if (static_cast<std::uint32_t>(load_acquire(landing(index))) != slot.seq ||
		!(slot.copied || queue().done(index)) || !whole(index, frame))
		return false;
	finish_call(index, frame, true, listener);
	return true;
}

/* Takes the next step of every slot that waits for a time or for the server's WRITE. */
void FetchLink::go_on(Listener &listener) noexcept
{
	if (waiting_.empty())
		return;
	const Clock::time_point time = now();
	looking_.swap(waiting_);
	for (const std::uint32_t index : looking_) {
		if (broken())
			break;
		Slot &slot = slots_[index];
		if (slot.stage == Stage::reply && look_for_reply(index, listener))
			continue;
		if (time < slot.look_at || queue().waits(index)) {
			waiting_.push_back(index);
		} else {
			const bool replied = slot.stage == Stage::reply;
			const auto most = static_cast<std::uint32_t>(layout_.response_stride());
			begin_read(index, replied ? Stage::reply_read : Stage::first, 0,
				replied ? most : std::min(settings().fetch.first_read, most));
		}
	}
	looking_.clear();
}

void FetchLink::drive(Listener &listener) noexcept
{
	take_completions(listener);
	go_on(listener);
	flush();
}

} // namespace prism::rpc::fetch
