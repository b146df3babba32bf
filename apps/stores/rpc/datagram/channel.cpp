/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/datagram/channel.hpp"

#include "rpc/protocol/introduction.hpp"
#include "service/hello.hpp"

#include <cerrno>
#include <cstring>

namespace prism::rpc::datagram
{

namespace
{

/*
 * Returns the slot of a send. The wr_id of a receive is the number of its buffer; that of a send has send_bit, the
 * slot, and the number of the channel.
 */
constexpr std::uint32_t slot_of(std::uint64_t wr_id) noexcept
{
	return static_cast<std::uint32_t>((wr_id & ~send_bit) >> 32);
}

} // namespace

DatagramChannel::DatagramChannel(DatagramTransport &transport, std::uint64_t token, Address peer, Buffer responses,
	const Cut &requests, const Cut &responses_cut, std::uint32_t calls)
	: transport_(transport), token_(token), peer_(std::move(peer)), responses_(std::move(responses)),
	  request_cut_(requests), response_cut_(responses_cut), slots_(calls, Slot(requests))
{
}

DatagramChannel::~DatagramChannel()
{
	transport_.remains_.push_back({std::move(responses_), transport_.posted_});
	const std::lock_guard guard(transport_.names_lock_);
	transport_.names_.erase(number());
}

void DatagramChannel::take(const Completion &completion, Calls &calls) noexcept
{
	if (completion.wr_id & send_bit) {
		transport_.completed_++;
		sending_--;
		slots_[slot_of(completion.wr_id)].sending--;
		if (completion.failed())
			calls.lose(std::string("send failed: ") + completion.describe());
		return;
	}
	const std::span<const std::byte> bytes = transport_.datagram(completion);
	Prefix prefix;
	std::memcpy(&prefix, bytes.data(), prefix_size); /* channel_of() has checked the length */
	take_datagram(prefix, bytes.subspan(prefix_size), calls);
	transport_.recycle(completion.wr_id);
}

/* Takes a datagram. Anybody can send one: those that are not from this client, or make no sense, are dropped. */
void DatagramChannel::take_datagram(const Prefix &prefix, std::span<const std::byte> payload, Calls &calls) noexcept
{
	if (prefix.token != token_ || prefix.slot >= slots_.size())
		return;
	Slot &slot = slots_[prefix.slot];
	if (prefix.seq == slot.answered) {
		/*
		 * The response was lost, or is on its way. Only the first datagram of the repeated request triggers it
		 * again.
		 */
		if (prefix.offset == 0 && slot.sending == 0)
			respond(prefix.slot, calls);
		return;
	}
	/*
	 * While the device sends the last response, its memory must not change. The client will send the request again.
	 */
	if (calls.finishing() || slot.sending || !slot.request.add(prefix, payload))
		return;
	execute(prefix.slot, calls);
}

void DatagramChannel::execute(std::uint32_t index, Calls &calls) noexcept
{
	Slot &slot = slots_[index];
	std::uint32_t size = 0;
	if (!calls.execute(slot.request.message(), {transport_.scratch_.data(), response_cut_.longest}, size))
		return;
	slot.answered = slot.request.seq();
	slot.size = size;
	slot.request.expect(next_seq(slot.answered));
	const Prefix prefix{token_, index, slot.answered, size, 0};
	response_cut_.write(
		responses_.data() + index * response_cut_.bytes(), prefix, {transport_.scratch_.data(), size});
	respond(index, calls);
}

void DatagramChannel::keep(KeptResponses &kept) const
{
	for (std::uint32_t index = 0; index < slots_.size(); index++) {
		const std::vector<std::byte> response =
			response_cut_.read(responses_.data() + index * response_cut_.bytes(), slots_[index].size);
		kept.add(response);
	}
}

void DatagramChannel::respond(std::uint32_t index, Calls &calls) noexcept
{
	Slot &slot = slots_[index];
	const std::uint32_t count = response_cut_.count(slot.size);
	if (!transport_.has_room(count))
		return; /* the client will ask again */
	for (std::uint32_t fragment = 0; fragment < count; fragment++) {
		const std::size_t offset = index * response_cut_.bytes() + fragment * response_cut_.datagram();
		const std::uint64_t wr_id = send_bit | std::uint64_t{index} << 32 | number();
		if (const int error = transport_.socket_.send(
			    peer_, wr_id, responses_.slice(offset, response_cut_.length(fragment, slot.size)))) {
			calls.lose(std::string("cannot send: ") + std::strerror(error));
			return;
		}
		transport_.posted_++;
		sending_++;
		slot.sending++;
	}
}

DatagramTransport::DatagramTransport(
	ProtectionDomain pd, Socket socket, Buffer receives, const ChannelSizes &sizes, std::size_t receive_size)
	: pd_(std::move(pd)), receives_(std::move(receives)), socket_(std::move(socket)), sizes_(sizes),
	  receive_size_(receive_size), scratch_(sizes.response)
{
}

Result<std::unique_ptr<DatagramTransport>> DatagramTransport::create(
	const ProtectionDomain &pd, const CompletionQueue &cq, const ChannelSizes &sizes, std::uint32_t receives)
{
	Result<Socket> socket = Socket::create(pd, cq, most_sends, receives);
	if (!socket)
		return socket.error();
	const std::size_t size = Socket::grh_size + (128u << socket->endpoint().mtu);
	Result<Buffer> memory = Buffer::create(pd, receives * size);
	if (!memory)
		return memory.error();
	std::unique_ptr<DatagramTransport> made(
		new DatagramTransport(pd, *std::move(socket), *std::move(memory), sizes, size)); /* private */
	for (std::uint32_t buffer = 0; buffer < receives; buffer++) {
		if (const int error = made->socket_.receive(
			    buffer, made->receives_.slice(buffer * size, static_cast<std::uint32_t>(size))))
			return make_error(error, "cannot post receives");
	}
	return made;
}

Result<std::unique_ptr<Channel>> DatagramTransport::open(
	const ConnectionRecord &theirs, std::uint32_t calls, ConnectionRecord &mine)
{
	const Result<Introduction> client = Introduction::parse(apps::Hello::own_part(theirs.private_data));
	if (!client)
		return client.error();
	const std::uint64_t token = client->token;
	const std::uint32_t fragment = fragment_size(socket_.endpoint().mtu, theirs.endpoint.mtu);
	const Cut requests{fragment, static_cast<std::uint32_t>(sizes_.request)};
	const Cut responses{fragment, static_cast<std::uint32_t>(sizes_.response)};
	Result<Buffer> memory = Buffer::create(pd_, calls * responses.bytes());
	if (!memory)
		return memory.error();
	Result<Address> peer = Address::create(pd_, theirs.endpoint);
	if (!peer)
		return peer.error();
	{
		const std::lock_guard guard(names_lock_);
		if (static_cast<std::uint32_t>(token) == 0 || !names_.insert(static_cast<std::uint32_t>(token)).second)
			return make_error(EEXIST, "a client whose name another one has", "connect again");
	}
	mine.endpoint = socket_.endpoint();
	return std::unique_ptr<Channel>(std::make_unique<DatagramChannel>(
		*this, token, *std::move(peer), *std::move(memory), requests, responses, calls));
}

std::span<const std::byte> DatagramTransport::datagram(const Completion &completion) const noexcept
{
	return {receives_.data() + completion.wr_id * receive_size_ + Socket::grh_size,
		completion.byte_len - Socket::grh_size};
}

std::uint32_t DatagramTransport::channel_of(const Completion &completion) const noexcept
{
	if (completion.wr_id & send_bit)
		return static_cast<std::uint32_t>(completion.wr_id);
	if (completion.failed() || completion.byte_len < Socket::grh_size + prefix_size)
		return 0;
	std::uint32_t number = 0; /* the low half of the token */
	std::memcpy(&number, datagram(completion).data(), sizeof(number));
	return number;
}

void DatagramTransport::discard(const Completion &completion) noexcept
{
	if (completion.wr_id & send_bit)
		completed_++;
	else
		recycle(completion.wr_id);
}

void DatagramTransport::end_turn() noexcept
{
	while (!remains_.empty() && remains_.front().posted <= completed_)
		remains_.pop_front();
}

void DatagramTransport::recycle(std::uint64_t buffer) noexcept
{
	(void)socket_.receive(
		buffer, receives_.slice(buffer * receive_size_, static_cast<std::uint32_t>(receive_size_)));
}

bool DatagramTransport::has_room(std::uint32_t count) const noexcept
{
	return posted_ - completed_ + count <= most_sends;
}

} // namespace prism::rpc::datagram
