/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_server.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "introduction.hpp"

namespace prism::kv
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::size_t alignment = 64;
constexpr std::size_t scratch_bytes = 64; /* a connection's: a cache line */
constexpr std::uint32_t most_connections = 4096;
constexpr std::uint32_t longest_key = 4096;
constexpr std::uint32_t longest_value = 1 << 20;
/* Slots that a recovery scan looks at before it serves its clients again */
constexpr std::uint64_t scan_step = 1 << 16;
/* A list whose counters are in doubt is emptied for a scan if that is quick. */
constexpr std::uint32_t most_to_drain = 1 << 14;

std::size_t aligned(std::size_t bytes)
{
	return (bytes + alignment - 1) / alignment * alignment;
}

Geometry geometry_for(std::uint64_t slots)
{
	const std::uint64_t buckets = (slots + Geometry::bucket_slots - 1) / Geometry::bucket_slots;
	return Geometry(static_cast<std::uint32_t>(std::max<std::uint64_t>(buckets, 2)));
}

Result<void> check(const PrismServerOptions &options)
{
	const auto wrong = [](const char *what) { return make_error(EINVAL, "cannot make a store", what); };
	if (options.max_key_size == 0 || options.max_key_size > longest_key)
		return wrong("keys have 1 to 4096 bytes at most");
	if (options.max_value_size > longest_value)
		return wrong("values have 1 MiB at most");
	if (options.max_connections == 0 || options.max_connections > most_connections)
		return wrong("connections are 1 to 4096");
	if (options.slots > std::uint64_t{1} << 35)
		return wrong("the table has 2^35 slots at most");
	const std::uint64_t largest =
		sizeof(ObjectHeader) + std::uint64_t{options.max_key_size} + options.max_value_size;
	bool fits = false;
	for (const ClassOptions &size_class : options.classes) {
		if (size_class.buffer_size == 0 || size_class.buffer_size % alignment != 0 || size_class.count == 0)
			return wrong("a size class has buffers, of a multiple of 64 bytes");
		fits |= size_class.buffer_size >= largest;
	}
	if (!fits || options.classes.size() > ConnectionRecord::max_free_lists)
		return wrong(
			"1 to 64 size classes are needed, one of which holds the longest key and value with 16 bytes");
	return {};
}

} // namespace

ClassOptions PrismServerOptions::class_for(std::uint64_t objects, std::uint32_t key_size, std::uint32_t value_size)
{
	const std::size_t object = sizeof(ObjectHeader) + std::size_t{key_size} + value_size;
	return {static_cast<std::uint32_t>(aligned(object)), static_cast<std::uint32_t>(objects + objects / 10 + 4096)};
}

/** A client, as long as its TCP connection is open. */
struct PrismServer::Connection {
	Connection(TcpRendezvous carrier, QueuePair pair, std::uint32_t connection_number, std::uint32_t scratch_index)
		: rendezvous(std::move(carrier)), control(rendezvous.fd()), qp(std::move(pair)),
		  number(connection_number), scratch(scratch_index)
	{
	}

	TcpRendezvous rendezvous;
	ControlChannel control;
	QueuePair qp;
	std::uint32_t number;
	std::uint32_t scratch;
	std::uint64_t asked = 0;   /* the last settle that it was sent */
	std::uint64_t settled = 0; /* and the last that it has answered */
	bool dead = false;
};

/** A scan for lost buffers, step by step between other work (docs/prism-kv.md, "Lost buffers"). */
struct PrismServer::Recovery {
	enum class Stage : std::uint8_t {
		settling, /* what had begun before the lists were marked comes to its end */
		scanning,
		reporting, /* what was replaced before the scan came by is reported */
	};

	Stage stage = Stage::settling;
	Clock::time_point deadline;
	std::uint64_t next_slot = 0;
	std::vector<LiveSet> live; /* one a list */
};

/* Set-up --------------------------------------------------------------------------------------------------------- */

