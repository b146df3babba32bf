/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/worker.hpp"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>

namespace prism::rpc
{

namespace
{

/* Work request IDs: a receive has the number of its slot, a send the number of its response and this bit. */
constexpr std::uint64_t send_tag = std::uint64_t{1} << 63;
/* Time in which all completions of a queue pair in the error state arrive */
constexpr auto wake_time = std::chrono::milliseconds(10);
/* Time limit for the delivery of responses when the server stops */
constexpr auto finish_time = std::chrono::seconds(1);
constexpr auto first_nap = std::chrono::microseconds(10);

} // namespace

Server::Connection::Connection(apps::Reception::Link rendezvous, QueuePair pair, Buffer memory,
	std::unique_ptr<CallSession> store_part, std::uint32_t ring, std::uint32_t calls_at_once)
	: link(std::move(rendezvous)), responses(std::move(memory)), qp(std::move(pair)),
	  session(std::move(store_part)), depth(ring), calls(calls_at_once), requests(ring), pieces(ring), waiting(ring)
{
}

Worker::Worker(Server &owner, CompletionQueue queue) : server_(owner), cq_(std::move(queue))
{
	touched_.reserve(2 * server_.connections_of_worker());
	free_slots_.reserve(server_.settings_.receive_buffers);
	connections_.reserve(2 * server_.connections_of_worker());
}

void Worker::add(const ConnectionPointer &connection)
{
	assigned_.fetch_add(1, std::memory_order_relaxed);
	const std::lock_guard guard(mail_lock_);
	arrived_.push_back(connection);
	has_mail_.store(true, std::memory_order_release);
}

void Worker::remove(const ConnectionPointer &connection)
{
	const std::lock_guard guard(mail_lock_);
	departed_.push_back(connection);
	has_mail_.store(true, std::memory_order_release);
}

void Worker::read_mail() noexcept
{
	const std::lock_guard guard(mail_lock_);
	has_mail_.store(false, std::memory_order_relaxed);
	for (ConnectionPointer &connection : arrived_)
		connections_.emplace(connection->number(), std::move(connection));
	arrived_.clear();
	for (const ConnectionPointer &connection : departed_)
		close(*connection);
	departed_.clear();
}

Worker::Connection *Worker::find(std::uint32_t number) noexcept
{
	auto found = connections_.find(number);
	if (found == connections_.end()) {
		/* It was added before the client could send, but perhaps after this thread last read its mail. */
		read_mail();
		found = connections_.find(number);
	}
	return found == connections_.end() ? nullptr : found->second.get();
}

/* Executes no more calls of this connection. Its queue pair goes to the error state, which flushes its requests, and is
 * destroyed when all their completions have arrived. */
void Worker::close(Connection &connection) noexcept
{
	if (connection.closed)
		return;
	connection.closed = true;
	connection.closed_at = Clock::now();
	/* Before the client can notice, so that a client that was cut off holds no lock any more. */
	connection.session.reset();
	graves_++;
	for (; connection.waiting_begin != connection.waiting_end; connection.waiting_begin++)
		recycle(connection.waiting[connection.waiting_begin % connection.depth].slot);
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_ERR;
	(void)ibv_modify_qp(connection.qp.raw(), &attr, IBV_QP_STATE);
	/* This tells the client. The thread in run() closes the descriptor. */
	(void)shutdown(connection.link->fd(), SHUT_RDWR);
}

/* Log, count, close, in this order: the reason is in the log when the count shows, and both when the client notices. */
void Worker::give_up(Connection &connection, std::atomic<std::uint64_t> &count, const std::string &reason) noexcept
{
	if (connection.closed)
		return;
	server_.log(
		apps::LogLevel::warning, "connection " + std::to_string(connection.number()) + " closed: " + reason);
	count.fetch_add(1, std::memory_order_release);
	close(connection);
}

void Worker::bury() noexcept
{
	const auto now = Clock::now();
	std::erase_if(connections_, [&](const auto &entry) {
		const Connection &connection = *entry.second;
		if (!connection.closed || now - connection.closed_at < wake_time)
			return false;
		graves_--;
		assigned_.fetch_sub(1, std::memory_order_relaxed);
		return true;
	});
}

void Worker::recycle(std::uint32_t slot) noexcept
{
	free_slots_.push_back(slot);
}

void Worker::flush_receives() noexcept
{
	if (free_slots_.empty())
		return;
	if (const int error = server_.post_receives(free_slots_))
		server_.log(apps::LogLevel::error, std::string("cannot post receives: ") + std::strerror(error));
	free_slots_.clear();
}

void Worker::touch(Connection &connection) noexcept
{
	if (connection.touched)
		return;
	connection.touched = true;
	touched_.push_back(&connection);
}

/* Executes the request and builds its response. Returns null, or what is wrong with the request. */
const char *Worker::respond(Connection &connection, std::span<const std::byte> request) noexcept
{
	const auto at = connection.built % connection.depth;
	const std::size_t offset = at * server_.response_size();
	std::uint32_t size = 0;
	const char *wrong = connection.session->handle(
		request, {connection.responses.data() + offset, server_.response_size()}, size);
	if (wrong)
		return wrong;
	const LocalSlice slice = connection.responses.slice(offset, size);
	connection.pieces[at] = {slice.address, slice.length, slice.lkey};
	ibv_send_wr &wr = connection.requests[at];
	wr = {};
	wr.wr_id = send_tag | connection.built;
	wr.sg_list = &connection.pieces[at];
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = size <= connection.qp.max_inline_data() ? unsigned{IBV_SEND_INLINE} : 0u;
	connection.built++;
	touch(connection);
	return nullptr;
}

void Worker::execute(Connection &connection, std::uint32_t slot, std::uint32_t length) noexcept
{
	const bool timed = server_.settings_.timed;
	const Clock::time_point began = timed ? Clock::now() : Clock::time_point();
	if (const char *wrong = respond(connection, server_.receive_buffer(slot, length))) {
		give_up(connection, malformed, std::string("malformed request: ") + wrong);
	} else {
		requests.fetch_add(1, std::memory_order_relaxed);
		if (timed)
			handling.add(Clock::now() - began);
	}
	recycle(slot);
}

void Worker::accept_request(Connection &connection, std::uint32_t slot, std::uint32_t length) noexcept
{
	if (connection.waiting_begin == connection.waiting_end && connection.has_room()) {
		execute(connection, slot, length);
		return;
	}
	/* Waiting requests hold receive buffers, so a client may not have more than it announced. */
	if (connection.waiting_end - connection.waiting_begin == connection.calls) {
		give_up(connection, malformed,
			"more requests at once than the " + std::to_string(connection.calls) + " that it announced");
		recycle(slot);
		return;
	}
	connection.waiting[connection.waiting_end++ % connection.depth] = {slot, length};
}

void Worker::resume_waiting(Connection &connection) noexcept
{
	while (!connection.closed && connection.waiting_begin != connection.waiting_end && connection.has_room()) {
		const Connection::Waiting next = connection.waiting[connection.waiting_begin++ % connection.depth];
		execute(connection, next.slot, next.length);
	}
}

void Worker::handle_receive(const Completion &completion) noexcept
{
	const auto slot = static_cast<std::uint32_t>(completion.wr_id);
	Connection *connection = find(completion.qp_num);
	if (connection && !connection->closed && !completion.failed() && !finishing_) {
		accept_request(*connection, slot, completion.byte_len);
		return;
	}
	recycle(slot);
	if (connection && !connection->closed && completion.failed()) {
		give_up(*connection, vanished, std::string("receive failed: ") + completion.describe());
	}
}

void Worker::handle_send(const Completion &completion) noexcept
{
	Connection *connection = find(completion.qp_num);
	if (!connection || connection->closed)
		return;
	if (completion.failed()) {
		give_up(*connection, vanished, std::string("send failed: ") + completion.describe());
		return;
	}
	connection->done = (completion.wr_id & ~send_tag) + 1;
	resume_waiting(*connection);
}

void Worker::handle(const Completion &completion) noexcept
{
	if (completion.wr_id & send_tag)
		handle_send(completion);
	else
		handle_receive(completion);
}

/* Posts all new responses with one doorbell. Only the last is signalled: its completion covers all before it. */
void Worker::post_chain(Connection &connection) noexcept
{
	ibv_send_wr *first = &connection.requests[connection.posted % connection.depth];
	ibv_send_wr *last = first;
	for (std::uint64_t next = connection.posted + 1; next != connection.built; next++) {
		last->next = &connection.requests[next % connection.depth];
		last = last->next;
	}
	last->next = nullptr;
	last->send_flags |= IBV_SEND_SIGNALED;
	connection.posted = connection.built;
	ibv_send_wr *bad = nullptr;
	if (const int error = ibv_post_send(connection.qp.raw(), first, &bad)) {
		give_up(connection, vanished, std::string("cannot send: ") + std::strerror(error));
	}
}

void Worker::post_responses() noexcept
{
	for (Connection *connection : touched_) {
		connection->touched = false;
		if (!connection->closed)
			post_chain(*connection);
	}
	touched_.clear();
}

/* Does what can be done now. False: there was nothing. */
bool Worker::turn() noexcept
{
	std::array<Completion, batch> completions;
	if (has_mail_.load(std::memory_order_acquire))
		read_mail();
	const int got = cq_.poll(completions);
	for (int i = 0; i < got; i++)
		handle(completions[static_cast<std::size_t>(i)]);
	/* Receives before responses, as a response brings the client's next request, which needs a buffer. */
	flush_receives();
	post_responses();
	/* Only after the queue was empty, so that it has no completions of closed connections. */
	if (got < static_cast<int>(batch) && graves_)
		bury();
	return got > 0;
}

/* Arming the queue hands the device over to its engine thread, which otherwise waits for this thread's next poll. */
void Worker::nap(Clock::duration idle) noexcept
{
	if (idle < server_.settings_.spin)
		return;
	(void)ibv_req_notify_cq(cq_.raw(), 0);
	next_nap_ = std::clamp<std::chrono::nanoseconds>(next_nap_ * 2, first_nap, server_.settings_.max_nap);
	std::this_thread::sleep_for(next_nap_);
}

void Worker::run()
{
	/* Reading the clock costs as much as an empty poll, so do it rarely; after a nap, one poll is enough. */
	constexpr int polls_between_looks = 32;
	auto last_work = Clock::now();
	while (!server_.stopping_.load(std::memory_order_relaxed)) {
		bool worked = false;
		const int polls = next_nap_.count() ? 1 : polls_between_looks;
		for (int i = 0; i < polls; i++)
			worked |= turn();
		const auto now = Clock::now();
		if (worked) {
			last_work = now;
			next_nap_ = {};
			continue;
		}
		nap(now - last_work);
	}
	finish();
	read_mail();
	for (auto &entry : connections_)
		close(*entry.second);
	touched_.clear();
	connections_.clear();
}

/** Executes the calls that have arrived, but none that arrive later, and waits until the responses are delivered. */
void Worker::finish() noexcept
{
	const auto deadline = Clock::now() + finish_time;
	for (std::uint32_t taken = 0; taken <= server_.settings_.receive_buffers && turn(); taken += batch)
		;
	finishing_ = true;
	const auto answers = [](const auto &entry) {
		const Connection &connection = *entry.second;
		return !connection.closed &&
		       (connection.done != connection.built || connection.waiting_begin != connection.waiting_end);
	};
	while (std::any_of(connections_.begin(), connections_.end(), answers) && Clock::now() < deadline)
		turn();
}

} // namespace prism::rpc
