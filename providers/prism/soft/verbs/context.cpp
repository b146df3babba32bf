/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "context.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <set>

#include "../protocol/user_memory.hpp"
#include "base/c_boundary.hpp"
#include "base/clock.hpp"
#include "base/processors.hpp"
#include "base/recent_clock.hpp"
#include "device.hpp"
#include "gid.hpp"
#include "objects.hpp"

namespace prism::soft
{

namespace
{

/** The contexts of this process. The lock is taken before those of their lanes. */
struct OpenContexts {
	std::mutex lock;
	std::vector<Context *> list;
	std::vector<Context *> of_parent; /* not used */
	GidNumbers numbers;
};

/**
 * Returns the list of contexts. Never destroyed, as the process may end anywhere. Not on the heap: with
 * ibv_fork_init(3) a child loses the pages with registered memory, and all else that lies there.
 */
OpenContexts &open_contexts()
{
	alignas(OpenContexts) static std::byte storage[sizeof(OpenContexts)];
	static auto *const contexts = new (storage) OpenContexts;
	return *contexts;
}

__attribute__((destructor)) void take_leave()
{
	OpenContexts &open = open_contexts();
	std::lock_guard guard(open.lock);
	for (Context *context : open.list)
		context->take_leave();
}

bool inline_wanted(std::uint32_t progress)
{
	if (progress != PRISMDV_PROGRESS_DEFAULT)
		return progress == PRISMDV_PROGRESS_INLINE;
	const char *choice = std::getenv("PRISM_PROGRESS");
	return choice && std::string_view(choice) == "inline";
}

bool rings_wanted(std::uint32_t path)
{
	if (path != PRISMDV_PATH_DEFAULT)
		return path == PRISMDV_PATH_LOCAL;
	const char *choice = std::getenv("PRISM_LOCAL");
	return !choice || std::string_view(choice) != "0";
}

/** Time after a lane could not be opened before the next is tried: each try takes milliseconds. */
constexpr Time opening_interval = 1'000'000'000;

/** Returns the most lanes of a context: one for each processor, unless the environment has a number of lanes. */
unsigned lanes_wanted()
{
	const char *choice = std::getenv("PRISM_LANES");
	const std::string_view text(choice ? choice : "");
	unsigned lanes = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lanes);
	if (error == std::errc() && end == text.data() + text.size() && lanes >= 1 && lanes <= max_lanes)
		return lanes;
	return std::clamp(usable_processors(), 1U, max_lanes);
}

} // namespace

void Context::keep_over_fork()
{
	const auto unlock = [] { open_contexts().lock.unlock(); };
	pthread_atfork([] { open_contexts().lock.lock(); }, unlock,
		[] {
			OpenContexts &open = open_contexts();
			if (!open.list.empty()) {
				new (&open.of_parent) std::vector<Context *>(std::move(open.list));
				new (&open.numbers) GidNumbers; /* over the old one, whose memory may be gone */
			}
			Lane::forget_threads();
			open.lock.unlock();
		});
}

std::unique_ptr<Context> Context::open(
	const std::string &interface, const prismdv_context_attr &wanted, std::string &error)
{
	const Lane::Options options{.interface = interface,
		.with_rings = rings_wanted(wanted.path),
		.takes_management = management_handler != nullptr,
		.threaded = !inline_wanted(wanted.progress)};
	std::unique_ptr<Context> context(new Context(options.threaded));
	context->lanes_[0] = Lane::open(options, context->shared(), error);
	if (!context->lanes_[0])
		return nullptr;
	context->lane_count_ = 1;
	if (context->async_.reader() < 0) {
		error = "no descriptors left for events";
		context.reset(); /* this changes errno */
		errno = EMFILE;
		return nullptr;
	}
	context->mtu_ = context->interface().mtu;
	survive_unmapped_memory();
	{
		OpenContexts &open = open_contexts();
		std::lock_guard guard(open.lock);
		context->take_in(open.numbers.add(context->interface()), context->interface());
		context->first().publish_counters();
		open.list.push_back(context.get());
	}
	/* Packets of others may come to us until they find out, and must not wait for our application to poll. */
	if (context->first().udp().shares_addresses() || context->has_management())
		context->first().start_thread(true);
	return context;
}

std::atomic<prism_soft_gsi_handler> Context::management_handler;

Context::Context(bool threaded) : most_lanes_(threaded ? lanes_wanted() : 1), owner_(getpid()) {}

/* Lanes --------------------------------------------------------------------------------------------------------- */

/**
 * Lets a queue pair follow its completion queues. A lane of its own for each of them would be wrong: programs poll one,
 * and expect progress of all that completes there.
 */
