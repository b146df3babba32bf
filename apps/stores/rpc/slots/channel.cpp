/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/slots/channel.hpp"

#include "base/saturating.hpp"
#include "rpc/protocol/shared_memory.hpp"

#include <algorithm>
#include <cerrno>

namespace prism::rpc::slots
{

SlotsChannel::SlotsChannel(std::unique_ptr<Port> port, CallPool &pool, std::vector<std::byte> &scratch,
	const ChannelSizes &sizes, std::uint32_t first, std::uint32_t calls)
	: pool_(pool), scratch_(scratch), request_size_(sizes.request), response_size_(sizes.response), first_(first),
	  slots_(calls), port_(std::move(port))
{
}

SlotsChannel::~SlotsChannel()
{
	port_.reset(); /* nothing is written to the slots any more */
	for (std::uint32_t call = 0; call < slots_.size(); call++) {
		const std::uint64_t request = load_acquire(place(call) + request_offset);
		if (pool_.request(request, 0))
			pool_.release_request(request);
		prismdv_retract_ptr(pointer_at(place(call) + request_offset));
		retract(call);
	}
	pool_.connection_ended();
	pool_.give_slots(first_, static_cast<std::uint32_t>(slots_.size()));
}

/* Retracts the response in the slot: it is no longer wanted. */
void SlotsChannel::retract(std::uint32_t call) noexcept
{
	Slot &slot = slots_[call];
	if (!slot.response)
		return;
	prismdv_retract_ptr(pointer_at(place(call) + response_offset(slot.seq)));
	pool_.release_response(slot.response);
	slot.response = nullptr;
}

/*
 * Copies the message, which others may change, and checks only the copy. Returns its size, or nothing if it is wrong.
 */
std::optional<std::uint32_t> SlotsChannel::load_request(
	const std::byte *buffer, std::uint32_t bound, std::uint32_t seq) noexcept
{
	const Frame frame = Frame::of(load_acquire(buffer), load_acquire(buffer + 8));
	if (frame.seq != seq || bound < frame_size || frame.size > bound - frame_size || frame.size > request_size_)
		return std::nullopt;
	load_shared(scratch_.data(), buffer + frame_size, frame.size);
	return frame.size;
}

/* Returns true if there is a request, or a response was fetched. Every turn asks every slot. */
bool SlotsChannel::has_news(const Slot &slot, const std::byte *at) noexcept
{
	return load_acquire(at + request_offset) ||
	       (slot.response && static_cast<std::uint32_t>(load_acquire(at + fetched_offset)) == slot.seq);
}

bool SlotsChannel::look_at(std::uint32_t call, Calls &calls) noexcept
{
	Slot &slot = slots_[call];
	std::byte *const at = place(call);
	prismdv_bounded_ptr shown;
	const bool requested = prismdv_fetch_ptr(pointer_at(at + request_offset), &shown);
	/* The client has fetched the response: it says so, or has posted the next request. */
	retract(call);
	if (!requested)
		return false;
	const std::uint32_t seq = shown.tag;
	const std::byte *const buffer = pool_.request(shown.ptr, shown.bound);
	if (!buffer || seq != next_seq(slot.seq)) {
		calls.refuse(buffer ? "a request out of turn" : "a request that is in no buffer");
		return false;
	}
	std::byte *const response = pool_.take_response();
	if (!response)
		return false; /* the request waits in its slot */
	const std::optional<std::uint32_t> size = load_request(buffer, shown.bound, seq);
	prismdv_retract_ptr(pointer_at(at + request_offset));
	pool_.release_request(shown.ptr);
	slot.seq = seq;
	slot.response = response;
	if (size)
		execute(call, seq, *size, calls);
	else
		calls.refuse("a request whose frame does not fit");
	return true;
}

void SlotsChannel::execute(std::uint32_t call, std::uint32_t seq, std::uint32_t size, Calls &calls) noexcept
{
	time_.begin(pool_.device());
	Slot &slot = slots_[call];
	Frame frame;
	frame.seq = seq;
	if (!calls.execute({scratch_.data(), size}, {slot.response + frame_size, response_size_}, frame.size))
		return;
	frame.time = time_.end(pool_.device());
	frame.store(slot.response);
	prismdv_publish_ptr(pointer_at(place(call) + response_offset(seq)), pool_.address_of(slot.response),
		static_cast<std::uint32_t>(frame_size) + frame.size, seq);
}

bool SlotsChannel::keeps_responses() const noexcept
{
	return std::any_of(slots_.begin(), slots_.end(), [](const Slot &slot) { return slot.response != nullptr; });
}

bool SlotsChannel::look(Calls &calls) noexcept
{
	if (pool_.stuck() && keeps_responses()) {
		calls.lose("it keeps responses, and does not fetch them, while others wait for buffers");
		return false;
	}
	bool found = false;
	const std::byte *at = place(0);
	for (std::uint32_t call = 0; call < slots_.size(); call++, at += slot_size) {
		if (!has_news(slots_[call], at))
			continue;
		found |= look_at(call, calls);
		if (calls.closed())
			break;
	}
	return found;
}

/* Any completion is an error, as the server posts nothing. */
void SlotsChannel::take(const Completion &completion, Calls &calls) noexcept
{
	calls.lose(std::string("connection failed: ") + completion.describe());
}

void SlotsChannel::keep(KeptResponses &kept) const
{
	for (const Slot &slot : slots_) {
		if (slot.response)
			kept.add({slot.response + frame_size, Frame::load(slot.response).size});
	}
}

void SlotsChannel::close() noexcept
{
	port_->fail();
}

Result<void> SlotsChannel::connect(const Endpoint &peer)
{
	if (Result<void> connected = port_->connect(peer); !connected)
		return connected;
	if (!port_->peer_speaks_prism())
		return make_error(
			EOPNOTSUPP, "the client's device does not speak PRISM", "use a way of calls without PRISM");
	return {};
}

SlotsTransport::SlotsTransport(
	CallDevice &device, std::unique_ptr<CallPool> pool, const ChannelSizes &sizes, unsigned access_flags)
	: device_(device), pool_(std::move(pool)), sizes_(sizes),
	  access_(access_flags | access::remote_read | access::remote_write),
	  scratch_(apps::rounded_up(sizes.request, 64))
{
}

Result<std::unique_ptr<Channel>> SlotsTransport::open(
	const ConnectionRecord & /*theirs*/, std::uint32_t calls, ConnectionRecord &mine)
{
	PortOptions options;
	options.access_flags = access_;
	Result<std::unique_ptr<Port>> port = device_.open(options);
	if (!port)
		return port.error();
	const std::optional<std::uint32_t> first = pool_->take_slots(calls);
	if (!first)
		return make_error(EAGAIN, "slots of connections that were closed a moment ago are soon free");
	mine.endpoint = (*port)->endpoint();
	mine.regions.push_back({slot_region, pool_->region(*first, calls)});
	mine.free_lists.push_back(pool_->list());
	return std::unique_ptr<Channel>(
		std::make_unique<SlotsChannel>(*std::move(port), *pool_, scratch_, sizes_, *first, calls));
}

} // namespace prism::rpc::slots
