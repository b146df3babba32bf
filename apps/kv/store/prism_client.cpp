/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "introduction.hpp"

namespace prism::kv
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t max_depth = 4096;
/* Work requests of one lane at most at once: claim_and_read() */
constexpr std::uint32_t requests_a_lane = 3;
constexpr std::uint32_t room_for_reports = 64;
/* For buffers that others have freed */
constexpr std::chrono::seconds patience{1};
/* Not of a lane */
constexpr std::uint64_t flush_id = ~std::uint64_t{0};
/* How often a busy client looks at its control channel, which costs a system call */
constexpr std::uint64_t polls_a_talk = 256;

std::size_t room_for(const ServerView &view)
{
	const std::size_t object = sizeof(ObjectHeader) + std::size_t{view.max_key_size} + view.max_value_size;
	return (object + 31) / 32 * 32;
}

} // namespace

Result<std::unique_ptr<PrismClient>> PrismClient::connect(
	const Context &context, const std::string &host, std::uint16_t port, const PrismClientOptions &options)
{
	if (options.depth == 0 || options.depth > max_depth)
		return make_error(EINVAL, "cannot connect", "the depth is 1 to " + std::to_string(max_depth));
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	QueuePairOptions pair;
	pair.max_send_wr = options.depth * requests_a_lane + room_for_reports;
	Result<CompletionQueue> cq = CompletionQueue::create(context, static_cast<int>(pair.max_send_wr));
	if (!cq)
		return cq.error();
	Result<QueuePair> qp = QueuePair::create(*pd, *cq, *cq, pair);
	if (!qp)
		return qp.error();
	Result<TcpRendezvous> rendezvous = TcpRendezvous::connect(host, port, options.timeout);
	if (!rendezvous)
		return rendezvous.error();
	ConnectionRecord mine;
	apps::Hello hello = prism_hello();
	hello.max_depth = options.depth;
	mine.private_data = hello.serialize();
	Result<ConnectionRecord> peer = establish(*rendezvous, *qp, std::move(mine), options.timeout);
	if (!peer)
		return peer.error();
	const std::string who = host + ":" + std::to_string(port);
	std::uint64_t first_version = 0;
	Result<ServerView> view = view_of(*peer, who, first_version);
	if (!view)
		return view.error();
	if (!qp->peer_speaks_prism())
		return make_error(EPROTONOSUPPORT, "the device of " + who + " does not speak PRISM");
	if (options.max_value_size)
		view->max_value_size = std::min(view->max_value_size, options.max_value_size);
	const std::size_t object_room = room_for(*view);
	Result<Buffer> memory = Buffer::create(*pd, LaneMemory::size(object_room) * options.depth);
	if (!memory)
		return memory.error();
	std::unique_ptr<PrismClient> client(new PrismClient(context, *pd, *cq, *std::move(rendezvous), *std::move(qp),
		*std::move(memory), *std::move(view), options, object_room));
	client->versions_ = LeasedVersions(first_version);
	if (const int error = client->make_reporters())
		return make_error(error, "cannot report freed buffers to " + who);
	return client;
}

PrismClient::PrismClient(Context context, ProtectionDomain pd, CompletionQueue cq, TcpRendezvous control, QueuePair qp,
	Buffer memory, ServerView view, const PrismClientOptions &options, std::size_t object_room)
	: context_(std::move(context)), pd_(std::move(pd)), cq_(std::move(cq)), rendezvous_(std::move(control)),
	  control_(rendezvous_.fd()), qp_(std::move(qp)), memory_(std::move(memory)), view_(std::move(view)),
	  protocol_(view_, *this, options.hints), lanes_(options.depth), timeout_(options.timeout)
{
	std::byte *bytes = memory_.data();
	for (std::uint32_t number = 0; number < options.depth; number++) {
		lanes_[number].number = number;
		lanes_[number].memory = LaneMemory::divide(bytes, object_room, memory_.region().lkey());
		bytes += LaneMemory::size(object_room);
		idle_.push_back(options.depth - 1 - number);
	}
	ended_.reserve(options.depth);
	put_off_.reserve(options.depth);
	waiting_.reserve(2 * std::size_t{options.depth});
}

