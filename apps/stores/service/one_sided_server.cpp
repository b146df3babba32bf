/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "one_sided_server.hpp"

#include <poll.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/saturating.hpp"

namespace prism::apps
{

namespace
{

using Clock = std::chrono::steady_clock;

/* Longest time that serve() waits for messages of clients */
constexpr int turn_milliseconds = 1;
/* Greatest age of the figures of collect() */
constexpr auto snapshot_interval = std::chrono::milliseconds(100);
/* Bookkeeping of a buffer: its holder, and its places in the lists of returned and of undecided buffers */
constexpr std::uint64_t ledger_bytes = 8 + 4 + 8;
/* Entry of a free list of the userspace device, which rounds their number up to a power of two */
constexpr std::uint64_t list_entry_bytes = 32;

RecoveryOptions recovery_options(const OneSidedServerOptions &options)
{
	RecoveryOptions recovery;
	recovery.answer_timeout = options.answer_timeout;
	recovery.retry_interval = options.recovery_interval;
	return recovery;
}

} // namespace

/** A client, as long as its TCP connection is open. */
struct OneSidedServer::Connection {
	Connection(Reception::Link link, QueuePair pair, std::uint32_t connection_number)
		: rendezvous(std::move(link)), control(rendezvous->fd()), qp(std::move(pair)), number(connection_number)
	{
	}

	/** Ends the connection: from here on no request of the client is executed. */
	void end() noexcept
	{
		qp.reset();
		dead = true;
	}

	Reception::Link rendezvous;
	ControlChannel control;
	std::optional<QueuePair> qp;
	std::uint32_t number;
	bool dead = false;
};

/** A client that is not ready yet. */
class OneSidedServer::PendingConnection final : public Reception::AcceptedConnection
{
public:
	PendingConnection(OneSidedServer &owner, std::unique_ptr<Connection> made)
		: server_(owner), connection_(std::move(made))
	{
		server_.pending_.push_back(this);
	}
	PendingConnection(const PendingConnection &) = delete;
	PendingConnection &operator=(const PendingConnection &) = delete;
	~PendingConnection() override
	{
		std::erase(server_.pending_, this);
		if (!connection_)
			return;
		connection_->end();
		server_.leave(connection_->number);
		if (ready_) /* it has gone at this moment */
			server_.ended(connection_->number);
	}

	void ready() override
	{
		ready_ = true;
		server_.entered(connection_->number);
	}
	void enter() override
	{
		server_.stats_.connections++;
		server_.stats_.open++;
		server_.StoreCore::enter(connection_->number);
		server_.connections_.push_back(std::move(connection_));
	}

