/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_server.hpp"

#include <poll.h>

#include <algorithm>
#include <bit>
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
/* Reports of freed buffers that may wait */
constexpr std::uint32_t report_slots = 1024;
/* A list whose counters are in doubt is emptied for a scan if that is quick. */
constexpr std::uint32_t most_to_drain = 1 << 14;
/* Beside each buffer: who holds it, and its places among those that go back and those that are undecided */
constexpr std::size_t ledger_bytes = 8 + 4 + 8;
/* An entry of a free list of the userspace device, which has a power of two of them */
constexpr std::size_t list_entry_bytes = 32;

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

/** Bytes, as docs/prism-kv.md adds them up; of objects as many as fill half of the table. */
nlohmann::json memory_of(const PrismServerOptions &options, const Geometry &geometry)
{
	std::size_t buffers = 0, bookkeeping = 0;
	for (const ClassOptions &size_class : options.classes) {
		buffers += std::size_t{size_class.buffer_size} * size_class.count;
		bookkeeping += ledger_bytes * size_class.count +
			       list_entry_bytes * std::size_t{std::bit_ceil(size_class.count)};
	}
	const std::size_t table = geometry.table_bytes();
	const std::size_t objects = geometry.slot_count() / 2;
	return {{"table", table}, {"buffers", buffers}, {"bookkeeping", bookkeeping},
		{"overhead_per_object", sizeof(ObjectHeader) + (table + bookkeeping + objects - 1) / objects}};
}

} // namespace

ClassOptions PrismServerOptions::class_for(std::uint64_t objects, std::uint32_t key_size, std::uint32_t value_size)
{
	const std::size_t object = sizeof(ObjectHeader) + std::size_t{key_size} + value_size;
	return {static_cast<std::uint32_t>(aligned(object)), static_cast<std::uint32_t>(objects + objects / 10 + 4096)};
}

/** A client, as long as its TCP connection is open. */
struct PrismServer::Connection {
	Connection(Reception::Link link, QueuePair pair, std::uint32_t connection_number, std::uint32_t scratch_index)
		: rendezvous(std::move(link)), control(rendezvous->fd()), qp(std::move(pair)),
		  number(connection_number), scratch(scratch_index)
	{
	}

	Reception::Link rendezvous;
	ControlChannel control;
	QueuePair qp;
	std::uint32_t number;
	std::uint32_t scratch;
	std::uint64_t asked = 0;   /* the last settle that it was sent */
	std::uint64_t settled = 0; /* and the last that it has answered */
	bool dead = false;
};

/** A client that is not ready yet. */
class PrismServer::Arrival final : public Reception::Newcomer
{
public:
	Arrival(PrismServer &owner, std::unique_ptr<Connection> made) : server(owner), connection(std::move(made))
	{
		server.arriving_++;
	}
	Arrival(const Arrival &) = delete;
	Arrival &operator=(const Arrival &) = delete;
	~Arrival() override
	{
		server.arriving_--;
		if (connection)
			server.free_scratches_.push_back(connection->scratch);
	}

	void enter() override
	{
		server.stats_.connections++;
		server.stats_.open++;
		server.connections_.push_back(std::move(connection));
	}

private:
	PrismServer &server;
	std::unique_ptr<Connection> connection;
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
	Result<TcpListener> listener = TcpListener::create(options.port, options.address);
	if (!listener)
		return listener.error();
	Result<std::unique_ptr<Reception>> reception =
		Reception::create(*std::move(listener), prism_hello(), options.setup_timeout);
	if (!reception)
		return reception.error();
	std::unique_ptr<PrismServer> server(new PrismServer(*pd, std::make_shared<const Buffer>(*std::move(memory)),
		*std::move(reclaimer), *cq, *std::move(self), options));
	server->reception_ = *std::move(reception);
	Error error;
	if (server->make_lists(buffers, error))
		return error;
	return server;
}

