/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_client.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/recent_clock.hpp"
#include "introduction.hpp"
#include "service/memory.hpp"

namespace prism::kv
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t max_depth = 4096;
/* Time to wait for buffers that others have freed */
constexpr std::chrono::seconds patience_for_buffers{1};
/* Time that one attempt to reconnect waits for a listener */
constexpr std::chrono::milliseconds attempt_limit{100};
/* wr_id of reports, which belong to no lane */
constexpr std::uint64_t flush_id = ~std::uint64_t{0};
/* Polls between two checks of the control channel, each a system call, by a busy client */
constexpr std::uint64_t polls_a_talk = 256;
/* An idle client checks the channel before an operation if the last check is older than this */
constexpr std::chrono::milliseconds trusted{1};

std::size_t room_for(const ServerView &view)
{
	const std::size_t object = sizeof(ObjectHeader) + std::size_t{view.max_key_size} + view.max_value_size;
	return (object + 31) / 32 * 32;
}

/** Returns the completion of a request whose connection is lost. */
Completion flushed()
{
	Completion failed;
	failed.error = IBV_WC_WR_FLUSH_ERR;
	return failed;
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
	Result<CompletionQueue> cq =
		CompletionQueue::create(context, static_cast<int>(Link::work_requests(options.depth)));
	if (!cq)
		return cq.error();
	const std::chrono::milliseconds setup = options.setup_timeout.count() ? options.setup_timeout : options.timeout;
	LinkOptions link_options{*pd, *cq, {host, port}, options.depth, options.shard, options.store, setup, setup};
	Result<std::unique_ptr<Link>> link = Link::connect(link_options);
	if (!link)
		return link.error();
	ServerView view = (*link)->view();
	if (options.max_value_size)
		view.max_value_size = std::min(view.max_value_size, options.max_value_size);
	apps::MemoryPlan plan;
	plan.add("objects under way", LaneMemory::size(room_for(view)) * options.depth);
	if (Result<void> fits = apps::check_memory(plan, apps::memory_limits(!context.is_userspace()),
		    "lower the depth, or the longest value that this client handles");
		!fits)
		return fits.error();
	Result<Buffer> memory = Buffer::create(*pd, plan.total());
	if (!memory)
		return memory.error();
	link_options.store = view.shard.store;
	link_options.timeout = options.timeout;
	link_options.listening = attempt_limit;
	return std::unique_ptr<PrismClient>(
		new PrismClient(context, std::move(link_options), *std::move(link), *std::move(memory), view, options));
}

PrismClient::PrismClient(Context context, LinkOptions link_options, std::unique_ptr<Link> link, Buffer memory,
	const ServerView &view, const PrismClientOptions &options)
	: context_(std::move(context)), link_options_(std::move(link_options)), timeout_(options.timeout),
	  patience_(options.patience), memory_(std::move(memory)), view_(view), protocol_(view_, *this, options.hints),
	  link_(std::move(link)), lanes_(options.depth), versions_(view.first_version)
{
	std::byte *bytes = memory_.data();
	for (std::uint32_t number = 0; number < options.depth; number++) {
		lanes_[number].number = number;
		lanes_[number].memory = LaneMemory::divide(bytes, room_for(view_), memory_.region().lkey());
		bytes += LaneMemory::size(room_for(view_));
		idle_.push_back(options.depth - 1 - number);
	}
	ended_.reserve(options.depth);
	put_off_.reserve(options.depth);
}

/*
 * Reports freed objects as far as possible; the server finds the rest. Operations under way belong to the caller again,
 * who may have freed them, so nobody waits for their requests any more.
 */
PrismClient::~PrismClient()
{
	for (Lane &lane : lanes_) {
		lane.waiter = {};
		lane.task.reset();
	}
	const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(200);
	if (link_)
		link_->flush(flush_id);
	std::array<Completion, 32> completions;
	while (link_ && !broken_ && link_->flushing() && Clock::now() < deadline) {
		const int got = link_options_.cq.poll(completions);
		for (int i = 0; i < got; i++)
			handle(completions[static_cast<std::size_t>(i)]);
		if (got < 0)
			return;
	}
}

/* Operations ----------------------------------------------------------------------------------------------------- */

bool PrismClient::fits(const apps::Operation &operation) const noexcept
{
	const bool key_fits = !operation.key.empty() && operation.key.size() <= view_.max_key_size;
	const bool value_fits =
		operation.kind != apps::OperationKind::put || operation.value.size() <= view_.max_value_size;
	return key_fits && value_fits;
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
	lane.version = nullptr;
	lane.round_trips = 0;
	lane.changes = operation.kind != apps::OperationKind::get;
	lane.waits = lane.sent = false;
	return &lane;
}

