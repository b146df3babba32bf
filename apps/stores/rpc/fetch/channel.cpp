/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/fetch/channel.hpp"

#include "rpc/protocol/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace prism::rpc::fetch
{

FetchChannel::FetchChannel(
	std::unique_ptr<Port> port, Memory requests, Memory responses, Scratch &scratch, const Layout &layout)
	: requests_(std::move(requests)), responses_(std::move(responses)), port_(std::move(port)), scratch_(scratch),
	  layout_(layout), slots_(layout.calls), reply_sizes_(layout.calls)
{
	owed_.reserve(layout.calls);
}

/*
 * Copies the request. The client may write at any time, so only the copy is checked. Returns false if the request is
 * not whole, or wrong.
 */
bool FetchChannel::load_request(std::uint32_t call, const Frame &frame, Calls &calls) noexcept
{
	Slot &slot = slots_[call];
	if (frame.size > layout_.request) {
		calls.refuse("a request of " + std::to_string(frame.size) + " bytes");
		return false;
	}
	load_shared(scratch_.request.data(), requests_.data() + layout_.request_offset(call) + frame_size, frame.size);
	if (frame.checksum({scratch_.request.data(), frame.size}) == frame.crc) {
		slot.torn_since.reset();
		return true;
	}
	const auto now = scratch_.device.now();
	if (!slot.torn_since)
		slot.torn_since = now;
	else if (now - *slot.torn_since > scratch_.torn_limit)
		calls.refuse("a request whose checksum does not fit");
	return false;
}

bool FetchChannel::look_at(std::uint32_t call, Calls &calls) noexcept
{
	const std::byte *place = requests_.data() + layout_.request_offset(call);
	const std::uint64_t first = load_acquire(place);
	const auto seq = static_cast<std::uint32_t>(first);
	Slot &slot = slots_[call];
	if (seq == slot.seq || seq == 0)
		return false;
	if (seq != next_seq(slot.seq)) {
		calls.refuse("a request out of turn");
		return false;
	}
	const Frame frame = Frame::of(first, load_acquire(place + 8));
	if (!load_request(call, frame, calls))
		return false;
	slot.seq = seq;
	execute(call, frame, calls);
	return true;
}

bool FetchChannel::look(Calls &calls) noexcept
{
	bool found = false;
	for (std::uint32_t call = 0; call < layout_.calls && !calls.closed(); call++)
		found |= look_at(call, calls);
	return found;
}

/*
 * Returns true if the client wants a reply. The client stores the mode word, then READs; the server stores the
 * response, then loads the mode word: one of them sees the other's store. The thread sanitizer does not know the
 * client.
 */
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
bool FetchChannel::wants_reply(std::uint32_t call, const Frame &request) const noexcept
{
	if (request.mode == static_cast<std::uint16_t>(Mode::reply))
		return true;
	std::atomic_thread_fence(std::memory_order_seq_cst);
	return load_acquire(requests_.data() + layout_.mode_offset(call)) == request.seq;
}
#pragma GCC diagnostic pop

void FetchChannel::execute(std::uint32_t call, const Frame &request, Calls &calls) noexcept
{
	const auto began = scratch_.device.now();
	std::uint32_t size = 0;
	if (!calls.execute({scratch_.request.data(), request.size}, {scratch_.response.data(), layout_.response}, size))
		return;
	Frame frame;
	frame.seq = request.seq;
	frame.size = size;
	frame.time = microseconds(scratch_.device.now() - began);
	publish(call, frame, {scratch_.response.data(), size});
	if (!wants_reply(call, request))
		return;
	reply_sizes_[call] = static_cast<std::uint32_t>(frame_size) + size;
	owed_.push_back(call);
	calls.touch();
}

void FetchChannel::publish(std::uint32_t call, Frame frame, std::span<const std::byte> response) noexcept
{
	frame.crc = frame.checksum(response);
	std::byte *place = responses_.data() + layout_.response_offset(call);
	store_shared(place + frame_size, response.data(), response.size());
	store_release(place + 8, frame.second_word());
	store_release(place, frame.first_word());
}

bool FetchChannel::load_registration(Calls &calls) noexcept
{
	if (registered_)
		return true;
	std::array<std::byte, sizeof(Registration)> bytes;
	load_shared(bytes.data(), requests_.data(), bytes.size());
	Registration told;
	std::memcpy(&told, bytes.data(), sizeof(told));
	if (told.crc != told.checksum()) {
		calls.refuse("a client that wants replies and does not say where to");
		return false;
	}
	landing_ = {told.address, told.rkey};
	registered_ = true;
	return true;
}

/*
 * Posts the replies that there is room for with one doorbell. The last is signalled: its completion covers all before
 * it.
 */
void FetchChannel::post(Calls &calls) noexcept
{
	if (!load_registration(calls))
		return;
	const std::uint64_t room = layout_.calls - (posted_ - done_);
	const std::size_t count = std::min<std::uint64_t>(owed_.size(), room);
	constexpr std::size_t batch = 32;
	std::array<ibv_send_wr, batch> requests;
	std::array<ibv_sge, batch> pieces;
	for (std::size_t done = 0; done < count;) {
		const std::size_t part = std::min(batch, count - done);
		for (std::size_t i = 0; i < part; i++) {
			const std::uint32_t call = owed_[done + i];
			const LocalSlice slice = responses_.slice(layout_.response_offset(call), reply_sizes_[call]);
			pieces[i] = {slice.address, slice.length, slice.lkey};
			ibv_send_wr &wr = requests[i];
			wr = {};
			wr.wr_id = posted_++;
			wr.next = i + 1 < part ? &requests[i + 1] : nullptr;
			wr.sg_list = &pieces[i];
			wr.num_sge = 1;
			wr.opcode = IBV_WR_RDMA_WRITE;
			wr.send_flags = slice.length <= port_->max_inline_data() ? unsigned{IBV_SEND_INLINE} : 0u;
			wr.wr.rdma.remote_addr = landing_.address + layout_.response_offset(call);
			wr.wr.rdma.rkey = landing_.rkey;
		}
		requests[part - 1].send_flags |= IBV_SEND_SIGNALED;
		if (const int error = port_->post(requests.data())) {
			calls.lose(std::string("cannot send: ") + std::strerror(error));
			return;
		}
		done += part;
	}
	owed_.erase(owed_.begin(), owed_.begin() + static_cast<std::ptrdiff_t>(count));
}

void FetchChannel::take(const Completion &completion, Calls &calls) noexcept
{
	if (completion.failed()) {
		calls.lose(std::string("send failed: ") + completion.describe());
		return;
	}
	done_ = completion.wr_id + 1;
	if (!owed_.empty())
		calls.touch();
}

void FetchChannel::keep(KeptResponses &kept) const
{
	for (std::uint32_t call = 0; call < layout_.calls; call++) {
		const std::byte *place = responses_.data() + layout_.response_offset(call);
		const Frame frame = Frame::load(place);
		if (frame.seq)
			kept.add({place + frame_size, frame.size});
	}
}

void FetchChannel::close() noexcept
{
	port_->fail();
}

FetchTransport::FetchTransport(
	CallDevice &device, const ChannelSizes &sizes, unsigned access_flags, std::chrono::nanoseconds torn_limit)
	: device_(device), sizes_(sizes), access_(access_flags | access::remote_write | access::remote_read),
	  scratch_(device)
{
	scratch_.torn_limit = torn_limit;
	scratch_.request.resize(apps::rounded_up(sizes.request, 64));
	scratch_.response.resize(sizes.response);
}

Result<std::unique_ptr<Channel>> FetchTransport::open(
	const ConnectionRecord & /*theirs*/, std::uint32_t calls, ConnectionRecord &mine)
{
	const Layout layout{calls, sizes_.request, sizes_.response};
	PortOptions options;
	options.access_flags = access_;
	options.max_send_wr = calls;
	Result<std::unique_ptr<Port>> port = device_.open(options);
	if (!port)
		return port.error();
	Result<Memory> requests = device_.allocate(layout.requests_size(), access::remote_write);
	if (!requests)
		return requests.error();
	Result<Memory> responses = device_.allocate(layout.responses_size(), access::remote_read | access::local);
	if (!responses)
		return responses.error();
	mine.endpoint = (*port)->endpoint();
	mine.regions.push_back({request_region, requests->remote()});
	mine.regions.push_back({response_region, responses->remote()});
	return std::unique_ptr<Channel>(std::make_unique<FetchChannel>(
		*std::move(port), *std::move(requests), *std::move(responses), scratch_, layout));
}

} // namespace prism::rpc::fetch
