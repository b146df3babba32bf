/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "volume_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/recent_clock.hpp"
#include "service/memory.hpp"

namespace prism::rs
{

namespace
{

using Clock = std::chrono::steady_clock;

/* Polls of a busy client between looks at its connections, each of which costs a system call */
constexpr std::uint64_t polls_a_look = 256;

} // namespace

/* Set-up --------------------------------------------------------------------------------------------------------- */

Result<std::unique_ptr<VolumeClient>> VolumeClient::open(
	const Context &context, const Configuration &volume, const VolumeKind &kind, const VolumeClientOptions &options)
{
	if (options.depth == 0 || options.depth > VolumeClientOptions::max_depth)
		return make_error(EINVAL, "cannot open the volume",
			"the depth is 1 to " + std::to_string(VolumeClientOptions::max_depth));
	if (Result<void> checked = volume.check(); !checked)
		return checked.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	SessionOptions session;
	session.replicas = static_cast<unsigned>(volume.replicas.size());
	session.depth = options.depth;
	session.block_size = volume.block_size;
	session.timeout = options.timeout;
	session.repairs = kind.repairs;
	const std::size_t requests =
		volume.replicas.size() * (std::size_t{options.depth} * kind.longest_chain + Link::room_for_reports);
	Result<CompletionQueue> cq = CompletionQueue::create(context, static_cast<int>(requests));
	if (!cq)
		return cq.error();
	apps::MemoryPlan plan;
	plan.add("blocks under way", VolumeSession::memory_size(session));
	if (Result<void> fits =
			apps::check_memory(plan, apps::memory_limits(!context.is_userspace()), "lower the depth");
		!fits)
		return fits.error();
	Result<Buffer> memory = Buffer::create(*pd, plan.total());
	if (!memory)
		return memory.error();
	std::unique_ptr<VolumeClient> client(new VolumeClient(
		context, *pd, *cq, *std::move(memory), volume, kind, options, session, random_number()));
	if (Result<void> connected = client->wait_for_quorum(options.setup_timeout); !connected)
		return connected.error();
	return client;
}

VolumeClient::VolumeClient(Context context, ProtectionDomain pd, CompletionQueue cq, Buffer memory,
	const Configuration &volume, const VolumeKind &kind, const VolumeClientOptions &options,
	const SessionOptions &session, std::uint64_t client)
	: context_(std::move(context)), pd_(std::move(pd)), cq_(std::move(cq)), memory_(std::move(memory)),
	  volume_(volume), timeout_(options.timeout), replicas_(volume.replicas.size()),
	  session_(*this, session, memory_.data(), memory_.region().lkey(),
		  [&kind, client](VolumeSession &its_session) { return kind.make_protocol(its_session, client); })
{
	LinkOptions link{pd_, cq_, volume_};
	link.kind = kind.kind;
	link.needs_prism = kind.needs_prism;
	link.slot_size = kind.slot_size;
	link.buffer_size = kind.buffer_size;
	link.client = client;
	link.max_send_wr = options.depth * kind.longest_chain;
	for (unsigned replica = 0; replica < replicas_.size(); replica++) {
		link.purpose = session_.repairs(replica) ? Purpose::repair : Purpose::use;
		replicas_[replica].connector = std::make_unique<Connector>(link, replica);
	}
	session_.begin();
}

/*
 * Waits a short time for the requests under way to end, and for freed buffers to be reported. Replicas find the rest.
 */
VolumeClient::~VolumeClient()
{
	session_.abandon();
	const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(200);
	while (session_.under_way() && Clock::now() < deadline)
		take_completions();
	session_.flush();
	while (session_.flushing() && Clock::now() < deadline)
		take_completions();
}

Result<void> VolumeClient::wait_for_quorum(std::chrono::milliseconds timeout)
{
	const Clock::time_point deadline = Clock::now() + timeout;
	while (session_.connected() < volume_.quorum() ||
		(session_.connected() < replicas_.size() && Clock::now() + timeout * 9 / 10 < deadline)) {
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
	if (session_.connected() >= volume_.quorum())
		return {};
	return no_quorum();
}

/** Returns the error, with the problem of each replica. */
Error VolumeClient::no_quorum() const
{
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
	while (session_.connected() < replicas_.size() && Clock::now() < deadline) {
		look_after_links();
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
	return session_.connected() == replicas_.size();
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
	return session_.start(operation, block);
}

std::size_t VolumeClient::poll(std::span<apps::Operation *> completed) noexcept
{
	if (!session_.under_way())
		session_.ring();
	take_completions();
	session_.run_timers();
	if (session_.idle() || ++polls_ % polls_a_look == 0)
		look_after_links();
	return session_.take_ended(completed);
}

void VolumeClient::take_completions() noexcept
{
	std::array<Completion, 32> completions;
	const int got = cq_.poll(completions);
	for (int i = 0; i < got; i++)
		session_.handle(completions[static_cast<std::size_t>(i)]);
	/* Wait while answers come in: more requests will follow them, and leave together. */
	if (got <= 0 || session_.put_off() >= session_.depth())
		session_.ring();
}

/* Connections ---------------------------------------------------------------------------------------------------- */

Time VolumeClient::now() const noexcept
{
	return RecentClock::now().time_since_epoch();
}

void VolumeClient::want(unsigned replica, std::uint64_t epoch) noexcept
{
	replicas_[replica].connector->want(epoch);
}

void VolumeClient::close(unsigned replica) noexcept
{
	replicas_[replica].link.reset();
}

void VolumeClient::look_after_links() noexcept
{
	for (unsigned number = 0; number < replicas_.size(); number++) {
		Replica &replica = replicas_[number];
		if (replica.link)
			continue;
		replica.link = replica.connector->take();
		if (replica.link)
			session_.link_up(number, *replica.link);
	}
	session_.look_after_links();
}

ReplicaState VolumeClient::state_of(unsigned replica) const
{
	ReplicaState state;
	if (const ReplicaView *const there = session_.view(replica)) {
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

void VolumeClient::tell(unsigned replica, const apps::ControlMessage &message) noexcept
{
	Replica &to = replicas_[replica];
	if (to.link && to.link->control().send(message))
		session_.link_down(replica);
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
