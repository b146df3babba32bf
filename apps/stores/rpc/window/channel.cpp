/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/window/channel.hpp"

#include <cerrno>
#include <cstring>

namespace prism::rpc::window
{

WindowChannel::WindowChannel(const CallDevice &device, std::unique_ptr<Port> port, Ring ring, Receives &receives,
	std::size_t response_size, std::uint32_t calls)
	: device_(device), ring_(std::move(ring)), port_(std::move(port)), receives_(receives),
	  response_size_(response_size), incoming_(receives, calls), stream_(ring_.size())
{
	open_epoch();
}

Result<void> WindowChannel::connect(const Endpoint &peer)
{
	if (Result<void> connected = port_->connect(peer); !connected)
		return connected;
	if (!port_->peer_speaks_prism())
		return make_error(
			EOPNOTSUPP, "the client's device does not speak PRISM", "use a way of calls without PRISM");
	return {};
}

void WindowChannel::open_epoch() noexcept
{
	const std::uint32_t epoch = stream_.epoch();
	prismdv_publish_ptr(ring_.pointer(epoch), ring_.address(stream_.base()), stream_.bound(), epoch);
}

/* Takes the client's epoch from the request. Returns false if the connection is closed. */
bool WindowChannel::hear(std::span<const std::byte> request, Calls &calls) noexcept
{
	std::uint32_t epoch = 0;
	std::uint64_t base = 0;
	if (request.size() >= prefix_size) {
		std::memcpy(&epoch, &request[0], sizeof(epoch));
		std::memcpy(&base, &request[8], sizeof(base));
	}
	const ServedStream::Heard heard =
		request.size() < prefix_size ? ServedStream::Heard::nonsense : stream_.hear(epoch, base);
	if (heard == ServedStream::Heard::nonsense) {
		calls.refuse("a request that names responses which cannot be");
		return false;
	}
	while (!records_.empty() && records_.front() < stream_.base())
		records_.pop_front();
	if (heard == ServedStream::Heard::next_epoch) {
		/*
		 * In this order: a client that finds the new epoch may end it, and then looks at the old one's pointer.
		 */
		prismdv_retract_ptr(ring_.pointer(epoch - 1));
		open_epoch();
	}
	return true;
}

void WindowChannel::execute(std::span<const std::byte> request, Calls &calls) noexcept
{
	time_.begin(device_);
	std::byte *const record = ring_.at(stream_.produced());
	Frame frame;
	if (!calls.execute(request.subspan(prefix_size), {record + frame_size, response_size_}, frame.size))
		return;
	frame.seq = next_;
	next_ = next_seq(next_);
	frame.time = time_.end(device_);
	frame.store(record);
	records_.push_back(stream_.produced());
	stream_.append(record_size(frame.size));
	prismdv_extend_ptr(ring_.pointer(stream_.epoch()), stream_.bound(), stream_.epoch());
}

void WindowChannel::take(const Completion &completion, Calls &calls) noexcept
{
	const auto buffer = static_cast<std::uint32_t>(completion.wr_id);
	const bool failed = completion.failed();
	if (failed || calls.finishing() || !hear(receives_.pool().message(buffer, completion.byte_len), calls)) {
		receives_.recycle(buffer);
		if (failed)
			calls.lose(std::string("receive failed: ") + completion.describe());
		return;
	}
	const auto room = [this] { return has_room(); };
	const auto run = [&](std::span<const std::byte> request) { execute(request, calls); };
	incoming_.resume(calls, room, run);
	incoming_.take(buffer, completion.byte_len, calls, room, run);
}

void WindowChannel::keep(KeptResponses &kept) const
{
	for (const std::uint64_t position : records_) {
		const std::byte *const record = ring_.at(position);
		kept.add({record + frame_size, Frame::load(record).size});
	}
}

void WindowChannel::close() noexcept
{
	incoming_.drop();
	port_->fail();
}

Result<std::unique_ptr<Channel>> WindowTransport::open(
	const ConnectionRecord & /*theirs*/, std::uint32_t calls, ConnectionRecord &mine)
{
	PortOptions options;
	options.shared_receives = true;
	options.access_flags = access_;
	Result<std::unique_ptr<Port>> port = device_.open(options);
	if (!port)
		return port.error();
	Result<Ring> ring = Ring::create(device_, ring_size(calls, sizes_.response, Ring::page_size()));
	if (!ring)
		return ring.error();
	mine.endpoint = (*port)->endpoint();
	mine.regions.push_back({window_region, ring->told()});
	return std::unique_ptr<Channel>(std::make_unique<WindowChannel>(
		device_, *std::move(port), *std::move(ring), receives_, sizes_.response, calls));
}

void WindowTransport::discard(const Completion &completion) noexcept
{
	receives_.recycle(static_cast<std::uint32_t>(completion.wr_id));
}

} // namespace prism::rpc::window
