/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/datagram/link.hpp"

#include "base/saturating.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace prism::rpc::datagram
{

namespace
{

/* Work request IDs: a receive has its number, a send send_bit and its slot. */
constexpr unsigned polls_between_looks = 64;

/* Returns the receives for the responses of all slots, and as many for duplicates. */
std::uint32_t receives_for(std::uint32_t depth, const Cut &responses) noexcept
{
	return 2 * depth * responses.most();
}

std::uint32_t sends_for(std::uint32_t depth, const Cut &requests) noexcept
{
	return depth * requests.most();
}

} // namespace

DatagramLink::DatagramLink(Parts parts, CompletionQueue cq, Socket socket, Address peer, Buffer requests,
	Buffer datagrams, const Cut &requests_cut, const Cut &responses_cut)
	: ClientLink(std::move(parts)), requests_(std::move(requests)), datagrams_(std::move(datagrams)),
	  cq_(std::move(cq)), peer_(std::move(peer)), socket_(std::move(socket)), request_cut_(requests_cut),
	  response_cut_(responses_cut), token_(token()), slots_(depth(), Slot(responses_cut))
{
	place_requests({requests_.data(), requests_.length()}, apps::rounded_up(sizes().request, 64));
}

Result<std::unique_ptr<DatagramLink>> DatagramLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	/*
	 * The queues' sizes depend on sizes that the server tells only later. So they have room for the longest
	 * messages, if the server's datagrams are not shorter than on most networks.
	 */
	const Cut longest{fragment_size(IBV_MTU_1024, IBV_MTU_1024), max_message_size};
	const std::uint32_t sends = std::min(sends_for(options.depth, longest), std::uint32_t{4096});
	const std::uint32_t receives = std::min(receives_for(options.depth, longest), std::uint32_t{8192});
	Result<CompletionQueue> cq = CompletionQueue::create(context, static_cast<int>(sends + receives));
	if (!cq)
		return cq.error();
	Result<Socket> socket = Socket::create(*pd, *cq, sends, receives);
	if (!socket)
		return socket.error();
	Result<Parts> parts = meet({context, host, port, wanted, options, measure}, socket->endpoint());
	if (!parts)
		return parts.error();
	const std::uint32_t fragment = fragment_size(socket->endpoint().mtu, parts->peer.endpoint.mtu);
	const Cut requests{fragment, static_cast<std::uint32_t>(parts->sizes.request)};
	const Cut responses{fragment, static_cast<std::uint32_t>(parts->sizes.response)};
	if (sends_for(options.depth, requests) > sends || receives_for(options.depth, responses) > receives)
		return make_error(EINVAL,
			"a depth of " + std::to_string(options.depth) + " by datagrams of " + std::to_string(fragment) +
				" bytes, for messages of up to " + std::to_string(parts->sizes.response),
			"ask for a smaller depth, or smaller messages");
	Result<Address> peer = Address::create(*pd, parts->peer.endpoint);
	if (!peer)
		return peer.error();
	Result<Buffer> request_memory = Buffer::create(*pd, options.depth * apps::rounded_up(parts->sizes.request, 64));
	if (!request_memory)
		return request_memory.error();
	Result<Buffer> datagrams = Buffer::create(
		*pd, options.depth * requests.bytes() +
			     receives_for(options.depth, responses) * (Socket::grh_size + responses.datagram()));
	if (!datagrams)
		return datagrams.error();
	const Deadline deadline = parts->deadline;
	/* The constructor is private: no make_unique. */
	std::unique_ptr<DatagramLink> made(new DatagramLink(*std::move(parts), *std::move(cq), *std::move(socket),
		*std::move(peer), *std::move(request_memory), *std::move(datagrams), requests, responses));
	if (Result<void> finished = made->finish(deadline); !finished)
		return finished.error();
	return made;
}

Result<void> DatagramLink::finish(Deadline deadline)
{
	for (std::uint32_t receive = 0; receive < receives_for(depth(), response_cut_); receive++) {
		if (const int error = post_receive(receive))
			return make_error(error, "cannot post receives");
	}
	return enter(deadline);
}

