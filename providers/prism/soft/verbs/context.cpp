/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "context.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "../protocol/user_memory.hpp"
#include "base/c_boundary.hpp"
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
	std::unique_ptr<Context> context(new Context);
	context->lane_ = Lane::open(options, *context, error);
	if (!context->lane_)
		return nullptr;
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
		context->lane_->publish_counters();
		open.list.push_back(context.get());
	}
	/* Packets of others may come to us until they find out, and must not wait for our application to poll. */
	if (context->lane_->udp().shares_addresses() || context->has_management())
		context->lane_->start_thread(true);
	return context;
}

std::atomic<prism_soft_gsi_handler> Context::management_handler;

Context::Context() : owner_(getpid()) {}

/* GIDs ---------------------------------------------------------------------------------------------------------- */

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
		int source = lane_->source_of(numbers[index]);
		if (source < 0 && std::ranges::find(current.addresses, numbers[index]) != current.addresses.end())
			source = lane_->add(numbers[index]);
		if (source < 0)
			continue;
		const auto at = static_cast<unsigned>(source);
		gids_.fill(index, {lane_->udp().addresses()[at], at});
		changed = true;
	}
	return changed;
}

void Context::renew(const std::vector<Address> &numbers, const InterfaceInfo &current)
{
	const std::lock_guard guard(lane_->lock);
	mtu_ = current.mtu;
	if (!take_in(numbers, current))
		return;
	if (lane_->udp().shares_addresses())
		lane_->start_thread(true);
	lane_->note_addresses();
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
	return lane_->stop();
}

/* Events -------------------------------------------------------------------------------------------------------- */

ibv_comp_channel *Context::create_channel(ibv_context *context)
{
	auto socket = std::make_unique<EventSocket>();
	if (socket->reader() < 0)
		return nullptr;
	/* A program that waits for an event makes no progress meanwhile. */
	lane_->start_thread(true);
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
