/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "volume_client.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "service/memory.hpp"

namespace prism::rs
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t max_depth = 1024;
/* How often a busy client looks at its connections, which costs a system call for each */
constexpr std::uint64_t polls_a_look = 256;

/** A number that no other incarnation of a client has. */
std::uint64_t random_number()
{
	std::uint64_t number = 0;
	while (!number)
		(void)!::getrandom(&number, sizeof(number), 0);
	return number;
}

} // namespace

/** What a wr_id says. */
struct VolumeClient::WorkRequest {
	std::uint32_t lane;
	unsigned replica;
	std::uint64_t generation;

	/* Of a report */
	static constexpr std::uint32_t no_lane = 0xffff;

	[[nodiscard]] std::uint64_t id() const noexcept
	{
		return generation << 24 | std::uint64_t{replica} << 16 | lane;
	}
	static WorkRequest of(std::uint64_t id) noexcept
	{
		return {static_cast<std::uint32_t>(id & 0xffff), static_cast<unsigned>(id >> 16 & 0xff), id >> 24};
	}
};

/* Set-up --------------------------------------------------------------------------------------------------------- */

Result<std::unique_ptr<VolumeClient>> VolumeClient::open(
	const Context &context, const Configuration &volume, const VolumeKind &kind, const VolumeClientOptions &options)
{
	if (options.depth == 0 || options.depth > max_depth)
		return make_error(EINVAL, "cannot open the volume", "the depth is 1 to " + std::to_string(max_depth));
	if (Result<void> checked = volume.check(); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	const std::size_t legs = volume.replicas.size() * options.depth;
	const std::size_t requests = legs * kind.requests_of_a_leg + volume.replicas.size() * Link::room_for_reports;
	Result<CompletionQueue> cq = CompletionQueue::create(context, static_cast<int>(requests));
	if (!cq)
		return cq.error();
	apps::MemoryPlan plan;
	plan.add("blocks under way", legs * LegMemory::size(volume.block_size));
	if (Result<void> fits =
			apps::check_memory(plan, apps::memory_limits(!context.is_userspace()), "lower the depth");
		!fits)
		return fits.error();
	Result<Buffer> memory = Buffer::create(*pd, plan.total());
	if (!memory)
		return memory.error();
	std::unique_ptr<VolumeClient> client(
		new VolumeClient(context, *pd, *cq, *std::move(memory), volume, kind, options, random_number()));
	if (Result<void> connected = client->wait_for_quorum(options.setup_timeout); !connected)
		return connected.error();
	return client;
}

VolumeClient::VolumeClient(Context context, ProtectionDomain pd, CompletionQueue cq, Buffer memory,
	const Configuration &volume, const VolumeKind &kind, const VolumeClientOptions &options, std::uint64_t client)
	: context_(std::move(context)), pd_(std::move(pd)), cq_(std::move(cq)), memory_(std::move(memory)),
	  volume_(volume), timeout_(options.timeout), lanes_(options.depth),
	  numbers_(options.depth * volume.replicas.size()), replicas_(volume.replicas.size()), repairs_(kind.repairs)
{
	std::byte *bytes = memory_.data();
	for (std::uint32_t number = 0; number < options.depth; number++) {
		Lane &lane = lanes_[number];
		lane.number = number;
		lane.legs = std::vector<Leg>(volume.replicas.size());
		for (Leg &leg : lane.legs) {
			leg.memory = LegMemory::divide(bytes, volume.block_size, memory_.region().lkey());
			bytes += LegMemory::size(volume.block_size);
		}
		idle_.push_back(options.depth - 1 - number);
	}
	ended_.reserve(options.depth);
	to_wake_.reserve(options.depth);
	protocol_ = kind.make_protocol(*this, client);
	LinkOptions link{pd_, cq_, volume_};
	link.kind = kind.kind;
	link.needs_prism = kind.needs_prism;
	link.slot_size = kind.slot_size;
	link.buffer_size = kind.buffer_size;
	link.client = client;
	link.max_send_wr = options.depth * kind.requests_of_a_leg;
	for (unsigned replica = 0; replica < replicas_.size(); replica++) {
		replicas_[replica].put_off.reserve(options.depth);
		link.purpose = repairs_ == replica ? Purpose::repair : Purpose::use;
		replicas_[replica].connector = std::make_unique<Connector>(link, replica);
		replicas_[replica].connector->want(0);
	}
}

/* What is under way comes to its end and what was freed is reported, as far as that is soon; replicas find the rest. */
VolumeClient::~VolumeClient()
{
	for (Lane &lane : lanes_) {
		lane.waiter = nullptr;
		lane.task.reset();
	}
	const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(200);
	const auto wait_while = [this, deadline](const auto &busy) {
		while (busy() && Clock::now() < deadline)
			take_completions();
	};
	wait_while([this] { return under_way_ != 0; });
	for (unsigned replica = 0; replica < replicas_.size(); replica++) {
		if (replicas_[replica].link)
			replicas_[replica].link->flush(
				WorkRequest{WorkRequest::no_lane, replica, replicas_[replica].generation}.id());
	}
	const auto flushing = [](const Replica &replica) { return replica.link && replica.link->flushing(); };
	wait_while([&] { return std::any_of(replicas_.begin(), replicas_.end(), flushing); });
}

unsigned VolumeClient::connected() const noexcept
{
	return static_cast<unsigned>(std::count_if(
		replicas_.begin(), replicas_.end(), [](const Replica &replica) { return replica.link != nullptr; }));
}

Result<void> VolumeClient::wait_for_quorum(std::chrono::milliseconds timeout)
{
	const Clock::time_point deadline = Clock::now() + timeout;
	while (connected() < volume_.quorum() ||
		(connected() < replicas_.size() && Clock::now() + timeout * 9 / 10 < deadline)) {
		look_after_links();
		for (const Replica &replica : replicas_) {
			if (const Error why = replica.connector->why();
				why.code == EPROTONOSUPPORT || why.code == EALREADY || why.code == EBUSY)
				return why;
		}
		if (Clock::now() > deadline)
			break;
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
	if (connected() >= volume_.quorum())
		return {};
	std::string text = fmt::format("{} of {} replicas are needed", volume_.quorum(), replicas_.size());
	for (unsigned replica = 0; replica < replicas_.size(); replica++) {
		if (const ReplicaState state = state_of(replica); !state.connected)
			text += fmt::format("; replica {}: {}", replica, state.why.empty() ? "no answer" : state.why);
	}
	const auto has_forgotten = [](const Replica &replica) {
		return !replica.link && replica.connector->why().code == ENOTRECOVERABLE;
	};
	if (std::count_if(replicas_.begin(), replicas_.end(), has_forgotten) > std::ptrdiff_t{volume_.failures()})
		return make_error(
			ENOTRECOVERABLE, "the volume is lost: more replicas than may have lost their memory", text);
	return make_error(EHOSTUNREACH, "cannot open the volume", text);
}

bool VolumeClient::wait_for_all(std::chrono::milliseconds timeout)
{
	const Clock::time_point deadline = Clock::now() + timeout;
	while (connected() < replicas_.size() && Clock::now() < deadline) {
		look_after_links();
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
	return connected() == replicas_.size();
}

/* Operations ----------------------------------------------------------------------------------------------------- */

int VolumeClient::start(apps::Operation &operation) noexcept
{
	std::uint64_t block = 0;
	if (operation.kind == apps::OperationKind::erase || operation.key.size() != sizeof(block))
		return EINVAL;
	std::memcpy(&block, operation.key.data(), sizeof(block));
	if (block >= volume_.blocks)
		return ERANGE;
	if (operation.kind == apps::OperationKind::put && operation.value.size() != volume_.block_size)
		return EINVAL;
	if (idle_.empty())
		return EAGAIN;
	Lane &lane = lanes_[idle_.back()];
	idle_.pop_back();
	operation.error = 0;
	operation.length = 0;
	lane.operation = &operation;
	lane.block = block;
	lane.deadline = now() + timeout_;
	lane.round_trips = 0;
	lane.task.emplace(protocol_->run(lane));
	lane.task->start();
	if (lane.task->done())
		finish(lane);
	else
		next_timer_ = std::min(next_timer_, lane.wake_at);
	return 0;
}

void VolumeClient::resume(Lane &lane) noexcept
{
	if (!lane.waiter)
		return;
	lane.wake_at = Time::max();
	std::exchange(lane.waiter, nullptr).resume();
	if (lane.task->done())
		finish(lane);
	else
		next_timer_ = std::min(next_timer_, lane.wake_at);
}

void VolumeClient::resume_all() noexcept
{
	for (Lane &lane : lanes_)
		resume(lane);
}

void VolumeClient::finish(Lane &lane) noexcept
{
	apps::Operation &operation = *lane.operation;
	operation.outcome = lane.task->value();
	operation.round_trips = lane.round_trips;
	lane.task.reset();
	lane.operation = nullptr;
	lane.waiter = nullptr;
	idle_.push_back(lane.number);
	ended_.push_back(&operation);
}

std::size_t VolumeClient::poll(std::span<apps::Operation *> completed) noexcept
{
	if (!under_way_)
		ring();
	take_completions();
	run_timers();
	if (idle_.size() == lanes_.size() || ++polls_ % polls_a_look == 0)
		look_after_links();
	const std::size_t count = std::min(completed.size(), ended_.size());
	std::copy_n(ended_.begin(), count, completed.begin());
	ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
	return count;
}

void VolumeClient::take_completions() noexcept
{
	std::array<Completion, 32> completions;
	const int got = cq_.poll(completions);
	for (int i = 0; i < got; i++)
		handle(completions[static_cast<std::size_t>(i)]);
	/* As long as answers come in, more requests will follow them, and leave together. */
	if (got <= 0 || put_off_ >= lanes_.size())
		ring();
}

void VolumeClient::handle(const Completion &completion) noexcept
{
	const WorkRequest request = WorkRequest::of(completion.wr_id);
	if (request.replica >= replicas_.size())
		return;
	Replica &replica = replicas_[request.replica];
	if (!replica.link || request.generation != replica.generation)
		return; /* of a connection that is gone */
	if (completion.failed()) {
		link_down(request.replica);
		return;
	}
	if (request.lane == WorkRequest::no_lane) {
		replica.link->flushed();
		return;
	}
	if (request.lane >= lanes_.size())
		return;
	Lane &lane = lanes_[request.lane];
	if (!lane.legs[request.replica].under_way())
		return;
	lane.legs[request.replica].completion = completion;
	end_leg(lane, request.replica);
	resume(lane);
}

void VolumeClient::end_leg(Lane &lane, unsigned replica) noexcept
{
	Leg &leg = lane.legs[replica];
	leg.fresh = leg.state == Leg::State::asked && !leg.completion.failed();
	leg.state = leg.fresh ? Leg::State::answered : Leg::State::idle;
	under_way_--;
	protocol_->leg_ended(lane, replica);
}

void VolumeClient::run_timers() noexcept
{
	while (!to_wake_.empty()) {
		Lane &lane = *to_wake_.back();
		to_wake_.pop_back();
		resume(lane);
	}
	if (idle_.size() == lanes_.size())
		return;
	const Time time = now();
	if (time < next_timer_)
		return;
	next_timer_ = Time::max();
	for (Lane &lane : lanes_) {
		if (lane.waiter && lane.wake_at <= time)
			resume(lane);
		if (lane.waiter)
			next_timer_ = std::min(next_timer_, lane.wake_at);
	}
}

/** Posts what was put off: one doorbell for each replica. */
void VolumeClient::ring() noexcept
{
	if (!put_off_)
		return;
	put_off_ = 0;
	for (unsigned number = 0; number < replicas_.size(); number++) {
		Replica &replica = replicas_[number];
		if (replica.put_off.empty())
			continue;
		const int error = Chain::post(replica.link->qp(), replica.put_off);
		replica.put_off.clear();
		if (error)
			link_down(number);
	}
}

/* Carrier -------------------------------------------------------------------------------------------------------- */

Time VolumeClient::now() const noexcept
{
	return Clock::now().time_since_epoch();
}

const ReplicaView *VolumeClient::view(unsigned replica) const noexcept
{
	return replicas_[replica].link ? &replicas_[replica].link->view() : nullptr;
}

int VolumeClient::post(Lane &lane, unsigned replica) noexcept
{
	Replica &to = replicas_[replica];
	if (!to.link)
		return ENOTCONN;
	const WorkRequest request{lane.number, replica, to.generation};
	to.put_off.push_back({&lane.legs[replica].chain, request.id()});
	numbers_[lane.number * replicas_.size() + replica] = ++requests_;
	put_off_++;
	under_way_++;
	return 0;
}

void VolumeClient::release(unsigned replica, std::uint64_t address) noexcept
{
	if (replicas_[replica].link)
		replicas_[replica].link->release(address);
}

void VolumeClient::wake(Lane &lane) noexcept
{
	to_wake_.push_back(&lane);
}

/* Connections ---------------------------------------------------------------------------------------------------- */

/** Number of the oldest request to @p replica that is under way. */
std::uint64_t VolumeClient::oldest_request(unsigned replica) const noexcept
{
	std::uint64_t oldest = ~std::uint64_t{0};
	for (const Lane &lane : lanes_) {
		if (lane.legs[replica].under_way())
			oldest = std::min(oldest, numbers_[lane.number * replicas_.size() + replica]);
	}
	return oldest;
}

void VolumeClient::look_after_links() noexcept
{
	for (unsigned number = 0; number < replicas_.size(); number++) {
		Replica &replica = replicas_[number];
		if (!replica.link) {
			if (std::unique_ptr<Link> link = replica.connector->take())
				link_up(number, std::move(link));
			continue;
		}
		const std::uint64_t flush_id = WorkRequest{WorkRequest::no_lane, number, replica.generation}.id();
		const bool stale = replica.link->view().epoch < epoch_ && repairs_ != number;
		if (stale || replica.link->talk(oldest_request(number), requests_, flush_id))
			link_down(number);
	}
}

/** A replica that has not heard of the newest epoch is told it by connecting once more. */
void VolumeClient::link_up(unsigned replica, std::unique_ptr<Link> link) noexcept
{
	if (link->view().epoch < epoch_ && repairs_ != replica) {
		replicas_[replica].connector->want(epoch_);
		return;
	}
	epoch_ = std::max(epoch_, link->view().epoch);
	replicas_[replica].link = std::move(link);
	replicas_[replica].generation++;
	resume_all();
}

/** With the queue pair nothing is under way any more; whether it was executed is not known. */
void VolumeClient::link_down(unsigned replica) noexcept
{
	Replica &gone = replicas_[replica];
	put_off_ -= std::min(put_off_, gone.put_off.size());
	gone.put_off.clear();
	gone.link.reset();
	for (Lane &lane : lanes_) {
		if (!lane.legs[replica].under_way())
			continue;
		lane.legs[replica].completion = {};
		lane.legs[replica].completion.error = IBV_WC_WR_FLUSH_ERR;
		end_leg(lane, replica);
	}
	if (repairs_ == replica) /* another connection might lead to another incarnation of it */
		lost_its_replica_ = true;
	else
		gone.connector->want(epoch_);
	for (Lane &lane : lanes_)
		wake(lane);
}

ReplicaState VolumeClient::state_of(unsigned replica) const
{
	ReplicaState state;
	if (const ReplicaView *const there = view(replica)) {
		state.connected = true;
		state.serving = there->serving;
		state.epoch = there->epoch;
	} else {
		const Error why = replicas_[replica].connector->why();
		state.refused = why.code;
		state.why = why.message;
	}
	return state;
}

void VolumeClient::repaired_has_epoch() noexcept
{
	if (repairs_ && replicas_[*repairs_].link)
		replicas_[*repairs_].link->set_epoch(epoch_);
}

bool VolumeClient::serves(unsigned replica) const noexcept
{
	const ReplicaView *const there = view(replica);
	return there && there->serving && there->epoch == epoch_;
}

unsigned VolumeClient::serving() const noexcept
{
	unsigned count = 0;
	for (unsigned replica = 0; replica < replicas_.size(); replica++)
		count += serves(replica);
	return count;
}

void VolumeClient::tell(unsigned replica, const apps::ControlMessage &message) noexcept
{
	Replica &to = replicas_[replica];
	if (to.link && to.link->control().send(message))
		link_down(replica);
}

std::optional<apps::ControlMessage> VolumeClient::take_answer(unsigned replica) noexcept
{
	const Replica &from = replicas_[replica];
	return from.link ? from.link->take_answer() : std::nullopt;
}

Result<apps::ControlMessage> VolumeClient::ask(unsigned replica, const apps::ControlMessage &question)
{
	const auto gone = [replica](int error) {
		return make_error(error, fmt::format("replica {} does not answer", replica));
	};
	if (!replicas_[replica].link)
		return gone(ENOTCONN);
	(void)replicas_[replica].link->take_answer();
	if (const int error = replicas_[replica].link->control().send(question))
		return gone(error);
	const Clock::time_point deadline = Clock::now() + timeout_;
	while (Clock::now() < deadline) {
		look_after_links();
		if (!replicas_[replica].link)
			return gone(ECONNRESET);
		const std::optional<apps::ControlMessage> answer = replicas_[replica].link->take_answer();
		if (answer && answer->kind == question.kind)
			return *answer;
		(void)replicas_[replica].link->control().wait(1);
	}
	return gone(ETIMEDOUT);
}

Result<std::string> VolumeClient::stats_of(unsigned replica)
{
	Result<apps::ControlMessage> answer = ask(replica, {apps::ControlKind::stats, 0});
	if (!answer)
		return answer.error();
	std::string text;
	const int error = replicas_[replica].link->control().receive_text(
		answer->value, text, static_cast<int>(timeout_.count()));
	if (error)
		return make_error(error, fmt::format("the statistics of replica {} do not arrive", replica));
	return text;
}

} // namespace prism::rs