int PrismClient::start(apps::Operation &operation, Version *version) noexcept
{
	if (!fits(operation))
		return EINVAL;
	catch_up();
	if (given_up())
		return ENOTCONN;
	Lane *const lane = begin(operation);
	if (!lane)
		return EAGAIN;
	lane->waits = true;
	lane->version = version;
	if (!link_ || broken_ || link_->stopping())
		return 0; /* later, adopt() begins it, or look_for_link() ends it */
	go(*lane, protocol_.run(*lane));
	ring_if_many();
	return 0;
}

void PrismClient::go(Lane &lane, apps::Task<apps::Outcome> task) noexcept
{
	lane.began = ++serial_;
	lane.task.emplace(std::move(task));
	lane.task->start();
	if (lane.task->done())
		finish(lane);
}

void PrismClient::finish(Lane &lane) noexcept
{
	apps::Outcome outcome = lane.task->value();
	lane.task.reset();
	if (failed_with_link(lane, outcome)) {
		outcome = judge_loss(lane);
		if (outcome == apps::Outcome::failed && lane.waits) {
			lane.operation->error = 0;
			lane.sent = false;
			stats_.repeated++;
			return;
		}
	}
	finish(lane, outcome);
}

/** Returns true if the operation has failed with its connection, and not by itself. */
bool PrismClient::failed_with_link(const Lane &lane, apps::Outcome outcome) const noexcept
{
	const int error = lane.operation->error;
	const bool of_itself = error == EBUSY || error == EMSGSIZE || (error == EBADMSG && !lane.changes);
	return broken_ && outcome == apps::Outcome::failed && !of_itself;
}

/**
 * Returns the outcome of an operation whose connection is lost: it was not done if it changes nothing, or was not sent.
 */
apps::Outcome PrismClient::judge_loss(Lane &lane) const noexcept
{
	const bool in_doubt = lane.changes && lane.sent;
	int &error = lane.operation->error;
	if (!in_doubt)
		error = ENOTCONN;
	else if (error != EBADMSG) /* its own */
		error = broken_ == EBADMSG ? ECONNRESET : broken_;
	return in_doubt ? apps::Outcome::unknown : apps::Outcome::failed;
}

void PrismClient::finish(Lane &lane, apps::Outcome outcome) noexcept
{
	apps::Operation &operation = *std::exchange(lane.operation, nullptr);
	operation.outcome = outcome;
	operation.round_trips = lane.round_trips;
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
	if (completion.wr_id == flush_id && link_->flushing())
		link_->flushed();
	if (completion.wr_id >= lanes_.size())
		return;
	Lane &lane = lanes_[completion.wr_id];
	if (!lane.waiter.waits()) /* another request of a chain that has failed already */
		return;
	under_way_--;
	resume(lane, completion);
}

void PrismClient::resume(Lane &lane, const Completion &completion) noexcept
{
	lane.completion = completion;
	lane.waiter.resume();
	if (lane.task->done())
		finish(lane);
}

std::size_t PrismClient::poll(std::span<apps::Operation *> completed) noexcept
{
	if (link_)
		take_completions();
	look_for_link();
	const std::size_t count = std::min(completed.size(), ended_.size());
	std::copy_n(ended_.begin(), count, completed.begin());
	ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
	return count;
}

void PrismClient::take_completions() noexcept
{
	const bool idle = idle_.size() == lanes_.size();
	if (!under_way_)
		ring();
	std::array<Completion, 32> completions;
	const int got = link_options_.cq.poll(completions);
	if (!got)
		ring();
	for (int i = 0; i < got; i++) {
		handle(completions[static_cast<std::size_t>(i)]);
		ring_if_many();
	}
	if (got < 0)
		break_off(-got);
	if (idle || ++polls_ % polls_a_talk == 0)
		talk(oldest_under_way());
}

/**
 * Posts the requests that were put off, with one doorbell. As long as answers come in, more requests will follow them;
 * so it posts when no answer is there, or nothing is under way that could bring one, or half of the lanes wait: then
 * the server works on one half while this client works on the other.
 */
void PrismClient::ring() noexcept
{
	if (put_off_.empty() || broken_)
		return;
	/* Chains of one request first: packets of one size leave as one train (and one key's operations may end in any
	 * order). */
	std::partition(put_off_.begin(), put_off_.end(),
		[](const Chain::Posting &posting) { return posting.chain->size() == 1; });
	for (const Chain::Posting &posting : put_off_)
		lanes_[posting.wr_id].sent = true;
	const int error = Chain::post(link_->qp(), put_off_);
	under_way_ += put_off_.size();
	if (error)
		break_off(error);
	put_off_.clear();
}

