/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/transport/peers.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "gam/transport/frame.hpp"
#include "rpc/device/verbs_call_device.hpp"

namespace prism::gam
{

namespace
{

constexpr std::size_t batch = 32;
/* Time in which all completions of an ended queue pair arrive */
constexpr auto wake_time = std::chrono::milliseconds(10);

/* Calls @p function with the number of each bit of @p bits. */
template <typename Function>
void for_each_bit(std::uint64_t bits, const Function &function)
{
	for (; bits; bits &= bits - 1)
		function(static_cast<NodeId>(std::countr_zero(bits)));
}

} // namespace

Result<PeerDevice> PeerDevice::create(const ProtectionDomain &pd, const PeerOptions &options)
{
	const std::uint32_t receives = options.max_peers * options.sizes.receives();
	Result<std::unique_ptr<rpc::VerbsReceivePool>> pool =
		rpc::VerbsReceivePool::create(pd, options.sizes.frame_bytes, receives);
	if (!pool)
		return pool.error();
	/* Twice the SENDs: for pairs, and for ended ones until they are forgotten */
	const std::uint32_t completions =
		receives + 2 * options.max_peers * options.sizes.ring() + options.other_completions;
	Result<CompletionQueue> cq = CompletionQueue::create(pd.context(), static_cast<int>(completions));
	if (!cq)
		return cq.error();
	PeerDevice made;
	made.device = std::make_unique<rpc::VerbsCallDevice>(pd, *std::move(cq), pool->get());
	made.pool = *std::move(pool);
	return made;
}

Peers::Peers(PeerDevice device, const PeerOptions &options, Events &events)
	: device_(std::move(device)), options_(options), events_(events)
{
	used_.reserve(batch);
}

Peers::~Peers()
{
	for (Place &place : places_) {
		if (place.pair)
			place.pair->end();
	}
}

void Peers::send(NodeId to, const Message &message) noexcept
{
	if (try_send(to, message) != ENOBUFS)
		return;
	const std::lock_guard guard(places_[to].lock);
	if (places_[to].pair)
		places_[to].pair->end();
	failed_.fetch_or(std::uint64_t{1} << to, std::memory_order_release);
}

int Peers::try_send(NodeId to, const Message &message) noexcept
{
	int error = ENOTCONN;
	if (to < max_nodes) {
		Place &place = places_[to];
		const std::lock_guard guard(place.lock);
		if (place.pair)
			error = place.pair->append(message);
	}
	if (error) {
		refused_.fetch_add(1, std::memory_order_relaxed);
		return error;
	}
	messages_sent_.fetch_add(1, std::memory_order_relaxed);
	mark(to);
	return 0;
}

bool Peers::has_room(NodeId to) noexcept
{
	if (to >= max_nodes)
		return true;
	const std::lock_guard guard(places_[to].lock);
	return !places_[to].pair || places_[to].pair->has_spare_room();
}

void Peers::flush() noexcept
{
	if (!marked_.load(std::memory_order_relaxed))
		return;
	for_each_bit(marked_.exchange(0, std::memory_order_acquire), [this](NodeId node) {
		Place &place = places_[node];
		const std::lock_guard guard(place.lock);
		if (!place.pair)
			return;
		const std::uint64_t before = place.pair->frames_sent;
		if (place.pair->post()) {
			place.pair->end();
			failed_.fetch_or(std::uint64_t{1} << node, std::memory_order_release);
		}
		frames_sent_.fetch_add(place.pair->frames_sent - before, std::memory_order_relaxed);
	});
}

std::size_t Peers::poll(Network::Listener &listener) noexcept
{
	const std::unique_lock turn(progress_, std::try_to_lock);
	if (!turn)
		return 0;
	std::array<Completion, batch> completions;
	const auto got = static_cast<std::size_t>(std::max(device_.device->poll(completions), 0));
	for (const Completion &completion : std::span(completions).first(got))
		take(completion, listener);
	if (!used_.empty())
		recycle();
	flush();
	if (failed_.load(std::memory_order_relaxed))
		report();
	if (!got && !graves_.empty())
		bury();
	return got;
}

void Peers::take(const Completion &completion, Network::Listener &listener) noexcept
{
	const bool is_send = (completion.wr_id & Pair::send_tag) != 0;
	const auto found = pairs_.find(completion.qp_num);
	if (found == pairs_.end()) {
		events_.completed(completion);
		return;
	}
	const std::shared_ptr<Pair> pair = found->second;
	const auto buffer = static_cast<std::uint32_t>(completion.wr_id);
	if (!is_send)
		used_.push_back(buffer);
	if (completion.failed()) {
		lose(*pair, EIO, completion.describe());
	} else if (!is_send) {
		if (!pair->ended())
			hear(*pair, device_.pool->message(buffer, completion.byte_len), listener);
	} else {
		const NodeId node = pair->peer().node;
		const std::lock_guard guard(places_[node].lock);
		pair->sent(completion.wr_id & ~Pair::send_tag);
		if (pair->has_work())
			mark(node);
	}
}

void Peers::hear(Pair &pair, std::span<const std::byte> frame, Network::Listener &listener) noexcept
{
	const NodeId node = pair.peer().node;
	const std::optional<FrameHeader> header = FrameHeader::parse(frame);
	bool right = header.has_value();
	if (right) {
		const std::lock_guard guard(places_[node].lock);
		right = pair.receive(header->messages, header->acknowledged);
		if (pair.has_work())
			mark(node);
	}
	if (!right) {
		lose(pair, EPROTO, "it sends what is no frame, or too many");
		return;
	}
	counts_.frames_heard++;
	heard_from_ |= std::uint64_t{1} << node;
	deliver(node, header->messages, frame.subspan(FrameHeader::size), listener);
}

/* Delivers the messages of a frame; FrameHeader::parse() has checked their number. */
void Peers::deliver(
	NodeId from, std::uint16_t messages, std::span<const std::byte> bytes, Network::Listener &listener) noexcept
{
	for (std::uint16_t i = 0; i < messages; i++) {
		const std::optional<Message> message = Message::parse(bytes);
		counts_.messages_heard++;
		listener.heard(from, *message);
		bytes = bytes.subspan(message->size());
	}
}

/* Reports the end of a pair, once; not for pairs that were cut off. */
void Peers::lose(Pair &pair, int error, const char *why) noexcept
{
	const NodeId node = pair.peer().node;
	{
		const std::lock_guard guard(places_[node].lock);
		if (pair.ended() && pair.told)
			return;
		pair.end();
		pair.told = true;
	}
	graves_.push_back({pairs_[pair.number()], device_.device->now()});
	(error == EPROTO ? counts_.bad_frames : counts_.broken)++;
	try {
		log_(apps::LogLevel::warning, "the pair to node " + std::to_string(node) + " has ended: " + why);
	} catch (const std::bad_alloc &) { /* then nobody reads of it */
	}
	events_.broken(node, error);
}

/* Posts the receives again; only then may peers be told of the room. */
void Peers::recycle() noexcept
{
	(void)device_.pool->post(used_);
	used_.clear();
	for_each_bit(std::exchange(heard_from_, 0), [this](NodeId node) {
		Place &place = places_[node];
		const std::lock_guard guard(place.lock);
		if (!place.pair)
			return;
		place.pair->taken();
		if (place.pair->has_work())
			mark(node);
	});
}

/* Forgets ended pairs, when the queue has been empty long enough after their end. */
void Peers::bury() noexcept
{
	const auto now = device_.device->now();
	std::erase_if(graves_, [&](const Grave &grave) {
		if (now - grave.since < wake_time)
			return false;
		pairs_.erase(grave.pair->number());
		Place &place = places_[grave.pair->peer().node];
		const std::lock_guard guard(place.lock);
		if (place.pair == grave.pair)
			place.pair.reset();
		return true;
	});
}

/* Reports pairs that flush() has ended. */
void Peers::report() noexcept
{
	for_each_bit(failed_.exchange(0, std::memory_order_acquire), [this](NodeId node) {
		std::shared_ptr<Pair> pair;
		{
			const std::lock_guard guard(places_[node].lock);
			pair = places_[node].pair;
		}
		if (pair && pair->ended())
			lose(*pair, EIO, "it takes nothing any more");
	});
}

/* Ends a pair, under both locks */
void Peers::end(Place &place) noexcept
{
	if (!place.pair || place.pair->told)
		return;
	place.pair->end();
	place.pair->told = true;
	graves_.push_back({place.pair, device_.device->now()});
}

void Peers::cut_off(NodeId node) noexcept
{
	if (node >= max_nodes)
		return;
	const std::lock_guard turn(progress_);
	const std::lock_guard guard(places_[node].lock);
	end(places_[node]);
}

void Peers::drop(const NodeLife &peer) noexcept
{
	const std::lock_guard turn(progress_);
	const std::lock_guard guard(places_[peer.node].lock);
	if (places_[peer.node].pair && places_[peer.node].pair->peer() == peer)
		end(places_[peer.node]);
}

void Peers::release(const NodeLife &peer) noexcept
{
	{
		const std::lock_guard guard(places_[peer.node].lock);
		if (!places_[peer.node].pair || places_[peer.node].pair->peer() != peer)
			return;
		places_[peer.node].pair->held = false;
	}
	mark(peer.node);
	flush();
}

std::optional<NodeLife> Peers::peer(NodeId node) noexcept
{
	const std::lock_guard guard(places_[node].lock);
	if (!places_[node].pair)
		return std::nullopt;
	return places_[node].pair->peer();
}

bool Peers::connected(const NodeLife &life) noexcept
{
	if (life.node >= max_nodes)
		return false;
	const std::lock_guard guard(places_[life.node].lock);
	const Pair *const pair = places_[life.node].pair.get();
	return pair && pair->peer() == life && !pair->ended() && !pair->held;
}

PeerStats Peers::stats() noexcept
{
	const std::lock_guard turn(progress_);
	PeerStats stats = counts_;
	stats.messages_sent = messages_sent_.load(std::memory_order_relaxed);
	stats.refused = refused_.load(std::memory_order_relaxed);
	stats.frames_sent = frames_sent_.load(std::memory_order_relaxed);
	return stats;
}

Result<std::unique_ptr<rpc::Port>> Peers::open()
{
	rpc::PortOptions options;
	options.max_send_wr = options_.sizes.ring();
	options.shared_receives = true;
	options.ack_timeout = ack_timeout_;
	return device_.device->open(options);
}

Result<void> Peers::add(const NodeLife &peer, std::unique_ptr<rpc::Port> port, Begin begin)
{
	if (peer.node >= max_nodes)
		return make_error(EINVAL, "a peer with the number " + std::to_string(peer.node));
	Result<rpc::Memory> frames = device_.device->allocate(
		std::size_t{options_.sizes.ring()} * options_.sizes.frame_bytes, access::local);
	if (!frames)
		return frames.error();
	auto pair = std::make_shared<Pair>(peer, std::move(port), *std::move(frames), options_.sizes);
	pair->held = begin == Begin::held;
	const std::lock_guard turn(progress_);
	Place &place = places_[peer.node];
	const std::lock_guard guard(place.lock);
	if (place.pair && !place.pair->ended())
		return make_error(EEXIST, "there is a pair to node " + std::to_string(peer.node) + " already");
	graves_.reserve(pairs_.size() + 1); /* so that the end of a pair needs no memory */
	pairs_.emplace(pair->number(), pair);
	place.pair = std::move(pair);
	return {};
}

} // namespace prism::gam
