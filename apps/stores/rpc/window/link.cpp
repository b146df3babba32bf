/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/window/link.hpp"

#include "rpc/window/layout.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace prism::rpc::window
{

namespace
{

constexpr std::uint64_t first_guess = 256; /* bytes of a record */

} // namespace

WindowLink::WindowLink(Introduced introduced, std::vector<Memory> made)
	: QueuedLink(std::move(introduced), needs(introduced.parts.settings).lanes, std::move(made)),
	  pointers_(record().region(window_region)->region), pace_(settings().fetch.paced), usual_(first_guess)
{
	place_requests(std::span(memory().data(), memory().length()).subspan(prefix_size), request_stride());
}

std::size_t WindowLink::request_stride() const noexcept
{
	return apps::rounded_up(prefix_size + sizes().request, 64);
}

Result<std::unique_ptr<WindowLink>> WindowLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	return enter_as<WindowLink>(introduce({context, host, port, wanted, options, measure}, needs(options)));
}

Result<std::unique_ptr<WindowLink>> WindowLink::create(Introduced introduced)
{
	const Parts &parts = introduced.parts;
	const RegionInfo *window = parts.peer.region(window_region);
	const std::uint64_t longest = std::uint64_t{8} * parts.settings.depth * max_message_size; /* see ring_size() */
	if (!window || window->region.length < record_size(parts.sizes.response) || window->region.length > longest)
		return make_error(EBADMSG, parts.who + " does not say where responses are");
	const std::size_t requests = parts.settings.depth * apps::rounded_up(prefix_size + parts.sizes.request, 64);
	Result<Memory> made = introduced.device->allocate(requests + window->region.length, access::local);
	if (!made)
		return made.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<WindowLink>(new WindowLink(std::move(introduced), {*std::move(made)}));
}

void WindowLink::send(std::uint32_t slot, std::uint32_t size) noexcept
{
	const ReadStream::Knowledge known = stream_.tell();
	std::byte *const prefix = request(slot).data() - prefix_size;
	const std::array<std::uint32_t, 2> epoch{known.epoch, 0};
	std::memcpy(prefix, epoch.data(), 8);
	std::memcpy(prefix + 8, &known.base, 8);
	const std::uint32_t bytes = static_cast<std::uint32_t>(prefix_size) + size;
	ibv_send_wr &wr = queue().begin(slot, memory().slice(slot * request_stride(), bytes)).wr;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = bytes <= port().max_inline_data() ? unsigned{IBV_SEND_INLINE} : 0u;
	last_news_ = now();
	if (!reading_ && active() == 1)
		look_at_ = last_news_ + pace_.wait();
}

/* Begins the READ. Only one is under way at a time: see layout.hpp. */
void WindowLink::begin_read() noexcept
{
	stream_.begin_read();
	const std::uint64_t expected = std::max(at_least_, stream_.known() + active() * usual_);
	const auto bytes = static_cast<std::uint32_t>(std::min(expected, pointers_.length));
	prismdv_send_wr &read = queue().begin(read_lane(), memory().slice(landing_offset(), bytes));
	read.wr.opcode = static_cast<ibv_wr_opcode>(PRISMDV_WR_READ);
	read.wr.send_flags = IBV_SEND_SIGNALED; /* it has a status */
	read.flags = PRISMDV_WR_INDIRECT | PRISMDV_WR_BOUNDED;
	read.wr.wr.rdma.remote_addr = pointers_.address + stream_.epoch() % 2 * pointer_size;
	read.wr.wr.rdma.rkey = pointers_.rkey;
	reading_ = true;
	counters_.fetches++;
}

void WindowLink::hand_over(const std::byte *record, const Frame &frame, Listener &listener) noexcept
{
	usual_ = std::max(record_size(frame.size), usual_ - usual_ / 64);
	pace_.answered(std::chrono::microseconds(frame.time), failed_);
	const std::span<const std::byte> response(record + frame_size, frame.size);
	if (const std::optional<std::uint32_t> slot = slot_of(response))
		deliver(*slot, response, listener);
}

/* Takes @p length bytes from the base of the READ's epoch on. Returns false if there was no new record. */
bool WindowLink::take_records(std::uint32_t length, Listener &listener) noexcept
{
	const std::uint64_t before = stream_.known();
	std::uint64_t at = before;
	at_least_ = 0;
	while (!broken() && length >= at + frame_size) {
		const std::byte *const record = memory().data() + landing_offset() + at;
		const Frame frame = Frame::load(record);
		if (frame.seq != next_ || frame.size > sizes().response) {
			break_off(EBADMSG);
			break;
		}
		const std::uint64_t bytes = record_size(frame.size);
		if (length < at + bytes) {
			at_least_ = at + bytes;
			break;
		}
		next_ = next_seq(next_);
		at += bytes;
		stream_.consume(bytes);
		hand_over(record, frame, listener);
	}
	return at != before;
}

void WindowLink::take_read(const Completion &completion, Listener &listener) noexcept
{
	reading_ = false;
	const auto time = now();
	const bool found = completion.status == Status::ok; /* otherwise the server has not heard of the epoch yet */
	if (!found && completion.status != Status::null_pointer) {
		break_off(EPROTO);
		return;
	}
	if (found)
		stream_.end_read();
	if (found && take_records(completion.byte_len, listener)) {
		failed_ = 0;
		last_news_ = time;
		look_at_ = at_least_ ? time : time + pace_.wait();
	} else {
		failed_++;
		counters_.failed_fetches++;
		look_at_ = at_least_ ? time : time + Pace::wait_again(time - last_news_);
	}
}

bool WindowLink::take_sent(std::uint32_t lane, const Completion &completion, Listener &listener) noexcept
{
	if (lane == read_lane())
		take_read(completion, listener);
	return !broken();
}

void WindowLink::drive(Listener &listener) noexcept
{
	take_completions(listener);
	if (!broken() && active() && !reading_ && now() >= look_at_)
		begin_read();
	flush();
}

} // namespace prism::rpc::window