int DatagramLink::post_receive(std::uint64_t receive) noexcept
{
	return socket_.receive(
		receive, datagrams_.slice(receive_offset(receive), static_cast<std::uint32_t>(receive_size())));
}

void DatagramLink::stop() noexcept
{
	socket_.close();
}

void DatagramLink::flush() noexcept {}

void DatagramLink::send(std::uint32_t index, std::uint32_t size) noexcept
{
	Slot &slot = slots_[index];
	slot.seq = next_seq(slot.seq);
	slot.size = size;
	slot.retransmissions = 0;
	slot.response.expect(slot.seq);
	slot.due = true;
	if (slot.sending == 0)
		transmit(index);
}

/* Sends the datagrams of a request. They are not written while the device sends older ones from the same memory. */
void DatagramLink::transmit(std::uint32_t index) noexcept
{
	Slot &slot = slots_[index];
	slot.due = false;
	slot.sent = Clock::now();
	const std::size_t begin = index * request_cut_.bytes();
	if (slot.retransmissions == 0)
		request_cut_.write(datagrams_.data() + begin, {token_, index, slot.seq, slot.size, 0},
			request(index).first(slot.size));
	for (std::uint32_t fragment = 0; fragment < request_cut_.count(slot.size); fragment++) {
		const LocalSlice slice = datagrams_.slice(
			begin + fragment * request_cut_.datagram(), request_cut_.length(fragment, slot.size));
		if (const int error = socket_.send(peer_, send_bit | index, slice)) {
			break_off(error);
			return;
		}
		slot.sending++;
	}
}

void DatagramLink::take_datagram(const Completion &completion, Listener &listener) noexcept
{
	if (completion.byte_len < Socket::grh_size + prefix_size)
		return;
	const std::span<const std::byte> bytes(datagrams_.data() + receive_offset(completion.wr_id) + Socket::grh_size,
		completion.byte_len - Socket::grh_size);
	Prefix prefix;
	std::memcpy(&prefix, bytes.data(), prefix_size);
	/* Anybody can send a datagram: drop all but responses to calls under way. */
	if (prefix.token != token_ || prefix.slot >= slots_.size() || !calling(prefix.slot))
		return;
	Slot &slot = slots_[prefix.slot];
	if (!slot.response.add(prefix, bytes.subspan(prefix_size)))
		return;
	if (slot.retransmissions == 0)
		timer_.answered(Clock::now() - slot.sent);
	slot.due = false;
	if (const std::optional<std::uint32_t> answered = slot_of(slot.response.message())) {
		if (*answered != prefix.slot)
			break_off(EBADMSG);
		else
			deliver(prefix.slot, slot.response.message(), listener);
	}
}

void DatagramLink::take(const Completion &completion, Listener &listener) noexcept
{
	if (completion.failed()) {
		break_off(EIO);
		return;
	}
	if (completion.wr_id & send_bit) {
		const auto index = static_cast<std::uint32_t>(completion.wr_id);
		if (--slots_[index].sending == 0 && slots_[index].due)
			transmit(index);
		return;
	}
	take_datagram(completion, listener);
	if (broken())
		return;
	if (const int error = post_receive(completion.wr_id))
		break_off(error);
}

/* Sends requests again after their timeout. */
void DatagramLink::go_on() noexcept
{
	if (!active() || ++polls_ % polls_between_looks)
		return;
	const auto now = Clock::now();
	for (std::uint32_t index = 0; index < slots_.size() && !broken(); index++) {
		Slot &slot = slots_[index];
		if (!calling(index) || slot.due || slot.sending ||
			now - slot.sent < timer_.timeout(slot.retransmissions))
			continue;
		slot.retransmissions++;
		counters_.retransmissions++;
		transmit(index);
	}
}

void DatagramLink::drive(Listener &listener) noexcept
{
	std::array<Completion, 32> completions;
	const int got = cq_.poll(completions);
	if (got < 0)
		break_off(-got);
	for (int i = 0; i < got && !broken(); i++)
		take(completions[static_cast<std::size_t>(i)], listener);
	go_on();
}

} // namespace prism::rpc::datagram
