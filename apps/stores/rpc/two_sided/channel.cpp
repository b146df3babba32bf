/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/two_sided/channel.hpp"

#include <algorithm>
#include <cstring>

namespace prism::rpc
{

TwoSidedChannel::TwoSidedChannel(
	std::unique_ptr<Port> port, Memory memory, Receives &receives, const ChannelSizes &sizes, std::uint32_t calls)
	: responses_(std::move(memory)), port_(std::move(port)), receives_(receives), response_size_(sizes.response),
	  incoming_(receives, calls), requests_(sizes.depth), pieces_(sizes.depth)
{
}

void TwoSidedChannel::execute(std::span<const std::byte> request, Calls &calls) noexcept
{
	const auto at = built_ % requests_.size();
	const std::size_t offset = at * response_size_;
	std::uint32_t size = 0;
	if (!calls.execute(request, {responses_.data() + offset, response_size_}, size))
		return;
	const LocalSlice slice = responses_.slice(offset, size);
	pieces_[at] = {slice.address, slice.length, slice.lkey};
	ibv_send_wr &wr = requests_[at];
	wr = {};
	wr.wr_id = send_tag | built_;
	wr.sg_list = &pieces_[at];
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = size <= port_->max_inline_data() ? unsigned{IBV_SEND_INLINE} : 0u;
	built_++;
	calls.touch();
}

void TwoSidedChannel::take_request(const Completion &completion, Calls &calls) noexcept
{
	const auto buffer = static_cast<std::uint32_t>(completion.wr_id);
	if (completion.failed() || calls.finishing()) {
		receives_.recycle(buffer);
		if (completion.failed())
			calls.lose(std::string("receive failed: ") + completion.describe());
		return;
	}
	incoming_.take(
		buffer, completion.byte_len, calls, [this] { return has_room(); },
		[&](std::span<const std::byte> request) { execute(request, calls); });
}

void TwoSidedChannel::take(const Completion &completion, Calls &calls) noexcept
{
	if (!(completion.wr_id & send_tag)) {
		take_request(completion, calls);
		return;
	}
	if (completion.failed()) {
		calls.lose(std::string("send failed: ") + completion.describe());
		return;
	}
	done_ = (completion.wr_id & ~send_tag) + 1;
	incoming_.resume(
		calls, [this] { return has_room(); },
		[&](std::span<const std::byte> request) { execute(request, calls); });
}

/* Posts all new responses with one doorbell. Only the last is signalled: its completion covers all before it. */
void TwoSidedChannel::post(Calls &calls) noexcept
{
	ibv_send_wr *first = &requests_[posted_ % requests_.size()];
	ibv_send_wr *last = first;
	for (std::uint64_t next = posted_ + 1; next != built_; next++) {
		last->next = &requests_[next % requests_.size()];
		last = last->next;
	}
	last->next = nullptr;
	last->send_flags |= IBV_SEND_SIGNALED;
	posted_ = built_;
	if (const int error = port_->post(first))
		calls.lose(std::string("cannot send: ") + std::strerror(error));
}

/* Keeps the last responses of the ring: the client gets responses in order, so those that it lacks are among these. */
void TwoSidedChannel::keep(KeptResponses &kept) const
{
	const std::uint64_t first = built_ - std::min<std::uint64_t>(built_, requests_.size());
	for (std::uint64_t at = first; at != built_; at++) {
		const std::size_t index = at % requests_.size();
		kept.add({responses_.data() + index * response_size_, pieces_[index].length});
	}
}

void TwoSidedChannel::close() noexcept
{
	incoming_.drop();
	port_->fail();
}

Result<std::unique_ptr<Channel>> TwoSidedTransport::open(
	const ConnectionRecord & /*theirs*/, std::uint32_t calls, ConnectionRecord &mine)
{
	PortOptions options;
	options.shared_receives = true;
	options.access_flags = access_;
	options.max_send_wr = sizes_.depth;
	Result<std::unique_ptr<Port>> port = device_.open(options);
	if (!port)
		return port.error();
	Result<Memory> responses = device_.allocate(sizes_.depth * sizes_.response, access::local);
	if (!responses)
		return responses.error();
	mine.endpoint = (*port)->endpoint();
	return std::unique_ptr<Channel>(
		std::make_unique<TwoSidedChannel>(*std::move(port), *std::move(responses), receives_, sizes_, calls));
}

void TwoSidedTransport::discard(const Completion &completion) noexcept
{
	if (!(completion.wr_id & send_tag))
		receives_.recycle(static_cast<std::uint32_t>(completion.wr_id));
}

/* Posts receives before responses, as a response brings the client's next request, which needs a buffer. */
void TwoSidedTransport::end_turn() noexcept
{
	(void)receives_.flush();
}

} // namespace prism::rpc