void PrismClient::ring_if_many() noexcept
{
	if (lanes_.size() > 1 && 2 * put_off_.size() >= lanes_.size())
		ring();
}

/* Connections ---------------------------------------------------------------------------------------------------- */

/** Breaks off the connection: requests under way end with a later poll(); nothing more is posted. */
void PrismClient::break_off(int error) noexcept
{
	if (broken_)
		return;
	broken_ = error;
	lost_ = Clock::now();
	stats_.losses++;
}

/**
 * Drops the connection. Without the queue pair none of its requests is executed any more, and the server finds objects
 * that were not reported. Each operation with a request under way gets its failure, and posts no other one.
 */
void PrismClient::lose_link() noexcept
{
	link_.reset();
	std::array<Completion, 32> stale;
	while (link_options_.cq.poll(stale) > 0)
		;
	under_way_ = 0;
	put_off_.clear();
	versions_ = {};
	answer_.reset();
	for (Lane &lane : lanes_) {
		if (lane.waiter.waits())
			resume(lane, flushed());
	}
	if (!connector_)
		connector_ = std::make_unique<apps::Connector<Link>>();
	connector_->want([options = link_options_] { return Link::connect(options); });
}

/** Does as much of poll() as a beginning operation needs. */
void PrismClient::catch_up() noexcept
{
	const bool idle = idle_.size() == lanes_.size();
	if (link_ && idle && RecentClock::now() - listened_ > trusted)
		talk(oldest_under_way());
	look_for_link();
}

/** Drops a lost connection, and takes the next one if it is ready. */
void PrismClient::look_for_link() noexcept
{
	if (link_ && broken_)
		lose_link();
	if (link_)
		return;
	if (std::unique_ptr<Link> link = connector_->take()) {
		adopt(std::move(link));
		return;
	}
	if (!given_up())
		return;
	for (Lane &lane : lanes_) {
		if (!lane.operation || lane.task)
			continue;
		lane.operation->error = ENOTCONN;
		finish(lane, apps::Outcome::failed);
	}
}

/**
 * Adopts a connection. The lanes have room for the objects of the first one, so larger limits of a later server are not
 * used.
 */
void PrismClient::adopt(std::unique_ptr<Link> link) noexcept
{
	const std::uint32_t max_key = view_.max_key_size, max_value = view_.max_value_size;
	const bool same_memory = link->view().secret == view_.secret;
	link_ = std::move(link);
	view_ = link_->view();
	view_.max_key_size = std::min(view_.max_key_size, max_key);
	view_.max_value_size = std::min(view_.max_value_size, max_value);
	if (!same_memory)
		protocol_.forget_hints();
	versions_ = LeasedVersions(view_.first_version);
	broken_ = 0;
	stats_.connections++;
	talk(oldest_under_way()); /* it may have been ready for long, and be lost by now */
	if (broken_) {
		lose_link();
		return;
	}
	for (Lane &lane : lanes_) {
		if (lane.operation && !lane.task)
			go(lane, protocol_.run(lane));
	}
}

Error PrismClient::why_disconnected() const
{
	if (link_ && !broken_)
		return {};
	Error why = connector_ ? connector_->why() : Error{};
	if (!why.code)
		why = make_error(broken_, "the connection to " + link_options_.server.text() + " is lost");
	return why;
}

bool PrismClient::given_up() const noexcept
{
	return !link_ && Clock::now() - lost_ > patience_;
}

/** Waits for a connection, for blocking calls, with nothing under way. Returns false if there is none. */
bool PrismClient::wait_for_link() noexcept
{
	do
		poll({});
	while ((!link_ || link_->stopping()) && !given_up());
	return link_ && !link_->stopping();
}

/* Carrier -------------------------------------------------------------------------------------------------------- */

/*
 * Queues the chain: requests leave together, as one train of packets, and share the price of a system call. See ring().
 */
int PrismClient::post(const Chain &chain, std::uint64_t lane) noexcept
{
	if (!broken_)
		put_off_.push_back({&chain, lane});
	return broken_;
}

/* Reports a freed object. An address of no class is not reported: its slot was corrupt. */
void PrismClient::release(std::uint64_t address) noexcept
{
	if (link_ && !broken_)
		link_->release(address);
}