Lane &Context::lane_for(CompletionQueueObject &send_cq, CompletionQueueObject &recv_cq, ibv_qp_type type)
{
	const std::lock_guard guard(lanes_lock_);
	/* On loopback only the first lane has the address that headers of datagrams are to show. */
	const bool in_first = type == IBV_QPT_UD && interface().is_loopback;
	if (!send_cq.home && !in_first)
		send_cq.home = recv_cq.home ? *recv_cq.home : next_lane();
	const unsigned index = in_first ? 0 : *send_cq.home;
	for (CompletionQueueObject *cq : {&send_cq, &recv_cq}) {
		if (!cq->home)
			cq->home = index;
		cq->lanes.fetch_or(1U << index, std::memory_order_release);
	}
	return *lanes_[index];
}

/** Returns the lane of the next completion queue, by turns. One of those that there are if a new one is due and cannot
 * be opened. */
unsigned Context::next_lane()
{
	const unsigned turn = is_joined() ? 0 : next_lane_++ % most_lanes_;
	if (turn < lane_count_)
		return turn;
	if (const Time now = monotonic_ns(); now >= next_opening_) {
		if (open_lane())
			return lane_count_ - 1;
		next_opening_ = now + opening_interval;
	}
	return turn % lane_count_;
}

/** Opens one more lane. False if there is no memory, descriptor, thread or slot for it: the others will do. */
bool Context::open_lane()
try {
	std::unique_ptr<Lane> lane = owner_ == getpid() ? Lane::open_beside(first(), shared()) : nullptr;
	if (!lane)
		return false;
	const unsigned index = lane_count_;
	lanes_[index] = std::move(lane);
	lane_count_.store(index + 1, std::memory_order_release);
	return true;
} catch (const std::exception &) {
	return false;
}

/**
 * Drives, by turns, one of the other lanes that the caller uses: it may wait for what that lane has to send, such as an
 * acknowledgement. This is no poll, so that the lane's thread goes on to look after peers whose requests complete
 * nowhere here.
 */
void Context::poll_others(std::uint32_t mask)
{
	const Time at = recent_ns();
	/* Take turns by the clock: threads share no counter. */
	const unsigned next = static_cast<unsigned>(at >> 10) % lane_count_.load(std::memory_order_acquire);
	if (!(mask >> next & 1) && lanes_[next]->is_used_by_caller())
		lanes_[next]->help(at);
	help_others(mask, at);
}

void Context::hand_over(std::uint32_t mask)
{
	for_lanes(mask, [](Lane &lane) { lane.hand_over(); });
	for_each_lane([](Lane &lane) {
		if (lane.is_used_by_caller())
			lane.hand_over();
	});
}

/**
 * Drives lanes whose threads are waiting for a processor: the caller may be waiting for one of them. A program with
 * more threads than processors would else go on only from one time slice to the next.
 */
void Context::help_others(std::uint32_t mask, Time at)
{
	bool due = false;
	for_lanes(mask, [&](Lane &lane) { due |= lane.may_help(at); });
	if (!due)
		return;
	for_each_lane([at](Lane &lane) {
		if (lane.is_left_alone(at))
			lane.help(at);
	});
}

void Context::join_lanes()
{
	const std::lock_guard guard(lanes_lock_);
	if (is_joined())
		return;
	for_each_lane([](Lane &lane) { lane.lock.lock(); });
	for (unsigned i = 1; i < lane_count_; i++)
		lanes_[i]->lock.join(first().lock);
	first().lock.unlock();
	joined_ = (1U << lane_count_) - 1;
}

int Context::attach(Lane &lane, QueuePair &qp, const Address &group)
{
	const std::lock_guard guard(lanes_lock_);
	std::set<Address> groups{group};
	for_each_lane([&groups](Lane &each) {
		const std::vector<Address> its = each.groups();
		groups.insert(its.begin(), its.end());
	});
	return groups.size() > max_groups ? ENOSPC : lane.attach(qp, group);
}

void Context::take_leave()
{
	for_each_lane([](Lane &lane) { lane.take_leave(); });
}

AllLanes::AllLanes(Context &context)
	: guard_(context.lanes_lock_),
	  held_(context.lanes_.data(), context.is_joined() ? 1 : context.lane_count_.load())
{
	for (const std::unique_ptr<Lane> &lane : held_)
		lane->lock.lock();
}

AllLanes::~AllLanes()
{
	for (const std::unique_ptr<Lane> &lane : held_)
		lane->lock.unlock();
}

/* GIDs ---------------------------------------------------------------------------------------------------------- */

/** Returns the index of an address in the ports of all lanes; -1 if it is not there, or one of them cannot bind it. */
int Context::bind(const Address &name, const InterfaceInfo &current)
{
	int source = first().source_of(name);
	if (source < 0 && std::ranges::find(current.addresses, name) != current.addresses.end())
		source = first().add(name);
	bool everywhere = source >= 0;
	for (unsigned i = 1; i < lane_count_ && everywhere; i++)
		everywhere = lanes_[i]->follow(first());
	return everywhere ? source : -1;
}