/* What was freed is reported as far as that is possible; the server finds the rest. */
PrismClient::~PrismClient()
{
	const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(200);
	flush();
	while (!broken_ && flushes_ && Clock::now() < deadline)
		poll({});
	for (Lane &lane : lanes_)
		lane.task.reset();
}

int PrismClient::make_reporters()
{
	for (const SizeClass &size_class : view_.classes) {
		Result<FreeReporter> reporter = FreeReporter::create(qp_, size_class.free_list);
		if (!reporter)
			return reporter.error().code;
		reporters_.push_back(*std::move(reporter));
	}
	return 0;
}

/* Operations ----------------------------------------------------------------------------------------------------- */

int PrismClient::check(const apps::Operation &operation) const noexcept
{
	if (broken_)
		return broken_;
	const bool key_fits = !operation.key.empty() && operation.key.size() <= view_.max_key_size;
	const bool value_fits =
		operation.kind != apps::OperationKind::put || operation.value.size() <= view_.max_value_size;
	return key_fits && value_fits ? 0 : EINVAL;
}

Lane *PrismClient::begin(apps::Operation &operation) noexcept
{
	if (idle_.empty())
		return nullptr;
	Lane &lane = lanes_[idle_.back()];
	idle_.pop_back();
	operation.error = 0;
	operation.length = 0;
	lane.operation = &operation;
	lane.began = ++serial_;
	lane.round_trips = 0;
	return &lane;
}

int PrismClient::start(apps::Operation &operation) noexcept
{
	if (const int error = check(operation))
		return error;
	Lane *const lane = begin(operation);
	if (!lane)
		return EAGAIN;
	lane->task.emplace(protocol_.run(*lane));
	go(*lane);
	ring_if_many();
	return 0;
}

void PrismClient::go(Lane &lane) noexcept
{
	lane.task->start();
	if (lane.task->done())
		finish(lane);
}

void PrismClient::finish(Lane &lane) noexcept
{
	apps::Operation &operation = *lane.operation;
	operation.outcome = lane.task->value();
	operation.round_trips = lane.round_trips;
	lane.task.reset();
	lane.operation = nullptr;
	stats_.operations++;
	stats_.round_trips += lane.round_trips;
	stats_.direct += lane.round_trips == 1;
	idle_.push_back(lane.number);
	ended_.push_back(&operation);
}

void PrismClient::handle(const Completion &completion) noexcept
{
	if (completion.failed())
		break_off(errno_of(completion));
	if (completion.wr_id == flush_id && flushes_)
		flushes_--;
	if (completion.wr_id >= lanes_.size())
		return;
	Lane &lane = lanes_[completion.wr_id];
	if (!lane.waiter) /* another request of a chain that has failed already */
		return;
	under_way_--;
	lane.completion = completion;
	std::exchange(lane.waiter, nullptr).resume();
	if (lane.task->done())
		finish(lane);
}

std::size_t PrismClient::poll(std::span<apps::Operation *> completed) noexcept
{
	const bool idle = idle_.size() == lanes_.size();
	if (!under_way_)
		ring();
	std::array<Completion, 32> completions;
	const int got = cq_.poll(completions);
	if (!got)
		ring();
	for (int i = 0; i < got; i++) {
		handle(completions[static_cast<std::size_t>(i)]);
		ring_if_many();
	}
	if (got < 0)
		break_off(-got);
	if (!waiting_.empty())
		report_waiting();
	if (idle || ++polls_ % polls_a_talk == 0)
		talk();
	if (settling_.wanted)
		settle();
	const std::size_t count = std::min(completed.size(), ended_.size());
	std::copy_n(ended_.begin(), count, completed.begin());
	ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
	return count;
}

