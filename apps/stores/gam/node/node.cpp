/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/node/node.hpp"

#include <sys/prctl.h>

#include <algorithm>

#include "base/cpu_relax.hpp"
#include "base/recent_clock.hpp"
#include "gam/node/waiting.hpp"

namespace prism::gam
{

Node::Node(const NodeOptions &options, Network &network, const MakeCoherence &make, LeaseIsOver lease_is_over)
	: options_(options), network_(network), lease_is_over_(std::move(lease_is_over)), shards_(options.shards),
	  home_(*this, options.bytes), members_(bit(options.self))
{
	for (std::size_t i = 0; i < shards_.size(); i++)
		shards_[i].coherence = make(*this, i);
	if (options_.serves)
		server_ = std::jthread([this](const std::stop_token &stop) { serve(stop); });
}

Node::~Node()
{
	if (server_.joinable()) {
		server_.request_stop();
		server_.join();
	}
}

void Node::joined(NodeId node)
{
	if (node >= max_nodes)
		return;
	for (Shard &shard : shards_) {
		const std::scoped_lock guard(shard.lock);
		shard.coherence->joined(node);
	}
	if (away_.fetch_and(~bit(node)) & bit(node))
		note_loss(node); /* its log may be older than what we know */
	members_.fetch_or(bit(node));
}

void Node::lost(NodeId node, bool may_return)
{
	if (node >= max_nodes)
		return;
	members_.fetch_and(~bit(node));
	if (may_return)
		away_.fetch_or(bit(node));
	else
		away_.fetch_and(~bit(node));
	if (node == self())
		return;
	note_loss(node);
	for (Shard &shard : shards_) {
		const std::scoped_lock guard(shard.lock);
		shard.coherence->lost(node);
	}
	home_.lost(node);
	note_loss(node); /* again, for who has used what it still had here since */
	network_.flush();
}

void Node::note_loss(NodeId node) noexcept
{
	const std::scoped_lock guard(noting_);
	const std::uint32_t all = losses() + 1;
	losses_[node].store(all, std::memory_order_release);
	all_losses_.store(all, std::memory_order_release);
}

std::vector<NodeId> Node::members() const
{
	std::vector<NodeId> present;
	const std::uint64_t all = members_.load();
	for (NodeId node = 0; node < max_nodes; node++) {
		if (all & bit(node))
			present.push_back(node);
	}
	return present;
}

std::uint64_t Node::available(NodeId node) const noexcept
{
	return node == self() ? home_.available() : home_.available(node);
}

bool Node::poll()
{
	if (is_inherited())
		return false;
	const std::unique_lock turn(polling_, std::try_to_lock);
	if (!turn)
		return false;
	bool happened = network_.poll(*this) > 0;
	run_step([&] {
		const Time now = RecentClock::now().time_since_epoch();
		if (now >= due_) {
			due_ = Time::max();
			for (Shard &shard : shards_) {
				const std::scoped_lock guard(shard.lock);
				due_ = std::min(due_, shard.coherence->on_time(now));
			}
			due_ = std::min(due_, now + std::chrono::milliseconds(1));
		}
		happened |= home_.poll();
	});
	network_.flush();
	return happened;
}

/** Waits a little: pauses, and soon yields, as nodes of one machine share the processor. */
unsigned Node::rest(unsigned idle) const
{
	constexpr unsigned before_yielding = 64;
	if (options_.rest)
		options_.rest();
	else if (idle < before_yielding)
		cpu_relax();
	else
		std::this_thread::yield();
	return idle + 1;
}

/**
 * Polls in the node's own thread. While waiting threads poll, this one does so only now and then, so that messages that
 * come just after they stop are not late. Alone, it keeps polling for a while after a message, then naps for a fiftieth
 * of the time since the last one. So a message is late by at most 2% of the pause before it, and an idle node uses
 * almost no processor time.
 */
void Node::serve(const std::stop_token &stop)
{
	constexpr auto beside_others = std::chrono::microseconds(50);
	constexpr auto polls_on = std::chrono::microseconds(50);
	constexpr Clock::duration shortest_nap = std::chrono::microseconds(10),
				  longest_nap = std::chrono::milliseconds(1);
	constexpr int nap_share = 50;
	(void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); /* otherwise a nap of 10 us takes 60 */
	for (auto last_work = Clock::now(); !stop.stop_requested();) {
		const bool others = waiting_.load(std::memory_order_relaxed) > 0;
		const bool worked = poll();
		const auto now = RecentClock::now();
		if (worked || others)
			last_work = now;
		if (others) {
			std::this_thread::sleep_for(beside_others);
		} else if (now - last_work < polls_on) {
			std::this_thread::yield();
		} else {
			network_.leave_alone();
			std::this_thread::sleep_for(
				std::clamp((now - last_work) / nap_share, shortest_nap, longest_nap));
		}
	}
}

bool Node::start(Access &access)
{
	return start(access, [] {});
}

int Node::wait_for_log()
{
	BlockLog *const log = options_.log;
	if (!log || !log->durable())
		return 0;
	int error = 0;
	wait_until([log, &error, position = log->position()] { return log->is_settled(position, error); });
	return error;
}

CoherenceStats Node::stats()
{
	CoherenceStats sum;
	for (Shard &shard : shards_) {
		const std::scoped_lock guard(shard.lock);
		sum += shard.coherence->stats();
	}
	for (const Hits &hits : hits_)
		sum.hits += hits.count.load(std::memory_order_relaxed);
	return sum;
}

void Node::flush(const std::function<bool()> &hurries)
{
	for (Shard &shard : shards_) {
		{
			const std::scoped_lock guard(shard.lock);
			shard.coherence->flush();
		}
		network_.flush();
		wait_until([&] {
			const std::scoped_lock guard(shard.lock);
			return shard.coherence->is_flushed() || (hurries && hurries());
		});
	}
}

void Node::ended(Access &access)
{
	static_cast<Waiting *>(access.context)->ended(access);
}

void Node::heard(NodeId from, const Message &message)
{
	run_step([&] {
		if (!is_member(from))
			joined(from); /* it learned sooner that it is a member */
		if (is_home_message(message.type))
			return home_.heard(from, message);
		Shard &shard = shard_of(message.block);
		const std::scoped_lock guard(shard.lock);
		shard.coherence->hear(from, message);
	});
}

} // namespace prism::gam
