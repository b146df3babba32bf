/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rs_sim
{

using prism::rs::Lane;
using prism::rs::Leg;
using prism::rs::LegMemory;
using prism::rs::Time;

namespace
{

constexpr std::uint32_t domain = 1;
/* What Protocol posts to install a block: no other chain has as many requests. */
constexpr std::size_t requests_of_an_install = 3;

bool installs(const Leg &leg)
{
	return leg.chain.size() == requests_of_an_install;
}

/** The tag that @p leg has read becomes that of the block which has come before it. */
void take_tag_of_block(const Lane &lane, Leg &leg)
{
	for (const Leg &other : lane.legs) {
		if (!leg.whole && other.whole && other.state == Leg::State::answered && other.completion.ok())
			std::memcpy(leg.memory.in.data(), other.memory.in.data(), sizeof(prism::rs::Tag));
	}
}

/** A quorum of one replica less than there must be, for Protocol, which asks how many replicas there are. */
prism::rs::ProtocolOptions protocol_options(const ClientOptions &options)
{
	prism::rs::ProtocolOptions protocol = options.protocol;
	if (options.flaw == Flaw::small_quorum)
		protocol.replicas -= 2;
	return protocol;
}

} // namespace

Client::Client(
	test::Node &node, ClientSurroundings &around, const ClientOptions &options, std::function<void(Lane &)> ended)
	: node_(node), around_(around), options_(options), ended_(std::move(ended)),
	  protocol_(protocol_options(options), *this), lanes_(options.depth),
	  numbers_(std::size_t{options.depth} * options.protocol.replicas), replicas_(options.protocol.replicas)
{
	const std::size_t size = LegMemory::size(options.block_size);
	memory_.resize(size / sizeof(Line) * numbers_.size());
	auto *bytes = reinterpret_cast<std::byte *>(memory_.data());
	key_ = node_.engine.memory.add_region(reinterpret_cast<std::uint8_t *>(bytes),
		reinterpret_cast<std::uintptr_t>(bytes), memory_.size() * sizeof(Line), soft::access_local_write,
		domain);
	for (std::uint32_t number = 0; number < options.depth; number++) {
		lanes_[number].number = number;
		lanes_[number].legs = std::vector<Leg>(replicas_.size());
		for (Leg &leg : lanes_[number].legs) {
			leg.memory = LegMemory::divide(bytes, options.block_size, key_);
			bytes += size;
		}
	}
}

Client::~Client()
{
	for (Lane &lane : lanes_)
		lane.task.reset();
	replicas_.clear();
	node_.engine.memory.remove(key_);
}

void Client::begin()
{
	for (unsigned replica = 0; replica < replicas(); replica++)
		around_.want(*this, replica, 0);
}

/* Operations ----------------------------------------------------------------------------------------------------- */

void Client::start(Lane &lane, prism::apps::Operation &operation, std::uint64_t block)
{
	operation.error = 0;
	operation.length = 0;
	lane.operation = &operation;
	lane.block = block;
	lane.deadline = now() + std::chrono::nanoseconds(options_.timeout);
	lane.round_trips = 0;
	lane.task.emplace(protocol_.run(lane));
	lane.task->start();
	if (lane.task->done())
		finish(lane);
}

void Client::resume(Lane &lane)
{
	if (!lane.waiter)
		return;
	lane.wake_at = Time::max();
	std::exchange(lane.waiter, nullptr).resume();
	if (lane.task->done())
		finish(lane);
}

void Client::finish(Lane &lane)
{
	lane.operation->outcome = lane.task->value();
	lane.operation->round_trips = lane.round_trips;
	lane.task.reset();
	lane.operation = nullptr;
	lane.waiter = nullptr;
	lane.wake_at = Time::max();
	ended_(lane);
}

void Client::poll()
{
	for (unsigned replica = 0; replica < replicas(); replica++) {
		prism::Completion completion;
		while (replicas_[replica].link && replicas_[replica].link->pair().poll(completion))
			handle(replica, completion);
	}
	end_spared();
	run_timers();
	look_after_links();
}

void Client::handle(unsigned replica, const prism::Completion &completion)
{
	if (completion.failed()) {
		link_down(replica);
		return;
	}
	if (completion.wr_id == Link::flush_id) {
		replicas_[replica].link->flushed();
		return;
	}
	Lane &lane = lanes_[completion.wr_id];
	Leg &leg = lane.legs[replica];
	if (!leg.under_way())
		return;
	leg.completion = completion;
	if (options_.flaw == Flaw::deaf_get && lane.operation &&
		lane.operation->kind == prism::apps::OperationKind::get)
		take_tag_of_block(lane, leg);
	if (options_.flaw == Flaw::missed_guess && installs(leg) && completion.status == prism::Status::cas_miss)
		std::memcpy(leg.memory.old.data(), leg.memory.out.data(), prism::rs::block_header);
	end_leg(lane, replica);
	resume(lane);
}

void Client::end_leg(Lane &lane, unsigned replica)
{
	Leg &leg = lane.legs[replica];
	leg.fresh = leg.state == Leg::State::asked && !leg.completion.failed();
	leg.state = leg.fresh ? Leg::State::answered : Leg::State::idle;
	missing_ = installs(leg) && !leg.completion.failed() && !leg.completion.ok();
	misses_ += missing_;
	protocol_.leg_ended(lane, replica);
	missing_ = false;
}

void Client::run_timers()
{
	while (!to_wake_.empty()) {
		Lane &lane = *to_wake_.back();
		to_wake_.pop_back();
		resume(lane);
	}
	const Time time = now();
	for (Lane &lane : lanes_) {
		if (lane.waiter && lane.wake_at <= time)
			resume(lane);
	}
}

soft::Time Client::next_timer() const noexcept
{
	if (!to_wake_.empty() || !spared_.empty())
		return around_.time();
	Time next = Time::max();
	for (const Lane &lane : lanes_)
		next = lane.waiter ? std::min(next, lane.wake_at) : next;
	return next == Time::max() ? 0 : static_cast<soft::Time>(next.count());
}

bool Client::has_completions() const noexcept
{
	return std::any_of(replicas_.begin(), replicas_.end(),
		[](const Replica &replica) { return replica.link && !replica.link->pair().endpoint.send_cq.empty(); });
}

std::optional<unsigned> Client::installing() const noexcept
{
	for (const Lane &lane : lanes_) {
		for (unsigned replica = 0; replica < replicas(); replica++) {
			if (lane.legs[replica].state == Leg::State::asked && installs(lane.legs[replica]))
				return replica;
		}
	}
	return std::nullopt;
}

void Client::ring()
{
	for (unsigned number = 0; number < replicas(); number++) {
		Replica &replica = replicas_[number];
		if (replica.put_off.empty())
			continue;
		const int error = replica.link->pair().post(replica.put_off);
		replica.put_off.clear();
		if (error)
			link_down(number);
	}
}

void Client::flush()
{
	for (Replica &replica : replicas_) {
		if (replica.link)
			replica.link->flush();
	}
}

/* Carrier -------------------------------------------------------------------------------------------------------- */

const prism::rs::ReplicaView *Client::view(unsigned replica) const noexcept
{
	return replicas_[replica].link ? &replicas_[replica].link->view() : nullptr;
}

/** What Flaw::no_write_back leaves out: the second round of a GET. */
bool Client::spares(const Lane &lane, unsigned replica) const noexcept
{
	return options_.flaw == Flaw::no_write_back && !options_.protocol.repairs && installs(lane.legs[replica]) &&
	       lane.operation->kind == prism::apps::OperationKind::get;
}

int Client::post(Lane &lane, unsigned replica) noexcept
{
	Replica &to = replicas_[replica];
	if (!to.link)
		return ENOTCONN;
	if (spares(lane, replica)) {
		spared_.push_back({&lane, replica});
		return 0;
	}
	to.put_off.push_back({&lane.legs[replica].chain, lane.number});
	numbers_[lane.number * replicas_.size() + replica] = ++requests_;
	return 0;
}

void Client::end_spared()
{
	for (const Spared &spared : std::exchange(spared_, {})) {
		Leg &leg = spared.lane->legs[spared.replica];
		if (!leg.under_way())
			continue;
		leg.completion = {};
		end_leg(*spared.lane, spared.replica);
		resume(*spared.lane);
	}
}

void Client::release(unsigned replica, std::uint64_t address) noexcept
{
	if (missing_ && options_.flaw == Flaw::keeps_misses)
		return;
	if (replicas_[replica].link)
		replicas_[replica].link->release(address);
}

/* Connections ---------------------------------------------------------------------------------------------------- */

std::uint64_t Client::oldest_request(unsigned replica) const noexcept
{
	std::uint64_t oldest = ~std::uint64_t{0};
	for (const Lane &lane : lanes_) {
		if (lane.legs[replica].under_way())
			oldest = std::min(oldest, numbers_[lane.number * replicas_.size() + replica]);
	}
	return oldest;
}

void Client::look_after_links()
{
	for (unsigned number = 0; number < replicas(); number++) {
		Link *const link = replicas_[number].link.get();
		if (!link)
			continue;
		if (link->view().epoch < epoch_ && !repairs(number))
			link_down(number);
		else
			link->talk(oldest_request(number));
	}
}

void Client::settle(unsigned replica, std::function<void()> settled)
{
	replicas_[replica].link->settle(requests_, std::move(settled));
}

/** A replica that has not heard of the newest epoch is told it by connecting once more. */
void Client::link_up(unsigned replica, std::unique_ptr<Pair> pair, const Admission &admission)
{
	if (admission.view.epoch < epoch_ && !repairs(replica)) {
		pair.reset();
		around_.closed(*this, replica, admission.connection);
		around_.want(*this, replica, epoch_);
		return;
	}
	epoch_ = std::max(epoch_, admission.view.epoch);
	replicas_[replica].link =
		std::make_unique<Link>(std::move(pair), admission, options_.report_batch, options_.flaw);
	for (Lane &lane : lanes_)
		resume(lane);
}

/** With the queue pair nothing is under way any more; whether it was executed is not known. */
void Client::link_down(unsigned replica)
{
	Replica &gone = replicas_[replica];
	gone.put_off.clear();
	const std::uint32_t connection = gone.link->connection();
	gone.link.reset();
	for (Lane &lane : lanes_) {
		if (!lane.legs[replica].under_way())
			continue;
		lane.legs[replica].completion = {};
		lane.legs[replica].completion.error = IBV_WC_WR_FLUSH_ERR;
		end_leg(lane, replica);
	}
	around_.closed(*this, replica, connection);
	if (repairs(replica)) /* another connection might lead to another incarnation of it */
		lost_its_replica_ = true;
	else
		around_.want(*this, replica, epoch_);
	for (Lane &lane : lanes_)
		wake(lane);
}

void Client::raise_epoch(std::uint64_t epoch)
{
	epoch_ = epoch;
	look_after_links();
}

} // namespace rs_sim
