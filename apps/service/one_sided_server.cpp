/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "one_sided_server.hpp"

#include <poll.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include <fmt/format.h>

#include "common/saturating.hpp"

namespace prism::apps
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::size_t alignment = 64;
/* Reports of freed buffers that the receive queue has room for */
constexpr std::uint32_t report_slots = 1024;
/* A free list whose counters are in doubt is emptied for a scan if it has at most so many buffers. */
constexpr std::uint32_t most_to_drain = 1 << 14;
/* How long serve() waits for messages of clients */
constexpr int turn_milliseconds = 1;
/* How old the figures of collect() may be */
constexpr auto snapshot_interval = std::chrono::milliseconds(100);
/* Bookkeeping of a buffer: its holder, and its places in the lists of returned and of undecided buffers */
constexpr std::uint64_t ledger_bytes = 8 + 4 + 8;
/* Entry of a free list of the userspace device, which rounds their number up to a power of two */
constexpr std::uint64_t list_entry_bytes = 32;

std::chrono::nanoseconds now()
{
	return Clock::now().time_since_epoch();
}

std::size_t aligned(std::size_t bytes)
{
	return rounded_up(bytes, alignment);
}

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
	Connection(Reception::Link link, QueuePair pair, std::uint32_t connection_number, std::uint32_t scratch_index)
		: rendezvous(std::move(link)), control(rendezvous->fd()), qp(std::move(pair)),
		  number(connection_number), scratch(scratch_index)
	{
	}

	/** From here on no request of the client is executed. */
	void end() noexcept
	{
		qp.reset();
		dead = true;
	}

	Reception::Link rendezvous;
	ControlChannel control;
	std::optional<QueuePair> qp;
	std::uint32_t number;
	std::uint32_t scratch;
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
		server_.free_scratches_.push_back(connection_->scratch);
		if (ready_) /* it has gone in this very moment */
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
		server_.recovery_.entered(connection_->number);
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
	MemoryPlan plan;
	plan.add(layout.slots, aligned(layout.slot_bytes));
	const std::uint64_t scratches = scratch_bytes * std::uint64_t{options.max_connections};
	std::uint64_t bytes = sum_of(aligned(layout.slot_bytes), scratches);
	std::uint64_t bookkeeping = scratches;
	for (const BufferClass &list : layout.lists) {
		const std::uint64_t buffers = std::uint64_t{list.buffer_size} * list.count;
		plan.add(fmt::format("{} buffers of {} bytes", list.count, list.buffer_size), buffers);
		bytes = sum_of(bytes, buffers);
		bookkeeping = sum_of(bookkeeping, bookkeeping_bytes(list));
	}
	plan.add("bookkeeping", bookkeeping);
	if (bytes == saturated) /* whatever the limits are */
		return make_error(ENOMEM, "memory: " + plan.text(), layout.to_need_less);
	if (Result<void> checked = announce_memory(plan, context, options.log, layout.to_need_less); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	Result<Buffer> memory = Buffer::create(*pd, bytes, access::all);
	if (!memory)
		return memory.error();
	Result<Reclaimer> reclaimer = Reclaimer::create(*pd, report_slots);
	if (!reclaimer)
		return reclaimer.error();
	Result<CompletionQueue> cq = CompletionQueue::create(context, 256);
	if (!cq)
		return cq.error();
	Result<QueuePair> self = QueuePair::create(*pd, *cq, *cq);
	if (!self)
		return self.error();
	if (Result<void> connected = self->connect_to_self(); !connected)
		return connected.error();
	Result<std::unique_ptr<Reception>> reception =
		Reception::create(*std::move(listener), hello, options.setup_timeout);
	if (!reception)
		return reception.error();
	return Parts{*pd, std::make_shared<const Buffer>(*std::move(memory)), *std::move(reclaimer), *cq,
		*std::move(self), *std::move(reception), std::move(layout.lists), layout.slot_bytes};
}

OneSidedServer::OneSidedServer(Parts parts, OneSidedServerOptions options)
	: options_(std::move(options)), pd_(std::move(parts.pd)), memory_(std::move(parts.memory)),
	  scratch_offset_(aligned(parts.slot_bytes)), reclaimer_(std::move(parts.reclaimer)), cq_(std::move(parts.cq)),
	  self_(std::move(parts.self)), list_options_(std::move(parts.lists)), reception_(std::move(parts.reception)),
	  recovery_(*this, recovery_options(options_))
{
	for (std::uint32_t index = options_.max_connections; index-- > 0;)
		free_scratches_.push_back(index);
}