	void end() noexcept
	{
		if (connection_)
			connection_->end();
	}
	[[nodiscard]] std::uint32_t number() const noexcept { return connection_ ? connection_->number : 0; }

private:
	OneSidedServer &server_;
	std::unique_ptr<Connection> connection_;
	bool ready_ = false;
};

/* Set-up --------------------------------------------------------------------------------------------------------- */

std::uint64_t OneSidedServer::bookkeeping_bytes(const BufferClass &list) noexcept
{
	return ledger_bytes * list.count +
	       list_entry_bytes * std::bit_ceil(std::uint64_t{list.count}); /* 2^38 at most */
}

Result<OneSidedServer::Parts> OneSidedServer::make_parts(
	const Context &context, const Hello &hello, Layout layout, const OneSidedServerOptions &options)
{
	Result<TcpListener> listener = TcpListener::create(options.port, options.address);
	if (!listener)
		return listener.error();
	const RegionLayout region(layout.slot_bytes, options.max_connections, std::move(layout.lists));
	MemoryPlan plan;
	plan.add(layout.slots, region.slot_bytes());
	std::uint64_t bookkeeping = RegionLayout::scratch_bytes * options.max_connections;
	for (const BufferClass &list : region.lists()) {
		plan.add(fmt::format("{} buffers of {} bytes", list.count, list.buffer_size), list.bytes());
		bookkeeping = sum_of(bookkeeping, bookkeeping_bytes(list));
	}
	plan.add("bookkeeping", bookkeeping);
	if (region.bytes() == saturated) /* too large, whatever the limits are */
		return make_error(ENOMEM, "memory: " + plan.text(), layout.to_need_less);
	if (Result<void> checked = announce_memory(plan, context, options.log, layout.to_need_less); !checked)
		return checked.error();
	Result<std::unique_ptr<VerbsDevice>> device = VerbsDevice::create(context, region.bytes(), options.log);
	if (!device)
		return device.error();
	Result<std::unique_ptr<Reception>> reception =
		Reception::create(*std::move(listener), hello, options.setup_timeout);
	if (!reception)
		return reception.error();
	return Parts{*std::move(device), region, *std::move(reception)};
}

OneSidedServer::OneSidedServer(Parts parts, OneSidedServerOptions options)
	: StoreCore(*parts.device, std::move(parts.layout), recovery_options(options)), options_(std::move(options)),
	  device_(std::move(parts.device)), reception_(std::move(parts.reception))
{
}

OneSidedServer::~OneSidedServer() = default;

Result<void> OneSidedServer::make_lists()
{
	return device_->make_lists(layout());
}

/* Serving -------------------------------------------------------------------------------------------------------- */

Result<void> OneSidedServer::serve()
{
	int patience = 0;
	take_snapshot();
	while (!stopping_ && !go_on_draining()) {
		wait(patience);
		if (Clock::now() >= next_snapshot_)
			take_snapshot();
		const int reports = device_->take_reports();
		if (reports < 0)
			return make_error(-reports, "cannot take freed buffers back");
		destroy_disconnected();
		look_around();
		if (!lists().empty()) /* without buffers none can be lost */
			recovery().go_on(monotonic_time());
		deserted_ = stats_.connections && !stats_.open && (lists().empty() || recovery().idle());
		/* While reports come in, do not sleep, so that buffers return in time. */
		patience = recovery().busy() || reports ? 0 : turn_milliseconds;
	}
	return {};
}

void OneSidedServer::drain(std::chrono::milliseconds limit) noexcept
{
	drain_for_ = std::max<std::int64_t>(limit.count(), 0);
}

/** Returns true if the server was asked to drain, and all clients have left or the time limit has passed. */
bool OneSidedServer::go_on_draining()
{
	const std::int64_t limit = drain_for_;
	if (limit < 0)
		return false;
	if (!drained_at_) {
		drained_at_ = Clock::now() + std::chrono::milliseconds(limit);
		reception_->close(*this);
		for (const auto &connection : connections_)
			connection->dead |= connection->control.send({ControlKind::stop, 0}) != 0;
	}
	if (connections_.empty())
		return true;
	if (Clock::now() < *drained_at_)
		return false;
	log(LogLevel::warning, fmt::format("{} clients have not ended within {} ms", connections_.size(), limit));
	drop_clients();
	return true;
}

std::string OneSidedServer::final_stats()
{
	refresh_lists();
	return stats_json();
}

void OneSidedServer::refresh_lists()
{
	for (FreeList &list : device_->free_lists())
		(void)list.refresh();
}

void OneSidedServer::take_snapshot()
{
	Snapshot now;
	now.server = stats_;
	now.recovery = recovery().stats();
	refresh_lists();
	for (const FreeList &list : lists()) {
		const FreeListInfo info = list.info();
		now.lists.push_back({info.buffer_size, info.buffers.length / info.buffer_size, list.available()});
	}
	next_snapshot_ = Clock::now() + snapshot_interval;
	const std::lock_guard guard(snapshot_lock_);
	snapshot_ = std::move(now);
}

void OneSidedServer::collect(std::vector<Metric> &metrics) const
{
	Snapshot now;
	{
		const std::lock_guard guard(snapshot_lock_);
		now = snapshot_;
	}
	const auto count = [&metrics](const char *name, const char *help, auto value) {
		metrics.push_back({Metric::Kind::counter, name, help, static_cast<double>(value), {}});
	};
	const auto gauge = [&metrics](const char *name, const char *help, std::uint64_t value, Labels labels) {
		metrics.push_back({Metric::Kind::gauge, name, help, static_cast<double>(value), std::move(labels)});
	};
	collect_connections(metrics, now.server.connections, now.server.open, now.server.refused);
	metrics.push_back(histogram_metric("prism_control_message_seconds",
		"Time that the server was busy with a message of a client's control channel", now.server.messages));
	metrics.push_back(histogram_metric("prism_recovery_scan_seconds",
		"Duration of completed scans for lost buffers, with the wait for clients", now.recovery.durations));
	count("prism_recovery_put_off_total", "Scans that were put off and tried again", now.recovery.put_off);
	count("prism_recovery_buffers_total", "Lost buffers that scans found", now.recovery.recovered);
	count("prism_recovery_cut_off_total", "Clients that were cut off as they did not answer", now.recovery.cut_off);
	gauge("prism_memory_registered_bytes", "Memory that is registered for clients", memory().length(), {});
	for (const Snapshot::List &list : now.lists) {
		const std::string size = std::to_string(list.buffer_size);
		const char *const help = "Buffers, by their size in bytes, that are free or in use";
		gauge("prism_buffers", help, list.available, {{"size", size}, {"state", "free"}});
		gauge("prism_buffers", help, list.buffers - list.available, {{"size", size}, {"state", "used"}});
	}
}

/** Waits for messages or new clients, at most @p milliseconds, and handles them. */
void OneSidedServer::wait(int milliseconds)
{
	std::vector<pollfd> waiting{{reception_->fd(), POLLIN, 0}};
	for (const auto &connection : connections_)
		waiting.push_back({connection->rendezvous->fd(), POLLIN, 0});
	if (::poll(waiting.data(), waiting.size(), milliseconds) > 0) {
		for (std::size_t i = 1; i < waiting.size(); i++) {
			if (waiting[i].revents)
				listen_to(*connections_[i - 1]);
		}
	}
	if (waiting[0].revents || reception_->patience() == 0)
		reception_->serve(*this);
}

Result<std::unique_ptr<Reception::AcceptedConnection>> OneSidedServer::on_connect(
	const Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine)
{
	const std::optional<ConnectionPlace> next = next_place();
	if (!next)
		return make_error(EMFILE, fmt::format("there are {} connections already", options_.max_connections),
			"raise the server's number of connections");
	const RemoteRegion all = memory().remote();
	const Place place{next->number, {all.address + next->scratch, RegionLayout::scratch_bytes / 2, all.rkey}};
	for (const FreeList &list : lists())
		mine.free_lists.push_back(list.info());
	if (Result<void> introduced = introduce(theirs, place, mine); !introduced)
		return introduced.error();
	Result<QueuePair> qp = device_->connect(theirs.endpoint);
	if (!qp)
		return qp.error();
	mine.endpoint = qp->endpoint();
	admit();
	auto connection = std::make_unique<Connection>(link, *std::move(qp), place.number);
	return std::unique_ptr<Reception::AcceptedConnection>(
		std::make_unique<PendingConnection>(*this, std::move(connection)));
}

void OneSidedServer::refused(const Error &why) noexcept
{
	stats_.refused++;
	if (why.code == EMFILE)
		look_for_vanished();
	/* A client that waits until this store is ready connects again and again: do not log each time. */
	if (why.code != ENODATA && why.code != ENOTRECOVERABLE && why.code != EBUSY)
		log_client(LogLevel::warning, "refused a client: " + why.message);
}

/**
 * Makes a recovery scan due, as no place, or no descriptor, is left: it cuts off clients that do not answer. Their
 * hosts may have vanished without a FIN. Not more often than scans that are put off, as anybody can cause it.
 */
void OneSidedServer::look_for_vanished() noexcept
{
	const Clock::time_point now = Clock::now();
	if (now < next_search_ || !recovery().idle())
		return;
	next_search_ = now + options_.recovery_interval;
	recovery().want();
}

/**
 * Handles some messages of the client. Further ones wait for the next turn, so that a client that never stops sending
 * does not block the others.
 */
void OneSidedServer::listen_to(Connection &connection)
{
	constexpr unsigned messages_a_turn = 64;
	ControlMessage message;
	for (unsigned heard = 0; heard < messages_a_turn && !connection.dead; heard++) {
		const int got = connection.control.receive(message);
		connection.dead |= got < 0;
		if (got <= 0)
			return;
		const Clock::time_point began = Clock::now();
		hear(connection, message);
		stats_.messages.add(Clock::now() - began);
	}
}

void OneSidedServer::hear(Connection &connection, const ControlMessage &message)
{
	int error = 0;
	switch (message.kind) {
	case ControlKind::settled:
		recovery().settled(connection.number, message.value);
		break;
	case ControlKind::stats: {
		refresh_lists();
		const std::string text = stats_json();
		error = connection.control.send({ControlKind::stats, text.size()}, text);
		break;
	}
	case ControlKind::recover: {
		const int refused = lists().empty() ? 0 : recovery().request(monotonic_time());
		error = connection.control.send({ControlKind::recover, static_cast<std::uint64_t>(refused)});
		break;
	}
	default: {
		std::optional<ControlMessage> answer;
		error = hear(connection.number, message, answer);
		if (error)
			log_client(LogLevel::warning,
				fmt::format("client {} talks nonsense: its connection ends", connection.number));
		else if (answer)
			error = connection.control.send(*answer);
	}
	}
	connection.dead |= error != 0;
}

bool OneSidedServer::tell(std::uint32_t number, const ControlMessage &message)
{
	for (const auto &connection : connections_) {
		if (connection->number != number || connection->dead)
			continue;
		connection->dead |= connection->control.send(message) != 0;
		return !connection->dead;
	}
	return false;
}

std::vector<std::uint32_t> OneSidedServer::present() const
{
	std::vector<std::uint32_t> numbers;
	for (const auto &connection : connections_) {
		if (!connection->dead)
			numbers.push_back(connection->number);
	}
	return numbers;
}

void OneSidedServer::drop_clients(std::uint32_t except)
{
	for (const auto &connection : connections_) {
		if (connection->number != except)
			connection->end();
	}
	for (PendingConnection *const connection : pending_)
		connection->end();
}

void OneSidedServer::drop_client(std::uint32_t number)
{
	for (const auto &connection : connections_) {
		if (connection->number == number)
			connection->end();
	}
	for (PendingConnection *const connection : pending_) {
		if (connection->number() == number)
			connection->end();
	}
}

void OneSidedServer::destroy_disconnected()
{
	const auto dead = [](const auto &connection) { return connection->dead; };
	std::vector<std::uint32_t> numbers;
	for (const auto &connection : connections_) {
		if (!connection->dead)
			continue;
		connection->end();
		leave(connection->number);
		stats_.open--;
		numbers.push_back(connection->number);
	}
	std::erase_if(connections_, dead);
	for (const std::uint32_t number : numbers)
		ended(number);
}

/* Lost buffers --------------------------------------------------------------------------------------------------- */

OneSidedServer::Connection *OneSidedServer::find(std::uint32_t number)
{
	const auto is_it = [number](const auto &connection) { return connection->number == number; };
	const auto found = std::find_if(connections_.begin(), connections_.end(), is_it);
	return found == connections_.end() ? nullptr : found->get();
}

void OneSidedServer::ask_to_settle(std::uint32_t client, std::uint64_t value)
{
	if (Connection *const connection = find(client))
		connection->dead |= connection->control.send({ControlKind::settle, value}) != 0;
}

void OneSidedServer::cut_off(std::uint32_t client)
{
	log(LogLevel::warning,
		fmt::format("client {} is cut off: it has not answered for {} ms; it must call poll() now and then",
			client, options_.answer_timeout.count()));
	drop_client(client);
}

void OneSidedServer::put_off(const std::string &why)
{
	log(LogLevel::warning, fmt::format("recovery scan put off, to be tried again every {} ms: {}",
				       options_.recovery_interval.count(), why));
}

std::uint64_t OneSidedServer::buffers_in_use()
{
	refresh_lists();
	std::uint64_t used = 0;
	for (const FreeList &list : lists())
		used += list.info().buffers.length / list.info().buffer_size - list.available();
	return used;
}

} // namespace prism::apps
