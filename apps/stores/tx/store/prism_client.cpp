/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "service/memory.hpp"
#include "tx/store/introduction.hpp"
#include "tx/store/kind.hpp"

namespace prism::tx
{

namespace
{

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t max_depth = 1024;
/* Most requests under way on one queue pair: more are put off */
constexpr std::uint32_t most_requests = 4096;
/* Most completions of one lane: three for each access, and the decision */
constexpr std::size_t completions_of_a_lane = 3 * max_accesses + 1;
/* Polls of a busy client between looks at its connections, each of which costs a system call */
constexpr std::uint64_t polls_a_look = 256;
/* Requests put off that are posted even while answers still come in */
constexpr std::size_t many = 64;
/* Time that one attempt to reconnect waits for a listener, and its longest duration in all */
constexpr std::chrono::milliseconds attempt{100};
constexpr std::chrono::milliseconds longest_attempt{1000};

} // namespace

/** Contents of a wr_id. */
struct PrismClient::WorkRequest {
	std::uint32_t lane;
	std::size_t shard;
	std::uint16_t number;

	/* For a report */
	static constexpr std::uint32_t no_lane = 0xffff;

	[[nodiscard]] std::uint64_t id() const noexcept
	{
		return std::uint64_t{lane} << 32 | std::uint64_t{shard} << 16 | number;
	}
	static WorkRequest of(std::uint64_t id) noexcept
	{
		return {static_cast<std::uint32_t>(id >> 32), static_cast<std::size_t>(id >> 16 & 0xffff),
			static_cast<std::uint16_t>(id & 0xffff)};
	}
};

/** All that is needed to connect to a shard, on any thread. */
struct PrismClient::Approach {
	ProtectionDomain pd;
	CompletionQueue cq;
	apps::ServerAddress address;
	std::size_t number;
	std::uint32_t depth;
	std::chrono::milliseconds listening; /* time to wait for a listener */
	std::chrono::milliseconds timeout;   /* of all */
	Introduction mine;
	std::optional<std::uint64_t> identity; /* the shard must have it */
};

/** A shard with a connection; or without a link if there never will be one. */
struct PrismClient::Met {
	std::size_t number = 0;
	Introduction theirs;
	apps::Hello hello;
	ShardView view;
	std::unique_ptr<apps::ServerLink> link;
};

/** The introductions of all shards to this client. */
struct PrismClient::Meeting {
	std::vector<Introduction> shards; /* default for a shard that is gone */
	bool used = false;                /* any of them has seen the number used by another client */
	bool all = true;                  /* none is gone */
};

namespace
{

/** "shard 1" or "shards 1, 2". */
std::string name_of(const std::vector<std::size_t> &shards)
{
	return fmt::format("shard{} {}", shards.size() > 1 ? "s" : "", fmt::join(shards, ", "));
}

Result<void> check_adopted(const std::vector<std::size_t> &adopted, std::size_t shards)
{
	for (const std::size_t shard : adopted) {
		if (shard == 0)
			return make_error(EINVAL, "cannot take in shard 0: it numbers the clients",
				"start all servers anew if it is lost");
		if (shard >= shards)
			return make_error(EINVAL, fmt::format("cannot take in shard {}: the store has {} shard{}",
							  shard, shards, shards > 1 ? "s" : ""));
	}
	return {};
}

/** Checks that @p adopted has all shards that have come back empty, and no other. */
Result<void> check_lost(const std::vector<std::size_t> &lost, const std::vector<std::size_t> &adopted)
{
	for (const std::size_t shard : adopted) {
		if (std::ranges::find(lost, shard) == lost.end())
			return make_error(
				EINVAL, fmt::format("cannot take in shard {}: it has not lost its memory", shard));
	}
	const auto is_left = [&adopted](
				     std::size_t shard) { return std::ranges::find(adopted, shard) == adopted.end(); };
	if (std::ranges::none_of(lost, is_left))
		return {};
	const bool one = lost.size() == 1;
	return make_error(ESTALE,
		fmt::format("{} {} since clients have met {}", name_of(lost),
			one ? "has lost its memory" : "have lost their memory", one ? "it" : "them"),
		fmt::format("take {} in without {} keys (prism-tx SHARDS adopt {}), or start all servers anew",
			one ? "it" : "them", one ? "its" : "their", fmt::join(lost, " ")));
}

} // namespace

/* Set-up --------------------------------------------------------------------------------------------------------- */

Result<std::unique_ptr<PrismClient>> PrismClient::connect(
	const Context &context, const Shards &shards, const PrismClientOptions &options)
{
	if (shards.empty() || shards.size() > max_shards)
		return make_error(EINVAL, "cannot connect to a store", "name 1 to 4095 shards");
	if (options.depth == 0 || options.depth > max_depth)
		return make_error(EINVAL, "cannot connect to a store", fmt::format("the depth is 1 to {}", max_depth));
	if (Result<void> checked = check_adopted(options.adopt, shards.size()); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	const std::size_t completions =
		completions_of_a_lane * options.depth + shards.size() * apps::ServerLink::room_for_reports;
	Result<CompletionQueue> cq = CompletionQueue::create(context, static_cast<int>(completions));
	if (!cq)
		return cq.error();
	std::unique_ptr<PrismClient> client(new PrismClient(context, *pd, *cq, shards.size(), options));
	Meeting meeting;
	if (Result<void> met = client->meet_all(shards, options, meeting); !met)
		return met.error();
	Result<std::vector<std::size_t>> lost = client->tell_lives(meeting);
	if (!lost)
		return lost.error();
	if (Result<void> checked = check_lost(*lost, options.adopt); !checked)
		return checked.error();
	if (Result<void> made = client->make_lanes(meeting); !made)
		return made.error();
	if (Result<void> adopted = client->adopt(meeting, *lost); !adopted)
		return adopted.error();
	client->hear_of_orphans();
	if (Result<void> cleared = client->clear_logs(meeting); !cleared)
		return cleared.error();
	client->set_up_until_ = Deadline::max();
	return client;
}

PrismClient::PrismClient(
	Context context, ProtectionDomain pd, CompletionQueue cq, std::size_t shards, const PrismClientOptions &options)
	: TransactionClient(options.depth, options.retry), context_(std::move(context)), pd_(std::move(pd)),
	  cq_(std::move(cq)), object_memory_(pd_), clock_(options.clock), shards_(shards),
	  timeout_(options.setup_timeout), set_up_until_(SteadyClock::now() + timeout_),
	  reconnect_timeout_(options.reconnect_timeout)
{
	state_.patience = options.patience;
}

/** Returns the time for a shard to answer: what is left of the set-up's, but others may have taken all of it. */
std::chrono::milliseconds PrismClient::time_for_a_shard() const
{
	return std::clamp(time_left(set_up_until_), std::min(timeout_, longest_attempt), timeout_);
}

Result<PrismClient::Met> PrismClient::approach(const Approach &to)
{
	const std::string who = fmt::format("shard {} at {}", to.number, to.address.text());
	const auto named = [&who](Error error) {
		error.message = who + ": " + error.message;
		return error;
	};
	const Deadline deadline = SteadyClock::now() + to.timeout;
	QueuePairOptions pair;
	pair.max_send_wr = std::min<std::uint32_t>(to.depth * 4 * max_accesses, most_requests) +
			   apps::ServerLink::room_for_reports;
	Result<QueuePair> qp = QueuePair::create(to.pd, to.cq, to.cq, pair);
	if (!qp)
		return qp.error();
	Result<TcpRendezvous> rendezvous = TcpRendezvous::connect(to.address.host, to.address.port, to.listening);
	if (!rendezvous)
		return named(rendezvous.error());
	ConnectionRecord record;
	record.endpoint = qp->endpoint();
	record.private_data = apps::Hello{prism_kind}.serialize(to.mine.serialize());
	Result<ConnectionRecord> peer = rendezvous->swap(record, deadline);
	if (!peer)
		return named(peer.error());
	Result<apps::Hello> hello = apps::Hello{prism_kind}.expect(*peer, who);
	if (!hello)
		return hello.error();
	Result<Introduction> theirs = Introduction::parse(*peer, who);
	if (!theirs)
		return theirs.error();
	/* Do not enter a shard that has come back empty: it would take this store for its own. */
	if (to.identity && theirs->identity != *to.identity)
		return make_error(ESTALE, who + " has lost its memory");
	if (Result<void> connected = qp->connect(peer->endpoint); !connected)
		return named(connected.error());
	if (Result<void> met = rendezvous->barrier(deadline); !met)
		return named(met.error());
	if (!qp->peer_speaks_prism())
		return make_error(EPROTONOSUPPORT, "the device of " + who + " does not speak PRISM");
	Result<ShardView> view = view_of(*peer, *theirs, who);
	if (!view)
		return view.error();
	Met made{to.number, *theirs, *hello, *std::move(view),
		std::make_unique<apps::ServerLink>(*std::move(rendezvous), *std::move(qp))};
	if (Result<void> reports = made.link->report_to(peer->free_lists); !reports)
		return reports.error();
	return made;
}

/**
 * Connects to all shards. A refused connection shows that the shard's process has ended, and its memory with it: this
 * client's number cannot have left anything there. A shard that does not answer may be alive, with all its data.
 */
Result<void> PrismClient::meet_all(const Shards &shards, const PrismClientOptions &options, Meeting &meeting)
{
	for (std::size_t shard = 0; shard < shards.size(); shard++) {
		const Result<void> met = meet(shard, shards[shard], options, meeting);
		if (met)
			continue;
		const bool gone = shard && met.error().code == ECONNREFUSED && options.adopt.empty();
		if (!gone)
			return met.error();
		meeting.shards.emplace_back();
		meeting.all = false;
	}
	return {};
}

/** Connects to one shard. Shard 0, the first, gives the client its number. */
Result<void> PrismClient::meet(
	std::size_t number, const apps::ServerAddress &address, const PrismClientOptions &options, Meeting &meeting)
{
	const std::string who = fmt::format("shard {} at {}", number, address.text());
	Introduction mine;
	if (number) {
		mine.store = meeting.shards[0].identity;
		mine.client = meeting.shards[0].client;
		mine.incarnation = meeting.shards[0].incarnation;
		mine.signature = meeting.shards[0].signature;
	}
	mine.shard = static_cast<std::uint16_t>(number);
	mine.shards = static_cast<std::uint16_t>(shards_.size());
	const std::chrono::milliseconds left = time_for_a_shard();
	Approach to{pd_, cq_, address, number, options.depth, left, left, mine, {}};
	Result<Met> met = approach(to);
	if (!met)
		return met.error();
	const Introduction &theirs = met->theirs;
	if (options.depth > theirs.geometry.lanes)
		return make_error(EINVAL, fmt::format("{} takes {} transactions of a client at once, not {}", who,
						  theirs.geometry.lanes, options.depth));
	if (number &&
		(theirs.view.numbered != state_.store.numbered || theirs.view.as_in_paper != state_.store.as_in_paper))
		return make_error(EPROTONOSUPPORT, who + " finds keys or commits in another way than shard 0");
	if (number && (theirs.geometry.clients != meeting.shards[0].geometry.clients ||
			      theirs.geometry.lanes != meeting.shards[0].geometry.lanes))
		return make_error(
			EPROTONOSUPPORT, who + " has another number of clients, or of their lanes, than shard 0");
	if (!number) {
		state_.store = theirs.view;
		state_.store.max_key_size = met->hello.max_key_size;
		state_.store.max_value_size = met->hello.max_value_size;
		state_.incarnation = theirs.incarnation;
		mine.store = theirs.identity;
		mine.client = theirs.client;
		mine.incarnation = theirs.incarnation;
		mine.signature = theirs.signature;
	}
	state_.store.max_key_size = std::min(state_.store.max_key_size, met->hello.max_key_size);
	state_.store.max_value_size = std::min(state_.store.max_value_size, met->hello.max_value_size);
	meeting.used |= theirs.used;
	meeting.shards.push_back(theirs);
	Shard &shard = shards_[number];
	to.mine = mine;
	to.identity = theirs.identity;
	to.listening = attempt;
	to.timeout = std::min(timeout_, longest_attempt);
	shard.again = std::make_shared<const Approach>(std::move(to));
	shard.view = std::move(met->view);
	shard.link = std::move(met->link);
	return {};
}

/** Sends shard 0 the identity of another shard, with that shard's signature. */
Result<apps::ControlMessage> PrismClient::tell_life(apps::ControlKind kind, const Introduction &shard)
{
	if (const int error =
			shards_[0].link ? shards_[0].link->control().send({proof_message, shard.signature}) : ENOTCONN)
		return make_error(error, "shard 0 does not answer");
	return ask(0, {kind, shard.identity});
}

/** Has shard 0 check the identities of all others. Returns the shards that have come back empty. */
Result<std::vector<std::size_t>> PrismClient::tell_lives(const Meeting &meeting)
{
	std::vector<std::size_t> lost;
	for (std::size_t shard = 1; shard < shards_.size(); shard++) {
		if (!has_met(shard))
			continue;
		Result<apps::ControlMessage> answer = tell_life(shard_message, meeting.shards[shard]);
		if (!answer)
			return answer.error();
		if (answer->value == ESTALE)
			lost.push_back(shard);
		else if (answer->value)
			return make_error(static_cast<int>(answer->value),
				fmt::format("shard {} is of another store", shard),
				"start all shards with the same --secret");
	}
	return lost;
}

int PrismClient::ObjectMemory::take(std::size_t bytes, std::byte *&memory, std::uint32_t &lkey) noexcept
try {
	apps::MemoryPlan plan;
	plan.add("objects", bytes);
	if (!apps::check_memory(plan, apps::memory_limits(!pd_.context().is_userspace()), {}))
		return ENOMEM;
	Result<Buffer> made = Buffer::create(pd_, bytes);
	if (!made)
		return made.error().code;
	memory = made->data();
	lkey = made->region().lkey();
	buffers_.push_back(*std::move(made));
	return 0;
} catch (const std::bad_alloc &) {
	return ENOMEM;
}

/** Runs a coroutine to its end from here, on the first lane. */
int PrismClient::run_alone(apps::Task<int> task)
{
	task.start();
	while (!task.done())
		drive();
	return task.value();
}

/**
 * Takes in the @p lost shards. First decides the transactions that were to be decided there, for all shards alike; only
 * then may other clients come. The logs of the other shards list them: those of the @p lost shards are empty.
 */
Result<void> PrismClient::adopt(const Meeting &meeting, const std::vector<std::size_t> &lost)
{
	const auto cannot = [&lost](int error, const char *why) {
		return make_error(error, "cannot take in " + name_of(lost), why);
	};
	for (const std::size_t home : lost) {
		Doubts doubts;
		for (std::size_t shard = 0; shard < shards_.size(); shard++) {
			if (std::ranges::find(lost, shard) != lost.end())
				continue;
			if (const int error = run_alone(lanes_[0]->resolver().survey(shard, home, doubts)))
				return cannot(error, "the logs of another shard cannot be read");
		}
		if (const int error = run_alone(lanes_[0]->resolver().settle(home, doubts)))
			return cannot(error, error == ENOTRECOVERABLE
						     ? "nothing tells how a transaction was decided there: "
						       "start all servers anew"
						     : "it does not answer");
	}
	for (const std::size_t shard : lost) {
		Result<apps::ControlMessage> answer = tell_life(adopt_message, meeting.shards[shard]);
		if (!answer)
			return answer.error();
		if (answer->value)
			return cannot(static_cast<int>(answer->value), "shard 0 refuses");
	}
	return {};
}

Result<void> PrismClient::make_lanes(const Meeting &meeting)
{
	const Introduction &first = meeting.shards[0];
	std::uint32_t room = 0;
	for (std::size_t shard = 0; shard < shards_.size(); shard++) {
		if (has_met(shard))
			room = std::max(room, shards_[shard].view.classes.back().buffer_size);
	}
	const std::size_t size = PrismTransaction::memory_size();
	apps::MemoryPlan plan;
	plan.add("transactions under way", size * depth() + sizeof(ResolverMemory));
	plan.add("objects of the first keys of each", PrismTransaction::first_rooms(room) * depth());
	if (Result<void> fits =
			apps::check_memory(plan, apps::memory_limits(!context_.is_userspace()), "lower the depth");
		!fits)
		return fits.error();
	state_.memory = &object_memory_;
	Result<Buffer> memory = Buffer::create(pd_, size * depth() + sizeof(ResolverMemory));
	if (!memory)
		return memory.error();
	memory_ = std::make_unique<Buffer>(*std::move(memory));
	const std::uint32_t first_place = first.client * first.geometry.lanes;
	for (std::uint32_t spare = first.geometry.lanes; spare-- > depth();)
		state_.spare_places.push_back(first_place + spare);
	for (std::uint32_t lane = 0; lane < depth(); lane++)
		lanes_.push_back(std::make_unique<PrismTransaction>(state_, static_cast<Carrier &>(*this), waiter(lane),
			lane, first_place + lane, memory_->data() + lane * size, room, memory_->region().lkey()));
	return {};
}

/**
 * Starts to listen for orphans. Not earlier: before lost shards are taken in, nobody may decide there what dead clients
 * have left.
 */
void PrismClient::hear_of_orphans()
{
	const auto lanes = static_cast<std::uint32_t>(depth());
	orphans_ = std::make_unique<OrphanResolver>(state_, static_cast<Carrier &>(*this), lanes,
		*reinterpret_cast<ResolverMemory *>(memory_->data() + PrismTransaction::memory_size() * lanes),
		memory_->region().lkey(), [this](std::size_t shard, std::uint64_t client, int) {
			if (shards_[shard].link) /* a lost connection shows at the next look */
				(void)shards_[shard].link->control().send({orphans_message, client});
		});
}

Result<void> PrismClient::clear_logs(const Meeting &meeting)
{
	if (!meeting.used || state_.store.as_in_paper)
		return {};
	const Introduction &first = meeting.shards[0];
	const std::uint32_t lanes = first.geometry.lanes, together = meeting.all ? lanes : 1;
	std::vector<bool> cleared(shards_.size());
	for (std::uint32_t place = first.client * lanes; place < (first.client + 1) * lanes; place += together) {
		if (!meeting.all) {
			const Result<bool> needed = is_needed(place);
			if (!needed)
				return needed.error();
			if (*needed) {
				leave_place(place);
				continue;
			}
		}
		for (std::size_t shard = 0; shard < shards_.size(); shard++) {
			if (Result<void> done = clear_places(shard, place, together, cleared); !done)
				return done.error();
		}
	}
	for (std::size_t shard = 0; shard < shards_.size(); shard++) {
		/*
		 * Waits for the answer too: until then the link takes no further message, such as a question of the
		 * shard.
		 */
		if (cleared[shard])
			(void)request_recovery(shard);
	}
	return {};
}

/** Returns whether this place of the logs has a transaction that was to be decided on a shard that is gone. */
Result<bool> PrismClient::is_needed(std::uint32_t place)
{
	bool needed = false;
	for (std::size_t shard = 0; shard < shards_.size() && !needed; shard++) {
		if (!has_met(shard))
			continue;
		if (const int error = run_alone(lanes_[0]->resolver().look_for_lost_home(shard, place, needed)))
			return make_error(error, fmt::format("the log of shard {} cannot be read", shard));
	}
	return needed;
}

Result<void> PrismClient::clear_places(
	std::size_t shard, std::uint32_t first, std::uint32_t places, std::vector<bool> &cleared)
{
	if (!has_met(shard))
		return {};
	bool some = false;
	if (const int error = run_alone(lanes_[0]->resolver().clear_all(shard, first, places, state_.clock, some)))
		return make_error(error, fmt::format("cannot end what a client before has left on shard {}", shard));
	cleared[shard] = cleared[shard] || some;
	return {};
}

/** Gives up the place: its contents tell how to decide those transactions, when the shard that is gone is taken in. */
void PrismClient::leave_place(std::uint32_t place)
{
	if (std::erase(state_.spare_places, place))
		state_.left_places.push_back(place);
	for (const auto &lane : lanes_) {
		if (lane->place() == place)
			lane->leave_place();
	}
}

/* Waits a short time for the requests under way to end, and for freed buffers to be reported. Shards find the rest. */
PrismClient::~PrismClient()
{
	abandon();
	const SteadyClock::time_point deadline = SteadyClock::now() + std::chrono::milliseconds(200);
	while (under_way_ && SteadyClock::now() < deadline)
		drive();
	for (std::size_t shard = 0; shard < shards_.size(); shard++)
		report_now(shard);
	const auto flushing = [](const Shard &shard) { return shard.link && shard.link->flushing(); };
	while (std::ranges::any_of(shards_, flushing) && SteadyClock::now() < deadline)
		drive();
}

/* Driving -------------------------------------------------------------------------------------------------------- */

void PrismClient::drive() noexcept
{
	if (!under_way_)
		ring();
	const bool busy = take_completions();
	/* Wait while answers come in: more requests will follow them, and leave together. */
	if (!busy || put_off_ >= many)
		ring();
	if (!under_way_ || ++polls_ % polls_a_look == 0)
		look_after_links();
}

bool PrismClient::take_completions() noexcept
{
	std::array<Completion, 32> completions;
	const int got = cq_.poll(completions);
	for (int i = 0; i < got; i++)
		handle(completions[static_cast<std::size_t>(i)]);
	return got > 0;
}

void PrismClient::handle(const Completion &completion) noexcept
{
	const WorkRequest work = WorkRequest::of(completion.wr_id);
	if (work.shard >= shards_.size() || !shards_[work.shard].link)
		return; /* the connection is gone */
	if (completion.failed()) {
		link_down(work.shard);
		return;
	}
	if (work.lane == WorkRequest::no_lane) {
		shards_[work.shard].link->flushed();
		return;
	}
	take(work.lane, work.number, work.shard, completion);
}

/** Takes the end of a request to @p shard. */
void PrismClient::take(
	std::uint32_t lane, std::uint16_t number, std::size_t shard, const Completion &completion) noexcept
{
	const bool is_lane = lane < lanes_.size();
	if (!is_lane && (lane != lanes_.size() || number || !orphans_))
		return;
	Request *const request = is_lane ? lanes_[lane]->request(number) : &orphans_->request();
	if (!request || !request->under_way || request->shard != shard)
		return;
	under_way_--;
	if (!is_lane)
		orphans_->request_ended(completion);
	else if (lanes_[lane]->ended(*request, completion))
		resume(lane);
}

/** Posts the requests that were put off: one doorbell for each shard. */
void PrismClient::ring() noexcept
{
	if (!put_off_)
		return;
	for (std::size_t shard = 0; shard < shards_.size(); shard++) {
		if (!shards_[shard].put_off.empty())
			ring(shard);
	}
}

/**
 * Posts the requests put off to one shard. A full send queue takes a part of them, the rest follows later. Groups stay
 * together.
 */
void PrismClient::ring(std::size_t number) noexcept
{
	Shard &shard = shards_[number];
	const std::span<const Chain::Posting> waiting(shard.put_off);
	std::size_t posted = waiting.size(), groups = shard.groups.size();
	int error = Chain::post(shard.link->qp(), waiting);
	if (error == ENOMEM) {
		posted = 0;
		for (groups = 0; groups < shard.groups.size(); groups++) {
			error = Chain::post(shard.link->qp(), waiting.subspan(posted, shard.groups[groups]));
			if (error)
				break;
			posted += shard.groups[groups];
		}
	}
	if (error && error != ENOMEM) {
		link_down(number);
		return;
	}
	put_off_ -= posted;
	shard.put_off.erase(shard.put_off.begin(), shard.put_off.begin() + static_cast<std::ptrdiff_t>(posted));
	shard.groups.erase(shard.groups.begin(), shard.groups.begin() + static_cast<std::ptrdiff_t>(groups));
}

/* Carrier -------------------------------------------------------------------------------------------------------- */

std::uint64_t PrismClient::clock() const noexcept
{
	if (clock_)
		return clock_();
	const auto since = std::chrono::system_clock::now().time_since_epoch();
	return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

const ShardView *PrismClient::view(std::size_t shard) const noexcept
{
	return shards_[shard].link ? &shards_[shard].view : nullptr;
}

const ShardGeometry *PrismClient::geometry(std::size_t shard) const noexcept
{
	return has_met(shard) ? &shards_[shard].view.geometry : nullptr;
}

int PrismClient::post(std::uint32_t lane, Request &request) noexcept
{
	Shard &to = shards_[request.shard];
	if (!to.link)
		return ENOTCONN;
	to.put_off.push_back({&request.chain, WorkRequest{lane, request.shard, request.number}.id()});
	if (request.continues && !to.groups.empty())
		to.groups.back()++;
	else
		to.groups.push_back(1);
	put_off_++;
	under_way_++;
	return 0;
}

void PrismClient::release(std::size_t shard, std::uint64_t address) noexcept
{
	if (shards_[shard].link)
		shards_[shard].link->release(address);
}

void PrismClient::report_now(std::size_t shard) noexcept
{
	if (shards_[shard].link)
		shards_[shard].link->flush(WorkRequest{WorkRequest::no_lane, shard, 0}.id());
}

/* Connections ---------------------------------------------------------------------------------------------------- */

std::uint64_t PrismClient::oldest_commit() const noexcept
{
	std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
	for (const auto &lane : lanes_)
		oldest = std::min(oldest, lane->holding());
	return orphans_ ? std::min(oldest, orphans_->holding()) : oldest;
}

void PrismClient::look_after_links() noexcept
{
	if (std::unique_ptr<Met> met = connector_ ? connector_->take() : nullptr)
		regain(std::move(*met));
	if (orphans_)
		orphans_->look_after_places();
	for (std::size_t number = 0; number < shards_.size(); number++) {
		apps::ServerLink *const link = shards_[number].link.get();
		const std::uint64_t flush_id = WorkRequest{WorkRequest::no_lane, number, 0}.id();
		if (!link)
			continue;
		const int ended = link->talk(oldest_commit(), state_.serial, flush_id);
		shards_[number].view.stopping = link->stopping();
		if (ended) {
			link_down(number);
			continue;
		}
		while (const std::optional<apps::ControlMessage> question =
				orphans_ ? link->take_question() : std::nullopt)
			orphans_->take(number, question->value);
	}
}

/** Ends all requests under way on the queue pair as failed; whether they were executed is not known. */
void PrismClient::link_down(std::size_t number) noexcept
{
	Shard &gone = shards_[number];
	if (!gone.link)
		return;
	put_off_ -= gone.put_off.size();
	gone.put_off.clear();
	gone.groups.clear();
	gone.link.reset();
	gone.lost = SteadyClock::now();
	connection_figures_.losses++;
	look_for_links();
	Completion flushed;
	flushed.error = IBV_WC_WR_FLUSH_ERR;
	for (std::uint32_t lane = 0; lane < lanes_.size(); lane++) {
		bool last = false;
		for (std::uint16_t request = 0; request < PrismTransaction::request_numbers; request++) {
			Request *const one = lanes_[lane]->request(request);
			if (!one || !one->under_way || one->shard != number)
				continue;
			under_way_--;
			last |= lanes_[lane]->ended(*one, flushed);
		}
		if (last)
			resume(lane);
	}
	if (orphans_)
		take(static_cast<std::uint32_t>(lanes_.size()), 0, number, flushed);
}

/** Reconnects to all lost shards, on another thread. */
void PrismClient::look_for_links()
{
	std::vector<std::shared_ptr<const Approach>> lost;
	for (const Shard &shard : shards_) {
		if (!shard.link && shard.again && shard.lost)
			lost.push_back(shard.again);
	}
	if (lost.empty() || reconnect_timeout_ == std::chrono::milliseconds(0))
		return;
	if (!connector_)
		connector_ = std::make_unique<apps::Connector<Met>>();
	connector_->want([lost]() -> Result<std::unique_ptr<Met>> {
		Error why;
		for (const auto &to : lost) {
			Result<Met> met = approach(*to);
			if (met)
				return std::make_unique<Met>(*std::move(met));
			why = met.error();
			if (why.code == ESTALE || why.code == EACCES || why.code == EPROTONOSUPPORT) {
				auto never = std::make_unique<Met>();
				never->number = to->number;
				return never;
			}
		}
		return why;
	});
}

/**
 * Takes a new connection. The shard has destroyed the old one's queue pair. First takes the completions of its
 * requests: new ones will have the same numbers.
 */
void PrismClient::regain(Met met)
{
	Shard &shard = shards_[met.number];
	while (!shard.link && take_completions())
		;
	if (!met.link) {
		shard.again.reset();
	} else if (!shard.link) {
		shard.link = std::move(met.link);
		shard.view = std::move(met.view);
		shard.lost.reset();
		shard.view.connection = ++connection_figures_.regained;
	}
	look_for_links();
}

bool PrismClient::may_come_back(std::size_t number) const noexcept
{
	const Shard &shard = shards_[number];
	return !shard.link && shard.again && shard.lost && SteadyClock::now() - *shard.lost < reconnect_timeout_;
}

bool PrismClient::reconnects() const noexcept
{
	for (std::size_t shard = 0; shard < shards_.size(); shard++) {
		if (may_come_back(shard))
			return true;
	}
	return false;
}

Result<apps::ControlMessage> PrismClient::ask(std::size_t shard, const apps::ControlMessage &question)
{
	const auto gone = [shard](int error) {
		return make_error(error, fmt::format("shard {} does not answer", shard));
	};
	if (!shards_[shard].link)
		return gone(ENOTCONN);
	(void)shards_[shard].link->take_answer();
	if (const int error = shards_[shard].link->control().send(question))
		return gone(error);
	const Deadline deadline = SteadyClock::now() + time_for_a_shard();
	while (SteadyClock::now() < deadline) {
		drive();
		look_after_links();
		if (!shards_[shard].link)
			return gone(ECONNRESET);
		const std::optional<apps::ControlMessage> answer = shards_[shard].link->take_answer();
		if (answer && answer->kind == question.kind)
			return *answer;
		(void)shards_[shard].link->control().wait(1);
	}
	return gone(ETIMEDOUT);
}

Result<std::string> PrismClient::stats_of(std::size_t shard)
{
	Result<apps::ControlMessage> answer = ask(shard, {apps::ControlKind::stats, 0});
	if (!answer)
		return answer.error();
	std::string text;
	const int error =
		shards_[shard].link->control().receive_text(answer->value, text, static_cast<int>(timeout_.count()));
	if (error)
		return make_error(error, fmt::format("the statistics of shard {} do not arrive", shard));
	return text;
}

Result<void> PrismClient::request_recovery(std::size_t shard)
{
	Result<apps::ControlMessage> answer = ask(shard, {apps::ControlKind::recover, 0});
	if (!answer)
		return answer.error();
	if (answer->value)
		return make_error(
			static_cast<int>(answer->value), fmt::format("shard {} does not begin a recovery scan", shard));
	return {};
}

TransactionFigures PrismClient::figures() const noexcept
{
	TransactionFigures all;
	for (const auto &lane : lanes_) {
		const TransactionFigures &one = lane->figures();
		all.one_chain += one.one_chain;
		all.prepared += one.prepared;
		all.read_only += one.read_only;
		all.resolved += one.resolved;
		all.found_out += one.found_out;
		all.no_buffer += one.no_buffer;
		all.requests += one.requests;
	}
	return all;
}

} // namespace prism::tx