OneSidedServer::~OneSidedServer() = default;

Result<void> OneSidedServer::make_lists()
{
	std::size_t offset = scratch_offset_ + scratch_bytes * options_.max_connections;
	for (const BufferClass &wanted : list_options_) {
		FreeListOptions list;
		list.buffer_size = wanted.buffer_size;
		list.count = wanted.count;
		Result<FreeList> made = FreeList::create(pd_, list, memory_, offset);
		if (!made)
			return made.error();
		lists_.push_back(*std::move(made));
		offset += std::size_t{wanted.buffer_size} * wanted.count;
	}
	for (FreeList &list : lists_)
		reclaimer_.serve(list);
	return {};
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
		const std::uint64_t before = reclaimer_.stats().reports;
		if (Result<void> reclaimed = reclaim(); !reclaimed)
			return reclaimed.error();
		destroy_disconnected();
		look_around();
		if (!lists_.empty()) /* a store without buffers loses none */
			recovery_.go_on(now());
		deserted_ = stats_.connections && !stats_.open && (lists_.empty() || recovery_.idle());
		/* While reports come in, do not sleep, so that buffers return in time. */
		patience = recovery_.busy() || reclaimer_.stats().reports != before ? 0 : turn_milliseconds;
	}
	return {};
}

void OneSidedServer::drain(std::chrono::milliseconds limit) noexcept
{
	drain_for_ = std::max<std::int64_t>(limit.count(), 0);
}

/** True: the server was asked to drain, and all clients have left or the time limit has passed. */
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
	for (FreeList &list : lists_)
		(void)list.refresh();
	return stats_json();
}

