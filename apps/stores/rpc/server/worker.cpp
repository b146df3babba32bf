/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/server/worker.hpp"

#include "rpc/protocol/header.hpp"
#include "service/log.hpp"

#include <algorithm>
#include <array>
#include <sys/socket.h>
#include <thread>

namespace prism::rpc
{

namespace
{

/* Time in which all completions of a queue pair in the error state arrive */
constexpr auto wake_time = std::chrono::milliseconds(10);
/* Time limit for the delivery of responses when the server stops */
constexpr auto finish_time = std::chrono::seconds(1);
constexpr auto first_nap = std::chrono::microseconds(10);
constexpr int longest_nap_share = 50; /* of the time since the last work */

} // namespace

bool Connection::finishing() const noexcept
{
	return worker_.finishing_;
}

bool Connection::execute(
	std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept
{
	if (!kept_.empty() && repeat(request, response, size))
		return true;
	const bool timed = worker_.server_.settings.timed;
	const auto began = timed ? worker_.device_->now() : Worker::Clock::time_point();
	if (const char *wrong = session_->handle(request, response, size)) {
		refuse(std::string("malformed request: ") + wrong);
		return false;
	}
	worker_.requests.fetch_add(1, std::memory_order_relaxed);
	if (timed)
		worker_.handling.add(worker_.device_->now() - began);
	return true;
}

/*
 * Repeats the response to a call that was executed before the client lost its connection, and may not have received it.
 */
bool Connection::repeat(std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept
{
	MessageHeader header;
	if (header.parse_request(request))
		return false;
	const std::span<const std::byte> kept = kept_.find(header.id);
	if (kept.empty() || kept.size() > response.size())
		return false;
	std::copy(kept.begin(), kept.end(), response.begin());
	size = static_cast<std::uint32_t>(kept.size());
	worker_.repeated.fetch_add(1, std::memory_order_relaxed);
	return true;
}

void Connection::keep_responses() noexcept
{
	if (who.stay == Stay::once || refused_)
		return;
	/* Keep also the responses that it did not ask for again after an earlier return. */
	channel->keep(kept_);
	worker_.gone_.keep(who.client, std::move(kept_), worker_.device_->now());
}

void Connection::touch() noexcept
{
	if (touched_)
		return;
	touched_ = true;
	worker_.touched_.push_back(this);
}

void Connection::refuse(const std::string &why) noexcept
{
	refused_ = true;
	worker_.give_up(*this, worker_.malformed, why);
}

void Connection::lose(const std::string &why) noexcept
{
	worker_.give_up(*this, worker_.vanished, why);
}

/* Closes the connection. The channel is destroyed when all its completions have arrived. */
void Connection::close() noexcept
{
	if (closed_)
		return;
	closed_ = true;
	closed_at_ = worker_.device_->now();
	/* First release its state: a client that was cut off must hold no lock any more when it notices. */
	session_.reset();
	worker_.graves_++;
	channel->close();
	keep_responses();
	/* Tell the client. The thread in run() closes the descriptor. */
	if (link)
		(void)shutdown(link->fd(), SHUT_RDWR);
}

Worker::Worker(const ServerState &server, std::unique_ptr<CallDevice> device, std::unique_ptr<Transport> way)
	: server_(server), device_(std::move(device)), transport_(std::move(way)),
	  rota_(2 * server_.settings.connections_of_worker())
{
	const std::size_t most = 2 * server_.settings.connections_of_worker();
	touched_.reserve(most);
	connections_.reserve(most);
}

void Worker::add(const ConnectionPointer &connection)
{
	assigned_.fetch_add(1, std::memory_order_relaxed);
	post_mail({connection, true});
}

void Worker::remove(const ConnectionPointer &connection)
{
	post_mail({connection, false});
}

void Worker::post_mail(Letter letter)
{
	const std::lock_guard guard(mail_lock_);
	mail_.push_back(std::move(letter));
	has_mail_.store(true, std::memory_order_release);
}

void Worker::read_mail() noexcept
{
	const std::lock_guard guard(mail_lock_);
	has_mail_.store(false, std::memory_order_relaxed);
	/* In this order: a client that comes back needs the responses that its previous connection has left. */
	for (Letter &letter : mail_) {
		if (letter.arrives)
			arrive(std::move(letter.connection));
		else
			letter.connection->close();
	}
	mail_.clear();
}

void Worker::arrive(ConnectionPointer connection) noexcept
{
	const Introduction &who = connection->who;
	if (who.stay == Stay::again && !connection->closed()) {
		if (gone_.knows(who.client))
			connection->remember(gone_.take(who.client));
		else
			connection->refuse("a client comes back whose last responses are not kept any more");
	}
	if (transport_->looks())
		rota_.add(*connection);
	connections_.emplace(connection->channel->number(), std::move(connection));
}

Connection *Worker::find(std::uint32_t number) noexcept
{
	auto found = connections_.find(number);
	if (found == connections_.end()) {
		/*
		 * The connection was added before the client could send, but perhaps after this thread last read its
		 * mail.
		 */
		read_mail();
		found = connections_.find(number);
	}
	return found == connections_.end() ? nullptr : found->second.get();
}

/*
 * Logs, counts, closes, in this order: the reason is in the log when the count shows, and both when the client notices.
 */
void Worker::give_up(Connection &connection, std::atomic<std::uint64_t> &count, const std::string &reason) noexcept
{
	if (connection.closed())
		return;
	server_.log(apps::LogLevel::warning,
		"connection " + std::to_string(connection.channel->number()) + " closed: " + reason);
	count.fetch_add(1, std::memory_order_release);
	connection.close();
}

void Worker::bury() noexcept
{
	const auto now = device_->now();
	std::erase_if(connections_, [&](const auto &entry) {
		Connection &connection = *entry.second;
		if (!connection.closed() || now - connection.closed_at() < wake_time)
			return false;
		rota_.remove(connection);
		connection.channel.reset();
		graves_--;
		assigned_.fetch_sub(1, std::memory_order_relaxed);
		return true;
	});
}

void Worker::handle(const Completion &completion) noexcept
{
	Connection *connection = find(transport_->channel_of(completion));
	if (connection && !connection->closed())
		connection->channel->take(completion, *connection);
	else
		transport_->discard(completion);
}

bool Worker::look() noexcept
{
	/* Look at all after a nap and at the end, as the next turn may be far off. */
	const bool everybody = next_nap_.count() || server_.stopping.load(std::memory_order_relaxed);
	return rota_.turn(
		[](Connection &connection) { return !connection.closed() && connection.channel->look(connection); },
		everybody);
}

bool Worker::turn() noexcept
{
	std::array<Completion, batch> completions;
	if (has_mail_.load(std::memory_order_acquire))
		read_mail();
	const int got = device_->poll(completions);
	for (int i = 0; i < got; i++)
		handle(completions[static_cast<std::size_t>(i)]);
	const bool found = transport_->looks() && !finishing_ && look();
	transport_->end_turn();
	for (Connection *connection : touched_)
		connection->post();
	touched_.clear();
	/* Bury only after the queue was empty: then it has no completions of closed connections. */
	if (got < static_cast<int>(batch) && graves_)
		bury();
	if (!gone_.empty() && !got)
		gone_.forget(device_->now());
	return found || got > 0;
}

void Worker::nap(Clock::duration idle) noexcept
{
	if (idle < server_.settings.spin)
		return;
	device_->leave_alone();
	/* A call after a long rest may wait longer than one after a short rest, but never for a longer share of it. */
	const Clock::duration longest = std::min<Clock::duration>(server_.settings.max_nap, idle / longest_nap_share);
	next_nap_ = std::max<Clock::duration>(std::min(next_nap_ * 2, longest), first_nap);
	std::this_thread::sleep_for(next_nap_);
}

void Worker::run()
{
	/* Reading the clock costs as much as an empty poll, so do it rarely; after a nap, one poll is enough. */
	constexpr int polls_between_readings = 32;
	auto last_work = device_->now();
	while (!server_.stopping.load(std::memory_order_relaxed)) {
		bool worked = false;
		const int polls = next_nap_.count() ? 1 : polls_between_readings;
		for (int i = 0; i < polls; i++)
			worked |= turn();
		const auto now = device_->now();
		if (worked) {
			last_work = now;
			next_nap_ = {};
			continue;
		}
		nap(now - last_work);
	}
	finish();
	read_mail();
	touched_.clear();
	for (auto &entry : connections_) {
		entry.second->close();
		entry.second->channel.reset();
	}
	connections_.clear();
}

/** Executes the calls that have arrived, but none that arrive later, and waits until the responses are delivered. */
void Worker::finish() noexcept
{
	const auto deadline = device_->now() + finish_time;
	for (std::uint32_t taken = 0; taken <= server_.settings.receive_buffers && turn(); taken += batch)
		;
	finishing_ = true;
	const auto answers = [](const auto &entry) { return !entry.second->closed() && entry.second->channel->busy(); };
	while (std::any_of(connections_.begin(), connections_.end(), answers) && device_->now() < deadline)
		turn();
}

} // namespace prism::rpc
