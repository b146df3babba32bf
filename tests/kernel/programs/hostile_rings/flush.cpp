/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel flushes what was posted. A user that goes on posting must not keep it there. */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

using Clock = std::chrono::steady_clock;

std::atomic_ref<std::uint32_t> producer(const Ring &ring)
{
	return std::atomic_ref(ring.header()->producer_index);
}

std::atomic_ref<std::uint32_t> consumer(const Ring &ring)
{
	return std::atomic_ref(ring.header()->consumer_index);
}

/**
 * A user that posts as fast as the kernel flushes: the queue of @p receives is full again whenever one is taken, and
 * the one of @p completions empty whenever one comes.
 */
class Poster
{
public:
	/** Gives up after @p seconds, so that a flush that waits for it ends at some time. */
	Poster(const Ring &receives, const Ring &completions, std::chrono::seconds seconds)
		: end_(Clock::now() + seconds), thread_([this, receives, completions](const std::stop_token &stop) {
			  run(receives, completions, stop);
		  })
	{
	}

	/** How many receives the kernel has taken. */
	[[nodiscard]] std::uint64_t taken() const { return taken_; }
	[[nodiscard]] bool has_given_up() const { return Clock::now() >= end_; }

private:
	void run(const Ring &receives, const Ring &completions, const std::stop_token &stop)
	{
		std::uint32_t seen = consumer(receives);
		while (!stop.stop_requested() && !has_given_up()) {
			const std::uint32_t now = consumer(receives);
			producer(receives) = (now - 1) & receives.mask;
			consumer(completions) = producer(completions).load();
			taken_ += (now - seen) & receives.mask;
			seen = now;
		}
	}

	const Clock::time_point end_;
	std::atomic<std::uint64_t> taken_{0};
	std::jthread thread_;
};

/** A queue pair, and both its rings. */
struct Receiver {
	explicit Receiver(const Device &device)
	{
		Finder finder;
		cq = create_cq(device, 1000);
		completions = finder.take(Kind::completions, Kind::completions).at(0);
		QpLimits limits;
		limits.recv_wr = 1000; /* it takes a processor a moment to get through */
		qp = create_qp(device, device.pd(), cq.get(), limits);
		receives = finder.take_queue(Kind::prism_sends, Kind::receives);
		path.source = path.destination = device.some_gid(false);
	}

	Owned<ibv_cq> cq;
	Owned<ibv_qp> qp;
	Ring completions, receives;
	Path path;
};

/** A reset takes what is there. */
void resets_end(const Device &device)
{
	const Receiver receiver(device);
	const Poster poster(receiver.receives, receiver.completions, std::chrono::minutes(1));
	std::uint64_t most = 0;
	for (unsigned i = 0; i < 50; i++) {
		connect(device, receiver.qp.get(), receiver.path);
		const std::uint64_t before = poster.taken();
		check(set_state(receiver.qp.get(), IBV_QPS_RESET), "to RESET");
		most = std::max(most, poster.taken() - before);
	}
	/* It looks once or twice at what is there. */
	if (most > std::uint64_t{receiver.receives.mask} * 4)
		throw std::runtime_error(
			fmt::format("a reset flushes {} receives of a queue of {}", most, receiver.receives.mask));
}

/** In ERROR the flush may go on as the posting does, but not in one go: who moves the queue pair there comes back. */
void errors_end(const Device &device)
{
	for (unsigned i = 0; i < 3; i++) {
		const Receiver receiver(device);
		connect(device, receiver.qp.get(), receiver.path);
		const Poster poster(receiver.receives, receiver.completions, std::chrono::seconds(5));
		check(set_state(receiver.qp.get(), IBV_QPS_ERR), "to ERROR");
		if (poster.has_given_up())
			throw std::runtime_error(fmt::format(
				"a move to ERROR flushes receives as long as they are posted: {}", poster.taken()));
	}
}

} // namespace

void flushes_end(const Device &device)
{
	resets_end(device);
	errors_end(device);
}

} // namespace prism::hostile