void OneSidedServer::take_snapshot()
{
	Snapshot now;
	now.server = stats_;
	now.recovery = recovery_.stats();
	for (FreeList &list : lists_) {
		(void)list.refresh();
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
	gauge("prism_memory_registered_bytes", "Memory that is registered for clients", memory_->length(), {});
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

Result<void> OneSidedServer::reclaim()
{
	const int got = reclaimer_.poll();
	if (got < 0)
		return make_error(-got, "cannot take freed buffers back");
	return {};
}

Result<std::unique_ptr<Reception::AcceptedConnection>> OneSidedServer::on_connect(
	const Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine)
{
	if (free_scratches_.empty())
		return make_error(EMFILE, fmt::format("there are {} connections already", options_.max_connections),
			"raise the server's number of connections");
	const std::uint32_t scratch = free_scratches_.back();
	const RemoteRegion all = memory_->remote();
	const Place place{
		next_number_, {all.address + scratch_offset_ + scratch_bytes * scratch, scratch_bytes / 2, all.rkey}};
	for (const FreeList &list : lists_)
		mine.free_lists.push_back(list.info());
	if (Result<void> introduced = introduce(theirs, place, mine); !introduced)
		return introduced.error();
	QueuePairOptions pair;
	pair.srq = reclaimer_.receive_queue();
	Result<QueuePair> qp = QueuePair::create(pd_, cq_, reclaimer_.completion_queue(), pair);
	if (!qp)
		return qp.error();
	if (Result<void> connected = qp->connect(theirs.endpoint); !connected)
		return connected.error();
	mine.endpoint = qp->endpoint();
	next_number_++;
	free_scratches_.pop_back();
	auto connection = std::make_unique<Connection>(link, *std::move(qp), place.number, scratch);
	return std::unique_ptr<Reception::AcceptedConnection>(
		std::make_unique<PendingConnection>(*this, std::move(connection)));
}

void OneSidedServer::refused(const Error &why) noexcept
{
	stats_.refused++;
	/* A client that waits until this store is ready connects again and again: not worth a line each. */
	if (why.code != ENODATA && why.code != ENOTRECOVERABLE && why.code != EBUSY)
		log(LogLevel::warning, "refused a client: " + why.message);
}

/** Further messages wait for the next turn, so that a client that never stops sending does not block the others. */
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
		recovery_.settled(connection.number, message.value);
		break;
	case ControlKind::stats: {
		for (FreeList &list : lists_)
			(void)list.refresh();
		const std::string text = stats_json();
		error = connection.control.send({ControlKind::stats, text.size()}, text);
		break;
	}
	case ControlKind::recover: {
		const int refused = lists_.empty() ? 0 : recovery_.request(now());
		error = connection.control.send({ControlKind::recover, static_cast<std::uint64_t>(refused)});
		break;
	}
	default: {
		std::optional<ControlMessage> answer;
		error = hear(connection.number, message, answer);
		if (error)
			log(LogLevel::warning,
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

/** Without its queue pair a client has nothing under way. A recovery scan finds the buffers that it held. */
void OneSidedServer::destroy_disconnected()
{
	const auto dead = [](const auto &connection) { return connection->dead; };
	std::vector<std::uint32_t> numbers;
	for (const auto &connection : connections_) {
		if (!connection->dead)
			continue;
		connection->end();
		free_scratches_.push_back(connection->scratch);
		recovery_.left(connection->number);
		stats_.open--;
		numbers.push_back(connection->number);
	}
	std::erase_if(connections_, dead);
	for (const std::uint32_t number : numbers)
		ended(number);
}

/* Lost buffers --------------------------------------------------------------------------------------------------- */

namespace
{

/** How many buffers the device has taken back from unfinished ALLOCATEs. */
std::uint64_t taken_back(const FreeList &list)
{
	prismdv_free_list_attr counters{};
	return prismdv_query_free_list(list.raw(), &counters) ? 0 : counters.reclaimed;
}

} // namespace

Result<void> OneSidedServer::note_handed_out()
{
	live_.clear();
	taken_back_.clear();
	for (FreeList &list : lists_) {
		std::uint64_t before = taken_back(list);
		Result<void> begun = list.begin_recovery();
		if (!begun && begun.error().code == EBUSY && list.available() <= most_to_drain &&
			list.drain(self_, std::chrono::seconds(1)).ok()) {
			before = taken_back(list);
			begun = list.begin_recovery();
			(void)list.post_released();
		}
		if (!begun)
			return begun.error();
		live_.push_back(list.live());
		taken_back_.push_back(before);
	}
	return {};
}

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

bool OneSidedServer::is_open(std::uint32_t number) const
{
	const auto is_it = [number](const auto &connection) { return connection->number == number; };
	const auto will_be = [number](const PendingConnection *connection) { return connection->number() == number; };
	return std::any_of(connections_.begin(), connections_.end(), is_it) ||
	       std::any_of(pending_.begin(), pending_.end(), will_be);
}

bool OneSidedServer::run_on_self(const Chain &chain)
{
	if (chain.post(self_, 0))
		return false;
	Completion completion;
	return !cq_.wait(completion, std::chrono::seconds(1)) && completion.ok();
}

void OneSidedServer::spare(std::uint64_t address)
{
	for (LiveSet &live : live_)
		live.add(address);
}

/** Each poll() handles a few reports. Those that arrived before this call are at most as many as the queue holds. */
bool OneSidedServer::take_reports()
{
	const auto handled = [this] { return reclaimer_.stats().reports + reclaimer_.stats().failed_receives; };
	for (std::uint32_t poll = 0; poll < report_slots; poll++) {
		const std::uint64_t before = handled();
		if (!reclaim().ok())
			return false;
		if (handled() == before)
			break;
	}
	return true;
}

/** Nothing, if a client died in an ALLOCATE after the lists were marked: the device took that buffer back itself. */
std::optional<std::uint64_t> OneSidedServer::collect()
{
	for (std::size_t i = 0; i < lists_.size(); i++) {
		if (taken_back(lists_[i]) != taken_back_[i])
			return std::nullopt;
	}
	std::uint64_t recovered = 0;
	for (std::size_t i = 0; i < lists_.size(); i++) {
		Result<Recovery> ended = lists_[i].end_recovery(live_[i]);
		if (!ended)
			log(LogLevel::error, "recovery scan: " + ended.error().message);
		else
			recovered += ended->recovered;
	}
	return recovered;
}

std::uint64_t OneSidedServer::buffers_in_use()
{
	std::uint64_t used = 0;
	for (FreeList &list : lists_) {
		(void)list.refresh();
		used += list.info().buffers.length / list.info().buffer_size - list.available();
	}
	return used;
}

} // namespace prism::apps
