/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/client_link.hpp"

#include "common/wire.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

namespace prism::rpc
{

namespace
{

/* Work request IDs: a receive has its number and this bit, any other request its sequence number. */
constexpr std::uint64_t receive_tag = std::uint64_t{1} << 63;
constexpr std::uint32_t longest_queue = 2 * depth_limit;
constexpr auto look_after = std::chrono::milliseconds(20);

std::uint32_t send_queue_size(std::uint32_t slots) noexcept
{
	/* Twice the slots, as answered requests may still occupy the queue. A request that finds no room waits. */
	return std::clamp(2 * slots, std::uint32_t{16}, longest_queue);
}

Result<void> check_depth(const apps::Hello &server, const std::string &who, std::uint32_t depth)
{
	if (depth > server.max_depth)
		return make_error(EINVAL,
			who + " serves " + std::to_string(server.max_depth) + " operations at once on one connection",
			"ask for a smaller depth, or raise the server's limit");
	return {};
}

} // namespace

ClientLink::ClientLink(TcpRendezvous link, ConnectionRecord record, const apps::Hello &hello,
	const ClientOptions &options, const SlotSizes &slot_sizes, CompletionQueue queue, QueuePair pair, Buffer buffer)
	: settings_(options), sizes_(slot_sizes), limits_(hello), peer_(std::move(record)),
	  rendezvous_(std::move(link)), memory_(std::move(buffer)), cq_(std::move(queue)), qp_(std::move(pair)),
	  slots_(options.depth + options.readers), begun_(slots_.size()),
	  queue_size_(send_queue_size(options.depth + options.readers)), slot_of_post_(queue_size_)
{
}

Result<std::unique_ptr<ClientLink>> ClientLink::connect(const Context &context, const std::string &host,
	std::uint16_t port, const apps::Hello &wanted, const ClientOptions &options, const Measure &measure)
{
	if (options.depth < 1 || options.depth > depth_limit)
		return make_error(EINVAL, "a depth of " + std::to_string(options.depth), "from 1 to 4096 is possible");
	const Deadline deadline = std::chrono::steady_clock::now() + options.timeout;
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	const std::uint32_t queue_length = send_queue_size(options.depth + options.readers);
	Result<CompletionQueue> cq_ = CompletionQueue::create(context, static_cast<int>(queue_length + options.depth));
	if (!cq_)
		return cq_.error();
	QueuePairOptions pair_options;
	pair_options.max_send_wr = queue_length;
	pair_options.max_recv_wr = options.depth;
	pair_options.access_flags = 0; /* the server has nothing to do here */
	Result<QueuePair> qp_ = QueuePair::create(*pd, *cq_, *cq_, pair_options);
	if (!qp_)
		return qp_.error();

	Result<TcpRendezvous> link = TcpRendezvous::connect(host, port, options.timeout);
	if (!link)
		return link.error();
	apps::Hello mine{wanted.kind, 0, 0, options.depth};
	ConnectionRecord record;
	record.endpoint = qp_->endpoint();
	record.private_data = mine.serialize();
	Result<ConnectionRecord> theirs = link->swap(record, deadline);
	if (!theirs)
		return theirs.error();
	const std::string who = "the server at " + host + " port " + std::to_string(port);
	Result<apps::Hello> hello = wanted.expect(*theirs, who);
	if (!hello)
		return hello.error();
	if (Result<void> checked = check_depth(*hello, who, options.depth); !checked)
		return checked.error();
	Result<SlotSizes> sizes_ = measure(*theirs, *hello);
	if (!sizes_)
		return Error{sizes_.error().code, who + " " + sizes_.error().message};

	sizes_->request = padded(sizes_->request);
	sizes_->response = padded(sizes_->response);
	sizes_->read = padded(sizes_->read);
	Result<Buffer> buffer = Buffer::create(*pd, options.depth * (sizes_->request + sizes_->response) +
							    (options.depth + options.readers) * sizes_->read);
	if (!buffer)
		return buffer.error();
	/* The constructor is private: no make_unique. */
	std::unique_ptr<ClientLink> made(new ClientLink(*std::move(link), *std::move(theirs), *hello, options, *sizes_,
		*std::move(cq_), *std::move(qp_), *std::move(buffer)));
	if (Result<void> finished = made->finish(deadline); !finished)
		return finished.error();
	return made;
}

Result<void> ClientLink::finish(Deadline deadline)
{
	if (Result<void> connected = qp_.connect(peer_.endpoint); !connected)
		return connected;
	for (std::uint32_t receive = 0; receive < settings_.depth; receive++) {
		if (const int error = post_receive(receive))
			return make_error(error, "cannot post receives");
	}
	return rendezvous_.barrier(deadline);
}

int ClientLink::post_receive(std::uint64_t receive) noexcept
{
	return qp_.post_receive(receive_tag | receive,
		memory_.slice(response_offset(receive), static_cast<std::uint32_t>(sizes_.response)));
}

void ClientLink::break_off(int error) noexcept
{
	if (failure_)
		return;
	failure_ = error;
	active_ = 0;
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_ERR;
	(void)ibv_modify_qp(qp_.raw(), &attr, IBV_QP_STATE);
}

void ClientLink::enqueue(std::uint32_t index, State state) noexcept
{
	Slot &slot = slots_[index];
	slot.state = state;
	slot.sequence = not_posted;
	slot.request.sg_list = &slot.piece;
	slot.request.num_sge = 1;
	begun_[begun_count_++] = index;
	active_++;
}

void ClientLink::call(std::uint32_t index, std::size_t size) noexcept
{
	if (failure_)
		return;
	Slot &slot = slots_[index];
	const std::size_t offset = request_offset(index);
	apps::store(memory_.data() + offset + message_id_offset, std::uint64_t{++slot.generation} << 32 | index);
	const LocalSlice slice = memory_.slice(offset, static_cast<std::uint32_t>(size));
	slot.piece = {slice.address, slice.length, slice.lkey};
	slot.request = {};
	slot.request.opcode = IBV_WR_SEND;
	slot.request.send_flags = slice.length <= qp_.max_inline_data() ? unsigned{IBV_SEND_INLINE} : 0u;
	enqueue(index, State::calling);
}

void ClientLink::read(std::uint32_t index, RemoteAddress from, std::uint32_t length) noexcept
{
	if (failure_)
		return;
	if (length > sizes_.read) {
		break_off(EPROTO);
		return;
	}
	Slot &slot = slots_[index];
	const LocalSlice slice = memory_.slice(read_offset(index), length);
	slot.piece = {slice.address, slice.length, slice.lkey};
	slot.request = {};
	slot.request.opcode = IBV_WR_RDMA_READ;
	slot.request.send_flags = IBV_SEND_SIGNALED;
	slot.request.wr.rdma.remote_addr = from.address;
	slot.request.wr.rdma.rkey = from.rkey;
	enqueue(index, State::reading);
}

/*
 * Sorts requests by opcode and size, because the packets of equal ones leave as one train. Slots may be sent in any
 * order.
 */
void ClientLink::group(std::size_t count) noexcept
{
	const auto kind = [this](std::uint32_t index) {
		const Slot &slot = slots_[index];
		return std::pair(slot.request.opcode, slot.piece.length);
	};
	std::sort(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(count),
		[&](std::uint32_t one, std::uint32_t other) { return kind(one) < kind(other); });
}

/* Posts with one doorbell. Only the last request is signalled: its completion covers all before it. */
void ClientLink::flush() noexcept
{
	const std::size_t count = std::min<std::uint64_t>(begun_count_, queue_size_ - (posted_ - completed_));
	if (count == 0 || failure_)
		return;
	group(count);
	for (std::size_t i = 0; i < count; i++) {
		Slot &slot = slots_[begun_[i]];
		slot.sequence = posted_ + i;
		slot_of_post_[slot.sequence % queue_size_] = begun_[i];
		slot.request.wr_id = slot.sequence;
		slot.request.next = i + 1 < count ? &slots_[begun_[i + 1]].request : nullptr;
	}
	slots_[begun_[count - 1]].request.send_flags |= IBV_SEND_SIGNALED;
	ibv_send_wr *first = &slots_[begun_[0]].request;
	posted_ += count;
	std::copy(begun_.begin() + static_cast<std::ptrdiff_t>(count),
		begun_.begin() + static_cast<std::ptrdiff_t>(begun_count_), begun_.begin());
	begun_count_ -= count;
	ibv_send_wr *bad = nullptr;
	if (const int error = ibv_post_send(qp_.raw(), first, &bad))
		break_off(error);
}

void ClientLink::deliver(std::uint32_t index, std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept
{
	Slot &slot = slots_[index];
	slot.state = State::idle;
	slot.early = nothing;
	active_--;
	const std::span<const std::byte> message(memory_.data() + response_offset(receive), length);
	listener.on_response(index, message);
	if (const int error = post_receive(receive))
		break_off(error);
}

void ClientLink::take_response(std::uint64_t receive, std::uint32_t length, Listener &listener) noexcept
{
	MessageHeader header;
	if (header.parse_response({memory_.data() + response_offset(receive), length})) {
		break_off(EBADMSG);
		return;
	}
	const auto index = static_cast<std::uint32_t>(header.id);
	if (index >= slots_.size() || slots_[index].state != State::calling || slots_[index].sequence == not_posted ||
		slots_[index].generation != static_cast<std::uint32_t>(header.id >> 32) ||
		slots_[index].early != nothing) {
		break_off(EBADMSG);
		return;
	}
	Slot &slot = slots_[index];
	/* The device may have to retransmit the request, so its bytes must not change. */
	if (!(slot.request.send_flags & IBV_SEND_INLINE) && slot.sequence >= completed_) {
		slot.early = receive;
		slot.early_length = length;
		return;
	}
	deliver(index, receive, length, listener);
}

void ClientLink::take_sent(std::uint64_t sequence, Listener &listener) noexcept
{
	while (completed_ <= sequence && !failure_) {
		const std::uint64_t done = completed_++;
		const std::uint32_t index = slot_of_post_[done % queue_size_];
		Slot &slot = slots_[index];
		if (slot.sequence != done)
			continue;
		if (slot.state == State::reading) {
			slot.state = State::idle;
			active_--;
			listener.on_read(index);
		} else if (slot.state == State::calling && slot.early != nothing) {
			deliver(index, slot.early, slot.early_length, listener);
		}
	}
}

void ClientLink::take(const Completion &completion, Listener &listener) noexcept
{
	if (completion.failed())
		break_off(completion.error == IBV_WC_RETRY_EXC_ERR ? ETIMEDOUT : EIO);
	else if (completion.wr_id & receive_tag)
		take_response(completion.wr_id & ~receive_tag, completion.byte_len, listener);
	else
		take_sent(completion.wr_id, listener);
}

/* A server that closes the connection shows it only on its socket; one that hangs shows nothing. */
void ClientLink::watch(bool progress) noexcept
{
	constexpr unsigned polls_between_looks = 256;
	if (progress || !active_) {
		quiet_ = false;
		quiet_polls_ = 0;
		return;
	}
	if (++quiet_polls_ % polls_between_looks)
		return;
	const auto now = std::chrono::steady_clock::now();
	if (!quiet_) {
		quiet_ = true;
		quiet_since_ = now;
	} else if (now - quiet_since_ > settings_.patience) {
		break_off(ETIMEDOUT);
	} else if (now - quiet_since_ > look_after && rendezvous_.peer_gone()) {
		break_off(ECONNRESET);
	}
}

void ClientLink::poll(Listener &listener) noexcept
{
	std::array<Completion, 32> completions;
	if (failure_)
		return;
	/* While others are under way, their answers bring more requests, which can share the doorbell. */
	if (begun_count_ == active_)
		flush();
	const int got = cq_.poll(completions);
	if (got < 0)
		break_off(-got);
	for (int i = 0; i < got && !failure_; i++) {
		take(completions[static_cast<std::size_t>(i)], listener);
		/* Send half of them while the server works on the other half. */
		if (active_ > 1 && 2 * begun_count_ >= active_)
			flush();
	}
	if (!got)
		flush();
	watch(got > 0);
}

} // namespace prism::rpc