/**
 * Posts what was put off, with one doorbell for all of it. When? As long as answers come in, more requests will follow
 * them: once no answer is there, or nothing is under way that could bring one, or half of the lanes wait, so that the
 * server has the one half while this client has the other.
 */
void PrismClient::ring() noexcept
{
	if (put_off_.empty())
		return;
	/* GETs first: packets of one size leave as one train (and one key's operations may end in any order). */
	std::partition(put_off_.begin(), put_off_.end(),
		[](const Chain::Posting &posting) { return posting.chain->size() == 1; });
	const int error = broken_ ? broken_ : Chain::post(qp_, put_off_);
	under_way_ += put_off_.size();
	if (error) {
		break_off(error);
		refuse_put_off();
	}
	put_off_.clear();
}

void PrismClient::ring_if_many() noexcept
{
	if (lanes_.size() > 1 && 2 * put_off_.size() >= lanes_.size())
		ring();
}

/** Each operation whose request cannot be posted fails; none of them posts another one, as the connection is broken. */
void PrismClient::refuse_put_off() noexcept
{
	for (const Chain::Posting &posting : put_off_) {
		Completion failed;
		failed.wr_id = posting.wr_id;
		failed.error = IBV_WC_GENERAL_ERR;
		handle(failed);
	}
}

void PrismClient::break_off(int error) noexcept
{
	if (!broken_)
		broken_ = error;
}

/* Carrier -------------------------------------------------------------------------------------------------------- */

/* Requests leave together, as one train of packets: the price of a system call is shared. See ring(). */
int PrismClient::post(const Chain &chain, std::uint64_t lane) noexcept
{
	if (!broken_)
		put_off_.push_back({&chain, lane});
	return broken_;
}

void PrismClient::release(std::uint64_t address) noexcept
{
	if (address)
		report(address);
}

/* An address of no class is not ours to report: the slot that had it was corrupt. */
void PrismClient::report(std::uint64_t address) noexcept
{
	for (std::size_t i = 0; i < reporters_.size(); i++) {
		if (!view_.classes[i].holds(address))
			continue;
		const int error = reporters_[i].report(address);
		if (!error)
			stats_.reported++;
		else if (error == ENOMEM)
			waiting_.push_back(address);
		return;
	}
}