/* Waits by the clock: a server on a busy machine may have no core for much longer than round trips take. */
bool PrismClient::buffers_may_come(Lane &lane, unsigned attempts) noexcept
{
	constexpr unsigned attempts_a_look = 64;
	link_->flush(flush_id);
	if (attempts == 1)
		lane.first_without_buffer = Clock::now();
	return attempts % attempts_a_look || Clock::now() - lane.first_without_buffer < patience_for_buffers;
}

std::uint64_t PrismClient::next_version() noexcept
{
	if (const std::uint64_t count = versions_.ask()) {
		if (const int error = link_->control().send({lease_message, count}))
			break_off(error);
	}
	/* The server has had the time of half a lease of PUTs. */
	while (versions_.empty() && !broken_) {
		if (!link_->control().wait(static_cast<int>(timeout_.count())))
			break_off(ETIMEDOUT);
		talk(0); /* the operation that needs the version is under way */
	}
	return versions_.empty() ? 0 : versions_.take();
}

/* The server's control channel ----------------------------------------------------------------------------------- */

std::uint64_t PrismClient::oldest_under_way() const noexcept
{
	std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
	for (const Lane &lane : lanes_)
		oldest = lane.task ? std::min(oldest, lane.began) : oldest;
	return oldest;
}

void PrismClient::talk(std::uint64_t oldest) noexcept
{
	listened_ = RecentClock::now();
	while (!broken_ && !answer_) {
		if (const int error = link_->talk(oldest, serial_, flush_id)) {
			break_off(error);
			return;
		}
		const std::optional<apps::ControlMessage> message = link_->take_answer();
		if (!message)
			return;
		hear(*message);
	}
}

void PrismClient::hear(const apps::ControlMessage &message) noexcept
{
	if (message.kind == lease_message && versions_.add(message.value))
		return;
	if (message.kind == apps::ControlKind::stats || message.kind == apps::ControlKind::recover)
		answer_ = message;
	else
		break_off(EBADMSG);
}

/* Blocking calls ------------------------------------------------------------------------------------------------- */

/**
 * Runs an operation. @p make makes the task of a lane, and is called again if the connection is lost and nothing was
 * changed.
 */
template <typename Make>
apps::Outcome PrismClient::run(apps::Operation &operation, bool changes, Make make) noexcept
{
	do {
		const bool connected = wait_for_link();
		operation.error = !connected ? ENOTCONN : fits(operation) ? 0 : EINVAL;
		if (operation.error)
			return operation.outcome = apps::Outcome::failed;
		Lane &lane = *begin(operation);
		lane.changes = changes;
		go(lane, make(lane));
		apps::Operation *ended = nullptr;
		while (!poll({&ended, 1}))
			;
	} while (operation.outcome == apps::Outcome::failed && operation.error == ENOTCONN);
	return operation.outcome;
}

apps::Outcome PrismClient::get_versioned(apps::Operation &operation, Version &version) noexcept
{
	return run(operation, false, [&](Lane &lane) { return protocol_.get_versioned(lane, version); });
}

apps::Outcome PrismClient::put_if(apps::Operation &operation, const Version &expected) noexcept
{
	return run(operation, true, [&](Lane &lane) { return protocol_.put_if(lane, expected); });
}

apps::Outcome PrismClient::erase_if(apps::Operation &operation, const Version &expected) noexcept
{
	return run(operation, true, [&](Lane &lane) { return protocol_.erase_if(lane, expected); });
}

Result<apps::ControlMessage> PrismClient::ask(const apps::ControlMessage &question)
{
	if (!wait_for_link())
		return Error{ENOTCONN, why_disconnected().message};
	const std::uint64_t connection = stats_.connections;
	answer_.reset();
	if (const int error = link_->control().send(question))
		return make_error(error, "the connection to the server is gone");
	const Clock::time_point deadline = Clock::now() + timeout_;
	while (Clock::now() < deadline) {
		poll({});
		if (!link_ || connection != stats_.connections)
			return make_error(ECONNRESET, "the connection to the server is gone");
		if (answer_ && answer_->kind == question.kind)
			return *std::exchange(answer_, std::nullopt);
		(void)link_->control().wait(1);
	}
	return make_error(ETIMEDOUT, "the server does not answer");
}

Result<std::string> PrismClient::server_stats()
{
	Result<apps::ControlMessage> answer = ask({apps::ControlKind::stats, 0});
	if (!answer)
		return answer.error();
	std::string text;
	const int error = link_->control().receive_text(answer->value, text, static_cast<int>(timeout_.count()));
	if (error)
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