Result<std::unique_ptr<PrismServer>> PrismServer::create(const Context &context, const PrismServerOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	std::size_t bytes =
		aligned(geometry_for(options.slots).table_bytes()) + scratch_bytes * options.max_connections;
	const std::size_t buffers = bytes;
	for (const ClassOptions &size_class : options.classes)
		bytes += std::size_t{size_class.buffer_size} * size_class.count;
	Result<Buffer> memory = Buffer::create(*pd, bytes, access::all);
	if (!memory)
		return memory.error();
	Result<Reclaimer> reclaimer = Reclaimer::create(*pd, 1024);
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
	Result<TcpListener> listener = TcpListener::create(options.port, options.address);
	if (!listener)
		return listener.error();
	std::unique_ptr<PrismServer> server(
		new PrismServer(*pd, *std::move(listener), std::make_shared<const Buffer>(*std::move(memory)),
			*std::move(reclaimer), *cq, *std::move(self), options));
	Error error;
	if (server->make_lists(buffers, error))
		return error;
	return server;
}

PrismServer::PrismServer(ProtectionDomain pd, TcpListener listener, std::shared_ptr<const Buffer> memory,
	Reclaimer reclaimer, CompletionQueue cq, QueuePair self, const PrismServerOptions &options)
	: options_(options), pd_(std::move(pd)), listener_(std::move(listener)), memory_(std::move(memory)),
	  table_(memory_->as<Slot>(), geometry_for(options.slots)),
	  scratch_offset_(aligned(table_.geometry().table_bytes())), reclaimer_(std::move(reclaimer)),
	  cq_(std::move(cq)), self_(std::move(self)), secret_(random_hash_key())
{
}

PrismServer::~PrismServer() = default;

int PrismServer::make_lists(std::size_t offset, Error &error)
{
	for (const ClassOptions &size_class : options_.classes) {
		FreeListOptions list;
		list.buffer_size = size_class.buffer_size;
		list.count = size_class.count;
		Result<FreeList> made = FreeList::create(pd_, list, memory_, offset);
		if (!made) {
			error = made.error();
			return error.code;
		}
		lists_.push_back(*std::move(made));
		offset += std::size_t{size_class.buffer_size} * size_class.count;
	}
	for (FreeList &list : lists_)
		reclaimer_.serve(list);
	return 0;
}

void PrismServer::log(const std::string &line) const
{
	if (options_.log)
		options_.log(line);
	else
		fmt::print(stderr, "{}\n", line);
}

/* Serving -------------------------------------------------------------------------------------------------------- */

Result<void> PrismServer::serve()
{
	int patience = 0;
	while (!stopping_) {
		wait(patience);
		const std::uint64_t before = reclaimer_.stats().reports;
		if (Result<void> reclaimed = reclaim(); !reclaimed)
			return reclaimed.error();
		bury_dead();
		if (recovery_)
			go_on_recovering();
		else if (recovery_wanted_)
			begin_recovery();
		/* Buffers come back in time as long as they come; a server without PUTs sleeps. */
		patience = recovery_ || reclaimer_.stats().reports != before ? 0 : 1;
	}
	return {};
}

/** Until a client has something to say, at most @p milliseconds. */
void PrismServer::wait(int milliseconds)
{
	std::vector<pollfd> waiting{{listener_.fd(), POLLIN, 0}};
	for (const auto &connection : connections_)
		waiting.push_back({connection->rendezvous.fd(), POLLIN, 0});
	if (::poll(waiting.data(), waiting.size(), milliseconds) <= 0)
		return;
	for (std::size_t i = 1; i < waiting.size(); i++) {
		if (waiting[i].revents)
			listen_to(*connections_[i - 1]);
	}
	if (waiting[0].revents)
		accept();
}

Result<void> PrismServer::reclaim()
{
	const int got = reclaimer_.poll();
	if (got < 0)
		return make_error(-got, "cannot take freed buffers back");
	return {};
}

std::uint32_t PrismServer::free_scratch() const noexcept
{
	std::uint32_t scratch = 0;
	const auto used = [&](const auto &connection) { return connection->scratch == scratch; };
	while (std::any_of(connections_.begin(), connections_.end(), used))
		scratch++;
	return scratch;
}