void PrismClient::report_waiting() noexcept
{
	const std::size_t count = waiting_.size();
	for (std::size_t i = 0; i < count; i++)
		report(waiting_[i]);
	waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

/* By the clock: a server on a busy machine may have no core for much longer than round trips take. */
bool PrismClient::buffers_may_come(Lane &lane, unsigned attempts) noexcept
{
	constexpr unsigned attempts_a_look = 64;
	flush();
	if (attempts == 1)
		lane.first_without_buffer = Clock::now();
	return attempts % attempts_a_look || Clock::now() - lane.first_without_buffer < patience;
}

void PrismClient::flush() noexcept
{
	for (FreeReporter &reporter : reporters_) {
		if (reporter.pending() && !reporter.flush(flush_id))
			flushes_++;
	}
}

std::uint64_t PrismClient::next_version() noexcept
{
	if (const std::uint64_t count = versions_.ask()) {
		if (const int error = control_.send({apps::ControlKind::lease, count}))
			break_off(error);
	}
	/* The server has had as long as half of a lease of PUTs takes. */
	while (versions_.empty() && !broken_) {
		if (!control_.wait(static_cast<int>(timeout_.count())))
			break_off(ETIMEDOUT);
		talk();
	}
	return versions_.empty() ? 0 : versions_.take();
}

/* The server's control channel ----------------------------------------------------------------------------------- */

void PrismClient::talk() noexcept
{
	apps::ControlMessage message;
	int got = 0;
	while (!broken_ && !answer_ && (got = control_.receive(message)) > 0)
		hear(message);
	if (got < 0)
		break_off(-got);
}

void PrismClient::hear(const apps::ControlMessage &message) noexcept
{
	if (message.kind == apps::ControlKind::lease && versions_.add(message.value))
		return;
	if (message.kind == apps::ControlKind::settle) {
		settling_ = {true, 0, message.value, serial_};
	} else if (message.kind == apps::ControlKind::stats || message.kind == apps::ControlKind::recover) {
		answer_ = message;
	} else {
		break_off(EBADMSG);
	}
}

/**
 * A signalled report for each class, be it an empty one: full batches have gone out unsignalled, and nothing else tells
 * that they have arrived. False: the send queue has no room yet.
 */
bool PrismClient::flush_all() noexcept
{
	for (; settling_.flushed < reporters_.size(); settling_.flushed++) {
		if (reporters_[settling_.flushed].flush(flush_id))
			return false;
		flushes_++;
	}
	return true;
}

/** Answers the server once everything that had begun has ended and what it freed is reported. */
void PrismClient::settle() noexcept
{
	const auto before = [this](const Lane &lane) { return lane.operation && lane.began <= settling_.before; };
	if (std::any_of(lanes_.begin(), lanes_.end(), before) || !waiting_.empty())
		return;
	if (!flush_all())
		return;
	if (flushes_ || broken_)
		return;
	settling_.wanted = false;
	if (const int error = control_.send({apps::ControlKind::settled, settling_.value}))
		break_off(error);
}

/* Blocking calls ------------------------------------------------------------------------------------------------- */

template <typename Make>
apps::Outcome PrismClient::run(apps::Operation &operation, Make make) noexcept
{
	operation.error = check(operation);
	if (operation.error)
		return operation.outcome = apps::Outcome::failed;
	Lane &lane = *begin(operation);
	lane.task.emplace(make(lane));
	go(lane);
	apps::Operation *ended = nullptr;
	while (!poll({&ended, 1}))
		;
	return operation.outcome;
}

apps::Outcome PrismClient::get_versioned(apps::Operation &operation, Version &version) noexcept
{
	return run(operation, [&](Lane &lane) { return protocol_.get_versioned(lane, version); });
}

apps::Outcome PrismClient::put_if(apps::Operation &operation, const Version &expected) noexcept
{
	return run(operation, [&](Lane &lane) { return protocol_.put_if(lane, expected); });
}

apps::Outcome PrismClient::erase_if(apps::Operation &operation, const Version &expected) noexcept
{
	return run(operation, [&](Lane &lane) { return protocol_.erase_if(lane, expected); });
}

Result<apps::ControlMessage> PrismClient::ask(const apps::ControlMessage &question)
{
	if (const int error = broken_ ? broken_ : control_.send(question))
		return make_error(error, "the connection to the server is gone");
	const Clock::time_point deadline = Clock::now() + timeout_;
	answer_.reset();
	while (Clock::now() < deadline && !broken_) {
		poll({});
		if (answer_ && answer_->kind == question.kind)
			return *std::exchange(answer_, std::nullopt);
		(void)control_.wait(1);
	}
	if (broken_)
		return make_error(broken_, "the connection to the server is gone");
	return make_error(ETIMEDOUT, "the server does not answer");
}

Result<std::string> PrismClient::server_stats()
{
	Result<apps::ControlMessage> answer = ask({apps::ControlKind::stats, 0});
	if (!answer)
		return answer.error();
	std::string text;
	if (const int error = control_.receive_text(answer->value, text, static_cast<int>(timeout_.count())))
		return make_error(error, "the server's statistics do not arrive");
	return text;
}

Result<void> PrismClient::request_recovery()
{
	Result<apps::ControlMessage> answer = ask({apps::ControlKind::recover, 0});
	if (!answer)
		return answer.error();
	if (answer->value)
		return make_error(static_cast<int>(answer->value), "the server does not begin a recovery scan");
	return {};
}

} // namespace prism::kv