/** Takes in the addresses @p numbers of the interface, which is now as in @p current. @return true if anything is
 * new. */
bool Context::take_in(const std::vector<Address> &numbers, const InterfaceInfo &current)
{
	bool changed = false;
	for (std::size_t index = 0; index < numbers.size(); index++) {
		if (index == gids_.size())
			gids_.append();
		if (gids_.find(index))
			continue;
		const int source = bind(numbers[index], current);
		if (source < 0)
			continue;
		const auto at = static_cast<unsigned>(source);
		gids_.fill(index, {first().addresses()[at], at});
		changed = true;
	}
	return changed;
}

void Context::renew(const std::vector<Address> &numbers, const InterfaceInfo &current)
{
	const std::lock_guard guard(lanes_lock_);
	mtu_ = current.mtu;
	if (take_in(numbers, current))
		post_async(1, IBV_EVENT_GID_CHANGE);
}

std::optional<unsigned> Context::renew_gids(const InterfaceInfo &current, const Address &wanted)
{
	OpenContexts &open = open_contexts();
	const std::lock_guard guard(open.lock);
	const std::vector<Address> &numbers = open.numbers.add(current);
	for (Context *const context : open.list) {
		const InterfaceInfo &its = context->interface();
		/* Skip a parent's contexts, which are not ours. */
		if (its.name == current.name && its.index == current.index && context->owner_ == getpid())
			context->renew(numbers, current);
	}
	const auto found = std::ranges::find(numbers, gid_name(current, wanted));
	if (found == numbers.end())
		return {};
	return static_cast<unsigned>(found - numbers.begin());
}

Context::~Context()
{
	static_cast<void>(stop());
}

bool Context::stop()
{
	{
		OpenContexts &open = open_contexts();
		std::lock_guard guard(open.lock);
		std::erase(open.list, this);
	}
	/* The others first: while one leaves, the first may have to tell it who else has their addresses. */
	for (unsigned count = lane_count_; count; count--) {
		if (!lanes_[count - 1]->stop())
			return false;
		if (count == 1)
			break;
		lanes_[count - 1].reset();
		lane_count_ = count - 1;
	}
	return true;
}

/* Events -------------------------------------------------------------------------------------------------------- */

ibv_comp_channel *Context::create_channel(ibv_context *context)
{
	auto socket = std::make_unique<EventSocket>();
	if (socket->reader() < 0)
		return nullptr;
	/* A program that waits for an event makes no progress meanwhile. */
	first().start_thread(true);
	std::unique_ptr<CompletionChannel, FreeMemory> channel(
		static_cast<CompletionChannel *>(std::calloc(1, sizeof(CompletionChannel))));
	if (!channel)
		return fail<ibv_comp_channel>(ENOMEM);
	channel->socket = socket.get();
	channel->base.context = context;
	std::lock_guard guard(channels_lock_);
	/* libibverbs destroys a channel without telling us; its descriptor shows it. */
	std::erase_if(channels_, [](const auto &other) { return other->closed(); });
	channels_.push_back(std::move(socket));
	channel->base.fd = channels_.back()->release_reader();
	if (channel->base.fd >= 0)
		return &channel.release()->base;
	channels_.pop_back();
	return nullptr;
}

void Context::destroy_channel(CompletionChannel *channel)
{
	std::lock_guard guard(channels_lock_);
	std::erase_if(channels_, [channel](const auto &socket) { return socket.get() == channel->socket; });
}

bool Context::post_async(std::uint64_t element, ibv_event_type type)
{
	struct {
		std::uint64_t element;
		std::uint32_t event_type;
		std::uint32_t reserved;
	} record{element, type, 0};
	return async_.post(&record, sizeof(record));
}

/** Raises an event of the object that @p owner points at, and counts it if it can be read: the object's destruction
 * waits until all its events are acknowledged. */
template <typename Object>
void Context::raise(void *owner, ibv_event_type type)
{
	auto &object = *static_cast<Object *>(owner);
	object.async_events++;
	if (!post_async(reinterpret_cast<std::uintptr_t>(&object.base), type))
		object.async_events--;
}

void Context::qp_event(QueuePair &qp, ibv_event_type type)
{
	raise<QpObject>(qp.owner, type);
}

void Context::cq_event(CompletionQueue &cq, ibv_event_type type)
{
	raise<CompletionQueueObject>(cq.owner, type);
}

bool Context::has_management() const
{
	return management_handler && !interface().is_loopback;
}

bool Context::management(const Route &route, std::span<const std::uint8_t> mad)
{
	const WithoutCancellation whole;
	const ibv_gid from = to_gid(route.from), to = to_gid(route.to);
	return has_management() && management_handler.load()(&from, &to, mad.data()) == 0;
}

void Context::srq_event(SharedReceiveQueue &srq, ibv_event_type type)
{
	raise<SrqObject>(srq.owner, type);
}

} // namespace prism::soft