PrismServer::PrismServer(ProtectionDomain pd, std::shared_ptr<const Buffer> memory, Reclaimer reclaimer,
	CompletionQueue cq, QueuePair self, const PrismServerOptions &options)
	: options_(options), pd_(std::move(pd)), memory_(std::move(memory)),
	  table_(memory_->as<Slot>(), geometry_for(options.slots)),
	  scratch_offset_(aligned(table_.geometry().table_bytes())), reclaimer_(std::move(reclaimer)),
	  cq_(std::move(cq)), self_(std::move(self)), secret_(random_hash_key())
{
	for (std::uint32_t index = options_.max_connections; index-- > 0;)
		free_scratches_.push_back(index);
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
		deserted_ = stats_.connections && !stats_.open && !recovery_ && !recovery_wanted_;
		/* Buffers come back in time as long as they come; a server without PUTs sleeps. */
		patience = recovery_ || reclaimer_.stats().reports != before ? 0 : 1;
	}
	return {};
}

/** Until a client has something to say, at most @p milliseconds. */
void PrismServer::wait(int milliseconds)
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

Result<void> PrismServer::reclaim()
{
	const int got = reclaimer_.poll();
	if (got < 0)
		return make_error(-got, "cannot take freed buffers back");
	return {};
}

/** What a client is told, but for the endpoint of its queue pair. */
ConnectionRecord PrismServer::introduction(std::uint32_t number, std::uint32_t scratch) const
{
	Hello hello = prism_hello();
	hello.max_key_size = options_.max_key_size;
	hello.max_value_size = options_.max_value_size;
	ConnectionRecord record;
	record.private_data = hello.serialize(
		Introduction{secret_, table_.geometry().bucket_count(), number, next_version_}.serialize());
	const RemoteRegion all = memory_->remote();
	record.regions = {{table_region, {all.address, table_.geometry().table_bytes(), all.rkey}},
		{scratch_region, {all.address + scratch_offset_ + scratch_bytes * scratch, sizeof(Slot), all.rkey}}};
	for (const FreeList &list : lists_)
		record.free_lists.push_back(list.info());
	return record;
}

Result<std::unique_ptr<Reception::Newcomer>> PrismServer::meet(
	const Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine)
{
	if (Result<Hello> expected = prism_hello().expect(theirs, "a client"); !expected)
		return expected.error();
	if (free_scratches_.empty())
		return make_error(EMFILE, fmt::format("there are {} connections already", options_.max_connections),
			"raise the server's number of connections");
	QueuePairOptions pair;
	pair.srq = reclaimer_.receive_queue();
	Result<QueuePair> qp = QueuePair::create(pd_, cq_, reclaimer_.completion_queue(), pair);
	if (!qp)
		return qp.error();
	if (Result<void> connected = qp->connect(theirs.endpoint); !connected)
		return connected.error();
	const std::uint32_t number = next_number_++;
	const std::uint32_t scratch = free_scratches_.back();
	free_scratches_.pop_back();
	mine = introduction(number, scratch);
	mine.endpoint = qp->endpoint();
	next_version_ += 2 * versions_a_lease;
	auto connection = std::make_unique<Connection>(link, *std::move(qp), number, scratch);
	return std::unique_ptr<Reception::Newcomer>(std::make_unique<Arrival>(*this, std::move(connection)));
}

void PrismServer::refused(const Error &why) noexcept
{
	stats_.refused++;
	log("refused a client: " + why.message);
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
		for (FreeList &list : lists_)
			(void)list.refresh();
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
	for (const auto &connection : connections_) {
		if (connection->dead)
			free_scratches_.push_back(connection->scratch);
	}
	std::erase_if(connections_, dead);
	stats_.open -= buried;
	recovery_wanted_ = true;
}

/* Lost buffers --------------------------------------------------------------------------------------------------- */

/**
 * 0 or errno. A client that is about to enter may have its first request under way already, and could not be asked
 * about it: the scan waits until it is here.
 */