Result<std::unique_ptr<PrismServer::Connection>> PrismServer::admit(TcpRendezvous &rendezvous)
{
	const std::uint32_t scratch = free_scratch();
	if (scratch >= options_.max_connections)
		return make_error(EMFILE, "one client too many", "raise the number of connections");
	QueuePairOptions pair;
	pair.srq = reclaimer_.receive_queue();
	Result<QueuePair> qp = QueuePair::create(pd_, cq_, reclaimer_.completion_queue(), pair);
	if (!qp)
		return qp.error();
	Hello hello = prism_hello();
	hello.max_key_size = options_.max_key_size;
	hello.max_value_size = options_.max_value_size;
	ConnectionRecord mine;
	mine.private_data = hello.serialize(
		Introduction{secret_, table_.geometry().bucket_count(), next_number_, next_version_}.serialize());
	const RemoteRegion all = memory_->remote();
	mine.regions = {{table_region, {all.address, table_.geometry().table_bytes(), all.rkey}},
		{scratch_region, {all.address + scratch_offset_ + scratch_bytes * scratch, sizeof(Slot), all.rkey}}};
	for (const FreeList &list : lists_)
		mine.free_lists.push_back(list.info());
	next_version_ += 2 * versions_a_lease;
	Result<ConnectionRecord> peer = establish(rendezvous, *qp, std::move(mine), options_.setup_timeout);
	if (!peer)
		return peer.error();
	if (Result<Hello> expected = prism_hello().expect(*peer, "a client"); !expected)
		return expected.error();
	return std::make_unique<Connection>(std::move(rendezvous), *std::move(qp), next_number_++, scratch);
}

void PrismServer::accept()
{
	Result<TcpRendezvous> rendezvous = listener_.accept(std::chrono::milliseconds(0));
	if (!rendezvous)
		return;
	Result<std::unique_ptr<Connection>> connection = admit(*rendezvous);
	if (!connection) {
		stats_.refused++;
		log("refused a client: " + connection.error().message);
		return;
	}
	stats_.connections++;
	stats_.open++;
	connections_.push_back(*std::move(connection));
}

void PrismServer::listen_to(Connection &connection)
{
	ControlMessage message;
	int got = 0;
	while (!connection.dead && (got = connection.control.receive(message)) > 0)
		hear(connection, message);
	connection.dead |= got < 0;
}

void PrismServer::hear(Connection &connection, const ControlMessage &message)
{
	int error = 0;
	switch (message.kind) {
	case ControlKind::lease:
		error = connection.control.send({ControlKind::lease, next_version_});
		next_version_ += versions_a_lease;
		break;
	case ControlKind::settled:
		connection.settled = message.value;
		break;
	case ControlKind::stats: {
		const std::string text = stats_json();
		error = connection.control.send({ControlKind::stats, text.size()}, text);
		break;
	}
	case ControlKind::recover: {
		const std::uint64_t answer = recovery_ ? EBUSY : static_cast<std::uint64_t>(begin_recovery());
		error = connection.control.send({ControlKind::recover, answer});
		break;
	}
	case ControlKind::settle:
	default:
		log(fmt::format("client {} talks nonsense: its connection ends", connection.number));
		error = EBADMSG;
	}
	connection.dead |= error != 0;
}

/** With its queue pair nothing of a client is under way any more; what it held is found by a recovery scan. */
void PrismServer::bury_dead()
{
	const auto dead = [](const auto &connection) { return connection->dead; };
	const std::size_t buried =
		static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(), dead));
	if (!buried)
		return;
	std::erase_if(connections_, dead);
	stats_.open -= buried;
	recovery_wanted_ = true;
}

/* Lost buffers --------------------------------------------------------------------------------------------------- */

/** 0 or errno. */
int PrismServer::begin_recovery()
{
	recovery_wanted_ = false;
	for (FreeList &list : lists_) {
		Result<void> begun = list.begin_recovery();
		if (!begun && begun.error().code == EBUSY && list.available() <= most_to_drain &&
			list.drain(self_, std::chrono::seconds(1)).ok()) {
			begun = list.begin_recovery();
			(void)list.post_released();
		}
		if (!begun) {
			stats_.postponed++;
			log("recovery scan put off: " + begun.error().message);
			return begun.error().code;
		}
	}
	recovery_ = std::make_unique<Recovery>();
	for (FreeList &list : lists_)
		recovery_->live.push_back(list.live());
	ask_to_settle();
	return 0;
}

void PrismServer::ask_to_settle()
{
	const std::uint64_t value = next_settle_++;
	recovery_->deadline = Clock::now() + options_.patience;
	for (const auto &connection : connections_) {
		connection->asked = value;
		connection->dead |= connection->control.send({ControlKind::settle, value}) != 0;
	}
}