int PrismServer::begin_recovery()
{
	recovery_wanted_ = arriving_ != 0;
	if (recovery_wanted_)
		return 0;
	RecoveryOptions options;
	options.patience = options_.patience;
	recovery_.emplace(static_cast<RecoveryHost &>(*this), table_, options);
	const int error = recovery_->begin(Clock::now().time_since_epoch());
	if (error) {
		recovery_.reset();
		stats_.postponed++;
	}
	return error;
}

void PrismServer::go_on_recovering()
{
	const RecoveryScan::Stage stage = recovery_->go_on(Clock::now().time_since_epoch());
	if (stage == RecoveryScan::Stage::put_off) {
		log("recovery scan put off: a client died meanwhile, or did not answer: it must call poll() now and "
		    "then");
		stats_.postponed++;
	} else if (stage == RecoveryScan::Stage::ended) {
		stats_.recovered += recovery_->recovered();
		stats_.recoveries++;
	} else {
		return;
	}
	stats_.claims += recovery_->claims();
	recovery_.reset();
}

namespace
{

/** How many buffers the device has taken back from unfinished ALLOCATEs. */
std::uint64_t taken_back(const FreeList &list)
{
	prismdv_free_list_attr counters{};
	return prismdv_query_free_list(list.raw(), &counters) ? 0 : counters.reclaimed;
}

} // namespace

int PrismServer::note_handed_out()
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
		if (!begun) {
			log("recovery scan put off: " + begun.error().message);
			return begun.error().code;
		}
		live_.push_back(list.live());
		taken_back_.push_back(before);
	}
	return 0;
}

void PrismServer::ask_to_settle()
{
	const std::uint64_t value = next_settle_++;
	for (const auto &connection : connections_) {
		connection->asked = value;
		connection->dead |= connection->control.send({ControlKind::settle, value}) != 0;
	}
}

/** Clients that have come since were not asked: nothing that they have done began before. */
bool PrismServer::settled() const
{
	return std::all_of(connections_.begin(), connections_.end(),
		[](const auto &connection) { return connection->settled == connection->asked; });
}

bool PrismServer::is_open(std::uint32_t number) const
{
	const auto is_it = [number](const auto &connection) { return connection->number == number; };
	return std::any_of(connections_.begin(), connections_.end(), is_it);
}

/** By a queue pair: CPU stores are not atomic to the clients' requests. */
bool PrismServer::empty_claim(std::uint64_t index, const Slot &claim)
{
	const RemoteRegion all = memory_->remote();
	const Cas cas = Cas::bytes(CasMode::equal, claim, Slot{});
	if (Chain{}.cas(all.at(index * sizeof(Slot)), cas).post(self_, 0))
		return false;
	Completion completion;
	return !cq_.wait(completion, std::chrono::seconds(1)) && completion.ok();
}

void PrismServer::spare(std::uint64_t address)
{
	for (LiveSet &live : live_)
		live.add(address);
}

/** Each poll() handles a few. What arrived before this call is no more than the receive queue has room for. */
bool PrismServer::take_reports()
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

/** A client that died after the lists were marked may have left an ALLOCATE half done: its buffer is not lost. */
std::optional<std::uint64_t> PrismServer::collect()
{
	for (std::size_t i = 0; i < lists_.size(); i++) {
		if (taken_back(lists_[i]) != taken_back_[i])
			return std::nullopt;
	}
	std::uint64_t recovered = 0;
	for (std::size_t i = 0; i < lists_.size(); i++) {
		Result<Recovery> ended = lists_[i].end_recovery(live_[i]);
		if (!ended)
			log("recovery scan: " + ended.error().message);
		else
			recovered += ended->recovered;
	}
	return recovered;
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
	json["memory"] = memory_of(options_, table_.geometry());
	json["limits"] = {{"key", options_.max_key_size}, {"value", options_.max_value_size}};
	json["connections"] = {{"accepted", stats_.connections}, {"open", stats_.open}, {"refused", stats_.refused}};
	json["recovery"] = {{"scans", stats_.recoveries}, {"postponed", stats_.postponed},
		{"buffers", stats_.recovered}, {"claims", stats_.claims}};
	return json.dump(2);
}

} // namespace prism::kv