/** Clients that have come since were not asked: nothing that they have done began before. */
bool PrismServer::settled() const noexcept
{
	return std::all_of(connections_.begin(), connections_.end(),
		[](const auto &connection) { return connection->settled == connection->asked; });
}

void PrismServer::go_on_recovering()
{
	switch (recovery_->stage) {
	case Recovery::Stage::settling:
		if (settled())
			recovery_->stage = Recovery::Stage::scanning;
		break;
	case Recovery::Stage::scanning:
		scan_some();
		return;
	case Recovery::Stage::reporting:
		if (settled()) {
			end_recovery();
			return;
		}
		break;
	}
	if (Clock::now() > recovery_->deadline)
		give_up_recovery("a client did not answer: it must call poll() now and then");
}

void PrismServer::scan_some()
{
	const std::uint64_t end = std::min(recovery_->next_slot + scan_step, table_.geometry().slot_count());
	for (; recovery_->next_slot < end; recovery_->next_slot++) {
		const Slot slot = table_.at(recovery_->next_slot);
		if (slot.is_claim() && zero_claim(recovery_->next_slot, slot))
			stats_.claims++;
		if (!slot.object.ptr)
			continue;
		for (LiveSet &live : recovery_->live)
			live.add(slot.object.ptr);
	}
	if (end < table_.geometry().slot_count())
		return;
	recovery_->stage = Recovery::Stage::reporting;
	ask_to_settle();
}

/** A claim whose maker is gone. By a queue pair: CPU stores are not atomic to the clients' requests. */
bool PrismServer::zero_claim(std::uint64_t slot, const Slot &claim)
{
	const auto makes = [&](const auto &connection) { return connection->number == claim.object.bound; };
	if (std::any_of(connections_.begin(), connections_.end(), makes))
		return false;
	const RemoteRegion all = memory_->remote();
	const Cas cas = Cas::bytes(CasMode::equal, claim, Slot{});
	if (Chain{}.cas(all.at(slot * sizeof(Slot)), cas).post(self_, 0))
		return false;
	Completion completion;
	return !cq_.wait(completion, std::chrono::seconds(1)) && completion.ok();
}

void PrismServer::end_recovery()
{
	if (!reclaim().ok()) /* the last reports are in the receive queue */
		return;
	for (std::size_t i = 0; i < lists_.size(); i++) {
		Result<prism::Recovery> ended = lists_[i].end_recovery(recovery_->live[i]);
		if (!ended)
			log("recovery scan: " + ended.error().message);
		else
			stats_.recovered += ended->recovered;
	}
	recovery_.reset();
	stats_.recoveries++;
}

void PrismServer::give_up_recovery(const char *why)
{
	log(std::string("recovery scan put off: ") + why);
	stats_.postponed++;
	recovery_.reset();
}

/* Figures -------------------------------------------------------------------------------------------------------- */

std::uint64_t PrismServer::buffers_in_use()
{
	std::uint64_t used = 0;
	for (FreeList &list : lists_) {
		(void)list.refresh();
		used += list.info().buffers.length / list.info().buffer_size - list.available();
	}
	return used;
}

std::string PrismServer::stats_json() const
{
	const TableCount count = table_.count();
	nlohmann::json json;
	json["table"] = {{"slots", table_.geometry().slot_count()}, {"members", count.members},
		{"at_home", count.at_home}, {"claims", count.claims}, {"stray", count.stray}};
	for (const FreeList &list : lists_) {
		const FreeListInfo info = list.info();
		json["classes"].push_back({{"buffer_size", info.buffer_size},
			{"buffers", info.buffers.length / info.buffer_size}, {"available", list.available()},
			{"released", list.stats().released}, {"recovered", list.stats().recovered},
			{"refused", list.stats().outside + list.stats().misaligned + list.stats().not_allocated}});
	}
	json["limits"] = {{"key", options_.max_key_size}, {"value", options_.max_value_size}};
	json["connections"] = {{"accepted", stats_.connections}, {"open", stats_.open}, {"refused", stats_.refused}};
	json["recovery"] = {{"scans", stats_.recoveries}, {"postponed", stats_.postponed},
		{"buffers", stats_.recovered}, {"claims", stats_.claims}};
	return json.dump(2);
}

} // namespace prism::kv
